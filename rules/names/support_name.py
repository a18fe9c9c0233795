"""A004: names that a support header in the ported tree supplies."""

from __future__ import annotations

from collections.abc import Iterator

from porter.engine.renames import Use, replacement
from porter.engine.rule import Effort, Finding, Rule, Unit, clean, fixes
from porter.warp.ptx import generation


class SupportName(Rule):
    """CUDA name that a header in the ported tree supplies

    Warp functions work on 32 lanes in CUDA and on 64 in HIP for MI300X; others do not exist in HIP at all. A small
    header written into the ported tree (`porter/warp32.hpp` and its neighbours, no dependency beyond HIP) supplies
    them with CUDA's meaning; only the identifier changes, so it works through macros and templates.

    `__CUDA_ARCH__` becomes `PORTER_CUDA_ARCH`, which is 700: plain code rather than PTX for newer GPUs. Where a
    condition such as `__CUDA_ARCH__ >= 800` has no `#else`, or one that only complains, nothing would be left of the
    function. Such code is taken (`PORTER_CUDA_ARCH_SOLE`, 800) if all of its assembly has a translation.
    """

    code = "A004"
    by_names = True
    examples = (
        fixes(
            "__device__ int sum(int v) { return v + __shfl_xor_sync(0xffffffff, v, 1); }",
            "__device__ int sum(int v) { return v + porter::shfl_xor_sync(0xffffffff, v, 1); }",
        ),
        fixes("#define NEXT __shfl_down(v, 1)", "#define NEXT porter::shfl_down(v, 1)"),
        fixes("#define ALL(p) __all_sync(~0u, p)", "#define ALL(p) porter::all_sync(~0u, p)"),
        fixes(
            "__device__ void f() {\n#if __CUDA_ARCH__ >= 800\n  g();\n#else\n  __trap();\n#endif\n}",
            "__device__ void f() {\n#if PORTER_CUDA_ARCH_SOLE >= 800\n  g();\n#else\n  porter::trap();\n#endif\n}",
        ),
        fixes(
            "__device__ int f(int a) {\n#if __CUDA_ARCH__ >= 800\n  return g(a);\n#else\n  return a;\n#endif\n}",
            "__device__ int f(int a) {\n#if PORTER_CUDA_ARCH >= 800\n  return g(a);\n#else\n  return a;\n#endif\n}",
        ),
        fixes(
            "#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800\n// not there\n#else\n__device__ void f();\n#endif",
            "#if defined(PORTER_CUDA_ARCH_SOLE) && PORTER_CUDA_ARCH_SOLE < 800\n// not there\n#else\n"
            "__device__ void f();\n#endif",
        ),
        fixes(
            "#if __CUDA_ARCH__ < 900\n#else\n__device__ void f();\n#endif",
            "#if PORTER_CUDA_ARCH < 900\n#else\n__device__ void f();\n#endif",
        ),
        fixes(
            "#if __CUDA_ARCH_HAS_FEATURE__(SM90_ALL)\nint a;\n#endif",
            "#if PORTER_CUDA_ARCH_HAS_FEATURE(SM90_ALL)\nint a;\n#endif",
        ),
        clean("#if defined(__CUDA_ARCH_FEAT_SM90_ALL)\n#endif"),
        clean("#if warpSize == 32\n#endif"),
        clean("__device__ float sum(float v) { return v + __shfl_xor<128>(v, 16) + __shfl<128>(v, 0); }"),
        clean("struct S { int __shfl_sync(int); }; int f(S s) { return s.__shfl_sync(1); }"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per place."""
        sole = generation.sole_code(unit) if generation.NAME in unit.tokens.names else frozenset()
        for use in unit.uses:
            support = use.support
            if support is None or ("::" in support.name and _is_no_call(unit, use)):
                continue
            name = generation.SOLE if use.first in sole else support.name
            edits = replacement(unit.tokens, use, name)
            message = f"{use.name} becomes {name} ({support.header})"
            span = unit.span(use.first, use.last)
            yield self.finding(unit, span, message, Effort.NONE, edits, (support.header,))


def _is_no_call(unit: Unit, use: Use) -> bool:
    """A condition of the preprocessor, or a template of the project's, declared elsewhere: CUDA's own built-in
    functions are overloads, and take no arguments of a template."""
    of_template = use.name.startswith("__") and unit.tokens.texts[use.last + 1] == "<"
    return of_template or _is_in_condition(unit, use.first)


def _is_in_condition(unit: Unit, index: int) -> bool:
    """Whether a token stands in an `#if`: the preprocessor knows no variables, and there is no `::` for it."""
    directive = unit.tokens.directive_of(index)
    return directive is not None and directive.name in ("if", "elif")
