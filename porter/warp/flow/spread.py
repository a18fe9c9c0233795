"""How a value differs between the threads of a block, from expressions alone."""

from __future__ import annotations

import enum
import functools
import re
from typing import NamedTuple

from porter.cpp.constants import WARP


class Spread(enum.IntEnum):
    """The widest group of threads in which a value is the same."""

    BLOCK = 0
    WARP = 1
    LANE = 2

    __hash__ = int.__hash__


class Value(NamedTuple):
    """What is known of a value: its spread, and whether it numbers threads, lanes or warps."""

    spread: Spread = Spread.BLOCK
    role: str = ""
    """thread: counts up by one from lane to lane, aligned to warps; lane: 0-31; warp: the same for 32 threads;
    offset: a lane's number on top of what is the same for the warp."""
    constant: int | None = None
    fixed: bool = False
    """Known when compiling, though perhaps not to us: a template parameter or a constant of a header."""


UNIFORM = Value()
PER_WARP = Value(Spread.WARP)
PER_LANE = Value(Spread.LANE)
THREAD = Value(Spread.LANE, "thread")
LANE = Value(Spread.LANE, "lane")
WARP_ID = Value(Spread.WARP, "warp")
OFFSET = Value(Spread.LANE, "offset")
_WITH_LANE = frozenset({"thread", "lane", "offset"})
"""Roles of values whose difference to each other is the same for a whole warp."""

_LANE_NAME = re.compile(
    r"(?:my_?)?lane(?:_?id(?:x)?|_?num|_?index)?|(?:tid|thread(?:_?id)?)_?in_?warp|warp_?tid|lid", re.IGNORECASE
)
_THREAD_NAME = re.compile(r"(?:thread_?)(?:id|idx|index|num|rank)?(?:_?x)?|tid(?:_?x)?|tx|gtid|tidx", re.IGNORECASE)
_WARP_NAME = re.compile(r"(?:my_?)?(?:warp|wid)(?:_?id(?:x)?|_?num|_?index)?", re.IGNORECASE)


@functools.lru_cache(maxsize=4096)
def by_name(name: str) -> Value:
    """What a parameter's name promises when no call of the function is in sight."""
    if _LANE_NAME.fullmatch(name):
        return LANE
    if _THREAD_NAME.fullmatch(name):
        return THREAD
    if _WARP_NAME.fullmatch(name):
        return WARP_ID
    return UNIFORM


def join(*values: Value) -> Value:
    """What is common to values that can stand in one place."""
    if not values:
        return UNIFORM
    first = values[0]
    if all(value == first for value in values):
        return first
    spread = max(value.spread for value in values)
    roles = {value.role for value in values if value.spread == spread}
    role = roles.pop() if len(roles) == 1 else OFFSET.role if roles <= _WITH_LANE else ""
    return Value(spread, role, None, all(v.fixed for v in values))


def selected(role: str, spread: Spread) -> str:
    """The role of what was chosen between values of that role: lanes that choose each for itself part offsets."""
    return "" if role == OFFSET.role and spread is Spread.LANE else role


def binary(operator: str, left: Value, right: Value, constant: int | None) -> Value:
    """The value of `left operator right`; `constant` is its value where that is known."""
    if constant is not None:
        return Value(constant=constant, fixed=True)
    spread = max(left.spread, right.spread)
    fixed = left.fixed and right.fixed
    if operator == "&" and spread is Spread.BLOCK:  # `(n + 31) & ~31` is a multiple of 32
        return Value(fixed=fixed or any(side.constant and side.constant % WARP == 0 for side in (left, right)))
    if operator in ("/", ">>") and left.spread is Spread.LANE and right.spread is Spread.BLOCK:
        return _divided(left, _divisor(operator, right))
    if operator in ("%", "&") and left.spread is Spread.LANE and right.spread is Spread.BLOCK:
        return _remainder(operator, left, right)
    if operator == "&" and left.spread is Spread.BLOCK:
        return _remainder(operator, right, left)
    if operator in ("+", "-", "|", "^"):
        return _sum(operator, left, right, spread)
    if operator in ("<", "<=", ">", ">=", "==", "!="):
        return Value(_compared(operator, left, right, spread), fixed=fixed)
    if operator == "*" and spread is Spread.BLOCK:
        fixed |= any(side.fixed and (side.constant or 0) % WARP == 0 for side in (left, right))
    if operator in ("/", ">>") and (right.constant or 0) >= (WARP if operator == "/" else 5):
        fixed = False
    return Value(spread, "", None, fixed)


