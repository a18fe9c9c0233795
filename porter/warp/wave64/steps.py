"""Loops over the distances of shuffles: where they begin and end, and how they go on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from porter.cpp.nodes import Node, calls, names, unwrapped
from porter.warp.collectives import Collective, argument
from porter.warp.wave64.names import WHOLE
from porter.warp.wave64.view import View


@dataclass(frozen=True)
class Steps:
    """A loop whose variable is the distance of shuffles."""

    loop: Node
    variable: str
    start: Node
    """The value that the variable begins with."""
    condition: Node
    down: bool
    """Halved each time; otherwise doubled."""
    shuffles: tuple[tuple[Node, Collective], ...]


def loops_of(view: View) -> Iterator[Steps]:
    """The loops of a function that halve or double the distance of a shuffle."""
    by_node = {id(call): one for call, one in view.collectives if one.kind == "shuffle"}
    if not by_node:
        return
    for node in view.nodes:
        parts = _parts(view, node)
        if parts is None:
            continue
        name, start, condition, step, body = parts
        direction = _direction(view, step, name)
        used = tuple(
            (call, by_node[id(call)])
            for call in calls(body)
            if id(call) in by_node and _moves_by(call, by_node[id(call)], name)
        )
        if direction is not None and used and start is not None:
            yield Steps(node, name, start, condition, direction, used)


def exponents_of(view: View) -> Iterator[tuple[Node, int]]:
    """The loops that count the exponent of a distance, `__shfl_xor(v, 1 << i)`, or list distances; and their steps."""
    whole = (pair for pair in view.collectives if pair[1].kind == "shuffle" and view.width(*pair) == WHOLE)
    shuffles = {id(call): one for call, one in whole}
    for node in view.nodes if shuffles else ():
        if node.kind == "range" and node.kids[1].kind == "list":
            sizes = [view.size(kid) for kid in node.kids[1].kids]
            used = [call for call in calls(node.kids[-1]) if id(call) in shuffles]
            if sorted(size or 0 for size in sizes) == _DISTANCES and used:
                yield node, len(sizes)
        if node.kind != "for" or len(node.kids) != 4:
            continue
        begun, condition = _begins(node.kids[0]), unwrapped(node.kids[1])
        if begun is None or begun[1] is None or view.size(begun[1]) != 0 or condition.kind != "binary":
            continue
        name, bound = begun[0], view.size(condition.kids[1])
        lanes = (argument(call, shuffles[id(call)].lane) for call in calls(node.kids[3]) if id(call) in shuffles)
        if bound is not None and any(lane is not None and _is_power(view, lane, name) for lane in lanes):
            yield node, bound + (condition.text == "<=")


_DISTANCES = [1, 2, 4, 8, 16]


def _is_power(view: View, lane: Node, name: str) -> bool:
    inner = unwrapped(lane)
    is_shift = inner.kind == "binary" and inner.text == "<<" and view.size(inner.kids[0]) == 1
    return is_shift and unwrapped(inner.kids[1]).text == name


def _parts(view: View, node: Node) -> tuple[str, Node, Node, Node, Node] | None:
    """The variable of a loop, what it begins with, the condition, the step and the body."""
    if node.kind == "for" and len(node.kids) == 4:
        begin, condition, step, body = node.kids
        begun = _begins(begin)
        if begun is None and begin.last < begin.first:
            return _unbegun(view, condition, step, body)
        return None if begun is None or begun[1] is None else (begun[0], begun[1], condition, step, body)
    if node.kind not in ("while", "do"):
        return None
    condition, body = node.kids if node.kind == "while" else reversed(node.kids)
    last = body.kids[-1] if body.kind == "block" and body.kids else body
    return _unbegun(view, condition, last, body)


def _unbegun(view: View, condition: Node, step: Node, body: Node) -> tuple[str, Node, Node, Node, Node] | None:
    """A loop whose variable is set before it."""
    inner = step.kids[0] if step.kind == "statement" and step.kids else step
    name = unwrapped(inner.kids[0]).text if inner.kind == "assign" else ""
    begins = [one for one in view.values.get(name, ()) if name not in names(one)]
    return (name, begins[0], condition, step, body) if len(begins) == 1 else None


def _begins(begin: Node) -> tuple[str, Node | None] | None:
    if begin.kind == "declaration" and begin.kids:
        return begin.kids[0].text, begin.kids[0].initial
    inner = begin.kids[0] if begin.kind == "statement" and begin.kids else begin
    if inner.kind == "assign" and inner.text == "=" and inner.kids[0].kind == "name":
        return inner.kids[0].text, inner.kids[1]
    return None


def _direction(view: View, step: Node, name: str) -> bool | None:
    """True for a loop that halves its variable, False for one that doubles it."""
    node = step.kids[0] if step.kind == "statement" and step.kids else step
    if node.kind == "comma":
        return next((d for kid in node.kids if (d := _direction(view, kid, name)) is not None), None)
    if node.kind != "assign" or unwrapped(node.kids[0]).text != name:
        return None
    operator, right = node.text, unwrapped(node.kids[1])
    if operator == "=" and right.kind == "binary" and unwrapped(right.kids[0]).text == name:
        operator, right = right.text + "=", right.kids[1]
    return {(">>=", 1): True, ("/=", 2): True, ("<<=", 1): False, ("*=", 2): False}.get(
        (operator, view.size(right) or 0)
    )


def _moves_by(call: Node, one: Collective, name: str) -> bool:
    lane = argument(call, one.lane)
    return lane is not None and name in names(lane)
