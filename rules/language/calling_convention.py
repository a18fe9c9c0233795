"""L003: macros of CUDA's headers that mean nothing to a compiler: calling conventions, marks of builtins."""

from __future__ import annotations

from collections.abc import Iterator

from porter.engine.rule import Edit, Effort, Finding, Rule, Unit, clean, fixes

_MACROS = frozenset(
    {
        *("CUDART_CB", "CUDA_CB", "CUDAAPI", "CUDARTAPI", "CUDARTAPI_CDECL"),
        *("CUBLASAPI", "CUBLASWINAPI", "CUFFTAPI", "CUSOLVERAPI", "CUSPARSEAPI"),
        *("__device_builtin__", "__cudart_builtin__", "__thrust_exec_check_disable__"),
    }
)


class CallingConvention(Rule):
    """Calling convention macros

    CUDA's headers mark callbacks and entry points with `CUDART_CB`, `CUDA_CB`, `CUDAAPI` or `CUDARTAPI`, those of its
    libraries with `CUSPARSEAPI` and the like. They mean `__stdcall` on 32-bit Windows and nothing elsewhere.
    `__device_builtin__` and `__cudart_builtin__` tell nvcc what it knows itself, `__thrust_exec_check_disable__` of
    what it shall not warn. HIP has no such macros, or in a header of Thrust's that nothing includes there, and needs
    none: the marks are removed.
    """

    code = "L003"
    triggers = _MACROS
    settles = True
    answers = _MACROS
    examples = (
        fixes(
            "void CUDART_CB done(cudaStream_t s, cudaError_t e, void *p);",
            "void done(cudaStream_t s, cudaError_t e, void *p);",
        ),
        fixes("typedef int (CUDAAPI *init_t)(unsigned);", "typedef int (*init_t)(unsigned);"),
        fixes(
            "extern __device__ __device_builtin__ void __threadfence(void);",
            "extern __device__ void __threadfence(void);",
        ),
        fixes(
            "#include <cub/cub.cuh>\nstruct S { __thrust_exec_check_disable__ template <class T> void f(T); };",
            "#include <cub/cub.cuh>\nstruct S { template <class T> void f(T); };",
        ),
        fixes("cusparseStatus_t CUSPARSEAPI mine(int m, int n);", "cusparseStatus_t mine(int m, int n);"),
        fixes("typedef cublasStatus_t (CUBLASWINAPI *call)(int);", "typedef cublasStatus_t (*call)(int);"),
        clean("#ifndef CUSPARSEAPI\n#define CUSPARSEAPI\n#endif\nint CUSPARSEAPI f(int);"),
        fixes("#define CALLBACK_FN void CUDA_CB\n", "#define CALLBACK_FN void"),
        clean("#define CUDAAPI __stdcall\nint CUDAAPI f(int);"),
        clean("#ifdef CUDART_CB\nint a;\n#endif"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per macro; none where the file defines it."""
        for name in sorted(_MACROS & unit.tokens.names.keys()):
            for index in unit.occurrences(name):
                directive = unit.tokens.directive_of(index)
                if directive is None or (directive.name == "define" and directive.first != index):
                    span = unit.span(index)
                    message = f"HIP has no {name}; it means nothing there"
                    yield self.finding(unit, span, message, Effort.NONE, (_removal(unit, index),))


def _removal(unit: Unit, index: int) -> Edit:
    """The token goes with the blanks after it, or before it at the end of a line."""
    start, end = unit.span(index)
    text = unit.source.text
    after = end
    while after < len(text) and text[after] in " \t":
        after += 1
    if after < len(text) and text[after] not in "\r\n":
        return Edit(start, after, "")
    while start and text[start - 1] in " \t":
        start -= 1
    return Edit(start, end, "")
