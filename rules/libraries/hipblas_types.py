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
    `hipblasGemmEx` has other enumerations. A small header of macros is included first. A source that multiplies halves
    without naming cuBLAS's header has it from another one (PyTorch's `ATen/cuda/CUDAContext.h`), which knows nothing of
    these macros. A project's own branch for AMD is written for hipBLAS as it includes it: the macros would change the
    functions that it calls there.
    """

    code = "B001"
    triggers = _HEADERS | _ANSWERED
    answers = _ANSWERED
    hazards = ("cublas-hipblas-mapping",)
    examples = (
        fixes(
            "#include <cublas_v2.h>\nint a;",
            "#include <cublas_v2.h>\nint a;",
            path="a.h",
        ),
        fixes(
            "#include <ATen/cuda/CUDAContext.h>\nauto *multiply = &cublasHgemm;",
            "#include <ATen/cuda/CUDAContext.h>\nauto *multiply = &cublasHgemm;",
            path="a.cpp",
        ),
        clean("#include <ATen/cuda/CUDAContext.h>\nauto *multiply = &cublasSgemm;", path="a.cpp"),
        clean("#include <hipblas/hipblas.h>\nint a;", path="a.h"),
        clean("#include <my/cublas_v2.h>\nint a;", path="a.h"),
        clean(
            "#ifdef __HIP_PLATFORM_AMD__\n#include <hipblas/hipblas.h>\nusing Z = hipblasDoubleComplex;\n#else\n"
            "#include <cublas_v2.h>\nusing Z = cuDoubleComplex;\n#endif",
            path="a.h",
        ),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """At most one finding, at the first #include of cuBLAS, else at the first product of halves."""
        if any(name.endswith(_SUPPORT) for name in unit.included):
            return
        for include in unit.tokens.includes:
            is_compiled = unit.dialects.at(include.start).compiled
            if include.name in _HEADERS and is_compiled and not unit.is_project_header(include.name):
                message = "hipBLAS takes HIP's own types where macros ask for it"
                span = Span(include.start, include.end)
                yield self.finding(unit, span, message, Effort.NONE, includes=(_SUPPORT,))
                return
        places = sorted(index for name in _ANSWERED & unit.known_names for index in unit.occurrences(name))
        used = [index for index in places if unit.dialects.at(unit.tokens.starts[index]).compiled]
        if used:
            message = "hipBLAS takes HIP's half type where a macro asks for it before its header"
            yield self.finding(unit, unit.span(used[0], used[0]), message, Effort.NONE, includes=(_SUPPORT,))
