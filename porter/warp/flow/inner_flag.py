"""Loops that end by a flag which a loop inside sets, where lanes leave the inner one at different turns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from porter.cpp.nodes import EMPTY, Node, calls, names
from porter.warp.bodies import Bodies, Function
from porter.warp.collectives import BARRIERS
from porter.warp.flow.spread import UNIFORM, Spread
from porter.warp.flow.unit_walks import flow_of
from porter.warp.flow.waiting_loop import Loop, parts_of
from porter.warp.flow.walk import Flow

_LOOPS = ("while", "do", "for")
_FLAGS = frozenset({"bool", "int", "unsigned", "unsigned int"})
_FIXED = frozenset({"const", "constexpr"})
_PLAIN = frozenset({"number", "name"})
_HIDDEN = "porter::opaque"
_TOGETHER = ("__any", "__all", "__ballot", "__syncthreads", "__reduce")
_ATOMIC = ("atomic", "exchange", "compare_exchange", "test_and_set")


@dataclass(frozen=True, slots=True)
class InnerFlag:
    """A flag, the loop that sets it, and the loop around that one, which it ends."""

    name: str
    inner: Node
    outer: Node


def inner_flags(bodies: Bodies, function: Function) -> Iterator[InnerFlag]:
    """In the order of the text."""
    if not _may_nest(function):
        return
    types = _types(function)
    for outer, inner in _nested(function.body):
        exits = parts_of(outer).exits
        tested = {name for condition in exits for name in names(condition)}
        loop = parts_of(inner)
        changed = loop.changed
        own = {node.text for node in inner.walk() if node.kind == "variable"}
        flags = [name for name in sorted(tested & changed.keys() - own) if _is_flag(types.get(name, ""), changed[name])]
        flags = [name for name in flags if any(_assigned(node) == name for node in inner.walk())]
        flags = [name for name in flags if not _is_set_behind(name, outer, inner)]
        if flags and _parts(loop, flow_of(bodies, function)):
            yield from (InnerFlag(name, inner, outer) for name in flags)


def _may_nest(function: Function) -> bool:
    """Whether there are words for two loops: without, the body need not be read."""
    tokens, head = function.tokens, function.head
    return sum(len(tokens.named(word, head.body or head.begin, head.end)) for word in _LOOPS) > 1


def _types(function: Function) -> dict[str, str]:
    """Of the function's own variables that can be set; of two of a name, one that cannot counts."""
    found: dict[str, str] = {}
    for node in function.declarations:
        words = [word for word in node.text.split() if word != "register"]
        fixed = not _FIXED.isdisjoint(words)
        for variable in node.kids:
            if fixed or found.get(variable.text) == "":
                found[variable.text] = ""
            else:
                found[variable.text] = "" if variable.count or "*" in variable.extra else " ".join(words)
    return found


def _nested(node: Node) -> Iterator[tuple[Node, Node]]:
    """Each loop that stands in another one, with the nearest, in order."""
    waiting: list[tuple[Node, Node | None]] = [(node, None)]
    while waiting:
        node, around = waiting.pop()
        if node.kind in _LOOPS:
            if around is not None:
                yield around, node
            around = node
        for kid in reversed(node.kids):
            waiting.append((kid, around))


def _is_flag(kind: str, values: tuple[Node, ...]) -> bool:
    """A truth, or an integer that the loop sets to one of few values."""
    return kind == "bool" or (kind in _FLAGS and all(value.kind in _PLAIN for value in values))


def _is_set_behind(name: str, outer: Node, inner: Node) -> bool:
    """Whether the outer loop computes the flag anew after the inner one, or hides it there."""
    body = outer.kids[0] if outer.kind == "do" else outer.kids[-1]
    always = {kid.first for kid in body.kids if kid.kind == "statement"} if body.kind == "block" else set()
    return any(
        _sets(node, name) and (node.first in always or any(call.callee == _HIDDEN for call in calls(node)))
        for node in outer.walk()
        if node.first > inner.last
    )


def _sets(node: Node, name: str) -> bool:
    return node.text == "=" and _assigned(node) == name


def _assigned(node: Node) -> str | None:
    """The variable, no member, that a node gives a value by any of the operators."""
    return node.kids[0].text if node.kind == "assign" and node.kids[0].kind == "name" else None


def _parts(loop: Loop, flow: Flow) -> bool:
    """Whether lanes of a wavefront may leave a loop at different turns."""
    if any(call.callee.rpartition("::")[2] in BARRIERS for call in calls(loop.node)):
        return False
    conditions = [node for node in _conditions(loop) if node is not EMPTY]
    return any(_differs(condition, flow) for condition in conditions)


def _conditions(loop: Loop) -> Iterator[Node]:
    """What a loop tests, and what guards its jumps out and the flags that it ends by."""
    yield from loop.exits
    read = {name for condition in loop.exits for name in names(condition)}
    for node in loop.node.walk():
        if node.kind == "if" and _decides(node, read):
            yield node.kids[0]


def _decides(branch: Node, read: set[str]) -> bool:
    return any(node.kind in ("jump", "return") or _assigned(node) in read for node in branch.walk())


def _differs(condition: Node, flow: Flow) -> bool:
    called = [call.callee.rpartition("::")[2] for call in calls(condition)]
    if any(name.startswith(_TOGETHER) for name in called):
        return False
    if any(name.startswith(_ATOMIC) for name in called):
        return True
    return any(name == "threadIdx" or flow.final.get(name, UNIFORM).spread is Spread.LANE for name in names(condition))
