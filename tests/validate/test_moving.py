"""Without a reference: a kernel whose rounding errors are large is no wrong port, and a wrong port of it still is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from porter.validation.devices import registry
from porter.validation.verdict.moving import largest

from tests.validate.running import by_name, run, write_case

CANCELS = """
__global__ void turned(const float4* __restrict__ x, float* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i].x * x[i].y - x[i].z * x[i].w;  // rounded once less where it is one fused operation
}
"""
CASE = """\
sweep = { n = [3000] }
grid = "ceil_div(n, 128)"
block = 128
arguments = ["in x: float32[n, 4]", "out y: float32[n]", "scalar n: int32 = n"]
"""


def test_the_largest_movement() -> None:
    rows = [np.array([1.0, np.nan, 0.0, 0.0, 4.0]), np.array([0.5, 2.0, np.inf, 0.0, 3.0])]
    assert largest(rows).tolist() == [1.0, 2.0, 1.0, 1.0, 4.0]
    assert largest([np.zeros(0)]).size == 0


@pytest.mark.slow
def test_cancellation_is_told_from_a_wrong_port(tmp_path: Path) -> None:
    for device in ("ptx", "gfx942"):
        reason = registry.why_not(device)
        if reason is not None:
            pytest.skip(reason)
    fused = CANCELS.replace("x[i].x * x[i].y - x[i].z * x[i].w", "-fmaf(x[i].z, x[i].w, -__fmul_rn(x[i].x, x[i].y))")
    ports = {"right": fused, "wrong": fused.replace("x[i].z", "1.0001f * x[i].z")}
    text = ""
    for name, port in ports.items():
        (tmp_path / f"{name}.hip").write_text(f"#include <hip/hip_runtime.h>\n{port}")
        text += f'[[case]]\nname = "{name}"\nkernel = "turned"\nport = "{name}.hip"\n{CASE}\n'
    outcome = run(write_case(tmp_path, "turned", f"{CASE}\n{text}", CANCELS))
    results = by_name(outcome)
    assert results["turned"].status.value == "passed"
    assert results["right"].status.value == "passed", results["right"]
    (side,) = (side for side in results["right"].sides if side.side == "port")
    assert any("when its inputs move by a few roundings" in note for note in side.notes)
    assert results["wrong"].status.value == "wrong-values"
