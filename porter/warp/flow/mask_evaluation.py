"""The masks of a walk over a function: what a variable or an expression names of the lanes where it stands."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass, field

from porter.cpp.nodes import EMPTY, Node, calls, names, spelled, unwrapped
from porter.warp.collectives import CHOSEN, argument, collective
from porter.warp.flow.evaluation import Evaluation
from porter.warp.flow.events import State
from porter.warp.flow.masks import ALL, SOME, UNKNOWN, Lanes, Mask, either, latest, literal
from porter.warp.flow.spread import UNIFORM, Spread


@dataclass
class MaskEvaluation(Evaluation):
    """Keeps what the variables of a walk hold as masks."""

    masks_passed: list[tuple[str, dict[int, Mask]]] = field(default_factory=list)
    """The masks that calls hand on, with the names that are called."""

    @functools.cached_property
    def _has_masks(self) -> bool:
        """Whether the function has an operation whose mask is no constant, or hands such a mask on."""
        handed = any(self.bodies.operations.mask_places(name) for name in self.function.called)
        if not self.function.collectives and not handed:
            return False
        if not self.bodies.macros.bodies.keys().isdisjoint(self.function.called):
            return True
        return any(not self.bodies.constants.possible(unwrapped(mask)) for mask in self._written_masks())

    def _written_masks(self) -> Iterator[Node]:
        for call in self.function.calls:
            found = collective(call)
            if found is None:
                yield from self.bodies.operations.handed_masks(call)
            elif (mask := argument(call, found.mask)) is not None:
                yield mask

    def _remember_mask(self, name: str, source: Node, state: State, operator: str = "=") -> None:
        """Keeps what a variable holds as a mask: asked where an operation of the warp has one."""
        if not self._has_masks:
            return
        mask = self._mask(source, state)
        if operator != "=":
            mask = self._combined(operator, state.masks.get(name, UNKNOWN), mask)
        state.masks = {**state.masks, name: mask._replace(of=mask.of | {name})}

    def _combined(self, operator: str, old: Mask, new: Mask) -> Mask:
        if operator == "|=":
            return either((old, new))
        return Mask(Lanes.SOME, latest((old, new)), old.of | new.of)

    def _mask(self, node: Node, state: State) -> Mask:
        """What an expression names of a warp's lanes."""
        node = unwrapped(node)
        if node.kind == "list" and len(node.kids) == 1:
            return self._mask(node.kids[0], state)
        if node.kind == "assign":
            return self._mask(node.kids[1], state)
        if node.kind == "ternary":
            chosen = either(self._mask(kid, state) for kid in node.kids[1:])
            return chosen if chosen.since is None else chosen._replace(of=chosen.of.union(names(node.kids[0])))
        name = spelled(node)
        if name and name in state.masks:
            return state.masks[name]
        if node.kind == "name":
            return self._named_mask(node, state)
        if node.kind == "call" and (known := self._called_mask(node, state)) is not None:
            return known
        if node.kind == "member" and "mask" in node.text.lower():
            return SOME
        return self._calculated(node, state)

    def _named_mask(self, node: Node, state: State) -> Mask:
        if node.text in self.function.template_parameters:
            return self._template_mask(node.text)
        values = self.bodies.constants.possible(node)
        if not values and state.values.get(node.text, UNIFORM).spread is not Spread.BLOCK:
            return SOME
        return literal(values)

    def _template_mask(self, name: str) -> Mask:
        """What the calls in sight and the default say of a parameter of the template."""
        place = self.function.template_parameters.index(name)
        called = (
            call.kids[0].kids[place]
            for caller in self.bodies.callers(self.function.name)
            for call in caller.calls
            if call.callee.rpartition("::")[2] == self.function.name and len(call.kids[0].kids) > place
        )
        given = [self.bodies.constants.possible(value) for value in called]
        if (default := self.function.template_default(name)) is not None:
            given.append(self.bodies.constants.possible(default))
        return UNKNOWN if not all(given) else literal(frozenset[int]().union(*given))

    def _called_mask(self, node: Node, state: State) -> Mask | None:
        """The lanes that are there, or what a function in sight always gives."""
        found = collective(node)
        if found is not None and found.kind in CHOSEN:
            return Mask(Lanes.SOME, len(state.branches), frozenset(names(node)))
        name = node.callee.rpartition("::")[2]
        returned = self._returned_masks(name) if found is None else ()
        if returned and all(literal(self.bodies.constants.possible(unwrapped(one))) is ALL for one in returned):
            return ALL
        inside = (collective(call) for one in returned for call in calls(one))
        if any(one is not None and one.kind == "active" for one in inside):
            return Mask(Lanes.SOME, len(state.branches))
        return SOME if "mask" in name.lower() else None

    def _returned_masks(self, name: str) -> tuple[Node, ...]:
        """What the functions in sight return whose name speaks of a mask."""
        if not any(word in name.lower() for word in ("mask", "full", "active")):
            return ()
        inside = (node for one in self.bodies.by_name.get(name, ()) for node in one.body.walk())
        return tuple(node.kids[0] for node in inside if node.kind == "return" and node.kids)

    def _calculated(self, node: Node, state: State) -> Mask:
        """A mask that is written out: a constant, or lanes that hang on the variables in it."""
        read = frozenset(names(node))
        if read.isdisjoint(state.masks) and (constant := self.bodies.constants.value(node)) is not None:
            return literal(frozenset({constant}))
        inner = [self._called_mask(below, state) for below in calls(node)]
        kept = [state.masks[name] for name in read if name in state.masks]
        made = [mask for mask in (*inner, *kept) if mask is not None and mask.lanes is not Lanes.ALL]
        if any(mask is SOME for mask in inner) or any("mask" in below.text.lower() for below in _members(node)):
            return SOME
        spreads = any(state.values.get(name, UNIFORM).spread is not Spread.BLOCK for name in read)
        if not made and not spreads and not any(below.kind == "binary" for below in node.walk()):
            return UNKNOWN
        return Mask(Lanes.SOME, latest(made) or 0, read.union(*(mask.of for mask in made)))

    def _masks_of_call(self, name: str, node: Node, state: State) -> tuple[Mask, ...]:
        """The masks that a call hands on, by an argument or a default value; those of a macro's own text."""
        bodies = self.bodies
        found: dict[int, Mask] = {}
        for place in bodies.operations.mask_places(name):
            if place < len(node.arguments):
                found[place] = self._mask(node.arguments[place], state)
            else:
                values = [defaults[place] for defaults in bodies.defaults(name) if place < len(defaults)]
                written = [literal(bodies.constants.possible(value)) for value in values if value is not EMPTY]
                if written:
                    found[place] = either(written)
        if found:
            self.masks_passed.append((name, found))
        return (*found.values(), *self._masks_of_macro(name, node))

    def _masks_of_macro(self, name: str, node: Node) -> list[Mask]:
        if name not in self.bodies.macros.bodies:
            return []
        written = list(node.arguments)
        for _, body in self.bodies.macros.bodies[name]:
            made = ((call, collective(call)) for call in calls(body))
            written += [mask for call, found in made if found and (mask := argument(call, found.mask)) is not None]
        known = (literal(self.bodies.constants.possible(unwrapped(mask))) for mask in written)
        return [mask for mask in known if mask is ALL]


def _members(node: Node) -> list[Node]:
    return [below for below in node.walk() if below.kind == "member"]
