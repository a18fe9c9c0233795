"""Where the threads of a warp part, and which operations count on all of them: what rules about it import."""

from __future__ import annotations

from porter.warp.collectives import BARRIERS, COLLECTIVES, EXCHANGES, GROUPS, TILES
from porter.warp.flow.back_edges import BackEdge, parted_back_edges
from porter.warp.flow.barriers import nested_barriers
from porter.warp.flow.events import Branch, Event
from porter.warp.flow.parted_in_headers import PartedCall, parted_in_headers
from porter.warp.flow.parted_masks import parted_behind_mask
from porter.warp.flow.spread import Spread, by_name
from porter.warp.flow.unit_walks import flow_of, flows, names_all_lanes
from porter.warp.flow.whole_wavefronts import keeps_wavefronts

__all__ = [
    "BARRIERS",
    "COLLECTIVES",
    "EXCHANGES",
    "GROUPS",
    "TILES",
    "BackEdge",
    "Branch",
    "Event",
    "PartedCall",
    "Spread",
    "by_name",
    "flow_of",
    "flows",
    "keeps_wavefronts",
    "names_all_lanes",
    "nested_barriers",
    "parted_back_edges",
    "parted_behind_mask",
    "parted_in_headers",
]
