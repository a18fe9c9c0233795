# ruff: noqa: ANN001, ANN201 (Triton's kernels have no types)
"""Triton kernels, right ones and wrong ones. Imported only where Triton is installed."""

import triton
import triton.language as tl


@triton.jit
def softmax(x, out, stride, cols, BLOCK: tl.constexpr):
    row = tl.program_id(0)
    at = tl.arange(0, BLOCK)
    v = tl.load(x + row * stride + at, mask=at < cols, other=-float("inf"))
    e = tl.exp(v - tl.max(v, axis=0))
    tl.store(out + row * stride + at, e / tl.sum(e, axis=0), mask=at < cols)


@triton.jit
def unmasked(x, out, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + at)
    tl.store(out + at, v * 2, mask=at < n)


@triton.jit
def scaled(x, out, by, n, TYPE: tl.constexpr, MODE: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    v = tl.load(x + at, mask=at < n).to(TYPE)
    if MODE == "twice":
        v = v * 2
    tl.store(out + at, v * by, mask=at < n)


@triton.autotune(
    configs=[
        triton.Config({"BM": 32, "BN": 32, "BK": 32}, num_warps=2),
        triton.Config({"BM": 64, "BN": 32, "BK": 32}, num_warps=4),
    ],
    key=["M", "N", "K"],
)
@triton.jit
def matmul(a, b, c, M, N, K, BM: tl.constexpr, BN: tl.constexpr, BK: tl.constexpr):
    m = tl.program_id(0) * BM + tl.arange(0, BM)[:, None]
    n = tl.program_id(1) * BN + tl.arange(0, BN)[None, :]
    total = tl.zeros((BM, BN), dtype=tl.float32)
    for start in range(0, K, BK):
        k = start + tl.arange(0, BK)
        left = tl.load(a + m * K + k[None, :], mask=(m < M) & (k[None, :] < K), other=0.0)
        right = tl.load(b + k[:, None] * N + n, mask=(k[:, None] < K) & (n < N), other=0.0)
        total += tl.dot(left, right)
    tl.store(c + m * N + n, total.to(c.dtype.element_ty), mask=(m < M) & (n < N))


@triton.jit
def narrow(x, out, half_value, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out + at, tl.load(x + at) + half_value)


@triton.jit
def pair(both, SIZE: tl.constexpr):
    at = tl.arange(0, SIZE)
    tl.store(both[1] + at, tl.load(both[0] + at))
