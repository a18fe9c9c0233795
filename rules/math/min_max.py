"""M003: min and max of two types, and in host code."""

from __future__ import annotations

from collections.abc import Iterator

from porter.cpp.operand_types import operand_type
from porter.engine.rule import Edit, Effort, Finding, Rule, Unit, clean, fixes

_SUPPORT = "porter/minmax.hpp"
_INTEGERS = frozenset(f"{sign}{size}" for sign in ("", "unsigned ") for size in ("int", "long", "long long"))
_SMALL = frozenset({"bool", "char", "signed char", "unsigned char", "short", "unsigned short"})
_ARITHMETIC = _INTEGERS | _SMALL | {"float", "double"}


class MinMax(Rule):
    """`min` and `max` that HIP resolves otherwise

    CUDA declares `min` and `max` for every pair of integers of one width, on both sides. In HIP's device code arguments
    of two types meet a template that returns `double`: `min(-1, 2u)` is -1.0 instead of 2, `max(c, 0)` of a `char` is
    no integer any more, and 64-bit integers lose bits. In host code HIP has had `min(int, int)` alone until clang 20:
    `max(0.5f, 0.7f)` compiles and is 0 (and with `using namespace std` another function decides about NaN). Where the
    types of a call are not known to be harmless, it goes to a header with CUDA's overloads.
    """

    code = "M003"
    triggers = frozenset({"min", "max"})
    examples = (
        fixes(
            "__device__ unsigned f(int a, unsigned b) { return min(a, b); }",
            "__device__ unsigned f(int a, unsigned b) { return porter::min(a, b); }",
        ),
        fixes(
            "__global__ void k(signed char *p) { p[0] = ::max(p[0], 0); }",
            "__global__ void k(signed char *p) { p[0] = porter::max(p[0], 0); }",
        ),
        fixes(
            "template <class T> __device__ T f(T a, int b) { return max(a, b); }",
            "template <class T> __device__ T f(T a, int b) { return porter::max(a, b); }",
        ),
        fixes("float f(float a) { return max(a, 0.5f); }", "float f(float a) { return porter::max(a, 0.5f); }"),
        fixes(
            "__host__ __device__ unsigned f(unsigned a) { return min(a, 3u); }",
            "__host__ __device__ unsigned f(unsigned a) { return porter::min(a, 3u); }",
        ),
        fixes(
            "#define HD __host__ __device__\n#define INLINE HD inline\n"
            "struct Payoff { INLINE double operator()(double s) const { return max(4.0 - s, 0.0); } };",
            "#define HD __host__ __device__\n#define INLINE HD inline\n"
            "struct Payoff { INLINE double operator()(double s) const { return porter::max(4.0 - s, 0.0); } };",
        ),
        clean("#define DEVICE __device__ inline\nDEVICE double f(double a) { return max(a, 0.0); }"),
        clean("#define HOST __host__\nHOST int f(int a) { return max(a, 0); }"),
        clean("__device__ int f(int a, int b) { return min(a, max(b, 3)); }"),
        clean("template <class T> __device__ T f(T a, T b) { return max(a, b); }"),
        clean("__device__ float f(float a) { return fmaxf(max(a, 0.5f), x.max(a, 1)); }"),
        clean(
            '#include "gone.h"\n#include "porter/minmax.hpp"\n'
            "__device__ float f(float a) { return min(porter::max(a, -1.0), 1.0); }"
        ),
        clean("int f(int a, int b) { return min(a, b); }"),
        clean("#include <algorithm>\nfloat f(float a, float b) { return std::min(a, b); }"),
        fixes(
            "#include <algorithm>\nusing namespace std;\nfloat f(float a, float b) { return min(a, b); }",
            "#include <algorithm>\nusing namespace std;\nfloat f(float a, float b) { return porter::min(a, b); }",
        ),
        clean("float max(float a, int b) { return a < b ? b : a; }\nfloat f(float a) { return max(a, 1); }"),
        clean("#define max(a, b) ((a) > (b) ? (a) : (b))\nfloat f(float a) { return max(a, 1); }"),
        clean("int f(int a) { return min(a); }"),
        clean("namespace own { template <class T> typename best<T>::type max(const T &a, const T &b) { return a; } }"),
        clean("float f(float a) { return max(a, 0.5f); }", path="example.cpp"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per call."""
        if _is_plain_host_source(unit):
            return
        for name in sorted(self.triggers & unit.tokens.names.keys()):
            for index in unit.tokens.names[name]:
                if not _is_call(unit, index) or _is_plainly_harmless(unit, index):
                    continue
                if unit.is_cuda(index) and not _is_harmless(unit, index):
                    first = index - 1 if unit.tokens.texts[index - 1] == "::" else index
                    span = unit.span(first, index)
                    message = f"HIP resolves {name} for other types than CUDA does"
                    yield self.finding(unit, span, message, Effort.NONE, (Edit(*span, f"porter::{name}"),), (_SUPPORT,))


def _is_plain_host_source(unit: Unit) -> bool:
    """Whether the host's compiler alone compiles the file, where `min` never was CUDA's."""
    return unit.source.path.lower().endswith((".c", ".cc", ".cpp", ".cxx")) and not unit.device_spans


def _is_call(unit: Unit, index: int) -> bool:
    """A call of two arguments outside macros: what those are given is not known."""
    if not unit.is_free(index) or not unit.next_is(index, "(") or unit.tokens.directive_of(index) is not None:
        return False
    if unit.declares(index):
        return False
    return len(unit.arguments(index)) == 2


def _is_harmless(unit: Unit, index: int) -> bool:
    """Whether HIP takes the same overload, or one with the same value, or the name is not CUDA's at all."""
    offset = unit.tokens.starts[index]
    semantics = unit.semantics
    if semantics is None:
        return True
    declaration = semantics.declaration_at(offset)
    if declaration is not None and declaration.origin != "cuda":
        return True
    first, second = semantics.call_argument_types(offset) or (None, None)
    if first is None or second is None:
        if _holds_own(unit, index):
            return True
        return not {first, second} & _ARITHMETIC
    if unit.is_for_host(offset):
        return first in _SMALL | {"int"} and second in _SMALL | {"int"}
    return first == second


def _holds_own(unit: Unit, index: int) -> bool:
    """Whether an argument is a call that this rule wrote: then the call around it was judged with it."""
    first = (unit.tokens.texts[unit.tokens.at(span.start)] for span in unit.arguments(index))
    return "porter" in first


def _is_plainly_harmless(unit: Unit, index: int) -> bool:
    """Whether the arguments' own words show that they have one type, whosever the function is: most calls do."""
    tokens, offset = unit.tokens, unit.tokens.starts[index]
    spans = [span for span, _ in unit.device_spans if span.start <= offset < span.end]
    if not spans:
        return False
    begin = tokens.at(max(spans).start)
    stretches = [(tokens.at(span.start), tokens.at(span.end)) for span in unit.arguments(index)]
    first, second = (operand_type(tokens, start, end, begin) for start, end in stretches)
    return first is not None and first == second and (first == "int" or not unit.is_for_host(offset))
