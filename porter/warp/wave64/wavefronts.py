"""Lanes, masks and steps of code for whole wavefronts: what rules about it import."""

from __future__ import annotations

from porter.warp.collectives import COLLECTIVES, Collective, argument
from porter.warp.wave64.callees import exchanges
from porter.warp.wave64.lanes import Divided
from porter.warp.wave64.names import HALF, TRACE, WHOLE
from porter.warp.wave64.steps import Steps, exponents_of, loops_of
from porter.warp.wave64.uses import COUNTS, is_width_free
from porter.warp.wave64.view import View, file_groups, has_operations, views

__all__ = [
    "COLLECTIVES",
    "COUNTS",
    "HALF",
    "TRACE",
    "WHOLE",
    "Collective",
    "Divided",
    "Steps",
    "View",
    "argument",
    "exchanges",
    "exponents_of",
    "file_groups",
    "has_operations",
    "is_width_free",
    "loops_of",
    "views",
]
