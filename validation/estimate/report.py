"""Estimates as text and JSON; every number says that it is one. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from pathlib import PurePath
from typing import Any

from porter.validation.estimate.bench import Estimated, EstimateReport, Moved
from porter.validation.estimate.model import Estimate

from porter import __version__
from porter.report.text import table

SCHEMA = "porter-estimate-1"
LEFT_OUT = (
    "clock and power management, TLB misses, instruction fetch, cache policies of single loads, what a kernel before "
    "left in the caches, other kernels beside it, and the launch itself"
)
_MOVED_TITLE = (
    "bytes of the port over those of the original, counted with the caches and lines of {} and of an H100; "
    "scalar loads and constant memory are left out"
)
_MOVED = ("case", "warps", "shape", "lanes ask for", "at the L2", "memory")
_BUSY = 0.05
_BESIDE = ("counter", "counted", "measured", "ratio")
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
        if row.estimate is not None and row.estimate.costs and not row.variant:
            lines += ["", f"{_name(row)}: what costs its time, by the estimate", *costs_lines(row.estimate)]
    compared = report.comparisons
    if compared:
        lines += ["", "which takes less, where the model's bands let that be said (estimates, nothing was measured)"]
        lines += [f"  {one.case} ({one.shape}): {one.before} -> {one.after}: {one.said}" for one in compared]
        if any(one.direction == "open" for one in compared):
            lines.append("  open: closer together than the bands; the model does not tell them apart")
    if report.ratios:
        lines += ["", _MOVED_TITLE.format(report.chip.name)]
        lines += [f"  {line}" for line in table(_MOVED, map(_moved, report.ratios), right=(3, 4, 5))]
    if report.profile:
        lines += ["", *_profiled(report)]
    missing = [row for row in report.rows if row.moved is None]
    lines += [f"{_name(row)}: no {'estimate' if row.side == 'port' else 'count'}: {row.reason}" for row in missing]
    lines += [f"{error.path}:{error.line}: {error.message}" for error in report.errors]
    return "\n".join(lines) + "\n"


def _profiled(report: EstimateReport) -> Iterator[str]:
    """Counters of the model beside those of the file, by kernel and size."""
    found = report.beside
    yield "beside the imported profile: its figures were measured by whoever made it, ours are counted on a model"
    for one in found:
        yield f"  {one.case} ({one.shape}): {one.measured.count} dispatches of {one.measured.of.kernel}"
        if one.measured.nanoseconds is not None:
            median, least, most = (shown_time(time) for time in one.measured.nanoseconds)
            where = "within" if one.is_within else "outside"
            band = f"{where} the band of the estimate {shown_time(one.estimate)}"
            yield f"    measured there {median} ({least} - {most}), {band}"
        rows = [
            (name, f"{counted:,.0f}", f"{measured:,.0f}", f"x {counted / measured:.3f}" if measured else "")
            for name, (counted, measured) in sorted(one.counters.items())
        ]
        if rows:
            yield from (
                f"    {line}" for line in table(("counter", "counted", "measured", "ratio"), rows, right=(1, 2, 3))
            )
    used = {one.measured.of for one in found}
    for other in report.profile:
        if other.of not in used:
            yield f"  no case like {other.of.kernel}, {other.of.items:,} work-items in blocks of {other.of.block}"


def _moved(one: Moved) -> tuple[str, ...]:
    shape = "; ".join(filter(None, (one.shape, one.variant)))
    ratios: list[str] = []
    for level, ratio in one.ratio.items():
        times = "" if ratio is None else f"x {ratio:.2f} "
        ratios.append(f"{times}({shown_bytes(one.port[level])} / {shown_bytes(one.original[level])})")
    return (one.case, one.warp, shape, *ratios)


def shown_bytes(count: float) -> str:
    """With its unit."""
    for size, unit in ((1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count:.0f} B"


def _name(row: Estimated) -> str:
    return f"{row.case} ({', '.join(filter(None, (row.shape, row.variant)))})"


def _row(row: Estimated, found: Estimate) -> tuple[str, ...]:
    blocks = str(row.blocks) if row.blocks == row.sampled else f"{row.blocks}, {row.sampled} run"
    time = (shown_time(found.nanoseconds), shown_band(found), shown_limit(found))
    shape = "; ".join(filter(None, (row.shape, row.variant)))
    return (row.case, row.warp or "", shape, *time, f"{found.waves_per_simd:g}", blocks)


def costs_lines(found: Estimate) -> Iterator[str]:
    """How busy each resource is, then a line per cause, and the source lines it comes from."""
    busy = sorted(((time, name) for name, time in found.resources.items() if name != "latency"), reverse=True)
    shares = [f"{name} {time / found.nanoseconds:.0%}" for time, name in busy if time >= _BUSY * found.nanoseconds]
    if shares:
        yield f"  busy: {', '.join(shares)}"
    for cost in found.costs[:5]:
        yield f"  {cost.nanoseconds / found.nanoseconds:5.0%}  {cost.cause}: {cost.remedy}"
        yield from (f"           {share:4.0%}  {PurePath(where).name}" for where, share in cost.places[:3])


def shown_band(found: Estimate) -> str:
    """Between what the time lies, we think."""
    return f"{shown_time(found.nanoseconds / found.band)} - {shown_time(found.nanoseconds * found.band)}"


def shown_limit(found: Estimate) -> str:
    """The busiest resource, and whether published measurements tested that class."""
    return found.limit if found.tested else f"{found.limit} (not tested)"


def shown_time(nanoseconds: float) -> str:
    """With its unit."""
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
        "roofs": report.chip.roofs,
        "estimates": [
            {
                "case": row.case,
                "path": row.path,
                "source": row.source,
                "kernel": row.kernel,
                "warp": row.warp,
                "side": row.side,
                "shape": row.shape,
                "variant": row.variant,
                "doubt": row.doubt or None,
                "blocks": row.blocks,
                "sampled": row.sampled,
                "reason": row.reason or None,
                "counters": row.counters,
                "moved": row.moved,
                "estimate": asdict(row.estimate) if row.estimate is not None else None,
            }
            for row in report.rows
        ],
        "against_original": [{**asdict(one), "ratio": one.ratio} for one in report.ratios],
        "profile": [
            {
                "case": one.case,
                "shape": one.shape,
                "warp": one.warp,
                "kernel": one.measured.of.kernel,
                "dispatches": one.measured.count,
                "measured_nanoseconds": one.measured.nanoseconds,
                "within_band": one.is_within,
                "counters": {name: list(pair) for name, pair in one.counters.items()},
            }
            for one in report.beside
        ],
        "comparisons": [asdict(one) for one in report.comparisons],
        "errors": [{"path": e.path, "line": e.line, "message": e.message} for e in report.errors],
    }
