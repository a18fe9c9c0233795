"""Inputs with a property of their own."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def offsets(rng: np.random.Generator, rows: int, nnz: int) -> NDArray[np.int64]:
    """Where rows of uneven lengths start, empty ones among them."""
    return np.concatenate([[0], np.sort(rng.integers(0, nnz + 1, rows - 1)), [nnz]])
