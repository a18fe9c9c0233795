"""Expected results of the element-wise kernels, in float64."""

from __future__ import annotations

import torch
from torch import Tensor


def reference_axpby(x: Tensor, y: Tensor, alpha: float, beta: float) -> Tensor:
    """x, y: (n,) float32 or float16 -> out: (n,). Launch: any grid, up to 256 threads."""
    return alpha * x.double() + beta * y.double()


def reference_silu_half(x: Tensor) -> Tensor:
    """x: (n,) float16, 4-byte aligned -> out: (n,). Launch: any grid, up to 256 threads."""
    value = x.double()
    return value * torch.sigmoid(value)


def reference_clamp_scale(input: Tensor, lo: float, hi: float, scale: float) -> Tensor:
    """input: (n4, 4) float32, 16-byte aligned -> out: (n4, 4). Launch: any grid, up to 256 threads.

    As with fminf and fmaxf, NaN becomes `lo`.
    """
    bounds = torch.tensor([lo, hi], dtype=torch.float64)
    return scale * torch.fmin(torch.fmax(input.double(), bounds[0]), bounds[1])
