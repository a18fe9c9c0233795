"""Which line of the source a line of the port came from: the places where the two drift apart."""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Iterator, Sequence
from itertools import compress, count
from operator import ne

Shifts = tuple[tuple[int, int], ...]
"""(line of the port, how many lines it is after its source) from each place on where that changes; the first is 1."""

_WINDOW = 64
_NEAR = 5
_NEARBY = tuple(
    (down, right)
    for distance in range(1, _NEAR)
    for skipped in range(distance // 2 + 1)
    for down, right in ((distance - skipped, skipped), (skipped, distance - skipped))
)
"""The places that are nearer, the nearest first."""
_TELLING = 12
"""A line this long is seldom met twice within the window."""


def line_shifts(source: bytes, port: bytes) -> Shifts:
    """The shifts between a source and its port, which share most of their lines in the same order."""
    old, new = source.split(b"\n"), port.split(b"\n")
    shifts: list[tuple[int, int]] = []
    i = j = delta = 0
    while i < len(old) and j < len(new):
        if old[i] == new[j]:
            same = _same(old, new, i, j)
            i, j = i + same, j + same
            continue
        if not _only_one_changed(old, new, i, j):
            i, j = _meeting(old, new, i, j)
        if j - i != delta:
            delta = j - i
            shifts.append((j + 1, delta))
        i, j = i + 1, j + 1
    return tuple(shifts)


def _same(old: Sequence[bytes], new: Sequence[bytes], i: int, j: int) -> int:
    """How many lines are the same from here on, as far as it looks."""
    ahead, other = old[i : i + _WINDOW], new[j : j + _WINDOW]
    return next(compress(count(), map(ne, ahead, other)), min(len(ahead), len(other)))


def touched_lines(text: str, edits: Iterable[tuple[int, int, str]]) -> tuple[int, int]:
    """Lines of the source that edits change, and lines that they add between others."""
    changed: set[int] = set()
    added = line = position = 0
    for start, end, new in sorted(edits):
        line += text.count("\n", position, start)
        position = start
        between = start == end and new.endswith("\n") and (start == 0 or text[start - 1] == "\n")
        if between:
            added += new.count("\n")
            continue
        old = text.count("\n", start, max(start, end - 1))
        changed.update(range(line, line + old + 1))
        added += max(0, new.count("\n") - text.count("\n", start, end))
    return len(changed), added


def _only_one_changed(old: Sequence[bytes], new: Sequence[bytes], i: int, j: int) -> bool:
    """Whether a line was changed in place and as many lines follow on both sides: no need to look further."""
    return len(old) - i == len(new) - j and i + 1 < len(old) and _alike(old, new, i + 1, j + 1)


def _meeting(old: Sequence[bytes], new: Sequence[bytes], i: int, j: int) -> tuple[int, int]:
    """The nearest place after a difference where both go on alike; a changed line counts as one line on each side."""
    for down, right in _NEARBY:
        if old[i + down : i + down + 1] == new[j + right : j + right + 1] and _alike(old, new, i + down, j + right):
            return i + down, j + right
    found = min(_further(old, new, i, j), default=None)
    return (i + 1, j + 1) if found is None else (i + found[-2], j + found[-1])


def _further(old: Sequence[bytes], new: Sequence[bytes], i: int, j: int) -> Iterator[tuple[int, int, bool, int, int]]:
    """Where both go on alike within the window, each with what makes it nearer than others: to try all places costs
    the square of the window for each of many lines that change one after the other."""
    places: dict[tuple[bytes, ...], list[int]] = {}
    for right in range(min(_WINDOW, len(new) - j)):
        places.setdefault(_telling(new, j + right), []).append(right)
    for down in range(min(_WINDOW, len(old) - i)):
        for right in places.get(_telling(old, i + down), ()):
            if _NEAR <= down + right < _WINDOW:
                yield down + right, min(down, right), down < right, down, right
    down, right = len(old) - i, len(new) - j
    if _NEAR <= down + right < _WINDOW:
        yield down + right, min(down, right), down < right, down, right


def _telling(lines: Sequence[bytes], place: int) -> tuple[bytes, ...]:
    """What two places have alike that are `_alike`: the line, with the next one where it says little."""
    line = lines[place]
    return (line,) if len(line.strip()) >= _TELLING else (line, *lines[place + 1 : place + 2])


def _alike(old: Sequence[bytes], new: Sequence[bytes], i: int, j: int) -> bool:
    if i >= len(old) or j >= len(new):
        return i == len(old) and j == len(new)
    return old[i] == new[j] and (len(old[i].strip()) >= _TELLING or old[i + 1 : i + 2] == new[j + 1 : j + 2])


def source_line(shifts: Shifts, line: int) -> int:
    """The line of the source that a line of the port came from; for an inserted line, the one before it."""
    place = bisect.bisect_right(shifts, line, key=lambda shift: shift[0])
    found = line - (shifts[place - 1][1] if place else 0)
    if place < len(shifts):
        start, delta = shifts[place]
        found = min(found, start - delta - 1)
    return max(found, 1)
