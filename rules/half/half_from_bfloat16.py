"""H003: a half made from a bfloat16 by a template."""

from __future__ import annotations

from collections.abc import Iterator

from porter.cpp.syntax import closing, template_end
from porter.engine.rule import Effort, Finding, Rule, Unit, clean, reports
from porter.warp.bodies import Function, bodies_of

_HALF = frozenset({"half", "__half"})
_BFLOAT16 = frozenset({"nv_bfloat16", "__nv_bfloat16"})
_LONGEST_LIST = 40


class HalfFromBfloat16(Rule):
    """Half made from a bfloat16 in a template

    CUDA's `__half` has a constructor for `__nv_bfloat16`. In HIP a `__hip_bfloat16` converts to `float` and to other
    types, all of which a half can be made from, so `static_cast<T>(x)` is ambiguous when a template is used with both.
    Convert through `float` there, as CUDA's constructor does.
    """

    code = "H003"
    only_reports = True
    triggers = _BFLOAT16
    examples = (
        reports(
            """
            template <typename To, typename From> __global__ void convert(To *out, const From *in) {
              out[0] = static_cast<To>(in[0]);
            }
            void f(half *h, __nv_bfloat16 *b) { convert<half, __nv_bfloat16><<<1, 1>>>(h, b); }
            """
        ),
        reports(
            """
            template <class A, class B> __device__ A as(B x) { return A(x); }
            __global__ void k(half *h, nv_bfloat16 *b) { h[0] = as<half, nv_bfloat16>(b[0]); }
            """
        ),
        clean(
            """
            template <typename T, typename U> __global__ void k(T *out, U *in) { out[0] = static_cast<T>(in[0]); }
            void f(half *h, __nv_bfloat16 *b) { k<half, float><<<1, 1>>>(h, 0); k<int, __nv_bfloat16><<<1, 1>>>(0, b); }
            """
        ),
        clean(
            """
            template <typename T> __device__ T twice(T x) { return T(2) * x; }
            using Both = pair<half, __nv_bfloat16>;
            """
        ),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per conversion in a template of two types, where some template is given both."""
        if _HALF.isdisjoint(unit.identifiers) or not _meet(unit):
            return
        for function in bodies_of(unit).functions:
            if len(function.type_parameters) > 1:
                yield from self._conversions(unit, function)

    def _conversions(self, unit: Unit, function: Function) -> Iterator[Finding]:
        tokens = unit.tokens
        for name in sorted(function.type_parameters & tokens.names.keys()):
            for index in tokens.names[name]:
                if (function.head.body or 0) < index < function.head.end and _converts(unit, index):
                    message = f"{name} may be a half made from a bfloat16, which is ambiguous in HIP"
                    yield self.finding(unit, unit.span(index), message, Effort.MANUAL)


def _meet(unit: Unit) -> bool:
    """Whether some list of template arguments has a half and a bfloat16."""
    texts = unit.tokens.texts
    for name in _BFLOAT16 & unit.tokens.names.keys():
        for index in unit.tokens.names[name]:
            opening = next((i for i in range(index, max(-1, index - _LONGEST_LIST), -1) if texts[i] in "<;{}"), index)
            after = template_end(unit.tokens, opening, len(unit.tokens)) if texts[opening] == "<" else None
            if after is not None and after > index and not _HALF.isdisjoint(texts[opening:after]):
                return True
    return False


def _converts(unit: Unit, index: int) -> bool:
    """`static_cast<T>(x)`, `T(x)` or `(T)x`, where the operand is more than a number."""
    texts, kinds = unit.tokens.texts, unit.tokens.kinds
    before, after = texts[index - 1], texts[index + 1]
    if after == ">" and before == "<":
        return texts[index - 2] == "static_cast"
    if after == "(" and before not in (".", "->", "::"):
        closed = closing(unit.tokens, index + 1, len(unit.tokens))
        return closed is not None and "i" in kinds[index + 2 : closed]
    return before == "(" and after == ")" and kinds[index + 2 : index + 3] == "i"
