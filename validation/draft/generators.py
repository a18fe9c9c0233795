"""States of cuRAND's generators in device code: their members, and how a port draws the same numbers."""

from __future__ import annotations

import re

from porter.validation.draft.types import Element

_MEMBERS = {
    "XORWOW": (
        48,
        (("d", 0, "uint32", 1), ("v", 4, "uint32", 5), ("flag", 24, "int32", 1), ("flag_double", 28, "int32", 1)),
        (("extra", 32, "float32", 1), ("extra_double", 40, "float64", 1)),
    ),
    "Philox4_32_10": (
        64,
        (("ctr", 0, "uint32", 4), ("output", 16, "uint32", 4), ("key", 32, "uint32", 2), ("at", 40, "uint32", 1)),
        (("flag", 44, "int32", 1), ("flag_double", 48, "int32", 1), ("extra", 52, "float32", 1),
         ("extra_double", 56, "float64", 1)),
    ),
    "MRG32k3a": (
        48,
        (("s1", 0, "uint32", 3), ("s2", 12, "uint32", 3), ("flag", 24, "int32", 1), ("flag_double", 28, "int32", 1)),
        (("extra", 32, "float32", 1), ("extra_double", 40, "float64", 1)),
    ),
}  # fmt: skip
"""Size and members: name, place, type, how many."""
PHILOX = " = integers(0, 4)"
"""Values of such states: a member counts which of four numbers is next."""
_STATE = re.compile(r"curandState(XORWOW|Philox4_32_10|MRG32k3a)?(?:_t)?")
_DRAWS = re.compile(r"\bcurand(?:_\w+|\d*)\s*\(")
_SAID = "hipRAND draws other numbers than cuRAND: values cannot be compared"
_NOT_SHARED = re.compile(r"curandStateMtgp32|curandDiscrete|\bcurand_(?:discrete|mtgp32)")
"""What the generator of both sides (toolchain/random) does not have."""


def members_of(kind: str) -> tuple[int, tuple[tuple[str, int, Element, int], ...]] | None:
    """The size of a state and its members; None for another type."""
    found = _STATE.fullmatch(kind)
    if found is None:
        return None
    size, numbers, kept = _MEMBERS[found[1] or "XORWOW"]
    return size, tuple((name, at, Element(dtype), count) for name, at, dtype, count in (*numbers, *kept))


def draws(body: str) -> bool:
    """Whether a kernel, with what it calls, makes states or takes numbers from them."""
    return _DRAWS.search(body) is not None


def one_generator(body: str) -> str:
    """The line of a case whose kernel draws: both sides share a generator, or the original runs alone."""
    if not _NOT_SHARED.search(body):
        return "one_generator = true"
    devices = ", ".join(f'{device} = "{_SAID}"' for device in ("gfx942", "gfx90a", "hip"))
    return f"not_run = {{ {devices} }}"
