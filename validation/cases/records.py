"""Arrays of structures: `(float32 x, int32 id, float32*3 v)`, laid out as in C, each member with its own type."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from porter.validation.cases.dtypes import Array

_MEMBER = re.compile(
    r"(?P<dtype>\w+?)\s*(?:\*\s*(?P<count>\d{1,6}))?\s+(?P<name>[A-Za-z_]\w*)\s*(?:@\s*(?P<at>\d{1,6}))?"
)
ADDRESS = "address"
"""The type of a member that is a pointer."""
_WHOLE = re.compile(r"\((?P<members>[^()]*?)(?:/\s*(?P<size>\d{1,6})\s*)?\)")


@dataclass(frozen=True)
class Member:
    """One member of the structures of an array."""

    array: str
    """Name of the argument."""
    name: str
    dtype: str
    count: int
    offset: int
    """Bytes from the start of a structure."""
    size: int
    """Of the whole structure."""

    def view(self, memory: Array) -> Array:
        """This member of each structure in memory: rows of `count`."""
        import numpy as np
        from porter.validation.cases import dtypes

        kind: Any = np.dtype(
            {
                "names": ["m"],
                "formats": [(dtypes.storage(stored(self.dtype)), (self.count,))],
                "offsets": [self.offset],
                "itemsize": self.size,
            }
        )
        rows: Array = memory.view(kind)["m"]
        return rows if self.count > 1 else rows[:, 0]


def stored(dtype: str) -> str:
    """What a member is in memory that no address has been put into."""
    return "uint64" if dtype == ADDRESS else dtype


def is_record(dtype: str) -> bool:
    """Whether a type is a structure."""
    return dtype.startswith("(")


def members_of(array: str, dtype: str, known: tuple[str, ...]) -> tuple[Member, ...]:
    """The members of a structure, where none is given at the next place that its type allows; raises ValueError."""
    from porter.validation.cases import dtypes

    whole = _WHOLE.fullmatch(dtype.strip())
    if whole is None:
        raise ValueError(f"{dtype!r} is not (DTYPE NAME, DTYPE*COUNT NAME, ...)")
    found: list[tuple[str, str, int, int]] = []
    end, widest = 0, 1
    for part in whole["members"].split(","):
        match = _MEMBER.fullmatch(part.strip())
        if match is None or match["dtype"] not in (*known, ADDRESS):
            raise ValueError(f"{part.strip()!r} is not DTYPE NAME or DTYPE*COUNT NAME")
        width, count = dtypes.storage(stored(match["dtype"])).itemsize, int(match["count"] or 1)
        at = int(match["at"]) if match["at"] else -(-end // width) * width
        if at < end or count < 1 or match["name"] in [name for _, name, _, _ in found]:
            raise ValueError(f"{part.strip()!r} overlaps what is before it, or is empty")
        found.append((match["dtype"], match["name"], count, at))
        end, widest = at + count * width, max(widest, width)
    size = int(whole["size"]) if whole["size"] else -(-end // widest) * widest
    if size < end:
        raise ValueError(f"{dtype!r} has members up to byte {end}")
    return tuple(Member(array, name, kind, count, at, size) for kind, name, count, at in found)
