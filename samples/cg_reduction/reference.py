"""Expected results of the cooperative-groups kernels; floating point in float64, integers exactly."""

from __future__ import annotations

import torch
from torch import Tensor


def reference_tile_row_sum(input: Tensor) -> Tensor:
    """input: (rows, cols) float32 -> out: (rows,). Launch: one tile of 32 threads per row, block a multiple of 32."""
    return input.double().sum(1)


def reference_tile_max(input: Tensor, WIDTH: int) -> Tensor:
    """input: (groups * WIDTH,) int32, not negative -> out: (groups,). Template: WIDTH; one thread per element."""
    return input.view(-1, WIDTH).amax(1)


def reference_count_above(input: Tensor, threshold: float) -> Tensor:
    """input: (n,) float32 -> count: () int32, zero before. Launch: any."""
    return (input > threshold).sum().int()


def reference_normalise(data: Tensor) -> tuple[Tensor, Tensor]:
    """data: (n,) float32 in place -> data, norm2: () float64, zero before.

    Launch: cooperative, every block resident, block a multiple of 32 up to 256.
    """
    values = data.double()
    norm2 = torch.dot(values, values)
    return values / norm2.sqrt(), norm2
