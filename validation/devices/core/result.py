"""What a virtual launch can come to: it ran, it faulted, or it was not run for a reason."""

from __future__ import annotations

import enum
import functools
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


SEVERAL = 0xFFFFFFFF
"""In place of a wave's or block's number."""


class FaultKind(enum.IntEnum):
    """Numbered as enum FaultKind in runtime.h."""

    OUT_OF_BOUNDS = 1
    FREED = 2
    READ_ONLY = 3
    MISALIGNED = 4
    SHARED_OUT_OF_BOUNDS = 5
    PRIVATE_OUT_OF_BOUNDS = 6
    UNINITIALISED = 7
    RACE = 8
    DIVERGENT_BARRIER = 9
    BARRIER_MISMATCH = 10
    BARRIER_MISSED = 11
    BUDGET = 12
    TRAP = 13
    BAD_JUMP = 14
    UNSUPPORTED = 15
    DEADLOCK = 16
    ASSERT = 17
    BAD_FREE = 18
    SYNC_MASK = 19
    SYNC_MISSED = 20
    WARP_RACE = 21
    """This one and those that follow are hazards, told as notes: the launch goes on."""
    NO_FENCE = 22
    GLOBAL_RACE = 23

    @property
    def sentence(self) -> str:
        """What went wrong, in words."""
        return _SENTENCES[self]


_SENTENCES = {
    FaultKind.OUT_OF_BOUNDS: "access outside every allocation",
    FaultKind.FREED: "access to freed memory",
    FaultKind.READ_ONLY: "write to constant memory",
    FaultKind.MISALIGNED: "misaligned access",
    FaultKind.SHARED_OUT_OF_BOUNDS: "access outside shared memory (LDS)",
    FaultKind.PRIVATE_OUT_OF_BOUNDS: "access outside the thread's private memory (scratch)",
    FaultKind.UNINITIALISED: "an uninitialised value reaches a result",
    FaultKind.RACE: "data race in shared memory (LDS): two waves, no barrier between",
    FaultKind.DIVERGENT_BARRIER: "barrier reached by some lanes of a wave only",
    FaultKind.BARRIER_MISMATCH: "waves of a block wait at different barriers",
    FaultKind.BARRIER_MISSED: "a wave ended while others wait at a barrier",
    FaultKind.BUDGET: "instruction budget exceeded (endless loop?)",
    FaultKind.TRAP: "trap (abort or __builtin_trap in the kernel)",
    FaultKind.BAD_JUMP: "jump to an address that is no function",
    FaultKind.UNSUPPORTED: "reached something the device does not support",
    FaultKind.DEADLOCK: "no wave can go on",
    FaultKind.ASSERT: "assertion failed",
    FaultKind.BAD_FREE: "free of what is no block of the device heap",
    FaultKind.SYNC_MASK: "a lane calls a warp function with a mask that does not name it",
    FaultKind.SYNC_MISSED: "a lane named in the mask of a warp function never arrives",
    FaultKind.WARP_RACE: "hazard in shared memory: two lanes of a warp, one of them writing, no __syncwarp between",
    FaultKind.NO_FENCE: "hazard in shared memory: an atomic or volatile between two waves, no __threadfence_block seen",
    FaultKind.GLOBAL_RACE: "hazard in global memory: two waves, one of them writing, nothing orders them",
}


@dataclass(frozen=True)
class Site:
    """One instruction: its text and where it came from."""

    text: str
    assembly_line: int
    file: str | None = None
    line: int = 0

    @property
    def where(self) -> str:
        """`file:line`, or the assembly line without line information."""
        if self.file is None:
            return f"assembly line {self.assembly_line}"
        return f"{_spelled(self.file)}:{self.line}"


@functools.cache
def _spelled(file: str) -> str:
    """A file in one of its spellings; there are few, and every instruction names one."""
    return str(PurePath(file))


@dataclass(frozen=True)
class Place:
    """Who did it: kernel, block, wave, lane, instruction."""

    kernel: str
    block: tuple[int, int, int]
    wave: int
    lane: int
    site: Site | None

    def __str__(self) -> str:
        where = "" if self.site is None else f" at {self.site.where}: {self.site.text}"
        return f"{self.kernel}, block {self.block}, wave {self.wave}, lane {self.lane}{where}"


@dataclass(frozen=True)
class Fault:
    """The launch broke a rule; the first fault is kept."""

    kind: FaultKind
    place: Place
    address: int = 0
    size: int = 0
    near: str | None = None
    other: Place | None = None
    message: str | None = None
    """What an assertion said."""
    printed: str = ""
    """What the launch had printed by then."""

    def __str__(self) -> str:
        parts = [f"{self.kind.sentence}: {self.place}"]
        if self.message:
            parts.append(self.message)
        if self.size:
            parts.append(f"{self.size} bytes at {self.address:#x}")
        if self.near:
            parts.append(self.near)
        if self.other:
            parts.append(f"with {self._which}" + (f" at {self.other.site.where}" if self.other.site else ""))
        return "; ".join(parts)

    @property
    def _which(self) -> str:
        """Who the other one is."""
        assert self.other is not None
        if self.kind is FaultKind.WARP_RACE:
            return f"lane {self.other.lane}"
        wave = "several waves" if self.other.wave == SEVERAL else f"wave {self.other.wave}"
        if self.kind is not FaultKind.GLOBAL_RACE or self.other.block == self.place.block:
            return wave
        return "several blocks" if self.other.block[0] == SEVERAL else f"block {self.other.block}, {wave}"


@dataclass(frozen=True)
class NotRun:
    """Could not be run, and why: a missing tool, or something not supported."""

    reason: str
    mnemonic: str | None = None
    assembly_line: int = 0

    def __str__(self) -> str:
        return self.reason


