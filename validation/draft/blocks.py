"""Blocks that a kernel's own text fixes: shared memory by thread, numbers that stand for `blockDim`, launch bounds."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable

ASSUMED_BLOCK = 128
"""Threads of a block that nothing tells of."""
_AXES = "xyz"
_MOST = 1024
_SHARED = re.compile(r"\b__shared__\s+[^;=()\[\]]*?(\w+)\s*((?:\[[^\]]*\]\s*)+);")
_ALIAS = re.compile(r"\b(\w+)\s*=\s*(?:\(\s*\w+\s*\)\s*)?threadIdx\s*\.\s*([xyz])\s*[;,]")
_STANDS_FOR = (
    r"\bblockIdx\s*\.\s*{axis}\s*\*\s*\(?\s*(\w+)\s*\)?\s*(?:\*\s*\w+\s*)?\+\s*{thread}(?!\w)",
    r"(?<![\w.])(\w+)\s*\*\s*blockIdx\s*\.\s*{axis}\s*\+\s*{thread}(?!\w)",
    r"(?<!\w){thread}\s*\+\s*blockIdx\s*\.\s*{axis}\s*\*\s*(\w+)(?![\w.])",
    r"(?<!\w){thread}\s*\+\s*(?<![\w.])(\w+)\s*\*\s*blockIdx\s*\.\s*{axis}\b",
    r"\b__u?mul24\s*\(\s*blockIdx\s*\.\s*{axis}\s*,\s*(\w+)\s*\)\s*\+\s*{thread}(?!\w)",
)
_OF_CUB = re.compile(
    r"\bBlock(?:Reduce|Scan|Load|Store|RadixSort|MergeSort|Exchange|Shuffle|Discontinuity|Histogram|AdjacentDifference)"
    r"\s*<[^;{}()<>]*?,\s*(\w+)\s*[,>]"
)
_ROWS_OF_THREADS = (
    r"(?<![\w.]){thread}\s*\*\s*(\w+)\s*\+\s*{inner}(?![\w.])",
    r"(?<![\w.])(\w+)\s*\*\s*{thread}\s*\+\s*{inner}(?![\w.])",
    r"(?<![\w.]){inner}\s*\+\s*{thread}\s*\*\s*(\w+)(?![\w.])",
    r"(?<![\w.]){inner}\s*\+\s*(\w+)\s*\*\s*{thread}(?![\w.])",
)
"""`threadIdx.y * N + threadIdx.x`: rows of so many threads."""
_BOUNDS = re.compile(r"\b__launch_bounds__\s*\(([^(),]+(?:\([^()]*\))?)\s?[,)]")
_PADDED = re.compile(r"(.+)\+\s*\d\s*")
_STRIDES = re.compile(r"\b\w+\s*\+=\s*(\w+)\s*[;,)]|\+\s*(\w+)\s*\*\s*(\w+)(?=\s*[\]);,])")
"""What a loop goes on by, or a turn is multiplied by: the threads of a block, where it is a multiple of a warp."""
_FEWEST, _WARP = 64, 32
Number = Callable[[str], int | None]
"""The value of an expression as written, where it is a number."""


def block_of(body: str, number: Number) -> tuple[int, ...]:
    """The sides of a block, x first, as far as the text tells of each up to the last that it tells of; else nothing."""
    by_cub = next(filter(None, (number(match[1]) for match in _OF_CUB.finditer(body))), None)
    if by_cub is not None:
        return (by_cub,) if 0 < by_cub <= _MOST else ()
    sides = [
        next(filter(None, (told(axis, body, number) for told in (_stands_for, _by_shared, _by_rows, _by_edge))), None)
        for axis in _AXES
    ]
    sides = _filled_up(sides, _used(body), _bound(body, number))
    rows = _by_rows("y", body, number)
    if sides[0] is None and rows is not None and _used(body) == 2 and rows**2 <= _MOST:
        sides[0] = rows  # a square, where nothing tells more
    while sides and sides[-1] is None:
        sides.pop()
    if not sides or None in sides:
        return ()
    told = tuple(side for side in sides if side is not None)
    threads = 1
    for side in told:
        threads *= side
    return told if 0 < threads <= _MOST else ()


def strides_of(body: str, number: Number) -> tuple[int, ...]:
    """Numbers of threads that loops of the text step by, the most frequent first."""
    written = [word for groups in _STRIDES.findall(body) for word in groups if word]
    found = [value for one in written if (value := number(one)) is not None]
    likely = Counter(value for value in found if _FEWEST <= value <= _MOST and value % _WARP == 0)
    return tuple(value for value, _ in likely.most_common())


def _threads(axis: str, body: str) -> str:
    """What the thread's place is called."""
    words = [word for word, of in _ALIAS.findall(body) if of == axis]
    return "(?:" + "|".join([rf"threadIdx\s*\.\s*{axis}", *map(re.escape, dict.fromkeys(words))]) + ")"


