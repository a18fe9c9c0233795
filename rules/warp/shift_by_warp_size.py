"""W112: a shift by a lane's distance that comes to 32 in one lane."""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterator, Sequence

from porter.cpp.syntax import WARP, Node, unwrapped
from porter.engine.rule import Edit, Effort, Finding, Rule, Unit, clean, fixes, reports
from porter.warp.bodies import Bodies, Function, bodies_in_sight, bodies_of
from porter.warp.flow.counted_masks import COLLECTIVES, CountedMask, CountedMasks, Distances

_AT_ONCE = re.compile(r"(?:<<|>>)=?[\s(]*[\w:]+[\s)]*[-+]")
"""A shift by what is calculated there."""
_LANE = re.compile(r"[lL](?<![pP].)ane\w*|LANE\w*|thread(?:_rank|Idx)")
"""No plane. What looks behind comes second: a search tries only where the first letter fits."""
_CALCULATED = re.compile(r"(?:[-+]\s*\(?\s*(?:\w+\s*\)?\s*\(?\s*)?|=\s*)(?:[\w:.]|->)*$")
"""What stands before a lane that something is calculated from, or kept in another variable."""
_FURTHER = re.compile(r"(?:\.x)?[\s()]*(?:\+|[&%]\s*\w+\s*\)?\s*\+)")
_BEFORE_A_LANE = 40
_EXCHANGE = re.compile(r"_sync\s*\(")
_DEVICE = ("__device__", "__global__", "DEVICE", "KERNEL", "GLOBAL", "INLINE")
"""Without one of these no function is for the device; macros for them are named so."""
_SHIFT = re.compile("<<|>>")
_BEGINNINGS = frozenset({"<<", ">>", "<<=", ">>=", ">"})
_SIGNS = ("<<", ">>", "<<=", ">>=")
_STREAMS = frozenset({"cout", "cerr", "clog", "os", "stream", "ss", "oss"})
_FUNCTIONS = {"<<": "porter::shift_left", ">>": "porter::shift_right"}


