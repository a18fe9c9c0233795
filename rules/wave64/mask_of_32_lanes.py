"""V107: a mask of 32 lanes given to a function that wants 64."""

from __future__ import annotations

from collections.abc import Iterator

from porter.cpp.syntax import Node, number, unwrapped
from porter.engine.rule import Dialect, Edit, Effort, Finding, Rule, Unit, clean, fixes, reports
from porter.warp.wave64.wavefronts import COLLECTIVES, Collective, View, argument, views

_ALL_OF_32 = frozenset({"UINT_MAX", "UINT32_MAX"})
_FULL, _ALL = 0xFFFFFFFF, "0xffffffffffffffffull"


class MaskOf32Lanes(Rule):
    """Mask of 32 lanes given to a function that wants 64

    HIP's `*_sync` functions take masks of 64 bits. A 32-bit one (`0xffffffff`, `-1`, an `unsigned`) does not compile,
    and `0xffffffffull` names the lower half of a wavefront alone: with assertions on the kernel stops, without them
    lanes 32 to 63 take no part. A literal that names all 32 lanes becomes one that names all 64. Where only lanes below
    32 come to the call, it is right as it is.
    """

    code = "V107"
    dialect = Dialect.HIP
    triggers = frozenset(name for name, one in COLLECTIVES.items() if one.mask is not None)
    hazards = ("mask32-literal-static-assert", "mask-0xffffffffull-full-wave", "reduce-sync-mask-logical32")
    examples = (
        fixes(
            "__device__ int next(int v) { return __shfl_down_sync(0xffffffff, v, 1); }",
            "__device__ int next(int v) { return __shfl_down_sync(0xffffffffffffffffull, v, 1); }",
            effort=Effort.REVIEW,
            path="a.hip",
        ),
        fixes(
            "__device__ int any(int v) { return __any_sync(0xffffffffull, v) + __all_sync(-1, v); }",
            "__device__ int any(int v) { return __any_sync(0xffffffffffffffffull, v) + "
            "__all_sync(0xffffffffffffffffull, v); }",
            effort=Effort.REVIEW,
            path="a.hip",
        ),
        reports("__device__ int next(int v, unsigned m) { return __shfl_down_sync(m, v, 1); }", path="a.hip"),
        reports(
            "#define FULL 0xffffffff\n__device__ int next(int v) { return __shfl_down_sync(FULL, v, 1); }", path="a.hip"
        ),
        clean("__device__ int next(int v) { return __shfl_down_sync(0xffffffffffffffffull, v, 1); }", path="a.hip"),
        clean("__device__ int next(int v) { return __shfl_down_sync(~0ull, v, 1); }", path="a.hip"),
        clean("__device__ int next(int v) { return __shfl_down_sync(__activemask(), v, 1); }", path="a.hip"),
        clean("__device__ int next(int v, unsigned long long m) { return __shfl_sync(m, v, 1); }", path="a.hip"),
        clean(
            """
            __global__ void half(int *x) {
              if (threadIdx.x % 64 < 32) x[threadIdx.x] = __shfl_down_sync(0xffffffffull, x[threadIdx.x], 1);
            }
            """,
            path="a.hip",
        ),
        clean(
            """
            #define __shfl_down_sync(mask, v, n) __shfl_down(v, n)
            __device__ int next(int v) { return __shfl_down_sync(0xffffffff, v, 1); }
            """,
            path="a.hip",
        ),
        clean("__device__ int next(int v) { return __shfl_down_sync(0xffffffff, v, 1); }"),
    )

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per call."""
        for view in views(unit):
            for call, one in view.collectives:
                mask = argument(call, one.mask)
                if mask is not None and (why := _too_narrow(view, call, mask)) is not None:
                    yield self._found(unit, view, call, one, mask, why)

    def _found(self, unit: Unit, view: View, call: Node, one: Collective, mask: Node, why: str) -> Finding:
        span = unit.span(mask.first, mask.last)
        message = f"{one.name} takes a mask of 64 lanes: {why} [mask32-literal-static-assert]"
        inner = unwrapped(mask)
        value = _literal(inner)
        if value is None or value & _FULL != _FULL:
            return self.finding(unit, span, message, Effort.MANUAL)
        return self.finding(unit, span, f"{message}; all 64 now", Effort.REVIEW, (Edit(*span, _ALL),))


def _too_narrow(view: View, call: Node, mask: Node) -> str | None:
    """Why a mask does not name 64 lanes."""
    inner = mask if mask.kind == "cast" and mask.text else unwrapped(mask)
    text = " ".join(view.function.tokens.texts[mask.first : mask.last + 1])
    value = _literal(inner)
    if value is not None:
        if value < 0 or not _is_long(inner):
            return f"{text} has 32 bits"
        return f"{text} names 32 of them" if value == _FULL and not view.guarded_below_32(call) else None
    if inner.kind == "cast":
        return f"{text} has 32 bits" if view.cast_bits(inner) == 32 else None
    if inner.kind == "ternary":
        found = (_too_narrow(view, call, kid) for kid in inner.kids[1:])
        return next((why for why in found if why is not None), None)
    if inner.kind == "call" and len(inner.arguments) == 1:
        return f"{text} has 32 bits" if view.bits([inner.callee.rpartition("::")[2]]) == 32 else None
    if view.size(inner) == _FULL and not view.guarded_below_32(call):
        return f"{text} names 32 of them"
    if inner.kind != "name":
        return None
    if inner.text in _ALL_OF_32:
        return f"{text} has 32 bits"
    values = view.values.get(inner.text, ())
    if len(values) == 1 and _literal(values[0]) == _FULL and not view.guarded_below_32(call):
        return f"{text} names 32 of them"
    if view.types.get(inner.text) == 32:
        return f"{text} has 32 bits"
    macros = view.bodies.constants.macros.get(inner.text, ())
    if inner.text not in view.types and macros and all(m.parameters is None for m in macros):
        texts = [view.bodies.tokens.texts[m.first : m.last] for m in macros]
        if all(len(one) == 1 and number(one[0]) == _FULL for one in texts):
            return f"{text} is {texts[0][0]}"
    return None


def _literal(node: Node) -> int | None:
    """`0xffffffff`, `-1`, `~0u`; negative where it stands for all bits."""
    inner = unwrapped(node) if not node.text or node.kind != "cast" else node
    if inner.kind == "number":
        return number(inner.text)
    if inner.kind == "unary" and inner.text in ("-", "~") and inner.kids[0].kind == "number":
        value = number(inner.kids[0].text)
        wanted = 1 if inner.text == "-" else 0
        if value == wanted:
            return 0xFFFFFFFFFFFFFFFF if _is_long(inner) else -1
    return None


def _is_long(node: Node) -> bool:
    while node.kids:
        node = node.kids[0]
    value = number(node.text) or 0
    return "l" in node.text.lower() or value > _FULL
