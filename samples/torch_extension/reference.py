"""Expected results of the extension's kernels, in float64."""

from __future__ import annotations

import torch
from torch import Tensor


def reference_rms_norm_forward_kernel(x: Tensor, weight: Tensor, eps: float) -> tuple[Tensor, Tensor]:
    """x: (rows, cols), weight: (cols,) scalar_t -> y: (rows, cols) scalar_t, rstd: (rows,) acc_t.

    Template: scalar_t, acc_t; launch: `rows` blocks, block a multiple of the warp size up to 1024.
    """
    rstd = (x.double().square().mean(1) + eps).rsqrt()
    return x.double() * rstd[:, None] * weight.double(), rstd


def reference_rms_norm_backward_input_kernel(grad: Tensor, x: Tensor, weight: Tensor, rstd: Tensor) -> Tensor:
    """grad, x: (rows, cols), weight: (cols,) scalar_t, rstd: (rows,) acc_t -> dx: (rows, cols) scalar_t.

    Template: scalar_t, acc_t; launch: `rows` blocks, block a multiple of the warp size up to 1024.
    """
    scaled, scale = grad.double() * weight.double(), rstd.double()[:, None]
    mean = (scaled * x.double()).mean(1, keepdim=True) * scale.square()
    return scale * (scaled - x.double() * mean)


def reference_rms_norm_backward_weight_kernel(grad: Tensor, x: Tensor, rstd: Tensor) -> Tensor:
    """grad, x: (rows, cols) scalar_t, rstd: (rows,) acc_t -> dweight: (cols,) scalar_t.

    Template: scalar_t, acc_t; launch: block (32, 8), ceil(cols / 8) blocks.
    """
    return torch.sum(grad.double() * x.double() * rstd.double()[:, None], 0)
