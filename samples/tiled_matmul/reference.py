"""Expected results of the matrix kernels, in float64."""

from __future__ import annotations

from torch import Tensor


def reference_matmul_tiled(A: Tensor, B: Tensor) -> Tensor:
    """A: (M, K), B: (K, N) float32 -> C: (M, N). Template: TILE; launch: block (TILE, TILE), one block per tile."""
    return A.double() @ B.double()


def reference_matmul_blocked(A: Tensor, B: Tensor) -> Tensor:
    """A: (M, K), B: (K, N) float32 -> C: (M, N). Launch: block (16, 16), grid by 64, 8192 bytes dynamic shared."""
    return A.double() @ B.double()


def reference_transpose(input: Tensor) -> Tensor:
    """input: (rows, cols) float32 -> out: (cols, rows). Launch: block (32, 8), one block per 32 x 32 tile."""
    return input.double().t().contiguous()
