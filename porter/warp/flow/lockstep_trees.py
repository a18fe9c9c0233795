"""Helpers of which nothing but their steps tells that a warp runs them: `s[t] += s[t + 16]; s[t] += s[t + 8]; ...`."""

from __future__ import annotations

from collections.abc import Iterator

from porter.cpp.nodes import Node, unwrapped
from porter.warp.bodies import Bodies
from porter.warp.flow.accesses import Access
from porter.warp.flow.lockstep import Lockstep
from porter.warp.function import Function

_STEPS = frozenset({16, 8, 4, 2, 1})


def may_have_trees(text: str) -> bool:
    """Whether the steps of a warp may stand in a text: 16 and 1, with the others or a loop between."""
    return "16" in text and "1" in text and ("8" in text or any(shift in text for shift in (">>=", "<<=", "/=", "*=")))


def trees(bodies: Bodies) -> Iterator[tuple[Function, frozenset[str]]]:
    """Helpers that nobody calls in this file, with the pointers through which they take all steps of a warp.

    A header has no more to show. If the steps are one thread's after all, barriers between them cost no instruction.
    """
    for function in bodies.functions:
        if function.is_kernel or function.has_barrier or any(map(bodies.is_own, bodies.callers(function.name))):
            continue
        pointers = frozenset(name for name, kind in function.parameter_types.items() if "*" in kind or "[" in kind)
        if pointers:
            walk = Lockstep(bodies, function, pointers)
            found = frozenset(name for name in pointers if is_stepped(bodies, walk, name))
            if found:
                yield function, found


def is_stepped(bodies: Bodies, walk: Lockstep, base: str) -> bool:
    """Whether elements that are written are read at the distances of a warp's steps, or of a loop that halves them."""
    accesses = [access for access in walk.accesses if access.base == base and not access.handed]
    written = [access for access in accesses if access.writes]
    apart: set[int] = set()
    for read in accesses:
        if read.writes or not written:
            continue
        flip = _flip(read)
        if flip is not None:
            if flip.text in walk.steps:
                return True
            apart.add(bodies.constants.value(flip) or 0)
        for write in written:
            difference = read.sum.minus(write.sum)
            if difference.is_constant:
                apart.add(abs(difference.constant))
            elif not difference.constant and walk.steps >= difference.terms.keys():
                return True
    return apart >= _STEPS


def _flip(read: Access) -> Node | None:
    """The step of `s[t ^ step]`."""
    node = unwrapped(read.index)
    return unwrapped(node.kids[1]) if node.kind == "binary" and node.text == "^" else None
