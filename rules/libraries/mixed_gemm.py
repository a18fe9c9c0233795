"""B005: products in mixed precision by cublasSgemmEx and cublasCgemmEx."""

from __future__ import annotations

from collections.abc import Iterator

from porter.engine.rule import Edit, Effort, Finding, Rule, Unit, clean, fixes, reports

_CALLS = {
    name + suffix: f"cublasGemmEx{suffix}"
    for name in ("cublasSgemmEx", "cublasCgemmEx")
    for suffix in ("", "_64")
}  # fmt: skip
_ARGUMENTS = 17
_COMPUTE = ", CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT"


class MixedGemm(Rule):
    """Product in mixed precision without a compute type

    `cublasSgemmEx` and `cublasCgemmEx` multiply half, bfloat16 or int8 matrices and add in single precision. hipBLAS
    has `hipblasGemmEx` alone, which does the same when it is told to compute in single precision: the call becomes one
    of `cublasGemmEx`, which is then ported.
    """

    code = "B005"
    triggers = frozenset(_CALLS)
    answers = frozenset(_CALLS)
    examples = (
        fixes(
            "void f() { cublasSgemmEx(h, t, t, m, n, k, &one, a, CUDA_R_16F, m, b, CUDA_R_16F, k, &zero, c,\n"
            "  CUDA_R_32F, m); }",
            "void f() { cublasGemmEx(h, t, t, m, n, k, &one, a, CUDA_R_16F, m, b, CUDA_R_16F, k, &zero, c,\n"
            "  CUDA_R_32F, m, CUBLAS_COMPUTE_32F, CUBLAS_GEMM_DEFAULT); }",
        ),
        reports("auto gemm = &cublasSgemmEx;"),
        clean("struct S { void cublasSgemmEx(int); }; void f(S s) { s.cublasSgemmEx(1); }"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per use."""
        for name in sorted(_CALLS.keys() & unit.tokens.names.keys()):
            for index in unit.occurrences(name):
                span, arguments = unit.span(index), unit.arguments(index)
                if len(arguments) != _ARGUMENTS:
                    message = f"hipBLAS has no {name}; hipblasGemmEx with HIPBLAS_COMPUTE_32F does the same"
                    yield self.finding(unit, span, message, Effort.MANUAL)
                    continue
                end = arguments[-1].end
                edits = (Edit(span.start, span.end, _CALLS[name]), Edit(end, end, _COMPUTE))
                message = f"{name} is {_CALLS[name]} with a compute type of single precision"
                yield self.finding(unit, span, message, Effort.NONE, edits)
