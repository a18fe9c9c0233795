"""Numbers that stem from 32, and what they are for 64 lanes."""

from __future__ import annotations

import re

_SUFFIX = re.compile(r"[uUlL]*$")
_FULL_32 = 0xFFFFFFFF

WIDE = {5: 6, 16: 32, 31: 63, 32: 64}
"""log2, half, last lane, lanes."""


def widened(text: str, value: int) -> str:
    """A literal of a width-derived value, written as it was: `0x1f` becomes `0x3f`, `32u` becomes `64u`."""
    suffix = _SUFFIX.search(text.strip())
    tail = suffix.group() if suffix else ""
    if value & _FULL_32 == _FULL_32:
        return "~0ull"
    new = WIDE[value]
    return (f"0x{new:x}" if text.strip().lower().startswith("0x") else str(new)) + tail


def long_one(text: str) -> str:
    """`1u` as a 64-bit one."""
    return "1ull" if text.strip().rstrip("uUlL") == "1" else f"(unsigned long long)({text})"
