"""Words of a build file that end in a certain way, found in time that grows with the text alone.

A regular expression such as `(?:word)*end` looks through a long word once from each of its characters.
"""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

VARIABLE = r"\$\{[^{}\s]*\}|\$\([^()\s]*\)"
IN_SHELL = rf"{VARIABLE}|\$[A-Za-z_]\w*"
"""Without braces as well."""
_STRETCH = re.compile(r"\S+")
_PLAIN = r"[^\s;\"'<>,:()={}$|&`]"


@dataclass(frozen=True)
class Words:
    """Words of plain characters and variables that end in one of some ways, those that come first preferred."""

    endings: tuple[re.Pattern[str], ...]
    """Of plain characters; what they look ahead to is one character at most, or plain."""
    variable: str = VARIABLE

    @cached_property
    def _is_without_blanks(self) -> bool:
        return self.variable in (VARIABLE, IN_SHELL)

    @cached_property
    def _word(self) -> re.Pattern[str]:
        return re.compile(rf"(?:{self.variable}|{_PLAIN})+")

    @cached_property
    def _variable(self) -> re.Pattern[str]:
        return re.compile(self.variable)

    def within(self, text: str, first: int = 0, last: int | None = None) -> Iterator[tuple[int, int]]:
        """The stretches of a text that are such words, each as long as it gets; also within variables."""
        for begin, over in self._stretches(text, first, len(text) if last is None else last):
            for word in self._word.finditer(text, begin, over):
                place, stop = word.span()
                variables = [match.span() for match in self._variable.finditer(text, place, stop)]
                while (end := self._end(text, place, stop, variables)) is not None:
                    yield place, end
                    place = end
                for start, after in variables:
                    if start >= place:
                        yield from self.within(text, start + 1, after - 1)

    def _stretches(self, text: str, first: int, last: int) -> Iterator[tuple[int, int]]:
        """Where to look at all: around what may be an ending, as far as there is no blank; few texts have one."""
        places = [match.start() for ending in self.endings for match in ending.finditer(text, first, last + 1)]
        if places and not self._is_without_blanks:
            yield first, last
            return
        done = first
        for place in sorted(places):
            if place >= done:
                line = max(done, text.rfind("\n", done, place))
                begin, done = next(one.span() for one in _STRETCH.finditer(text, line, last) if one.end() > place)
                yield begin, done

    def _end(self, text: str, place: int, stop: int, variables: Sequence[tuple[int, int]]) -> int | None:
        for ending in self.endings:
            found = [
                match.end()
                for match in ending.finditer(text, place, stop + 1)
                if match.end() <= stop and not _is_inside(variables, match.start())
            ]
            if found:
                return found[-1]
        return None


def _is_inside(stretches: Sequence[tuple[int, int]], place: int) -> bool:
    number = bisect.bisect_right(stretches, (place, place)) - 1
    return number >= 0 and stretches[number][0] < place < stretches[number][1]
