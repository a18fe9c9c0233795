"""Classifies the values that may stem from the warp size, with the evidence for each."""

from __future__ import annotations

import re
from collections.abc import Iterator

from porter.model import Span
from porter.unit import Unit
from porter.warp.bodies import Bodies, bodies_of
from porter.warp.conditionals import choices
from porter.warp.constants import WARP, looks_like_warp_size
from porter.warp.contexts import Context, device_contexts, host_contexts, macro_contexts, spread_role
from porter.warp.judge import judge
from porter.warp.roles import CANDIDATES, Classified, Role
from porter.warp.syntax import parse_expression
from porter.warp.tree import Node, unwrapped
from porter.written import split_commas, template_end

_CUB_BLOCKS = re.compile(
    r"Block(?:Load|Store|Reduce|Scan|Exchange|RadixSort|Histogram|Discontinuity|AdjacentDifference)"
)


def classify(unit: Unit) -> tuple[Classified, ...]:
    """All values of a file that may stem from the warp size, in the order of the text."""
    bodies = bodies_of(unit)
    found: dict[int, Classified] = {}
    for context in (*device_contexts(bodies), *macro_contexts(bodies), *host_contexts(unit, bodies)):
        for item in _in_context(context):
            found.setdefault(item.span.start, item)
    for item in (*_block_classes(bodies), *_roundings(bodies)):
        found.setdefault(item.span.start, item)
    for item in _definitions(bodies, tuple(found.values())):
        found[item.span.start] = item
    return tuple(found[start] for start in sorted(found))


def _block_classes(bodies: Bodies) -> Iterator[Classified]:
    """`cub::BlockLoad<int, 32, 4>`: a block that is one warp."""
    tokens = bodies.tokens
    for name in filter(_CUB_BLOCKS.fullmatch, tokens.names):
        for index in tokens.names[name]:
            end = template_end(tokens, index + 1, len(tokens))
            arguments = [] if end is None else list(split_commas(tokens, index + 2, end - 1))
            if len(arguments) > 1:
                node = parse_expression(tokens, *arguments[1])
                if bodies.constants.value(node) == WARP:
                    yield _standing(bodies, node, Role.HARDWARE, "a block that is one warp")


def _roundings(bodies: Bodies) -> Iterator[Classified]:
    """`(size + 31) & ~31` in host code: a size in memory."""
    tokens = bodies.tokens
    for index, text in enumerate(tokens.texts):
        if text == "~" and tokens.texts[index - 1] == "&" and bodies.function_at(index) is None:
            node = parse_expression(tokens, index, min(index + _LONGEST_ROUNDING, len(tokens)))
            operand = node.kids[0] if node.kind == "unary" else node
            if operand is not node and bodies.constants.value(operand) == WARP - 1:
                yield _standing(bodies, operand, Role.LAYOUT, "rounds a size up")


_LONGEST_ROUNDING = 12


def _standing(bodies: Bodies, node: Node, role: Role, evidence: str) -> Classified:
    return _classified(Context(bodies, None, node, {}, False), node, role, evidence)


# One context


def _in_context(context: Context) -> Iterator[Classified]:
    for node in context.body.walk():
        if node.kind == "declaration":
            yield from _array_bounds(context, node)
        if not _is_candidate(context, node) or _inside_constant(context, node):
            continue
        role, evidence = judge(context, node)
        yield _classified(context, node, role, evidence)


def _classified(context: Context, node: Node, role: Role, evidence: str) -> Classified:
    tokens = context.bodies.tokens
    span = Span(tokens.starts[node.first], tokens.end(node.last))
    value = context.bodies.constants.value(node)
    return Classified(span, tokens.text[span.start : span.end], value, role, evidence, context.name)


def _is_candidate(context: Context, node: Node) -> bool:
    """A constant expression with a value or a literal that can come from 32."""
    if node.kind not in ("number", "name", "binary", "unary", "cast") or node.last < node.first:
        return False
    if node.kind == "cast" and not node.text:
        return False
    if node.kind == "name" and (node.text in context.values or node.kids):
        return False
    if node.kind == "number" and node.text.rstrip("uUlL") == "1" and _shifted_by_lane(context, node):
        return True
    value = context.bodies.constants.value(node)
    if value is None:
        return node.kind == "number" and node.text.rstrip("fF").rstrip(".0") in ("32", "31", "16", "64")
    return value in CANDIDATES or any(
        below.kind == "number" and context.bodies.constants.value(below) in CANDIDATES for below in node.walk()
    )


