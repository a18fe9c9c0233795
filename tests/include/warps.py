"""CUDA's warp functions on 32 lanes, lane by lane, from the words of CUDA's and PTX's manuals.

A warp is a list of lanes that execute an instruction together; everything is Python integers and sets, and
nothing here knows of wavefronts.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

LANES = 32
EXITED = -1
Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Blocks:
    """Blocks of threads in branches: `branch[thread]`, and the mask that each thread passes."""

    size: int
    branch: Ints
    mask: Ints

    def warps(self) -> list[range]:
        """Threads of each logical warp."""
        starts = range(0, len(self.branch), self.size)
        return [
            range(start + first, start + min(first + LANES, self.size))
            for start in starts
            for first in range(0, self.size, LANES)
        ]

    def together(self) -> list[dict[int, int]]:
        """Sets of threads that execute the same call together, as lane -> thread."""
        found = []
        for warp in self.warps():
            for branch in sorted({int(self.branch[t]) for t in warp} - {EXITED}):
                found.append({t - warp.start: t for t in warp if self.branch[t] == branch})
        return found


def random_blocks(seed: int, size: int, count: int = 24) -> Blocks:
    """Full warps; warps in up to three branches; some threads exited; masks that split a branch further."""
    rng = np.random.default_rng(seed)
    n = size * count
    branch = np.zeros(n, np.int64)
    for start in range(0, n, size):
        style = rng.integers(6)
        threads = slice(start, start + size)
        if style in (1, 2):
            branch[threads] = rng.integers(0, 3, size)
        elif style == 3:
            branch[threads] = np.arange(size) // LANES % 3
        elif style == 4:
            branch[threads] = rng.integers(-1, 3, size)
        elif style == 5:
            branch[threads] = np.where(np.arange(size) < rng.integers(1, size + 1), 0, EXITED)
    blocks = Blocks(size, branch, np.zeros(n, np.int64))
    for lanes in blocks.together():
        parts = {lane: int(rng.integers(1 if rng.random() < 0.5 else 3)) for lane in lanes}
        for lane, thread in lanes.items():
            blocks.mask[thread] = sum(1 << other for other in lanes if parts[other] == parts[lane])
    _name_exited_threads(blocks, rng)
    return blocks


def _name_exited_threads(blocks: Blocks, rng: np.random.Generator) -> None:
    """A mask may name lanes that have exited, and lanes that the block does not have."""
    for warp in blocks.warps():
        gone = set(range(LANES)) - {t - warp.start for t in warp if blocks.branch[t] != EXITED}
        extra = sum(1 << lane for lane in gone) if rng.random() < 0.5 else 0
        for thread in warp:
            blocks.mask[thread] |= extra


def members(lanes: dict[int, int], mask: int) -> list[int]:
    """Threads that a mask names, among those that execute together."""
    return [thread for lane, thread in lanes.items() if mask >> lane & 1]


def source_lane(kind: str, lane: int, number: int, width: int) -> int:
    """PTX's shfl: which lane is read. `number` is the operand b, `width` a power of two."""
    segment = 32 - width
    clamp = 0 if kind == "up" else 31
    limit = (lane & segment) | (clamp & ~segment)
    number &= 31
    if kind == "idx":
        other, inside = (lane & segment) | (number & ~segment & 31), True
    elif kind == "up":
        other = lane - number
        inside = other >= limit
    else:
        other = lane + number if kind == "down" else lane ^ number
        inside = other <= limit
    return other if inside else lane


def shuffled(blocks: Blocks, kind: str, numbers: Ints, width: int) -> tuple[Ints, npt.NDArray[np.bool_]]:
    """For each thread the thread whose value it gets, and whether CUDA defines that."""
    source = np.zeros(len(blocks.branch), np.int64)
    defined = np.zeros(len(blocks.branch), np.bool_)
    for lanes in blocks.together():
        for lane, thread in lanes.items():
            other = source_lane(kind, lane, int(numbers[thread]), width)
            if other in lanes and blocks.mask[thread] >> other & 1:
                source[thread], defined[thread] = lanes[other], True
    return source, defined


def each_group(blocks: Blocks, function: Callable[[list[int]], int], masked: bool = True) -> Ints:
    """`function` of the threads that take part together with each thread; 0 for exited threads."""
    result = np.zeros(len(blocks.branch), np.int64)
    for lanes in blocks.together():
        for thread in lanes.values():
            group = members(lanes, int(blocks.mask[thread])) if masked else list(lanes.values())
            result[thread] = function(group)
    return result


def bits(blocks: Blocks, threads: list[int]) -> int:
    """The lane mask of some threads of one warp."""
    return sum(1 << (thread % blocks.size % LANES) for thread in threads)
