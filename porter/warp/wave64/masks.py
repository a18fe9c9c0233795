"""Which expressions of a function are masks with one bit for each of 64 lanes."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass, replace
from functools import cached_property

from porter.cpp.constants import number
from porter.cpp.nodes import Node, unwrapped
from porter.warp.collectives import COLLECTIVES
from porter.warp.wave64.lanes import Lanes
from porter.warp.wave64.names import HALF, MASK_CALLS, WHOLE
from porter.warp.wave64.types import bits_of

_DEEPEST = 50
_DEEPEST_HELPER = 2
_OF_GROUPS = frozenset({"ballot", "match_any", "match_all"})
_SHUFFLES = frozenset(name for name, one in COLLECTIVES.items() if one.kind == "shuffle")
_CASTS = frozenset({"uint64_t", "int64_t", "size_t"})


@dataclass(frozen=True)
class Masks(Lanes):
    """A function with the masks in it."""

    depth: int = 0
    """How many calls lie between it and the function that was asked about."""

    def is_mask(self, node: Node) -> bool:
        """Whether an expression holds one bit for each of 64 lanes, and is as wide."""
        return self._holds_mask(node, self._mask_names)

    @cached_property
    def _mask_names(self) -> Set[str]:
        """The variables that are set to a mask somewhere."""
        found: set[str] = set()
        waiting = {
            name: values
            for name, values in self.values.items()
            if self.types.get(name) == WHOLE or name in self.automatic
        }
        while True:
            new = [name for name, values in waiting.items() if any(self._holds_mask(one, found) for one in values)]
            if not new:
                return found
            found.update(new)
            for name in new:
                del waiting[name]

    def _holds_mask(self, node: Node, known: Set[str], depth: int = 0) -> bool:
        node = node if node.kind == "cast" and node.text else unwrapped(node)
        if depth > _DEEPEST:
            return False
        if node.kind == "call":
            return self._is_mask_call(node, known, depth)
        if node.kind == "cast":
            return self.cast_bits(node) == WHOLE and self._holds_mask(node.kids[0], known, depth + 1)
        if node.kind == "name":
            return node.text in known
        if node.kind == "comma":
            return self._holds_mask(node.kids[-1], known, depth + 1)
        if node.kind == "unary" and node.text == "~":
            return self._holds_mask(node.kids[0], known, depth + 1)
        if node.kind == "ternary":
            return any(self._holds_mask(kid, known, depth + 1) for kid in node.kids[1:])
        if node.kind in ("binary", "assign"):
            return self._is_mask_operation(node, known, depth)
        return False

    def _is_mask_call(self, node: Node, known: Set[str], depth: int) -> bool:
        name = node.callee.rpartition("::")[2]
        if node.callee.startswith("porter::"):
            return False
        if name in MASK_CALLS and "." not in name and self.is_hips(node):
            return True
        if node.kids[0].kind == "member" and node.kids[0].text in _OF_GROUPS:
            return self._is_whole_group(node.kids[0].kids[0], 0)
        if name in _SHUFFLES or (name in _CASTS and bits_of([name], self.aliases) == WHOLE):
            values = node.arguments[1:2] if name.endswith("_sync") else node.arguments[:1]
            return any(self._holds_mask(value, known, depth + 1) for value in values)
        one = self.branches.operations.get(node.callee)
        if one is not None:
            return one.kind != "shuffle"
        return self._returns_mask(name)

    def _returns_mask(self, name: str) -> bool:
        """Whether all functions of a name in sight return masks, as wide as they are."""
        helpers = self.bodies.by_name.get(name, ())
        if not helpers or self.depth >= _DEEPEST_HELPER or any(one == self.function for one in helpers):
            return False
        inside = [replace(self, function=one, depth=self.depth + 1) for one in helpers]
        return all(one.returns == WHOLE and one.returns_masks for one in inside)

    @cached_property
    def returns_masks(self) -> bool:
        """Whether what the function returns is a mask, in each of its returns."""
        returned = [node.kids[0] for node in self.function.body.walk() if node.kind == "return" and node.kids]
        return bool(returned) and all(map(self.is_mask, returned))

    def _is_whole_group(self, group: Node, depth: int) -> bool:
        """Whether a cooperative group has all lanes of a wavefront, or those that are active in it."""
        if group.kind == "call":
            name = group.callee.rpartition("::")[2]
            return name == "coalesced_threads" or (name == "tiled_partition" and group.kids[0].extra.strip() == "64")
        values = self.values.get(group.text, ()) if group.kind == "name" and depth < _DEEPEST_HELPER else ()
        return any(self._is_whole_group(value, depth + 1) for value in values)

    def _is_mask_operation(self, node: Node, known: Set[str], depth: int) -> bool:
        operator, (left, right) = node.text.removesuffix("=") or "=", node.kids

        def holds(kid: Node) -> bool:
            return self._holds_mask(kid, known, depth + 1)

        if operator == "&":
            return any(holds(a) and not self._cuts(b) for a, b in ((left, right), (right, left)))
        if operator in ("|", "^"):
            return holds(left) or holds(right)
        if operator in ("<<", ">>"):
            if holds(left):
                return not self.is_half(right)
            return _is_long(unwrapped(left)) and self.lane(right) == WHOLE
        if operator in ("-", "+"):
            return holds(left) and unwrapped(right).kind == "number"
        return False

    def _cuts(self, node: Node) -> bool:
        """Whether `& node` takes a half, or single bits, on purpose."""
        value = self.size(node)
        return value is not None and 0 <= value <= 0xFFFFFFFF

    def is_half(self, shift: Node) -> bool:
        """Whether a shift by this brings one half of a wavefront down: 32, `lane & 32`, `half * 32`."""
        inner = unwrapped(shift)
        if self.size(inner) == HALF:
            return True
        if inner.kind == "binary" and inner.text == "*":
            return True  # the number of a group times its size
        if inner.kind == "name":
            return any(self.is_half(one) for one in self.values.get(inner.text, ()))
        return inner.kind in ("binary", "ternary") and any(
            self.size(kid) == HALF
            or (inner.kind == "ternary" and self.is_half(kid))
            or (unwrapped(kid).kind == "binary" and self.is_half(kid))
            for kid in inner.kids
        )

    @cached_property
    def takes_halves(self) -> bool:
        """Whether the function looks at both halves of a mask, or of a wavefront, by itself."""
        return any(
            (node.kind == "binary" and node.text == ">>" and self.is_mask(node.kids[0]) and self.is_half(node.kids[1]))
            or (node.kind == "call" and "mbcnt" in node.callee)
            for node in self.function.body.walk()
        )


def _is_long(node: Node) -> bool:
    """Whether a literal has 64 bits."""
    if node.kind == "cast" and "64" in node.text:
        return True
    if node.kind == "unary" and node.text in ("~", "-"):
        return _is_long(unwrapped(node.kids[0]))
    value = number(node.text) if node.kind == "number" else None
    return value is not None and ("ll" in node.text.lower() or "l" in node.text.lower()[-2:] or value > 0xFFFFFFFF)
