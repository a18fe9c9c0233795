"""The walks over the functions of a file, each with what its callers pass, and what they say of exchanges."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import cast

from porter.cpp.nodes import Node, bare_callee, unwrapped
from porter.warp.bodies import Bodies
from porter.warp.collectives import EXCHANGES, TILE_MEMBERS, TILES
from porter.warp.flow.events import Event
from porter.warp.flow.handed_functions import called_parameters, handed_classes, handed_lambdas, hands_exchange
from porter.warp.flow.masks import Mask, handed, literal
from porter.warp.flow.spread import PER_LANE, UNIFORM, Value, by_name, join
from porter.warp.flow.walk import Flow
from porter.warp.function import CALLED, Function

_FULL_KINDS = EXCHANGES | {"call"}


def names_all_lanes(bodies: Bodies, function: Function, event: Event) -> bool:
    """Whether an exchange between lanes in a function counts on all of them: a full mask, or a shuffle without one."""
    if event.kind == "call":
        if event.reaches.isdisjoint(EXCHANGES):
            return False
        known = _full_functions(bodies)
        return _is_full(event) or any(f.head.begin in known for f in _called(bodies, function, event.node))
    if event.kind == "tile":
        return event.full
    if event.collective is None or event.kind not in EXCHANGES:
        return False
    return _is_full(event) or (event.collective.mask is None and event.kind == "shuffle")


def _is_full(event: Event) -> bool:
    """Whether its mask names all lanes, or a caller hands one that does."""
    return event.full or any(mask.given for mask in event.masks)


def _called(bodies: Bodies, caller: Function, call: Node) -> list[Function]:
    """The functions in sight that a call can mean: by name, number of arguments, and whose members they are.

    A bare name is not that of a member of another class, where there is a function that is no member.
    """
    is_member = call.kids[0].kind == "member"
    around, _, name = ("", "", call.kids[0].text) if is_member else call.callee.rpartition("::")
    found = [f for f in bodies.by_name.get(name, ()) if f.takes(len(call.arguments))]
    if name == CALLED:
        return [function for function in found if function.owner == around]
    if is_member:
        return [function for function in found if function.owner is not None]
    if around or call.kids[0].kind != "name":
        return found
    return [function for function in found if function.owner in (None, caller.owner)] or found


def _full_functions(bodies: Bodies) -> frozenset[int]:
    """Functions, by where they begin, that come to an exchange with a full mask of their own."""
    known = bodies.memo.get("full functions")
    if known is None:
        found: set[int] = set()
        callers: dict[int, set[int]] = {}
        for flow in (flow_of(bodies, function) for function in concerned(bodies)):
            here = flow.function.head.begin
            for event in flow.events:
                if event.full and event.kind in _FULL_KINDS and not event.reaches.isdisjoint(EXCHANGES):
                    found.add(here)
                if event.kind == "call":
                    for function in _called(bodies, flow.function, event.node):
                        callers.setdefault(function.head.begin, set()).add(here)
        todo = list(found)
        while todo:
            new = callers.get(todo.pop(), set()) - found
            found |= new
            todo += new
        known = bodies.memo["full functions"] = frozenset(found)
    return cast("frozenset[int]", known)


def initial_values(function: Function, calls: Mapping[str, list[tuple[Value, ...]]]) -> dict[str, Value]:
    """What a function's parameters hold: the same for the grid in a kernel, else what the calls in sight pass."""
    if function.is_kernel:
        return dict.fromkeys(function.parameters, UNIFORM)
    known = calls.get(function.name)
    if not known:
        return {name: by_name(name) for name in function.parameters}
    values: dict[str, Value] = {}
    for place, name in enumerate(function.parameters):
        passed = [arguments[place] for arguments in known if place < len(arguments)]
        value = join(*passed) if passed else UNIFORM
        values[name] = by_name(name) if value == PER_LANE and by_name(name).role == "thread" else value
    return values


def flows(bodies: Bodies) -> tuple[Flow, ...]:
    """A walk over each function of the file that comes to a warp-wide operation, in order."""
    known = bodies.memo.get("flows")
    if known is None:
        wanted = filter(bodies.is_own, concerned(bodies))
        known = bodies.memo["flows"] = tuple(flow_of(bodies, function) for function in wanted)
    return cast("tuple[Flow, ...]", known)


def concerned(bodies: Bodies) -> Iterator[Function]:
    """The functions in sight that come to an operation of the warp."""
    marks = TILES | {"__syncwarp"}
    tiles = not TILES.isdisjoint(bodies.tokens.names)
    for function in bodies.all_functions:
        exchanges = not EXCHANGES.isdisjoint(bodies.operations.reach.get(function.name, ()))
        asks_tile = tiles and not TILE_MEMBERS.isdisjoint(function.words)
        if not exchanges and not asks_tile:
            exchanges = _is_handed(bodies, function) or any(bodies.calls(function, mark) for mark in marks)
        if exchanges or asks_tile:
            yield function


def _is_handed(bodies: Bodies, function: Function) -> bool:
    """Whether a function is handed what exchanges, or hands it on."""
    templates = _calling_templates(bodies)
    if function.name in templates and (handed_classes(bodies, function) or handed_lambdas(bodies, function)):
        return True
    if templates.isdisjoint(function.words):
        return False
    return any(bare_callee(call) in templates and hands_exchange(bodies, function, call) for call in function.calls)


def _calling_templates(bodies: Bodies) -> frozenset[str]:
    """Templates that call one of their parameters."""
    known = bodies.memo.get("calling templates")
    if known is None:
        known = frozenset(function.name for function in bodies.all_functions if called_parameters(function))
        bodies.memo["calling templates"] = known
    return cast("frozenset[str]", known)


def flow_of(bodies: Bodies, function: Function) -> Flow:
    """The walk over a function, with what its callers in this file pass to it."""
    key = ("flow", function.head.begin)
    known = bodies.memo.get(key)
    if known is None:
        bodies.memo[key] = Flow(bodies, function, dict.fromkeys(function.parameters, UNIFORM))
        passed = _passed(bodies, function)
        values, masks = initial_values(function, passed), _masks_handed(bodies, function)
        known = bodies.memo[key] = Flow(bodies, function, values, parameter_masks=masks).run()
    return cast(Flow, known)


def _masks_handed(bodies: Bodies, function: Function) -> dict[str, Mask]:
    """What the parameters of a function hold as masks, by the calls in this file and by their default values."""
    places = bodies.operations.mask_places(function.name)
    if function.is_kernel or not places:
        return handed(function, (), ())
    around = (flow_of(bodies, caller) for caller in bodies.callers(function.name) if caller != function)
    passed = (masks for flow in around for name, masks in flow.masks_passed if name == function.name)
    defaults = (literal(bodies.constants.possible(unwrapped(value))) for value in function.defaults)
    return handed(function, passed, defaults)


def _passed(bodies: Bodies, function: Function) -> dict[str, list[tuple[Value, ...]]]:
    """The arguments of all calls of a device function in this file."""
    if function.is_kernel:
        return {}
    found: list[tuple[Value, ...]] = []
    for caller in bodies.callers(function.name):
        if caller != function:
            found += [arguments for name, arguments in flow_of(bodies, caller).calls if name == function.name]
    return {function.name: found}
