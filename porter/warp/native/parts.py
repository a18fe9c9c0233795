"""How each lane of a warp gathered its part of an item: a sum of sums is one whatever the width, a maximum is not."""

from __future__ import annotations

from porter.cpp.nodes import Node, base_of, names, spelled, unwrapped
from porter.warp.native.counting import larger, same
from porter.warp.native.kinds import Kind
from porter.warp.native.operations import ASSIGNED, BINARY, FUNCTIONS
from porter.warp.native.state import Plan, Scope
from porter.warp.native.steady import cuts, is_neutral, is_steady, is_whole, type_of

_ANY_TIME = frozenset({"max", "min", "and", "or"})
"""Operations for which it does not matter how often a value goes in."""
_CONDITIONS = frozenset({"if", "while", "ternary", "do", "for"})


def set_by(assign: Node, plan: Plan, scope: Scope) -> None:
    """Keeps what an assignment makes of a lane's part; a step of a tree is judged elsewhere."""
    name = key_of(assign.kids[0])
    if name and "tree" not in scope.guards:
        scope.parts[name] = _after(assign, name, plan, scope)
        if scope.strided is not None and assign.text == "=" and unwrapped(assign.kids[0]).kind == "index":
            scope.starts[_text(assign.kids[0], plan)] = assign.kids[1]


def declared(name: str, initial: Node, plan: Plan, scope: Scope) -> None:
    """Keeps what a variable begins with."""
    scope.starts[name] = initial
    how = part_of(initial, plan, scope)
    scope.parts[name] = "" if how == "add" and cuts(type_of(name, plan, scope), initial, plan, scope) else how


def stepped(node: Node, plan: Plan, scope: Scope) -> None:
    """`++count`: one more for each place of an item."""
    name = key_of(node)
    if name and "tree" not in scope.guards:
        scope.parts[name] = _gathered(name, "add", (), plan, scope)


def asks_its_own(body: Node, strided: frozenset[str]) -> bool:
    """Whether what a lane does with a place of an item hangs on what it met before."""
    for node in body.walk():
        if node.kind not in _CONDITIONS or strided.isdisjoint(names(node.kids[1 if node.kind == "for" else 0])):
            continue
        if node.kind == "ternary" and larger(unwrapped(node.kids[0]), node.kids[1], node.kids[2]):
            continue
        inside = [below for below in node.kids[1].walk() if below.kind == "assign"] if node.kind == "if" else []
        if len(inside) == 1 and larger(unwrapped(node.kids[0]), inside[0].kids[1], inside[0].kids[0]):
            continue
        return True
    return False


def key_of(node: Node) -> str:
    """The name under which a variable, a member or the elements of an array are kept."""
    node = unwrapped(node)
    return spelled(node) or base_of(node)


def part_of(node: Node, plan: Plan, scope: Scope) -> str:
    """How a lane gathered the value of an expression; empty where it did not, or changed it."""
    node = unwrapped(node) if not node.text else node
    if node.kind == "cast" and len(node.kids) == 1:
        how = part_of(node.kids[0], plan, scope)
        return "" if how == "add" and cuts(frozenset(node.text.split()), node.kids[0], plan, scope) else how
    if node.kind in ("name", "member", "index"):
        return scope.parts.get(key_of(node), "")
    if node.kind == "unary" and node.text in ("-", "+", "*"):
        how = part_of(node.kids[0], plan, scope)
        return how if how == "add" or node.text != "-" else ""
    if node.kind == "binary":
        return _computed(node.text, node.kids[0], node.kids[1], plan, scope)
    if node.kind == "call" and node.callee in FUNCTIONS:
        found = {part_of(kid, plan, scope) for kid in node.arguments}
        return FUNCTIONS[node.callee] if found == {FUNCTIONS[node.callee]} else ""
    return ""


def _text(node: Node, plan: Plan) -> str:
    return " ".join(plan.bodies.tokens.texts[node.first : node.last + 1])


def _computed(operator: str, left: Node, right: Node, plan: Plan, scope: Scope) -> str:
    one, two = part_of(left, plan, scope), part_of(right, plan, scope)
    if operator in ("+", "-"):
        return "add" if one == two == "add" else ""
    if operator == "*" and {one, two} == {"add", ""}:
        return "add" if is_steady(plan, right if one else left, scope) else ""
    if operator == "/" and (one, two) == ("add", "") and not is_whole(left, plan, scope):
        return "add" if is_steady(plan, right, scope) else ""
    return ""


def _after(assign: Node, name: str, plan: Plan, scope: Scope) -> str:
    taken = _taken(assign, name)
    if taken is None:
        scope.starts[name] = assign.kids[1]
        return part_of(assign.kids[1], plan, scope) if assign.text == "=" else ""
    operation, value = taken
    if scope.strided is not None:
        if operation == "mul" and assign.text == "*=" and scope.parts.get(name) == "add":
            return ""
        kept = scope.starts.get(_text(value, plan), value) if unwrapped(value).kind == "index" else value
        return _gathered(name, operation, tuple(names(kept)), plan, scope)
    old = scope.parts.get(name, "")
    if assign.text in ("*=", "/="):
        return _computed(assign.text[0], assign.kids[0], value, plan, scope)
    if operation in _ANY_TIME and scope.kinds.get(name) is not Kind.UNIFORM:
        return old if old == operation else ""
    return old if old == operation == part_of(value, plan, scope) else ""


def _gathered(name: str, operation: str, used: tuple[str, ...], plan: Plan, scope: Scope) -> str:
    """What a variable is when one more place of an item goes into it."""
    if scope.strided is None or not scope.strided.isdisjoint(used):
        return ""
    old = scope.parts.get(name, "")
    if old or scope.kinds.get(name.partition(".")[0], Kind.UNIFORM) is not Kind.UNIFORM:
        return operation if old == operation else ""
    start = scope.starts.get(name)
    neutral = (
        start is None or operation in _ANY_TIME or (operation == "add" and is_neutral("add", start, name, plan, scope))
    )
    return operation if neutral else ""


def _taken(assign: Node, name: str) -> tuple[str, Node] | None:
    """The operation by which a value goes into a variable, and the value."""
    source = unwrapped(assign.kids[1])
    if assign.text != "=":
        return ("add" if assign.text == "-=" else ASSIGNED.get(assign.text, ""), source)
    pairs = source.kids if source.kind == "binary" else source.arguments if source.kind == "call" else ()
    if len(pairs) == 2 and name in map(key_of, pairs):
        own, other = pairs if key_of(pairs[0]) == name else (pairs[1], pairs[0])
        if source.kind == "call":
            return FUNCTIONS.get(source.callee, ""), other
        operation = "add" if source.text == "-" and own is pairs[0] else BINARY.get(source.text, "")
        return operation, other
    if source.kind == "ternary" and (how := larger(unwrapped(source.kids[0]), source.kids[1], source.kids[2])):
        own = source.kids[2] if key_of(source.kids[2]) == name else source.kids[1]
        other = source.kids[1] if own is source.kids[2] else source.kids[2]
        return (how, other) if key_of(own) == name and not same(own, other) else None
    return None
