"""C101, C102, C103: cooperative groups and libcu++'s warps in many spellings, and near misses."""

from __future__ import annotations

import re

import pytest

from tests.warp.spelled import DIVERGENT, UNIFORM, bare, codes, missed, ported

_BEGIN = (
    "#include <cooperative_groups.h>\n#include <cooperative_groups/reduce.h>\n#include <cooperative_groups/scan.h>\n"
    "namespace cg = cooperative_groups;\n"
)
_KERNEL = "__global__ void k(int *x) { auto b = cg::this_thread_block(); "
_TILE = _KERNEL + "auto t = cg::tiled_partition<32>(b); "
GROUPS = [
    _TILE + "x[0] = t.shfl(x[1], 0) + t.shfl_up(x[1], 1) + t.shfl_down(x[1], 1) + t.shfl_xor(x[1], 1); }",
    _TILE + "x[0] = t.any(x[1]) + t.all(x[1]) + t.ballot(x[1]) + t.match_any(x[1]); }",
    _TILE + "x[0] = t.size() + t.num_threads() + t.thread_rank() + t.meta_group_size() + t.meta_group_rank(); }",
    _KERNEL + "cg::thread_block_tile<32> t = cg::tiled_partition<32>(b); x[0] = t.size(); }",
    _KERNEL + "cg::thread_block_tile<32, cg::thread_block> t = cg::tiled_partition<32>(b); x[0] = t.size(); }",
    _KERNEL + "cg::thread_group t = cg::tiled_partition(b, 32); t.sync(); }",
    _KERNEL + "auto t = cg::tiled_partition<16>(cg::tiled_partition<32>(b)); x[0] = t.meta_group_size(); }",
    _KERNEL + "auto g = cg::coalesced_threads(); x[0] = g.size() + g.thread_rank(); }",
    _KERNEL + "auto g = cg::labeled_partition(cg::coalesced_threads(), x[0]); x[1] = g.size(); }",
    _KERNEL + "auto g = cg::binary_partition(cg::coalesced_threads(), x[0]); x[1] = g.size(); }",
    _TILE + "auto g = cg::binary_partition(t, x[0]); x[1] = g.shfl(x[2], 0); }",
    _TILE + "auto g = cg::labeled_partition(t, x[0]); x[1] = g.num_threads(); }",
    _TILE + "x[1] = cg::reduce(t, x[0], cg::plus<int>()); }",
    _KERNEL + "auto g = cg::coalesced_threads(); x[1] = cg::reduce(g, x[0], cg::greater<int>()); }",
    _TILE + "x[1] = cg::inclusive_scan(t, x[0]) + cg::exclusive_scan(t, x[0], cg::plus<int>()); }",
    _TILE + "cg::sync(t); cg::invoke_one(t, [&] { x[0] = 1; }); }",
    _TILE + "cg::memcpy_async(t, x, x + 32, 128); cg::wait(t); }",
    "__device__ int f(cg::thread_block_tile<32> t, int v) { return t.shfl(v, 0); }",
    "__device__ int f(const cg::thread_block_tile<32> &t, int v) { return t.ballot(v); }",
    "__device__ int f(cg::coalesced_group g, int v) { return g.shfl(v, 0); }",
    "using Tile = cg::thread_block_tile<32>; __device__ int f(Tile t, int v) { return t.ballot(v); }",
    "typedef cg::thread_block_tile<32> Tile; __device__ int f(Tile t, int v) { return t.any(v); }",
    "template <int N> using Tile = cg::thread_block_tile<N>; __device__ int f(Tile<32> t, int v) { return t.any(v); }",
    "struct S { cg::thread_block_tile<32> t; __device__ int f(int v) { return t.all(v); } };",
    "template <class G> __device__ int f(G g, int v) { return g.shfl_xor(v, 1); } " + _TILE + "x[0] = f(t, x[1]); }",
    "template <int N> __device__ int f(cg::thread_block_tile<N> t, int v) { return t.shfl_xor(v, N / 2); }",
    "template <unsigned N, class P> __device__ int f(cg::thread_block_tile<N, P> t, int v) { return t.size(); }",
    _KERNEL + "auto l = [&](cg::thread_block_tile<32> t) { return t.shfl(x[0], 0); }; x[1] = l(one()); }",
    "__device__ decltype(cg::tiled_partition<32>(cg::this_thread_block())) f();",
    "using namespace cooperative_groups; __global__ void k(int *x) { auto t = "
    "tiled_partition<32>(this_thread_block()); x[1] = reduce(t, x[0], plus<int>()); }",
    "__global__ void k(int *x) { using namespace cooperative_groups; auto t = "
    "tiled_partition<32>(this_thread_block()); x[1] = t.size(); }",
    "using cooperative_groups::tiled_partition; __global__ void k(int *x) { auto t = "
    "tiled_partition<32>(cg::this_thread_block()); x[1] = t.size(); }",
    "#define CG cooperative_groups\n__device__ int f(CG::thread_block_tile<32> t) { return t.size(); }",
    "#define TILE(n) cg::tiled_partition<n>(cg::this_thread_block())\n__global__ void k(int *x) { auto t = TILE(32); }",
    "namespace a { namespace g = ::cooperative_groups; __device__ int f(g::thread_block_tile<32> t) { return "
    "t.size(); } }",
    "namespace g = cg; __device__ int f(g::thread_block_tile<32> t) { return t.size(); }",
    "__device__ int f(::cooperative_groups::thread_block_tile<32> t) { return t.size(); }",
]
"""Each becomes the port's groups, which have 32 lanes."""
WIDER = [
    _KERNEL + "auto t = cg::tiled_partition<64>(b); x[1] = t.size(); }",
    _KERNEL + "auto t = cg::tiled_partition<2 * 32>(b); x[1] = t.size(); }",
    "constexpr int N = 128; " + _KERNEL + "auto t = cg::tiled_partition<N>(b); x[1] = t.size(); }",
    "#define N 64\n" + _KERNEL + "auto t = cg::tiled_partition<N>(b); x[1] = t.size(); }",
    "__device__ int f(cg::thread_block_tile<64> t) { return t.size(); }",
    "template <class T = cg::thread_block_tile<64>> __device__ int f(T t) { return t.size(); }",
    "using namespace cooperative_groups; __device__ int f(thread_block_tile<128, thread_block> t) { return t.size(); }",
    _KERNEL + "auto c = cg::this_cluster(); x[0] = c.num_blocks(); }",
    "__device__ int f(cg::cluster_group c) { return c.num_blocks(); }",
    _KERNEL + "cg::this_multi_grid().sync(); }",
    missed("template <int N> __device__ int f(cg::thread_block_tile<N> t); " + _KERNEL + "x[0] = f<64>(one()); }"),
]
SAID = [
    "__device__ int f() { return cuda::ptx::get_sreg_laneid(); }",
    "__device__ int f() { return cuda::ptx::get_sreg_warpid() + cuda::ptx::get_sreg_lanemask_lt(); }",
    "__device__ int f() { namespace p = cuda::ptx; return p::get_sreg_laneid(); }",
    missed("using namespace cuda::ptx; __device__ int f() { return get_sreg_laneid(); }"),
    "__device__ int f(int v) { return cuda::device::warp_shuffle_down(v, 1); }",
    "__device__ int f(int v) { return cuda::device::warp_shuffle_idx<16>(v, 1); }",
    "__device__ bool f(int v) { return cuda::device::warp_match_all(v); }",
    "int f() { return cuda::warp_size; }",
    "__device__ int f() { return cuda::gpu_thread.rank(cuda::warp); }",
    "int f(cuda::device_ref d) { return d.attribute(cuda::device_attributes::warp_size); }",
]
"""What AMD has nothing of: some rule says so at the place, and another at the header."""
OWN = [
    "namespace mine { template <int N> struct thread_block_tile {}; } mine::thread_block_tile<64> t;",
    "int tiled_partition(int n); int f() { return tiled_partition(64); }",
]


