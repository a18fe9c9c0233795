"""D001: helper overloads that HIP defines itself."""

from __future__ import annotations

import re
from collections.abc import Iterator

from porter.cpp.kernels import DeviceFunction
from porter.engine.rule import Edit, Effort, Finding, Rule, Span, Unit, clean, fixes

_LONG = frozenset({"unsigned long", "unsigned long int", "uint64_t", "size_t"})
"""What HIP, and CUDA's headers do not, overload as well: `uint64_t` and `size_t` are `unsigned long` on Linux."""
_LONG_LONG = frozenset({"unsigned long long", "unsigned long long int"})
_FLOATS = frozenset({"float", "double"})
_BITS = _LONG | _LONG_LONG
_HIP_OVERLOADS = {
    "atomicAdd": _BITS | _FLOATS,
    "atomicMin": _BITS | _FLOATS,
    "atomicMax": _BITS | _FLOATS,
    "atomicExch": _BITS | _FLOATS,
    "atomicSub": _BITS | _FLOATS,
    "atomicCAS": _BITS | _FLOATS,
    "atomicAnd": _BITS,
    "atomicOr": _BITS,
    "atomicXor": _BITS,
}
_QUALIFIER = re.compile(r"\b(?:const|volatile|__restrict__|__restrict)\b")
_GUARD = "#ifndef __HIPCC__  // HIP has this overload"


class RedefinedAtomic(Rule):
    """Atomic helper that HIP defines itself

    CUDA code brings its own `atomicAdd(double *, double)` for old GPUs, `atomicMax(float *, float)`, which CUDA never
    had, or `atomicCAS(uint64_t *, ...)`, which CUDA has for `unsigned long long` alone. HIP declares these overloads,
    so the helper is a redefinition. It is kept for CUDA behind a guard. Templates and functions in a namespace or class
    do not collide and stay.
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
        fixes(
            """
            __device__ uint64_t atomicCAS(uint64_t *p, uint64_t a, uint64_t b) { return old(p, a, b); }
            """,
            """
            #ifndef __HIPCC__  // HIP has this overload
            __device__ uint64_t atomicCAS(uint64_t *p, uint64_t a, uint64_t b) { return old(p, a, b); }
            #endif
            """,
            path="a.cuh",
        ),
        fixes(
            """
            __device__ __forceinline__ void atomicMin(float *const p, const float v) { old(p, v); }
            """,
            """
            #ifndef __HIPCC__  // HIP has this overload
            __device__ __forceinline__ void atomicMin(float *const p, const float v) { old(p, v); }
            #endif
            """,
            path="a.cuh",
        ),
        fixes(
            "__device__ std::size_t atomicOr(std::size_t *p, std::size_t v) { return 1; }",
            "#ifndef __HIPCC__  // HIP has this overload\n"
            "__device__ std::size_t atomicOr(std::size_t *p, std::size_t v) { return 1; }\n#endif",
            path="a.cuh",
        ),
        fixes(
            """
            namespace mine { int i; }
              __device__ std::uint64_t
              atomicXor(std::uint64_t *p, uint64_t v) { return 1; }
            """,
            """
            namespace mine { int i; }
            #ifndef __HIPCC__  // HIP has this overload
              __device__ std::uint64_t
              atomicXor(std::uint64_t *p, uint64_t v) { return 1; }
            #endif
            """,
            path="a.cuh",
        ),
        clean("__device__ int64_t atomicMax(int64_t *p, int64_t v) { return v; }", path="a.cuh"),
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
            end, newline = function.span.end, unit.source.newline
            start = unit.source.text.rfind("\n", 0, function.span.start) + 1
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
        wanted = 3 if function.name == "atomicCAS" else 2
        if function.qualified != function.name or len(function.parameters) != wanted:
            return False
        words = (_QUALIFIER.sub(" ", one.type).replace("std::", "") for one in function.parameters)
        pointer, *values = (" ".join(word.split()) for word in words)
        overloads = _HIP_OVERLOADS.get(function.name, frozenset())
        plain = pointer.replace(" ", "")
        return all(value in overloads and plain == value.replace(" ", "") + "*" for value in values)

    @staticmethod
    def _guarded(unit: Unit, span: Span) -> bool:
        """Whether the guard, or another conditional on HIP, already stands around the function."""
        before = unit.source.text[: span.start].rstrip()
        line = before[before.rfind("\n") + 1 :]
        return line.lstrip().startswith("#if") and "HIP" in line

    @staticmethod
    def _alone(unit: Unit, span: Span) -> bool:
        """Whether the function has its lines for itself, so that directives fit around it."""
        text = unit.source.text
        head = text[text.rfind("\n", 0, span.start) + 1 : span.start]
        tail = text[span.end : text.find("\n", span.end) if "\n" in text[span.end :] else len(text)]
        return not head.strip() and not tail.strip()
