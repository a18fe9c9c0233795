"""M004: functions of `long double` in device code."""

from __future__ import annotations

from collections.abc import Iterator

from porter.engine.rule import Edit, Effort, Finding, Rule, Unit, clean, fixes

_SUPPORT = "porter/long_double.hpp"
_FUNCTIONS = frozenset(
    f"{name}l"
    for name in (
        *("exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "cbrt", "sin", "cos", "tan", "asin", "acos"),
        *("atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "erf", "erfc", "floor", "ceil", "round", "trunc"),
        *("rint", "nearbyint", "fabs", "pow", "fmod", "fmax", "fmin", "hypot", "atan2", "copysign"),
    )
)


class LongDoubleOnDevice(Rule):
    """Function of `long double` in device code

    For nvcc `long double` is `double` in device code, and `expl` is `exp`. HIP has these functions on the host alone,
    so that even an overload that nobody calls does not compile. Calls go to functions that compute in `double` on the
    device, as CUDA does, and are the host's own there.
    """

    code = "M004"
    triggers = _FUNCTIONS
    hazards = ("math-coverage",)
    examples = (
        clean("long double f(long double x) { return expl(x); }"),
        clean("__device__ double f(double x) { return exp(x); }"),
        clean("__device__ double f(my x) { return x.expl() + mine::expl(x); }"),
        clean("__device__ float expl(float x) { return x; }\n__device__ float f(float x) { return expl(x); }"),
        fixes(
            "__device__ long double f(long double x) { return expl(x) + ::powl(x, 2); }",
            "__device__ long double f(long double x) { return porter::expl(x) + porter::powl(x, 2); }",
        ),
        fixes(
            "template <class T> __host__ __device__ T f(T x) { return sqrtl(x); }",
            "template <class T> __host__ __device__ T f(T x) { return porter::sqrtl(x); }",
        ),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per call."""
        for name in sorted(self.triggers & unit.tokens.names.keys()):
            indices = unit.tokens.names[name]
            if any(unit.declares(index) for index in indices):
                continue
            for index in indices:
                if _is_on_device(unit, index) and unit.is_cuda(index):
                    first = index - 1 if unit.tokens.texts[index - 1] == "::" else index
                    span = unit.span(first, index)
                    message = f"HIP has {name} on the host alone; nvcc computes it in double"
                    edits = (Edit(*span, f"porter::{name}"),)
                    yield self.finding(unit, span, message, Effort.NONE, edits, (_SUPPORT,))


def _is_on_device(unit: Unit, index: int) -> bool:
    """Whether a call stands in device code: asked before whose name it is, for clang may have to tell that."""
    if not unit.next_is(index, "("):
        return False
    offset = unit.tokens.starts[index]
    return unit.kernel_at(offset) is not None or any(span.start <= offset < span.end for span, _ in unit.device_spans)
