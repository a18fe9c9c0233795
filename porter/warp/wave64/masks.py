"""Which expressions of a function are masks with one bit for each of 64 lanes."""

from __future__ import annotations

from collections.abc import Set
from dataclasses import dataclass
from functools import cached_property

from porter.cpp.constants import number
from porter.cpp.nodes import Node, unwrapped
from porter.warp.wave64.lanes import Lanes
from porter.warp.wave64.names import HALF, MASK_CALLS, WHOLE

_DEEPEST = 50


@dataclass(frozen=True)
class Masks(Lanes):
    """A function with the masks in it."""

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
            return self._is_mask_call(node)
        if node.kind == "cast":
            return self.cast_bits(node) == WHOLE and self._holds_mask(node.kids[0], known, depth + 1)
        if node.kind == "name":
            return node.text in known
        if node.kind == "unary" and node.text == "~":
            return self._holds_mask(node.kids[0], known, depth + 1)
        if node.kind == "ternary":
            return any(self._holds_mask(kid, known, depth + 1) for kid in node.kids[1:])
        if node.kind in ("binary", "assign"):
            return self._is_mask_operation(node, known, depth)
        return False

    def _is_mask_call(self, node: Node) -> bool:
        name = node.callee.rpartition("::")[2]
        if node.callee.startswith("porter::"):
            return False
        if name in MASK_CALLS and "." not in name and self.is_hips(node):
            return True
        one = self.branches.operations.get(node.callee)
        return one is not None and one.kind != "shuffle"

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
