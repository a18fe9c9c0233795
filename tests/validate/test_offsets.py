"""Arrays that do not begin at an aligned address, as slices of tensors do."""

from __future__ import annotations

from pathlib import Path

import pytest
from porter.validation.devices.registry import why_not
from porter.validation.verdict.outcome import CaseResult, Status

from tests.validate.running import by_name, run

pytestmark = pytest.mark.slow

SOURCE = """
#include <cstdint>
__global__ void checked(const float* in, float* out, int n) {  // four at a time where both are aligned
  bool whole = (reinterpret_cast<uintptr_t>(in) | reinterpret_cast<uintptr_t>(out)) % 16 == 0 && n % 4 == 0;
  int t = threadIdx.x;
  if (whole) {
    if (t < n / 4) reinterpret_cast<float4*>(out)[t] = reinterpret_cast<const float4*>(in)[t];
  } else {
    for (int i = t; i < n; i += blockDim.x) out[i] = in[i];
  }
}
__global__ void hopeful(const float* in, float* out, int n) {
  int t = threadIdx.x;
  if (t < n / 4) reinterpret_cast<float4*>(out)[t] = reinterpret_cast<const float4*>(in)[t];
}
__global__ void rounds_down(const float* in, float* out, int n) {
  float* whole = reinterpret_cast<float*>(reinterpret_cast<uintptr_t>(out) & ~uintptr_t(15));
  for (int i = threadIdx.x; i < n; i += blockDim.x) out[i] = in[i];
  if (threadIdx.x == 0) whole[0] = in[0];
}
"""
CASE = """
[[case]]
kernel = "{kernel}"
sweep = {{ n = [8, 64], shift = {shifts} }}
grid = 1
block = 64
arguments = [
  {{ name = "values", kind = "in", dtype = "float32", shape = "n", offset = "shift" }},
  {{ name = "out", kind = "out", dtype = "float32", shape = ["n"], offset = "2 * shift" }},
  "scalar n: int32 = n",
]
reference = "r.py:copied"
"""
SHIFTS = {"checked": "[0, 1, 2, 3]", "hopeful": "[1]", "rounds_down": "[1]"}


@pytest.fixture(scope="module")
def results(module_path: Path) -> dict[str, CaseResult]:
    if why_not("ptx") is not None:
        pytest.skip(str(why_not("ptx")))
    (module_path / "k.cu").write_text(SOURCE)
    (module_path / "r.py").write_text("def copied(values): return values\n")
    case = "".join(CASE.format(kernel=name, shifts=shifts) for name, shifts in SHIFTS.items())
    (module_path / "k.case.toml").write_text('schema = "porter-case/1"\nsource = "k.cu"\n' + case)
    outcome = run(module_path)
    assert not outcome.report.errors and not outcome.crashes
    return dict(by_name(outcome))


def test_values_at_an_offset(results: dict[str, CaseResult]) -> None:
    assert results["checked"].status is Status.PASSED, results["checked"].reason
    assert len(results["checked"].trials) == 8


def test_a_kernel_that_wants_aligned_memory_is_found_on_the_original(results: dict[str, CaseResult]) -> None:
    """gfx942 reads such dwords; NVIDIA GPUs do not."""
    original, port = results["hopeful"].sides
    assert original.status is Status.FAULT and "misaligned" in original.reason
    assert port.status is Status.PASSED


def test_what_stands_before_the_array_must_stay(results: dict[str, CaseResult]) -> None:
    for side in results["rounds_down"].sides:
        assert side.status is Status.WRONG_VALUES and "padding" in side.reason, side.reason
