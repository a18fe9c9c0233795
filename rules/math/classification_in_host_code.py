"""M002: isfinite and its like in host code without <math.h>."""

from __future__ import annotations

from collections.abc import Iterator

from porter.engine.rule import Effort, Finding, Rule, Unit, clean, fixes

_FUNCTIONS = frozenset(
    {
        "fpclassify",
        "isfinite",
        "isgreater",
        "isgreaterequal",
        "isinf",
        "isless",
        "islessequal",
        "islessgreater",
        "isnan",
        "isnormal",
        "isunordered",
        "signbit",
    }
)


class ClassificationInHostCode(Rule):
    """`isfinite` and its like in host code

    nvcc includes `<math.h>` before every file, which gives host code `isfinite`, `isnan` and the other classification
    functions without `std::`. HIP's headers include `<cmath>`, and leave only device functions in the global
    namespace. `<math.h>` is included where such a function is called.
    """

    code = "M002"
    triggers = _FUNCTIONS
    examples = (
        fixes("bool f(float x) { return isfinite(x); }", "bool f(float x) { return isfinite(x); }"),
        clean("#include <math.h>\nbool f(float x) { return isfinite(x); }"),
        clean("bool f(float x) { return std::isfinite(x) || x.isnan(); }"),
        clean("__device__ bool f(float x) { return isfinite(x); }"),
        clean("bool f(float x) { return isnan(x); }", path="a.c"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """At most one finding, at the first call."""
        if "math.h" in unit.included or unit.source.path.endswith(".c"):
            return
        names = _FUNCTIONS & unit.tokens.names.keys()
        places = sorted(index for name in names for index in unit.tokens.names[name] if _is_host_call(unit, index))
        if places:
            message = f"{unit.tokens.texts[places[0]]} of host code is declared by <math.h>"
            yield self.finding(unit, unit.span(places[0]), message, Effort.NONE, includes=("<math.h>",))


def _is_host_call(unit: Unit, index: int) -> bool:
    """Outside kernels and functions for the device alone; macros count, for nobody knows where they are used."""
    if not unit.is_free(index) or not unit.next_is(index, "("):
        return False
    return unit.is_for_host(unit.tokens.starts[index])
