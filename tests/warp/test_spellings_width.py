"""`warpSize` in the places that C++ has for a constant, and names of the project's that are the same."""

from __future__ import annotations

import pytest

from tests.warp.spelled import ported

OURS = "porter::warpSize"
USES = [
    "o[0] = f<warpSize>(3);",
    "constexpr int w = warpSize; o[0] = w;",
    "const int w{warpSize}; o[0] = w;",
    "__shared__ int s[warpSize]; s[threadIdx.x] = 1;",
    "enum { W = warpSize }; o[0] = W;",
    'static_assert(warpSize == 32, "w");',
    "switch (o[0]) { case warpSize: o[1] = 1; }",
    "if constexpr (warpSize == 32) o[0] = 1;",
    "o[0] = ::warpSize;",
    "auto &w = warpSize; o[0] = w;",
    "auto f = [] { return warpSize; }; o[0] = f();",
    "decltype(warpSize) x = 3; o[0] = x;",
    "o[0] = threadIdx.x & ~(warpSize - 1);",
    "o[0] = __ffs(warpSize) - 1;",
    "o[0] = S{.warpSize = warpSize}.warpSize;",
    "auto g = cg::tiled_partition<warpSize>(cg::this_thread_block());",
]
AROUND = [
    "__device__ int f(int x, int w = warpSize) { return x % w; }",
    "template <int W = warpSize> __device__ int f(int x) { return x % W; }",
    "#define W warpSize",
    "#define LANE(t) ((t) & (warpSize - 1))",
    "__host__ __device__ int f() { return warpSize; }",
]
OWN = [
    "template <int warpSize> __device__ int f(int x) { return x % warpSize; }",
    "template <class T, int warpSize> __device__ int f(T x) { return x % warpSize; }",
    "template <unsigned warpSize> struct Q { __device__ int f(int x) { return x % warpSize; } };",
    "template <int warpSize = 32> __device__ int f(int x) { return x % warpSize; }",
    "__global__ void k(int *o) { int warpSize = 16; o[0] = warpSize; }",
    "__global__ void k(int *o, int warpSize) { o[0] = warpSize; }",
    "void f() { auto l = [](int warpSize) { return warpSize; }; }",
    "void f() { for (int warpSize = 32; warpSize; --warpSize) g(warpSize); }",
    "struct S { static constexpr int warpSize = 32; __device__ int f() { return warpSize; } };",
    "#define warpSize 32\n__global__ void k(int *o) { o[0] = warpSize; }",
    "#if warpSize == 32\n#endif\n__global__ void k(int *o) { o[0] = 1; }",
]


@pytest.mark.parametrize("text", USES)
def test_the_width_in_a_kernel(text: str) -> None:
    assert OURS in ported(f"__global__ void k(int *o) {{ {text} }}").data.decode()


@pytest.mark.parametrize("text", AROUND)
def test_the_width_around_kernels(text: str) -> None:
    assert OURS in ported(text).data.decode()


@pytest.mark.parametrize("text", OWN)
def test_names_of_the_project(text: str) -> None:
    assert OURS not in ported(text).data.decode()
