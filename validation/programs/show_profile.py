"""A program's profile as lines and as JSON; every number of it says that it is counted or an estimate."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from porter.validation.estimate.report import LEFT_OUT, costs_lines, shown_band, shown_limit, shown_time
from porter.validation.programs.profile import Profile, ProfiledLaunch

_KERNELS = 12
_EXPLAINED = 3


def profile_json(profile: Profile) -> dict[str, Any]:
    """As in `estimate.json`; times in nanoseconds, traffic in bytes, both of one launch."""
    low, high = profile.between
    return {
        "chip": profile.chip.name,
        "measured": False,
        "left_out": LEFT_OUT,
        "roofs": profile.chip.roofs,
        "estimate": {"nanoseconds": profile.nanoseconds, "low": low, "high": high, "short_launches": profile.short},
        "launches": [
            {
                "side": row.side,
                "kernel": row.kernel,
                "grid": list(row.grid),
                "block": list(row.block),
                "shared": row.shared,
                "launches": list(row.launches),
                "traffic": row.traffic,
                "counters": row.counters,
                "estimate": asdict(row.estimate) if row.estimate is not None else None,
            }
            for row in profile.rows
        ],
    }


def profile_lines(profile: Profile) -> Iterator[str]:
    """By kernel what its launches may take, then what costs the time of the largest."""
    kernels: dict[tuple[str, str], list[ProfiledLaunch]] = {}
    for row in profile.rows:
        kernels.setdefault((row.side, row.kernel), []).append(row)
    estimated = {name: rows for (side, name), rows in kernels.items() if side == "hip"}
    if estimated:
        low, high = profile.between
        between = f"{shown_time(low)} - {shown_time(high)}"
        yield f"estimate for {profile.chip.name} from a run on a model, nothing was measured; left out: {LEFT_OUT}"
        yield f"  all launches one after the other: estimate {shown_time(profile.nanoseconds)} ({between})"
        if profile.short:
            least, count = f"{profile.chip.launch_ns / 1e3:g} us", sum(len(row.launches) for row in profile.rows)
            yield f"  estimated shorter than the {least} of a launch: {profile.short:,} of {count:,} launches"
    for name, rows in list(estimated.items())[:_KERNELS]:
        yield from _kernel(name, rows, profile)
    if len(estimated) > _KERNELS:
        yield f"  and {len(estimated) - _KERNELS} more kernels, see --format json"
    for rows in list(estimated.values())[:_EXPLAINED]:
        found = rows[0].estimate
        if found is not None and found.costs:
            yield f"what costs the time of {rows[0].kernel}, grid {_sizes(rows[0].grid)}, by the estimate"
            yield from costs_lines(found)
    for (side, name), rows in list(kernels.items())[:_KERNELS]:
        if side == "cuda":
            moved = sum((row.traffic["read"] + row.traffic["write"]) * len(row.launches) for row in rows)
            yield f"  counted: {name}: {moved / 1e6:.3g} MB to and from memory, with the caches of an H100"


def _kernel(name: str, rows: list[ProfiledLaunch], profile: Profile) -> Iterator[str]:
    total = sum(row.estimate.nanoseconds * len(row.launches) for row in rows if row.estimate is not None)
    share = total / profile.nanoseconds if profile.nanoseconds else 0.0
    launches = sum(len(row.launches) for row in rows)
    yield f"  {share:4.0%}  {name}: {launches:,} launch{'es' * (launches > 1)}, estimate {shown_time(total)}"
    for row in rows[:3]:
        assert row.estimate is not None
        one = row.estimate
        size = f"{len(row.launches):>6} x {_sizes(row.grid)} blocks of {_sizes(row.block)}"
        yield f"        {size}: {shown_time(one.nanoseconds)} ({shown_band(one)}) each, limit {shown_limit(one)}"
    if len(rows) > 3:
        yield f"        and {len(rows) - 3} more sizes"


def _sizes(three: tuple[int, int, int]) -> str:
    return " x ".join(str(size) for size in three[: max(i for i in range(3) if i == 0 or three[i] > 1) + 1])
