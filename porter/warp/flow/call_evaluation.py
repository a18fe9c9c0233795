"""What calls come to in a walk over a function: exchanges, barriers, macros, functions of the file."""

from __future__ import annotations

import functools
import re
from typing import cast

from porter.cpp.constants import WARP
from porter.cpp.declared import declares
from porter.cpp.nodes import Node, spelled, unwrapped
from porter.warp.collectives import (
    BARRIERS,
    EXCHANGES,
    GROUPS,
    TILE_MEMBERS,
    TILES,
    Collective,
    argument,
    collective,
)
from porter.warp.flow.evaluation import DEEPEST
from porter.warp.flow.events import Branch, Event, State
from porter.warp.flow.handed_functions import handed_classes, handed_lambdas, hands_exchange
from porter.warp.flow.mask_evaluation import MaskEvaluation
from porter.warp.flow.masks import Lanes
from porter.warp.flow.spread import PER_LANE, PER_WARP, THREAD, UNIFORM, Spread, Value, by_name, join
from porter.warp.function import CALLED, Function, class_named
from porter.warp.groups import WarpTiles, block_groups, is_block, is_warp_tile, synchronised, warp_tiles

_ROUNDS_UP = re.compile(r"(?:round|align|pad)_?(?:ed)?_?(?:up|to)", re.IGNORECASE)
"""Functions that round up, to whole warps as a rule."""
_NEIGHBOURS = frozenset({"_up_sync", "_down_sync", "_xor_sync"})
_UNIFORM_CALLS = frozenset({"__syncthreads_or", "__syncthreads_and", "__syncthreads_count"})
_KEEPS_SPREAD = frozenset(
    [
        "min",
        "max",
        "abs",
        "fmaxf",
        "fminf",
        "__ldg",
        "__popc",
        "__ffs",
        "__clz",
        "__ffsll",
        "__popcll",
        "ceil",
        "floor",
    ]
)
_LANE_CALLS = frozenset({"clock", "clock64", "__lane_id", "LaneId", "get_lane_id"})


_TILES = "warp tiles"
_CONDITIONS = frozenset({"if", "for", "while", "switch", "ternary"})


