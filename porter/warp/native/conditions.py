"""Conditions of a kernel that is to be widened: the guards that they put around what follows."""

from __future__ import annotations

from porter.cpp.constants import WARP
from porter.cpp.nodes import Node, spelled, unwrapped
from porter.warp.native.expressions import Expressions, is_distance
from porter.warp.native.kinds import PER_THREAD, THREADS, Kind, Undecided
from porter.warp.native.state import Scope

K = Kind
LANES = "porter::wide::lanes()"
LAST = f"({LANES} - 1)"
_COMPARISONS = frozenset({"==", "!=", "<", "<=", ">", ">="})
_MIRROR = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "==": "==", "!=": "!="}


class Conditions:
    """The part of the walk that knows what conditions say of lanes, warps and threads."""

    def __init__(self, expressions: Expressions) -> None:
        self.expressions = expressions
        self.plan = expressions.plan
        self.constants = expressions.constants

    def value(self, node: Node, scope: Scope) -> Kind:
        """The meaning of an expression."""
        return self.expressions.value(node, scope)

    def condition(self, node: Node, scope: Scope) -> tuple[str, ...]:
        """The guards that a condition puts around what follows."""
        node = unwrapped(node)
        if node.kind == "binary" and node.text in ("&&", "and"):
            left = self.condition(node.kids[0], scope)
            return (*left, *self.condition(node.kids[1], scope.copy(*left)))
        if node.kind == "binary" and node.text in ("||", "or"):
            found = {guard for kid in node.kids for guard in self.condition(kid, scope)} - {"one"}
            if found <= {"uniform", "item", "thread", "agg", "mask", "tree"}:
                return tuple(sorted(found))
            raise Undecided(node, "an alternative by lane or warp")
        if node.kind == "unary" and node.text in ("!", "not"):
            kind = self.value(node.kids[0], scope)
            if kind is K.LANE:
                return ("lane0",)
            if kind is K.WARP:
                return ("warp0",)
            if kind is K.BTHREAD:
                return ("tid0",)
            return (self._by_kind(kind, node),)
        if node.kind == "binary" and node.text in _COMPARISONS:
            return self._compared(node, scope)
        kind = self.value(node, scope)
        if kind is K.WARP:
            return ("later",)
        if kind is K.LANE:
            return ("scan",)
        return (self._by_kind(kind, node),)

    def is_one_warp(self, node: Node) -> bool:
        """`blockDim.x <= 32`: where it holds, what a warp gathered is the block's."""
        node = unwrapped(node)
        if node.kind != "binary" or not self.plan.shape.part or spelled(unwrapped(node.kids[0])) != "blockDim.x":
            return False
        bound = self.constants.value(node.kids[1])
        return (node.text, bound) in (("<=", WARP), ("==", WARP), ("<", WARP + 1))

    def _by_kind(self, kind: Kind, node: Node) -> str:
        if kind in (K.UNIFORM, K.WIDTH, K.BLOCKWIDE, K.WARPS):
            return "uniform"
        if kind is K.ITEM:
            return "item"
        if kind is K.AGG:
            return "agg"
        if kind in (K.MASK, K.LEADER):
            return "mask"
        if kind in PER_THREAD or kind is K.STEP:
            return "thread"
        if kind in (K.PARTIAL, K.SCAN, K.PREFIX):
            return "tree"
        raise Undecided(node, f"a condition on {kind.value}")

    def _compared(self, node: Node, scope: Scope) -> tuple[str, ...]:
        left, right = node.kids
        operator = node.text
        if self._numbers_lanes(right, scope) and not self._numbers_lanes(left, scope):
            left, right, operator = right, left, _MIRROR[operator]
        special = self._lane_compared(node, left, right, operator, scope)
        if special is not None:
            return special
        one, two = self.value(left, scope), self.value(right, scope)
        if K.LANE in (one, two) or K.WARP in (one, two):
            raise Undecided(node, "a comparison by lane or warp")
        if one is K.RANK and node.text == "==" and self.constants.value(right) == 0:
            if "thread" not in scope.guards and not scope.exited:
                raise Undecided(node, "a rank of 0, which lanes have that were not chosen, too")
            return ("leader",)
        if one in (K.MASK, K.BIT) or two in (K.MASK, K.BIT):
            return self._mask_compared(node, one, two)
        if {one, two} & {K.STEP} and {one, two} <= {K.STEP, K.UNIFORM, K.ITEM}:
            return ("thread",)
        return (self._by_kind(self.expressions.mixed(one, two, node), node),)

    def _mask_compared(self, node: Node, one: Kind, two: Kind) -> tuple[str, ...]:
        if K.UNIFORM not in (one, two):
            raise Undecided(node, "masks compared with each other")
        constant = next((self.constants.value(kid) for kid in node.kids if self.constants.value(kid) is not None), None)
        if constant != 0:
            raise Undecided(node, "a mask compared with a number")
        return ("mask",)

    def _numbers_lanes(self, node: Node, scope: Scope) -> bool:
        if self.constants.value(node) is not None:
            return False
        if self._lane_plus_distance(node, scope):
            return True
        try:
            return self.value(node, scope) in (K.LANE, K.WARP, *THREADS)
        except Undecided:
            return False

    def _lane_compared(
        self, node: Node, left: Node, right: Node, operator: str, scope: Scope
    ) -> tuple[str, ...] | None:
        """Conditions on lanes, warps and threads that keep their meaning on 64 lanes."""
        constant = self.constants.value(right)
        if self._lane_plus_distance(left, scope) and operator in ("<", "<="):
            self._lanes_bound(right, node, WARP if operator == "<" else WARP - 1)
            return ("scan",)
        if not self._numbers_lanes(left, scope):
            return None
        kind = self.value(left, scope)
        if kind is K.LANE:
            return self._by_lane(node, right, operator, constant, scope)
        if kind is K.WARP:
            return self._by_warp(node, right, operator, constant, scope)
        return self._by_thread(node, kind, right, operator, constant, scope)

    def _lane_plus_distance(self, node: Node, scope: Scope) -> bool:
        node = unwrapped(node)
        if node.kind != "binary" or node.text != "+":
            return False
        for one, two in (node.kids, tuple(reversed(node.kids))):
            if is_distance(self.plan, two, scope):
                return self._numbers_lanes(one, scope) and self.value(one, scope) is K.LANE
        return False

    def _bound(self, right: Node, node: Node, wanted: int) -> None:
        right = unwrapped(right)
        if self.constants.value(right) != wanted:
            raise Undecided(node, "a bound on lanes")
        if right.kind == "number":
            self.plan.replace(right, str(2 * wanted if wanted == WARP else 63))
        elif not any(self.expressions.is_width(below) for below in right.walk()):
            raise Undecided(node, "a bound on lanes")
        else:
            self.expressions._widen(right, wanted)

    def _lanes_bound(self, right: Node, node: Node, wanted: int) -> None:
        """A bound that must be the last lane that is there."""
        if not self.plan.shape.part:
            self._bound(right, node, wanted)
        elif self.constants.value(right) == wanted and says_last(self.expressions, right):
            self.plan.replace(right, LAST if wanted == WARP - 1 else LANES)
        else:
            raise Undecided(node, "a bound on lanes")

    def _by_lane(self, node: Node, right: Node, operator: str, constant: int | None, scope: Scope) -> tuple[str, ...]:
        if constant == 0:
            if operator in ("==", "<="):
                return ("lane0",)
            return ("scan",)
        if constant == 1 and operator in ("<", ">="):
            return ("lane0",) if operator == "<" else ("scan",)
        if constant == WARP - 1 and operator == "==":
            self._lanes_bound(right, node, WARP - 1)
            return ("last",)
        if constant == WARP and operator == "<":
            self._bound(right, node, WARP)
            return ("uniform",)
        if is_distance(self.plan, right, scope):
            return ("scan",)
        kind = self.value(right, scope)
        if kind is K.LEADER and operator == "==":
            return ("leader",)
        if kind in (K.WARPS, K.FLOAT_WARPS) and operator == "<":
            return ("stage2",)
        if self._halved_warps(right, constant) and operator == "<":
            return ("stage2",)
        raise Undecided(node, "a lane compared with something else")

    def _by_warp(self, node: Node, right: Node, operator: str, constant: int | None, scope: Scope) -> tuple[str, ...]:
        if constant == 0:
            return ("warp0",) if operator in ("==", "<=") else ("later",)
        if constant == 1 and operator in ("<", ">="):
            return ("warp0",) if operator == "<" else ("later",)
        if self.plan.shape.form == "row" and self.value(right, scope) is K.UNIFORM:
            return ("item",)
        raise Undecided(node, "warps with different work")

    def _by_thread(
        self, node: Node, kind: Kind, right: Node, operator: str, constant: int | None, scope: Scope
    ) -> tuple[str, ...]:
        if kind is K.BTHREAD:
            if constant == 0 and operator == "==":
                return ("tid0",)
            if constant == WARP and operator in ("<", ">="):
                self._bound(right, node, WARP)
                return ("warp0",) if operator == "<" else ("later",)
            if self._halved_warps(right, constant) and operator == "<":
                return ("stage2t",)
            if constant is not None and constant % (2 * WARP) and constant < 2 * WARP:
                raise Undecided(node, f"{constant} threads, part of a wavefront")
        other = self.value(right, scope)
        if other in (K.WARPS, K.FLOAT_WARPS) and operator == "<" and kind is K.BTHREAD:
            return ("stage2t",)
        if kind is K.BTHREAD and operator == "==" and other is K.UNIFORM:
            return ("thread", "one")
        if other in (K.UNIFORM, K.ITEM, K.DATA):
            return ("thread",)
        raise Undecided(node, f"a thread compared with {other.value}")

    def _halved_warps(self, right: Node, constant: int | None) -> bool:
        """Whether a constant is the number of warps of a block of known size: there are half as many now."""
        threads = self.plan.shape.threads
        if constant is None or threads is None or self.plan.shape.form != "line" or constant * WARP != threads:
            return False
        if constant % 2:
            return False
        right = unwrapped(right)
        if right.kind == "number":
            self.plan.replace(right, str(constant // 2))
        elif right.kind == "name":
            self.plan.replace(right, f"({right.text} / 2)")
        else:
            return False
        return True


def says_last(expressions: Expressions, node: Node) -> bool:
    """`31`, `WARP_SIZE - 1`"""
    node = unwrapped(node)
    return node.kind == "number" or any(expressions.is_width(below) for below in node.walk())
