"""Expected results of the sparse products, in float64."""

from __future__ import annotations

import torch
from torch import Tensor


def _multiply(
    offsets: Tensor, columns: Tensor, values: Tensor, x: Tensor, y: Tensor, alpha: float, beta: float
) -> Tensor:
    lengths = offsets.long().diff()
    rows = torch.arange(lengths.numel()).repeat_interleave(lengths)
    products = values.double() * x.double()[columns.long()]
    sums = torch.zeros(lengths.numel(), dtype=torch.float64).index_add(0, rows, products)
    return alpha * sums if beta == 0.0 else alpha * sums + beta * y.double()


def reference_spmv_vector(
    offsets: Tensor, columns: Tensor, values: Tensor, x: Tensor, y: Tensor, alpha: float, beta: float
) -> Tensor:
    """offsets: (rows + 1,), columns: (nnz,) int32, values: (nnz,), x: (cols,), y: (rows,) float32 in place -> y.

    Template: WIDTH (a power of two up to 32); launch: block 128, WIDTH threads per row. With beta = 0, y is not read.
    """
    return _multiply(offsets, columns, values, x, y, alpha, beta)


def reference_spmv_scalar(
    offsets: Tensor, columns: Tensor, values: Tensor, x: Tensor, y: Tensor, alpha: float, beta: float
) -> Tensor:
    """The same arguments as spmv_vector -> y. Launch: block 128, one thread per row."""
    return _multiply(offsets, columns, values, x, y, alpha, beta)