class CallEvaluation(MaskEvaluation):
    """Records the warp-wide and block-wide operations, and follows calls into the functions of the file."""

    def _call(self, node: Node, state: State, *, is_read: bool = True) -> Value:
        callee = node.kids[0]
        if callee.kind not in ("name", "member"):
            self._value(callee, state)
        arguments = tuple(self._value(kid, state) for kid in node.arguments)
        for kid in node.arguments:
            self._written_through(kid, arguments, state)
        if callee.kind == "name" and callee.text in self.bodies.macros.bodies:
            self._macro_exit(node, callee.text, arguments, state)
            self._macro_branches(node, callee.text, arguments, state)
        found = collective(node)
        if found is not None:
            return self._collective(node, found, arguments, state)
        name = node.callee.rpartition("::")[2]
        if name in self.lambdas or name in self._handed_lambdas:
            self._record(Event("call", node, state.branches, state.exits, None, True, EXCHANGES))
        if name in BARRIERS or name in self.waiting:
            self._record(Event("barrier", node, state.branches, state.exits))
            return UNIFORM
        if (group := synchronised(node)) is not None and is_block(group, self._block_groups):
            self._record(Event("barrier", node, state.branches, state.exits))
            return UNIFORM
        if callee.kind == "member" and callee.text in TILE_MEMBERS and not self._is_of_class(callee):
            return self._tile(node, callee, arguments, state)
        called = self._object_called(node)
        if called is not None:
            reaches = self.bodies.operations.reach.get(called.callee.rpartition("::")[0], frozenset())
            self._record(Event("call", called, state.branches, state.exits, None, False, reaches))
        is_member = callee.kind == "member" and callee.text in self.bodies.members
        name = callee.text if is_member else name
        reaches = self.bodies.operations.reach.get(name, frozenset())
        if "group" in reaches and self._hands_block(node):
            reaches |= {"barrier"}
        if not reaches and hands_exchange(self.bodies, self.function, node):
            self._record(Event("call", node, state.branches, state.exits, None, True, EXCHANGES))
        if reaches:
            masks = self._masks_of_call(name, node, state)
            full = any(mask.lanes is Lanes.ALL for mask in masks)
            self._record(Event("call", node, state.branches, state.exits, None, full, reaches, masks=masks))
        self.calls.append((name, arguments))
        if not is_read and name not in self.bodies.macros.bodies:
            return UNIFORM  # what a function returns is a walk of its own
        return self._returned_by(name, arguments, state, callee)

    def _object_called(self, node: Node) -> Node | None:
        """The call of a class's call operator that a call of an object is: `sum(v)`, `Sum()(v)`."""
        classes = self.bodies.operations.called_classes
        if not classes:
            return None
        callee = node.kids[0]
        if callee.kind == "call":
            name = callee.callee.rpartition("::")[2]
        else:
            name = self._objects.get(callee.text, "") if callee.kind == "name" else ""
        if name not in classes:
            return None
        operator = Node("name", callee.first, callee.last, f"{name}::{CALLED}")
        return Node("call", node.first, node.last, kids=(operator, *node.arguments))

    @functools.cached_property
    def _objects(self) -> dict[str, str]:
        """The classes of the variables and parameters."""
        found = {name: class_named(text) for name, text in self.function.parameter_types.items()}
        declared = ((kid.text, class_named(node.text)) for node in self.function.declarations for kid in node.kids)
        return found | dict(declared) | dict(handed_classes(self.bodies, self.function))

    @functools.cached_property
    def _handed_lambdas(self) -> frozenset[str]:
        """Parameters that a caller hands a lambda for that exchanges."""
        return handed_lambdas(self.bodies, self.function)

    def _written_through(self, argument_node: Node, passed: tuple[Value, ...], state: State) -> None:
        """`f(&x, i)`: afterwards x differs between threads as much as what was passed."""
        node = unwrapped(argument_node)
        if node.kind != "unary" or node.text != "&":
            return
        name = node.kids[0].text
        if node.kids[0].kind == "name" and name not in self.shared:
            spread = max([state.values.get(name, UNIFORM).spread, *(value.spread for value in passed)])
            state.values[name] = Value(spread)
            self._changes += 1

    def _collective(self, node: Node, found: Collective, arguments: tuple[Value, ...], state: State) -> Value:
        mask = argument(node, found.mask)
        masks = () if mask is None else (self._mask(mask, state),)
        full = any(one.lanes is not Lanes.SOME for one in masks) or (found.kind == "sync" and mask is None)
        near = found.kind == "shuffle" and found.name.rpartition("shfl")[2] in _NEIGHBOURS
        active = mask is not None and mask.kind == "call" and (inner := collective(mask)) is not None
        neighbours = near and active and inner is not None and inner.kind == "active"
        reaches = frozenset({found.kind})
        self._record(Event(found.kind, node, state.branches, state.exits, found, full, reaches, neighbours, masks))
        if found.uniform:
            return PER_WARP
        return _shuffled(found, arguments) if found.kind == "shuffle" else PER_LANE

    def _tile(self, node: Node, callee: Node, arguments: tuple[Value, ...], state: State) -> Value:
        """A member function of a group: a barrier of the block, or an operation of a tile."""
        kind = "tile" if callee.text != "sync" else "tilesync"
        full = spelled(callee.kids[0]) in self._warp_tiles
        self._record(Event(kind, node, state.branches, state.exits, None, full))
        uniform = callee.text in ("any", "all", "ballot", "match_all")
        if callee.text == "shfl" and len(arguments) > 1 and arguments[1].spread is not Spread.LANE:
            uniform = True
        return PER_WARP if uniform else PER_LANE

    @functools.cached_property
    def _block_groups(self) -> frozenset[str]:
        """Variables and parameters that hold a whole block, or more."""
        if GROUPS.isdisjoint(self.bodies.tokens.names):
            return frozenset()
        return block_groups(self.function.parameter_types, self.function.declarations)

    def _hands_block(self, node: Node) -> bool:
        """Whether a call hands a block's group on."""
        return any(is_block(argument, self._block_groups) for argument in node.arguments)

    @functools.cached_property
    def _warp_tiles(self) -> frozenset[str]:
        """Variables and parameters that hold a tile of one whole warp."""
        bodies = self.bodies
        if TILES.isdisjoint(bodies.tokens.names):
            return frozenset()
        if _TILES not in bodies.memo:
            bodies.memo[_TILES] = warp_tiles(bodies.tokens, bodies.constants)
        tiles = cast(WarpTiles, bodies.memo[_TILES])
        written = dict(self.function.parameter_types.items())
        made = set()
        for node in self.function.declarations:
            written |= {kid.text: node.text for kid in node.kids}
            made |= {kid.text for kid in node.kids if self._makes_warp_tile(kid.initial)}
        typed = (
            n for n, text in written.items() if is_warp_tile(text, bodies.constants) or _plain(text) in tiles.types
        )
        members = tiles.variables - written.keys() if self.function.owner is not None else ()
        return frozenset({*made, *typed, *members})

    def _makes_warp_tile(self, node: Node | None) -> bool:
        if node is None or node.kind != "call" or not node.callee.endswith("tiled_partition"):
            return False
        return [self.bodies.constants.value(kid) for kid in node.kids[0].kids] == [WARP]

    def _meant(self, name: str, callee: Node) -> tuple[Function, ...]:
        """The functions of a name that a call can mean, by its class or namespace as far as that is known."""
        functions = self.bodies.by_name.get(name, ())
        if len(functions) < 2:
            return functions
        free = tuple(function for function in functions if function.owner is None)
        scope, separator, _ = spelled(callee).rpartition("::")
        if callee.kind == "member":
            owner = self._objects.get(callee.kids[0].text, "")
        elif separator:
            owner = class_named(scope).rpartition("::")[2]
        else:
            return free or functions if self.function.owner is None else functions
        members = tuple(function for function in functions if function.owner == owner)
        if members or callee.kind == "member":
            return members or functions
        return functions if self._is_type(owner) else free or functions

    def _is_of_class(self, callee: Node) -> bool:
        """Whether a member's object has a class of the project's that defines it."""
        owner = self._objects.get(callee.kids[0].text, "")
        return any(function.owner == owner for function in self.bodies.by_name.get(callee.text, ()))

    def _is_type(self, name: str) -> bool:
        """Whether a scope is a class, another name of one or a template's parameter, and no namespace."""
        tokens = self.bodies.tokens
        places = (index for index in tokens.names.get(name, ()) if tokens.texts[index - 1] != "namespace")
        return any(declares(tokens, index) for index in places)

    def _returned_by(self, name: str, arguments: tuple[Value, ...], state: State, callee: Node) -> Value:
        if name in _UNIFORM_CALLS:
            return UNIFORM
        if name in _KEEPS_SPREAD:
            return join(*arguments) if arguments else UNIFORM
        if name.startswith("atomic") or name in _LANE_CALLS:
            return PER_LANE
        if name.endswith("thread_rank"):
            return THREAD
        if (named := by_name(name)).role == "lane":
            return named
        functions = self._meant(name, callee)
        if functions and self.depth < DEEPEST:
            found = [self._summary(function, arguments) for function in functions]
            return join(*found)
        if name in self.bodies.macros.bodies and self.depth < DEEPEST:
            return self._deeper(lambda: self._macro_call(name, arguments, state))
        if "warp" in name.lower():
            return PER_WARP
        spread = max((a.spread for a in arguments), default=Spread.BLOCK)
        return Value(spread, fixed=spread is Spread.BLOCK and _ROUNDS_UP.match(name) is not None)

    def _macro_exit(self, node: Node, name: str, arguments: tuple[Value, ...], state: State) -> None:
        """`RETURN_IF(i >= n)`: a macro whose text returns under a condition over its arguments."""
        for macro, body in self.bodies.macros.bodies[name]:
            for test in body.walk():
                if test.kind != "if" or not any(below.kind == "return" for below in test.walk()):
                    continue
                bound = dict(state.values) | dict(zip(macro.parameters or (), arguments, strict=False))
                inner = functools.partial(self._value, test.kids[0], State(bound))
                branches = (Branch(test.kids[0], self._deeper(inner).spread, "if"), *state.branches)
                if any(branch.spread is Spread.LANE for branch in branches):
                    state.exits = (*state.exits, Node("return", node.first, node.last))
                    self._changes += 1
                return

    def _macro_branches(self, node: Node, name: str, arguments: tuple[Value, ...], state: State) -> None:
        """`EXCHANGE_IF(c, v)`: operations that stand below a condition of the macro's own are the call's."""
        if not self._recording or self.depth >= DEEPEST or name not in self.bodies.operations.reach:
            return
        for macro, body in self.bodies.macros.bodies[name]:
            if not any(below.kind in _CONDITIONS for below in body.walk()):
                continue
            given = dict(zip(macro.parameters or (), node.arguments, strict=False))
            masks = {text: self._mask(value, state) for text, value in given.items()}
            bound = dict(state.values) | dict(zip(macro.parameters or (), arguments, strict=False))
            inner = State(bound, state.branches, state.exits, {**state.masks, **masks})
            known, self.events = self.events, []
            self.depth += 1
            self._statement(body, inner)
            self.depth -= 1
            made, self.events = self.events, known
            for event in made:
                own = event.branches[len(state.branches) :]
                if any(branch.spread is Spread.LANE for branch in own):
                    branches = (*state.branches, *(Branch(node, branch.spread, branch.kind) for branch in own))
                    kind = "barrier" if event.kind == "barrier" else "call"
                    full = event.full and event.kind in EXCHANGES | {"call"}
                    made_of = (event.reaches, False, event.masks)
                    self._record(Event(kind, node, branches, state.exits, None, full, *made_of))

    def _macro_call(self, name: str, arguments: tuple[Value, ...], state: State) -> Value:
        found: list[Value] = []
        for macro, body in self.bodies.macros.bodies[name]:
            bound = dict(state.values)
            bound.update(zip(macro.parameters or (), arguments, strict=False))
            inner = State(bound, state.branches, state.exits, state.masks)
            found += [self._value(kid.kids[0], inner) for kid in body.kids if kid.kind == "statement"]
        return join(*found)

    def _summary(self, function: Function, arguments: tuple[Value, ...]) -> Value:
        key = ("summary", function.head.begin, arguments)
        memo = self.bodies.memo
        if key not in memo:
            memo[key] = UNIFORM
            bound = dict(zip(function.parameters, arguments, strict=False))
            memo[key] = type(self)(self.bodies, function, bound, self.depth + 1, _recording=False).run().result
        known = memo[key]
        assert isinstance(known, Value)
        return known

    def _record(self, event: Event) -> None:
        self._changes += 1
        if self._recording:
            self.events.append(event)


def _plain(written_type: str) -> str:
    """The name of a type without `&` and `*` behind it."""
    return class_named(written_type.rstrip("&* "))


def _shuffled(found: Collective, arguments: tuple[Value, ...]) -> Value:
    """What a shuffle gives: the same to all lanes that had the same, and to all that take it from one lane."""
    places = (found.value, found.lane)
    value, lane = (arguments[one] if one is not None and one < len(arguments) else PER_LANE for one in places)
    if value.spread is not Spread.LANE:
        return Value(value.spread)
    moves = any(way in found.name for way in ("xor", "up", "down"))
    return PER_LANE if moves or lane.spread is Spread.LANE else PER_WARP
