"""Expected results of the softmax kernels, in float64."""

from __future__ import annotations

from torch import Tensor


def reference_softmax_warp(input: Tensor) -> Tensor:
    """input: (rows, cols) T -> out: (rows, cols) T; cols <= 32 * PER_LANE.

    Template: T (float32, float16), PER_LANE; launch: block (32, 4), ceil(rows / 4) blocks.
    """
    return input.double().softmax(1)


def reference_softmax_block(input: Tensor) -> Tensor:
    """input: (rows, cols) T -> out: (rows, cols) T.

    Template: T (float32, float16), BLOCK; launch: `rows` blocks of BLOCK, 4 * cols bytes of dynamic shared memory.
    """
    return input.double().softmax(1)
