"""Expected results of the top-k kernels."""

from __future__ import annotations

import torch
from torch import Tensor


def reference_warp_topk(input: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """input: (rows, cols) float32 without NaN, k <= 32 -> values: (rows, k), indices: (rows, k) int32.

    Larger values first, the lower index first among equals; with cols < k the rest is -inf and -1.
    Launch: one warp per row, block a multiple of 32, up to 128.
    """
    ordered = torch.sort(input.double(), dim=1, descending=True, stable=True)
    missing = max(0, k - input.shape[1])
    values = torch.nn.functional.pad(ordered.values[:, :k], (0, missing), value=float("-inf"))
    indices = torch.nn.functional.pad(ordered.indices[:, :k], (0, missing), value=-1)
    return values, indices.int()


def reference_warp_argmax(input: Tensor) -> Tensor:
    """input: (rows, cols) float32 without NaN, cols > 0 -> out: (rows,) int32, the lowest index of the largest value.

    Launch: one warp per row, block a multiple of 32.
    """
    return torch.sort(input.double(), dim=1, descending=True, stable=True).indices[:, 0].int()
