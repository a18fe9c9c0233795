"""What leaves a warp's sum a sum: after which steps the parts still add up to the whole."""

from __future__ import annotations

import re

from porter.cpp.constants import WARP
from porter.cpp.nodes import Node, calls, names, unwrapped
from porter.warp.collectives import collective
from porter.warp.native.kinds import Kind
from porter.warp.native.state import Plan, Scope

K = Kind
_STEADY = frozenset({K.UNIFORM, K.ITEM, K.BLOCKWIDE, K.TOTAL})
_WHOLE = re.compile(r"(?:u?int\d*(?:_t)?|unsigned|signed|char|short|long|size_t|bool|uchar|ushort|uint|ulong)")
_UNSIGNED = re.compile(r"u(?:nsigned|int\d*(?:_t)?|char|short|long)|size_t")
_FRACTION = re.compile(r"(?:float|double|half|__half|__nv_bfloat16|nv_bfloat16)")
_QUALIFIERS = frozenset({"const", "constexpr", "volatile", "static", "register", "std", "::", "&", "&&", "*"})
_DEEPEST = 4
_FRACTION_NUMBER = re.compile(r"(?!0[xX])(?:[0-9']*\.[0-9']*|[0-9']+(?=[eE]))(?:[eE][+-]?[0-9]+)?[a-zA-Z]*")


def is_steady(plan: Plan, node: Node, scope: Scope) -> bool:
    """Whether an expression is the same for all warps that gather one value."""
    if any(collective(call) is not None for call in calls(node)):
        return False
    used = set(names(node))
    return plan.shared.keys().isdisjoint(used - scope.kinds.keys()) and all(
        scope.kinds.get(name, K.UNIFORM) in _STEADY for name in used
    )


def is_neutral(how: str, node: Node, among: str, plan: Plan, scope: Scope) -> bool:
    """Whether a value leaves what a variable or array gathers as it is, as far as it is a number: blocks have more
    places than warps.

    What is no number is trusted; a maximum with 0 may be what is wanted where the original has such places, too.
    """
    number = _number(node, plan, scope)
    if number is None:
        return True
    zero = not re.search(r"[1-9]", re.split(r"[eEpPuUlLfF]", number.lstrip("+-"))[0])
    if how in ("add", "xor"):
        return zero
    if how == "max" and zero and _is_unsigned(type_of(among, plan, scope)):
        return True
    return not (how in ("max", "min") and zero and _may_be_full(plan))


def _is_unsigned(words: frozenset[str]) -> bool:
    return any(_UNSIGNED.fullmatch(word) for word in words)


def _may_be_full(plan: Plan) -> bool:
    """Whether a block may have 32 warps, so that the original never sees what fills the places of others."""
    return plan.shape.form == "line" and (plan.shape.threads or WARP * WARP) >= WARP * WARP


def _number(node: Node, plan: Plan, scope: Scope, depth: int = 0) -> str | None:
    """The number that an expression is, by its text: of a constant or variable what it begins with."""
    node = unwrapped(node)
    if node.kind == "number":
        return node.text
    if node.kind == "unary" and node.text in ("-", "+"):
        return _number(node.kids[0], plan, scope, depth)
    if node.kind == "call" and len(node.arguments) == 1 and node.callee not in plan.bodies.by_name:
        return _number(node.arguments[0], plan, scope, depth)
    if node.kind == "list" and len(node.kids) == 1:
        return _number(node.kids[0], plan, scope, depth)
    if node.kind != "name" or depth > _DEEPEST:
        return None
    declared = scope.declared.get(node.text)
    initial = [kid.initial for kid in declared.kids if kid.text == node.text] if declared is not None else []
    values = [*filter(None, initial), *plan.bodies.macros.expressions.get(node.text, ())]
    if not values and (constant := plan.bodies.constants.value(node)) is not None:
        return str(constant)
    found = {_number(value, plan, scope, depth + 1) for value in values}
    return found.pop() if len(found) == 1 else None


def type_of(name: str, plan: Plan, scope: Scope) -> frozenset[str]:
    """The words of a variable's type, as far as it is declared in sight."""
    declaration = scope.declared.get(name)
    if declaration is None and name in plan.shared:
        return plan.shared[name].type_words
    if declaration is None:
        return frozenset(scope.function.parameter_types.get(name, "").replace("&", " ").split())
    return frozenset(plan.bodies.tokens.texts[declaration.first : declaration.kids[0].first])


def cuts(words: frozenset[str], value: Node, plan: Plan, scope: Scope) -> bool:
    """Whether a value loses its fraction, or all but its being zero, in a variable of a type."""
    plain = words - _QUALIFIERS
    if not plain or not all(_WHOLE.fullmatch(word) for word in plain):
        return False
    return "bool" in plain or _has_fraction(value, plan, scope)


def is_whole(node: Node, plan: Plan, scope: Scope) -> bool:
    """Whether a value is surely an integer, so that dividing it cuts."""
    node = unwrapped(node)
    if node.kind == "call":
        return node.callee in ("__popc", "__popcll")
    words = type_of(node.text, plan, scope) - _QUALIFIERS if node.kind == "name" else frozenset()
    return bool(words) and all(_WHOLE.fullmatch(word) for word in words)


def _has_fraction(node: Node, plan: Plan, scope: Scope) -> bool:
    if node.kind == "cast" and node.text:
        return any(_FRACTION.fullmatch(word) for word in node.text.split())
    if node.kind == "number":
        return _FRACTION_NUMBER.fullmatch(node.text) is not None
    if node.kind == "name":
        return any(_FRACTION.fullmatch(word) for word in type_of(node.text, plan, scope))
    return any(_has_fraction(kid, plan, scope) for kid in node.kids)
