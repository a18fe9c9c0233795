"""`porter bench` on a runtime that needs no GPU, and its refusals where there is none."""

from __future__ import annotations

import json
from pathlib import Path

import jsonschema
import pytest
from porter.validation.devices import cuda, presence, registry
from porter.validation.harness.messages import Properties
from porter.validation.run.bench import BenchRequest, bench
from porter.validation.verdict.bench_report import bench_json, bench_text
from porter.validation.verdict.outcome import Status
from porter.validation.verdict.timing import Ceilings, achieved, ceilings, spread

from porter.report import schemas
from tests.cli.command import porter

SOURCE = """
__global__ void scale(const float* data, float* out, float factor, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  usleep(i == 0 ? 5000 : 0);
  if (i < n) out[i] = data[i] * factor;
}
"""
CASES = """
schema = "porter-case/1"
source = "k.cu"

[[case]]
name = "scale"
kernel = "scale"
sweep = { n = [10, 100] }
grid = "ceil_div(n, 32)"
block = 32
arguments = ["in data: float32[n]", "out out: float32[n]", "scalar factor: float32 = 2", "scalar n: int32 = n"]
reference = "reference.py:reference_scale"
bytes = "8 * n"
operations = "n"

[[case]]
name = "wrong"
kernel = "scale"
sweep = { n = [10] }
grid = 1
block = 32
arguments = ["in data: float32[n]", "out out: float32[n]", "scalar factor: float32 = 3", "scalar n: int32 = n"]
reference = "reference.py:reference_scale"
"""


@pytest.fixture
def cases(tmp_path: Path) -> Path:
    (tmp_path / "k.cu").write_text(SOURCE)
    (tmp_path / "k.case.toml").write_text(CASES)
    (tmp_path / "reference.py").write_text("def reference_scale(data):\n    return data.astype('float64') * 2\n")
    return tmp_path


@pytest.fixture
def fake_gpu(fake_nvcc: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PORTER_NVCC", str(fake_nvcc))
    monkeypatch.setattr(cuda, "find_gpu", lambda api: (None, "sm_90"))
    registry.why_not.cache_clear()


@pytest.mark.slow
def test_right_results_are_timed_and_wrong_ones_are_not(cases: Path, fake_gpu: None) -> None:
    try:
        report = bench(BenchRequest((cases,), ("cuda",), warmup=1, repeats=5, flush_bytes=1 << 16))
    finally:
        registry.why_not.cache_clear()
    found = {(timing.case, timing.shape): timing for timing in report.timings}
    assert {key: timing.status for key, timing in found.items()} == {
        ("scale", "n=10"): Status.PASSED,
        ("scale", "n=100"): Status.PASSED,
        ("wrong", "n=10"): Status.WRONG_VALUES,
    }, report
    timed = found["scale", "n=100"]
    assert timed.times is not None and timed.times.count == 5 and timed.times.least >= 0.005
    assert timed.achieved is not None and timed.achieved.bytes_per_second == pytest.approx(800 / timed.times.median)
    assert not report.is_done
    jsonschema.validate(json.loads(json.dumps(bench_json(report))), schemas.load("bench"))
    text = bench_text(report)
    assert "scale" in text and "wrong-values" in text


def test_without_a_gpu_the_reason_is_given(cases: Path) -> None:
    if any(presence.find_gpu(name)[0] is None for name in ("cuda", "hip")):
        pytest.skip("there is a GPU")
    done = porter("bench", str(cases), "--format", "json")
    assert done.code == 1, done.stderr
    document = json.loads(done.stdout)
    jsonschema.validate(document, schemas.load("bench"))
    assert {timing["status"] for timing in document["timings"]} == {"not-run"}
    assert all(timing["reason"] for timing in document["timings"])
    assert porter("bench", str(cases), "--devices", "ptx").code == 2


def _properties(architecture: str) -> Properties:
    return Properties("x", architecture, 64, 304, 2_100_000, 1_300_000, 8192, 1, 1, 1, 1)


def test_spread() -> None:
    found = spread([4.0, 1.0, 2.0, 3.0, 5.0])
    assert (found.median, found.low, found.high, found.least, found.count) == (0.003, 0.002, 0.004, 0.001, 5)
    assert spread([2.0]).relative == 0
    with pytest.raises(ValueError, match="no times"):
        spread([])


def test_ceilings() -> None:
    amd = ceilings(_properties("gfx942:sramecc+:xnack-"))
    assert amd.bytes_per_second == 5.3e12
    assert amd.operations_per_second == pytest.approx(163.4e12, rel=1e-3)
    unknown = ceilings(_properties("sm_999"))
    assert unknown.operations_per_second is None and unknown.bytes_per_second == 2 * 1.3e9 * 1024


def test_unknown_amounts_stay_unknown() -> None:
    found = achieved(0.5, None, 10.0, Ceilings(None, 40.0, ""))
    assert (found.bytes_per_second, found.of_bandwidth) == (None, None)
    assert (found.operations_per_second, found.of_rate) == (20.0, 0.5)
