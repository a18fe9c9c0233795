"""L002: `struct X` where HIP's counterpart is a typedef."""

from __future__ import annotations

from collections.abc import Iterator

from porter.cpp.plain_types import VECTORS
from porter.cpp.syntax import words
from porter.engine.rule import Edit, Effort, Finding, Rule, Unit, clean, fixes

_KEYWORDS = ("struct", "enum", "union", "class")
_TYPEDEFS = VECTORS | words(
    """
    CUDA_LAUNCH_PARAMS_st CUlaunchAttributeValue_union CUgraphicsResource_st
    cudaExternalMemoryBufferDesc cudaExternalMemoryHandleDesc cudaExternalMemoryHandleType
    cudaExternalMemoryMipmappedArrayDesc cudaExternalSemaphoreHandleDesc cudaExternalSemaphoreHandleType
    cudaExternalSemaphoreSignalParams cudaExternalSemaphoreWaitParams cudaGraphicsResource cudaLaunchAttributeValue
    cudaLaunchParams
    """
)
"""Tags in CUDA, none in HIP: found by compiling `struct X *` and `enum X *` for every type of the name tables."""


class ElaboratedCudaType(Rule):
    """CUDA type named with `struct`

    `struct cudaGraphicsResource *r` and `struct float4 v` name the tag of a C type. Some of HIP's counterparts are
    typedefs, which must not be written with the keyword. In C++ the keyword is not needed and is removed, and so is a
    forward declaration.
    """

    code = "L002"
    triggers = _TYPEDEFS
    settles = True
    examples = (
        fixes("struct cudaGraphicsResource *r;", "cudaGraphicsResource *r;"),
        fixes("void f(const struct float4 v);", "void f(const float4 v);"),
        fixes("#include <cuda_runtime.h>\nstruct float4;\nint a;", "#include <cuda_runtime.h>\n\nint a;"),
        clean("struct cudaDeviceProp p;\nenum cudaError e;"),
        clean("namespace mine { struct float4 { float x; }; }"),
        clean("struct float4 *v;", path="a.c"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per keyword."""
        if unit.source.path.endswith(".c"):
            return
        for keyword in _KEYWORDS:
            for index in unit.tokens.names.get(keyword, ()):
                yield from self._at(unit, index)

    def _at(self, unit: Unit, index: int) -> Iterator[Finding]:
        texts = unit.tokens.texts
        name, follow, *_ = [*texts[index + 1 : index + 3], "", ""]
        if name not in _TYPEDEFS or follow in ("{", ":", "final") or not unit.is_cuda(index + 1):
            return
        span = unit.span(index, index + 1)
        if follow == ";":
            edit = Edit(span.start, unit.span(index + 2).end, "")
            yield self.finding(unit, span, f"{name} is a typedef in HIP: no declaration ahead", Effort.NONE, (edit,))
            return
        edit = Edit(span.start, unit.tokens.starts[index + 1], "")
        yield self.finding(unit, span, f"{name} is a typedef in HIP", Effort.NONE, (edit,))
