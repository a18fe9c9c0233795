"""B001: cuBLAS's types in hipBLAS's signatures."""

from __future__ import annotations

from collections.abc import Iterator

from porter.engine.rule import Effort, Finding, Rule, Span, Unit, clean, fixes

_HEADERS = frozenset({"cublas.h", "cublas_v2.h", "cublas_api.h", "cublasXt.h"})
_ANSWERED = frozenset(
    f"cublasHgemm{kind}{width}" for kind in ("", "Batched", "StridedBatched") for width in ("", "_64")
)
_SUPPORT = "porter/hipblas_types.hpp"


class HipblasTypes(Rule):
    """cuBLAS types in hipBLAS signatures

    hipBLAS's functions take HIP's complex types, data types, compute types and `__half`, as cuBLAS's take CUDA's, only
    where macros ask for it before its header is included: without them `__half *` does not match a 16-bit integer, and
    `hipblasGemmEx` has other enumerations. A small header of macros is included first.
    """

    code = "B001"
    triggers = _HEADERS
    answers = _ANSWERED
    hazards = ("cublas-hipblas-mapping",)
    examples = (
        fixes(
            "#include <cublas_v2.h>\nint a;",
            "#include <cublas_v2.h>\nint a;",
            path="a.h",
        ),
        clean("#include <hipblas/hipblas.h>\nint a;", path="a.h"),
        clean("#include <my/cublas_v2.h>\nint a;", path="a.h"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """At most one finding, at the first #include of cuBLAS."""
        if any(name.endswith(_SUPPORT) for name in unit.included):
            return
        for include in unit.tokens.includes:
            if include.name in _HEADERS and not unit.is_project_header(include.name):
                message = "hipBLAS takes HIP's own types where macros ask for it"
                span = Span(include.start, include.end)
                yield self.finding(unit, span, message, Effort.NONE, includes=(_SUPPORT,))
                return