def _shifted_by_lane(context: Context, node: Node) -> bool:
    """`1u << lane`"""
    parent = context.parents.get(id(node))
    if parent is None or parent.kind != "binary" or parent.text != "<<" or parent.kids[0] is not node:
        return False
    return spread_role(context, parent.kids[1]) == "lane"


def _inside_constant(context: Context, node: Node) -> bool:
    """Whether a larger constant expression around a node speaks for it."""
    parent = context.parents.get(id(node))
    while parent is not None and parent.kind == "cast":
        parent = context.parents.get(id(parent))
    return (
        parent is not None
        and parent.kind in ("binary", "unary")
        and context.bodies.constants.value(parent) is not None
        and parent.first >= 0
    )


def _array_bounds(context: Context, declaration: Node) -> Iterator[Classified]:
    """The sizes of shared arrays: by what indexes them."""
    if "__shared__" not in declaration.text.split():
        return
    for variable in declaration.kids:
        for dimension in variable.dimensions:
            if dimension.last < dimension.first or context.bodies.constants.value(dimension) is None:
                continue
            role, evidence = _array_role(context, variable)
            yield _classified(context, dimension, role, evidence)


def _array_role(context: Context, variable: Node) -> tuple[Role, str]:
    if not context.uses_warps:
        if variable.count > 1:
            return Role.TILE, "a tile in shared memory"
        return Role.UNRELATED, "an array in a function without warp operations"
    for node in context.body.walk():
        indexes = node.kind == "index" and unwrapped(node.kids[0]).text == variable.text
        if indexes and spread_role(context, node.kids[1]) == "warp":
            return Role.HARDWARE, "one element per warp"
    if "Storage" in variable.extra or "Temp" in variable.extra:
        return Role.HARDWARE, "storage for each warp"
    return Role.UNRELATED, "indexed by threads"


def _definitions(bodies: Bodies, used: tuple[Classified, ...]) -> Iterator[Classified]:
    """Named constants, by what their uses are; one constant with two roles is undecided."""
    tokens = bodies.tokens
    roles_of: dict[str, set[Role]] = {}
    for item in used:
        for name in _words(item.text):
            roles_of.setdefault(name, set()).add(item.role)
    _inherit(bodies, roles_of)
    chosen = {choice.name for choice in choices(bodies.constants) if {v for _, v in choice.values} >= {32, 64}}
    for name in sorted(roles_of.keys() | _width_names(bodies) | chosen):
        roles = roles_of.get(name, set()) - {Role.UNRELATED}
        for constant in bodies.constants.definitions(name):
            span = Span(tokens.starts[constant.first], tokens.end(constant.last - 1))
            role, evidence = _defined_role(name, roles, chosen)
            value = bodies.constants.number_of(constant)
            yield Classified(span, tokens.text[span.start : span.end], value, role, evidence, "")


def _words(text: str) -> Iterator[str]:
    return (word for word in re.findall(r"[A-Za-z_]\w*", text))


def _inherit(bodies: Bodies, roles_of: dict[str, set[Role]]) -> None:
    """A constant in the value of another one has that one's roles, too."""
    for _ in range(4):
        for name in list(roles_of):
            for constant in bodies.constants.definitions(name):
                for word in bodies.tokens.texts[constant.first : constant.last]:
                    if bodies.constants.definitions(word):
                        roles_of.setdefault(word, set()).update(roles_of[name])


def _defined_role(name: str, roles: set[Role], chosen: set[str]) -> tuple[Role, str]:
    if name in chosen:
        return Role.HARDWARE, "32 or 64 by a condition"
    if looks_like_warp_size(name) and not roles - {Role.HARDWARE}:
        return Role.HARDWARE, "named as the warp size"
    if len(roles) == 1:
        return next(iter(roles)), "by its uses"
    if roles == {Role.HARDWARE, Role.TILE}:
        return Role.HARDWARE, "by its uses on warps"
    if roles:
        return Role.UNDECIDED, "two roles: " + " and ".join(sorted(role.value for role in roles))
    return Role.UNRELATED, "no use on warps"


def _width_names(bodies: Bodies) -> set[str]:
    return {name for name in bodies.constants.macros if looks_like_warp_size(name)}
