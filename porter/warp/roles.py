"""What values that may stem from the warp size mean, and which values may."""

from __future__ import annotations

import enum
from dataclasses import dataclass

from porter.model import Span


class Role(str, enum.Enum):
    """What a value that may stem from the warp size means."""

    HARDWARE = "hardware-width"
    TILE = "logical-tile"
    LAYOUT = "data-layout"
    UNRELATED = "unrelated"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class Classified:
    """One value: where it stands, what it is now, what it means, and why."""

    span: Span
    text: str
    value: int | None
    role: Role
    evidence: str
    function: str


WIDTHS = frozenset({4, 5, 8, 16, 24, 31, 32, 33, 63, 64, 128, 0xFFFF, 0xFFFF0000, 0xFFFFFFFF, 0xFFFFFFFFFFFFFFFF})
_PACKING = frozenset({0x55555555, 0xAAAAAAAA, 0x33333333, 0xCCCCCCCC, 0x0F0F0F0F, 0xF0F0F0F0, 0x00FF00FF, 0xFF00FF00})
"""Masks that pick every other bit, pair, nibble or byte of a word of 32 bits."""
CANDIDATES = WIDTHS | _PACKING
CUB_WARPS = frozenset({"WarpReduce", "WarpScan", "WarpExchange", "WarpMergeSort", "WarpLoad", "WarpStore"})
