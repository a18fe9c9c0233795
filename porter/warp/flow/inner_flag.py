"""Loops that end by a flag which a loop inside sets, where lanes leave the inner one at different turns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from porter.cpp.nodes import EMPTY, Node, calls, names, spelled, unwrapped
from porter.cpp.types import TYPES
from porter.warp.bodies import Bodies
from porter.warp.collectives import BARRIERS
from porter.warp.flow.spin import expansion_of
from porter.warp.flow.spread import UNIFORM, Spread
from porter.warp.flow.unit_walks import flow_of
from porter.warp.flow.waiting_loop import Loop, leaps_back, parts_of
from porter.warp.flow.walk import Flow
from porter.warp.function import Function

_LOOPS = ("while", "do", "for")
_FLAGS = frozenset(
    [
        *("bool", "int", "unsigned", "unsigned int", "char", "signed char", "unsigned char", "short", "unsigned short"),
        *("uint", "uchar", *(f"{sign}int{bits}_t" for sign in ("", "u") for bits in (8, 16, 32))),
    ]
)
"""What `porter::opaque` takes and gives back whole."""
_TRUTHS = ("true", "false")
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
    is_enumeration: bool = False


def inner_flags(bodies: Bodies, function: Function) -> Iterator[InnerFlag]:
    """In the order of the text."""
    expansion = expansion_of(bodies)
    if not _may_nest(function, expansion.names):
        return
    types = _types(function)
    for outer, inner in _nested(expansion.body(function), bodies):
        changed = _set_in(inner, bodies)
        own = {node.text for node in inner.walk() if node.kind == "variable"}
        flags = [name for name in sorted(changed) if name.partition(".")[0] not in own]
        flags = [name for name in flags if _is_flag(types, name, changed[name])]
        if not flags:
            continue
        tested = {name for condition in parts_of(outer).leaving for name in _read(condition)}
        flags = [name for name in flags if name in tested]
        flags = [name for name in flags if not _is_set_behind(name, outer, inner)]
        if flags and _parts(parts_of(inner), flow_of(bodies, function)):
            yield from (InnerFlag(name, inner, outer, _may_be_enumeration(types.get(name, ""))) for name in flags)


def _may_nest(function: Function, macros: frozenset[str]) -> bool:
    """Whether there are words for two loops, or macros that may have them: without, the body need not be read."""
    tokens, head = function.tokens, function.head
    words = (*_LOOPS, "goto", *(macros & function.words))
    return sum(len(tokens.named(word, head.body or head.begin, head.end)) for word in words) > 1


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
                found[variable.text] = "" if variable.count or "*" in variable.extra else _type(words, variable)
    return found


def _type(words: list[str], variable: Node) -> str:
    """A type as written; of `auto`, what the value tells."""
    initial = variable.initial
    if words == ["auto"] and initial is not None:
        return "bool" if initial.text in _TRUTHS else "int" if initial.text.isdigit() else "auto"
    return " ".join(words)


def _read(condition: Node) -> Iterator[str]:
    """The variables in a condition, and the members of variables: `w.found`."""
    for node in condition.walk():
        if node.kind == "name":
            yield node.text
        elif node.kind == "member" and (name := spelled(node)):
            yield name


def _set_in(inner: Node, bodies: Bodies) -> dict[str, tuple[Node, ...]]:
    """What a loop gives values, each with these; `EMPTY` where a function that it is handed to does."""
    found: dict[str, tuple[Node, ...]] = {}
    for node in inner.walk():
        if (name := _assigned(node)) is not None:
            found[name] = (*found.get(name, ()), node.kids[1] if node.text == "=" else node)
        for name in _handed(node, bodies) if node.kind == "call" else ():
            found[name] = (*found.get(name, ()), EMPTY)
    return found


def _handed(call: Node, bodies: Bodies) -> Iterator[str]:
    """The variables that a call hands to a function which may set them: `&found`, or by a reference."""
    functions = bodies.by_name.get(call.callee.rpartition("::")[2], ())
    for place, argument in enumerate(call.arguments):
        node = unwrapped(argument)
        by_pointer = node.kind == "unary" and node.text == "&"
        name = spelled(unwrapped(node.kids[0]) if by_pointer else node)
        if name and functions and (by_pointer or any(_takes_reference(f, place) for f in functions)):
            yield name


def _takes_reference(function: Function, place: int) -> bool:
    if place >= len(function.parameters):
        return False
    written = function.parameter_types[function.parameters[place]].split()
    return "const" not in written and any(word.endswith("&") for word in written)


def _nested(node: Node, bodies: Bodies) -> Iterator[tuple[Node, Node]]:
    """Each loop that stands in another one, with the nearest, in order; jumps back to a label are loops, too."""
    waiting: list[tuple[Node, Node | None]] = [(node, None)]
    jumps = "goto" in bodies.tokens.names
    while waiting:
        node, around = waiting.pop()
        if node.kind in _LOOPS:
            if around is not None:
                yield around, node
            around = node
        if node.kind == "block" and jumps and (leaps := leaps_back(node, bodies.tokens.texts)):
            waiting += [(kid, leap) for leap in reversed(leaps) for kid in reversed(leap.kids)]
            first, last = leaps[0].first, max(leap.last for leap in leaps)
            waiting += [(kid, around) for kid in reversed(node.kids) if not first <= kid.first <= last]
            continue
        for kid in reversed(node.kids):
            waiting.append((kid, around))


def _is_flag(types: dict[str, str], name: str, values: tuple[Node, ...]) -> bool:
    """A truth, or an integer, an enumerator or a member that the loop sets to one of few values."""
    base, _, member = name.partition(".")
    kind = types.get(base, "")
    if member:
        return kind != "" and all(value.text in _TRUTHS for value in values)
    if kind in _FLAGS:
        return kind == "bool" or all(value.kind in _PLAIN for value in values)
    return _may_be_enumeration(kind) and all(v.kind == "name" and v.text not in types for v in values)


def _may_be_enumeration(kind: str) -> bool:
    return kind.isidentifier() and kind not in TYPES and not kind.startswith("__")


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
    """The variable, or the member of one, that a node gives a value by any of the operators."""
    return (spelled(node.kids[0]) or None) if node.kind == "assign" else None


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
    return any(
        node.kind == "return" or (node.kind == "jump" and node.text != "continue") or _assigned(node) in read
        for node in branch.walk()
    )


def _differs(condition: Node, flow: Flow) -> bool:
    called = [call.callee.rpartition("::")[2] for call in calls(condition)]
    if any(name.startswith(_TOGETHER) for name in called):
        return False
    if any(name.startswith(_ATOMIC) for name in called):
        return True
    if any(name == "threadIdx" or flow.final.get(name, UNIFORM).spread is Spread.LANE for name in names(condition)):
        return True
    return bool(called) and flow.evaluate(condition, flow.final).spread is Spread.LANE
