"""P001: conditionals on the CUDA compiler."""

from __future__ import annotations

from collections.abc import Iterator

from porter.cpp.syntax import find_groups, group_at, knows_hip
from porter.engine.rule import Edit, Effort, Finding, Rule, Unit, clean, fixes, reports

_MACROS = {
    "__CUDACC__": "__HIPCC__",
    "__NVCC__": "__HIPCC__",
    "__CUDACC_RTC__": "__HIPCC_RTC__",
    "__CUDACC_RDC__": "__CLANG_RDC__",
    "__CUDACC_EXTENDED_LAMBDA__": "__HIPCC__",
    "__CUDACC_RELAXED_CONSTEXPR__": "__HIPCC__",
}
"""What clang takes without a flag, nvcc with one: lambdas in kernels' templates, constexpr functions on both sides."""
_CONDITIONS = frozenset({"if", "ifdef", "ifndef", "elif", "elifdef", "elifndef"})


class CudaCompilerGuard(Rule):
    """Condition on the CUDA compiler

    `#ifdef __CUDACC__` marks what only nvcc shall see: kernels, `__host__ __device__` on shared functions, vector
    types. HIP's compiler does not define it, so device functions would become host functions without a word. HIP's own
    macro is `__HIPCC__`, `__HIPCC_RTC__` when hiprtc compiles, and `__CLANG_RDC__` with `-fgpu-rdc`. Conditions that
    ask for HIP as well are the project's own choice and stay, and so do those right before or behind one for HIP.
    """

    code = "P001"
    triggers = frozenset(_MACROS)
    hazards = ("cudacc-guard",)
    examples = (
        fixes(
            "#ifdef __CUDACC__\n#define HD __host__ __device__\n#else\n#define HD\n#endif",
            "#ifdef __HIPCC__\n#define HD __host__ __device__\n#else\n#define HD\n#endif",
            path="a.h",
        ),
        fixes(
            "#if !defined(__CUDACC__) && !defined(__NVCC__)\nint a;\n#endif",
            "#if !defined(__HIPCC__) && !defined(__HIPCC__)\nint a;\n#endif",
            path="a.h",
        ),
        fixes(
            "#ifndef __CUDACC_RTC__\n#include <cmath>\n#endif\n#if defined(__CUDACC_RDC__)\nint a;\n#endif",
            "#ifndef __HIPCC_RTC__\n#include <cmath>\n#endif\n#if defined(__CLANG_RDC__)\nint a;\n#endif",
            path="a.h",
        ),
        fixes(
            "#ifndef __CUDACC_EXTENDED_LAMBDA__\n#error no lambdas\n#endif",
            "#ifndef __HIPCC__\n#error no lambdas\n#endif",
            path="a.h",
        ),
        fixes(
            "#ifdef __NVCC__\nint a;\n#endif\nint c;\n#ifdef __HIP__\nint b;\n#endif",
            "#ifdef __HIPCC__\nint a;\n#endif\nint c;\n#ifdef __HIP__\nint b;\n#endif",
            path="a.h",
        ),
        fixes(
            "#ifdef __NVCC__\nint a;\n#endif\n#ifndef __HIP__\nint b;\n#endif",
            "#ifdef __HIPCC__\nint a;\n#endif\n#ifndef __HIP__\nint b;\n#endif",
            path="a.h",
        ),
        reports("#define __CUDACC__\nint a;", effort=Effort.REVIEW, path="a.h"),
        clean("#if defined(__CUDACC_RTC__) || defined(__HIPCC_RTC__)\nint a;\n#endif", path="a.h"),
        clean("#if defined(__CUDACC__) || defined(__HIPCC__)\nint a;\n#endif", path="a.h"),
        clean("#if defined(__CUDACC__)\nint a;\n#elif defined(__HIP_PLATFORM_AMD__)\nint b;\n#endif", path="a.h"),
        clean("#if defined(__CUDACC__)\nint a;\n#elif defined(HIP)\nint b;", path="a.h"),
        clean("#ifdef __NVCC__\nint a;\n#endif\n// or\n#ifdef __HIP__\nint b;\n#endif", path="a.h"),
        clean("#if defined(__HIPCC__)\nint a;\n#endif\n#if defined(__CUDACC__)\nint b;\n#endif", path="a.h"),
        clean("#ifdef USE_ROCM\n#else\n#ifdef __CUDACC__\nint a;\n#endif\n#endif", path="a.h"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per macro in a directive."""
        tokens = unit.tokens
        groups = find_groups(tokens)
        for name, hip in _MACROS.items():
            for index in tokens.names.get(name, ()):
                directive = tokens.directive_of(index)
                if directive is None:
                    continue
                group = group_at(groups, directive.start)
                if knows_hip(group, tokens) or (group is None and directive.name in _CONDITIONS):
                    continue
                span = unit.span(index)
                if directive.name in _CONDITIONS:
                    edits = (Edit(*span, hip),)
                    yield self.finding(unit, span, f"{name} is {hip} in HIP", Effort.NONE, edits)
                else:
                    message = f"{name} is set by hand here: HIP code asks for {hip}"
                    yield self.finding(unit, span, message, Effort.REVIEW)
