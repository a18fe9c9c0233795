"""What a launch asks of each unit of the GPU, from the instructions that ran. Pure."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from porter.validation.build.occupancy import Occupancy, Use, occupancy
from porter.validation.devices.core.launch import Caches
from porter.validation.devices.core.result import Counters, Executed
from porter.validation.estimate.chip import LINE, Chip
from porter.validation.estimate.issue import Issue, issue

_PTX_WRITES = ("st.", "atom.", "red.")
_PORT = 64
"""Bytes a cycle of one of the two input ports of the LDS."""


@dataclass(frozen=True)
class Step:
    """One instruction with what it takes."""

    executed: Executed
    issue: Issue

    @property
    def mnemonic(self) -> str:
        """As the assembler writes it; of PTX without its predicate."""
        return _mnemonic(self.executed.site.text)

    @property
    def writes(self) -> bool:
        """Whether it stores; atomics do."""
        name = self.mnemonic
        return any(part in name for part in ("_store", "_write", "_atomic")) or name.startswith(_PTX_WRITES)

    @property
    def lane_bytes(self) -> float:
        """Bytes of one lane."""
        return self.executed.bytes / self.executed.request_lanes if self.executed.request_lanes else 0.0


@dataclass(frozen=True)
class Launched:
    """The launch: what was run, and what part of the whole it is."""

    blocks: int
    block_threads: int
    counters: Counters
    sampled: int
    """Blocks that ran."""
    shared: int
    """LDS of a block in bytes."""

    @property
    def waves_per_block(self) -> int:
        """Wavefronts of a block."""
        return math.ceil(self.block_threads / self.counters.lanes)

    @property
    def scale(self) -> float:
        """From what ran to the whole launch."""
        return self.blocks / self.sampled if self.sampled else 0.0


def steps(counters: Counters) -> tuple[Step, ...]:
    """The program, in its order."""
    return tuple(Step(one, issue(_mnemonic(one.site.text))) for one in counters.executed if one.site.text)


def _mnemonic(text: str) -> str:
    words = text.split(None, 2)
    return next((word for word in words[:2] if not word.startswith("@")), "")


def resident(chip: Chip, launched: Launched) -> Occupancy:
    """How many blocks a CU holds."""
    known = launched.counters.resources
    use = Use(
        known.get("vgpr_count", 0), known.get("agpr_count", 0), known.get("sgpr_count", 0), launched.shared,
        launched.block_threads,
    )  # fmt: skip
    return occupancy(chip.target, use)


def lds_cycles(step: Step) -> tuple[float, float]:
    """(input ports, banks) of a CU in cycles: addresses and stored data share two ports of 64 bytes, 32 banks serve."""
    one = step.executed
    data = one.bytes if step.writes else 0
    return (4 * one.request_lanes + data) / (2 * _PORT), one.bytes / LINE + one.conflicts


def unit_cycles(program: Sequence[Step]) -> dict[str, float]:
    """Cycles of each unit of a CU, added up over all that ran; of VALU and MFMA over its four SIMDs."""
    total = dict.fromkeys(("valu", "mfma", "salu", "lds ports", "lds banks", "l1"), 0.0)
    for step in program:
        unit, runs = step.issue.unit, step.executed.runs
        if unit in ("valu", "mfma"):
            total[unit] += runs * step.issue.cycles
        elif unit in ("salu", "smem", "branch"):
            total["salu"] += runs * step.issue.cycles
        elif unit == "lds":
            ports, banks = lds_cycles(step)
            total["lds ports"] += ports
            total["lds banks"] += banks
        elif unit == "vmem":
            total["l1"] += step.executed.accesses
    return total


def traffic(caches: Caches, program: Sequence[Step], counters: Counters) -> dict[str, float]:
    """Bytes: L2 requests, reads that the last level serves, reads and writes of memory."""
    found = dict.fromkeys(("l2", "last", "read"), 0.0)
    line, piece = 1 << caches.line_bits, 1 << caches.write_bits
    for step in program:
        one = step.executed
        found["l2"] += one.l2_requests * (piece if step.writes else line)
        found["last"] += (one.l2_misses - one.last_misses) * line
        found["read"] += one.last_misses * line
    return {**found, "write": counters.written_back * _written(program, counters) * piece}


def moved(caches: Caches, launched: Launched) -> dict[str, float]:
    """Bytes of the whole launch: asked of global memory by lanes, at the L2, to and from memory."""
    program = steps(launched.counters)
    levels = traffic(caches, program, launched.counters)
    asked = sum(step.executed.bytes for step in program if step.executed.space == "global")
    found = {"asked": asked, "l2": levels["l2"], "memory": levels["last"] + levels["read"] + levels["write"]}
    return {level: count * launched.scale for level, count in found.items()}


def _written(program: Sequence[Step], counters: Counters) -> float:
    """The part of what the L2s wrote that is left when a program does without its scratch."""
    before = steps(counters)
    asked = sum(step.executed.l2_requests for step in before if step.writes)
    gone = _to_scratch(before) - _to_scratch(program)
    return 1 - gone / asked if asked else 1.0


def _to_scratch(program: Sequence[Step]) -> int:
    return sum(step.executed.l2_requests for step in program if step.writes and step.executed.space == "private")


_MATRIX = re.compile(r"_(\d+)x(\d+)x(\d+)(?:_(\d+)b)?")
_FUSED = ("fma", "fmac", "mac", "mad", "pk_fma", "dot")


def operations(program: Sequence[Step]) -> float:
    """Operations on floating-point numbers of what ran; a fused multiply-add is two."""
    total = 0.0
    for step in program:
        counter, name = step.issue.counter, step.mnemonic.removeprefix("v_")
        if step.issue.unit == "mfma":
            shape = _MATRIX.search(name)
            sizes = [int(size or 1) for size in shape.groups()] if shape and "_i32_" not in name else [0]
            total += 2 * step.executed.runs * math.prod(sizes)
        elif counter.startswith(("VALU_F32", "VALU_F64", "VALU_TRANS")):
            each = 2 if name.startswith(_FUSED) else 1
            total += step.executed.lanes * each * (2 if name.startswith("pk_") else 1)
    return total


def usage(resource: str, step: Step) -> float:
    """How much a step takes of a resource, in units of that resource's own."""
    one, unit = step.executed, step.issue.unit
    if resource in ("valu", "mfma", "salu"):
        mine = unit == resource or (resource == "salu" and unit in ("smem", "branch"))
        return one.runs * step.issue.cycles if mine else 0.0
    if resource.startswith("lds"):
        return lds_cycles(step)[resource == "lds banks"] if unit == "lds" else 0.0
    if unit != "vmem":
        return 0.0
    if resource == "l1":
        return one.accesses
    if resource == "l2":
        return one.l2_requests * (0.5 if step.writes else 1.0)
    if resource == "atomics of one line":
        return one.request_lanes if "_atomic" in step.mnemonic else 0.0
    return (
        one.l2_requests * 0.5 if step.writes else one.l2_misses if resource == "last-level cache" else one.last_misses
    )


