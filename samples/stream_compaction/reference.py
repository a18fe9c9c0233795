"""Expected results of the compaction kernels."""

from __future__ import annotations

import torch
from torch import Tensor

BLOCK = 256


def reference_compact_atomic(input: Tensor, threshold: float) -> tuple[Tensor, Tensor]:
    """input: (n,) float32 -> out: the kept values in any order (compare sorted), count: () int32, zero before.

    Launch: any grid, block 256. Only the first `count` elements of out are written.
    """
    kept = input[input > threshold]
    return kept.double(), torch.tensor(kept.numel(), dtype=torch.int32)


def reference_count_kept(input: Tensor, threshold: float) -> Tensor:
    """input: (n,) float32 -> block_counts: (ceil(n / 256),) int32. Launch: one block of 256 per 256 elements."""
    return torch.stack([(part > threshold).sum() for part in input.split(BLOCK)]).int()


def reference_scatter_kept(input: Tensor, block_offsets: Tensor, threshold: float) -> Tensor:
    """input: (n,) float32, block_offsets: (ceil(n / 256),) int32 -> out, long enough for the last slot; rest NaN.

    Launch: one block of 256 per 256 elements. Given the exclusive sums of count_kept, out is input[input > threshold].
    """
    parts = [part[part > threshold].double() for part in input.split(BLOCK)]
    starts = [int(offset) for offset in block_offsets]
    size = max(start + part.numel() for start, part in zip(starts, parts, strict=True))
    out = torch.full((size,), float("nan"), dtype=torch.float64)
    for start, part in zip(starts, parts, strict=True):
        out[start : start + part.numel()] = part
    return out


def reference_pack_flags(input: Tensor, threshold: float) -> Tensor:
    """input: (n,) float32 -> words: (ceil(n / 32),) uint32 as int64; bit i % 32 of word i / 32 is element i.

    Launch: one block of 256 per 256 elements.
    """
    bits = torch.nn.functional.pad((input > threshold).long(), (0, -input.numel() % 32))
    return (bits.view(-1, 32) << torch.arange(32)).sum(1)
