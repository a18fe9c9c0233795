"""Expected results of the texture kernels, in float64."""

from __future__ import annotations

import torch
from torch import Tensor


def reference_resample(image: Tensor, out_w: int, out_h: int) -> Tensor:
    """image: (in_h, in_w) float32 behind a clamped, linear texture object -> out: (out_h, out_w).

    Launch: 2-D, one thread per pixel. The hardware keeps 8 bits of the weights: errors up to 1/256 of a step.
    """
    batch = image.double()[None, None]
    return torch.nn.functional.interpolate(batch, (out_h, out_w), mode="bilinear", align_corners=False)[0, 0]


def reference_look_up(table: Tensor, index: Tensor) -> Tensor:
    """table: (m,) float32 behind a linear texture object, index: (n,) int32 in [0, m) -> out: (n,)."""
    return table.double()[index.long()]


def reference_blur_rows(input: Tensor, weights: Tensor) -> Tensor:
    """input: (height, width) float32, weights: (9,) float32 in the constant kWeights -> out: (height, width).

    Launch: block 128, grid (ceil(width / 128), height).
    """
    radius = weights.numel() // 2
    padded = torch.nn.functional.pad(input.double()[None], (radius, radius), mode="replicate")[0]
    return padded.unfold(1, weights.numel(), 1) @ weights.double()
