"""Trees whose result shows how many lanes they have: means, differences, and whatever adds something at each step."""

from __future__ import annotations

import re
from collections.abc import Iterator

from porter.cpp.nodes import Node, names, unwrapped
from porter.warp.bodies import CALLED, Bodies, Function
from porter.warp.flow.returned import result_of
from porter.warp.native.operations import FUNCTIONS, has_shuffle
from porter.warp.native.state import Scope

_CLOSED = frozenset({"+", "*", "|", "&", "^"})
_KEEPS = frozenset({"+=", "*=", "|=", "&=", "^=", "="})
_LEAVES = frozenset({"name", "member", "index"})
_CLASS = re.compile(r"(?:\w+ :: )*(\w+)")


def counts_lanes(bodies: Bodies, body: Node, scope: Scope) -> bool:
    """Whether what a tree leaves in its one variable hangs on the number of its lanes, by the arithmetic of a step.

    What merges several variables, or calls what is not in sight, is no arithmetic that could be judged.
    """
    assigns = [node for node in body.walk() if node.kind == "assign"]
    targets = {unwrapped(node.kids[0]).text for node in assigns}
    if len(targets) != 1 or any(unwrapped(node.kids[0]).kind != "name" for node in assigns):
        return False
    taken = frozenset(_taken(body))
    return any(_counts(bodies, node, taken | targets, scope) for node in assigns)


def _taken(body: Node) -> Iterator[str]:
    """Variables that hold what another lane has."""
    for node in body.walk():
        if node.kind == "variable" and node.initial is not None and has_shuffle(node.initial):
            yield node.text


def _counts(bodies: Bodies, assign: Node, lanes: frozenset[str], scope: Scope) -> bool:
    source = unwrapped(assign.kids[1])
    if assign.text not in _KEEPS:
        return True
    if assign.text != "=":
        return not _is_leaf(source, lanes) and _is_arithmetic(source)
    steps = list(_combined(bodies, source, scope))
    return any(_is_arithmetic(step) and not _is_plain(step, own) for step, own in steps or [(source, lanes)])


def _combined(bodies: Bodies, call: Node, scope: Scope) -> Iterator[tuple[Node, frozenset[str]]]:
    """What the functions that combine two values return, with their parameters."""
    if call.kind != "call" or call.callee in FUNCTIONS:
        return
    for function in _called(bodies, call, scope):
        result = result_of(function.body, function.parameters)
        if result is not None and result.value is not None:
            yield unwrapped(result.value), frozenset(function.parameters)
    for macro, body in bodies.macro_bodies.get(call.callee, ()):
        if len(body.kids) == 1 and body.kids[0].kind == "statement":
            yield unwrapped(body.kids[0].kids[0]), frozenset(macro.parameters or ())


def _called(bodies: Bodies, call: Node, scope: Scope) -> tuple[Function, ...]:
    """The functions that a call means: of a name, or of the class that a functor or template parameter stands for."""
    callee = call.kids[0]
    around, _, name = call.callee.rpartition("::")
    if callee.kind == "call":
        around, name = callee.callee, CALLED
    elif name in scope.functors:
        around, name = name, CALLED
    found = bodies.by_name.get(name, ())
    if not around:
        return found
    owner = _CLASS.match(scope.functors.get(around, around))
    return tuple(function for function in found if owner is not None and function.owner == owner[1])


def _is_arithmetic(node: Node) -> bool:
    """Whether an expression computes, by operators alone, with what it takes from other lanes."""
    node = unwrapped(node)
    if node.kind == "binary":
        return node.text in "+-*/%&|^" and all(map(_is_arithmetic, node.kids))
    if node.kind == "unary":
        return node.text in ("-", "+", "~") and _is_arithmetic(node.kids[0])
    return node.kind in _LEAVES or node.kind in ("number", "call")


def _is_plain(node: Node, lanes: frozenset[str]) -> bool:
    """`a + b`: one operation over what two lanes have, or one of both, or a function of them."""
    if node.kind == "binary" and node.text in _CLOSED:
        return all(_is_leaf(kid, lanes) for kid in node.kids)
    if node.kind == "call" and node.callee in FUNCTIONS:
        return not any(unwrapped(kid).kind == "binary" for kid in node.arguments)
    return node.kind in _LEAVES or node.kind == "call"


def _is_leaf(node: Node, lanes: frozenset[str]) -> bool:
    """A value of a lane as it is."""
    node = unwrapped(node)
    if node.kind == "call":
        return True
    return node.kind in _LEAVES and not lanes.isdisjoint(names(node))
