"""Inputs moved by a few roundings: what a kernel makes of that is its own uncertainty. Pure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from porter.validation import dtypes
from porter.validation.case import Case
from porter.validation.inputs import Filled
from porter.validation.tolerance import TABLE

_UNITS = 8


def moved(case: Case, filled: Filled, draw: int) -> Filled:
    """Every floating-point element moved at random by some units in its last place: far enough to be rounded anew."""
    rng = np.random.default_rng([0, draw])
    arrays = dict(filled.arrays)
    for argument in (*case.arguments, *case.constants):
        if argument.name in arrays and dtypes.is_float(argument.dtype):
            values = dtypes.to_float64(arrays[argument.name], argument.dtype)
            step = 1.0 + _UNITS * TABLE[argument.dtype].unit * rng.standard_normal(values.shape)
            with np.errstate(invalid="ignore", over="ignore"):
                arrays[argument.name] = dtypes.from_float64(values * step, argument.dtype)
    return replace(filled, arrays=arrays)


def largest(rows: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """The largest movement of each element, but no less than that of the element in the middle.

    A few draws leave some elements where they were by chance; what is no number does not move.
    """
    stacked = np.stack(rows)
    found: NDArray[np.float64] = np.where(np.isfinite(stacked), stacked, 0.0).max(axis=0)
    return np.maximum(found, np.median(found)) if found.size else found
