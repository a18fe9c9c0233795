"""Launch geometry as far as it is constant: the threads of a block, read backwards from the launch."""

from __future__ import annotations

from typing import cast

from porter.launches import find_launches
from porter.lex import Tokens, lex
from porter.model import Launch
from porter.unit import Unit
from porter.warp.bodies import Bodies, bodies_of
from porter.warp.syntax import parse_expression
from porter.warp.tree import Node

_DEEPEST = 6


def launches_of(unit: Unit) -> tuple[Launch, ...]:
    """The launch sites of a file."""
    memo = bodies_of(unit).memo
    if "launches" not in memo:
        memo["launches"] = find_launches(unit.tokens, unit.source.path, unit.source)
    return cast("tuple[Launch, ...]", memo["launches"])


def block_threads(bodies: Bodies, launch: Launch) -> int | None:
    """Threads per block of a launch, where its expression comes to a constant."""
    shape = block_shape(bodies, launch)
    if shape is None or None in shape:
        return None
    product = 1
    for size in shape:
        product *= size or 1
    return product


def block_shape(bodies: Bodies, launch: Launch) -> tuple[int | None, ...] | None:
    """Sizes of a block by dimension; None in place of a size that is no constant."""
    place = bodies.tokens.at(launch.span.start)
    return _shape(bodies, lex(launch.block), place, 0)


def _shape(bodies: Bodies, tokens: Tokens, before: int, depth: int) -> tuple[int | None, ...] | None:
    """The sizes that an expression stands for, variables looked up before a token of the file."""
    node = parse_expression(tokens, 0, len(tokens))
    if depth > _DEEPEST or node.last < len(tokens) - 1:
        return None
    return _node_shape(bodies, tokens, node, before, depth)


def _node_shape(
    bodies: Bodies, tokens: Tokens, node: Node, before: int, depth: int
) -> tuple[int | None, ...] | None:
    if node.kind == "call" and node.callee == "dim3":
        return tuple(_value(bodies, tokens, kid, before, depth) for kid in node.arguments)
    if node.kind == "list":
        return tuple(_value(bodies, tokens, kid, before, depth) for kid in node.kids)
    if node.kind == "name" and (found := _dim3_variable(bodies, node.text, before)) is not None:
        first, last = found
        inner = bodies.tokens
        value = parse_expression(inner, first, last)
        kids = value.kids if value.kind in ("comma", "list") else (value,)
        if value.kind == "call":
            return _node_shape(bodies, inner, value, before, depth + 1)
        if value.kind == "name" and _dim3_variable(bodies, value.text, first) is not None:
            return _node_shape(bodies, inner, value, first, depth + 1)
        return tuple(_value(bodies, inner, kid, first, depth + 1) for kid in kids)
    return (_value(bodies, tokens, node, before, depth),)


def _dim3_variable(bodies: Bodies, name: str, before: int) -> tuple[int, int] | None:
    """Tokens of the initial value of the nearest `dim3 name(...)` before a place, if nothing else is assigned to it."""
    tokens = bodies.tokens
    texts = tokens.texts
    for index in reversed([i for i in tokens.names.get(name, ()) if i < before]):
        follow = texts[index + 1] if index + 1 < len(texts) else ""
        if texts[index - 1] == "dim3" and follow in ("(", "{"):
            closed = tokens.partner.get(index + 1)
            return None if closed is None else (index + 2, closed)
        if follow == "=":
            end = index + 2
            while end < len(texts) and texts[end] not in (";", "}"):
                end = tokens.partner.get(end, end) + 1 if texts[end] in "([{" else end + 1
            return (index + 2, end) if texts[index - 1] == "dim3" or texts[index + 2] == "dim3" else None
        if follow == ".":
            return None
    return None


def _value(bodies: Bodies, tokens: Tokens, node: Node, before: int, depth: int) -> int | None:
    """A constant, looking through plain local variables that are set once."""
    if depth > _DEEPEST:
        return None
    bound = {
        below.text: found
        for below in node.walk()
        if below.kind == "name"
        and bodies.constants.value(below) is None
        and (found := _local(bodies, below.text, before, depth)) is not None
    }
    return bodies.constants.value(node, bound)


def _local(bodies: Bodies, name: str, before: int, depth: int) -> int | None:
    tokens = bodies.tokens
    texts = tokens.texts
    for index in reversed([i for i in tokens.names.get(name, ()) if i < before]):
        follow = texts[index + 1] if index + 1 < len(texts) else ""
        if follow in ("+=", "-=", "*=", "/=", "++", "--", "<<=", ">>=") or texts[index - 1] in ("++", "--", "&"):
            return None
        if follow == "=":
            end = index + 2
            while end < len(texts) and texts[end] not in (";", ",", "}", ")"):
                end = tokens.partner.get(end, end) + 1 if texts[end] in "([{" else end + 1
            return _value(bodies, tokens, parse_expression(tokens, index + 2, end), index, depth + 1)
    return None
