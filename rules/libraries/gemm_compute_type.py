"""B003: the compute type of GemmEx given as a data type."""

from __future__ import annotations

import re
from collections.abc import Iterator

from porter.engine.rule import Edit, Effort, Finding, Rule, Span, Unit, clean, fixes, reports

_CALLS = frozenset(f"cublasGemm{kind}Ex{width}" for kind in ("", "Batched", "StridedBatched") for width in ("", "_64"))
_COMPUTE_TYPES = {
    "CUDA_R_16F": "CUBLAS_COMPUTE_16F",
    "CUDA_R_32F": "CUBLAS_COMPUTE_32F",
    "CUDA_C_32F": "CUBLAS_COMPUTE_32F",
    "CUDA_R_64F": "CUBLAS_COMPUTE_64F",
    "CUDA_C_64F": "CUBLAS_COMPUTE_64F",
    "CUDA_R_32I": "CUBLAS_COMPUTE_32I",
}
_FUNCTION = "porter::compute_type"
_SUPPORT = "porter/compute_type.hpp"
_COMPUTE_TYPE = -2
_FEWEST = 19
_DATA_TYPE = re.compile(r"\bcudaDataType(?:_t)?\b|\bhipDataType\b")


class GemmComputeType(Rule):
    """Data type as the compute type of GemmEx

    Until CUDA 11 the type that `cublasGemmEx` computes in was a `cudaDataType`, and cuBLAS's C++ header still has an
    overload for it, which turns `CUDA_R_32F` into `CUBLAS_COMPUTE_32F`. hipBLAS takes a compute type only. A constant
    is replaced; what else may be a data type goes through a function of a small header that takes both. In C there is
    no such overload.
    """

    code = "B003"
    triggers = _CALLS
    answers = _CALLS
    hazards = ("cublas-hipblas-mapping",)
    examples = (
        fixes(
            "void f() { cublasGemmEx(h, t, t, m, n, k, a, A, CUDA_R_16F, x, B, CUDA_R_16F, y, b, C, CUDA_R_16F, z,\n"
            "  CUDA_R_32F, CUBLAS_GEMM_DEFAULT); }",
            "void f() { cublasGemmEx(h, t, t, m, n, k, a, A, CUDA_R_16F, x, B, CUDA_R_16F, y, b, C, CUDA_R_16F, z,\n"
            "  CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT); }",
        ),
        fixes(
            "void f(cudaDataType_t type) { cublasGemmEx(h, t, t, m, n, k, a, A, type, x, B, type, y, b, C, type, z,\n"
            "  type, CUBLAS_GEMM_DEFAULT); }",
            "void f(cudaDataType_t type) { cublasGemmEx(h, t, t, m, n, k, a, A, type, x, B, type, y, b, C, type, z,\n"
            "  porter::compute_type(type), CUBLAS_GEMM_DEFAULT); }",
        ),
        fixes(
            "void f() { cublasGemmEx(h, t, t, m, n, k, a, A, s, x, B, s, y, b, C, s, z, kind(s), algo); }",
            "void f() { cublasGemmEx(h, t, t, m, n, k, a, A, s, x, B, s, y, b, C, s, z,"
            " porter::compute_type(kind(s)), algo); }",
        ),
        reports(
            "void f() { cublasGemmEx(h, t, t, m, n, k, a, A, s, x, B, s, y, b, C, s, z, kind(s), algo); }",
            path="example.c",
        ),
        clean(
            "void f(cublasComputeType_t c) { cublasGemmEx(h, t, t, m, n, k, a, A, CUDA_R_16F, x, B, CUDA_R_16F, y, b,\n"
            "  C, CUDA_R_16F, z, c, CUBLAS_GEMM_DEFAULT); }"
        ),
        clean(
            "void f() { cublasGemmEx(h, t, t, m, n, k, a, A, CUDA_R_16F, x, B, CUDA_R_16F, y, b, C, CUDA_R_16F, z,\n"
            "  CUBLAS_COMPUTE_32F_FAST_TF32, CUBLAS_GEMM_DEFAULT); }"
        ),
        clean("auto g = &cublasGemmEx;"),
        clean(
            "void f() {\n#ifdef USE_ROCM\n  rocblas_gemm_ex(h);\n#else\n  cublasGemmEx(h, t, t, m, n, k, a, A, s, x,"
            " B, s, y, b, C, s, z, kind(s), algo);\n#endif\n}"
        ),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per call that does not surely pass a compute type."""
        for name in sorted(_CALLS & unit.tokens.names.keys()):
            for index in unit.occurrences(name):
                arguments = unit.arguments(index)
                if len(arguments) >= _FEWEST and unit.dialects.at(unit.tokens.starts[index]).compiled:
                    yield from self._judged(unit, index, arguments[_COMPUTE_TYPE])

    def _judged(self, unit: Unit, index: int, argument: Span) -> Iterator[Finding]:
        text = unit.slice(argument)
        if text.startswith(("CUBLAS_COMPUTE_", "HIPBLAS_COMPUTE_", f"{_FUNCTION}(")):
            return
        new = _COMPUTE_TYPES.get(text)
        if new is not None:
            message = f"{text} as a compute type is {new}"
            comma = unit.tokens.starts[unit.tokens.at(argument.start) - 1]  # so that this edit begins before A001's
            edit = Edit(comma, argument.end, unit.source.text[comma : argument.start] + new)
            yield self.finding(unit, argument, message, Effort.NONE, (edit,))
            return
        kind = _type_of(unit, index, text)
        if kind is None or _DATA_TYPE.search(kind):
            message = f"hipBLAS takes {text} as a hipblasComputeType_t only"
            if unit.source.path.endswith(".c"):
                yield self.finding(unit, argument, message, Effort.MANUAL)
                return
            edits = (Edit(argument.start, argument.start, f"{_FUNCTION}("), Edit(argument.end, argument.end, ")"))
            yield self.finding(unit, argument, message, Effort.NONE, edits, (_SUPPORT,))


def _type_of(unit: Unit, index: int, text: str) -> str | None:
    """The type of a call's compute type: from the parser, or from a declaration of that name in the file."""
    if text.startswith(("CUDA_R_", "CUDA_C_")):
        return "cudaDataType"
    types = unit.semantics.call_argument_types(unit.tokens.starts[index]) if unit.semantics else None
    if types and types[_COMPUTE_TYPE]:
        return types[_COMPUTE_TYPE]
    for place in unit.tokens.names.get(text, ()):
        before = unit.tokens.texts[place - 1]
        if _DATA_TYPE.fullmatch(before) or "omputeType" in before:
            return before
    return None
