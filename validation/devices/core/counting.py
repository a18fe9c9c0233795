"""What a launch counted, put together by kind of instruction, memory level and source line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from porter.validation.devices.core import abi
from porter.validation.devices.core.result import Counters, Executed, MemorySite, Site


class CountedSite(Protocol):
    """What is known of an instruction from its translation (launch.SiteKind)."""

    @property
    def site(self) -> Site: ...
    @property
    def kind(self) -> str: ...
    @property
    def segment(self) -> int: ...
    @property
    def space(self) -> str | None: ...
    @property
    def operations(self) -> int: ...
    @property
    def bytes(self) -> int: ...
    @property
    def doubt(self) -> str: ...


def count(
    launch: abi.Launch, sites: Sequence[CountedSite], segments: int, lanes: int, resources: Mapping[str, int]
) -> Counters:
    """Segments ran under one EXEC each: their runs and lanes count for every instruction in them."""
    runs = [launch.segments[i].runs for i in range(segments)]
    active = [launch.segments[i].lanes for i in range(segments)]
    diverged = launch.divergence[: len(sites)]
    instructions: dict[str, int] = {}
    moved: dict[str, int] = {}
    divergent: dict[str, int] = {}
    uncertain: dict[str, int] = {}
    vector = lane = operations = 0
    memory: list[MemorySite] = []
    executed: list[Executed] = []
    for index, site in enumerate(sites):
        times = runs[site.segment]
        if launch.flags & abi.COUNT_CACHES:
            executed.append(_executed(site, times, active[site.segment], launch.sites[index]))
        if not times:
            continue
        instructions[site.kind] = instructions.get(site.kind, 0) + times
        operations += times * site.operations
        if site.doubt:
            name = f"{site.doubt}: {site.site.text.split()[0]}"
            uncertain[name] = uncertain.get(name, 0) + times
        if site.kind != "scalar":
            vector += times
            lane += active[site.segment]
        if site.bytes:
            level = site.space or "scalar"
            moved[level] = moved.get(level, 0) + site.bytes * (active[site.segment] if site.space else times)
        if diverged[index]:
            where = site.site.where
            divergent[where] = divergent.get(where, 0) + diverged[index]
        if site.space is not None and (seen := launch.sites[index]).requests:
            numbers = (seen.requests, seen.lanes, seen.bytes, seen.lines, seen.conflicts)
            memory.append(MemorySite(site.site, site.space, *numbers))
    return Counters(
        instructions, lane, vector, sum(divergent.values()), operations, tuple(memory), lanes, moved, divergent,
        dict(resources), uncertain, tuple(executed), *_writes(launch),
    )  # fmt: skip


def _writes(launch: abi.Launch) -> tuple[int, int, int, int]:
    totals = launch.cache_totals
    return totals.written_back, totals.memory_writes, totals.atomics, totals.hottest


def _executed(site: CountedSite, runs: int, lanes: int, seen: abi.SiteCount) -> Executed:
    numbers = (seen.requests, seen.lanes, seen.bytes, seen.conflicts)
    cached = (seen.accesses, seen.l2_requests, seen.l2_misses, seen.last_misses, seen.other_xcd)
    return Executed(site.site, site.segment, site.space, runs, lanes, *numbers, *cached)
