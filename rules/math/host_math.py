"""M001: functions of CUDA's math library called on the host."""

from __future__ import annotations

from collections.abc import Iterator

from porter.engine.rule import Edit, Effort, Finding, Rule, Unit, clean, fixes, reports

_SUPPORT = "porter/host_math.hpp"
_SUPPLIED = frozenset(
    name
    for base in ("rsqrt", "rcbrt", "sinpi", "cospi", "rhypot", "norm3d", "norm4d", "rnorm3d", "rnorm4d", "normcdf")
    for name in (base, f"{base}f")
) | {"fdividef"}
_GAPS = frozenset(
    name
    for base in ("erfinv", "erfcinv", "erfcx", "normcdfinv", "cyl_bessel_i0", "cyl_bessel_i1")
    for name in (base, f"{base}f")
)


class HostMath(Rule):
    """CUDA math function in host code

    CUDA's math library works on both sides: `rsqrtf`, `sinpi` or `normcdf` can be called in host code. HIP has them in
    device code only. Calls in host code, and in functions for both sides, go to a header that supplies the host side.
    """

    code = "M001"
    triggers = _SUPPLIED | _GAPS
    hazards = ("math-coverage",)
    examples = (
        fixes("float f(int n) { return rsqrtf(n); }", "float f(int n) { return porter::rsqrtf(n); }"),
        fixes(
            "__host__ __device__ double g(double x) { return ::sinpi(x); }",
            "__host__ __device__ double g(double x) { return porter::sinpi(x); }",
        ),
        reports("double f(double x) { return erfinv(x); }"),
        clean("__device__ float f(float x) { return rsqrtf(x); }"),
        clean("__global__ void k(float *x) { *x = rsqrtf(*x); }"),
        clean("float f(my x) { return x.rsqrt() + mine::rsqrt(x) + v->rsqrtf(); }"),
        clean("float rsqrt(float x) { return 1 / x; }\nfloat f(float x) { return rsqrt(x); }"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per call."""
        for name in self.triggers & unit.tokens.names.keys():
            calls = [index for index in unit.occurrences(name) if _is_host_call(unit, index)]
            if not calls or _is_own(unit, name):
                continue
            for index in calls:
                yield self._call(unit, index, name)

    def _call(self, unit: Unit, index: int, name: str) -> Finding:
        if name in _GAPS:
            message = f"HIP has no {name} for host code"
            return self.finding(unit, unit.span(index), message, Effort.MANUAL)
        first = index - 1 if unit.tokens.texts[index - 1] == "::" else index
        span = unit.span(first, index)
        edits = (Edit(*span, f"porter::{name}"),)
        return self.finding(unit, span, f"HIP has no {name} for host code", Effort.NONE, edits, (_SUPPORT,))


def _is_host_call(unit: Unit, index: int) -> bool:
    """Whether a call stands outside device code; in a macro nobody knows."""
    if not unit.next_is(index, "(") or unit.tokens.directive_of(index) is not None:
        return False
    return unit.is_for_host(unit.tokens.starts[index])


def _is_own(unit: Unit, name: str) -> bool:
    """Whether the file declares a function of that name: `type name(`."""
    tokens = unit.tokens
    before = (tokens.texts[index - 1] for index in tokens.names[name] if index and unit.next_is(index, "("))
    return any(text in ("float", "double", "T", "auto", "inline", "scalar_t", "using") for text in before)
