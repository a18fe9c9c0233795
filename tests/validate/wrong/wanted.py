"""What the kernels should have computed, in numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]


def twice(a: Array) -> Array:
    return 2.0 * a.astype(np.float64)


def halved(a: Array) -> Array:
    return 0.5 * a.astype(np.float64)


def neighbours(a: Array) -> Array:
    return 0.5 * (a.astype(np.float64) + np.append(a[1:], 0.0))


def reversed_tiles(a: Array) -> Array:
    return a.astype(np.float64).reshape(-1, 128)[:, ::-1].reshape(-1)


def row_sums(a: Array) -> Array:
    return a.astype(np.float64).sum(1)


def integer_sums(a: Array) -> Array:
    return a.astype(np.int64).sum(1)


def row_maxima(a: Array) -> Array:
    return a.astype(np.float64).max(1)


def difference(a: Array, b: Array) -> Array:
    return a.astype(np.float64) - b.astype(np.float64)


def last(a: Array) -> Array:
    return a[-1:].astype(np.float64)


def softmax(a: Array) -> Array:
    powers = np.exp(a.astype(np.float64) - a.max(1, keepdims=True))
    return powers / powers.sum(1, keepdims=True)


def backwards(a: Array) -> Array:
    return a[::-1].astype(np.float64)


def pairs_swapped(a: Array) -> Array:
    return a.reshape(-1, 2)[:, ::-1].reshape(-1).astype(np.float64)


def variances(a: Array) -> Array:
    return a.astype(np.float64).var(1)


def packed(a: Array) -> Array:
    return ((a.reshape(-1, 32) > 0).astype(np.int64) << np.arange(32)).sum(1)


def scaled_and_total(a: Array, n: int) -> tuple[Array, Array]:
    values = a.astype(np.float64)
    return values * 2, np.array([(values * values).sum()])
