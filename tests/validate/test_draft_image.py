"""`porter cases init` on kernels with texture and surface objects."""

from __future__ import annotations

from pathlib import Path

import pytest
from porter.validation.cases.argument_rows import TODO, read_argument
from porter.validation.cases.shorthand import expand
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


def test_the_sample(tmp_path: Path) -> None:
    source = SAMPLES / "texture_filter" / "texture_filter.cu"
    text = draft(source).text
    assert '"texture image: float32[TODO, TODO] {filter=linear}",' in text
    assert '"texture table: float32[TODO] {memory=linear}",' in text
