"""Expected results of the prefix sums; floating point in float64, integers exactly."""

from __future__ import annotations

import torch
from torch import Tensor


def _wide(values: Tensor) -> Tensor:
    return values.double() if values.is_floating_point() else values.long()


def reference_warp_scan_rows(input: Tensor) -> tuple[Tensor, Tensor]:
    """input: (rows, 32) float32 -> inclusive, exclusive: (rows, 32).

    Launch: one warp per row, block a multiple of 32.
    """
    inclusive = input.double().cumsum(1)
    return inclusive, torch.nn.functional.pad(inclusive[:, :-1], (1, 0))


def reference_scan_blocks(input: Tensor, BLOCK: int, EXCLUSIVE: bool) -> tuple[Tensor, Tensor]:
    """input: (n,) T -> out: (n,), block_sums: (ceil(n / BLOCK),).

    Template: T, BLOCK, EXCLUSIVE; one element per thread.
    """
    parts = _wide(input).split(BLOCK)
    scans = [part.cumsum(0) - part * EXCLUSIVE for part in parts]
    return torch.cat(scans), torch.stack([part.sum() for part in parts])


def reference_add_block_offsets(data: Tensor, offsets: Tensor, block: int) -> Tensor:
    """data: (n,) T in place, offsets: (ceil(n / block),) T -> data. Template: T; `block` is the launch's block size."""
    return _wide(data) + _wide(offsets).repeat_interleave(block)[: data.numel()]
