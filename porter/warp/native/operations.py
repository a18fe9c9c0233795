"""How values were gathered: a sum of sums is a sum whatever the width, a maximum of sums is not."""

from __future__ import annotations

from porter.cpp.nodes import Node, calls, unwrapped
from porter.warp.bodies import Bodies, Function
from porter.warp.collectives import collective
from porter.warp.native.state import Gathered, Scope

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


_SIMPLE = frozenset({*_ASSIGNED.values(), *_FUNCTIONS.values()})


def tree_operation(bodies: Bodies, body: Node, scope: Scope) -> str:
    """The operation of a tree's body: a name, or its text where it has none, with the functors that were passed."""
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
        if name in function.called or (kind in function.template_parameters and _is_functor(function, kind)):
            text = _bound_text(bodies, node.first, node.last + 1, scope)
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
    while node.kind in ("member", "index"):
        node = unwrapped(node.kids[0])
    return node.text if node.kind == "name" else None


def operation(walk: Gathered, node: Node, scope: Scope) -> str:
    """How the value of an expression was gathered; empty where it was not, or was changed afterwards."""
    node = unwrapped(node)
    if node.kind == "name":
        return scope.operations.get(node.text, "")
    if node.kind == "member":
        how = operation(walk, node.kids[0], scope)
        return f"{how}.{node.text}" if how and how not in _SIMPLE else how
    if node.kind == "unary" and node.text == "*" and unwrapped(node.kids[0]).text in scope.pointees:
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
