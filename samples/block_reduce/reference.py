"""Expected results of the block reductions, in float64."""

from __future__ import annotations

import torch
from torch import Tensor


def reference_block_sum(input: Tensor, chunk: int) -> Tensor:
    """input: (n,) T -> out: (ceil(n / chunk),) T. Launch: one block per chunk, block a multiple of 32."""
    return torch.stack([part.sum() for part in input.double().split(chunk)])


def reference_block_max_abs(input: Tensor, chunk: int) -> Tensor:
    """input: (n,) float32 without NaN -> out: (ceil(n / chunk),).

    Launch: one block per chunk, block a multiple of 32.
    """
    return torch.stack([part.abs().max() for part in input.double().split(chunk)])


def reference_dot(x: Tensor, y: Tensor) -> Tensor:
    """x, y: (n,) float32 -> result: () float64, zero before. Launch: any grid, block a multiple of 32, up to 256."""
    return x.double() @ y.double()
