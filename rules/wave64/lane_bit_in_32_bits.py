"""V103: a lane's bit made in 32 bits."""

from __future__ import annotations

from collections.abc import Iterator

from porter.cpp.syntax import EMPTY, Node, number, unwrapped
from porter.engine.rule import Dialect, Edit, Effort, Finding, Rule, Unit, clean, fixes, reports
from porter.warp.wave64.wavefronts import TRACE, View, is_width_free, views

_ALL_32 = 0xFFFFFFFF


class LaneBitIn32Bits(Rule):
    """Bit of one of 64 lanes made in 32 bits

    `1 << lane` is an `int`: for lanes 32 to 63 the shift is undefined in C++, and on AMD's hardware it wraps, so that
    lane 32 has the bit of lane 0. Where the lane is one of 64 (`threadIdx.x % 64`, `__lane_id()`, `& (warpSize - 1)`)
    or the result meets a mask of 64 lanes, the literal becomes a 64-bit one; where the result is kept in 32 bits, it is
    reported.
    """

    code = "V103"
    dialect = Dialect.HIP
    text = TRACE
    hazards = ("mask-shift-one-int", "lanemask-lt-ballot")
    examples = (
        fixes(
            """
            __device__ int rank(int p) {
              int lane = threadIdx.x % 64;
              return __popcll(__ballot(p) & ((1 << lane) - 1));
            }
            """,
            """
            __device__ int rank(int p) {
              int lane = threadIdx.x % 64;
              return __popcll(__ballot(p) & ((1ull << lane) - 1));
            }
            """,
            effort=Effort.REVIEW,
            path="a.hip",
        ),
        fixes(
            "__device__ bool mine(int p, int lane) { return __ballot(p) & (1u << lane); }",
            "__device__ bool mine(int p, int lane) { return __ballot(p) & (1ull << lane); }",
            effort=Effort.REVIEW,
            path="a.hip",
        ),
        fixes(
            "__device__ unsigned long long above(int p) { return __ballot(p) & (~0u << __lane_id()); }",
            "__device__ unsigned long long above(int p) { return __ballot(p) & (~0ull << __lane_id()); }",
            effort=Effort.REVIEW,
            path="a.hip",
        ),
        reports("__device__ void f(unsigned *m) { *m = 1u << (threadIdx.x & 63); }", path="a.hip"),
        clean("__device__ unsigned long long bit() { return 1ull << (threadIdx.x & 63); }", path="a.hip"),
        clean("__device__ unsigned bit() { return 1u << (threadIdx.x & 31); }", path="a.hip"),
        clean("__device__ unsigned flag(int i) { return 1u << i; }", path="a.hip"),
        clean(
            """
            __device__ unsigned bit() {
              unsigned lane = threadIdx.x % 64;
              return lane < 32 ? 1u << lane : 1u << (lane - 32);
            }
            """,
            path="a.hip",
        ),
    )

    def applies(self, unit: Unit) -> bool:
        """A quick look at the text."""
        return "<<" in unit.tokens.texts or ">>" in unit.tokens.texts

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per shift."""
        for view in views(unit):
            for node in view.nodes:
                if view.guarded_below_32(node):
                    continue
                if node.kind == "binary" and node.text == "<<" and _by_lane(view, node):
                    literal = _narrow_literal(node.kids[0])
                    if literal is not None:
                        yield self._found(unit, view, node, literal)
                    elif _is_narrow(view, node.kids[0]):
                        yield self._reported(unit, view, node, node.kids[0])
                elif _shifts_narrow(view, node):
                    yield self._reported(unit, view, node, node.kids[0])

    def _reported(self, unit: Unit, view: View, node: Node, value: Node) -> Finding:
        text = " ".join(view.function.tokens.texts[value.first : value.last + 1])
        message = f"{text} has 32 bits, and the lane goes up to 63 [mask-shift-one-int]"
        return self.finding(unit, unit.span(node.first, node.last), message, Effort.MANUAL)

    def _found(self, unit: Unit, view: View, node: Node, literal: Node) -> Finding:
        text = unit.tokens.texts[literal.first]
        message = f"{text} has 32 bits, and the lane goes up to 63 [mask-shift-one-int]"
        span = unit.span(node.first, node.last)
        if not _may_widen(view, node):
            return self.finding(unit, span, message, Effort.MANUAL)
        wide = "0xffffffffffffffffull" if number(text) == _ALL_32 else text.rstrip("uUlL") + "ull"
        edit = Edit(*unit.span(literal.first), wide)
        return self.finding(unit, span, f"{message}; it is {wide} now", Effort.REVIEW, (edit,))


def _narrow_literal(node: Node) -> Node | None:
    """`1`, `1u`, `0xffffffff` or `~0u`."""
    inner = unwrapped(node)
    if node.kind == "cast" and node.text:
        return None
    if inner.kind == "unary" and inner.text in ("~", "-"):
        inner = unwrapped(inner.kids[0])
    if inner.kind != "number" or "l" in inner.text.lower():
        return None
    value = number(inner.text)
    return inner if value is not None and value <= _ALL_32 else None


def _is_narrow(view: View, node: Node) -> bool:
    """A literal in a cast to 32 bits, or a variable of 32 bits that holds one."""
    if node.kind == "cast" and node.text:
        return view.cast_bits(node) == 32 and _narrow_literal(unwrapped(node)) is not None
    inner = unwrapped(node)
    if inner.kind == "call" and len(inner.arguments) == 1:
        return view.bits([inner.callee.rpartition("::")[2]]) == 32 and _narrow_literal(inner.arguments[0]) is not None
    values = view.values.get(inner.text, ()) if inner.kind == "name" and view.types.get(inner.text) == 32 else ()
    return bool(values) and all(_narrow_literal(value) is not None for value in values)


def _shifts_narrow(view: View, node: Node) -> bool:
    """`~0u >> (63 - lane)`, `m <<= lane` of 32 bits, and `BIT(lane)` where that is a macro with `1u << (lane)`."""
    if node.kind == "assign" and node.text == "<<=":
        target = unwrapped(node.kids[0])
        return target.kind == "name" and view.types.get(target.text) == 32 and _is_lane(view, node.kids[1])
    if node.kind == "binary" and node.text == ">>" and _is_lane(view, node.kids[1]):
        literal = _narrow_literal(node.kids[0])
        inner = unwrapped(node.kids[0])
        return literal is not None and (inner.kind == "unary" or number(literal.text) == _ALL_32)
    if node.kind != "call":
        return False
    for macro, body in view.bodies.macros.bodies.get(node.callee, ()):
        passed = dict(zip(macro.parameters or (), node.arguments, strict=False))
        for shift in body.walk():
            if shift.kind == "binary" and shift.text == "<<" and _narrow_literal(shift.kids[0]) is not None:
                count = unwrapped(shift.kids[1])
                if count.kind == "name" and count.text in passed and _is_lane(view, passed[count.text]):
                    return True
    return False


def _is_lane(view: View, node: Node) -> bool:
    """A lane of 64, or its distance from a number."""
    inner = unwrapped(node)
    if inner.kind == "binary" and inner.text in ("+", "-"):
        kids = [unwrapped(kid) for kid in inner.kids]
        by = next((view.size(kid) for kid in kids if kid.kind == "number"), 32)
        return by != 32 and any(view.lane(kid) == 64 for kid in kids)  # `lane - 32` is that of the upper half
    return view.lane(node) == 64


def _by_lane(view: View, node: Node) -> bool:
    """Whether a shift is by a lane of 64, or by a lane, with a mask of 64 lanes at the other side."""
    if _is_lane(view, node.kids[1]):
        return True
    return view.looks_like_lane(node.kids[1]) and _meets_mask(view, node)


def _meets_mask(view: View, node: Node) -> bool:
    """Whether an expression is combined with a mask of 64 lanes."""
    above = view.around(node)
    while above.kind == "binary" and above.text in ("-", "+", "|", "&", "^"):
        if above.text in ("&", "|", "^") and any(view.is_mask(kid) for kid in above.kids):
            return True
        above = view.around(above)
    if above.kind == "assign" and above.text in ("&=", "|=", "^="):
        return view.is_mask(above.kids[0])
    return above.kind == "unary" and above.text == "~" and _meets_mask(view, above)


def _may_widen(view: View, node: Node) -> bool:
    """Whether what comes of the shift goes where 64 bits have room, or nowhere."""
    if _meets_mask(view, node):
        return True
    above = view.around(node)
    while above.kind in ("binary", "unary") and above.text in ("-", "+", "|", "&", "^", "~"):
        above = view.around(above)
    if above.kind == "variable":
        return view.types.get(above.text) == 64 or above.text in view.automatic or is_width_free(view, above.text)
    if above.kind == "return":
        return view.returns == 64
    if above is EMPTY or above.kind != "cast":
        return False
    return view.cast_bits(above) == 64
