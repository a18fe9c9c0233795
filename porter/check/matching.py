"""Which findings are the same as earlier ones: by what they say and stand in, never by line numbers."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Container, Hashable, Mapping, Sequence
from typing import NamedTuple


class Mark(NamedTuple):
    """What identifies a finding."""

    path: str
    kernel: str | None
    code: str
    name: str
    context: str
    """Digest of the statement around it; empty: the finding is about a file as a whole."""


Key = Callable[[Mark], Hashable]

_STAGES: tuple[Key, ...] = (
    lambda mark: mark,
    lambda mark: (mark.path, mark.code, mark.name, mark.context),
    lambda mark: (mark.code, mark.name, mark.context),
    lambda mark: (mark.path, mark.kernel, mark.code, mark.name),
)
"""Unchanged; its function renamed; moved to another file; the statement around it edited."""
_MOVED = 2


def match(current: Sequence[Mark], earlier: Sequence[Mark], paths: Container[str]) -> Mapping[int, int]:
    """Pairs each current finding with at most one earlier one, the surest pairs first.

    `paths` are the files there are now: a finding about a file as a whole follows the file only if the old one is gone.
    """
    pairs: dict[int, int] = {}
    free = dict.fromkeys(range(len(earlier)))
    for number, key in enumerate(_STAGES):
        waiting: defaultdict[Hashable, deque[int]] = defaultdict(deque)
        for index in free:
            mark = earlier[index]
            if number != _MOVED or mark.context or mark.path not in paths:
                waiting[key(mark)].append(index)
        for index, mark in enumerate(current):
            if index in pairs or not waiting.get(key(mark)):
                continue
            found = waiting[key(mark)].popleft()
            pairs[index] = found
            del free[found]
    return pairs
