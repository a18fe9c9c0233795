"""What a real GPU took beside the estimate of the same case, warp mode and shape. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from porter.validation.estimate.bench import EstimateReport
from porter.validation.estimate.compare import is_within
from porter.validation.estimate.report import estimate_json, estimate_text, shown_time
from porter.validation.run.bench import BenchReport
from porter.validation.verdict.bench_report import bench_json, bench_text

from porter.report.text import table

_HEAD = ("case", "warps", "shape", "measured", "estimate", "between", "measured / estimate", "")


@dataclass(frozen=True)
class Timed:
    """One kernel with one shape, times in nanoseconds."""

    case: str
    warp: str
    shape: str
    gpu: str
    measured: float
    """Median of the launches that were timed."""
    estimate: float
    band: float
    same_chip: bool
    """Whether the GPU has the architecture that the estimate is for."""

    @property
    def ratio(self) -> float:
        """Measured over estimated."""
        return self.measured / self.estimate

    @property
    def is_within(self) -> bool | None:
        """Whether the measured time lies in the estimate's band; None of another GPU."""
        return is_within(self.measured, self.estimate, self.band) if self.same_chip else None


def timed(measured: BenchReport, estimated: EstimateReport) -> Iterator[Timed]:
    """Ports that were timed on AMD's GPU and have an estimate, as the case has them."""
    found = {
        (row.case, row.warp, row.shape): row.estimate
        for row in estimated.rows
        if row.estimate is not None and not row.variant
    }
    for timing in measured.timings:
        estimate = found.get((timing.case, timing.warp, timing.shape))
        if timing.device != "hip" or timing.times is None or timing.properties is None or estimate is None:
            continue
        gpu, is_same = timing.properties.name, timing.properties.architecture.partition(":")[0] == "gfx942"
        times = (timing.times.median * 1e9, estimate.nanoseconds, estimate.band)
        yield Timed(timing.case, timing.warp or "", timing.shape, gpu, *times, is_same)


def timed_text(measured: BenchReport, estimated: EstimateReport) -> str:
    """Both reports, then one beside the other."""
    rows = [
        (
            *(one.case, one.warp, one.shape, shown_time(one.measured), shown_time(one.estimate)),
            f"{shown_time(one.estimate / one.band)} - {shown_time(one.estimate * one.band)}",
            f"x {one.ratio:.2f}",
            {True: "within the band", False: "outside the band", None: f"another GPU: {one.gpu}"}[one.is_within],
        )
        for one in timed(measured, estimated)
    ]
    title = f"measured beside the estimate for {estimated.chip.name}"
    lines = [title, *table(_HEAD, rows, right=(3, 4, 5, 6))] if rows else [f"{title}: nothing was timed on AMD's GPU"]
    return "\n".join([bench_text(measured), estimate_text(estimated), *lines]) + "\n"


def timed_json(measured: BenchReport, estimated: EstimateReport) -> dict[str, Any]:
    """`schemas/bench.json` with `estimate`, which is `schemas/estimate.json`, and `beside_estimate`; nanoseconds."""
    beside = [{**asdict(one), "ratio": one.ratio, "within_band": one.is_within} for one in timed(measured, estimated)]
    return {**bench_json(measured), "estimate": estimate_json(estimated), "beside_estimate": beside}
