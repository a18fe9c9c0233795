"""Loops whose last statement parts lanes, and which begin with a branch by lanes before these exchange values.

A compiler may lead the lanes from one branch to the other: they then go round in a loop of their own, and the exchange
meets some of them only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from porter.cpp.nodes import EMPTY, Node, bare_callee, only
from porter.warp.bodies import Bodies
from porter.warp.collectives import EXCHANGES
from porter.warp.flow.events import Event
from porter.warp.flow.spread import Spread
from porter.warp.flow.unit_walks import flow_of, flows
from porter.warp.flow.walk import Flow
from porter.warp.function import Function

_LOOPS = frozenset({"for", "while", "do"})
_TOGETHER = frozenset({"sync", "tilesync", "barrier"})
_BRANCHES = frozenset({"if", "ternary"})
_DEEPEST = 3


class BackEdge(NamedTuple):
    """Such a loop's body, and whether lanes go back from somewhere before its end."""

    body: Node
    leaps: bool
    is_head_free: bool
    """Whether no operation of the warp stands between the loop's end and its body."""


def parted_back_edges(bodies: Bodies) -> Iterator[BackEdge]:
    """Those of the functions of a file, in order."""
    for flow in flows(bodies):
        for loop in flow.function.body.walk():
            if loop.kind in _LOOPS:
                body, before = _parts(loop)
                leaps = "continue" in flow.function.words and _leaps(flow, body)
                if (leaps or _ends_parted(bodies, flow, body, 0)) and _begins_parted(bodies, flow, (*before, body), 0):
                    is_head_free = not any(_is_inside(event, region) for event in flow.events for region in before)
                    yield BackEdge(body, leaps, is_head_free)


def _parts(loop: Node) -> tuple[Node, tuple[Node, ...]]:
    """The body, and what stands between its end and its beginning."""
    if loop.kind == "for":
        _, condition, step, body = loop.kids
        return body, (step, condition)
    if loop.kind == "do":
        return loop.kids[0], (loop.kids[1],)
    return loop.kids[1], (loop.kids[0],)


def _ends_parted(bodies: Bodies, flow: Flow, node: Node, depth: int) -> bool:
    """Whether the last statement is a branch that lanes take each for itself, be it in a helper."""
    if node.kind == "block":
        return bool(node.kids) and _ends_parted(bodies, flow, node.kids[-1], depth)
    if node.kind == "statement" and depth < _DEEPEST and len(node.kids) == 1 and node.kids[0].kind == "call":
        helpers = (one for one in _called(bodies, node.kids[0]) if "if" in one.words)
        ending = (one for one in helpers if one.body.kids and one.body.kids[-1].kind in ("if", "block", "statement"))
        return any(_ends_parted(bodies, flow_of(bodies, one), one.body, depth + 1) for one in ending)
    if node.kind != "if":
        return False
    return _is_parting(flow, node) or any(_ends_parted(bodies, flow, kid, depth) for kid in node.kids[1:])


def _leaps(flow: Flow, node: Node) -> bool:
    """Whether some lanes go back by `continue`, with no exchange behind it that would miss them."""
    for kid in node.kids:
        if kid.kind in _LOOPS or kid.kind == "lambda":
            continue
        if kid.kind == "if" and _is_parting(flow, kid) and only(kid.kids[1]).text == "continue":
            if not any(event.node.first > kid.last and event.node.last <= node.last for event in flow.events):
                return True
        elif kid.kind in ("if", "block") and _leaps(flow, kid):
            return True
    return False


def _is_parting(flow: Flow, node: Node) -> bool:
    return flow.evaluate(node.kids[0], flow.final).spread is Spread.LANE


def _begins_parted(bodies: Bodies, flow: Flow, regions: Sequence[Node], depth: int) -> bool:
    """Whether lanes part before the first operation by which they meet, and that is an exchange."""
    for region in regions:
        if region is EMPTY:
            continue
        events = sorted((e for e in flow.events if _is_inside(e, region)), key=lambda event: event.node.last)
        parting = [node.first for node in region.walk() if node.kind in _BRANCHES and _is_parting(flow, node)]
        for event in events:
            if event.kind in _TOGETHER:
                return False
            if event.kind in EXCHANGES or event.kind == "tile":
                return any(place < event.node.last for place in parting)
            if event.kind == "call" and not event.reaches.isdisjoint(EXCHANGES):
                if any(place < event.node.first for place in parting):
                    return True
                return any(_helper_begins(bodies, helper, depth) for helper in _called(bodies, event.node))
    return False


def _helper_begins(bodies: Bodies, helper: Function, depth: int) -> bool:
    return depth < _DEEPEST and _begins_parted(bodies, flow_of(bodies, helper), (helper.body,), depth + 1)


def _called(bodies: Bodies, call: Node) -> Iterator[Function]:
    return (one for one in bodies.by_name.get(bare_callee(call), ()) if one.takes(len(call.arguments)))


def _is_inside(event: Event, region: Node) -> bool:
    return region.first <= event.node.first and event.node.last <= region.last
