"""W109, native mode: how many threads a block has, in many spellings, and values that may be others at a launch."""

from __future__ import annotations

import pytest

from porter.engine.file import port
from porter.source import SourceFile
from tests.warp.execution import context
from tests.warp.spelled import codes, missed

KNOWN = [
    "void f(int *x) { k<<<100, 32>>>(x); }",
    "void f(int *x) { k<<<dim3(100), dim3(32)>>>(x); }",
    "void f(int *x) { k<<<100, dim3(16, 2)>>>(x); }",
    "void f(int *x) { k<<<100, dim3{16, 2, 1}>>>(x); }",
    "void f(int *x) { k<<<100, {32}>>>(x); }",
    "void f(int *x) { dim3 b(32); k<<<100, b>>>(x); }",
    "void f(int *x) { dim3 b{32}; k<<<100, b>>>(x); }",
    "void f(int *x) { dim3 b = 32; k<<<100, b>>>(x); }",
    "void f(int *x) { dim3 b = dim3(32); k<<<100, b>>>(x); }",
    "void f(int *x) { dim3 b = {32, 1, 1}; k<<<100, b>>>(x); }",
    "void f(int *x) { auto b = dim3(32); k<<<100, b>>>(x); }",
    "void f(int *x) { const dim3 b(8, 4); k<<<100, b>>>(x); }",
    "void f(int *x) { constexpr dim3 b(8, 4); k<<<100, b>>>(x); }",
    "void f(int *x) { dim3 g(1), b(8, 4); k<<<g, b>>>(x); }",
    "void f(int *x) { dim3 g{1}, b{8, 4}, c(2); k<<<g, b>>>(x); }",
    "void f(int *x) { static const dim3 b(8, 4); k<<<1, b>>>(x); }",
    "const dim3 b(8, 4); void f(int *x) { k<<<1, b>>>(x); }",
    "void f(int *x) { int n = 32; k<<<1, n>>>(x); }",
    "void f(int *x) { int n; n = 32; k<<<1, n>>>(x); }",
    "void f(int *x) { const int n = 32; k<<<1, n>>>(x); }",
    "constexpr int n = 32; void f(int *x) { k<<<1, n>>>(x); }",
    "enum { n = 32 }; void f(int *x) { k<<<1, n>>>(x); }",
    "enum class N : int { n = 32 }; void f(int *x) { k<<<1, int(N::n)>>>(x); }",
    "struct S { static constexpr int n = 32; }; void f(int *x) { k<<<1, S::n>>>(x); }",
    "void f(int *x) { k<<<1, 1 << 5>>>(x); }",
    "void f(int *x) { k<<<1, 8 * 4u, 0, 0>>>(x); }",
    "void f(int *x) { k<<<1, 0x20>>>(x); }",
    "void f(int *x) { dim3 b; b.x = 8; b.y = 4; k<<<1, b>>>(x); }",
    "void f(int *x) { void *a[] = {&x}; cudaLaunchKernel((void *)k, dim3(1), dim3(32), a, 0, 0); }",
    "void f(int *x) { void *a[] = {&x}; cudaLaunchCooperativeKernel((void *)k, 1, 32, a, 0, 0); }",
    "\n#define B 32\nvoid f(int *x) { k<<<1, B>>>(x); }",
    "\n#define LAUNCH(x) k<<<1, 32>>>(x)\nvoid f(int *x) { LAUNCH(x); }",
    "void f(int *x) { auto l = [&] { k<<<1, 32>>>(x); }; l(); }",
    "void f(int *x) { run([&] { int n = 32; k<<<1, n>>>(x); }); }",
    "void f(int *x) { int n = 32; for (int i = 0; i < 3; ++i) { k<<<i, n>>>(x); } }",
    "void f(int *x) { int n = 32; if (x) { k<<<1, n>>>(x); } }",
    "void f(int *x) { int n = 32; { int n = 256; g(n); } k<<<1, n>>>(x); }",
    'void f(int *x) { int n = 32; printf("%d", n); CHECK(n > 3); k<<<1, n>>>(x); n = 256; }',
    "template <class T> __global__ void q(T *x); void f(int *x) { q<int><<<1, 32>>>(x); }",
    "void f(int *x) { k<<<1, warpSize>>>(x); }",
    "void f(int *x) { k<<<1, C10_WARP_SIZE>>>(x); }",
    "constexpr int WARP = 32; void f(int *x) { dim3 b(WARP); k<<<1, b>>>(x); }",
    missed("\n#define B dim3(8, 4)\nvoid f(int *x) { k<<<1, B>>>(x); }"),
    missed("\n#define LAUNCH(k, b, ...) k<<<1, b>>>(__VA_ARGS__)\nvoid f(int *x) { LAUNCH(k, 32, x); }"),
    missed("void run(int b, int *x) { k<<<1, b>>>(x); } void f(int *x) { run(32, x); }"),
    missed("template <int B> void run(int *x) { k<<<1, B>>>(x); } void f(int *x) { run<32>(x); }"),
    missed("constexpr int block() { return 32; } void f(int *x) { k<<<1, block()>>>(x); }"),
    missed("void f(int *x, bool c) { k<<<1, c ? 32 : 16>>>(x); }"),
    missed("void f(int *x) { cudaLaunchConfig_t c{}; c.blockDim = 32; cudaLaunchKernelEx(&c, k, x); }"),
]
"""Blocks of 32 threads."""
OTHER = [
    "void f(int *x) { k<<<32, 64>>>(x); }",
    "void f(int *x) { k<<<1, 1>>>(x); }",
    "void f(int *x) { dim3 b(32, 2); k<<<1, b>>>(x); }",
    "void f(int *x) { dim3 b(32), g(64); k<<<b, g>>>(x); }",
    "void f(int *x) { int b = 32; { int b = 256; k<<<1, b>>>(x); } }",
    "void f(int *x) { { int b = 32; } int b = 256; k<<<1, b>>>(x); }",
    "void f(int *x, int n) { dim3 b(32, n); k<<<1, b>>>(x); }",
    "void f(int *x, int n) { k<<<1, n ? 32 : 64>>>(x); }",
    "template <int B> void f(int *x) { k<<<1, B>>>(x); } void g(int *x) { f<128>(x); }",
]
CHANGED = [
    "void f(int *x, int b = @) { k<<<1, b>>>(x); }",
    "void f(int *x, dim3 b = dim3(@)) { k<<<1, b>>>(x); }",
    "void f(int *x, int n) { int b; if (n > 3) b = 96; else b = @; k<<<1, b>>>(x); }",
    "void f(int *x, int n) { int b = 96; if (n > 3) b = @; k<<<1, b>>>(x); }",
    "void f(int *x, int n) { int b; if (n > 3) { b = 96; } else { b = @; } k<<<1, b>>>(x); }",
    "void f(int *x, int n) { int b; switch (n) { case 1: b = 96; break; default: b = @; } k<<<1, b>>>(x); }",
    "void f(int *x, int n) { dim3 b; if (n > 3) { b.x = 96; } else { b.x = @; } k<<<1, b>>>(x); }",
    "void f(int *x, int n) { dim3 b(96); if (n > 3) b = dim3(@); k<<<1, b>>>(x); }",
    "void f(int *x, int n) { dim3 b(@); if (n > 3) b.x = 96; k<<<1, b>>>(x); }",
    "void f(int *x, int n) { dim3 b(@); pick(&b); k<<<1, b>>>(x); }",
    "void pick(int &b); void f(int *x) { int b = @; pick(b); k<<<1, b>>>(x); }",
    "void pick(int n, dim3 &b); void f(int *x) { dim3 b(@); pick(3, b); k<<<1, b>>>(x); }",
    "void f(int *x) { int b = @; cudaOccupancyMaxPotentialBlockSize(&m, &b, k); k<<<1, b>>>(x); }",
    "void f(int *x, int n) { int b = @; while (b < n) b *= 2; k<<<1, b>>>(x); }",
    "void f(int *x) { for (int b = @; b <= 1024; b *= 2) k<<<1, b>>>(x); }",
    "void f(int *x) { for (int b : {@, 96}) k<<<1, b>>>(x); }",
    "void f(int *x) { int b = @; for (int i = 0; i < 2; ++i) { k<<<1, b>>>(x); b = 96; } }",
    "void f(int *x) { int b = @; do { k<<<1, b>>>(x); b -= 32; } while (b > 0); }",
    "void f(int *x) { int b = @; int &r = b; r = 96; k<<<1, b>>>(x); }",
    "void f(int *x) { int b = @; std::cin >> b; k<<<1, b>>>(x); }",
    "void f(int *x) { int b = @, c; std::tie(b, c) = g(); k<<<1, b>>>(x); }",
    "void f(int *x) { int b = @; auto l = [&] { b = 96; }; l(); k<<<1, b>>>(x); }",
    "struct S { int b = @; S(int n) : b(n) {} void f(int *x) { k<<<1, b>>>(x); } };",
    "int b = @; void f(int *x) { k<<<1, b>>>(x); } void set(int n) { b = n; }",
    "namespace n { int b = @; void f(int *x) { k<<<1, b>>>(x); } }",
    "template <int b = @> void f(int *x) { k<<<1, b>>>(x); }",
    "void f(int *x, int n) { const int b = n > 3 ? 96 : @; k<<<1, b>>>(x); }",
    missed("void f(int *x) { int b = @; pick(b); k<<<1, b>>>(x); }"),
]
"""Blocks of `@` threads, or of others."""
_DECLARED = "__global__ void k(int *x); "
_REDUCED = """
__global__ void k(int *x) {
  __shared__ int s[32];
  int lane = threadIdx.x & 31, warp = threadIdx.x >> 5, v = x[blockIdx.x * blockDim.x + threadIdx.x];
  for (int o = 16; o > 0; o >>= 1) v += __shfl_down_sync(0xffffffff, v, o);
  if (lane == 0) s[warp] = v;
  __syncthreads();
  v = threadIdx.x < blockDim.x / 32 ? s[lane] : 0;
  if (warp == 0) {
    for (int o = 16; o > 0; o >>= 1) v += __shfl_down_sync(0xffffffff, v, o);
  }
  if (threadIdx.x == 0) x[blockIdx.x] = v;
}
"""


