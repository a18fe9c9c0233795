"""Loops over the distances of shuffles: where they begin and end, and how they go on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from porter.cpp.nodes import Node, calls, names, unwrapped
from porter.warp.collectives import Collective, argument
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
        if node.kind != "for" or len(node.kids) != 4:
            continue
        begin, condition, step, body = node.kids
        variable = _begins(begin)
        if variable is None or variable[1] is None:
            continue
        name, start = variable
        direction = _direction(view, step, name)
        used = tuple(
            (call, by_node[id(call)])
            for call in calls(body)
            if id(call) in by_node and _moves_by(call, by_node[id(call)], name)
        )
        if direction is not None and used and start is not None:
            yield Steps(node, name, start, condition, direction, used)


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
