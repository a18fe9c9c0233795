"""Waits whose lanes have all told the others before: `st_flag(theirs, flag); while (ld_flag(mine) != flag);`."""

from __future__ import annotations

import re
from collections.abc import Iterator

from porter.cpp.asm import said
from porter.cpp.nodes import Node, bare_callee, calls, names, unwrapped
from porter.warp.bodies import Bodies
from porter.warp.flow.waiting_loop import Loop

_STORES = re.compile(
    r"(?:st|store|write|put|set|signal|release|red)_?(?:release|rel|volatile|relaxed|flag|remote|strong|sys)\w*"
    r"|__st(?:cg|wt|cs)|store|atomicExch(?:_system|_block)?|atomic_store(?:_explicit)?|__(?:scoped_)?atomic_store_n"
)
_STORING = re.compile(r"\b(?:st|red|atom)\.")
_AGAIN = frozenset({"for", "while", "do", "range", "if", "switch", "lambda"})


def signals_first(bodies: Bodies, around: Node, loop: Loop) -> bool:
    """Whether each lane, right before it waits for a value, has written that value for others to see, and does so no
    more behind the loop: no lane then waits for what another one of its wavefront has still to do."""
    awaited = {name for condition in loop.decisions for name in _compared(condition)}
    siblings = _siblings(around, loop.node) if awaited else None
    if siblings is None:
        return False
    place = next(i for i, node in enumerate(siblings) if node is loop.node)
    before = set(_told(bodies, siblings[:place], awaited))
    return bool(before) and before.isdisjoint(_told(bodies, siblings[place + 1 :], awaited))


def arrives_first(around: Node, loop: Loop) -> bool:
    """Whether who waits for a count adds to it right before, and nothing else of the function writes it: whoever of the
    wavefront has to add has done so. `if (lane == 0) atomicAdd(&here, 1); while (*(volatile int *)&here < n);`"""
    siblings = _siblings(around, loop.node)
    awaited = {name for condition in loop.decisions for name in names(condition)}
    if siblings is None:
        return False
    place = next(i for i, node in enumerate(siblings) if node is loop.node)
    before = {id(node) for statement in siblings[:place] for node in statement.walk()}
    inside = {id(node) for node in loop.node.walk()}
    for name in awaited:
        writes = [(id(node), is_sum) for node, is_sum in _writes(around, name) if id(node) not in inside]
        if any(is_sum for _, is_sum in writes) and all(node in before for node, _ in writes):
            return True
    return False


def _writes(node: Node, name: str) -> Iterator[tuple[Node, bool]]:
    """What may write a variable, and whether it adds one to it atomically; who is handed its address may."""
    for below in node.walk():
        if below.kind == "assign" and name in names(below.kids[0]):
            yield below, False
        elif below.kind == "call" and any(name in names(argument) for argument in below.arguments):
            yield below, bare_callee(below) in _SUMS
        elif below.kind in ("postfix", "unary") and below.text in ("++", "--") and name in names(below.kids[0]):
            yield below, False


_SUMS = frozenset({"atomicAdd", "atomicInc", "atomicAdd_block", "atomicInc_block"})


def _compared(condition: Node) -> Iterator[str]:
    """The names of a condition's plain sides: `flag` of `ld(p) != flag`, and of `!reached(ld(p), flag)`."""
    condition = unwrapped(condition)
    while condition.kind == "unary" and condition.text == "!":
        condition = unwrapped(condition.kids[0])
    sides = condition.kids if condition.kind == "binary" else ()
    if condition.kind == "call" and any(unwrapped(side).kind == "call" for side in condition.arguments):
        sides = condition.arguments
    for side in sides:
        side = unwrapped(side)
        if side.kind == "name":
            yield side.text


def _siblings(node: Node, loop: Node) -> tuple[Node, ...] | None:
    """The statements of the block that a loop stands in."""
    for kid in node.kids:
        if kid is loop:
            return node.kids if node.kind == "block" else None
    for kid in node.kids:
        if kid.kids and kid.first <= loop.first <= kid.last:
            found = _siblings(kid, loop)
            if found is not None:
                return found
    return None


def _told(bodies: Bodies, statements: tuple[Node, ...], awaited: set[str]) -> Iterator[str]:
    """What writes one of the values to memory, whatever the condition: the function's name, or the sign of a store."""
    for statement in statements:
        if statement.kind in _AGAIN:
            continue
        for call in calls(statement):
            name = bare_callee(call)
            given = {unwrapped(argument).text for argument in call.arguments if unwrapped(argument).kind == "name"}
            if given & awaited and (_STORES.fullmatch(name) or _is_store(bodies, name)):
                yield name
        for node in statement.walk():
            if node.kind == "assign" and node.text == "=" and unwrapped(node.kids[0]).kind in ("index", "unary"):
                yield from ("=" for name in names(node.kids[1]) if name in awaited)


def _is_store(bodies: Bodies, name: str) -> bool:
    """Whether a function of the project is a store in assembly."""
    return any(
        node.kind == "asm" and _STORING.search(said(bodies.tokens, node.first)) is not None
        for function in bodies.by_name.get(name, ())
        for node in function.body.walk()
    )
