"""What a GPU took beside its estimate."""

from __future__ import annotations

import json
from dataclasses import replace

import jsonschema
import pytest
from porter.validation.estimate.bench import Estimated, EstimateReport
from porter.validation.estimate.chip import load
from porter.validation.estimate.model import Estimate
from porter.validation.estimate.timed import timed, timed_json, timed_text
from porter.validation.harness.messages import Properties
from porter.validation.run.bench import BenchReport, BenchRequest, Timing
from porter.validation.verdict.outcome import Status
from porter.validation.verdict.timing import spread

from porter.report import schemas
from porter.report.render import dump

ESTIMATE = Estimate(1000.0, 1.25, "memory", True, {"memory": 900.0}, 8.0, (), {})
MI300X = Properties(
    "AMD Instinct MI300X",
    "gfx942:sramecc+:xnack-",
    *(64, 304, 2_100_000, 1_300_000, 8192),
    *(60_000_000, 60_000_000, 192 << 30, 4 << 20),
)


def measured(microseconds: float, gpu: Properties = MI300X, **other: object) -> BenchReport:
    """One timing of a port."""
    times = spread([microseconds / 1e3] * 5)
    one = Timing("a", "port", "hip", "preserve", "n=8", Status.PASSED, times=times, properties=gpu)
    return BenchReport((replace(one, **other),), (), BenchRequest(()))  # type: ignore[arg-type]


def estimated(**other: object) -> EstimateReport:
    """One estimate, of 1 us."""
    row = Estimated("a", "preserve", "n=8", 1, 1, ESTIMATE, {}, moved={"asked": 8.0, "l2": 8.0, "memory": 8.0})
    return EstimateReport(load("mi300x"), (replace(row, **other),), ())  # type: ignore[arg-type]


@pytest.mark.parametrize(("took", "within"), [(1.0, True), (1.24, True), (0.81, True), (1.26, False), (0.79, False)])
def test_the_band_decides(took: float, within: bool) -> None:
    (one,) = timed(measured(took), estimated())
    assert one.is_within is within
    assert one.ratio == pytest.approx(took)
    assert ("within the band" if within else "outside the band") in timed_text(measured(took), estimated())


def test_another_gpu_is_not_judged() -> None:
    gpu = replace(MI300X, name="MI210", architecture="gfx90a")
    (one,) = timed(measured(1.0, gpu), estimated())
    assert one.is_within is None
    assert "another GPU: MI210" in timed_text(measured(1.0, gpu), estimated())


@pytest.mark.parametrize("other", [{"shape": "n=9"}, {"warp": "native"}, {"variant": "block=64"}, {"estimate": None}])
def test_only_the_same_case_stands_beside(other: dict[str, object]) -> None:
    assert not list(timed(measured(1.0), estimated(**other)))
    assert "nothing was timed on AMD's GPU" in timed_text(measured(1.0), estimated(**other))


@pytest.mark.parametrize("other", [{"device": "cuda"}, {"times": None}, {"properties": None}])
def test_only_what_was_timed_stands_beside(other: dict[str, object]) -> None:
    assert not list(timed(measured(1.0, **other), estimated()))  # type: ignore[arg-type]


def test_json_is_what_the_schema_says() -> None:
    document = json.loads(dump(timed_json(measured(1.5), estimated())))
    jsonschema.validate(document, schemas.load("bench"))
    assert document["beside_estimate"][0]["within_band"] is False
    jsonschema.validate(document["estimate"], schemas.load("estimate"))
