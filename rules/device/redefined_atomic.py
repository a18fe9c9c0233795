"""D001: helper overloads that HIP defines itself."""

from __future__ import annotations

from collections.abc import Iterator

from porter.cpp.kernels import DeviceFunction
from porter.engine.rule import Edit, Effort, Finding, Rule, Span, Unit, clean, fixes

_WIDE = frozenset({"float", "double", "unsigned long long", "unsigned long long int"})
_HIP_OVERLOADS = {
    "atomicAdd": _WIDE,
    "atomicMin": _WIDE,
    "atomicMax": _WIDE,
    "atomicExch": _WIDE,
    "atomicSub": frozenset({"unsigned long long", "unsigned long long int", "float", "double"}),
}
_GUARD = "#ifndef __HIPCC__  // HIP has this overload"


class RedefinedAtomic(Rule):
    """Atomic helper that HIP defines itself

    CUDA code brings its own `atomicAdd(double *, double)` for old GPUs, or `atomicMax(float *, float)`, which CUDA
    never had. HIP declares these overloads, so the helper is a redefinition. It is kept for CUDA behind a guard.
    Templates and functions in a namespace or class do not collide and stay.
    """

    code = "D001"
    triggers = frozenset(_HIP_OVERLOADS)
    hazards = ("user-atomic-redefinition",)
    examples = (
        fixes(
            """
            __device__ double atomicAdd(double *p, double v) { return old(p, v); }
            """,
            """
            #ifndef __HIPCC__  // HIP has this overload
            __device__ double atomicAdd(double *p, double v) { return old(p, v); }
            #endif
            """,
            path="a.cuh",
        ),
        clean("namespace mine { __device__ double atomicAdd(double *p, double v) { return v; } }", path="a.cuh"),
        clean("template <typename T> __device__ T atomicMax(T *p, T v) { return v; }", path="a.cuh"),
        clean("struct cplx {}; __device__ void atomicAdd(cplx *p, cplx v) {}", path="a.cuh"),
        clean("__device__ void f(double *p) { atomicAdd(p, 1.0); }", path="a.cuh"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per helper."""
        for function in unit.device_functions:
            if not self._collides(function) or self._guarded(unit, function.span):
                continue
            start, end = function.span
            newline = unit.source.newline
            edits = (
                Edit(start, start, f"{_GUARD}{newline}"),
                Edit(end, end, f"{newline}#endif"),
            )
            message = f"HIP defines {function.name}({', '.join(p.type for p in function.parameters)}) itself"
            if not self._alone(unit, function.span):
                yield self.finding(unit, function.span, message, Effort.MANUAL)
                continue
            yield self.finding(unit, function.span, message, Effort.NONE, edits)

    @staticmethod
    def _collides(function: DeviceFunction) -> bool:
        if function.qualified != function.name or len(function.parameters) != 2:
            return False
        pointer, value = (parameter.type.replace("const ", "").strip() for parameter in function.parameters)
        overloads = _HIP_OVERLOADS.get(function.name, frozenset())
        return value in overloads and pointer.replace(" ", "") == value.replace(" ", "") + "*"

    @staticmethod
    def _guarded(unit: Unit, span: Span) -> bool:
        """Whether the guard, or another conditional on HIP, already stands around the function."""
        before = unit.source.text[: span.start].rstrip()
        line = before[before.rfind("\n") + 1 :]
        return line.startswith("#if") and "HIP" in line

    @staticmethod
    def _alone(unit: Unit, span: Span) -> bool:
        """Whether the function has its lines for itself, so that directives fit around it."""
        text = unit.source.text
        head = text[text.rfind("\n", 0, span.start) + 1 : span.start]
        tail = text[span.end : text.find("\n", span.end) if "\n" in text[span.end :] else len(text)]
        return not head.strip() and not tail.strip()