@pytest.mark.parametrize("text", KNOWN)
def test_blocks_of_half_a_wavefront(text: str) -> None:
    assert "W109" in codes(_DECLARED + text)


@pytest.mark.parametrize("text", OTHER)
def test_blocks_that_are_none(text: str) -> None:
    assert "W109" not in codes(_DECLARED + text)


@pytest.mark.parametrize("text", CHANGED)
def test_blocks_that_may_be_others(text: str) -> None:
    assert "W109" not in codes(_DECLARED + text.replace("@", "32"))
    assert _reads_lanes(text)


def test_blocks_of_whole_wavefronts_are_known() -> None:
    """What the test before asks for tells the two apart."""
    assert not _reads_lanes("void f(int *x) { int b = @; k<<<1, b>>>(x); }")
    assert not _reads_lanes("void f(int *x) { dim3 b(@); k<<<1, b>>>(x); }")


def _reads_lanes(launch: str) -> bool:
    """Whether the kernel, widened, asks how many lanes its wavefront has, as one for blocks of any size does."""
    source = SourceFile("a.cu", (_REDUCED + launch.replace("@", "256")).encode())
    text = port(source, context("native"), "a.hip").data.decode()
    assert "porter::wide::" in text, "the kernel is widened either way"
    return "porter::wide::lanes()" in text
