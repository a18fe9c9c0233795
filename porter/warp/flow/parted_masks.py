"""Masks whose lanes were chosen before a condition lets only some of them come by."""

from __future__ import annotations

import functools
from collections.abc import Iterable, Iterator, Mapping

from porter.cpp.nodes import Node, names, spelled, unwrapped
from porter.warp.collectives import EXCHANGES
from porter.warp.flow.events import Branch, Event
from porter.warp.flow.masks import Lanes, Mask
from porter.warp.flow.spread import Spread
from porter.warp.function import Function

_OF_ALL = frozenset({"threadIdx"})
"""What says nothing of what two expressions have in common."""


def parted_behind_mask(function: Function, event: Event) -> Branch | None:
    """The innermost condition that parts the lanes of a warp after a mask chose them, and has nothing to do with it."""
    if event.kind not in EXCHANGES and (event.kind != "call" or event.reaches.isdisjoint(EXCHANGES)):
        return None
    for mask in event.masks:
        if mask.lanes is Lanes.SOME and mask.since is not None:
            for branch in reversed(event.branches[mask.since :]):
                if branch.spread is Spread.LANE and not _is_related(function, branch.node, mask):
                    return branch
    return None


def _is_related(function: Function, condition: Node, mask: Mask) -> bool:
    """Whether what a condition asks went into a mask, too: `m = __ballot_sync(~0u, i < n); if (i < n) ...`."""
    sources = _sources(function)
    asked, made = _all_names(sources, names(condition)), _all_names(sources, mask.of)
    return not asked.isdisjoint(made)


@functools.lru_cache(maxsize=64)
def _sources(function: Function) -> Mapping[str, frozenset[str]]:
    """The names that each variable of a function is made of, wherever it is set."""
    found: dict[str, set[str]] = {}
    for name, source in _set_variables(function.body):
        found.setdefault(name, set()).update(names(source))
    return {name: frozenset(inside) for name, inside in found.items()}


def _set_variables(body: Node) -> Iterator[tuple[str, Node]]:
    for node in body.walk():
        if node.kind == "variable" and node.initial is not None:
            yield node.text, node.initial
        elif node.kind == "assign" and (target := spelled(unwrapped(node.kids[0]))):
            yield target.partition(".")[0], node.kids[1]


def _all_names(sources: Mapping[str, frozenset[str]], first: Iterable[str]) -> frozenset[str]:
    found: set[str] = set()
    todo = frozenset(first) - _OF_ALL
    while todo:
        found |= todo
        todo = frozenset[str]().union(*(sources.get(name, ()) for name in todo)) - found - _OF_ALL
    return frozenset(found)