@pytest.mark.parametrize("text", GROUPS)
def test_groups_become_the_ports(text: str) -> None:
    port = ported(_BEGIN + text)
    body = port.data.decode().replace("porter::cooperative_groups", "")
    assert not re.search(r"(?<!\w)cooperative_groups\s*(::|;)", body), body
    assert "C103" not in {finding.code for finding in port.findings}
    assert not codes(port.data.decode(), "a.hip") & {"C101", "C102"}


@pytest.mark.parametrize("text", WIDER)
def test_groups_that_are_wider_than_a_warp(text: str) -> None:
    assert "C103" in codes(_BEGIN + text)


@pytest.mark.parametrize("text", SAID)
def test_warps_of_libcudacxx_are_said(text: str) -> None:
    found = codes(f"#include <cuda/ptx>\n{text}")
    assert "A011" in found
    assert found & {"A002", "A005"}


@pytest.mark.parametrize("text", OWN)
def test_groups_of_the_project(text: str) -> None:
    assert not codes(text) & {"C101", "C102", "C103"}


TILES = [
    "cg::thread_block_tile<32> t = cg::tiled_partition<32>(b);",
    "cg::thread_block_tile<32, cg::thread_block> t = one();",
    "auto t = cg::tiled_partition<32>(b);",
    "auto t{cg::tiled_partition<W>(b)};",
    "auto t(cg::tiled_partition<warpSize>(b));",
    "cg::thread_block_tile<W> t = one();",
    "cg::thread_block_tile<LANES> t = one();",
    "cg::thread_block_tile<warpSize> t = one();",
    "A t = one();",
    "B t = one();",
    "const A &t = one();",
]
_TILED = (
    "constexpr int W = 32;\n#define LANES 32\nusing A = cg::thread_block_tile<32>;\n"
    "typedef cg::thread_block_tile<W> B;\n__global__ void k(float *p, int n) { float v = p[threadIdx.x]; "
    "auto b = cg::this_thread_block(); {} if ({}) v += t.shfl_down(v, 1); p[threadIdx.x] = v; }"
)


