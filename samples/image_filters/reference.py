"""What the kernels compute, in float64."""

from __future__ import annotations

import torch
from torch import Tensor
from torch.nn.functional import pad


def reference_gradient_kernel(*, image: Tensor) -> Tensor:
    """image: height x width, float; launch: block (16, 16), a grid that covers the image."""
    wide = pad(image.double()[None, None], (1, 1, 1, 1), mode="replicate")[0, 0]
    dx = 0.5 * (wide[1:-1, 2:] - wide[1:-1, :-2])
    dy = 0.5 * (wide[2:, 1:-1] - wide[:-2, 1:-1])
    return (dx.square() + dy.square()).sqrt()


def reference_row_extremes_kernel(*, image: Tensor) -> Tensor:
    """image: height x width, float; launch: block (32, 4), height / 4 blocks, rounded up."""
    return torch.stack((image.double().amin(1), image.double().amax(1)), 1)


def reference_count_above(*, edges: Tensor, limit: float) -> Tensor:
    """edges: float; `count` is cleared before; launch: blocks of a multiple of 32 threads."""
    return (edges > limit).sum().to(torch.int32).reshape(1)
