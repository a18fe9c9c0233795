"""The estimate: the busiest unit against the chain of waits, and what each factor costs. Pure.

Throughput: on a CU the most loaded of VALU, MFMA, scalar unit, LDS and L1; for the chip L2, last-level cache, memory
and dispatch. Latency: how long wavefronts wait, over how many wait at once. Together a sum of powers (`_JOIN`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from porter.validation.estimate.chip import LINE, Chip
from porter.validation.estimate.products import products
from porter.validation.estimate.work import (
    Launched,
    Step,
    operations,
    resident,
    steps,
    traffic,
    unit_cycles,
    usage,
    waits,
    wave_latency,
)

BANDS = {"memory": 1.3, "l2": 1.35, "valu": 1.25, "mfma": 1.15, "lds": 1.2, "l1": 1.15, "latency": 1.4}
"""How far off, as a factor, the estimate was on published measurements of that class (docs/estimate.md)."""
_JOIN = 1.9
"""Between 1 (one after the other) and infinity (the larger alone): fitted on streams at every occupancy."""
_LEAST_SHARE = 0.001
UNTESTED = 2.0
"""The band of a class without published measurements."""


@dataclass(frozen=True)
class Cost:
    """What would be saved without one cause of cost: nanoseconds, and where it lies."""

    cause: str
    nanoseconds: float
    places: tuple[tuple[str, float], ...]
    """(source line, its share of the cause), largest first."""
    remedy: str


@dataclass(frozen=True)
class Estimate:
    """An estimate of one launch in nanoseconds; nothing of it was measured."""

    nanoseconds: float
    band: float
    """The time lies, we think, between the estimate divided and multiplied by this."""
    limit: str
    """The resource that is busiest, or latency."""
    tested: bool
    """Whether published measurements of that class were predicted."""
    resources: dict[str, float]
    """Nanoseconds that each resource alone would take."""
    waves_per_simd: float
    limited_by: tuple[str, ...]
    traffic: dict[str, float]
    """Bytes of the whole launch, by level."""
    costs: tuple[Cost, ...] = ()
    operations: float = 0.0
    """On floating-point numbers, of the whole launch."""
    lines: tuple[tuple[str, float], ...] = ()
    """(source line, its share of the estimate), largest first."""


def estimate(chip: Chip, launched: Launched) -> Estimate:
    """Estimates a launch whose arrays lie in memory, not in caches, and which is not the first of its program."""
    program = steps(launched.counters)
    found = _estimate(chip, launched, program)
    return replace(
        found,
        costs=_costs(chip, launched, program, found),
        operations=operations(program) * launched.scale,
        lines=_lines(chip, launched, program, found),
    )


def _lines(chip: Chip, launched: Launched, program: Sequence[Step], found: Estimate) -> tuple[tuple[str, float], ...]:
    """The busiest resource by who uses it, and the waits by who waits, each with its weight in the estimate."""
    busiest = {name: time for name, time in found.resources.items() if name != "latency"}
    resource = max(busiest, key=lambda name: busiest[name])
    powers = [busiest[resource] ** _JOIN, found.resources["latency"] ** _JOIN]
    used: dict[str, float] = {}
    for step in program:
        where = step.executed.site.where
        used[where] = used.get(where, 0.0) + usage(resource, step)
    waited = waits(chip, program, launched.sampled * launched.waves_per_block)
    shares: dict[str, float] = {}
    for weight, places in zip(powers, (used, waited), strict=True):
        whole = sum(places.values()) * sum(powers)
        for where, value in places.items() if whole else ():
            shares[where] = shares.get(where, 0.0) + value * weight / whole
    ranked = sorted(shares.items(), key=lambda item: (-item[1], item[0]))
    return tuple((where, share) for where, share in ranked if share >= _LEAST_SHARE)


def _estimate(
    chip: Chip,
    launched: Launched,
    program: Sequence[Step],
    waves_per_simd: float | None = None,
    *,
    whole_blocks: bool = True,
) -> Estimate:
    held = resident(chip, launched)
    if waves_per_simd is None:
        waves_per_simd = held.waves_per_simd
    moved = {level: count * launched.scale for level, count in traffic(chip.caches, program, launched.counters).items()}
    times = {**_cu_times(chip, launched, program, whole_blocks=whole_blocks), **_chip_times(chip, launched, moved)}
    waves = launched.blocks * launched.waves_per_block
    held_waves = max(waves_per_simd * chip.target.simds, launched.waves_per_block)
    at_once = min(waves, chip.cus * held_waves)
    times["latency"] = (
        wave_latency(chip, program, launched.sampled * launched.waves_per_block) * waves / max(at_once, 1)
    )
    throughput = max((time for name, time in times.items() if name != "latency"), default=0.0)
    limit = max(times, key=lambda name: times[name])
    group = limit.partition(" ")[0]
    sampling = 1.0 if launched.sampled == launched.blocks else 1.05
    return Estimate(
        (throughput**_JOIN + times["latency"] ** _JOIN) ** (1 / _JOIN),
        BANDS.get(group, UNTESTED) * sampling,
        limit,
        group in BANDS,
        times,
        held.waves_per_simd,
        held.limited_by,
        moved,
    )


def _cu_times(chip: Chip, launched: Launched, program: Sequence[Step], *, whole_blocks: bool) -> dict[str, float]:
    """By unit, of the busiest CU: blocks are whole, unless one wants to know what that costs."""
    even = launched.blocks / chip.cus
    most = math.ceil(even) if whole_blocks else even
    part = most / launched.sampled if launched.sampled else 0.0
    simds = min(chip.target.simds, max(launched.waves_per_block * min(math.ceil(even), 2), 1))
    if not whole_blocks:
        simds = chip.target.simds
    cycles = unit_cycles(program)
    shared = {"valu": simds, "mfma": simds}
    return {unit: total * part / shared.get(unit, 1) / chip.clock for unit, total in cycles.items()}


def _chip_times(chip: Chip, launched: Launched, moved: dict[str, float]) -> dict[str, float]:
    rate = chip.bandwidth
    return {
        "l2": moved["l2"] / rate["l2"],
        "last-level cache": moved["last"] / rate["last"],
        "memory": moved["read"] / rate["read"] + moved["write"] / rate["write"],
        "dispatch": launched.blocks * launched.waves_per_block / chip.waves_per_ns,
        "atomics of one line": launched.counters.hottest * launched.scale * chip.atomic_ns,
    }


Change = Callable[[Step], Step | None]
"""A step as it would be, None where there would be none."""


def _costs(chip: Chip, launched: Launched, program: tuple[Step, ...], found: Estimate) -> tuple[Cost, ...]:
    """Each factor set to its ideal, alone; those that save something, largest first."""
    costs: list[Cost] = []
    for factor in _FACTORS:
        ideal = _estimate(chip, launched, tuple(one for step in program if (one := factor.ideal(step)) is not None))
        saved = found.nanoseconds - ideal.nanoseconds
        costs.append(Cost(factor.cause, saved, _places(program, factor.weight), factor.remedy))
    full = _estimate(chip, launched, program, float(chip.target.waves_per_simd))
    limited = ", ".join(found.limited_by)
    costs.append(Cost(f"occupancy, limited by {limited}", found.nanoseconds - full.nanoseconds, (), _FEWER))
    spread = _estimate(chip, replace(launched, counters=replace(launched.counters, hottest=0)), program)
    costs.append(Cost(_CONTENDED, found.nanoseconds - spread.nanoseconds, _places(program, _atomics), _COMBINE))
    matrix = products(program)
    on_mfma = _estimate(chip, launched, matrix.on_mfma(program))
    where = _places(matrix.of(program), lambda step: step.executed.runs * step.issue.cycles)
    costs.append(Cost(_PRODUCTS, found.nanoseconds - on_mfma.nanoseconds, where, _MFMA))
    even = _estimate(chip, launched, program, whole_blocks=False)
    costs.append(Cost(f"{launched.blocks} blocks on {chip.cus} CUs", found.nanoseconds - even.nanoseconds, (), _BLOCKS))
    least = 0.01 * found.nanoseconds
    return tuple(sorted((c for c in costs if c.nanoseconds > least), key=lambda c: -c.nanoseconds))


def _places(program: Sequence[Step], weight: Callable[[Step], float]) -> tuple[tuple[str, float], ...]:
    total: dict[str, float] = {}
    for step in program:
        value = weight(step)
        if value > 0:
            total[step.executed.site.where] = total.get(step.executed.site.where, 0.0) + value
    whole = sum(total.values())
    ranked = sorted(total.items(), key=lambda item: -item[1])[:5]
    return tuple((where, value / whole) for where, value in ranked)


def _without_conflicts(step: Step) -> Step:
    return replace(step, executed=replace(step.executed, conflicts=0))


def _fewest_lines(step: Step) -> Step:
    one = step.executed
    if step.issue.unit != "vmem" or not one.requests or one.space != "global" or "_atomic" in step.mnemonic:
        return step
    piece = LINE // 2 if step.writes else LINE
    fewest = one.requests * math.ceil(one.bytes / one.requests / piece)
    part = min(1.0, fewest / one.l2_requests) if one.l2_requests else 1.0
    lookups = one.requests * math.ceil(one.bytes / one.requests / (LINE // 2))
    return replace(
        step,
        executed=replace(
            one,
            accesses=min(one.accesses, lookups),
            l2_requests=math.ceil(one.l2_requests * part),
            l2_misses=math.ceil(one.l2_misses * part),
            last_misses=math.ceil(one.last_misses * part),
            other_xcd=math.ceil(one.other_xcd * part),
        ),
    )


def _all_lanes(step: Step) -> Step:
    one = step.executed
    if step.issue.unit not in ("valu", "lds") or not one.runs:
        return step
    return replace(step, executed=replace(one, runs=math.ceil(one.lanes / 64)))


def _no_scratch(step: Step) -> Step | None:
    return None if step.mnemonic.startswith("scratch_") or step.executed.space == "private" else step


def _no_barrier(step: Step) -> Step | None:
    return None if step.mnemonic == "s_barrier" else step


def _one_l2(step: Step) -> Step:
    one = step.executed
    return (
        step
        if step.writes
        else replace(step, executed=replace(one, l2_misses=one.l2_misses - one.other_xcd, other_xcd=0))
    )


def _cheap(counter: str) -> Change:
    def change(step: Step) -> Step:
        if not step.issue.counter.startswith(counter):
            return step
        return replace(step, issue=replace(step.issue, cycles=min(step.issue.cycles, 2)))

    return change


def _extra_lines(step: Step) -> float:
    return step.executed.accesses - _fewest_lines(step).executed.accesses if step.issue.unit == "vmem" else 0.0


def _cycles_of(counter: str) -> Callable[[Step], float]:
    return lambda step: step.executed.runs * step.issue.cycles if step.issue.counter.startswith(counter) else 0.0


def _atomics(step: Step) -> float:
    return step.executed.request_lanes if step.issue.unit == "vmem" and "_atomic" in step.mnemonic else 0.0


_CONTENDED = "atomics on the same line"
_COMBINE = "combine lanes and blocks first (a reduction per wavefront, one atomic for it), or spread over lines"
_FEWER = "fewer registers or less LDS: __launch_bounds__ with the real block size, smaller tiles"
_BLOCKS = "a grid of a multiple of the CUs, or more and smaller blocks"


def _off(step: Step) -> float:
    return step.executed.runs * 64 - step.executed.lanes if step.issue.unit == "valu" else 0.0


def _spilled(step: Step) -> float:
    return step.executed.accesses if _no_scratch(step) is None else 0.0


def _barriers(step: Step) -> float:
    return step.executed.runs if _no_barrier(step) is None else 0.0


def _elsewhere(step: Step) -> float:
    return 0.0 if step.writes else step.executed.other_xcd


@dataclass(frozen=True)
class _Factor:
    cause: str
    remedy: str
    ideal: Change
    weight: Callable[[Step], float]


_PAD = "pad rows by one element, or permute"
_ALONE = "blocks of one wavefront, or wavefronts that share nothing, need none; larger tiles need fewer"
_TOGETHER = "blocks that read the same on one XCD: block i of n as (i % 8) * (n / 8) + i / 8"
_PRODUCTS = "products of matrices without MFMA"
_MFMA = "rocWMMA, __builtin_amdgcn_mfma_*, or a library's product (hipBLASLt, Composable Kernel)"
_NEIGHBOURS = "neighbouring lanes on neighbouring elements, wider loads"
_FACTORS = (
    _Factor("bank conflicts of the LDS", _PAD, _without_conflicts, lambda step: step.executed.conflicts),
    _Factor("scattered or narrow accesses", _NEIGHBOURS, _fewest_lines, _extra_lines),
    _Factor("lanes that are off", "less divergence; blocks that are multiples of 64", _all_lanes, _off),
    _Factor("spills to scratch", "fewer live values; __launch_bounds__", _no_scratch, _spilled),
    _Factor("barriers", _ALONE, _no_barrier, _barriers),
    _Factor("lines that other XCDs have", _TOGETHER, _one_l2, _elsewhere),
    _Factor("transcendentals", "fewer of them, or cheaper forms", _cheap("VALU_TRANS"), _cycles_of("VALU_TRANS")),
    _Factor("arithmetic in double", "float where it is enough", _cheap("VALU_F64"), _cycles_of("VALU_F64")),
)
