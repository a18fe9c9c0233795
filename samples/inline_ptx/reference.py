"""Expected results of the kernels with inline PTX; floating point in float64, integers exactly."""

from __future__ import annotations

import torch
from torch import Tensor

GROUP = 32


def reference_flag_ranks(flags: Tensor) -> tuple[Tensor, Tensor]:
    """flags: (n,) int32 -> rank, tail: (n,) int32, counted within groups of 32.

    Launch: one thread per element, block a multiple of 32.
    """
    groups = torch.nn.functional.pad((flags != 0).int(), (0, -flags.numel() % GROUP)).view(-1, GROUP)
    rank = groups.cumsum(1) - groups
    tail = groups.sum(1, keepdim=True) - rank
    return rank.flatten()[: flags.numel()].int(), tail.flatten()[: flags.numel()].int()


def reference_broadcast_lane(input: Tensor, source: int) -> Tensor:
    """input: (n,) float32, source < 32 -> out: (n,). Launch: one thread per element, block a multiple of 32."""
    own = torch.arange(input.numel())
    other = own - own % GROUP + source
    return input.double()[torch.where(other < input.numel(), other, own)]


def reference_expand_pixels(input: Tensor, swap_mask: int) -> Tensor:
    """input: (n,) uint16 (any integer dtype with values below 65536) -> out: (n,) uint32 as int64.

    Launch: one per element.
    """
    pixel = input.long()
    r, g, b = pixel >> 11, pixel >> 5 & 63, pixel & 31
    red, green, blue = r << 3 | r >> 2, g << 2 | g >> 4, b << 3 | b >> 2
    plain = 0xFF000000 | red << 16 | green << 8 | blue
    swapped = blue << 24 | green << 16 | red << 8 | 0xFF
    return (swapped & swap_mask) | (plain & ~swap_mask & 0xFFFFFFFF)


def reference_scale_staged(input: Tensor, scale: float) -> Tensor:
    """input: (n4, 4) float32, 16-byte aligned -> out: (n4, 4). Launch: block 256, one float4 per thread."""
    return scale * input.double()


def reference_sum_last_block(input: Tensor) -> Tensor:
    """input: (n,) float32 -> out: () float32; partial: scratch, one float per block; ticket: () uint32, zero before.

    Launch: block a power of two up to 256, any grid.
    """
    return input.double().sum()