def _tiled(tile: str, condition: str) -> set[str]:
    begun, middle, end = _TILED.split("{}")
    return codes(_BEGIN + begun + tile + middle + condition + end) & {"W101", "W102"}


@pytest.mark.parametrize("tile", TILES)
def test_a_tile_of_a_warp_in_divergent_code(tile: str) -> None:
    assert _tiled(tile, DIVERGENT) == {"W102"}
    assert not _tiled(tile, UNIFORM)


FUNCTIONS = [
    "__device__ float h(cg::thread_block_tile<32> t, float v, float *p, int n) { if (@) v += t.shfl(v, 0); return v; }",
    "__device__ int h(const cg::thread_block_tile<32> &t, int v, float *p, int n) { if (@) v += t.any(1); return v; }",
    "__device__ float h(const A &t, float v, float *p, int n) { if (@) v += t.shfl_xor(v, 1); return v; }",
    "__device__ float h(B t, float v, float *p, int n) { if (@) { v += t.shfl(v, 0); } return v; }",
    "struct S { A t; __device__ float h(float v, float *p, int n) { if (@) v += t.shfl(v, 0); return v; } };",
    "struct S { cg::thread_block_tile<W> t; __device__ float h(float v, float *p, int n) { if (@) v += t.shfl(v, 0); "
    "return v; } };",
    missed(
        "struct S { A t; __device__ float h(float v) { return t.shfl(v, 0); } };\n"
        "__device__ void f(S s, float v, float *p, int n) { if (@) p[0] = s.h(v); }"
    ),
    missed(
        "__device__ float h(A t, float v) { return t.shfl(v, 0); }\n"
        "__device__ void f(A t, float v, float *p, int n) { if (@) p[0] = h(t, v); }"
    ),
    missed(
        "template <int N> __device__ float h(cg::thread_block_tile<N> t, float v) { return t.shfl(v, 0); }\n"
        "__device__ void f(A t, float v, float *p, int n) { if (@) p[0] = h(t, v); }"
    ),
]


def _in_function(text: str, condition: str) -> set[str]:
    return codes(_BEGIN + _TILED.partition("__global__")[0] + text.replace("@", condition)) & {"W101", "W102"}


@pytest.mark.parametrize("text", FUNCTIONS)
def test_a_tile_that_a_function_is_handed(text: str) -> None:
    assert _in_function(text, DIVERGENT) == {"W102"}


@pytest.mark.parametrize("text", bare(FUNCTIONS))
def test_a_tile_that_a_function_is_handed_where_all_threads_agree(text: str) -> None:
    assert not _in_function(text, UNIFORM)


def test_smaller_tiles_are_agreed_on_by_fewer() -> None:
    assert not _tiled("cg::thread_block_tile<16> t = one();", DIVERGENT)


VOTES = (
    "namespace utils { __device__ int any(int p) { return __any_sync(0xffffffff, p); } }\n"
    "template <int N> struct Part { static __device__ int any(int p) { return p; } __device__ int all(int p) "
    "{ return p; } };\nstruct Warp { static __device__ int any(int p) { return __any_sync(~0u, p); }\n"
    "__device__ int all(int p) const { return __all_sync(~0u, p); } };\nusing Four = Part<4>; typedef Warp Lanes;\n"
)
"""Functions of one name, some of which give all lanes one answer."""
AGREED = ["utils::any(@)", "::utils::any(@)", "Warp::any(@)", "w.all(@)", "Warp().all(@)", "!!utils::any(@)"]
PARTED = ["Part<4>::any(@)", "Part<32>::any(@)", "Four::any(@)", "s.all(@)", "T::any(@)", "n::Part<4>::any(@)"]


def _voted(condition: str) -> set[str]:
    loop = f"for (; {condition.replace('@', 'j < n')}; j += 32) {{ v += __shfl_xor_sync(0xffffffff, v, 1); }}"
    kernel = "template <class T> __global__ void k(int *x, int n) { int j = threadIdx.x, v = x[j]; Warp w; Part<4> s; "
    return codes(f"{VOTES}{kernel}{loop} x[j] = v; }}") & {"W102"}


@pytest.mark.parametrize("condition", AGREED)
def test_votes_that_a_warp_agrees_on(condition: str) -> None:
    assert not _voted(condition)


@pytest.mark.parametrize("condition", PARTED)
def test_functions_of_a_votes_name(condition: str) -> None:
    assert _voted(condition)