def waits(chip: Chip, program: Sequence[Step], waves: int) -> dict[str, float]:
    """Where a mean wavefront issues and waits, by source line."""
    if not waves:
        return {}
    wave = _Wave(chip, waves)
    wave.walk(program, waves, 1.0, 0)
    return wave.places


def wave_latency(chip: Chip, program: Sequence[Step], waves: int) -> float:
    """Nanoseconds that a mean wavefront takes when nothing else is in its way.

    Instructions issue one after the other; `s_waitcnt` waits for what is outstanding, with the latency of the levels
    that answered. A loop is gone through twice: its first turn, and one that stands for all others and finds what the
    turn before has asked for.
    """
    if not waves:
        return 0.0
    wave = _Wave(chip, waves)
    wave.walk(program, waves, 1.0, 0)
    return chip.latency["start"] + wave.total + (chip.latency["store"] if wave.stored else 0.0)


_DEEPEST = 4
"""Loops within loops that are told apart."""


@dataclass
class _Wave:
    """What a wavefront has waited so far, and what it has asked for."""

    chip: Chip
    waves: int
    total: float = 0.0
    now: float = 0.0
    stored: bool = False
    places: dict[str, float] = field(default_factory=dict)
    waiting: dict[str, list[float]] = field(default_factory=lambda: {"vmcnt": [], "lgkmcnt": []})

    def walk(self, program: Sequence[Step], level: float, share: float, depth: int) -> None:
        """Go through instructions that run `level` times; what runs more often in a row is a loop."""
        at = 0
        while at < len(program):
            end = at
            while end < len(program) and program[end].executed.runs > level:
                end += 1
            if end > at and depth < _DEEPEST:
                body, runs = program[at:end], program[end - 1].executed.runs
                self.walk(body, runs, share * level / runs, depth + 1)
                self.walk(body, runs, share * (1 - level / runs), depth + 1)
                at = end
            else:
                self._step(program[at], share)
                at += 1

    def _step(self, step: Step, share: float) -> None:
        one, unit, latency = step.executed, step.issue.unit, self.chip.latency
        weight = share * one.runs / self.waves
        busy = max(step.issue.cycles, 4.0 if unit in ("valu", "mfma") else 1.0) / self.chip.clock
        self._spend(step, weight * busy)
        self.now += busy
        if not one.runs:
            return
        self.stored |= step.writes and unit == "vmem"
        if unit == "vmem":
            self.waiting["vmcnt"].append(self.now + _latency(self.chip, one))
        elif unit in ("lds", "smem"):
            self.waiting["lgkmcnt"].append(self.now + latency["lds" if unit == "lds" else "scalar"])
        elif step.mnemonic == "s_barrier":
            self._spend(step, weight * latency["barrier"])
        elif step.mnemonic == "s_waitcnt":
            until = max(_awaited(one.site.text, self.waiting), default=self.now)
            self._spend(step, weight * max(0.0, until - self.now))
            self.now = max(self.now, until)

    def _spend(self, step: Step, time: float) -> None:
        where = step.executed.site.where
        self.total += time
        self.places[where] = self.places.get(where, 0.0) + time


def _awaited(text: str, waiting: dict[str, list[float]]) -> Iterator[float]:
    """When that is there which an s_waitcnt waits for; it is taken off the list."""
    for counter, ready in waiting.items():
        _, found, rest = text.partition(f"{counter}(")
        if not found:
            continue
        left = int(rest.partition(")")[0])
        done = len(ready) - left
        if done > 0:
            yield from ready[:done]
            del ready[:done]


def _latency(chip: Chip, one: Executed) -> float:
    """Of one request: that of the slowest level which one of its lines needs, as often as it does."""
    if not one.requests:
        return chip.latency["l1"]
    levels = (("l1", one.requests), ("l2", one.l2_requests), ("last", one.l2_misses), ("memory", one.last_misses))
    before = found = 0.0
    for name, count in levels:
        found += min(1.0, count / one.requests) * (chip.latency[name] - before)
        before = chip.latency[name]
    return found
