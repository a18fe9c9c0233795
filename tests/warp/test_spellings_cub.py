"""W106: CUB's classes for warps without a width, in many spellings, and near misses."""

from __future__ import annotations

import pytest

from tests.warp.spelled import codes, ported

WITHOUT = [
    "using R = cub::WarpReduce<int>;",
    "using R = ::cub::WarpReduce<int>;",
    "typedef cub::WarpReduce<float> R;",
    "typedef typename cub::WarpReduce<T> R;",
    "namespace c = cub; using R = c::WarpReduce<int>;",
    "using namespace cub; using R = WarpReduce<int>;",
    "using cub::WarpReduce; using R = WarpReduce<int>;",
    (
        "__global__ void k(int *o) { __shared__ cub::WarpReduce<int>::TempStorage t; o[0] = "
        "cub::WarpReduce<int>(t).Sum(o[1]); }"
    ),
    "__global__ void k(int *o) { __shared__ typename cub::WarpReduce<int>::TempStorage t[4]; }",
    "template <class T> using R = cub::WarpReduce<T>;",
    "template <class T> struct S : cub::WarpReduce<T> {};",
    "using R = cub::WarpReduce<std::pair<int, int>>;",
    "using R = cub::WarpReduce<cub::KeyValuePair<int, float> >;",
    "using R = cub::WarpReduce< int >;",
    "using R = cub::WarpReduce<decltype(a > b ? a : b)>;",
    "using S = cub::WarpScan<int>;",
    "using X = cub::WarpExchange<int, 4>;",
    "using M = cub::WarpMergeSort<int, 4>;",
    "using L = cub::WarpLoad<int, 4>;",
    "using L = cub::WarpLoad<int, 4, cub::WARP_LOAD_STRIPED>;",
    "using L = cub::WarpStore<int, 4, cub::WARP_STORE_VECTORIZE>;",
    "#define WR cub::WarpReduce<int>",
    "#define WR(T) cub::WarpReduce<T>",
    "auto f() { return cub::WarpReduce<int>::TempStorage{}; }",
    "union { cub::WarpReduce<int>::TempStorage w; cub::BlockReduce<int, 128>::TempStorage b; } u;",
    "using R = CUB_NS_QUALIFIER::WarpReduce<int>;",
    "using R = thrust::cub::WarpReduce<int>;",
    "using R = CUB_NAMESPACE::cub::WarpReduce<int>;",
    "using R = cub::WarpReduce<std::tuple<int, std::pair<int, int>>>;",
    "using R = cub::WarpReduce<cub::KeyValuePair<int, float>>;",
    "using R = cub::WarpReduce<Vec<T, (N > 2)>>;",
    "using R = cub::WarpScan<std::array<int, 2>>;",
    "using L = cub::WarpLoad<std::pair<int, int>, 4>;",
]
GIVEN = [
    "using R = cub::WarpReduce<int, warpSize>;",
    "using R = cub::WarpReduce<int, WARP_SIZE>;",
    "using R = cub::WarpReduce<int, 32, 700>;",
    "using M = cub::WarpMergeSort<int, 4, 32, int>;",
    "using R = cub::WarpReduce<std::pair<int, int>, 16>;",
    "template <class T> struct WarpReduce {}; WarpReduce<int> mine;",
    "namespace mine { template <class T> struct WarpReduce {}; } mine::WarpReduce<int> x;",
    "using R = cub::BlockReduce<int, 128>;",
]


@pytest.mark.parametrize("text", WITHOUT)
def test_classes_without_a_width(text: str) -> None:
    port = ported(text).data.decode()
    assert "32" in port
    assert "W106" in codes(text)
    assert "W106" not in codes(port, "a.hip")


@pytest.mark.parametrize("text", GIVEN)
def test_classes_with_one_and_others(text: str) -> None:
    assert "W106" not in codes(text)
