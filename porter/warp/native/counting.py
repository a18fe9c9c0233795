"""What one step of a tree does with two lanes: one operation, a merge of several values, or what counts the lanes."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from porter.cpp.nodes import Node, base_of, calls, names, unwrapped
from porter.warp.bodies import Bodies
from porter.warp.collectives import collective
from porter.warp.flow.returned import result_of
from porter.warp.function import CALLED, Function
from porter.warp.native.operations import ASSIGNED, BINARY, FUNCTIONS, has_shuffle
from porter.warp.native.state import Scope

MERGED = "merged"
"""The step of what is put together from several values, or by a function that is no arithmetic."""
_CALLED = "called"
"""What an expression does that is a call of something that nobody knows."""
_HALVES = {"__hadd": "add", "__hadd2": "add", "__hmul": "mul", "__hmul2": "mul", "__hmax2": "max", "__hmin2": "min"}
_CLASS = re.compile(r"(?:\w+ :: )*(\w+)")
_SCALAR = re.compile(
    r"(?:u?int\d*(?:_t)?|unsigned|signed|char|short|long|size_t|bool|(?:float|double|half|__half)\d?|auto|[A-Z])"
)


def step_of(bodies: Bodies, body: Node, target: str, scope: Scope) -> str:
    """The operation by which a tree's body gathers a variable; empty where its result counts the lanes."""
    assigns = [node for node in body.walk() if node.kind == "assign" and base_of(node.kids[0]) == target]
    others = {base_of(node.kids[0]) for node in body.walk() if node.kind == "assign"} - {target}
    if any(_is_exchange(node.kids[1]) and target not in names(node.kids[1]) for node in assigns):
        return MERGED
    taken = {base_of(n.kids[0]) for n in body.walk() if n.kind == "assign" and _is_exchange(n.kids[1])}
    taken |= {n.text for n in body.walk() if n.kind == "variable" and n.initial is not None and has_shuffle(n.initial)}
    used = {name for node in assigns for name in (*names(node.kids[1]), *_asked(body, node))}
    if not assigns:
        return _by_reference(bodies, body, target, scope)
    if not (others - taken).isdisjoint(used) or any(unwrapped(node.kids[0]).kind == "member" for node in assigns):
        return MERGED
    found = {_step(bodies, node, body, frozenset({target, *taken}), scope) for node in assigns}
    how = found.pop() if len(found) == 1 else ""
    return how or ("" if _is_scalar(target, scope) else MERGED)


def _asked(body: Node, assign: Node) -> Iterator[str]:
    """The names in the conditions around an assignment."""
    for node in body.walk():
        if node.kind == "if" and node.first <= assign.first <= node.last:
            yield from names(node.kids[0])


def _is_exchange(node: Node) -> bool:
    return collective(unwrapped(node)) is not None


def counts_steps(body: Node) -> bool:
    """Whether something outside of a tree's body is counted by its steps."""
    own = {node.text for node in body.walk() if node.kind == "variable"}
    stepped = (n for n in body.walk() if n.kind == "postfix" or (n.kind == "unary" and n.text in ("++", "--")))
    return any(base_of(node.kids[0]) not in own for node in stepped)


def _by_reference(bodies: Bodies, body: Node, target: str, scope: Scope) -> str:
    """The step of a function that is handed the variable to write."""
    for call in calls(body):
        for function in bodies.by_name.get(call.callee.rpartition("::")[2], ()):
            for name, kid in zip(function.parameters, call.arguments, strict=False):
                if base_of(kid) == target or (unwrapped(kid).text == "&" and base_of(unwrapped(kid).kids[0]) == target):
                    return step_of(bodies, function.body, name, scope)
    return MERGED


