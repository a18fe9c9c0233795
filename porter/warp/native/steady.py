"""What leaves a warp's sum a sum: after which steps the parts still add up to the whole."""

from __future__ import annotations

import re

from porter.cpp.nodes import Node, calls, names, unwrapped
from porter.warp.collectives import collective
from porter.warp.native.kinds import Kind
from porter.warp.native.state import Plan, Scope

K = Kind
_STEADY = frozenset({K.UNIFORM, K.ITEM, K.BLOCKWIDE, K.TOTAL})
_WHOLE = re.compile(r"(?:u?int\d*(?:_t)?|unsigned|signed|char|short|long|size_t|bool|uchar|ushort|uint|ulong)")
_FRACTION = re.compile(r"(?:float|double|half|__half|__nv_bfloat16|nv_bfloat16)")
_QUALIFIERS = frozenset({"const", "constexpr", "volatile", "static", "register", "std", "::", "&", "&&", "*"})
_FRACTION_NUMBER = re.compile(r"(?!0[xX])(?:[0-9']*\.[0-9']*|[0-9']+(?=[eE]))(?:[eE][+-]?[0-9]+)?[a-zA-Z]*")


def is_steady(plan: Plan, node: Node, scope: Scope) -> bool:
    """Whether an expression is the same for all warps that gather one value."""
    if any(collective(call) is not None for call in calls(node)):
        return False
    used = set(names(node))
    return plan.shared.keys().isdisjoint(used - scope.kinds.keys()) and all(
        scope.kinds.get(name, K.UNIFORM) in _STEADY for name in used
    )


def is_no_zero(node: Node) -> bool:
    """Whether an expression is a number other than zero."""
    node = unwrapped(node)
    if node.kind == "unary" and node.text in ("-", "+"):
        return is_no_zero(node.kids[0])
    return node.kind == "number" and bool(re.search(r"[1-9]", re.split(r"[eEpPuUlLfF]", node.text)[0]))


def type_of(name: str, plan: Plan, scope: Scope) -> frozenset[str]:
    """The words of a variable's type, as far as it is declared in sight."""
    declaration = scope.declared.get(name)
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
