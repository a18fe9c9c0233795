"""How values were gathered: a sum of sums is a sum whatever the width, a maximum of sums is not."""

from __future__ import annotations

import re

from porter.cpp.nodes import PARTS, Node, base_of, calls, names, unwrapped
from porter.warp.bodies import Bodies
from porter.warp.collectives import collective
from porter.warp.function import Function
from porter.warp.native.state import Gathered, Scope
from porter.warp.native.steady import cuts, is_neutral, is_steady, is_whole, type_of

ASSIGNED = {"+=": "add", "|=": "or", "&=": "and", "^=": "xor", "*=": "mul"}
FUNCTIONS = {
    **dict.fromkeys(("max", "fmax", "fmaxf", "__hmax", "std::max"), "max"),
    **dict.fromkeys(("min", "fmin", "fminf", "__hmin", "std::min"), "min"),
}
"""Functions that take the larger or smaller of two values."""
BINARY = {"+": "add", "|": "or", "&": "and", "^": "xor", "*": "mul"}
"""Operators that combine two values, whatever the order."""
_VOTES = {"__any_sync": "or", "__any": "or", "__all_sync": "and", "__all": "and"}
_ATOMICS = {
    "atomicAdd": "add",
    "atomicMax": "max",
    "atomicMin": "min",
    "atomicOr": "or",
    "atomicAnd": "and",
    "atomicXor": "xor",
}


_MADE = re.compile(r"[A-Za-z_][\w:<>, ]* (?:\( \)|\{ \})")
"""`Plus { }`: an object without values."""
_SIMPLE = frozenset({*ASSIGNED.values(), *FUNCTIONS.values()})


def tree_operation(bodies: Bodies, body: Node, scope: Scope) -> str:
    """The operation of a tree's body: a name, or its text where it has none, with the functors that were passed."""
    found: set[str] = set()
    for node in body.walk():
        if node.kind != "assign":
            continue
        if node.text in ASSIGNED:
            found.add(ASSIGNED[node.text])
        elif node.text == "=":
            source = unwrapped(node.kids[1])
            if source.kind == "call" and source.callee in FUNCTIONS:
                found.add(FUNCTIONS[source.callee])
            elif source.kind == "binary" and source.text in BINARY:
                found.add(BINARY[source.text])
            else:
                found.add("other")
    if len(found) == 1 and "other" not in found:
        return found.pop()
    return _bound_text(bodies, body.first, body.last + 1, scope)


def _bound_text(bodies: Bodies, first: int, last: int, scope: Scope) -> str:
    texts = bodies.tokens.texts
    return " ".join(scope.functors.get(text, text) for text in texts[first:last])


def functors(bodies: Bodies, call: Node, function: Function, scope: Scope) -> dict[str, str]:
    """What the template parameters of a helper, and the parameters that it calls, stand for in one call."""
    found: dict[str, str] = {}
    for name, node in zip(function.template_parameters, call.kids[0].kids, strict=False):
        found[name] = _bound_text(bodies, node.first, node.last + 1, scope)
    for name, node in zip(function.parameters, call.arguments, strict=False):
        kind = function.parameter_types.get(name, "").replace("const", "").strip(" &")
        text = _bound_text(bodies, node.first, node.last + 1, scope)
        generic = kind in function.template_parameters
        if name in function.called or (generic and (_is_functor(function, kind) or _MADE.fullmatch(text))):
            found[name] = text
            found.setdefault(kind, text)
    return found


def _is_functor(function: Function, kind: str) -> bool:
    """Whether a template parameter is not the type of a value: something of it is called."""
    return kind in function.called


def of_whole(how: str, field: str) -> str:
    """How a structure was gathered whose field was set from something gathered: `field` of `how` is wanted."""
    return how.removesuffix(f".{field}") if how.endswith(f".{field}") else how if how in _SIMPLE else ""


def written_variable(written_type: str, argument: Node) -> str | None:
    """The variable that a function may write through a reference or a pointer that it is given."""
    if "const" in written_type.split() or not ("&" in written_type or "*" in written_type):
        return None
    node = unwrapped(argument)
    if "&" not in written_type:
        if node.kind != "unary" or node.text != "&":
            return None
        node = unwrapped(node.kids[0])
    return base_of(node, PARTS) or None