@dataclass(frozen=True)
class MemorySite:
    """Traffic of one memory instruction over the whole launch."""

    site: Site
    space: str
    requests: int
    lanes: int
    bytes: int
    lines: int
    """Distinct lines of 128 bytes, added up over the requests."""
    conflicts: int
    """Extra passes that bank conflicts cost (LDS)."""

    @property
    def least_lines(self) -> int:
        """What the same bytes would take if neighbouring lanes had neighbouring addresses."""
        return -(-self.bytes // 128)


@dataclass(frozen=True)
class Executed:
    """One instruction of the program, in its order: how often it ran, and what its accesses met on their way."""

    site: Site
    segment: int
    """Instructions of one segment follow each other under one EXEC."""
    space: str | None
    runs: int
    """Waves that ran it, times."""
    lanes: int
    """Lanes switched on in these runs, added up."""
    requests: int = 0
    request_lanes: int = 0
    bytes: int = 0
    conflicts: int = 0
    """LDS: extra passes."""
    accesses: int = 0
    """Lookups of the L1."""
    l2_requests: int = 0
    """Reads of a line that the L1 did not have, or writes of a piece."""
    l2_misses: int = 0
    """Reads of a line that the L2 did not have."""
    last_misses: int = 0
    """Of these, what the last-level cache did not have either."""
    other_xcd: int = 0
    """Of the misses of an L2, what the last-level cache had and another XCD had asked for last."""


@dataclass(frozen=True)
class Counters:
    """Evidence about speed; no time is invented from it."""

    instructions: dict[str, int] = field(default_factory=dict)
    lane_instructions: int = 0
    vector_instructions: int = 0
    divergent_branches: int = 0
    matrix_operations: int = 0
    memory: tuple[MemorySite, ...] = ()
    """With `count_memory` only."""
    lanes: int = 64
    bytes_moved: dict[str, int] = field(default_factory=dict)
    """Bytes that instructions asked for, by level: global (and flat), shared, private (scratch), scalar."""
    divergent_lines: dict[str, int] = field(default_factory=dict)
    """Branches that split a wave, by source line."""
    resources: dict[str, int] = field(default_factory=dict)
    """Of the compiled kernel: registers, spills, LDS and scratch per thread, as the compiler states them."""
    uncertain: dict[str, int] = field(default_factory=dict)
    """Runs of instructions whose results may differ from the hardware's: `approximate`, `order unknown`, `order of an
    H100` (other GPUs may have another) or `undecided`, and the mnemonic. All others are exact."""
    executed: tuple[Executed, ...] = ()
    """With `caches` only: every instruction of the program."""
    written_back: int = 0
    """With `caches` only: pieces that the L2s wrote."""
    memory_writes: int = 0
    """Of these, what left the last-level cache before the kernel's end."""
    atomics: int = 0
    """With `caches` only: atomics on global memory, by lane."""
    hottest: int = 0
    """Of these, those on the 128 bytes that most are on."""

    @property
    def active_lanes(self) -> float | None:
        """Mean number of lanes switched on per vector instruction."""
        return self.lane_instructions / self.vector_instructions if self.vector_instructions else None

    def as_json(self) -> dict[str, Any]:
        """The same as plain values, to be written as JSON."""
        sites = [
            {
                "where": m.site.where,
                "instruction": m.site.text,
                "space": m.space,
                "requests": m.requests,
                "lanes": m.lanes,
                "bytes": m.bytes,
                "lines": m.lines,
                "least_lines": m.least_lines,
                "conflicts": m.conflicts,
            }
            for m in self.memory
        ]
        return {
            "lanes": self.lanes,
            "instructions": dict(self.instructions),
            "vector_instructions": self.vector_instructions,
            "lane_instructions": self.lane_instructions,
            "active_lanes": self.active_lanes,
            "divergent_branches": self.divergent_branches,
            "divergent_lines": dict(self.divergent_lines),
            "matrix_operations": self.matrix_operations,
            "bytes_moved": dict(self.bytes_moved),
            "resources": dict(self.resources),
            "uncertain": dict(self.uncertain),
            "memory": sites,
        }


@dataclass(frozen=True)
class Left:
    """A variable of the module after a launch."""

    name: str
    """As C++ has it."""
    content: bytes
    changed: bool
    """By the launch."""
    kind: str | None = None
    """Of its elements, as numpy names types, where that is known and they hold no addresses."""


@dataclass(frozen=True)
class Ran:
    """The launch ended: arrays after it, in argument order (None for what is no array)."""

    outputs: tuple[Array | None, ...]
    counters: Counters
    notes: tuple[str, ...] = ()
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    """Of all host threads: the figure to quote on a busy machine."""
    printed: str = ""
    """What the kernel's printf calls wrote, in the order they were made."""
    writer: Place | None = None
    """Who wrote the watched bytes last."""
    unordered: str | None = None
    """With `global_races`: two accesses to global memory, neither atomic nor volatile, that nothing orders."""
    left: tuple[Left, ...] = ()
    """The module's variables after the launch, where somebody asked for them."""

    def output(self, index: int) -> Array:
        """The array passed as argument `index`, as the kernel left it."""
        array = self.outputs[index]
        if array is None:
            raise TypeError(f"argument {index} is no array")
        return array


Outcome = Ran | Fault | NotRun


def poisoned(shape: tuple[int, ...] | int, dtype: Any) -> Array:
    """An output buffer full of bytes nobody would write."""
    array = np.empty(shape, dtype)
    array.view(np.uint8)[...] = 0xA5
    return array
