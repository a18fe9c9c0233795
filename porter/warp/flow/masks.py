"""Which lanes a mask names: all of them, those that met some condition, or what a caller says."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from porter.warp.collectives import FULL
from porter.warp.function import Function


class Lanes(enum.Enum):
    """How much of a warp a mask names."""

    ALL = enum.auto()
    SOME = enum.auto()
    UNKNOWN = enum.auto()


class Mask(NamedTuple):
    """What is known of a mask."""

    lanes: Lanes = Lanes.UNKNOWN
    since: int | None = None
    """How many branches stood around the place where its lanes were chosen; None: nobody can tell."""
    of: frozenset[str] = frozenset()
    """The names that it was made of."""
    given: bool = False
    """Whether it is a parameter that a caller in sight hands all lanes for."""


SOME = Mask(Lanes.SOME)
ALL = Mask(Lanes.ALL)
UNKNOWN = Mask()


def either(masks: Iterable[Mask]) -> Mask:
    """A mask that can be any of these."""
    found = tuple(dict.fromkeys(masks))
    if len(found) == 1:
        return found[0]
    if ALL.lanes in (mask.lanes for mask in found):
        found = tuple(mask for mask in found if mask.lanes is not Lanes.ALL)
        if latest(found) is None:
            return ALL  # else all lanes are named where the others come to all: `n < 32 ? (1u << n) - 1 : ~0u`
    of = frozenset[str]().union(*(mask.of for mask in found))
    lanes = Lanes.UNKNOWN if any(mask.lanes is Lanes.UNKNOWN for mask in found) else Lanes.SOME
    return Mask(lanes, latest(found), of, any(mask.given for mask in found))


def latest(masks: Iterable[Mask]) -> int | None:
    """How many branches stood around the innermost place where lanes of some masks were chosen."""
    return max((mask.since for mask in masks if mask.since is not None), default=None)


def handed(function: Function, passed: Iterable[Mapping[int, Mask]], defaults: Iterable[Mask]) -> dict[str, Mask]:
    """What the parameters of a function hold as masks: lanes that its caller chose, who knew what it hands on."""
    full = {place for places in passed for place, mask in places.items() if mask.lanes is Lanes.ALL or mask.given}
    full |= {place for place, mask in enumerate(defaults) if mask.lanes is Lanes.ALL}
    known = frozenset(function.parameters)
    return {name: Mask(Lanes.SOME, 0, known, place in full) for place, name in enumerate(function.parameters)}


def literal(values: frozenset[int]) -> Mask:
    """A mask that is a constant, with each value that it has in a branch of the preprocessor."""
    if not values:
        return UNKNOWN
    return ALL if any(value & FULL == FULL for value in values) else SOME
