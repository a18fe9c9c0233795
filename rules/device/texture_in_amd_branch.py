"""D016: textures and surfaces in a branch for AMD of CUDA's code."""

from __future__ import annotations

from collections.abc import Iterator

from porter.rules.device.software_texture import SoftwareTexture

from porter.engine.rule import Dialect, Edit, Effort, Finding, Rule, Unit, clean, fixes

_OBJECTS = {
    f"{vendor}{what}Object_t": f"porter::{what.lower()}_object"
    for vendor in ("cuda", "hip")
    for what in ("Texture", "Surface")
}
_HEADER = "porter/texture.hpp"


class TextureInAmdBranch(Rule):
    """Texture in a branch for AMD

    A branch that only AMD's compiler sees (`#if defined(__GFX9__)`) stays as the project wrote it. Its textures are
    the ones that CUDA's lines around it make, and these are the port's own, on plain memory: what reads them there
    has to be the port's as well, and HIP refuses `tex2D` and its like on gfx942.
    """

    code = "D016"
    dialect = Dialect.HIP
    triggers = SoftwareTexture.triggers | _OBJECTS.keys()
    hazards = ("texture-device-functions",)
    examples = (
        fixes(
            "#include <cuda_runtime.h>\n#if defined(__GFX9__)\n"
            "__device__ float at(const cudaTextureObject_t t, float x) { return tex2DLayered<float>(t, x, 0.5f, 1); }\n"
            "#endif\n",
            "#include <cuda_runtime.h>\n#if defined(__GFX9__)\n"
            "__device__ float at(const porter::texture_object t, float x) "
            "{ return porter::tex2DLayered<float>(t, x, 0.5f, 1); }\n#endif\n",
            effort=Effort.REVIEW,
        ),
        clean("__device__ float at(cudaTextureObject_t t) { return tex2D<float>(t, 0.5f, 1); }"),
        clean(
            "#include <hip/hip_runtime.h>\n__device__ float at(hipTextureObject_t t) { return tex2D<float>(t, 0, 1); }"
        ),
        clean(
            "#ifdef FOR_HIP\n#include <hip/hip_runtime.h>\n#define cudaTextureObject_t porter::texture_object\n#else\n"
            "#include <hip/hip_runtime.h>\ncudaTextureObject_t one;\n#endif"
        ),
        clean("#include <cuda_runtime.h>\n#ifdef __GFX9__\nfloat at(Image i) { return i.tex2D(0, 1); }\n#endif"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per name."""
        if unit.dialects.file is Dialect.HIP:
            return
        for name in sorted(self.triggers & unit.identifiers):
            for index in unit.occurrences(name):
                if unit.dialects.is_hip(unit.tokens.starts[index]) and not _is_defined(unit, index):
                    new = _OBJECTS.get(name, f"porter::{name}")
                    message = f"{name} in a branch for AMD: the textures are the port's own, in plain memory"
                    edit = Edit(*unit.span(index), new)
                    yield self.finding(unit, unit.span(index), message, Effort.REVIEW, (edit,), (_HEADER,))


def _is_defined(unit: Unit, index: int) -> bool:
    """Whether a name is the macro itself in `#define cudaTextureObject_t porter::texture_object`."""
    directive = unit.tokens.directive_of(index)
    return directive is not None and directive.name in ("define", "undef") and directive.first == index
