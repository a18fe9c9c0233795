"""R031: the driver's copies between any two addresses."""

from __future__ import annotations

from collections.abc import Iterator

from porter.cpp.functions import follows_type
from porter.engine.rule import Edit, Effort, Finding, Rule, Unit, clean, fixes, reports

_ARGUMENTS = {"cuMemcpy": 3, "cuMemcpyAsync": 4}
_DIRECTION = 3
"""How many arguments stand before the direction."""


class CopyWithoutDirection(Rule):
    """Copy of the driver's that finds its direction itself

    `cuMemcpy(to, from, n)` takes any two addresses and finds out where they are. HIP's copy does so where it is told
    `hipMemcpyDefault`, which is put behind the size. Where the function is no call (its address is taken), what calls
    it has to hand that over.
    """

    code = "R031"
    triggers = frozenset(_ARGUMENTS)
    answers = triggers
    settles = True
    examples = (
        fixes(
            "void f(CUdeviceptr a, CUdeviceptr b) { cuMemcpy(a, b, size(1, 2)); }",
            "void f(CUdeviceptr a, CUdeviceptr b) { cuMemcpy(a, b, size(1, 2), cudaMemcpyDefault); }",
        ),
        fixes(
            "void f(CUstream s) { CHECK(cuMemcpyAsync(a, b, 4, s)); }",
            "void f(CUstream s) { CHECK(cuMemcpyAsync(a, b, 4, cudaMemcpyDefault, s)); }",
        ),
        reports("auto *copy = &cuMemcpy;"),
        reports("CUresult CUDAAPI cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t n);"),
        reports("#define COPY(...) cuMemcpy(__VA_ARGS__)"),
        clean("void f() { cuMemcpyDtoD(a, b, 4); }"),
        clean("void f() { driver.cuMemcpy(a, b, 4); }"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per use."""
        for name, count in _ARGUMENTS.items():
            for index in unit.occurrences(name):
                if unit.tokens.texts[index - 1] in (".", "->"):
                    continue
                is_call = unit.tokens.texts[index + 1] == "(" and not follows_type(unit.tokens, index)
                arguments = unit.arguments(index) if is_call else ()
                if len(arguments) == count:
                    end = arguments[_DIRECTION - 1].end
                    edits = (Edit(end, end, ", cudaMemcpyDefault"),)
                    message = f"HIP's copy is told the direction: {name} finds it out, as hipMemcpyDefault does"
                    yield self.finding(unit, unit.span(index), message, Effort.NONE, edits)
                elif not is_call or len(arguments) != count + 1:
                    message = f"{name} -> hip{name[2:]}: HIP takes the direction as an argument: pass hipMemcpyDefault"
                    yield self.finding(unit, unit.span(index), message, Effort.MANUAL)
