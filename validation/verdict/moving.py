"""Inputs moved by a few roundings: what a kernel makes of that is its own uncertainty. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from porter.validation.cases import dtypes
from porter.validation.cases.case import Case
from porter.validation.cases.inputs import Filled
from porter.validation.verdict.tolerance import TABLE

_UNITS = 8
_FEW = 0.05
"""Of the elements: where the roundings of the arithmetic decide more integers than this, they hide a wrong port."""


def moved(case: Case, filled: Filled, draw: int, *, narrow: bool = True) -> Filled:
    """Every floating-point element moved at random by some units in its last place: far enough to be rounded anew.

    Without `narrow`, those of 16 bits stay: a unit of theirs is much more than what a kernel's arithmetic does.
    """
    rng = np.random.default_rng([0, draw])
    arrays = dict(filled.arrays)
    for argument in (*case.arguments, *case.constants):
        if argument.name in arrays and dtypes.is_float(argument.dtype) and (narrow or not is_narrow(argument.dtype)):
            values = dtypes.to_float64(arrays[argument.name], argument.dtype)
            step = 1.0 + _UNITS * TABLE[argument.dtype].unit * rng.standard_normal(values.shape)
            with np.errstate(invalid="ignore", over="ignore"):
                arrays[argument.name] = dtypes.from_float64(values * step, argument.dtype)
    return replace(filled, arrays=arrays)


def is_narrow(dtype: str) -> bool:
    """True for floating-point types of 16 bits."""
    return dtype in ("float16", "bfloat16")


def beyond_rounding(movement: NDArray[np.float64], values: NDArray[np.float64], dtype: str) -> NDArray[np.float64]:
    """What of a movement is more than the last rounding of the values themselves."""
    row = TABLE[dtype]
    with np.errstate(invalid="ignore"):
        return np.maximum(movement - 2 * (row.unit * np.abs(values) + row.smallest), 0.0)


def largest(rows: Sequence[NDArray[np.float64]], share: float = 0.5) -> NDArray[np.float64]:
    """The largest movement of each element, but no less than that of the element in the middle (`share` of them).

    A few draws leave some elements where they were by chance; what is no number does not move.
    """
    stacked = np.stack(rows)
    found: NDArray[np.float64] = np.where(np.isfinite(stacked), stacked, 0.0).max(axis=0)
    return np.maximum(found, np.quantile(found, share)) if found.size else found


def decided_by_rounding(rows: Sequence[NDArray[np.float64]], written: NDArray[np.bool_]) -> NDArray[np.float64]:
    """How far each integer moves when the roundings of the arithmetic go other ways; nothing where many do.

    An element that stays where it is gets nothing from the others: integers are told apart exactly.
    """
    found = np.where(written, np.stack(rows).max(axis=0), 0.0)
    return found if np.count_nonzero(found) <= _FEW * written.sum() else np.zeros(found.shape)
