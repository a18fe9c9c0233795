"""Blocks that a kernel's own text fixes: arrays of shared memory by thread, and numbers that stand for `blockDim`."""

from __future__ import annotations

import re
from collections.abc import Callable

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
_PADDED = re.compile(r"(.+)\+\s*\d\s*")
Number = Callable[[str], int | None]
"""The value of an expression as written, where it is a number."""


def block_of(body: str, number: Number) -> tuple[int, ...]:
    """The sides of a block, x first, as far as the text tells of each up to the last that it tells of; else nothing."""
    by_cub = next(filter(None, (number(match[1]) for match in _OF_CUB.finditer(body))), None)
    if by_cub is not None:
        return (by_cub,) if 0 < by_cub <= _MOST else ()
    sides = [_stands_for(axis, body, number) or _by_shared(axis, body, number) for axis in _AXES]
    while sides and sides[-1] is None:
        sides.pop()
    if not sides or None in sides:
        return ()
    told = tuple(side for side in sides if side is not None)
    threads = 1
    for side in told:
        threads *= side
    return told if 0 < threads <= _MOST else ()


def _threads(axis: str, body: str) -> str:
    """What the thread's place is called."""
    words = [word for word, of in _ALIAS.findall(body) if of == axis]
    return "(?:" + "|".join([rf"threadIdx\s*\.\s*{axis}", *map(re.escape, dict.fromkeys(words))]) + ")"


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
