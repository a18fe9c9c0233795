"""W112: a shift by a lane's distance that comes to 32 in one lane."""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterator

from porter.cpp.syntax import WARP, Node, looks_like_warp_size, unwrapped
from porter.engine.rule import Edit, Effort, Finding, Rule, Unit, clean, fixes, reports
from porter.warp.bodies import Bodies, Function, bodies_of
from porter.warp.flow.divergence import by_name, flow_of

_SIGN = re.compile(r"(?:<<|>>)=?\s*\(?\s*(?:[\w:]+\s*[-+]|\(\s*[\w:]+\s*[-+])")
_FUNCTIONS = {"<<": "porter::shift_left", ">>": "porter::shift_right"}


class ShiftByWarpSize(Rule):
    """Shift that comes to 32 in the first or last lane

    `mask << (32 - lane)` shifts by 32 in lane 0, and `(1u << (lane + 1)) - 1` in lane 31. C++ leaves that open;
    NVIDIA's hardware gives 0, AMD's takes the count modulo 32 and gives the value back: the first lane sees the bits of
    all lanes instead of none, and no leader is found or two are. The shift becomes `porter::shift_left` or
    `porter::shift_right`, which give what PTX gives, for every type. Rotations (`x << n | x >> (32 - n)`) do not depend
    on it.
    """

    code = "W112"
    text = _SIGN.pattern
    hazards = ("mask-shift-one-int",)
    examples = (
        fixes(
            """
            __global__ void ranks(int *x) {
              int lane = threadIdx.x & 31;
              unsigned mask = __ballot_sync(0xffffffff, x[threadIdx.x] > 0);
              x[threadIdx.x] = __popc(mask << (32 - lane));
            }
            """,
            """
            __global__ void ranks(int *x) {
              int lane = threadIdx.x & 31;
              unsigned mask = __ballot_sync(0xffffffff, x[threadIdx.x] > 0);
              x[threadIdx.x] = __popc(porter::shift_left(mask, 32 - lane));
            }
            """,
        ),
        fixes(
            "__device__ unsigned up_to(int lane) { return (1u << (lane + 1)) - 1; }",
            "__device__ unsigned up_to(int lane) { return (porter::shift_left(1u, lane + 1)) - 1; }",
        ),
        fixes(
            "__device__ void below(unsigned &m, int lane) { m >>= warpSize - lane; }",
            "__device__ void below(unsigned &m, int lane) { m = porter::shift_right(m, warpSize - lane); }",
        ),
        fixes(
            "MY_DEVICE unsigned up_to(int lane) { return (1u << (lane + 1)) - 1; }",
            "MY_DEVICE unsigned up_to(int lane) { return (porter::shift_left(1u, lane + 1)) - 1; }",
        ),
        reports(
            "__device__ void below(unsigned *m, int lane) { m[lane] >>= 32 - lane; }",
            effort=Effort.REVIEW,
        ),
        clean(
            "__device__ unsigned below(unsigned m, int lane) { return m << (31 - lane) << 1 | m >> (32 - lane - 1); }"
        ),
        clean("__device__ unsigned rotated(unsigned x, int n) { return x << n | x >> (32 - n); }"),
        clean("__device__ unsigned rotated(unsigned x, int lane) { return (x << lane) | (x >> (32 - lane)); }"),
        clean("__device__ unsigned long long wide(int lane) { return (1ull << (lane + 1)) - 1; }"),
        clean("__device__ unsigned one(int lane) { return (1u << lane) - 1; }"),
    )

    def applies(self, unit: Unit) -> bool:
        """A quick look at the text."""
        return _SIGN.search(unit.source.text) is not None

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per shift."""
        bodies = bodies_of(unit)
        places = sorted({unit.tokens.at(match.start()) for match in _SIGN.finditer(unit.source.text)})
        for function in bodies.functions:
            head = function.head
            inside = set(places[bisect.bisect_right(places, head.body or 0) : bisect.bisect_left(places, head.end)])
            if inside:
                for node, around in _shifts(function.body, None):
                    if node.kids[0].last + 1 in inside and _reaches_width(bodies, function, node, around):
                        yield self._finding(unit, node)

    def _finding(self, unit: Unit, node: Node) -> Finding:
        operator = unit.tokens.texts[node.kids[0].last + 1]
        message = (
            f"this shift comes to {WARP} in one lane: NVIDIA gives 0, gfx942 takes the count modulo {WARP} "
            "[mask-shift-one-int]"
        )
        span = unit.span(node.first, node.last)
        edits = _edits(unit, node, operator)
        effort = Effort.NONE if edits else Effort.REVIEW
        return self.finding(unit, span, message, effort, edits, ("porter/bits.hpp",) if edits else ())


def _shifts(node: Node, around: Node | None) -> Iterator[tuple[Node, Node | None]]:
    """All shifts below a node, each with the expression around it, parentheses left out."""
    if node.text in ("<<", ">>", "<<=", ">>=") and node.kind in ("binary", "assign"):
        yield node, around
    inner = around if node.kind == "cast" else node
    for kid in node.kids:
        yield from _shifts(kid, inner)


def _reaches_width(bodies: Bodies, function: Function, node: Node, around: Node | None) -> bool:
    """Whether the count is a distance from a lane that can be 32, and the value has 32 bits as far as can be seen."""
    if _is_wide(node.kids[0]) or (around is not None and around.text in ("|", "^") and _is_rotation(around)):
        return False
    count = unwrapped(node.kids[1])
    if count.kind != "binary" or count.text not in ("-", "+"):
        return False
    left, right = count.kids
    if count.text == "-":
        return _is_warp_size(bodies, left) and _is_lane(bodies, function, right)
    one, other = (left, right) if bodies.constants.value(right) is not None else (right, left)
    return (bodies.constants.value(other) or 0) > 0 and _is_lane(bodies, function, one)


def _is_warp_size(bodies: Bodies, node: Node) -> bool:
    node, value = unwrapped(node), bodies.constants.value(node)
    return value == WARP or (value is None and node.kind == "name" and looks_like_warp_size(node.text))


def _is_lane(bodies: Bodies, function: Function, node: Node) -> bool:
    node = unwrapped(node)
    flow = flow_of(bodies, function)
    if flow.evaluate(node, flow.final).role == "lane":
        return True
    name = node.text if node.kind == "name" else node.callee.rpartition("::")[2]
    return by_name(name).role == "lane"


def _is_wide(value: Node) -> bool:
    """A literal of 64 bits, or a cast to them."""
    return any(
        (node.kind == "number" and "ll" in node.text.lower())
        or (node.kind == "cast" and any(word in node.text for word in ("long", "64", "size_t")))
        for node in value.walk()
    )


def _is_rotation(around: Node) -> bool:
    """Two shifts of one value, in opposite directions."""
    sides = [unwrapped(kid) for kid in around.kids]
    shifts = [side for side in sides if side.kind == "binary" and side.text in _FUNCTIONS]
    if len(shifts) != len(sides) or {side.text for side in shifts} != set(_FUNCTIONS):
        return False
    first, second = (unwrapped(side.kids[0]) for side in shifts)
    return first.kind == second.kind == "name" and first.text == second.text


def _edits(unit: Unit, node: Node, operator: str) -> tuple[Edit, ...]:
    tokens = unit.tokens
    value, count = node.kids
    if any(tokens.directive_of(place) is not None for place in (node.first, node.last)):
        return ()
    function = _FUNCTIONS[operator.removesuffix("=")]
    start = tokens.starts[node.first]
    sign = value.last + 1
    if tokens.texts[count.first] == "(" and count.kind == "cast" and not count.text:
        opened, closed = tokens.starts[count.first + 1], tokens.end(count.last - 1)
        between = Edit(tokens.end(value.last), opened, ", ")
        last = Edit(closed, tokens.end(count.last), ")")
    else:
        between = Edit(tokens.end(value.last), tokens.starts[count.first], ", ")
        end = tokens.end(node.last)
        last = Edit(end, end, ")")
    if operator in _FUNCTIONS:
        return (Edit(start, start, f"{function}("), between, last)
    target = unwrapped(value)
    if target.kind != "name" or tokens.texts[sign] != operator:
        return ()
    return (Edit(start, start, f"{target.text} = {function}("), between, last)
