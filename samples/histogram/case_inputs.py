"""Inputs with a property of their own."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def keys(rng: np.random.Generator, shape: tuple[int, ...], keys_end: int) -> NDArray[np.int64]:
    """Random keys; the last one is the largest, so that the reference's histogram has all bins."""
    found = rng.integers(0, keys_end, shape)
    found[-1] = keys_end - 1
    return found
