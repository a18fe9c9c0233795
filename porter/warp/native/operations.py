"""How values were gathered: a sum of sums is a sum whatever the width, a maximum of sums is not."""

from __future__ import annotations

from typing import TYPE_CHECKING

from porter.warp.bodies import Bodies
from porter.warp.collectives import collective
from porter.warp.native.state import Scope
from porter.warp.tree import Node, calls, unwrapped

if TYPE_CHECKING:
    from porter.warp.native.calls import Calls

_ASSIGNED = {"+=": "add", "|=": "or", "&=": "and", "^=": "xor", "*=": "mul"}
_FUNCTIONS = {
    **dict.fromkeys(("max", "fmax", "fmaxf", "__hmax", "std::max"), "max"),
    **dict.fromkeys(("min", "fmin", "fminf", "__hmin", "std::min"), "min"),
}
_BINARY = {"+": "add", "|": "or", "&": "and", "^": "xor", "*": "mul"}
_VOTES = {"__any_sync": "or", "__any": "or", "__all_sync": "and", "__all": "and"}
_ATOMICS = {
    "atomicAdd": "add",
    "atomicMax": "max",
    "atomicMin": "min",
    "atomicOr": "or",
    "atomicAnd": "and",
    "atomicXor": "xor",
}


def tree_operation(bodies: Bodies, body: Node) -> str:
    """The operation of a tree's body: a name, or its text where it has none."""
    found: set[str] = set()
    for node in body.walk():
        if node.kind != "assign":
            continue
        if node.text in _ASSIGNED:
            found.add(_ASSIGNED[node.text])
        elif node.text == "=":
            source = unwrapped(node.kids[1])
            if source.kind == "call" and source.callee in _FUNCTIONS:
                found.add(_FUNCTIONS[source.callee])
            elif source.kind == "binary" and source.text in _BINARY:
                found.add(_BINARY[source.text])
            else:
                found.add("other")
    if len(found) == 1 and "other" not in found:
        return found.pop()
    tokens = bodies.tokens
    return " ".join(tokens.texts[body.first : body.last + 1])


def operation(walk: Calls, node: Node, scope: Scope) -> str:
    """How the value of an expression was gathered; empty where it was not, or was changed afterwards."""
    node = unwrapped(node)
    if node.kind == "name":
        return scope.operations.get(node.text, "")
    if node.kind == "member":
        return operation(walk, node.kids[0], scope)
    if node.kind == "ternary":
        found = {operation(walk, kid, scope) for kid in node.kids[1:]} - {""}
        return found.pop() if len(found) == 1 else ""
    if node.kind == "index" and unwrapped(node.kids[0]).text in walk.plan.shared:
        return walk.plan.shared[unwrapped(node.kids[0]).text].operation
    if node.kind == "binary" and node.text in ("*", "/"):
        found = {operation(walk, kid, scope) for kid in node.kids} - {""}
        return "add" if found == {"add"} and operation(walk, node.kids[0], scope) else ""
    if node.kind == "call":
        return _called(walk, node, scope)
    return ""


def _called(walk: Calls, node: Node, scope: Scope) -> str:
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
