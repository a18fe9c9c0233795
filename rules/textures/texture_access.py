"""T001: textures and surfaces, which gfx942 does not have."""

from __future__ import annotations

import re
from collections.abc import Iterator

from porter.model import Effort, Finding
from porter.rule import Rule, clean, reports
from porter.unit import Unit

_DEVICE = re.compile(
    r"tex(?:1D|2D|3D|1DLayered|2DLayered|Cubemap|CubemapLayered)(?:Lod|Grad)?|tex1Dfetch|tex2Dgather"
    r"|surf(?:1D|2D|3D|1DLayered|2DLayered|Cubemap|CubemapLayered)(?:read|write)"
)
_HOST = frozenset(
    {
        "cudaCreateTextureObject",
        "cudaCreateSurfaceObject",
        "cudaBindTexture",
        "cudaBindTexture2D",
        "cudaBindTextureToArray",
        "cudaBindSurfaceToArray",
        "cuTexObjectCreate",
        "cuSurfObjectCreate",
        "cuTexRefSetAddress",
        "cuTexRefSetArray",
    }
)


class TextureAccess(Rule):
    """Texture or surface

    MI300X has no image hardware. HIP marks the texture and surface functions as unavailable for gfx942, so a kernel
    that reads through them does not compile, and creating a texture object fails at run time. Read from memory instead:
    a plain load in place of `tex1Dfetch` and of point-sampled textures (out-of-range reads give 0 there), and written
    out interpolation in place of linear filtering (CUDA's weights have 8 bits of fraction).
    """

    code = "T001"
    hazards = ("texture-device-functions", "surface-functions", "texture-host-api")
    examples = (
        reports("__global__ void k(cudaTextureObject_t t, float *o) { o[0] = tex2D<float>(t, 0.5f, 0.5f); }"),
        reports("__global__ void k(cudaSurfaceObject_t s) { surf2Dwrite(1.0f, s, 4, 0); }"),
        reports("void f(cudaTextureObject_t *t) { cudaCreateTextureObject(t, &r, &d, 0); }"),
        clean("struct image { float tex2D(float x); }; float g(image i) { return i.tex2D(1); }"),
        clean("int tex2D = 3;"),
    )

    def applies(self, unit: Unit) -> bool:
        """Whether any such name occurs."""
        names = unit.tokens.names.keys()
        return not _HOST.isdisjoint(names) or any(_DEVICE.fullmatch(name) for name in names)

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per call."""
        for name in sorted(unit.tokens.names):
            device = _DEVICE.fullmatch(name) is not None
            if (not device and name not in _HOST) or _is_declared(unit, name):
                continue
            for index in unit.occurrences(name):
                if unit.next_is(index, "(") or (device and unit.next_is(index, "<")):
                    why = "is unavailable in gfx942 code" if device else "fails on gfx942 at run time"
                    message = f"{name} {why}: the GPU has no texture hardware"
                    yield self.finding(unit, unit.span(index), message, Effort.MANUAL)


def _is_declared(unit: Unit, name: str) -> bool:
    """Whether the file has a function of its own with that name: `type name(`."""
    tokens = unit.tokens
    calls = [index for index in tokens.names[name] if index and unit.next_is(index, "(")]
    return any(tokens.kinds[i - 1] == "i" and tokens.texts[i - 1] not in ("return", "else", "case") for i in calls)