def _step(bodies: Bodies, assign: Node, body: Node, lanes: frozenset[str], scope: Scope) -> str:
    source = unwrapped(assign.kids[1])
    if assign.text != "=":
        return ASSIGNED.get(assign.text, "") if _is_leaf(source, lanes) else ""
    if (chosen := _guarded(assign, source, body)) is not None:
        return chosen
    if source.kind == "call" and source.callee not in FUNCTIONS:
        steps = {_operation(value, own) for value, own in _combined(bodies, source, scope)}
        known = steps - {_CALLED}  # overloads for types of other kinds call functions of their own
        return known.pop() if len(known) == 1 else ""
    how = _operation(source, lanes)
    return "" if how == _CALLED else how


def _guarded(assign: Node, source: Node, body: Node) -> str | None:
    """`if (other > v) v = other;`: the larger of both."""
    for node in body.walk():
        if node.kind == "if" and len(node.kids) == 2 and any(below is assign for below in node.kids[1].walk()):
            condition, target = unwrapped(node.kids[0]), unwrapped(assign.kids[0])
            return larger(condition, source, target) if same(source, source) and source.kind != "binary" else ""
    return None


def _operation(node: Node, lanes: frozenset[str]) -> str:
    """The operation of an expression over what two lanes have."""
    node = unwrapped(node)
    if node.kind == "binary":
        return BINARY.get(node.text, "") if all(_is_leaf(kid, lanes) for kid in node.kids) else ""
    if node.kind == "call" and node.callee in FUNCTIONS:
        return "" if any(unwrapped(kid).kind == "binary" for kid in node.arguments) else FUNCTIONS[node.callee]
    if node.kind == "ternary":
        return larger(unwrapped(node.kids[0]), unwrapped(node.kids[1]), unwrapped(node.kids[2]))
    return _HALVES.get(node.callee, _CALLED) if node.kind in ("call", "empty") else ""


def larger(condition: Node, yes: Node, no: Node) -> str:
    """`a > b ? a : b`"""
    if condition.kind != "binary" or condition.text not in ("<", "<=", ">", ">="):
        return ""
    left, right = map(unwrapped, condition.kids)
    if same(left, yes) and same(right, no):
        return "max" if condition.text[0] == ">" else "min"
    if same(left, no) and same(right, yes):
        return "min" if condition.text[0] == ">" else "max"
    return ""


def same(one: Node, two: Node) -> bool:
    """Whether two expressions read alike."""
    one, two = unwrapped(one), unwrapped(two)
    kids: Sequence[tuple[Node, Node]] = list(zip(one.kids, two.kids, strict=False))
    return (one.kind, one.text, len(one.kids)) == (two.kind, two.text, len(two.kids)) and all(
        same(*pair) for pair in kids
    )


def _combined(bodies: Bodies, call: Node, scope: Scope) -> Iterator[tuple[Node, frozenset[str]]]:
    """What the functions and macros that combine two values return, with their parameters."""
    for function in _called(bodies, call, scope):
        result = result_of(function.body, function.parameters)
        value = Node("empty", 0, -1) if result is None or result.value is None else unwrapped(result.value)
        yield value, frozenset(function.parameters)
    for macro, body in bodies.macros.bodies.get(call.callee, ()):
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
    found = tuple(one for one in bodies.by_name.get(name, ()) if one.takes(len(call.arguments)))
    owner = _CLASS.match(scope.functors.get(around, around))
    return tuple(function for function in found if owner is not None and function.owner == owner[1]) or found


def _is_scalar(name: str, scope: Scope) -> bool:
    """Whether a variable is a number, or of a type that is not known."""
    declared = scope.declared.get(name)
    texts = scope.function.parameter_types.get(name, "") if declared is None else declared.text
    return any(_SCALAR.fullmatch(word) for word in texts.replace("&", " ").split())


def _is_leaf(node: Node, lanes: frozenset[str]) -> bool:
    """A value of a lane as it is, or what a function makes of it."""
    node = unwrapped(node)
    if node.kind == "call":
        is_helper = len(node.arguments) > 1 and unwrapped(node.arguments[0]).kind != "binary"
        return collective(node) is not None or (is_helper and not lanes.isdisjoint(names(node)))
    return node.kind in ("name", "member", "index") and not lanes.isdisjoint(names(node))
