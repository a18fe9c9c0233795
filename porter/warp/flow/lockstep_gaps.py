"""The functions of a file whose lanes exchange values in lockstep, each with the places that lack a barrier."""

from __future__ import annotations

from collections.abc import Iterator
from typing import cast

from porter.cpp.nodes import Node
from porter.engine.unit import Unit
from porter.warp.bodies import bodies_in_sight
from porter.warp.flow.lockstep import Gap, Lockstep, lockstep_walks
from porter.warp.flow.lockstep_hints import candidates
from porter.warp.flow.lockstep_trees import is_stepped, may_have_trees, trees
from porter.warp.flow.plain_pointers import plain_pointers
from porter.warp.flow.short_barriers import short_helpers, short_steps
from porter.warp.function import Function

__all__ = ["Function", "Gap", "Lockstep", "gaps_in_headers", "gaps_of", "plain_pointers"]


def gaps_of(unit: Unit) -> Iterator[tuple[Function, Lockstep, tuple[Gap, ...]]]:
    """Functions that lack barriers, with the walk that shows it."""
    bodies = bodies_in_sight(unit)
    return (found for found in _walks(unit) if found[2] and bodies.is_own(found[0]))


def gaps_in_headers(unit: Unit) -> Iterator[tuple[Node, Gap]]:
    """Calls that hand a warp's shared memory to a function of a header which lacks barriers, with the first place.

    What the port of the header mends by itself is left out: volatile pointers, and all steps of a warp in one function.
    """
    bodies = bodies_in_sight(unit)
    if bodies.own is None:
        return
    walks = _walks(unit)
    lacking = {
        function.name: gap
        for function, walk, gaps in walks
        for gap in gaps[:1]
        if not bodies.is_own(function) and _is_pointer(function, gap.base)
        if not walk.is_volatile(gap.base) and not is_stepped(bodies, walk, gap.base)
        if not short_steps(bodies, function)
    }
    for function, walk, _ in walks if lacking else ():
        for name in sorted({name for name, _ in walk.handed} & lacking.keys()) if bodies.is_own(function) else ():
            call = next((call for call in function.calls if call.callee.rpartition("::")[2] == name), None)
            if call is not None:
                yield call, lacking[name]


def _is_pointer(function: Function, name: str) -> bool:
    written = function.parameter_types.get(name, "")
    return "*" in written or "[" in written


def _walks(unit: Unit) -> list[tuple[Function, Lockstep, tuple[Gap, ...]]]:
    bodies = bodies_in_sight(unit)
    known = bodies.memo.get("lockstep walks")
    if known is None:
        stepped = dict(trees(bodies)) if may_have_trees(unit.source.text) else {}
        stepped.update(short_helpers(bodies))
        known = bodies.memo["lockstep walks"] = list(lockstep_walks(bodies, candidates(bodies), stepped))
    return cast("list[tuple[Function, Lockstep, tuple[Gap, ...]]]", known)
