"""D014: textures and surfaces, which the port reads and writes in software."""

from __future__ import annotations

import re
from collections.abc import Iterator

from porter.engine.rule import Effort, Finding, Rule, Unit, clean, reports

_DIMENSIONS = ("1D", "2D", "3D", "1DLayered", "2DLayered")
_TEXTURES = (*(f"tex{d}{form}" for d in _DIMENSIONS for form in ("", "Lod", "Grad")), "tex1Dfetch", "tex2Dgather")
_SURFACES = tuple(f"surf{d}{what}" for d in _DIMENSIONS for what in ("read", "write"))
_FETCH = re.compile(r"tex1Dfetch|surf\w+")


class SoftwareTexture(Rule):
    """Texture or surface access, done in software

    CDNA 3 (gfx942) has no image units: HIP declares `tex2D` and its like and refuses them there, and
    `hipCreateTextureObject` fails when it runs. The port reads and writes plain memory instead, through a description
    that the texture object points to (`porter/texture.hpp`, `porter/texture_host.hpp`): same address modes, texel
    centres and weights of 8 bits, on every GPU. `tex1Dfetch` and surfaces cost a load or store. A sample costs index
    arithmetic, and with the linear filter 2, 4 or 8 loads, with no texture cache: a kernel that lives on filtering
    deserves a look at its time. Reported once per file.
    """

    code = "D014"
    only_reports = True
    triggers = frozenset((*_TEXTURES, *_SURFACES))
    hazards = ("texture-device-functions", "surface-functions", "texture-host-api")
    examples = (
        reports(
            "__global__ void k(cudaTextureObject_t t, float *p) { *p = tex2D<float>(t, 1, 2); tex2D(p, t, 0, 1); }",
            effort=Effort.REVIEW,
        ),
        reports(
            "__global__ void k(cudaSurfaceObject_t s, float v) { surf2Dwrite(v, s, 4 * threadIdx.x, 0); }",
            effort=Effort.REVIEW,
        ),
        clean("struct Image { float tex2D(float x, float y); }; float f(Image i) { return i.tex2D(0, 1); }"),
        clean("float own::tex2D(float x, float y) { return x; }"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding, at the first access."""
        places = sorted(index for name in self.triggers & unit.identifiers for index in unit.occurrences(name))
        if not places:
            return
        name = next((t for i in places if not _FETCH.fullmatch(t := unit.tokens.texts[i])), None)
        what = f"{name} samples" if name else f"{unit.tokens.texts[places[0]]} works"
        message = f"{what} in software: gfx942 has no texture units, and no texture cache"
        yield self.finding(unit, unit.span(places[0]), message, Effort.REVIEW)
