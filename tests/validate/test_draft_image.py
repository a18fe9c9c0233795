"""`porter cases init` on kernels with texture and surface objects."""

from __future__ import annotations

from pathlib import Path

import pytest
from porter.validation.cases.argument_rows import TODO, read_argument
from porter.validation.cases.shorthand import expand
from porter.validation.draft.declarations import Declarations
from porter.validation.draft.image import image_line
from porter.validation.draft.init import draft

from tests.samples.loading import SAMPLES

HOST = """
texture.filterMode = cudaFilterModeLinear; texture.normalizedCoords = 1;
texture.addressMode[0] = cudaAddressModeWrap; texture.addressMode[1] = cudaAddressModeWrap;
"""


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("tex1Dfetch<uchar4>(t, i)", "texture t: uint8[TODO, 4] {channels=4, memory=linear}"),
        ("tex2D<float>(t, x, y)", "texture t: float32[TODO, TODO] {filter=linear, normalized, address=wrap}"),
        ("tex2D(&v, t, x, y)", "texture t: TODO[TODO, TODO] {filter=linear, normalized, address=wrap}"),
        (
            "tex2DLayered<short2>(t, x, y, l)",
            "texture t: int16[TODO, TODO, TODO, 2] {channels=2, layered, normalized, address=wrap}",
        ),
        ("helper(t)", "texture t: TODO[TODO] {filter=linear, normalized, address=wrap}"),
    ],
)
def test_textures(body: str, line: str) -> None:
    assert image_line("t", "cudaTextureObject_t", f"{{ v = {body}; }}", HOST) == line
    filled = line.replace("TODO[", "float32[").replace(TODO, "8")
    assert read_argument(expand(filled), 1, set()).image is not None


def test_surfaces_and_what_is_none() -> None:
    both = "{ float4 v = surf2Dread<float4>(s, 0, 0); surf2Dwrite<float4>(v, s, 16, 0); }"
    assert image_line("s", "const cudaSurfaceObject_t", both, "") == (
        "surface s: float32[TODO, TODO, 4] {channels=4, access=both}"
    )
    assert image_line("s", "cudaSurfaceObject_t", "{ surf3Dwrite(v, s, 0, 1, 2); }", "") == (
        "surface s: TODO[TODO, TODO, TODO]"
    )
    assert image_line("s", "unsigned long long", both, "") is None


HELPERS = """
__device__ float at(cudaTextureObject_t tex, float x, float y, float z) { return layer(tex, x + 0.5f, y + 0.5f, z); }
__device__ float layer(cudaTextureObject_t t, float x, float y, float z) { return tex2DLayered<float>(t, x, y, z); }
__device__ float at(cudaTextureObject_t tex, float x, float y) { return tex2D<float>(tex, x + 0.5f, y); }
__device__ float other(cudaTextureObject_t tex, int x) { return tex1Dfetch<float>(tex, x); }
__device__ float round(cudaTextureObject_t tex, int x) { return round(tex, x); }
"""


@pytest.mark.parametrize(
    ("call", "line"),
    [
        ("at(a, x, y)", "texture a: float32[TODO, TODO]"),
        ("at(a, x - f(1, 2), y, 0)", "texture a: float32[TODO, TODO, TODO] {layered}"),
        ("other(b, x)", "texture a: TODO[TODO]"),
        ("mine.at(a, x, y)", "texture a: TODO[TODO]"),
        ("round(a, x)", "texture a: TODO[TODO]"),
    ],
)
def test_textures_that_helpers_sample(call: str, line: str) -> None:
    functions = Declarations(HELPERS).functions
    body = f"{{ v = {call}; }}"
    assert image_line("a", "cudaTextureObject_t", body, HELPERS, functions) == line


def test_the_variable_tells_what_a_surface_holds() -> None:
    body = "{ float out = 0.0f; int other = 1; surf2DLayeredwrite( out, s, x * 4, y, level, cudaBoundaryModeZero ); }"
    assert image_line("s", "cudaSurfaceObject_t", body, "") == "surface s: float32[TODO, TODO, TODO] {layered}"
    assert image_line("s", "cudaSurfaceObject_t", body.replace("float out", "auto out"), "") == (
        "surface s: TODO[TODO, TODO, TODO] {layered}"
    )


def test_the_sample(tmp_path: Path) -> None:
    source = SAMPLES / "texture_filter" / "texture_filter.cu"
    text = draft(source).text
    assert '"texture image: float32[TODO, TODO] {filter=linear}",' in text
    assert '"texture table: float32[TODO] {memory=linear}",' in text
