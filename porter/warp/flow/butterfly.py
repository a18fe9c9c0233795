"""Loops after which all lanes of a warp have the same: `for (o = 16; o > 0; o /= 2) v += __shfl_xor_sync(m, v, o);`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from porter.cpp.constants import WARP, Constants
from porter.cpp.nodes import Node, calls, names, unwrapped
from porter.warp.bodies import Bodies
from porter.warp.collectives import Collective, argument, collective

_HALF = WARP // 2


class Butterfly(NamedTuple):
    """A variable that a loop reduces over a warp."""

    name: str
    source: Node
    """What it is set to, of itself and of what another lane has of it."""
    exchanged: str
    """A variable of the loop's own that keeps what the other lane has; empty: there is none."""


DISTANCES = frozenset({1, 2, 4, 8, 16})
"""Of the lanes that all have to meet, until they have the same."""


class Met(NamedTuple):
    """What an expression combines with the same of other lanes."""

    whom: tuple[str, ...]
    """Its words: `v` of `max(v, __shfl_xor_sync(m, v, 8))`."""
    distances: frozenset[int]


def met_in(bodies: Bodies, source: Node, own: str = "") -> Met | None:
    """How far away the lanes are that an expression combines a value with the value of; `own` is combined with it."""
    whom: set[tuple[str, ...]] = set()
    found: set[int] = set()
    for call in calls(source):
        one = _crossing(call)
        if one is None:
            continue
        value, lane = argument(call, one.value), argument(call, one.lane)
        distance = None if lane is None else bodies.constants.value(lane)
        if value is None or distance is None:
            return None
        whom.add(_words(bodies, value))
        found.add(distance)
    if len(whom) != 1:
        return None
    (words,) = whom
    others = sum(_words(bodies, node) == words for node in _outside(source))
    return Met(words, frozenset(found)) if words == (own,) or others else None


def _crossing(call: Node) -> Collective | None:
    """The exchange with the lane whose number differs in some bits that a call is."""
    found = collective(call)
    return found if found is not None and found.kind == "shuffle" and "xor" in found.name else None


def _outside(node: Node) -> Iterator[Node]:
    """What is below an expression, but not below its exchanges."""
    yield node
    one = collective(node)
    for kid in node.kids if one is None or one.kind != "shuffle" else ():
        yield from _outside(kid)


def _words(bodies: Bodies, node: Node) -> tuple[str, ...]:
    node = unwrapped(node)
    return tuple(bodies.tokens.texts[node.first : node.last + 1])


def butterflies(constants: Constants, loop: Node) -> Iterator[Butterfly]:
    """The variables that a `for` combines with those of lanes at every distance from 1 to 16.

    Each is set once, in no branch of the body; that nothing else of a lane goes into it is for the caller to see.
    """
    if loop.kind != "for" or any(node.kind in ("jump", "return", "label") for node in loop.kids[3].walk()):
        return
    start, condition, step, body = loop.kids
    counter, first = _counter(constants, start)
    if not counter or not _meets_all(constants, counter, first, condition, step):
        return
    statements = [_bare(one) for one in (body.kids if body.kind == "block" else (body,))]
    exchanged = dict(_exchanged(constants, counter, statements))
    written = list(_written(body))
    for one in statements:
        if one.kind != "assign" or unwrapped(one.kids[0]).kind != "name":
            continue
        name = unwrapped(one.kids[0]).text
        if written.count(name) != 1:
            continue
        source = one.kids[1]
        inside = set(names(source))
        if one.text == "=" and name not in inside:
            continue
        if any(_of_whom(constants, counter, call) == name for call in calls(source)):
            yield Butterfly(name, source, "")
            continue
        kept = [other for other in inside if exchanged.get(other) == name]
        if len(kept) == 1:
            yield Butterfly(name, source, kept[0])


def _written(body: Node) -> Iterator[str]:
    """The names that a loop's body changes, or hands out the addresses of, once for each time."""
    for node in body.walk():
        if node.kind in ("assign", "postfix") or (node.kind == "unary" and node.text in ("++", "--", "&")):
            yield unwrapped(node.kids[0]).text


def _bare(statement: Node) -> Node:
    return statement.kids[0] if statement.kind == "statement" and len(statement.kids) == 1 else statement


def _counter(constants: Constants, start: Node) -> tuple[str, int | None]:
    """The variable that a loop counts with, and what it begins with."""
    start = _bare(start)
    if start.kind == "declaration" and len(start.kids) == 1 and start.kids[0].initial is not None:
        return start.kids[0].text, constants.value(start.kids[0].initial)
    if start.kind == "assign" and start.text == "=":
        return unwrapped(start.kids[0]).text, constants.value(start.kids[1])
    return "", None


def _meets_all(constants: Constants, counter: str, first: int | None, condition: Node, step: Node) -> bool:
    """Whether a loop goes over 16, 8, 4, 2 and 1, from either end; more than 16 is no harm."""
    condition, step = unwrapped(condition), unwrapped(step)
    if first is None or step.kind != "assign" or unwrapped(step.kids[0]).text != counter:
        return False
    change, amount = _change(step)
    by = None if amount is None else constants.value(amount)
    left, comparison, bound = _compared(constants, condition)
    if left != counter:
        return False
    if bound is None or by is None or first & (first - 1):
        return False
    if (change, by) in ((">>", 1), ("/", 2)):
        lowest = {">": bound + 1, ">=": bound, "!=": bound + 1}.get(comparison)
        return first >= _HALF and lowest is not None and lowest <= 1
    if (change, by) in (("<<", 1), ("*", 2)):
        return first == 1 and comparison in ("<", "<=") and bound > _HALF - (comparison == "<=")
    return False


def _compared(constants: Constants, condition: Node) -> tuple[str, str, int | None]:
    """What a condition compares, how, and with which number."""
    if condition.kind == "binary":
        return unwrapped(condition.kids[0]).text, condition.text, constants.value(condition.kids[1])
    return condition.text, "!=", 0


def _change(step: Node) -> tuple[str, Node | None]:
    """The operator of a step and what it takes: of `o >>= 1` and of `o = o >> 1` the same."""
    if step.text != "=":
        return step.text.removesuffix("="), step.kids[1]
    source = unwrapped(step.kids[1])
    if source.kind == "binary" and unwrapped(source.kids[0]).text == unwrapped(step.kids[0]).text:
        return source.text, source.kids[1]
    return "", None


def _of_whom(constants: Constants, counter: str, call: Node) -> str:
    """The variable that a call exchanges with the lane whose number differs in the counter's bit."""
    found = _crossing(call)
    if found is None:
        return ""
    value, lane, width = (argument(call, place) for place in (found.value, found.lane, found.width))
    if value is None or lane is None or unwrapped(lane).text != counter:
        return ""
    if width is not None and (constants.value(width) or 0) < WARP:
        return ""
    return unwrapped(value).text if unwrapped(value).kind == "name" else ""


def _exchanged(constants: Constants, counter: str, statements: list[Node]) -> Iterator[tuple[str, str]]:
    """`float other = __shfl_xor_sync(m, v, o);`: what keeps a variable of the other lane, and which."""
    for one in statements:
        for variable in one.kids if one.kind == "declaration" else ():
            call = None if variable.initial is None else unwrapped(variable.initial)
            if call is not None and call.kind == "call" and (name := _of_whom(constants, counter, call)):
                yield variable.text, name
