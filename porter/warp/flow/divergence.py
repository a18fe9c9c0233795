"""Where the threads of a warp part, and which operations count on all of them: what rules about it import."""

from __future__ import annotations

from porter.warp.collectives import BARRIERS, COLLECTIVES, EXCHANGES, GROUPS, TILES
from porter.warp.flow.barriers import nested_barriers
from porter.warp.flow.events import Branch, Event
from porter.warp.flow.parted_masks import parted_behind_mask
from porter.warp.flow.spread import Spread, by_name
from porter.warp.flow.unit_walks import flow_of, flows, names_all_lanes

__all__ = [
    "BARRIERS",
    "COLLECTIVES",
    "EXCHANGES",
    "GROUPS",
    "TILES",
    "Branch",
    "Event",
    "Spread",
    "by_name",
    "flow_of",
    "flows",
    "names_all_lanes",
    "nested_barriers",
    "parted_behind_mask",
]
