"""H001: half arithmetic on the host."""

from __future__ import annotations

from collections.abc import Iterator

from porter.engine.rule import Effort, Finding, Rule, Unit, clean, fixes

_SUPPORT = "porter/half_host.hpp"
_TYPES = frozenset({"half", "half2", "__half", "__half2"})


class HostHalfArithmetic(Rule):
    """Half values in host code

    CUDA's `__half` and `__half2` have operators on both sides since CUDA 12.2, HIP's in device code only: a reference
    implementation on the CPU, or a host template that is instantiated with `__half`, does not compile. Where host code
    handles half values, a header with the missing host operators is included.
    """

    code = "H001"
    triggers = _TYPES
    examples = (
        fixes(
            "template <typename T> T twice(T a) { return a + a; }\nhalf f(half a) { return twice<half>(a); }",
            "template <typename T> T twice(T a) { return a + a; }\nhalf f(half a) { return twice<half>(a); }",
        ),
        fixes("typedef half real;\nint a;", "typedef half real;\nint a;"),
        clean("void f(const half *p, __half2 *q) { k<half><<<1, 1>>>(p); long n = sizeof(half); }"),
        clean("__global__ void k(half *p) { half a = p[0]; p[1] = a * a; }"),
        clean("void f(float a) { float half = a / 2; }"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """At most one finding, at the first half value in host code."""
        if any(name.endswith(_SUPPORT) for name in unit.included):
            return
        places = sorted(i for name in _TYPES & unit.tokens.names.keys() for i in unit.occurrences(name))
        place = next((index for index in places if _is_host_value(unit, index)), None)
        if place is not None:
            message = "HIP has no half operators for host code; they are supplied"
            yield self.finding(unit, unit.span(place), message, Effort.NONE, includes=(_SUPPORT,))


def _is_host_value(unit: Unit, index: int) -> bool:
    """A variable, a parameter by value, a template argument or another name for the type, outside device code."""
    tokens = unit.tokens
    texts = tokens.texts
    if tokens.directive_of(index) is not None or unit.kernel_at(tokens.starts[index]) is not None:
        return False
    before, after = texts[index - 1] if index else "", texts[index + 1 : index + 3]
    if before in ("class", "struct", "float", "double", "int") or not after:
        return False
    if before == "=" and after[0] == ";":
        return index > 2 and texts[index - 3] == "using"
    if before in ("<", ",") and after[0] in (">", ","):
        return after != [">", "<<<"]
    return tokens.kinds[index + 1] == "i" and len(after) > 1 and after[1] in ("=", ";", ",", ")", "[", "(", "{")
