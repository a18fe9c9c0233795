"""H007: a bfloat16 made from an integer of 64 bits."""

from __future__ import annotations

from collections.abc import Iterator

from porter.cpp.syntax import IDENTIFIER
from porter.engine.rule import Edit, Effort, Finding, Rule, Unit, clean, fixes

_TYPES = frozenset({"nv_bfloat16", "__nv_bfloat16"})
_LONG = frozenset({"long", "unsigned long", "long long", "unsigned long long"})


class Bfloat16FromLong(Rule):
    """Bfloat16 made from an integer of 64 bits

    CUDA's `__nv_bfloat16` has constructors for `long`, `long long` and their unsigned kin. HIP's has those for `int`,
    `float` and `double`, so that `__nv_bfloat16(n)` with a `size_t` is ambiguous and does not compile. The value goes
    through `double`, as HIP's own constructor for `int` does it. Beyond 2^53 it is rounded twice then, which may give
    the neighbouring bfloat16. Variables whose type clang knows are meant; templates and longer expressions are left.
    """

    code = "H007"
    triggers = _TYPES
    settles = True
    examples = (
        fixes(
            "__device__ __nv_bfloat16 f(unsigned long n) { return __nv_bfloat16(n); }",
            "__device__ __nv_bfloat16 f(unsigned long n) { return __nv_bfloat16((double)n); }",
            effort=Effort.REVIEW,
        ),
        fixes(
            "typedef unsigned long long count_t;\n"
            "__device__ void f(nv_bfloat16 *o, count_t n, long k) { o[0] = nv_bfloat16(n); nv_bfloat16 b(k); }",
            "typedef unsigned long long count_t;\n"
            "__device__ void f(nv_bfloat16 *o, count_t n, long k) { o[0] = nv_bfloat16((double)n); nv_bfloat16 b(k); }",
            effort=Effort.REVIEW,
        ),
        clean("__device__ __nv_bfloat16 f(int n) { return __nv_bfloat16(n); }"),
        clean("__device__ __nv_bfloat16 f(double n, float x) { return x > 0 ? __nv_bfloat16(n) : __nv_bfloat16(x); }"),
        clean("__device__ __nv_bfloat16 f(long n) { return __float2bfloat16((float)n); }"),
        clean("__device__ __nv_bfloat16 f(long n) { return __nv_bfloat16((float)n); }"),
        clean("__device__ void f(long n); struct A { A(__nv_bfloat16 (n)); };"),
        clean("template <class T> __device__ __nv_bfloat16 f(T n) { return __nv_bfloat16(n); }"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per conversion of a variable."""
        tokens = unit.tokens
        for name in sorted(_TYPES & tokens.names.keys()):
            for index in unit.occurrences(name):
                if tokens.texts[index + 1] != "(" or tokens.texts[index + 3 : index + 4] != [")"]:
                    continue
                operand = unit.span(index + 2)
                if tokens.kinds[index + 2] == IDENTIFIER and _type(unit, operand.start) in _LONG:
                    edit = Edit(operand.start, operand.start, "(double)")
                    message = "HIP's bfloat16 has no constructor for integers of 64 bits: the value goes through double"
                    yield self.finding(unit, unit.span(index, index + 3), message, Effort.REVIEW, (edit,))


def _type(unit: Unit, offset: int) -> str | None:
    """The type of a variable, as clang knows it."""
    known = unit.semantics.type_at(offset) if unit.semantics is not None else None
    return known.removeprefix("const ").strip() if known else None
