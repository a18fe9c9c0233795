"""Expected results of the histogram kernels; every kernel adds to a `hist` that is zero before."""

from __future__ import annotations

import torch
from torch import Tensor

BYTES = 256


def reference_histogram_bytes(input: Tensor) -> Tensor:
    """input: (n,) uint8 -> hist: (256,) uint32 as int64. Launch: any."""
    return torch.bincount(input.long(), minlength=BYTES)


def reference_histogram_range(input: Tensor, lo: float, hi: float, bins: int) -> Tensor:
    """input: (n,) float32 -> hist: (bins,) uint32 as int64. Launch: any, with 4 * bins bytes of dynamic shared memory.

    Bins are found in float32, as the kernel does: a value on an edge may fall on either side of it in float64.
    """
    values = input.float()
    low, high = torch.tensor(lo, dtype=torch.float32), torch.tensor(hi, dtype=torch.float32)
    inside = values[(values >= low) & (values < high)]
    places = ((inside - low) * (torch.tensor(bins, dtype=torch.float32) / (high - low))).long()
    return torch.bincount(places.clamp(max=bins - 1), minlength=bins)


def reference_histogram_luma(rgba: Tensor) -> Tensor:
    """rgba: (n, 4) uint8, 4-byte aligned -> hist: (256,) uint32 as int64. Launch: any."""
    luma = (rgba[:, :3].long() * torch.tensor([77, 150, 29])).sum(1) >> 8
    return torch.bincount(luma, minlength=BYTES)


def reference_histogram_match(keys: Tensor) -> Tensor:
    """keys: (n,) int32, not negative -> hist: (max(keys) + 1,) uint32 as int64.

    Launch: any grid, block a multiple of 32.
    """
    return torch.bincount(keys.long())
