"""Expected results of the layer normalisation kernels, in float64."""

from __future__ import annotations

import torch
from torch import Tensor


def reference_layer_norm_forward(x: Tensor, gamma: Tensor, beta: Tensor, eps: float) -> tuple[Tensor, Tensor, Tensor]:
    """x: (rows, cols), gamma, beta: (cols,) float32 -> y: (rows, cols), mean, rstd: (rows,).

    Launch: `rows` blocks of a multiple of 32 threads.
    """
    values = x.double()
    mean = values.mean(1)
    rstd = (values.var(1, correction=0) + eps).rsqrt()
    return (values - mean[:, None]) * rstd[:, None] * gamma.double() + beta.double(), mean, rstd


def reference_layer_norm_backward_input(dy: Tensor, x: Tensor, gamma: Tensor, mean: Tensor, rstd: Tensor) -> Tensor:
    """dy, x: (rows, cols), gamma: (cols,), mean, rstd: (rows,) float32 -> dx: (rows, cols).

    Launch: `rows` blocks of a multiple of 32 threads. `mean` and `rstd` are taken as given.
    """
    normal = (x.double() - mean.double()[:, None]) * rstd.double()[:, None]
    scaled = dy.double() * gamma.double()
    sums = scaled.mean(1, keepdim=True) + normal * (scaled * normal).mean(1, keepdim=True)
    return rstd.double()[:, None] * (scaled - sums)


def reference_layer_norm_backward_params(dy: Tensor, x: Tensor, mean: Tensor, rstd: Tensor) -> tuple[Tensor, Tensor]:
    """dy, x: (rows, cols), mean, rstd: (rows,) float32 -> dgamma, dbeta: (cols,).

    Launch: block (32, 8), ceil(cols / 32) blocks.
    """
    normal = (x.double() - mean.double()[:, None]) * rstd.double()[:, None]
    return torch.sum(dy.double() * normal, 0), torch.sum(dy.double(), 0)
