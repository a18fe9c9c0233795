"""B004: arrays of pointers for GemmBatchedEx."""

from __future__ import annotations

import re
from collections.abc import Iterator

from porter.engine.rule import Edit, Effort, Finding, Rule, Span, Unit, clean, fixes

_CALLS = frozenset({"cublasGemmBatchedEx", "cublasGemmBatchedEx_64"})
_ARRAYS = (7, 10)
_ARGUMENTS = 20
_CAST = re.compile(r"\(\s*const\s+void\s*\*\s*\*\s*\)")
_TYPE = "const void **"
_RESULTS, _RESULT_TYPE = 14, "void **"
_CONST_RESULTS = re.compile(r"\bvoid\s*\*\s*const\s*\*")


class PointerArray(Rule):
    """Array of pointers without `const` for GemmBatchedEx

    cuBLAS takes the matrices of `cublasGemmBatchedEx` as `const void *const *`, which a `void **` converts to. hipBLAS
    wants `const void **`, which it does not; the argument is cast. So it is with the results, which are `void *const *`
    for cuBLAS and `void **` for hipBLAS, where they are written so.
    """

    code = "B004"
    triggers = _CALLS
    examples = (
        fixes(
            "void f(void **a, void **b, void **c) { cublasGemmBatchedEx(h, t, t, m, n, k, x, a, CUDA_R_16F, i, b,\n"
            "  CUDA_R_16F, i, y, c, CUDA_R_16F, i, n, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT); }",
            "void f(void **a, void **b, void **c) { cublasGemmBatchedEx(h, t, t, m, n, k, x, (const void **)(a),"
            " CUDA_R_16F, i, (const void **)(b),\n"
            "  CUDA_R_16F, i, y, c, CUDA_R_16F, i, n, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT); }",
        ),
        clean(
            "void f(float **a) { cublasGemmBatchedEx(h, t, t, m, n, k, x, (const void **)a, CUDA_R_16F, i,\n"
            "  (const void**)b, CUDA_R_16F, i, y, c, CUDA_R_16F, i, n, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT); }"
        ),
        fixes(
            "void f(void *const *c) { cublasGemmBatchedEx(h, t, t, m, n, k, x, (const void **)a, CUDA_R_16F, i,\n"
            "  (const void**)b, CUDA_R_16F, i, y, reinterpret_cast<void *const *>(c), CUDA_R_16F, i, n, "
            "CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT); }",
            "void f(void *const *c) { cublasGemmBatchedEx(h, t, t, m, n, k, x, (const void **)a, CUDA_R_16F, i,\n"
            "  (const void**)b, CUDA_R_16F, i, y, (void **)(reinterpret_cast<void *const *>(c)), CUDA_R_16F, i, n, "
            "CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT); }",
        ),
        clean("auto g = &cublasGemmBatchedEx;"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per argument that is not `const void **` by its looks or its type."""
        for name in sorted(_CALLS & unit.tokens.names.keys()):
            for index in unit.occurrences(name):
                arguments = unit.arguments(index)
                if len(arguments) != _ARGUMENTS:
                    continue
                types = unit.semantics.call_argument_types(unit.tokens.starts[index]) if unit.semantics else None
                for place in _ARRAYS:
                    if not _fits(unit, arguments[place], types[place] if types else None):
                        yield self._cast(unit, arguments[place], _TYPE)
                results = unit.slice(arguments[_RESULTS])
                known = types[_RESULTS] if types else None
                if not results.startswith(f"({_RESULT_TYPE})") and _CONST_RESULTS.search(known or results):
                    yield self._cast(unit, arguments[_RESULTS], _RESULT_TYPE)

    def _cast(self, unit: Unit, argument: Span, kind: str) -> Finding:
        edits = (
            Edit(argument.start, argument.start, f"({kind})("),
            Edit(argument.end, argument.end, ")"),
        )
        return self.finding(unit, argument, f"hipBLAS takes {kind}", Effort.NONE, edits)


def _fits(unit: Unit, argument: Span, kind: str | None) -> bool:
    return kind == _TYPE or _CAST.match(unit.slice(argument)) is not None
