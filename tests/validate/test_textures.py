"""Texture and surface arguments of cases: what is read, what is refused, and a run of original against port."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest
from porter.validation.cases.argument_rows import read_argument
from porter.validation.cases.sampling import Sampling
from porter.validation.cases.shorthand import expand

from tests.validate.running import by_name, run

NAMES = {"h", "w"}


def read(line: str) -> Any:
    return read_argument(expand(line), 1, NAMES)


def test_usual_values() -> None:
    argument = read("texture image: float32[h, w]")
    assert (argument.kind, argument.image, argument.is_written) == ("in", Sampling(), False)


@pytest.mark.parametrize(
    ("keys", "wanted"),
    [
        ("filter=linear", {"linear": True}),
        ("normalized, filter=point", {"normalized": True}),
        ("address=wrap/mirror", {"address": ("wrap", "mirror", "clamp")}),
        ("address=border", {"address": ("border", "border", "border")}),
        ("memory=pitched, layered=false", {"memory": "pitched"}),
    ],
)
def test_keys(keys: str, wanted: dict[str, Any]) -> None:
    assert read(f"texture image: float32[h, w] {{{keys}}} = uniform(0, 1)").image == dataclasses.replace(
        Sampling(), **wanted
    )


def test_surfaces_have_an_access() -> None:
    for access, kind in (("read", "in"), ("write", "out"), ("both", "inout")):
        argument = read(f"surface image: uint8[h, w, 4] {{channels=4, access={access}}}")
        assert argument.kind == kind and argument.image == Sampling(4, surface=True)


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("texture image: float64[h, w]", "dtype of a texture"),
        ("texture image: int32[h, w] {filter=linear}", "needs floats"),
        ("texture image: int32[h, w] {read=normalized_float}", "8 and 16 bits"),
        ("texture image: float32[h, w] {filter=cubic}", "filter must be one of"),
        ("texture image: float32[h, w] {channels=3}", "channels must be"),
        ("texture image: float32[h, w] {address=wrap/fold}", "address must be"),
        ("texture image: float32[h, w] {access=write}", "access does not belong"),
        ("texture image: float32[h, w] {normalized=1}", "must be true or false"),
        ("texture image: float32[h, w] {tiled}", "unknown key 'tiled'"),
        ("texture image: float32[h, w] {filter=linear, filter=point}", "stands twice"),
        ("surface image: float32[h, w] {filter=linear}", "filter does not belong"),
        ("in image: float32[h, w] {filter=linear}", "unknown key 'filter'"),
        ("texture image: float32[h]= {filter=linear}", "values must be"),
    ],
)
def test_what_is_refused(line: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        read(line)


KERNELS = """\
#include <cuda_runtime.h>
__global__ void sharpen(cudaTextureObject_t image, cudaSurfaceObject_t out, int w, int h) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x >= w || y >= h) return;
  const float u = (x + 0.5f) / w, v = (y + 0.5f) / h;
  const float4 here = tex2D<float4>(image, u, v), left = tex2D<float4>(image, u - 1.0f / w, v);
  const float4 sum = make_float4(here.x + left.x, here.y + left.y, here.z + left.z, here.w + left.w);
  surf2Dwrite(sum, out, x * (int)sizeof(float4), y);
}
"""
CASES = """\
schema = "porter-case/1"
source = "sharpen.cu"

[[case]]
kernel = "sharpen"
sweep = { w = [1, 32, 70], h = 3 }
grid = ["ceil_div(w, 64)", "h"]
block = 64
arguments = [
  "texture image: uint8[h, w, 4] {channels=4, normalized, read=normalized_float, address=wrap/clamp}",
  "surface out: float32[h, w, 4] {channels=4}",
  "scalar w: int32 = w",
  "scalar h: int32 = h",
]
reference = "reference.py:sharpen"
"""
REFERENCE = """\
import numpy as np

def sharpen(image):
    return image / 255.0 + np.roll(image, 1, axis=1) / 255.0
"""


@pytest.mark.slow
def test_original_against_port(tmp_path: Path) -> None:
    for name, text in (("sharpen.cu", KERNELS), ("sharpen.case.toml", CASES), ("reference.py", REFERENCE)):
        (tmp_path / name).write_text(text)
    outcome = run(tmp_path)
    result = by_name(outcome)["sharpen"]
    assert [side.status.value for side in result.sides] == ["passed"] * len(result.sides), result.sides
    assert all(pair.agreement == "bitwise" for pair in result.pairs if "original" in pair.against)

    wrong = REFERENCE.replace("np.roll(image, 1, axis=1)", "np.roll(image, -1, axis=1)")
    (tmp_path / "reference.py").write_text(wrong)
    result = by_name(run(tmp_path))["sharpen"]
    assert {side.status.value for side in result.sides} == {"wrong-values"}
