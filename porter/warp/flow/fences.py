"""Fences of the whole device inside loops, be they in a macro, a lambda, a helper or assembly."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import cast

from porter.cpp.asm import KEYWORDS, said
from porter.cpp.nodes import Node, bare_callee
from porter.warp.bodies import Bodies
from porter.warp.flow.expansion import Expansion
from porter.warp.flow.waiting_loop import leaps_back
from porter.warp.function import Function

FENCES = frozenset({"__threadfence", "__threadfence_system"})
_SCOPED = "atomic_thread_fence"
_NEAR = frozenset({"thread_scope_block", "thread_scope_thread"})
_IN_MACROS = frozenset({"for", "while", "do", "goto"})
_ASSEMBLED = re.compile(r"\b(?:membar\.(?:gl|sys)|fence(?:\.\w+)*\.(?:gpu|sys))\b")
_LOOPS = ("for", "while", "do", "range", "macroloop")
FENCE_WORDS = FENCES | {_SCOPED} | frozenset(KEYWORDS)


def fences_in_loops(bodies: Bodies, function: Function) -> Iterator[tuple[Node, str]]:
    """Each with what it is called, in the order of the text, once per place."""
    expansion = _expansion(bodies)
    if not expansion.may_come(function) and not _asm_of(bodies, function):
        return
    found: dict[tuple[int, int], tuple[Node, str]] = {}
    for loop in _loops(expansion.body(function), bodies):
        for node in loop.walk():
            name = _fence(bodies, expansion, node)
            if name:
                found.setdefault((node.first, node.last), (node, name))
    yield from (found[place] for place in sorted(found))


def _fence(bodies: Bodies, expansion: Expansion, node: Node) -> str:
    """What a fence of the device is called, or the helper that has it; empty for anything else."""
    if node.kind == "asm":
        match = _ASSEMBLED.search(said(bodies.tokens, node.first))
        return match[0] if match is not None else ""
    if node.kind != "call":
        return ""
    name = bare_callee(node)
    if name == _SCOPED:
        return "" if _is_near(bodies, node) else name
    if name in FENCES:
        return name
    # `sync` is of a group, whose own barrier it is, as likely as of the project
    helpers = bodies.by_name.get(name, ()) if name in expansion.names and name != "sync" else ()
    return name if any(not FENCES.isdisjoint(one.words) or _asm_of(bodies, one) for one in helpers) else ""


def _is_near(bodies: Bodies, node: Node) -> bool:
    return not _NEAR.isdisjoint(bodies.tokens.texts[node.first : node.last + 1])


def _loops(node: Node, bodies: Bodies) -> Iterator[Node]:
    """The loops below a node, jumps back among them; none that is gone through once."""
    if node.kind in _LOOPS and not (node.kind == "do" and node.kids[1].text in ("0", "false")):
        yield node
        return
    if node.kind == "block" and "goto" in bodies.tokens.names:
        yield from leaps_back(node, bodies.tokens.texts)
    for kid in node.kids:
        yield from _loops(kid, bodies)


def _expansion(bodies: Bodies) -> Expansion:
    """The bodies with what comes to a fence put in."""
    known = bodies.memo.get("fences in loops")
    if known is None:
        named = bodies.tokens.names
        telling = {name for name in (*FENCES, _SCOPED) if name in named}
        telling |= {function.name for function in bodies.all_functions if _asm_of(bodies, function)}
        known = bodies.memo["fences in loops"] = Expansion(bodies, frozenset(telling), _IN_MACROS)
    return cast(Expansion, known)


def _asm_of(bodies: Bodies, function: Function) -> bool:
    """Whether a function has a fence of the device in assembly."""
    tokens, head = bodies.tokens, function.head
    places = (place for word in KEYWORDS for place in tokens.named(word, head.body or head.begin, head.end))
    return any(_ASSEMBLED.search(said(tokens, place)) for place in places)
