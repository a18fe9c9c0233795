"""Conditions that let one thread of the block by, or one lane of each warp."""

from __future__ import annotations

from functools import cached_property

from porter.cpp.nodes import Node, calls, unwrapped
from porter.warp.bodies import Bodies
from porter.warp.flow.spread import Spread, Value
from porter.warp.flow.unit_walks import flow_of
from porter.warp.flow.walk import Flow
from porter.warp.function import Function

GUARD = Node("guard", 0, 0)
"""Stands for a condition around all calls of a function."""
_JOINING = {"&&": "&&", "and": "&&", "||": "||", "or": "||"}
_OPPOSITE = {"==": "!=", "!=": "==", "<": ">=", ">=": "<", ">": "<=", "<=": ">"}
_MIRROR = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "==": "==", "!=": "!="}
_MOST_NAMES = 4
"""Variables followed to what they were set to."""


def opposite(condition: Node) -> Node:
    """What holds where a condition does not."""
    return Node("unary", condition.first, condition.last, "!", (condition,))


class Alone:
    """What the conditions of one function say of who comes by."""

    def __init__(self, bodies: Bodies, function: Function) -> None:
        self._bodies = bodies
        self._function = function

    @cached_property
    def flow(self) -> Flow:
        """The walk over the function; made when a loop looks as if it waited."""
        return flow_of(self._bodies, self._function)

    @cached_property
    def _choices(self) -> dict[str, Node]:
        """Variables that are set once, where they are declared."""
        found: dict[str, Node] = {}
        for declaration in self._function.declarations:
            found.update((kid.text, kid.initial) for kid in declaration.kids if kid.initial is not None)
        for node in self._function.body.walk() if found else ():
            if node.kind == "assign":
                found.pop(unwrapped(node.kids[0]).text, None)
        return found

    def one_thread(self, condition: Node) -> bool:
        """`threadIdx.x == 0`, `!tid`, `block.thread_rank() == 0`."""
        return self._single(condition, "thread")

    def one_lane(self, condition: Node) -> bool:
        """`lane == 0` as well."""
        return self._single(condition, "lane") or self._single(condition, "thread")

    def _single(self, condition: Node, role: str, holds: bool = True, depth: int = 0) -> bool:
        condition = unwrapped(condition)
        if condition is GUARD or depth > _MOST_NAMES:
            return condition is GUARD and holds
        if condition.kind == "unary" and condition.text in ("!", "not"):
            return self._single(condition.kids[0], role, not holds, depth)
        if condition.kind == "call" and condition.callee == "__builtin_expect" and condition.arguments:
            return self._single(condition.arguments[0], role, holds, depth)
        if condition.kind == "declaration":
            initial = condition.kids[-1].initial if condition.kids else None
            return initial is not None and self._single(initial, role, holds, depth)
        joined = _JOINING.get(condition.text) if condition.kind == "binary" else None
        if joined is not None:
            some = any if (joined == "&&") is holds else all
            return some(self._single(kid, role, holds, depth) for kid in condition.kids)
        if condition.kind == "binary" and condition.text in _OPPOSITE:
            return self._compared(condition, role, condition.text if holds else _OPPOSITE[condition.text])
        chosen = self._choices.get(condition.text) if condition.kind == "name" else None
        if chosen is not None and self._single(chosen, role, holds, depth + 1):
            return True
        return not holds and self._value(condition).role == role

    def _compared(self, condition: Node, role: str, operator: str) -> bool:
        """`tid == 0`, `tid < 1`, or what is not `tid != 0`, `tid > 0`."""
        left, right = condition.kids
        one, two = self._value(left), self._value(right)
        if one.spread is not Spread.LANE and not _is_rank(left):
            left, right, one, two, operator = right, left, two, one, _MIRROR[operator]
        ranked = role == "thread" and _is_rank(left)
        if two.spread is not Spread.BLOCK or (one.role != role and not ranked):
            return False
        bound = self._bodies.constants.value(right)
        return operator == "==" or (operator == "<" and bound == 1) or (operator == "<=" and bound == 0)

    def _value(self, node: Node) -> Value:
        return self.flow.evaluate(node, self.flow.final)


def _is_rank(node: Node) -> bool:
    """`block.thread_rank()`, `cg::this_thread_block().thread_rank()`."""
    return any("rank" in (call.kids[0].text or call.callee) for call in calls(node))
