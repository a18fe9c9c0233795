"""C101, C102, C103: cooperative groups and libcu++'s warps in many spellings, and near misses."""

from __future__ import annotations

import re

import pytest

from tests.warp.spelled import codes, missed, ported

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
