"""W106, W111: CUB's classes and functions for warps without a width, in many spellings, and near misses."""

from __future__ import annotations

import re

import pytest

from tests.warp.spelled import codes, missed, ported

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
    "#define CUB cub\nusing R = CUB::WarpReduce<int>;",
    "#define NS thrust::cub\nusing R = NS::WarpReduce<int>;",
    "namespace a = cub; namespace b = a; using R = b::WarpReduce<int>;",
    "namespace mine { namespace c = ::cub; using R = c::WarpReduce<int>; }",
    "void f() { using namespace cub; using R = WarpReduce<int>; }",
    "void f() { using cub::WarpReduce; WarpReduce<int>::TempStorage t; }",
    "using R = at_cuda_detail::cub::WarpReduce<int>;",
    "using R = ROCM_HIPCUB(at_cuda_detail::cub)::WarpReduce<int>;",
    "template <class T, class R = cub::WarpReduce<T>> struct S {};",
    "struct S { cub::WarpReduce<int>::TempStorage t[1024 / 32]; };",
    "extern __shared__ cub::WarpScan<int>::TempStorage t[];",
    "constexpr auto n = sizeof(typename cub::WarpReduce<int>::TempStorage);",
    "auto f(int v) { return [&](auto &t) { return cub::WarpReduce<int>(t).Sum(v); }; }",
    "std::vector<cub::WarpReduce<int>> all;",
    "std::map<int, std::vector<cub::WarpLoad<int, 4>>> all;",
    "template <class R = cub::WarpReduce<int>> __device__ int f(int v) { return v; }",
    "using R = Pick<Outer<cub::WarpReduce<std::vector<int>>>>;",
    missed("namespace c { using namespace cub; } using R = c::WarpReduce<int>;"),
]
HANDED_ON = [
    "using R = Pick<cub::WarpReduce, int>;",
    "template <template <class, int> class W = cub::WarpReduce> struct S {};",
    "#define WR cub::WarpReduce\nusing R = WR<int>;",
    "#define SCAN ::cub::WarpScan\nusing R = SCAN<int>;",
]
NUMBERS = [
    "int w = CUB_PTX_WARP_THREADS;",
    "#define W CUB_PTX_WARP_THREADS\nint w[W];",
    "#define W (2 * CUB_PTX_WARP_THREADS)\nint w[W];",
    "constexpr int w = CUB_WARP_THREADS(0);",
    "#define W CUB_WARP_THREADS(0)\nint w[W];",
    "#define W(arch) CUB_WARP_THREADS(arch)\nint w[W(0)];",
    "enum { W = CUB_WARP_THREADS(PTX_ARCH) };",
    "template <int W = CUB_PTX_WARP_THREADS> struct S {};",
    "int w = cub::detail::warp_threads;",
    "int w = ::cub::detail::warp_threads;",
    "using namespace cub; int w = detail::warp_threads;",
    "namespace d = cub::detail; int w = d::warp_threads;",
    "using cub::detail::warp_threads; int w = warp_threads;",
    "template <class T> using R = cub::WarpReduce<T, cub::detail::warp_threads>;",
]
"""The width as CUB has it: 32 is written for it."""
LOGARITHMS = [
    "int w = CUB_PTX_LOG_WARP_THREADS;",
    "#define L CUB_LOG_WARP_THREADS(0)\nint w = L;",
    "int w = cub::detail::log2_warp_threads;",
]
IDS = [
    "int f() { return cub::LaneId(); }",
    "int f() { return ::cub::WarpId(); }",
    "using namespace cub; int f() { return LaneId() + WarpId(); }",
    "using cub::LaneId; int f() { return LaneId(); }",
    "namespace c = cub; int f() { return c::LaneId(); }",
    "#define LANE cub::LaneId()\nint f() { return LANE; }",
    "#define LANE cub::LaneId\nint f() { return LANE(); }",
    "int f() { auto lane = cub::LaneId; return lane(); }",
    "int f() { return g(cub::LaneId, 3); }",
    "int f(unsigned m) { return __popc(m & cub::LaneMaskLt()); }",
    "using namespace cub; int f(unsigned m) { return __popc(m & LaneMaskLt()); }",
    "unsigned f() { return cub::LaneMaskLe() ^ cub::LaneMaskGt() ^ cub::LaneMaskGe(); }",
]
SAID = [
    "int f(int v, int n) { return cub::ShuffleDown<32>(v, 1, n - 1, 0xffffffff); }",
    "int f(int v, int n) { return cub::ShuffleDown<16>(v, 1, 31, 0xffffffff); }",
    "int f(int v, int n) { return cub::ShuffleDown<CUB_PTX_WARP_THREADS>(v, 1, n, 0xffffffff); }",
    "template <int W> int f(int v) { return cub::ShuffleDown<W>(v, 1, W - 1, 0xffffffff); }",
    "int f(int v, int n) { return cub::ShuffleUp<32>(v, 1, n, 0xffffffff); }",
    "using namespace cub; int f(int v, int n) { return ShuffleDown<32>(v, 1, n, 0xffffffff); }",
    "void f(int *p, int (&v)[4]) { cub::LoadDirectWarpStriped(threadIdx.x, p, v); }",
    "void f(int *p, int (&v)[4]) { cub::StoreDirectWarpStriped<int, 4>(threadIdx.x, p, v); }",
    "void f(int (&v)[4]) { cub::BlockExchange<int, 128, 4>().BlockedToWarpStriped(v, v); }",
    "using X = cub::BlockExchange<int, 128, 4>; void f(X x, int (&v)[4]) { x.WarpStripedToBlocked(v, v); }",
    "#include <cub/cub.cuh>\ntemplate <class X> void f(X *x, int *v) { x->template BlockedToWarpStriped<int>(v); }",
    "int f(int v) { return cub::WARP_ANY(v, 0xffffffff) + cub::WARP_ALL(v, ~0u); }",
    "unsigned f(int v) { return cub::WARP_BALLOT(v, 0xffffffff); }",
    "void f() { cub::WARP_SYNC(0xffffffff); }",
    "unsigned f() { return cub::WarpMask<8>(threadIdx.x / 8); }",
    "unsigned f(unsigned v) { return cub::MatchAny<5>(v); }",
    "unsigned f(unsigned v) { return cub::SHFL_DOWN_SYNC(v, 1, 31, ~0u); }",
    "using R = cub::WarpReduceShfl<int, 32>;",
    "using R = cub::WarpScanShfl<int, 32>;",
]
"""What hipCUB has with another meaning or not at all, and the port leaves: it is said, by some rule."""
RIGHT = [
    "int f(int v) { return cub::ShuffleDown<32>(v, 1, 31, 0xffffffff); }",
    "int f(int v) { return cub::ShuffleDown<8>(v, 1, 7, 0xffffffff); }",
    "int f(int v) { return cub::ShuffleUp<32>(v, 1, 0, 0xffffffff); }",
    "template <int W> int f(int v) { return cub::ShuffleUp<W>(v, 1, 0, 0xffffffff); }",
    "int f(int v) { return cub::ShuffleIndex<32>(v, 0, 0xffffffff); }",
    "using B = cub::BlockReduce<int, 96, cub::BLOCK_REDUCE_WARP_REDUCTIONS>;",
    "using B = cub::BlockScan<int, 32, cub::BLOCK_SCAN_WARP_SCANS>;",
    "using L = cub::WarpLoad<int, 4, cub::WARP_LOAD_STRIPED, 32>;",
    "using X = cub::WarpExchange<int, 4, 32, cub::WARP_EXCHANGE_SMEM>;",
    "void f(cub::BlockExchange<int, 128, 4> &x, int (&v)[4]) { x.StripedToBlocked(v, v); }",
    "__shared__ cub::WarpReduce<int, 32>::TempStorage t[256 / 32];",
    "namespace mine { int LaneId(); int f() { return LaneId() + mine::LaneId(); } }",
    "namespace detail { constexpr int warp_threads = 64; } int w = detail::warp_threads;",
    "namespace mine::detail { constexpr int warp_threads = 64; } int w = mine::detail::warp_threads;",
    "#include <cub/cub.cuh>\nstruct X { void BlockedToWarpStriped(); }; void f(X x) { x.BlockedToWarpStriped(); }",
    "using namespace cub; __device__ int LaneId(); __device__ int f() { return LaneId(); }",
    "#ifndef CUB_PTX_WARP_THREADS\n#define CUB_PTX_WARP_THREADS 32\n#endif",
]
PARTIAL = [
    "using B = cub::BlockLoad<int, 96, 4, cub::BLOCK_LOAD_WARP_TRANSPOSE>;",
    "using B = cub::BlockLoad<int, 96, 4, cub::BLOCK_LOAD_WARP_TRANSPOSE_TIMESLICED>;",
    "using B = ::cub::BlockLoad<int, 96, 4, ::cub::BLOCK_LOAD_WARP_TRANSPOSE>;",
    "using cub::BlockLoad; using B = BlockLoad<int, 96, 4, cub::BLOCK_LOAD_WARP_TRANSPOSE>;",
    "using namespace cub; using B = BlockStore<int, 32, 4, BLOCK_STORE_WARP_TRANSPOSE>;",
    "namespace c = cub; using B = c::BlockLoad<int, 96, 4, c::BLOCK_LOAD_WARP_TRANSPOSE>;",
    "#define CUB cub\nusing B = CUB::BlockLoad<int, 96, 4, CUB::BLOCK_LOAD_WARP_TRANSPOSE>;",
    "#define N 96\nusing B = cub::BlockLoad<int, N, 4, cub::BLOCK_LOAD_WARP_TRANSPOSE>;",
    "struct T { enum { N = 96 }; }; using B = cub::BlockStore<int, T::N, 4, cub::BLOCK_STORE_WARP_TRANSPOSE>;",
    "template <class T> struct S { using B = cub::BlockStore<int, T::N, 4, cub::BLOCK_STORE_WARP_TRANSPOSE>; };",
    "std::vector<cub::BlockLoad<int, 96, 4, cub::BLOCK_LOAD_WARP_TRANSPOSE>> all;",
    missed("constexpr auto A = cub::BLOCK_LOAD_WARP_TRANSPOSE; using B = cub::BlockLoad<int, 96, 4, A>;"),
    missed("#define A cub::BLOCK_LOAD_WARP_TRANSPOSE\nusing B = cub::BlockLoad<int, 96, 4, A>;"),
]
"""Blocks of part of a wavefront, which rocPRIM does not transpose by warps: it does not compile."""
WHOLE = [
    "using B = cub::BlockLoad<int, 128, 4, cub::BLOCK_LOAD_WARP_TRANSPOSE>;",
    "using B = cub::BlockLoad<int, 32, 4, cub::BLOCK_LOAD_WARP_TRANSPOSE, 2, 1>;",
    "using B = cub::BlockLoad<int, 96, 4, cub::BLOCK_LOAD_TRANSPOSE>;",
    "namespace mine { template <class T, int N, int I, int A> struct BlockLoad {}; } "
    "using B = mine::BlockLoad<int, 96, 4, mine::BLOCK_LOAD_WARP_TRANSPOSE>;",
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


@pytest.mark.parametrize("text", HANDED_ON)
def test_classes_that_are_handed_on(text: str) -> None:
    assert "W106" in codes(text)


@pytest.mark.parametrize(("text", "number"), [*((t, "32") for t in NUMBERS), *((t, "5") for t in LOGARITHMS)])
def test_the_width_as_a_number(text: str, number: str) -> None:
    port = ported(text)
    if "using cub" not in text:
        assert not re.search(r"WARP_THREADS|warp_threads", port.data.decode())
    assert re.search(rf"\b{number}\b", port.data.decode())
    assert not {finding.code for finding in port.findings} & {"A002", "A003"}


@pytest.mark.parametrize("text", IDS)
def test_lanes_and_masks(text: str) -> None:
    port = ported("__device__ " + text if not text.startswith(("using", "namespace", "#")) else text).data.decode()
    assert "porter::lane" in port or "porter::warp_id" in port
    assert "W106" not in codes(port, "a.hip")


@pytest.mark.parametrize("text", SAID)
def test_what_differs_is_said(text: str) -> None:
    assert codes(text) & {"A002", "A003", "W106"}


@pytest.mark.parametrize("text", RIGHT)
def test_what_is_right_or_the_projects(text: str) -> None:
    assert not codes(text) & {"A002", "A003", "W106"}


@pytest.mark.parametrize("text", PARTIAL)
def test_blocks_of_part_of_a_wavefront(text: str) -> None:
    assert "W111" in codes(text)


@pytest.mark.parametrize("text", WHOLE)
def test_blocks_of_whole_wavefronts(text: str) -> None:
    assert "W111" not in codes(text)
