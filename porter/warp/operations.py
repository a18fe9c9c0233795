"""Which warp-wide and block-wide operations the functions and macros of a file come to."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from porter.cpp.asm import KEYWORDS, said
from porter.cpp.heads import Head
from porter.cpp.lex import Tokens
from porter.cpp.nesting import Nesting
from porter.cpp.nodes import Node, calls, unwrapped
from porter.warp.collectives import BARRIERS, CHOSEN, COLLECTIVES, GROUPS, argument, collective
from porter.warp.function import CALLED, Function, class_named
from porter.warp.groups import block_groups, is_block, synchronised
from porter.warp.macros import Macros


@dataclass(frozen=True)
class Operations:
    """What the functions of some tokens come to."""

    tokens: Tokens
    macros: Macros
    functions: tuple[Function, ...]
    """Those of headers in sight among them."""
    nesting: Nesting
    """Their bodies."""
    by_name: Mapping[str, tuple[Function, ...]]
    instances: Mapping[str, tuple[Function, ...]]
    """Those that macros make."""
    members: frozenset[str]
    """Names of functions that may be members."""

    @cached_property
    def reach(self) -> Mapping[str, frozenset[str]]:
        """Kinds of warp-wide and block-wide operations that a function or macro in sight comes to.

        Those that come to none may be missing.
        """
        direct: dict[str, set[str]] = {}
        called: dict[str, set[str]] = {}
        for function in self.functions:
            if function.name not in self._concerned:
                continue
            kinds = {found.kind for _, found in function.collectives} | self._waits(function)
            if _reads_lanes(self.tokens, function.head):
                kinds.add("lane")
            made = {kind for node in function.declarations if (kind := class_named(node.text)) in self._classes}
            for name in filter(None, (function.name, function.owner if function.name == CALLED else None)):
                direct.setdefault(name, set()).update(kinds)
                called.setdefault(name, set()).update(
                    function.called, self.members & function.called_members, made - {name}
                )
        for name, functions in self.instances.items():
            called.setdefault(name, set()).update(function.name for function in functions)
        for name, renamed in self.macros.named.items():
            direct.setdefault(name, set()).add(renamed.kind)
        for name in self.macros.bodies.keys() & self._concerned:
            for macro, body in self.macros.bodies[name]:
                for call in calls(body):
                    found = collective(call)
                    kinds = {found.kind} if found else {"barrier"} if call.callee in BARRIERS else set()
                    if (group := synchronised(call)) is not None:
                        kinds |= {"barrier"} if is_block(group, frozenset()) else set()
                        kinds |= {"group"} if group.text in (macro.parameters or ()) else set()
                    direct.setdefault(name, set()).update(kinds)
                    called.setdefault(name, set()).add(call.callee.rpartition("::")[2])
        return _closure(direct, called)

    @cached_property
    def _concerned(self) -> frozenset[str]:
        """Functions and macros that by their words may come to such an operation: only those need be parsed for it."""
        words: dict[str, set[str]] = {}
        found: set[str] = set()
        for function in self.functions:
            words.setdefault(function.name, set()).update(function.words)
            if function.name == CALLED and function.owner is not None:
                words.setdefault(function.owner, set()).update(function.words)
            if _reads_lanes(self.tokens, function.head) or ("sync" in function.words and self._waits(function)):
                found.add(function.name)
        for name, functions in self.instances.items():
            words.setdefault(name, set()).update(*(function.words for function in functions))
        for place in self.assembled_barriers:
            found |= {self.functions[number].name for number in self.nesting.around(place)}
        for name, macros in self.macros.constants.macros.items():
            if any(macro.parameters is not None for macro in macros):
                words.setdefault(name, set()).update(*(self.tokens.texts[m.first : m.last] for m in macros))
        for name, macros in self.macros.constants.macros.items() if "sync" in self.tokens.names else ():
            if any(m.parameters is not None and "sync" in self.tokens.texts[m.first : m.last] for m in macros):
                found.add(name)
        operations = _OPERATIONS | self.macros.meeting | self.macros.named.keys()
        new = found | {name for name, inside in words.items() if not operations.isdisjoint(inside)}
        while new:
            found |= new
            new = {name for name in words.keys() - found if not new.isdisjoint(words[name])}
        return frozenset(found)

    def _waits(self, function: Function) -> set[str]:
        """`barrier` where a function waits for the block, `group` where it waits for a group that it is handed."""
        head = function.head
        if function.has_barrier or not self.macros.meeting.isdisjoint(function.words):
            return {"barrier"}
        if any((head.body or head.begin) < place < head.end for place in self.assembled_barriers):
            return {"barrier"}
        if "sync" not in function.words:
            return set()
        groups = block_groups(function.parameter_types, function.declarations)
        waited = [group for call in function.calls if (group := synchronised(call)) is not None]
        if any(is_block(group, groups) for group in waited):
            return {"barrier"}
        types = {name: function.parameter_types.get(name, "") for name in (group.text for group in waited)}
        generic = any(set(written.split()) & function.type_parameters for written in types.values())
        return {"group"} if generic else set()

    @cached_property
    def _classes(self) -> frozenset[str]:
        """Classes with a constructor, a destructor or a call operator in sight."""
        classes = _names_of_classes(self.tokens)
        return frozenset(
            owner
            for function in self.functions
            if function.name == CALLED or function.name in classes
            if (owner := function.owner) is not None and function.name in (CALLED, owner)
        )

    @cached_property
    def built_classes(self) -> frozenset[str]:
        """Those whose constructor or destructor comes to an operation of the warp or block."""
        return frozenset(
            name
            for name in self._classes
            if name in self.by_name and self.reach.get(name) and any(f.owner == name for f in self.by_name[name])
        )

    @cached_property
    def called_classes(self) -> frozenset[str]:
        """Those whose call operator does."""
        return frozenset(
            function.owner
            for function in self.by_name.get(CALLED, ())
            if function.owner is not None and self.reach.get(function.owner)
        )

    def mask_places(self, name: str) -> frozenset[int]:
        """Which parameters of the functions of a name are a mask of lanes, there or where they hand it on."""
        known = self._mask_places.get(name)
        if known is None:
            self._mask_places[name] = frozenset()
            masks = (self._masks_of(function) for function in self.by_name.get(name, ()))
            renamed = self.macros.named.get(name)
            own = frozenset[int]() if renamed is None or renamed.mask is None else frozenset({renamed.mask})
            known = self._mask_places[name] = own.union(*masks)
        return known

    def handed_masks(self, call: Node) -> Iterator[Node]:
        """What a call hands on as masks, as far as it is written."""
        places = self.mask_places(call.callee.rpartition("::")[2])
        return filter(None, (argument(call, place) for place in places))

    @cached_property
    def _mask_places(self) -> dict[str, frozenset[int]]:
        return {}

    def _masks_of(self, function: Function) -> frozenset[int]:
        made = [argument(call, found.mask) for call, found in function.collectives]
        for call in function.calls:
            name = call.callee.rpartition("::")[2]
            if name in self.reach and name != function.name:
                made += self.handed_masks(call)
        masks = {mask.text for mask in map(unwrapped, filter(None, made)) if mask.kind == "name"}
        masks -= set(_chosen_here(function.body)) if not masks.isdisjoint(function.parameters) else set()
        return frozenset(place for place, name in enumerate(function.parameters) if name in masks)

    @cached_property
    def barrier_places(self) -> list[int]:
        """The tokens that name a barrier of the block or a function or macro that comes to one, in order."""
        meeting = (
            BARRIERS
            | self.macros.meeting
            | {name for name, kinds in self.reach.items() if not kinds.isdisjoint(("barrier", "group"))}
        )
        if not GROUPS.isdisjoint(self.tokens.names):
            meeting |= {"sync"}
        places = {index for name in meeting for index in self.tokens.names.get(name, ())}
        return sorted(places.union(self.assembled_barriers))

    @cached_property
    def assembled_barriers(self) -> frozenset[int]:
        """The `asm` before each text that waits for the block."""
        tokens = self.tokens
        return frozenset(
            place
            for keyword in KEYWORDS
            for place in tokens.names.get(keyword, ())
            if waits_for_block(said(tokens, place))
        )


_OPERATIONS = frozenset({*COLLECTIVES, *(name.removeprefix("__") for name in COLLECTIVES), *BARRIERS})
"""Words of all warp-wide and block-wide operations, under CUDA's names and under those of our header."""
_LANE_REGISTERS = ("laneid", "lanemask_", "warpid", "shfl.", "vote.", "activemask")
_WAITS = re.compile(r"\b(?:bar|barrier)(?:\.cta)?\.(?:sync|red)\b")