def _used(body: str) -> int:
    """How many dimensions of a block the text asks for."""
    found = re.findall(r"\b(?:threadIdx|blockDim)\s*\.\s*([xyz])\b", body)
    return max((_AXES.index(axis) + 1 for axis in found), default=1)


def _bound(body: str, number: Number) -> int | None:
    """The threads that the kernel is compiled for at most: what it is launched with, nearly always."""
    match = _BOUNDS.search(body)
    found = number(match[1].strip()) if match else None
    return found if found is not None and 0 < found <= _MOST else None


def _filled_up(sides: list[int | None], used: int, bound: int | None) -> list[int | None]:
    """The sides with the one that is left, where a bound tells it."""
    known = [side for side in sides[:used] if side is not None]
    left = [place for place, side in enumerate(sides[:used]) if side is None]
    threads = 1
    for side in known:
        threads *= side
    if len(left) == 1 and bound is not None and bound % threads == 0:
        return [bound // threads if place == left[0] else side for place, side in enumerate(sides)]
    return sides


def _by_rows(axis: str, body: str, number: Number) -> int | None:
    """The number that a place of another axis is multiplied by, where this axis is added to it."""
    inner = _threads(axis, body)
    for other in _AXES.replace(axis, ""):
        for pattern in _ROWS_OF_THREADS:
            for match in re.finditer(pattern.format(thread=_threads(other, body), inner=inner), body):
                found = number(match[1])
                if found is not None and found > 1:
                    return found
    return None


def _by_edge(axis: str, body: str, number: Number) -> int | None:
    """The number that the last thread's place is compared with: `threadIdx.x == N - 1`."""
    for match in re.finditer(rf"(?<![\w.]){_threads(axis, body)}\s*==\s*\(?\s*([\w*/() ]+?)\s*-\s*1\b", body):
        found = number(match[1].strip())
        if found is not None and found > 1:
            return found
    return None


def _stands_for(axis: str, body: str, number: Number) -> int | None:
    """The number that the block's place is multiplied by."""
    for pattern in _STANDS_FOR:
        for match in re.finditer(pattern.format(axis=axis, thread=_threads(axis, body)), body):
            found = number(match[1])
            if found is not None and found > 1:
                return found
    return None


def _by_shared(axis: str, body: str, number: Number) -> int | None:
    """The side of an array of shared memory that is indexed by the thread alone; without what pads its rows."""
    thread = _threads(axis, body)
    for match in _SHARED.finditer(body):
        sides = re.findall(r"\[([^\]]*)\]", match[2])
        for use in re.finditer(rf"(?<![\w.]){re.escape(match[1])}\s*((?:\[[^\]]*\]\s*)+)", body[match.end() :]):
            places = re.findall(r"\[([^\]]*)\]", use[1])
            for side, place in zip(sides, places, strict=False):
                if (
                    re.fullmatch(rf"\s*{thread}\s*", place)
                    and (found := _unpadded(side, number, len(sides))) is not None
                ):
                    return found
    return None


def _unpadded(side: str, number: Number, dimensions: int) -> int | None:
    padded = _PADDED.fullmatch(side)
    found = number(padded[1].strip() if padded and dimensions > 1 else side)
    if found is not None and dimensions > 1 and found in (9, 17, 33, 65):
        return found - 1
    return found
