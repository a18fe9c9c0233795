"""Expected results of the kernel in the string, in float64."""

from __future__ import annotations

import torch
from torch import Tensor


def reference_polynomial(x: Tensor, coefficients: Tensor) -> tuple[Tensor, Tensor]:
    """x: (n,), coefficients: (DEGREE + 1,) float32, lowest power first -> out: (n,), largest: (ceil(n / 32),).

    Macros: DEGREE, INFINITY_F; launch: one thread per element, block a multiple of 32.
    """
    values = torch.zeros_like(x, dtype=torch.float64)
    for coefficient in coefficients.double().flip(0):
        values = values * x.double() + coefficient
    return values, torch.stack([part.amax() for part in values.split(32)])
