"""Which of many stretches of a file, one within another or one after another, lie around a place."""

from __future__ import annotations

import bisect
from collections.abc import Iterator, Sequence


class Nesting:
    """Stretches from a place to another one."""

    def __init__(self, stretches: Sequence[tuple[int, int]]) -> None:
        self._numbers = sorted(range(len(stretches)), key=stretches.__getitem__)
        self._firsts = [stretches[number][0] for number in self._numbers]
        self._lasts = [stretches[number][1] for number in self._numbers]
        self._outer: list[int] = []
        stack: list[int] = []
        for index, first in enumerate(self._firsts):
            while stack and self._lasts[stack[-1]] <= first:
                stack.pop()
            self._outer.append(stack[-1] if stack else -1)
            stack.append(index)

    def around(self, place: int) -> Iterator[int]:
        """Numbers of the stretches that begin before a place and end behind it, inner ones first."""
        index = bisect.bisect_left(self._firsts, place) - 1
        while index >= 0:
            if place < self._lasts[index]:
                yield self._numbers[index]
            index = self._outer[index]
