"""A017: CUDA names that a macro puts together with `##`."""

from __future__ import annotations

from collections.abc import Iterator

from porter.engine.rule import Edit, Effort, Finding, Rule, Unit, clean, fixes

_PREFIXES = {
    "cuda": "hip",
    "cublas": "hipblas",
    "cufft": "hipfft",
    "curand": "hiprand",
    "cusparse": "hipsparse",
    "cusolver": "hipsolver",
    "cusolverDn": "hipsolverDn",
    "CUBLAS_": "HIPBLAS_",
    "CUSPARSE_": "HIPSPARSE_",
    "CUFFT_": "HIPFFT_",
    "CURAND_": "HIPRAND_",
    "CUDA_R_": "HIP_R_",
}
"""The first piece, where what follows it is the same in HIP."""


class PastedName(Rule):
    """CUDA name put together in a macro

    `#define CALL(f) check(cuda##f)` with `CALL(Malloc(&p, n))` names `cudaMalloc` without its name in the text. The
    first piece becomes HIP's, which is right for the functions whose names differ in nothing else. The calls are not
    looked at one by one: where HIP wants other arguments, the compiler says so.
    """

    code = "A017"
    triggers = frozenset(_PREFIXES)
    examples = (
        fixes("#define CALL(f) check(cuda##f)", "#define CALL(f) check(hip##f)", effort=Effort.REVIEW),
        fixes(
            "#define GEMM(T, ...) cublas ## T ## gemm(__VA_ARGS__)",
            "#define GEMM(T, ...) hipblas ## T ## gemm(__VA_ARGS__)",
            effort=Effort.REVIEW,
        ),
        clean("#define NAME(f) my_cuda##f"),
        clean("#define NAME(f) own##cuda"),
        clean("#define JOIN(a, b) a##cuda##b"),
        clean("namespace cuda { int f; }"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per first piece."""
        tokens = unit.tokens
        for name in sorted(self.triggers & unit.identifiers):
            for index in tokens.names[name]:
                directive = tokens.directive_of(index)
                if directive is None or directive.name != "define" or not _is_first_piece(unit, index):
                    continue
                message = f"{name}## becomes {_PREFIXES[name]}##: the names that the macro makes were not looked at"
                edits = (Edit(*unit.span(index), _PREFIXES[name]),)
                yield self.finding(unit, unit.span(index), message, Effort.REVIEW, edits)


def _is_first_piece(unit: Unit, index: int) -> bool:
    texts = unit.tokens.texts
    return texts[index + 1] == "##" and texts[index - 1] != "##"
