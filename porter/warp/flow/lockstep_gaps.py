"""The functions of a file whose lanes exchange values in lockstep, each with the places that lack a barrier."""

from __future__ import annotations

from collections.abc import Iterator

from porter.engine.unit import Unit
from porter.warp.bodies import Function, bodies_of
from porter.warp.flow.lockstep import Gap, Lockstep, lockstep_walks
from porter.warp.flow.lockstep_hints import candidates
from porter.warp.flow.lockstep_trees import may_have_trees, trees
from porter.warp.flow.plain_pointers import plain_pointers

__all__ = ["Function", "Gap", "Lockstep", "gaps_of", "plain_pointers"]


def gaps_of(unit: Unit) -> Iterator[tuple[Function, Lockstep, tuple[Gap, ...]]]:
    """Functions that lack barriers, with the walk that shows it."""
    bodies = bodies_of(unit)
    known = dict(trees(bodies)) if may_have_trees(unit.source.text) else {}
    return (found for found in lockstep_walks(bodies, candidates(bodies), known) if found[2])
