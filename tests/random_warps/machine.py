"""Warps of 32 lanes as CUDA's documents have them, in numpy; shares nothing with the virtual devices."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Values = NDArray[Any]
Lanes = NDArray[np.bool_]
LANES = 32
KINDS: dict[str, tuple[str, type]] = {
    "u": ("u32", np.uint32),
    "s": ("i32", np.int32),
    "q": ("u64", np.uint64),
    "l": ("i64", np.int64),
    "x": ("float", np.float32),
    "d": ("double", np.float64),
    "c": ("u8", np.uint8),
    "h": ("i16", np.int16),
}
VARIABLES = ("u0", "u1", "u2", "u3", "s0", "s1", "q0", "q1", "l0", "x0", "x1", "d0", "c0", "h0")
ACCUMULATORS = 8


@dataclass
class Machine:
    """All threads of a launch at once: arrays of (blocks, warps, 32)."""

    blocks: int
    threads: int
    variables: dict[str, Values] = field(default_factory=dict)
    shared: Values = field(init=False)
    """A word for each thread of a block."""
    bins: Values = field(init=False)
    """Eight words of a block."""
    sums: Values = field(init=False)
    """Words of the launch: two of 32 bits, signed and not, and one of 64, for each accumulator."""
    longs: Values = field(init=False)

    def __post_init__(self) -> None:
        self.shared = np.zeros((self.blocks, self.warps * LANES), np.uint32)
        self.bins = np.zeros((self.blocks, 8), np.uint32)
        self.sums = np.zeros(ACCUMULATORS, np.uint32)
        self.longs = np.zeros(ACCUMULATORS, np.uint64)

    @property
    def warps(self) -> int:
        """Warps of a block."""
        return -(-self.threads // LANES)

    @property
    def exists(self) -> Lanes:
        """The last warp of a block may be partial."""
        return self.thread < self.threads

    @property
    def thread(self) -> Values:
        """Number in the block."""
        shape = (self.blocks, self.warps, LANES)
        return np.broadcast_to(np.arange(self.warps * LANES).reshape(1, self.warps, LANES), shape)

    @property
    def lane(self) -> Values:
        """Number in the warp."""
        return self.thread % LANES

    def assign(self, name: str, value: Values, active: Lanes) -> None:
        """Only the active lanes take it."""
        kept = self.variables[name]
        self.variables[name] = np.where(active, value.astype(kept.dtype), kept)


def mask_of(lanes: Lanes) -> Values:
    """Per warp, as every lane of it sees it."""
    bits = (lanes.astype(np.uint64) << np.arange(LANES, dtype=np.uint64)).sum(-1, keepdims=True)
    return np.broadcast_to(bits.astype(np.uint32), lanes.shape)


def source(way: str, lane: Values, amount: Values, width: int) -> Values:
    """The lane that a shuffle reads, as PTX's shfl defines it."""
    amount = amount.astype(np.int64) & 31
    first = lane & ~(width - 1)
    last = first | (width - 1)
    if way == "idx":
        return first | (amount & (width - 1))
    there = {"up": lane - amount, "down": lane + amount, "xor": lane ^ amount}[way]
    fine = there >= first if way == "up" else there <= last
    return np.where(fine, there, lane)


def nth(active: Lanes, number: Values) -> Values:
    """The lane of the n-th active one of a warp, counted around."""
    count = np.maximum(active.sum(-1, keepdims=True), 1)
    order = np.argsort(~active, axis=-1, kind="stable")
    return np.take_along_axis(order, (number % count).astype(np.int64), -1)


def rank(active: Lanes) -> Values:
    """How many active lanes of the warp stand before a lane."""
    return np.cumsum(active, -1) - active


def folded(operation: str, values: Values, members: Lanes) -> Values:
    """All members' values together; one for every group of the last axis."""
    size = values.dtype.itemsize * 8
    signed = values.dtype.kind == "i"
    none = {
        "add": 0,
        "xor": 0,
        "or": 0,
        "and": -1 if signed else 2**size - 1,
        "min": 2 ** (size - signed) - 1,
        "max": -(2 ** (size - 1)) if signed else 0,
    }[operation]
    call: dict[str, np.ufunc] = {
        "add": np.add,
        "xor": np.bitwise_xor,
        "or": np.bitwise_or,
        "and": np.bitwise_and,
        "min": np.minimum,
        "max": np.maximum,
    }
    chosen = np.where(members, values, np.array(none, values.dtype))
    together = call[operation].reduce(chosen, axis=-1, keepdims=True, dtype=values.dtype)
    return np.broadcast_to(together, values.shape)


def scanned(values: Values, members: Lanes) -> Values:
    """Inclusive sums in the order of lanes."""
    return np.cumsum(np.where(members, values, np.array(0, values.dtype)), axis=-1, dtype=values.dtype)
