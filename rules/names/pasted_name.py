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

_WARP_PREFIXES = {name: name.replace("__", "porter::") for name in ("__shfl", "__shfl_", "__reduce_", "__match_")}
_BEFORE_A_CALL = frozenset("(,=;{}!~+-*/%<>&|^?:[") | {"return", "##", "do", "else", "+=", "-=", "&&", "||", "=="}


class PastedName(Rule):
    """CUDA name put together in a macro

    `#define CALL(f) check(cuda##f)` with `CALL(Malloc(&p, n))` names `cudaMalloc` without its name in the text. The
    first piece becomes HIP's, which is right for the functions whose names differ in nothing else. The calls are not
    looked at one by one: where HIP wants other arguments, the compiler says so. Warp functions, of which HIP's count 64
    lanes, are those of `porter/warp32.hpp`; what a macro declares under such a name is the project's own.
    """

    code = "A017"
    triggers = frozenset(_PREFIXES) | frozenset(_WARP_PREFIXES) | {"__"}
    examples = (
        fixes("#define CALL(f) check(cuda##f)", "#define CALL(f) check(hip##f)", effort=Effort.REVIEW),
        fixes(
            "#define GEMM(T, ...) cublas ## T ## gemm(__VA_ARGS__)",
            "#define GEMM(T, ...) hipblas ## T ## gemm(__VA_ARGS__)",
            effort=Effort.REVIEW,
        ),
        fixes(
            "#define SHFL(dir, v, d) __shfl_##dir##_sync(~0u, v, d)",
            "#define SHFL(dir, v, d) porter::shfl_##dir##_sync(~0u, v, d)",
            effort=Effort.REVIEW,
        ),
        fixes(
            "#define MERGE(op) v += __reduce_##op##_sync(~0u, v)",
            "#define MERGE(op) v += porter::reduce_##op##_sync(~0u, v)",
            effort=Effort.REVIEW,
        ),
        fixes(
            "#define OP(f) __device__ int f(int v, int i) { return __##f##_sync(mask, v, i, Size); }",
            "#define OP(f) __device__ int f(int v, int i) { return porter::f##_sync(mask, v, i, Size); }",
            effort=Effort.REVIEW,
        ),
        clean("#define OP(f) void __##f##_sync(int);"),
        clean("#define OP(f) __##f##_sync_all(0)"),
        clean("#define OWN(dir) __device__ double2 __shfl_##dir##_sync(unsigned m, double2 v, int d) { return v; }"),
        clean("#define SHFL(dir) my__shfl_##dir"),
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
                piece = _PREFIXES.get(name) or _of_warps(unit, index)
                if piece is None:
                    continue
                pasted = "" if name == "__" else "##"
                message = f"{name}## becomes {piece}{pasted}: the names that the macro makes were not looked at"
                edits = (Edit(*unit.span(index, index + (name == "__")), piece),)
                headers = () if name in _PREFIXES else ("porter/warp32.hpp",)
                yield self.finding(unit, unit.span(index), message, Effort.REVIEW, edits, headers)


def _is_first_piece(unit: Unit, index: int) -> bool:
    texts = unit.tokens.texts
    return texts[index + 1] == "##" and texts[index - 1] != "##"


def _of_warps(unit: Unit, index: int) -> str | None:
    """The piece of a warp function that is called; none of one that the project declares."""
    texts = unit.tokens.texts
    if texts[index - 1] not in _BEFORE_A_CALL and not _begins_text(unit, index):
        return None
    if texts[index] != "__":
        return _WARP_PREFIXES[texts[index]]
    return "porter::" if texts[index + 3 : index + 6] == ["##", "_sync", "("] else None


def _begins_text(unit: Unit, index: int) -> bool:
    """Whether a macro's text begins with the token: nothing, or its list of parameters, stands before."""
    tokens = unit.tokens
    directive = tokens.directive_of(index)
    if directive is None:
        return False
    name = directive.first
    opening = name + 1
    has_list = tokens.texts[opening] == "(" and tokens.starts[opening] == tokens.end(name)
    return index == (tokens.partner.get(opening, opening) + 1 if has_list else opening)
