"""The helpers that a function calls, here or in headers, as far as they move values between lanes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from porter.cpp.nodes import Node
from porter.warp.collectives import COLLECTIVES
from porter.warp.wave64.lanes import TORCHS_SHUFFLES
from porter.warp.wave64.view import View

_SHUFFLES = frozenset({*TORCHS_SHUFFLES, *(name for name, one in COLLECTIVES.items() if one.kind == "shuffle")})


def exchanges(view: View) -> Iterator[tuple[Node, tuple[View, ...]]]:
    """The calls of functions in sight that shuffle, each with all functions that it may mean."""
    names = _SHUFFLES | view.branches.operations.keys()
    for node in view.nodes:
        if node.kind != "call" or node.callee.startswith("porter::"):
            continue
        found = view.bodies.by_name.get(node.callee.partition("<")[0].rpartition("::")[2], ())
        helpers = [one for one in found if one.head.body is not None and one != view.function]
        if helpers and all(not names.isdisjoint(one.words) for one in helpers):
            yield node, tuple(replace(view, function=one) for one in helpers)
