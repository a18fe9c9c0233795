"""Calls of helpers in headers that exchange where lanes part by what they are handed: the header's port cannot know."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from porter.cpp.nodes import Node, bare_callee
from porter.warp.bodies import Bodies
from porter.warp.flow.events import Branch, Event
from porter.warp.flow.spread import Spread, by_name
from porter.warp.flow.unit_walks import concerned, flow_of, flows
from porter.warp.flow.walk import Flow
from porter.warp.function import Function

Parting = Callable[[Bodies, Function, Event], Branch | Node | None]


class PartedCall(NamedTuple):
    """A call of this file, what it calls, and the operation there that not all lanes come by."""

    call: Node
    helper: Function
    event: Event
    branch: Branch


def parted_in_headers(bodies: Bodies, parting: Parting) -> Iterator[PartedCall]:
    """Those of one file."""
    if bodies.own is None:
        return
    walks = flows(bodies)
    called = frozenset[str]().union(*(flow.function.called | flow.function.called_members for flow in walks))
    helpers: dict[str, list[Function]] = {}
    for function in concerned(bodies):
        if function.name in called and not bodies.is_own(function) and not function.is_kernel:
            helpers.setdefault(function.name, []).append(function)
    found: dict[Function, tuple[Event, Branch] | None] = {}
    for flow in walks if helpers else ():
        for call in flow.function.calls:
            taking = [one for one in helpers.get(bare_callee(call), ()) if one.takes(len(call.arguments))]
            # few calls are handed what lanes differ in, and a walk costs more than such a look
            if not taking or not any(flow.evaluate(one, flow.final).spread is Spread.LANE for one in call.arguments):
                continue
            for helper in taking:
                if helper not in found:
                    found[helper] = _parted(bodies, helper, parting)
                if (parted := found[helper]) is not None:
                    yield PartedCall(call, helper, *parted)


def _parted(bodies: Bodies, function: Function, parting: Parting) -> tuple[Event, Branch] | None:
    """An operation of a helper that lanes part before, by its arguments alone."""
    flow = flow_of(bodies, function)
    found = [(event, branch) for event in flow.events if isinstance(branch := parting(bodies, function, event), Branch)]
    if not found:
        return None
    alone = Flow(bodies, function, {name: by_name(name) for name in function.parameters}).run()
    known = {event.node.first for event in alone.events if parting(bodies, function, event) is not None}
    return next(((event, branch) for event, branch in found if event.node.first not in known), None)
