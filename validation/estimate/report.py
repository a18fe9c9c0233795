"""Estimates as text and JSON; every number says that it is one. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import PurePath
from typing import Any

from porter.validation.estimate.bench import Estimated, EstimateReport
from porter.validation.estimate.model import Estimate

from porter import __version__
from porter.report.text import table

SCHEMA = "porter-estimate-1"
LEFT_OUT = (
    "clock and power management, TLB misses, contended atomics, instruction fetch, cache policies of single loads, "
    "loads of one turn of a loop that are awaited in the next, other kernels beside it, and the launch itself"
)
_HEAD = ("case", "warps", "shape", "estimate", "between", "limit", "waves/SIMD", "blocks")


def estimate_text(report: EstimateReport) -> str:
    """A line per estimate, then what costs its time, then what has none."""
    lines = [
        f"porter {__version__} bench: estimates for {report.chip.name} from runs on a model; nothing was measured.",
        f"Left out: {LEFT_OUT}.",
    ]
    rows = [_row(row, row.estimate) for row in report.rows if row.estimate is not None]
    if rows:
        lines += ["", *table(_HEAD, rows, right=(3, 4, 6, 7))]
    for row in report.rows:
        if row.estimate is not None and row.estimate.costs:
            lines += ["", f"{row.case} ({row.shape}): what costs its time, by the estimate", *_costs(row.estimate)]
    lines += [f"{row.case} ({row.shape}): no estimate: {row.reason}" for row in report.rows if row.estimate is None]
    lines += [f"{error.path}:{error.line}: {error.message}" for error in report.errors]
    return "\n".join(lines) + "\n"


def _row(row: Estimated, found: Estimate) -> tuple[str, ...]:
    low, high = found.nanoseconds / found.band, found.nanoseconds * found.band
    limit = found.limit if found.tested else f"{found.limit} (not tested)"
    blocks = str(row.blocks) if row.blocks == row.sampled else f"{row.blocks}, {row.sampled} run"
    shown = (_time(found.nanoseconds), f"{_time(low)} - {_time(high)}", limit, f"{found.waves_per_simd:g}", blocks)
    return (row.case, row.warp or "", row.shape, *shown)


def _costs(found: Estimate) -> Iterator[str]:
    for cost in found.costs[:5]:
        yield f"  {cost.nanoseconds / found.nanoseconds:5.0%}  {cost.cause}: {cost.remedy}"
        yield from (f"           {share:4.0%}  {PurePath(where).name}" for where, share in cost.places[:3])


def _time(nanoseconds: float) -> str:
    if nanoseconds < 1e3:
        return f"{nanoseconds:.0f} ns"
    return f"{nanoseconds / 1e3:.1f} us" if nanoseconds < 1e6 else f"{nanoseconds / 1e6:.2f} ms"


def estimate_json(report: EstimateReport) -> dict[str, Any]:
    """The document that `schemas/estimate.json` describes; nanoseconds and bytes."""
    return {
        "schema": SCHEMA,
        "porter": __version__,
        "chip": report.chip.name,
        "measured": False,
        "left_out": LEFT_OUT,
        "estimates": [
            {
                "case": row.case,
                "warp": row.warp,
                "shape": row.shape,
                "blocks": row.blocks,
                "sampled": row.sampled,
                "reason": row.reason or None,
                "counters": row.counters,
                "estimate": asdict(row.estimate) if row.estimate is not None else None,
            }
            for row in report.rows
        ],
        "errors": [{"path": e.path, "line": e.line, "message": e.message} for e in report.errors],
    }
