"""Inputs that follow from other inputs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def block_offsets(input: NDArray[np.float32], threshold: float) -> NDArray[np.int64]:
    """Exclusive prefix sums of what each block of 256 keeps."""
    counts = [int((input[start : start + 256] > threshold).sum()) for start in range(0, input.size, 256)]
    return np.concatenate([[0], np.cumsum(counts)])[: len(counts)].astype(np.int64)