def operation(walk: Gathered, node: Node, scope: Scope) -> str:
    """How the value of an expression was gathered; empty where it was not, or was changed afterwards."""
    if node.kind == "cast" and len(node.kids) == 1:
        how = operation(walk, node.kids[0], scope)
        return "" if how == "add" and cuts(frozenset(node.text.split()), node.kids[0], walk.plan, scope) else how
    if node.kind == "name":
        return scope.operations.get(node.text, "")
    if node.kind == "member":
        how = operation(walk, node.kids[0], scope)
        return f"{how}.{node.text}" if how and how not in _SIMPLE else how
    if node.kind == "unary" and node.text == "*" and unwrapped(node.kids[0]).text in scope.pointees:
        return operation(walk, node.kids[0], scope)
    if node.kind == "ternary":
        return _chosen(walk, node, scope)
    if node.kind == "index" and unwrapped(node.kids[0]).text in walk.plan.shared:
        return walk.plan.shared[unwrapped(node.kids[0]).text].operation
    if node.kind == "binary":
        return computed(walk, node.text, node.kids[0], node.kids[1], scope)
    if node.kind == "call":
        return _called(walk, node, scope)
    return ""


def _chosen(walk: Gathered, node: Node, scope: Scope) -> str:
    """One value or the other: what was gathered, or what adds nothing to it."""
    kids = node.kids[1:]
    found = [operation(walk, kid, scope) for kid in kids]
    how = next(iter(set(found) - {""}), "")
    among = next((name for kid, one in zip(kids, found, strict=True) if one for name in names(kid)), "")
    for kid, one in zip(kids, found, strict=True):
        if one == how:
            continue
        if one or not is_steady(walk.plan, kid, scope) or not is_neutral(how, kid, among, walk.plan, scope):
            return ""
    return how


def computed(walk: Gathered, operator: str, left: Node, right: Node, scope: Scope) -> str:
    """How `left operator right` was gathered: sums of sums, and sums times what is the same for all, are sums."""
    one, two = operation(walk, left, scope), operation(walk, right, scope)
    if operator in ("+", "-"):
        return "add" if one == two == "add" else ""
    if operator == "*" and {one, two} == {"add", ""}:
        return "add" if is_steady(walk.plan, right if one else left, scope) else ""
    if operator == "/" and (one, two) == ("add", "") and not is_whole(left, walk.plan, scope):
        return "add" if is_steady(walk.plan, right, scope) else ""
    return ""


def kept(walk: Gathered, name: str, node: Node, scope: Scope) -> str:
    """How a variable was gathered once an assignment or its declaration has set it: its type may cut a sum."""
    if node.kind == "assign" and node.text != "=":
        how = computed(walk, node.text[:-1], node.kids[0], node.kids[1], scope)
        value = node.kids[1]
    else:
        value = node.kids[1] if node.kind == "assign" else node
        how = operation(walk, value, scope)
    return "" if how == "add" and cuts(type_of(name, walk.plan, scope), value, walk.plan, scope) else how


def over_warps(walk: Gathered, body: Node, name: str, scope: Scope) -> str:
    """How a loop over the warps gathers their values in a variable; empty where it does more than that."""
    found: set[str] = set()
    for node in body.walk():
        if node.kind != "assign" or unwrapped(node.kids[0]).text != name:
            continue
        source = unwrapped(node.kids[1])
        parts = source.arguments if source.kind == "call" else source.kids if source.kind == "binary" else ()
        if node.text != "=":
            parts = (node.kids[1],)
        found |= {operation(walk, part, scope) for part in parts if unwrapped(part).text != name}
    return found.pop() if len(found) == 1 else ""


def _called(walk: Gathered, node: Node, scope: Scope) -> str:
    found = collective(node)
    name = node.callee.rpartition("::")[2]
    if found is not None:
        if found.kind == "reduce":
            return found.name.removeprefix("__reduce_").removesuffix("_sync")
        if found.kind == "shuffle":
            return operation(walk, node.arguments[found.value or 0], scope)
        return _VOTES.get(found.name, "")
    if name in ("__popc", "__popcll"):
        return "add"
    return walk.returned.get(name, "")


def atomic_operation(name: str) -> str:
    """The operation of an atomic function."""
    return _ATOMICS.get(name.removesuffix("_block").removesuffix("_system"), "")


def has_shuffle(node: Node) -> bool:
    """Whether an expression exchanges values."""
    return any(collective(call) is not None for call in calls(node))
