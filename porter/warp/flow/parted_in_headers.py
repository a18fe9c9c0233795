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
    helpers = (function for function in concerned(bodies) if function.name in called)
    found = {function: parted for function in helpers if (parted := _parted(bodies, function, parting))}
    for flow in walks if found else ():
        for call in flow.function.calls:
            for helper, (event, branch) in found.items():
                is_called = bare_callee(call) == helper.name and helper.takes(len(call.arguments))
                if is_called and any(flow.evaluate(one, flow.final).spread is Spread.LANE for one in call.arguments):
                    yield PartedCall(call, helper, event, branch)


def _parted(bodies: Bodies, function: Function, parting: Parting) -> tuple[Event, Branch] | None:
    """An operation of a helper that lanes part before, by its arguments alone."""
    if bodies.is_own(function) or function.is_kernel:
        return None
    flow = flow_of(bodies, function)
    found = [(event, branch) for event in flow.events if isinstance(branch := parting(bodies, function, event), Branch)]
    if not found:
        return None
    alone = Flow(bodies, function, {name: by_name(name) for name in function.parameters}).run()
    known = {event.node.first for event in alone.events if parting(bodies, function, event) is not None}
    return next(((event, branch) for event, branch in found if event.node.first not in known), None)
