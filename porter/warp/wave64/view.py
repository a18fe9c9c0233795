"""The functions of a file that are compiled for 64 lanes and are AMD's own."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

from porter.cpp.nodes import EMPTY, Node, names, unwrapped
from porter.engine.unit import Unit
from porter.warp.bodies import Bodies, bodies_in_sight
from porter.warp.function import Function
from porter.warp.wave64.branches import branches
from porter.warp.wave64.masks import Masks
from porter.warp.wave64.names import HALF
from porter.warp.wave64.types import aliases_of


@dataclass(frozen=True)
class View(Masks):
    """A function with what its expressions mean for the lanes."""

    @property
    def why(self) -> str:
        """What makes a function of both vendors one of 64 lanes, as the end of a message."""
        return f"; for AMD {self.shared} is 64 here" if self.shared else ""

    def guarded_below_32(self, node: Node) -> bool:
        """Whether only lanes below 32 come to a node."""
        above = self.parents.get(id(node), EMPTY)
        below = node
        while above is not EMPTY:
            if above.kind in ("if", "ternary") and below is above.kids[1] and _is_below_32(above.kids[0], self):
                return True
            below, above = above, self.parents.get(id(above), EMPTY)
        return False


def _is_below_32(condition: Node, view: View) -> bool:
    node = unwrapped(condition)
    if node.kind == "binary" and node.text == "&&":
        return any(_is_below_32(kid, view) for kid in node.kids)
    if node.kind != "binary" or node.text not in ("<", "<="):
        return False
    bound = view.size(node.kids[1])
    return bound is not None and bound <= HALF and any(True for _ in names(node.kids[0]))


def has_operations(unit: Unit, *parts: str) -> bool:
    """Whether a file with code for 64 lanes, or what it uses of its headers, has a name with one of some parts."""
    if not unit.dialects.has_hip and not branches(unit).sizes:
        return False
    names = bodies_in_sight(unit).tokens.names_in_lower_case
    return any(part in names for part in parts)


def views(unit: Unit) -> tuple[View, ...]:
    """The functions of a file that are compiled for 64 lanes and are AMD's own."""
    bodies = bodies_in_sight(unit)
    known = bodies.memo.get("wave64")
    if known is None:
        known = bodies.memo["wave64"] = tuple(_views(unit, bodies))
    return cast("tuple[View, ...]", known)


def _views(unit: Unit, bodies: Bodies) -> Iterator[View]:
    aliases, defined = aliases_of(unit.tokens), branches(unit)
    by_helper = {
        one.name: min(defined.sizes & one.words)
        for one in (bodies.all_functions if defined.sizes else ())
        if not defined.sizes.isdisjoint(one.words)
    }
    for function in bodies.functions:
        if function.head.body is None:
            continue
        start = function.tokens.starts[function.head.begin]
        counts = sorted(defined.sizes & function.words)
        counts += sorted(by_helper[name] for name in by_helper.keys() & function.words)
        if counts and not unit.dialects.is_hip(start) and unit.dialects.is_seen_by_64(start):
            yield View(unit, bodies, function, aliases, defined, counts[0])
        elif any(True for _ in _places(unit, function)):
            yield View(unit, bodies, function, aliases, defined)


def _places(unit: Unit, function: Function) -> Iterator[int]:
    """Offsets of a function's own lines that are AMD's: where it begins, and where its branches do."""
    tokens = function.tokens
    start, end = tokens.starts[function.head.begin], tokens.starts[function.head.end - 1]
    for place in (start, *(region.start for region in unit.dialects.regions if start < region.start < end)):
        if unit.dialects.is_for_64(place):
            yield place


def file_groups(unit: Unit) -> frozenset[int]:
    """The sizes of groups of lanes that the functions of a file count with."""
    return frozenset().union(*(view.groups for view in views(unit)))
