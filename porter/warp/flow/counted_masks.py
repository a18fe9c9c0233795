"""Masks of the first n lanes, `(1u << n) - 1`, from the exchange that has one back to the shift.

They are followed through variables, helpers, members of structures and what callers hand on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import NamedTuple

from porter.cpp.constants import WARP
from porter.cpp.nodes import Node, bare_callee, unwrapped
from porter.warp.bodies import Bodies
from porter.warp.collectives import CHOSEN, COLLECTIVES, FULL, argument, collective
from porter.warp.flow.lane_distance import Distances
from porter.warp.function import Function

__all__ = ["COLLECTIVES", "CountedMask", "CountedMasks", "Distances"]

_DEEPEST = 5
_NAMES = frozenset({*COLLECTIVES, *(name.removeprefix("__") for name in COLLECTIVES)})
_BOUNDS = frozenset({"<", "<=", ">", ">=", "==", "!="})


class CountedMask(NamedTuple):
    """A shift that gives no lane where it should give all, and where that reaches an exchange."""

    owner: Function
    shift: Node
    here: Node | None
    """Where this file has the mask first, on its way back from the exchange; None: it is a header's affair."""


class _Call(NamedTuple):
    """The call by which a helper was come to."""

    caller: Function
    call: Node


class CountedMasks:
    """Those of one file."""

    def __init__(self, bodies: Bodies) -> None:
        self.bodies = bodies
        self._distances: dict[Function, Distances] = {}
        self._handed: dict[tuple[Function, int], tuple[tuple[Function, Node], ...]] = {}
        self._walked: dict[tuple[int, int, int, int, int], int] = {}
        """How deep a value was met at least: by its place, its function, where this file has the mask, and the call."""
        self._homes: dict[int, int] = {}

    def find(self) -> Iterator[CountedMask]:
        """Each shift once for each place that it reaches."""
        for user in self.bodies.all_functions:
            if _NAMES.isdisjoint(user.words):
                continue
            for mask in self._masks(user):
                yield from self._shifts(mask, user, 0, None)

    def _masks(self, function: Function) -> Iterator[Node]:
        for call, found in function.collectives:
            mask = argument(call, found.mask)
            if mask is not None:
                yield mask
        if any(found.kind in CHOSEN for _, found in function.collectives):
            for node in function.body.walk():
                if node.text in ("&", "&=") and node.kind in ("binary", "assign"):
                    one, two = node.kids
                    yield from (b for a, b in ((one, two), (two, one)) if self._is_vote(a, function, 0))

    def _is_vote(self, node: Node, function: Function, depth: int) -> bool:
        node = unwrapped(node)
        if node.kind == "name" and depth < 2:
            sources = self._known(function).sources.get(node.text, ())
            return any(self._is_vote(source, function, depth + 1) for source in sources)
        found = collective(node)
        return found is not None and found.kind in CHOSEN

    def _known(self, function: Function) -> Distances:
        if function not in self._distances:
            self._distances[function] = Distances(self.bodies, function)
        return self._distances[function]

    def _shifts(
        self, mask: Node, function: Function, depth: int, here: Node | None, by: _Call | None = None
    ) -> Iterator[CountedMask]:
        """The shifts that a mask comes from, each with its function."""
        node = unwrapped(mask)
        if here is None and self.bodies.is_own(function):
            here = mask
            self._homes[here.first] = function.head.begin
        if depth > _DEEPEST or self._is_walked(node, function, depth, here, by):
            return
        shift = self._shift(node, function)
        if shift is not None:
            if self._may_be_all(unwrapped(shift.kids[1]), function, by):
                yield CountedMask(function, shift, here)
        elif node.kind == "cast" and len(node.kids) == 1:
            yield from self._shifts(node.kids[0], function, depth, here, by)
        elif node.kind == "binary" and node.text in ("&", "|"):
            for kid in node.kids:
                yield from self._shifts(kid, function, depth + 1, here, by)
        elif node.kind == "name":
            yield from self._named(node.text, function, depth, here, by)
        elif node.kind == "member":
            yield from self._member(node.text, depth, here)
        elif node.kind == "call":
            for helper in self.bodies.by_name.get(bare_callee(node), ()):
                if helper.takes(len(node.arguments)):
                    for value in _returned(helper):
                        yield from self._shifts(value, helper, depth + 1, here, _Call(function, node))

    def _is_walked(self, node: Node, function: Function, depth: int, here: Node | None, by: _Call | None) -> bool:
        """Whether a value was followed for the same function of this file: overloads call each other in rings."""
        home = -1 if here is None else self._homes[here.first]
        key = (node.first, node.last, function.head.begin, home, -1 if by is None else by.call.first)
        if self._walked.get(key, _DEEPEST + 1) <= depth:
            return True
        self._walked[key] = depth
        return False

    def _named(
        self, name: str, function: Function, depth: int, here: Node | None, by: _Call | None = None
    ) -> Iterator[CountedMask]:
        sources = self._known(function).sources.get(name, ())
        for source in sources:
            yield from self._stepped(name, source, function, here, by)
            yield from self._shifts(source, function, depth + 1, here, by)
        if name in function.parameters:
            for caller, passed in self._passed(function, function.parameters.index(name)):
                yield from self._shifts(passed, caller, depth + 1, here)
        elif not sources:
            yield from self._member(name, depth, here)

    def _member(self, name: str, depth: int, here: Node | None) -> Iterator[CountedMask]:
        for function, value in self._members.get(name, ()):
            yield from self._stepped(name, value, function, here, None)
            yield from self._shifts(value, function, depth + 1, here)

    def _stepped(
        self, name: str, value: Node, function: Function, here: Node | None, by: _Call | None
    ) -> Iterator[CountedMask]:
        """`m = 1u << n; m -= 1;`."""
        shift = unwrapped(value)
        known = self._known(function)
        is_mask = known.steps.get(name) == -1 and self._is_shift_of(shift, 1, known)
        if is_mask and self._may_be_all(unwrapped(shift.kids[1]), function, by):
            yield CountedMask(function, shift, here or (shift if self.bodies.is_own(function) else None))

    def _passed(self, function: Function, place: int) -> tuple[tuple[Function, Node], ...]:
        """What callers in sight hand to a parameter."""
        key = (function, place)
        if key not in self._handed:
            self._handed[key] = tuple(self._found_passed(function, place))
        return self._handed[key]

    def _found_passed(self, function: Function, place: int) -> Iterator[tuple[Function, Node]]:
        for caller in self.bodies.callers(function.name) if _is_called(self.bodies, function) else ():
            for call in caller.calls:
                if caller != function and bare_callee(call) == function.name and function.takes(len(call.arguments)):
                    passed = argument(call, place)
                    if passed is not None:
                        yield caller, passed

    @cached_property
    def _members(self) -> Mapping[str, tuple[tuple[Function, Node], ...]]:
        """What members are set to, by assignments, and by what a constructor says first."""
        found: dict[str, tuple[tuple[Function, Node], ...]] = {}
        for function in self.bodies.all_functions:
            if self._shifting.isdisjoint(function.words):
                continue
            declared = {variable.text for one in function.declarations for variable in one.kids}
            begun = {kid.first for kid in function.body.kids if kid.first < (function.head.body or 0)}
            for node in function.body.walk():
                target = unwrapped(node.kids[0]) if node.kind == "assign" and node.text == "=" else node
                if node.kind == "assign" and node.text == "=" and target.kind == "member":
                    found[target.text] = (*found.get(target.text, ()), (function, node.kids[1]))
                elif node.kind == "assign" and target.kind == "name" and node.text == "=":
                    if target.text not in function.parameters and target.text not in declared:
                        found[target.text] = (*found.get(target.text, ()), (function, node.kids[1]))
                elif node.kind == "call" and len(node.kids) == 2 and node.first in begun:
                    found[node.callee] = (*found.get(node.callee, ()), (function, node.kids[1]))
        return found

    @cached_property
    def _shifting(self) -> frozenset[str]:
        """The sign of a shift, and the functions that have one."""
        return frozenset({"<<", *(one.name for one in self.bodies.all_functions if "<<" in one.words)})

    def _shift(self, node: Node, function: Function) -> Node | None:
        """The shift of `(1u << n) - 1` and `~(~0u << n)`, of 32 bits."""
        value = self.bodies.constants.value
        if node.kind == "binary" and node.text == "-" and value(node.kids[1]) == 1:
            first = 1
        elif node.kind == "unary" and node.text == "~":
            first = FULL
        else:
            return None
        shift = unwrapped(node.kids[-1] if node.kind == "unary" else node.kids[0])
        return shift if self._is_shift_of(shift, first, self._known(function)) else None

    def _is_shift_of(self, shift: Node, first: int, known: Distances) -> bool:
        """Whether a value of 32 bits is shifted to the left that is some number."""
        if shift.kind != "binary" or shift.text != "<<":
            return False
        shifted = self.bodies.constants.value(shift.kids[0])
        return shifted is not None and shifted & FULL == first and not known.is_wide(shift.kids[0])

    def _may_be_all(self, count: Node, function: Function, by: _Call | None, depth: int = 0) -> bool:
        """Whether a count may be that of all lanes; a parameter's is what callers in sight hand to it."""
        if depth > _DEEPEST or _is_guarded(self.bodies, function, count):
            return False
        value = self.bodies.constants.value(count)
        if value is not None:
            return value == WARP
        if count.kind == "name" and count.text in function.parameters:
            place = function.parameters.index(count.text)
            given = argument(by.call, place) if by is not None else None
            passed = list(self._passed(function, place)) if by is None or given is None else [(by.caller, given)]
            if passed:
                return any(self._may_be_all(unwrapped(node), caller, None, depth + 1) for caller, node in passed)
        return self._known(function).may_be_all(count)


def _is_called(bodies: Bodies, function: Function) -> bool:
    """Whether a function's name is written besides its own head."""
    return len(bodies.tokens.names.get(function.name, ())) > 1


def _returned(function: Function) -> Iterator[Node]:
    return (node.kids[0] for node in function.body.walk() if node.kind == "return" and node.kids)


def _is_guarded(bodies: Bodies, function: Function, count: Node) -> bool:
    """Whether something asks whether a count is all lanes: `n < 32 ? ... : ~0u`, `if (n == 32) return ~0u;`."""
    counted = {node.text for node in count.walk() if node.kind in ("name", "member")}
    for node in function.body.walk():
        if node.kind in ("if", "ternary"):
            for test in node.kids[0].walk():
                if test.kind == "binary" and test.text in _BOUNDS:
                    asked = {one.text for one in test.walk() if one.kind in ("name", "member")}
                    if counted & asked and any(bodies.constants.value(kid) in (WARP - 1, WARP) for kid in test.kids):
                        return True
    return False
