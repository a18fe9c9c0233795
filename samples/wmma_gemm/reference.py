"""Expected results of the tensor-core products, in float64."""

from __future__ import annotations

from torch import Tensor


def reference_wmma_gemm(A: Tensor, B: Tensor) -> Tensor:
    """A: (M, K), B: (N, K) float16 (B is stored by columns) -> C: (M, N) float32; all sides multiples of 16.

    Launch: one warp per 16 x 16 tile of C.
    """
    return A.double() @ B.double().t()


def reference_wmma_gemm_staged(A: Tensor, B: Tensor, C: Tensor, alpha: float, beta: float) -> Tensor:
    """A: (M, K), B: (N, K) float16, C: (M, N) float32 in place -> C; M, N multiples of 64, K of 32.

    Launch: block 128, grid (N / 64, M / 64).
    """
    return alpha * (A.double() @ B.double().t()) + beta * C.double()
