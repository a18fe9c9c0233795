"""How far from the exact result a kernel may be: one table by element type, and the problem's own condition.

A result y of a sum over L terms is accepted within

    (UNITS * u + 2 * sqrt(L) * v) * |y|  +  FACTOR * sqrt(L) * spread  +  two of the smallest numbers above zero

where u is half a unit in the last place of the output's type, v that of the type that kernels add up in (no such term
for L = 1), and spread how far y moves when every input moves by v (see `reference.spread`): large where terms cancel,
zero where nothing is computed. The square roots are those of rounding errors that are independent of each other.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from porter.validation.cases import dtypes
from porter.validation.cases.dtypes import Array

FACTOR = 8.0


@dataclass(frozen=True)
class Row:
    """One element type."""

    unit: float
    """Half a unit in the last place of 1."""
    units: float
    """Relative error allowed, in `unit`."""
    accumulator: float
    """Unit of the type that kernels with this output add up in."""
    smallest: float


TABLE = {
    "float64": Row(2.0**-53, 16, 2.0**-53, 2.0**-1074),
    "float32": Row(2.0**-24, 16, 2.0**-24, 2.0**-149),
    "float16": Row(2.0**-11, 2, 2.0**-24, 2.0**-24),
    "bfloat16": Row(2.0**-8, 2, 2.0**-24, 2.0**-133),
}


def allowed(
    dtype: str, truth: NDArray[np.float64], reduction: int, spread: NDArray[np.float64] | None
) -> NDArray[np.float64]:
    """The largest error accepted per element."""
    row = TABLE[dtype]
    growth = 2 * math.sqrt(reduction) * row.accumulator if reduction > 1 else 0.0
    bound = (row.units * row.unit + growth) * _magnitude(truth) + 2 * row.smallest
    if spread is not None:
        bound = bound + FACTOR * math.sqrt(max(reduction, 1)) * spread
    return bound


def fixed(truth: NDArray[np.float64], rtol: float, atol: float) -> NDArray[np.float64]:
    """rtol and atol together, as numpy and torch have them."""
    return rtol * _magnitude(truth) + atol


def unrefereed(dtype: str, truth: NDArray[np.float64], reduction: int) -> NDArray[np.float64]:
    """Between two computed results, when there is no reference: both may err, and terms are as large as the output."""
    finite = np.abs(truth[np.isfinite(truth)])
    scale = float(finite.max()) if finite.size else 0.0
    row = TABLE[dtype]
    growth = FACTOR * math.sqrt(reduction) * row.accumulator * scale if reduction > 1 else 0.0
    return 2.0 * (row.units * row.unit * _magnitude(truth) + 2 * row.smallest) + 2.0 * growth


def _magnitude(truth: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(np.isfinite(truth), np.abs(truth), 0.0)


def accuracy(errors: NDArray[np.float64]) -> tuple[float, float]:
    """Largest and root-mean-square error."""
    if not errors.size:
        return 0.0, 0.0
    largest = float(errors.max())
    if largest == 0.0 or not math.isfinite(largest):
        return largest, largest
    return largest, largest * float(np.sqrt(np.mean((errors / largest) ** 2)))


def is_as_accurate(
    port: NDArray[np.float64], original: NDArray[np.float64], truth: Array, dtype: str, slack: float
) -> bool:
    """Whether the port errs no more than the original: in the largest error and in the mean, by at most `slack`.

    Half a unit in the last place of the largest result comes on top: an original that is exact by luck proves little.
    """
    row = TABLE[dtype]
    magnitude = _magnitude(dtypes.to_float64(truth, "float64"))
    grace = row.unit * float(magnitude.max()) if magnitude.size else 0.0
    (port_max, port_rms), (original_max, original_rms) = accuracy(port), accuracy(original)
    return port_max <= slack * original_max + grace and port_rms <= slack * original_rms + grace
