"""Without a reference: a kernel whose rounding errors are large is no wrong port, and a wrong port of it still is."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from porter.validation.devices import registry
from porter.validation.verdict.compare import compare
from porter.validation.verdict.moving import decided_by_rounding, largest

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


def test_integers_that_roundings_decide() -> None:
    written = np.ones(40, np.bool_)
    rows = [np.zeros(40), np.zeros(40)]
    rows[0][3], rows[1][7] = 1.0, 5.0
    assert np.flatnonzero(decided_by_rounding(rows, written)).tolist() == [3, 7]
    rows[0][9] = 1.0  # more than one in twenty: they say nothing of a port
    assert not decided_by_rounding(rows, written).any()
    written[7] = written[9] = False
    assert np.flatnonzero(decided_by_rounding(rows, written)).tolist() == [3]


def test_an_integer_has_to_be_near_where_it_may_move() -> None:
    truth, bound = np.array([10, 10, 10], np.int32), np.array([0.0, 4.0, 4.0])
    found = compare(np.array([10, 13, 15], np.int32), "int32", truth, bound)
    assert (found.wrong, found.bitwise) == (1, False)
    assert found.first is not None and found.first.index == (2,)
    assert compare(np.array([11, 10, 10], np.int32), "int32", truth, bound).wrong == 1
    near = compare(np.array([10, 14, 10], np.int32), "int32", truth, bound)
    assert near.is_right and not near.bitwise


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


STEPS = """
__global__ void steps(const float2* __restrict__ x, int* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  float a = 0.0f, b = 0.0f;
  int k = 0;
  for (; k < 200; ++k) {
    const float aa = a * a, bb = b * b;
    if (aa + bb > 4.0f) break;
    b = 2.0f * a * b + x[i].y;
    a = aa - bb + x[i].x;
  }
  y[i] = k;
}
"""
LESS = """
__global__ void less(const float2* __restrict__ x, int* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = x[i].x * 3.0f < x[i].y * 3.0f;
}
"""
MIXED = """
__global__ void mixed(const float2* __restrict__ x, unsigned* y, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) y[i] = __float_as_uint(x[i].x * x[i].y) * 2654435761u + 7u;
}
"""
PORTS = {
    "steps": (STEPS.replace("aa - bb + x[i].x", "fmaf(a, a, -bb) + x[i].x"), "x: float32[n, 2]", "int32", "passed"),
    "steps_limit": (STEPS.replace("k < 200", "k < 199"), "x: float32[n, 2]", "int32", "wrong-values"),
    "steps_radius": (STEPS.replace("> 4.0f", "> 4.02f"), "x: float32[n, 2]", "int32", "wrong-values"),
    "steps_after": (STEPS.replace("y[i] = k", "y[i] = k + (i == 1234)"), "x: float32[n, 2]", "int32", "wrong-values"),
    "less": (LESS.replace(" < x", " <= x"), "x: float32[n, 2] = integers(-40, 40)", "int32", "wrong-values"),
    "mixed": (MIXED.replace("7u", "8u"), "x: float32[n, 2]", "uint32", "wrong-values"),
    "mixed_first": (
        MIXED.replace("7u", "(i ? 7u : 8u)"), "x: float32[n, 2]", "uint32", "wrong-values",
    ),
}  # fmt: skip


@pytest.mark.slow
def test_integers_of_comparisons_are_told_from_wrong_ones(tmp_path: Path) -> None:
    """What the original's roundings decide is no proof of a wrong port; ties, limits and single elements are."""
    for device in ("ptx", "gfx942"):
        reason = registry.why_not(device)
        if reason is not None:
            pytest.skip(reason)
    text = []
    for name, (port, inputs, kind, _) in PORTS.items():
        (tmp_path / f"{name}.hip").write_text(f"#include <hip/hip_runtime.h>\n{port}")
        text.append(
            f"""[[case]]
name = "{name}"
kernel = "{name.partition("_")[0]}"
port = "{name}.hip"
sweep = {{ n = [3000] }}
grid = "ceil_div(n, 128)"
block = 128
arguments = ["in {inputs}", "out y: {kind}[n]", "scalar n: int32 = n"]
"""
        )
    (tmp_path / "k.cu").write_text(STEPS + LESS + MIXED)
    path = tmp_path / "k.case.toml"
    path.write_text('schema = "porter-case/1"\nsource = "k.cu"\n' + "\n".join(text))
    results = by_name(run(path))
    assert {name: results[name].status.value for name in PORTS} == {name: row[-1] for name, row in PORTS.items()}
    (side,) = (side for side in results["steps"].sides if side.side == "port")
    assert any("integers differ only where the original's own do" in note for note in side.notes), side
