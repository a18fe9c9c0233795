"""A006: the project declares a name that is also CUDA's."""

from __future__ import annotations

from collections.abc import Iterator

from porter.engine.rule import Effort, Finding, Rule, Unit, clean, reports


class OwnName(Rule):
    """CUDA name that the project declares itself

    A macro, function or variable of the project has the name of a CUDA function. Where clang says that a use means
    the project's own, it is left alone. For warp functions that deserves a look: a wrapper like
    `#define __shfl_sync(m, v, s) __shfl(v, s)` decides for every caller how many lanes take part. What stands there
    for an editor alone (`#ifdef __INTELLISENSE__`) declares nothing.
    """

    code = "A006"
    only_reports = True
    by_names = True
    examples = (
        reports(
            "#define __any_sync(mask, p) my_any(p)\n__device__ bool f(int p) { return __any_sync(~0u, p); }",
            effort=Effort.REVIEW,
        ),
        clean("__device__ bool f(int p) { return __any_sync(~0u, p); }"),
        clean("struct S { int warpSize; };"),
        clean(
            "#ifdef __INTELLISENSE__\nbool __any_sync(unsigned, int);\n#define __CUDA_ARCH__ 500\n#endif\n"
            "__device__ bool f(int p) {\n#if __CUDA_ARCH__ >= 700\n  return __any_sync(~0u, p);\n#endif\n}"
        ),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per name, at its first use in the file that is left alone."""
        for name in sorted(unit.tokens.names.keys() & unit.support.names.keys()):
            if not name.startswith("__"):
                continue
            if name not in unit.declared and name not in unit.own:
                continue
            for index in unit.tokens.names[name]:
                if unit.is_free(index) and not unit.is_cuda(index):
                    message = f"{name} is declared by the project and left alone"
                    yield self.finding(unit, unit.span(index), message, Effort.REVIEW)
                    break
