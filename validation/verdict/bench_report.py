"""Timings as text and JSON."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from porter.validation.run.bench import BenchReport, Timing
from porter.validation.verdict.outcome import Status

from porter import __version__
from porter.report.text import table

SCHEMA = "porter-bench-1"
_HEAD = ("case", "device", "shape", "median", "spread", "GB/s", "of peak", "GFLOP/s", "of peak", "original = 1")


def bench_text(report: BenchReport) -> str:
    """One line per timing, then what was not timed, and why."""
    request = report.request
    lines = [
        f"porter {__version__} bench: {request.repeats} launches after {request.warmup}, cache flushed before each"
    ]
    devices = {t.device: t.properties for t in report.timings if t.properties is not None}
    lines += [f"  {name}: {p.name} ({p.architecture})" for name, p in devices.items()]
    timed = [timing for timing in report.timings if timing.times is not None]
    if timed:
        rows = [_row(timing, report.ratio(timing)) for timing in timed]
        lines += ["", *table(_HEAD, rows, right=tuple(range(3, len(_HEAD))))]
        lines.append("  spread: distance of the quartiles over the median")
    left = list(_not_timed(report))
    return "\n".join([*lines, *([""] if left else []), *left]) + "\n"


def _row(timing: Timing, ratio: float | None) -> tuple[str, ...]:
    assert timing.times is not None
    rates = timing.achieved
    name = f"{timing.device}, {timing.warp}" if timing.warp else timing.device
    return (
        timing.case,
        name,
        timing.shape,
        _seconds(timing.times.median),
        f"{timing.times.relative:.0%}",
        _giga(rates.bytes_per_second if rates else None),
        _part(rates.of_bandwidth if rates else None),
        _giga(rates.operations_per_second if rates else None),
        _part(rates.of_rate if rates else None),
        "" if ratio is None else f"{ratio:.2f}",
    )


def _seconds(value: float) -> str:
    return f"{value * 1e6:.1f} us" if value < 1e-3 else f"{value * 1e3:.2f} ms"


def _giga(value: float | None) -> str:
    return "" if value is None else f"{value / 1e9:.1f}"


def _part(value: float | None) -> str:
    return "" if value is None else f"{value:.0%}"


def _not_timed(report: BenchReport) -> Iterator[str]:
    seen: dict[str, list[str]] = {}
    for timing in report.timings:
        if timing.status is not Status.PASSED:
            shape = f" ({timing.shape})" if timing.shape else ""
            seen.setdefault(f"{timing.device}: {timing.status.value}: {timing.reason}", []).append(timing.case + shape)
    for reason, cases in seen.items():
        shown = ", ".join(cases[:5]) + (f" and {len(cases) - 5} more" if len(cases) > 5 else "")
        yield f"{reason} [{shown}]"
    yield from (f"{error.path}:{error.line}: {error.message}" for error in report.errors)


def bench_json(report: BenchReport) -> dict[str, Any]:
    """The document that `schemas/bench.json` describes; times in seconds, rates per second."""
    request = report.request
    return {
        "schema": SCHEMA,
        "porter": __version__,
        "warmup": request.warmup,
        "repeats": request.repeats,
        "flush_bytes": request.flush_bytes,
        "timings": [_timing(timing, report.ratio(timing)) for timing in report.timings],
        "errors": [{"path": e.path, "line": e.line, "message": e.message} for e in report.errors],
    }


def _timing(timing: Timing, ratio: float | None) -> dict[str, Any]:
    return {
        "case": timing.case,
        "side": timing.side,
        "device": timing.device,
        "warp": timing.warp,
        "shape": timing.shape,
        "status": timing.status.value,
        "reason": timing.reason or None,
        "times": asdict(timing.times) if timing.times else None,
        "achieved": asdict(timing.achieved) if timing.achieved else None,
        "ceilings": asdict(timing.ceilings) if timing.ceilings else None,
        "gpu": asdict(timing.properties) if timing.properties else None,
        "of_original": ratio,
        "command": list(timing.command),
    }
