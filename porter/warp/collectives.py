"""The warp-wide operations of CUDA: which argument is the mask, the value, the lane and the width."""

from __future__ import annotations

from dataclasses import dataclass

from porter.cpp.nodes import Node


@dataclass(frozen=True, slots=True)
class Collective:
    """One warp-wide function; places of its arguments, None where it has none."""

    name: str
    kind: str
    """shuffle, ballot, vote, match, reduce, active or sync."""
    mask: int | None = None
    value: int | None = None
    lane: int | None = None
    """Source lane, delta or lane mask of a shuffle."""
    width: int | None = None
    uniform: bool = False
    """Whether all lanes of the warp get the same result."""


def _shuffles() -> list[Collective]:
    found: list[Collective] = []
    for form in ("", "_up", "_down", "_xor"):
        found.append(Collective(f"__shfl{form}", "shuffle", None, 0, 1, 2))
        found.append(Collective(f"__shfl{form}_sync", "shuffle", 0, 1, 2, 3))
    return found


COLLECTIVES = {
    c.name: c
    for c in (
        *_shuffles(),
        Collective("__ballot", "ballot", None, 0, uniform=True),
        Collective("__ballot_sync", "ballot", 0, 1, uniform=True),
        Collective("__any", "vote", None, 0, uniform=True),
        Collective("__all", "vote", None, 0, uniform=True),
        Collective("__any_sync", "vote", 0, 1, uniform=True),
        Collective("__all_sync", "vote", 0, 1, uniform=True),
        Collective("__uni_sync", "vote", 0, 1, uniform=True),
        Collective("__activemask", "active", uniform=True),
        Collective("__match_any_sync", "match", 0, 1),
        Collective("__match_all_sync", "match", 0, 1, uniform=True),
        *(
            Collective(f"__reduce_{op}_sync", "reduce", 0, 1, uniform=True)
            for op in ("add", "min", "max", "and", "or", "xor")
        ),
        Collective("__syncwarp", "sync", 0),
    )
}
"""By name."""

EXCHANGES = frozenset({"shuffle", "ballot", "vote", "match", "reduce"})
"""Kinds that move a value between lanes."""

CHOSEN = frozenset({"active", "ballot", "match"})
"""Kinds that give the lanes that are there."""

TILE_MEMBERS = frozenset(
    [
        "shfl",
        "shfl_up",
        "shfl_down",
        "shfl_xor",
        "any",
        "all",
        "ballot",
        "match_any",
        "match_all",
        "sync",
    ]
)
"""Member functions of cooperative groups that act on a whole tile."""

TILES = frozenset({"tiled_partition", "thread_block_tile"})
"""Names that make or hold a tile of cooperative groups."""

BARRIERS = frozenset(
    [
        "__syncthreads",
        "__syncthreads_count",
        "__syncthreads_and",
        "__syncthreads_or",
        "__barrier_sync",
        "__barrier_sync_count",
    ]
)
"""Functions that wait for the whole block."""

GROUPS = frozenset({"thread_block", "this_thread_block", "grid_group", "this_grid"})
"""Names that make or hold a group of cooperative groups whose barrier is the block's or more."""

FULL = 0xFFFFFFFF


def collective(call: Node) -> Collective | None:
    """The warp-wide function that a call calls, under CUDA's name or under our header's."""
    return named(call.callee) if call.kind == "call" else None


def named(name: str) -> Collective | None:
    """The warp-wide function of a name."""
    return COLLECTIVES.get(f"__{name[8:]}" if name.startswith("porter::") else name.removeprefix("::"))


def argument(call: Node, place: int | None) -> Node | None:
    """An argument of a call by place; None when it is left out."""
    arguments = call.arguments
    return arguments[place] if place is not None and place < len(arguments) else None
