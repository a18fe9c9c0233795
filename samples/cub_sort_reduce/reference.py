"""Expected results of the kernels that use CUB; floating point in float64, integers exactly."""

from __future__ import annotations

import torch
from torch import Tensor

BLOCK_ITEMS = 128 * 4


def reference_row_sum_block(input: Tensor) -> Tensor:
    """input: (rows, cols) float32 -> out: (rows,). Launch: `rows` blocks of 128."""
    return input.double().sum(1)


def reference_row_max_warp(input: Tensor) -> Tensor:
    """input: (rows, cols) float32 without NaN -> out: (rows,). Launch: block 128, four rows per block."""
    return input.double().amax(1)


def reference_block_scan(input: Tensor) -> Tensor:
    """input: (n,) int32 -> out: (n,), exclusive sums that restart every 512 elements.

    Launch: block 128, 512 per block.
    """
    parts = input.long().split(BLOCK_ITEMS)
    return torch.cat([part.cumsum(0) - part for part in parts]).int()