def waits_for_block(assembly: str) -> bool:
    """Whether inline assembly waits for other warps of the block."""
    return "bar" in assembly and _WAITS.search(assembly) is not None


def _reads_lanes(tokens: Tokens, head: Head) -> bool:
    """Whether inline assembly in a function reads a lane's number or exchanges values."""
    return any(
        any(word in text for word in _LANE_REGISTERS)
        for keyword in KEYWORDS
        for place in tokens.named(keyword, head.body or head.begin, head.end)
        if (text := said(tokens, place))
    )


def _chosen_here(body: Node) -> Iterator[str]:
    """Variables that are set to the lanes that are there: `mask &= __activemask();`."""
    for node in body.walk():
        found = map(collective, calls(node.kids[1])) if node.kind == "assign" else ()
        if any(one is not None and one.kind in CHOSEN for one in found):
            yield unwrapped(node.kids[0]).text


def _names_of_classes(tokens: Tokens) -> frozenset[str]:
    """Names behind `struct` and `class`."""
    return frozenset(
        tokens.texts[index + 1] for keyword in ("struct", "class") for index in tokens.names.get(keyword, ())
    )


def _closure(direct: dict[str, set[str]], called: dict[str, set[str]]) -> dict[str, frozenset[str]]:
    changed = True
    while changed:
        changed = False
        for name, callees in called.items():
            kinds = direct.setdefault(name, set())
            for callee in callees:
                extra = direct.get(callee, set()) - kinds
                if extra:
                    kinds |= extra
                    changed = True
    return {name: frozenset(kinds) for name, kinds in direct.items()}