def _divisor(operator: str, right: Value) -> int | None:
    if right.constant is None or right.constant < 0:
        return None
    return right.constant if operator == "/" else 1 << min(right.constant, 40)


_SMALLEST_GROUP = 4


def _divided(left: Value, divisor: int | None) -> Value:
    """A thread number divided: the same for a group of threads; a small known group is not a warp."""
    if left.role != "thread" or (divisor is not None and divisor < _SMALLEST_GROUP):
        return PER_LANE
    return WARP_ID if divisor == WARP else PER_WARP


def _remainder(operator: str, left: Value, right: Value) -> Value:
    modulus = right.constant
    if modulus is not None and operator == "&":
        if modulus < 0 or modulus >= 0xFFFFFF00:
            return PER_WARP if left.role == "thread" and (-modulus) & 0xFFFFFFFF >= WARP else PER_LANE
        modulus += 1
    if left.role != "thread" or modulus is None:
        return Value(left.spread)
    if modulus == WARP:
        return LANE
    return THREAD if modulus % WARP == 0 else PER_LANE


def _sum(operator: str, left: Value, right: Value, spread: Spread) -> Value:
    if spread is Spread.LANE and operator in ("+", "-", "|"):
        thread, other = (left, right) if left.spread is Spread.LANE else (right, left)
        if other.spread is not Spread.LANE and thread.role == "thread" and not (operator == "-" and thread is right):
            aligned = other.constant is None or other.constant % WARP == 0
            return THREAD if aligned else _offset(operator)
        if other.spread is Spread.WARP and thread.role == "lane":
            return THREAD
        if operator == "-" and {left.role, right.role} <= _WITH_LANE:
            return PER_WARP
        if other.spread is not Spread.LANE and thread.role in _WITH_LANE and not (operator == "-" and thread is right):
            return _offset(operator)
        return PER_LANE
    fixed = left.fixed and right.fixed and all(v.constant is None or v.constant % WARP == 0 for v in (left, right))
    role = "warp" if spread is Spread.WARP and "warp" in (left.role, right.role) else ""
    return Value(spread, role, None, fixed and spread is Spread.BLOCK)


def _offset(operator: str) -> Value:
    return PER_LANE if operator == "|" else OFFSET


def _compared(operator: str, left: Value, right: Value, spread: Spread) -> Spread:
    """A thread number against a bound that is a multiple of 32 splits no warp, nor does one with a lane's number."""
    if left.spread is right.spread is Spread.LANE and {left.role, right.role} <= _WITH_LANE:
        return Spread.WARP
    if spread is not Spread.LANE or Spread.BLOCK not in (left.spread, right.spread):
        return spread
    number, bound, below = (left, right, operator) if left.spread is Spread.LANE else (right, left, _MIRROR[operator])
    if number.role not in ("thread", "lane") or below in ("==", "!="):
        return spread
    if bound.constant is not None:
        edge = bound.constant + (below in ("<=", ">"))
        splits = edge % WARP != 0 if number.role == "thread" else 0 < edge < WARP
        return Spread.LANE if splits else Spread.WARP
    return Spread.WARP if bound.fixed else spread


_MIRROR = {"<": ">", ">": "<", "<=": ">=", ">=": "<=", "==": "==", "!=": "!="}
