"""Launch geometry as far as it is constant: expressions of the host, read backwards from the launch."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import cast

from porter.cpp.constants import WARP, value_end
from porter.cpp.launches import find_launches
from porter.cpp.lex import Tokens, lex
from porter.cpp.nodes import Node
from porter.cpp.statements import parse_expression
from porter.engine.unit import Unit
from porter.model import Launch
from porter.warp.bodies import Bodies, bodies_of
from porter.warp.flow.host_values import Reaches, changes_in_loop, declares_dim3, may_change, reaches

_DEEPEST = 6
_SIDES = ("x", "y", "z")
_CEILING = re.compile(r"(?:\w*ceil\w*div\w*|\w*div\w*(?:up|ceil)\w*|cdiv|iDivUp|getNumBlocks)", re.IGNORECASE)
_QUERIES = frozenset({"cudaDeviceGetAttribute", "hipDeviceGetAttribute"})
_ATTRIBUTES = frozenset({"cudaDevAttrWarpSize", "hipDeviceAttributeWarpSize"})


def launches_of(unit: Unit) -> tuple[Launch, ...]:
    """The launch sites of a file."""
    memo = bodies_of(unit).memo
    if "launches" not in memo:
        memo["launches"] = find_launches(unit.tokens, unit.source.path, unit.source)
    return cast("tuple[Launch, ...]", memo["launches"])


def block_threads(bodies: Bodies, launch: Launch) -> int | None:
    """Threads per block of a launch, where its expression comes to a constant."""
    return product(block_shape(bodies, launch))


def block_shape(bodies: Bodies, launch: Launch) -> tuple[int | None, ...] | None:
    """Sizes of a block by dimension; None in place of a size that is no constant."""
    return Host(bodies).shape(launch.block, launch)


def grid_blocks(bodies: Bodies, launch: Launch, unknown: int) -> int | None:
    """Blocks of a launch when every variable that is not known has one value."""
    return product(Host(bodies, unknown).shape(launch.grid, launch))


def product(sizes: tuple[int | None, ...] | None) -> int | None:
    """All sizes multiplied; None when one is not known."""
    if sizes is None:
        return None
    result = 1
    for size in sizes:
        if size is None:
            return None
        result *= size
    return result


@dataclass(frozen=True, slots=True)
class Host:
    """Evaluates expressions of host code; `unknown` stands for what cannot be known."""

    bodies: Bodies
    unknown: int | None = None

    def shape(self, text: str, launch: Launch) -> tuple[int | None, ...] | None:
        """The sizes that a configuration argument stands for."""
        tokens = lex(text)
        node = parse_expression(tokens, 0, len(tokens))
        if node.last < len(tokens) - 1:
            return None
        return self._sizes(tokens, node, self.bodies.tokens.at(launch.span.start), 0)

    def _sizes(self, tokens: Tokens, node: Node, before: int, depth: int) -> tuple[int | None, ...]:
        if node.kind == "call" and node.callee == "dim3":
            return tuple(self.value(kid, before, depth) for kid in node.arguments)
        if node.kind == "list":
            return tuple(self.value(kid, before, depth) for kid in node.kids)
        if node.kind == "name" and (members := self._members(node.text, before, depth)):
            return members
        if node.kind == "name" and depth < _DEEPEST and (found := self._dim3(node.text, before)) is not None:
            value = parse_expression(self.bodies.tokens, *found)
            if value.kind == "comma":
                return tuple(self.value(kid, found[0], depth + 1) for kid in value.kids)
            return self._sizes(self.bodies.tokens, value, found[0], depth + 1)
        return (self.value(node, before, depth),)

    def _members(self, name: str, before: int, depth: int) -> tuple[int | None, ...]:
        """`dim3 name; name.x = 16; name.y = 2;`: the sizes that stand between the declaration and a place."""
        tokens = self.bodies.tokens
        texts = tokens.texts
        sizes: list[int | None] = []
        for index in (i for i in tokens.names.get(name, ()) if i + 3 < before):
            if texts[index - 1] == "dim3":
                sizes = [1, 1, 1] if texts[index + 1] == ";" else []
            elif sizes and texts[index + 1] == "." and texts[index + 2] in _SIDES and texts[index + 3] == "=":
                value = parse_expression(tokens, index + 4, value_end(tokens, index + 4))
                known = reaches(tokens, index, before) is Reaches.SURELY
                sizes[_SIDES.index(texts[index + 2])] = self.value(value, index, depth + 1) if known else None
        return tuple(sizes) if sizes != [1, 1, 1] else ()

    def _dim3(self, name: str, before: int) -> tuple[int, int] | None:
        """Tokens of the initial value of the nearest `dim3 name(...)` before a place."""
        tokens = self.bodies.tokens
        texts = tokens.texts
        if changes_in_loop(tokens, name, before):
            return None
        for index in reversed([i for i in tokens.names.get(name, ()) if i < before]):
            follow = texts[index + 1]
            gives = follow in ("(", "{") and declares_dim3(tokens, index)
            if (gives or follow == "=") and (how := reaches(tokens, index, before)) is not Reaches.SURELY:
                if how is Reaches.NEVER:
                    continue
                return None
            if gives:
                closed = tokens.partner.get(index + 1)
                return None if closed is None else (index + 2, closed)
            if follow == "=":
                is_dim3 = texts[index - 1] == "dim3" or texts[index + 2] == "dim3"
                return (index + 2, value_end(tokens, index + 2)) if is_dim3 else None
            if follow == "." or may_change(tokens, index):
                return None
        return None

    def value(self, node: Node, before: int, depth: int = 0) -> int | None:
        """An integer expression; plain local variables that are set once are looked through."""
        constants = self.bodies.constants
        if depth > _DEEPEST:
            return None
        constant = constants.value(node)
        if constant is not None:
            return constant
        kids = node.kids
        if node.kind == "cast" and len(kids) == 1:
            return self.value(kids[0], before, depth)
        if node.kind in ("binary", "unary"):
            values = [self.value(kid, before, depth) for kid in kids]
            if None in values:
                return None
            literals = tuple(_literal(value or 0) for value in values)
            return constants.value(Node(node.kind, 0, 0, node.text, literals))
        if node.kind == "ternary":
            condition = self.value(kids[0], before, depth)
            return None if condition is None else self.value(kids[1 if condition else 2], before, depth)
        if node.kind == "name":
            return self._local(node.text, before, depth)
        if node.kind == "member":
            return WARP if node.text == "warpSize" else self.unknown
        if node.kind == "call":
            return self._call(node, before, depth)
        return None

    def _call(self, node: Node, before: int, depth: int) -> int | None:
        name = node.callee.rpartition("::")[2]
        values = [self.value(kid, before, depth) for kid in node.arguments]
        if len(values) != 2 or None in values:
            return self.unknown if not values else None
        one, two = values[0] or 0, values[1] or 0
        if _CEILING.fullmatch(name) and two:
            return -(-one // two)
        return {"min": min, "max": max}[name](one, two) if name in ("min", "max") else None

    def _local(self, name: str, before: int, depth: int) -> int | None:
        tokens = self.bodies.tokens
        texts = tokens.texts
        if changes_in_loop(tokens, name, before):
            return self.unknown
        for index in reversed([i for i in tokens.names.get(name, ()) if i < before]):
            if texts[index - 1] == "&" and (width := self._queried(index, depth)) is not None:
                return width
            if may_change(tokens, index):
                return self.unknown
            if texts[index + 1] == "=":
                how = reaches(tokens, index, before)
                if how is Reaches.NEVER:
                    continue
                node = parse_expression(tokens, index + 2, value_end(tokens, index + 2))
                return self.value(node, index, depth + 1) if how is Reaches.SURELY else self.unknown
        return self.unknown

    def _queried(self, index: int, depth: int) -> int | None:
        """What a query of the device puts into a variable, if it asks for the warp size."""
        texts = self.bodies.tokens.texts
        callee = index - 3
        if texts[callee] in _QUERIES and texts[index + 2] in _ATTRIBUTES:
            return WARP
        if texts[callee] == "get_warp_size":
            closed = self.bodies.tokens.partner.get(callee + 1, index)
            given = "".join(texts[index:closed]).rpartition(",")[2]
            return 2 * WARP if given == "porter::wide::warpSize" else WARP
        return None


def _literal(value: int) -> Node:
    return Node("number", 0, 0, str(value)) if value >= 0 else Node("unary", 0, 0, "-", (_literal(-value),))