class ShiftByWarpSize(Rule):
    """Shift that comes to 32 in the first or last lane

    `mask << (32 - lane)` shifts by 32 in lane 0, and `(1u << (lane + 1)) - 1` in lane 31. C++ leaves that open;
    NVIDIA's hardware gives 0, AMD's takes the count modulo 32 and gives the value back: the first lane sees the bits of
    all lanes instead of none, and no leader is found or two are. The shift becomes `porter::shift_left` or
    `porter::shift_right`, which give what PTX gives, for every type. Rotations (`x << n | x >> (32 - n)`) do not depend
    on it. `(1u << n) - 1` names the first n lanes where an exchange has it as its mask: all of them, where n is 32.
    """

    code = "W112"
    text = "|".join(_DEVICE)
    in_sight = f"{_AT_ONCE.pattern}|{_LANE.pattern}|{_EXCHANGE.pattern}"
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
        clean(
            """
            __device__ int sum(int v, int n) {
              unsigned m = n < 32 ? (1u << n) - 1 : 0xffffffff;
              return __reduce_add_sync(m, v);
            }
            """
        ),
        clean("__device__ int any(int p, int n) { return __any_sync((1u << (n & 31)) - 1, p); }"),
        clean("__device__ int low(int v, int n) { return __shfl_sync(~0u, v & ((1u << n) - 1), 0); }"),
        clean("template <int N> __device__ int any(int p) { return __any_sync((1u << N) - 1, p); }"),
        fixes(
            """
            __device__ int sum(int v, int n) {
              int left = min(n, 32);
              unsigned m = (1u << left) - 1;
              return __reduce_add_sync(m, v);
            }
            """,
            """
            __device__ int sum(int v, int n) {
              int left = min(n, 32);
              unsigned m = (porter::shift_left(1u, left)) - 1;
              return __reduce_add_sync(m, v);
            }
            """,
        ),
        clean(
            """
            __device__ unsigned first(int n) { if (n >= 32) return ~0u; return (1u << n) - 1; }
            __device__ int any(int p, int n) { return __any_sync(first(n), p); }
            """
        ),
        clean(
            """
            __device__ unsigned first(int n) { return (1u << n) - 1; }
            __device__ int half(int p) { return __any_sync(first(16), p); }
            __device__ int below(int p, int lane) { return __popc(__ballot_sync(~0u, p) & first(lane)); }
            """
        ),
        clean(
            """
            struct Image { int channels; };
            __device__ unsigned mask_of(const Image &image) { return (1u << image.channels) - 1; }
            """
        ),
        fixes(
            """
            struct Part { unsigned mask; };
            __device__ void set(Part &p, int n) { p.mask = (1u << n) - 1; }
            __device__ int votes(const Part &p, int v) { return __popc(__ballot_sync(~0u, v) & p.mask); }
            """,
            """
            struct Part { unsigned mask; };
            __device__ void set(Part &p, int n) { p.mask = (porter::shift_left(1u, n)) - 1; }
            __device__ int votes(const Part &p, int v) { return __popc(__ballot_sync(~0u, v) & p.mask); }
            """,
        ),
        fixes(
            """
            __device__ int any(int p, int n) {
              unsigned m = 1u << n;
              m -= 1;
              return __any_sync(m, p);
            }
            """,
            """
            __device__ int any(int p, int n) {
              unsigned m = porter::shift_left(1u, n);
              m -= 1;
              return __any_sync(m, p);
            }
            """,
        ),
        clean("__device__ int one(int p, int lane) { unsigned m = 1u << lane; return __any_sync(m, p); }"),
        fixes(
            """
            __device__ unsigned first(int n) { return ~(~0u << n); }
            __device__ int any(int p, int n) { return __any_sync(first(n), p); }
            """,
            """
            __device__ unsigned first(int n) { return ~(porter::shift_left(~0u, n)); }
            __device__ int any(int p, int n) { return __any_sync(first(n), p); }
            """,
        ),
        fixes(
            "__device__ int any(int p, int n) { return __any_sync((1u << n) - 1, p); }",
            "__device__ int any(int p, int n) { return __any_sync((porter::shift_left(1u, n)) - 1, p); }",
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
        text = unit.source.text
        if not any(mark in text for mark in _DEVICE) or not any(mark in text for mark in ("<<", ">>")):
            return False
        if _AT_ONCE.search(text) is not None or self._may_count(unit):
            return True
        return _is_calculated_from(text, 0, len(text))

    def find(self, unit: Unit) -> Iterator[Finding]:
        """One finding per shift."""
        bodies = bodies_of(unit)
        tokens = unit.tokens
        text = unit.source.text
        at_once = {tokens.at(match.start()) for match in _AT_ONCE.finditer(text)}
        found = {tokens.at(match.start()) for match in _SHIFT.finditer(text)}
        places = sorted(place for place in found if _may_reach(tokens.texts, place))
        with_shift = _shifting_macros(bodies)
        in_macros: set[int] = set()
        yield from self._counted(unit)
        for function in bodies.functions:
            head = function.head
            inside = set(places[bisect.bisect_right(places, head.body or 0) : bisect.bisect_left(places, head.end)])
            if not inside <= at_once and not _is_calculated_from(text, *unit.span(head.begin, head.end - 1)):
                inside &= at_once
            if inside:
                distances = Distances(bodies, function)
                for node, around in _shifts(function.body, None):
                    if node.kids[0].last + 1 in inside and _reaches_width(distances, node, around):
                        yield self._finding(unit, node)
            for node in _in_macros(bodies, function, with_shift):
                if node.first not in in_macros:
                    in_macros.add(node.first)
                    yield self._finding(unit, node)

    def _may_count(self, unit: Unit) -> bool:
        tokens = bodies_in_sight(unit).tokens
        return not COLLECTIVES.keys().isdisjoint(tokens.names) and "<<" in tokens.texts

    def _counted(self, unit: Unit) -> Iterator[Finding]:
        """Masks of the first n lanes: the shift where it stands in this file, else where its mask is used here."""
        if not self._may_count(unit):
            return
        bodies = bodies_in_sight(unit)
        seen: set[tuple[int, int]] = set()
        for found in CountedMasks(bodies).find():
            here = found.here
            if bodies.is_own(found.owner):
                place, finding = (found.shift.first, 0), self._finding(unit, found.shift)
            elif here is not None and (function := bodies.function_at(here.first)) is not None:
                place, finding = (found.shift.first, function.head.begin), self._far(unit, found, here)
            else:
                continue
            if place not in seen:
                seen.add(place)
                yield finding

    def _far(self, unit: Unit, found: CountedMask, here: Node) -> Finding:
        message = (
            f"this mask comes from a shift by a count of lanes in {found.owner.name}, of a header: where all are "
            f"counted, NVIDIA gives 0, gfx942 takes the count modulo {WARP}, and the mask is empty: shift there with "
            "`porter::shift_left` of porter/bits.hpp, or ask for all lanes before [mask-shift-one-int]"
        )
        return self.finding(unit, unit.span(here.first, here.last), message, Effort.REVIEW)

    def _finding(self, unit: Unit, node: Node) -> Finding:
        operator = node.text
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
    if node.text in _SIGNS and node.kind in ("binary", "assign"):
        yield node, around
    inner = around if node.kind == "cast" else node
    for kid in node.kids:
        yield from _shifts(kid, inner)


def _in_macros(bodies: Bodies, function: Function, with_shift: frozenset[str]) -> Iterator[Node]:
    """The shifts of macros whose arguments, in this function, bring them to the width."""
    if not with_shift or with_shift.isdisjoint(function.words):
        return
    distances = Distances(bodies, function)
    for call in function.calls:
        for macro, body in bodies.macros.bodies.get(call.callee, ()) if call.callee in with_shift else ():
            passed = {
                name: distances.of(kid) for name, kid in zip(macro.parameters or (), call.arguments, strict=False)
            }
            wide = {name for name, kid in zip(passed, call.arguments, strict=False) if distances.is_wide(kid)}
            inner = Distances(bodies, function, passed)
            for node, around in _shifts(body, None):
                if unwrapped(node.kids[0]).text not in wide and _reaches_width(inner, node, around):
                    yield node


def _shifting_macros(bodies: Bodies) -> frozenset[str]:
    """Function-like macros with a shift by something that is calculated or passed."""
    texts = bodies.tokens.texts
    return frozenset(
        name
        for name, macros in bodies.constants.macros.items()
        for macro in macros
        if macro.parameters and any(_may_reach(texts, i) for i in range(macro.first, macro.last))
    )


def _may_reach(texts: Sequence[str], place: int) -> bool:
    """Whether the count behind a shift is more than a number."""
    if texts[place] not in _BEGINNINGS:
        return False
    first, second = texts[place + 1], texts[place + 2]
    if first in (">", ">="):
        first, second = second, texts[place + 3]
    return not first[:1].isdigit() or second in ("-", "+", "*")


def _is_calculated_from(text: str, start: int, end: int) -> bool:
    """Whether something is added to a lane's number in a stretch of the text, taken from it, or set to it."""
    for match in _LANE.finditer(text, start, end):
        before = text[max(start, match.start() - _BEFORE_A_LANE) : match.start()]
        if _FURTHER.match(text, match.end()) is not None or _CALCULATED.search(before) is not None:
            return True
    return False


def _reaches_width(distances: Distances, node: Node, around: Node | None) -> bool:
    """Whether the count is a distance from a lane that can be 32, and the value has 32 bits as far as can be seen."""
    value = node.kids[0]
    if distances.is_wide(value) or _is_stream(value):
        return False
    if around is not None and around.text in ("|", "^", "+") and _is_rotation(distances.bodies, around):
        return False
    count = distances.of(node.kids[1])
    if count is None or abs(count.slope) != 1:
        return False
    lowest, highest = count.ends
    return lowest < WARP <= highest


def _is_stream(value: Node) -> bool:
    while value.kind == "binary" and value.text == "<<":
        value = value.kids[0]
    return value.kind == "name" and value.text.rpartition("::")[2] in _STREAMS


def _is_rotation(bodies: Bodies, around: Node) -> bool:
    """Two shifts of one value, in opposite directions."""
    sides = [unwrapped(kid) for kid in around.kids]
    shifts = [side for side in sides if side.kind == "binary" and side.text in _FUNCTIONS]
    if len(shifts) != len(sides) or {side.text for side in shifts} != set(_FUNCTIONS):
        return False
    first, second = (unwrapped(side.kids[0]) for side in shifts)
    texts = bodies.tokens.texts
    same = texts[first.first : first.last + 1] == texts[second.first : second.last + 1]
    return first.kind == second.kind and first.kind in ("name", "member", "index") and same


def _edits(unit: Unit, node: Node, operator: str) -> tuple[Edit, ...]:
    tokens = unit.tokens
    value, count = node.kids
    if any(tokens.directive_of(place) is not None for place in (node.first, node.last)):
        return ()
    function = _FUNCTIONS[operator.removesuffix("=")]
    start = tokens.starts[node.first]
    sign, behind = tokens.starts[value.last + 1], tokens.starts[count.first]
    end = tokens.end(node.last)
    if tokens.text[sign:behind].strip() != operator:  # a comment in between stays
        between, last = Edit(tokens.end(value.last), sign + len(operator), ","), Edit(end, end, ")")
    elif tokens.texts[count.first] == "(" and count.kind == "cast" and not count.text:
        between = Edit(tokens.end(value.last), tokens.starts[count.first + 1], ", ")
        last = Edit(tokens.end(count.last - 1), end, ")")
    else:
        between, last = Edit(tokens.end(value.last), behind, ", "), Edit(end, end, ")")
    if operator in _FUNCTIONS:
        return (Edit(start, start, f"{function}("), between, last)
    target = unwrapped(value)
    if target.kind != "name":
        return ()
    return (Edit(start, start, f"{target.text} = {function}("), between, last)
