"""Addresses in a launch's memory: pointers among the members of structures in arrays, or in variables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from porter.validation.cases.dtypes import Array

WIDTH = 8
_OFFSET_BITS = 48
_ALIGNED = 16
_NULL = (1 << 64) - 1
"""What a null pointer reads as, zero being taken."""


@dataclass(frozen=True)
class Link:
    """Eight bytes that hold an address of one of the launch's arrays."""

    holder: int | str
    """Which value of the launch has them, or the name of a variable."""
    at: int
    """The first of them."""
    target: int
    """Which value of the launch is pointed to."""
    offset: int = 0
    """Bytes from the beginning of its memory."""


def linked(content: Array, links: Iterable[Link], bases: Mapping[int, int]) -> Array:
    """A copy of memory with the addresses in it."""
    import numpy as np

    made: Any = np.ascontiguousarray(content).copy()
    data = made.reshape(-1).view(np.uint8)
    for link in links:
        address = bases[link.target] + link.offset
        data[link.at : link.at + WIDTH] = np.frombuffer(address.to_bytes(WIDTH, "little"), np.uint8)
    return np.asarray(made)


def unlinked(content: Array, links: Iterable[Link], places: Mapping[int, tuple[int, int]]) -> Array:
    """Memory as it came back, the addresses in it as on no device: zero for one that is still the same, else which
    array it leads into, and where. `places` are address and bytes of each array."""
    import numpy as np

    made: Any = np.ascontiguousarray(content).copy()
    data = made.reshape(-1).view(np.uint8)
    for link in links:
        found = int.from_bytes(data[link.at : link.at + WIDTH].tobytes(), "little")
        told = _told(found, link, places).to_bytes(WIDTH, "little")
        data[link.at : link.at + WIDTH] = np.frombuffer(told, np.uint8)
    return np.asarray(made)


def _told(found: int, link: Link, places: Mapping[int, tuple[int, int]]) -> int:
    if found == places[link.target][0] + link.offset:
        return 0
    for index, (base, size) in places.items():
        if base <= found <= base + size:
            return (index + 1) << _OFFSET_BITS | (found - base)
    return found or _NULL


def part_of(size: int, count: int, element: int) -> int:
    """Bytes of each of so many equal parts of an array: whole elements, at places where vectors may begin."""
    part = size // max(1, count)
    step = _ALIGNED if part >= _ALIGNED and _ALIGNED % element == 0 else element
    return part // step * step
