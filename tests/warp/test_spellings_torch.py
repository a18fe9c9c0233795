"""W104, W105: PyTorch's helpers for warps in an extension, in many spellings, and near misses."""

from __future__ import annotations

import re

import pytest

from tests.warp.spelled import codes, missed, ported

_HEADERS = "#include <ATen/cuda/DeviceUtils.cuh>\n#include <ATen/native/cuda/block_reduce.cuh>\n"
CALLS = {
    "at::native::cuda_utils": {
        "WarpReduceSum": "float f(float v) { return @(v); }",
        "WarpReduceMax": "float f(float v) { return @(v); }",
        "WarpReduce": "float f(float v, Op op) { return @(v, op); }",
        "BlockReduceSum": "float f(float v, float *s) { return @(v, s); }",
        "BlockReduceMax": "float f(float v, float *s) { return @(v, s); }",
        "BlockReduce": "float f(float v, Op op, float *s) { return @(v, op, 0.f, s); }",
        "Block1D": "int f() { return @::Warps(); }",
        "Block2D": "int f() { return @::Tid(); }",
        "kCUDABlockReduceMaxThreads": "int f() { return @(); }",
    },
    "at::cuda": {
        "getLaneId": "int f() { return @(); }",
        "getLaneMaskLt": "unsigned f() { return @(); }",
        "getLaneMaskLe": "unsigned f() { return @(); }",
        "getLaneMaskGt": "unsigned f() { return @(); }",
        "getLaneMaskGe": "unsigned f() { return @(); }",
        "inclusiveBinaryPrefixScan": "void f(int *s, bool b, int *o) { @<int, true>(s, b, o, Add()); }",
        "exclusiveBinaryPrefixScan": "void f(int *s, bool b, int *o) { @<int, true>(s, b, o, o, Add()); }",
    },
    "": {
        "WARP_SHFL": "float f(float v) { return @(v, 0); }",
        "WARP_SHFL_XOR": "float f(float v) { return @(v, 1); }",
        "WARP_SHFL_UP": "float f(float v) { return @(v, 1); }",
        "WARP_SHFL_DOWN": "float f(float v) { return @<float>(v, 1, 16); }",
        "WARP_BALLOT": "unsigned f(bool b) { return @(b); }",
        "WARP_SYNC": "void f() { @(); }",
        "ACTIVE_MASK": "unsigned f() { return @(); }",
    },
}
"""Namespace -> each helper that counts 64 lanes or drops its mask under ROCm, and a use; `@` is its name."""
USES = [(space, name, use) for space, uses in CALLS.items() for name, use in uses.items()]
_SPACES = {"CUDA": "at::cuda", "UTILS": "at::native::cuda_utils"}
WAYS = [
    "float f(float v, float *s) { return UTILS::BlockReduceSum(v, s); }",
    "float f(float v, float *s) { return ::UTILS::BlockReduceSum(v, s); }",
    "float f(float v, float *s) { return UTILS::BlockReduceSum<float, UTILS::Block2D>(v, s); }",
    "using namespace UTILS; float f(float v, float *s) { return BlockReduceSum(v, s); }",
    "float f(float v, float *s) { using namespace UTILS; return BlockReduceSum(v, s); }",
    "using namespace at::native; float f(float v, float *s) { return cuda_utils::BlockReduceSum(v, s); }",
    "using namespace at; float f(float v, float *s) { return native::cuda_utils::BlockReduceSum(v, s); }",
    "using UTILS::BlockReduceSum; float f(float v, float *s) { return BlockReduceSum(v, s); }",
    "float f(float v, float *s) { using UTILS::BlockReduceSum; return BlockReduceSum(v, s); }",
    "namespace u = UTILS; float f(float v, float *s) { return u::BlockReduceSum(v, s); }",
    "namespace u = ::UTILS; float f(float v, float *s) { return u::BlockReduceSum(v, s); }",
    "namespace n = at::native; float f(float v, float *s) { return n::cuda_utils::BlockReduceSum(v, s); }",
    "namespace a = at; namespace u = a::native::cuda_utils; float f(float v, float *s) { return "
    "u::BlockReduceSum(v, s); }",
    "namespace at { namespace native { float f(float v, float *s) { return cuda_utils::BlockReduceSum(v, s); } } }",
    "namespace at::native { float f(float v, float *s) { return cuda_utils::BlockReduceSum(v, s); } }",
    "namespace at::native { namespace { float f(float v, float *s) { return cuda_utils::BlockReduceSum(v, s); } } }",
    "namespace at::native { namespace u = cuda_utils; float f(float v, float *s) { return u::BlockReduceSum(v, s); } }",
    "namespace at::native { using namespace cuda_utils; float f(float v, float *s) { return BlockReduceSum(v, s); } }",
    "namespace at::native::cuda_utils { float f(float v, float *s) { return BlockReduceSum(v, s); } }",
    "#define NS UTILS\nfloat f(float v, float *s) { return NS::BlockReduceSum(v, s); }",
    "#define SUM(v, s) UTILS::BlockReduceSum(v, s)\nfloat f(float v, float *s) { return SUM(v, s); }",
    "#define SUM UTILS::BlockReduceSum\nfloat f(float v, float *s) { return SUM(v, s); }",
    "template <class T> T f(T v, T *s) { return UTILS::BlockReduceSum<T>(v, s); }",
    "float f(float v, float *s) { auto g = [s](float w) { return UTILS::BlockReduceSum(w, s); }; return g(v); }",
    "struct F { __device__ float operator()(float v, float *s) const { return UTILS::BlockReduceSum(v, s); } };",
    "void f(float (*g)(float, float *)) { g = &UTILS::BlockReduceSum<float>; }",
    "template <class B = UTILS::Block1D> float f(float v, float *s) { return g<B>(v, s); }",
    "using B = UTILS::Block2D; int f() { return B::Warps(); }",
    "struct B : UTILS::Block2D {}; int f() { return B::Warps(); }",
    "auto f(float v) -> decltype(UTILS::WarpReduceSum(v));",
    "int most(int n) { return std::min(n, UTILS::kCUDABlockReduceMaxThreads); }",
    "namespace at { int f() { return cuda::getLaneId(); } }",
    "namespace at::native { int f() { return cuda::getLaneId(); } }",
    "namespace at::cuda { int f() { return getLaneId(); } }",
    "namespace at::cuda::mine { int f() { return getLaneId(); } }",
    "using namespace at; int f() { return cuda::getLaneId(); }",
    "namespace mine { using namespace at::cuda; int f() { return getLaneId(); } }",
    "namespace c = at::cuda; int f(unsigned m) { return __popc(m & c::getLaneMaskLt()); }",
    "struct S { int lane = CUDA::getLaneId(); };",
    "struct Op { __device__ float warp_shfl_down(float v, int o) const { return WARP_SHFL_DOWN(v, o); } };",
    "float f(float v) { return ::WARP_SHFL_XOR(v, 1); }",
    "#define SHUFFLE(v, d) WARP_SHFL_DOWN(v, d)\nfloat f(float v) { return SHUFFLE(v, 1); }",
    "#define SHUFFLE WARP_SHFL_DOWN\nfloat f(float v) { return SHUFFLE(v, 1); }",
    "#ifndef USE_ROCM\nfloat f(float v) { return WARP_SHFL_DOWN(v, 1); }\n#endif",
    "#ifdef __CUDA_ARCH__\nfloat f(float v) { return WARP_SHFL_DOWN(v, 1); }\n#endif",
    "using namespace CUDA; int f(unsigned m) { return __popc(m & getLaneMaskLt()); }",
    "using namespace CUDA; int f(int n) { return n > getLaneId() ? 1 : n * getLaneId(); }",
    "int f(bool a, bool b) { if (a && WARP_BALLOT(b)) return 1; return 0; }",
    "int f(int v) { if (v > WARP_SHFL(v, 0)) return 1; return g(v, v * 2); }",
    "int f(int v) { return g(v, v * WARP_SHFL(v, 0)); }",
    "int f(int v) { return v == 3 ? v & ACTIVE_MASK() : 1; }",
    missed("#define U(f) UTILS::f\nfloat f(float v) { return U(WarpReduceSum)(v); }"),
    missed("#define SUM WarpReduceSum\nfloat f(float v) { return UTILS::SUM(v); }"),
    missed("#define SUM(T) WarpReduce##T\nfloat f(float v) { return UTILS::SUM(Sum)(v); }"),
]
OWN = [
    "namespace mine { float BlockReduceSum(float v, float *s); float f(float v, float *s) { return "
    "BlockReduceSum(v, s); } }",
    "namespace mine::cuda_utils { float WarpReduceSum(float v); } float f(float v) { return "
    "mine::cuda_utils::WarpReduceSum(v); }",
    "float WarpReduceSum(float v); using namespace at; float f(float v) { return WarpReduceSum(v); }",
    "template <class T> T WarpReduce(T v) { return v; } float f(float v) { return WarpReduce(v); }",
    "struct Device { int getLaneId() const; }; int f(Device d) { return d.getLaneId(); }",
    "namespace mine { struct Block1D { static int Warps(); }; } int f() { return mine::Block1D::Warps(); }",
    "namespace mine { int getLaneId(); } using namespace mine; int f() { return getLaneId(); }",
    "namespace mine { int getLaneId(); } using mine::getLaneId; int f() { return getLaneId(); }",
    "namespace cuda { int getLaneId(); } int f() { return cuda::getLaneId(); }",
    "namespace raft { int f() { return raft::cuda::getLaneId(); } }",
    "template <class T> std::vector<T> WARP_SHFL(T v, int l); auto f(int v) { return WARP_SHFL(v, 0); }",
    "struct S { public: int &WARP_SHFL(int v, int l); int f(int v) { return WARP_SHFL(v, 0); } };",
    "const int *WARP_SHFL(int v, int l); auto f(int v) { return WARP_SHFL(v, 0); }",
    "#define WARP_SHFL(v, l) __shfl_sync(0xffffffff, v, l)\nfloat f(float v) { return WARP_SHFL(v, 0); }",
    "struct S { float WARP_SHFL(float v, int l); float g; }; float f(S s) { return s.WARP_SHFL(s.g, 0); }",
    "#ifdef USE_ROCM\nfloat f(float v) { return WARP_SHFL_DOWN(v, 1, 64); }\n#endif",
    "int f() { return at::native::cuda_utils::kCUDABlockReduceNumThreads; }",
    "unsigned f(unsigned v) { return at::cuda::Bitfield<unsigned>::getBitfield(v, 0, 4); }",
    "void f(float *x) { warp_reduce<float, 1, 32, Add>(x); }",
    "int f() { return num_threads() * thread_work_size(); }",
    "float f(Op op, float v) { return op.warp_shfl_down(v, 1); }",
    "int f(int n) { return at::native::lastPow2(n); }",
    "void f(float *x) { at::native::fastAtomicAdd(x, 1, 2, 3.f, true); }",
    "void f(Op op) { at::native::gpu_reduce_kernel<float, float>(iter, op); }",
    "void f() { at::cuda::cub::radix_sort_pairs(a, b, c, d, 3); }",
]
WAVES = {
    "ATen/native/cuda/Normalization.cuh": ["float f(Op op, V x) { return at::native::reduce<float>(op, x, 0); }"],
    "ATen/native/cuda/TensorModeKernel.cuh": [
        "int f(int *s, int (&v)[2]) { return at::native::reduceBlockWithNThreadLocalReductions<2>(s, v, 1, Op(), 0); }",
        "void f() { at::native::compute_mode<float, 32><<<1, 16>>>(x, v, i, n, 1); }",
    ],
    "ATen/native/cuda/SortingRadixSelect.cuh": [
        "void f() { at::native::radixSelect<float, unsigned, int>(x, 1, true, 2, 3, s, o); }",
        "namespace at::native { void f() { countRadixUsingMask<float, unsigned, int, int, 4, 2>(c, s, 0, 0, 0, 1); } }",
        "using namespace at::native; void f() { countRadixAggregateCounts<int, 4, 2>(c, s, 0); }",
    ],
    "ATen/native/cuda/SortUtils.cuh": [
        "void f() { at::native::warpMergeSortKVInPlace<1, 1, 128, 8, int, int, C, int, 32><<<1, 32>>>(k, 1, 1, 1); }",
    ],
}
"""Header -> uses of what it has that counts on blocks of whole wavefronts."""
WIDTHS = [
    "float s[C10_WARP_SIZE];",
    "float s[C10_WARP_SIZE_UPPER_BOUND];",
    "constexpr int most = 1024 / C10_WARP_SIZE_LOWER_BOUND;",
    "template <int W = C10_WARP_SIZE_LOWER_BOUND> int f() { return W; }",
    "#define LANES C10_WARP_SIZE_UPPER_BOUND\nfloat s[LANES];",
    "__device__ int f() { return C10_WARP_SIZE_INTERNAL(); }",
    "int f() { return at::cuda::warp_size(); }",
    "int f() { return c10::cuda::warp_size(); }",
    "namespace at { int f() { return cuda::warp_size(); } }",
    "namespace at::native { int f() { return cuda::warp_size(); } }",
    "namespace at::cuda { int f() { return warp_size(); } }",
    "namespace c = at::cuda; int f() { return c::warp_size(); }",
    "#define NS at::cuda\nint f() { return NS::warp_size(); }",
    "#define LANES at::cuda::warp_size()\nint f() { return LANES; }",
]
BRANCHES = ["#if C10_WARP_SIZE == 64", "#if C10_WARP_SIZE_LOWER_BOUND > 32", "#if defined(A) && C10_WARP_SIZE == 32"]
NO_WIDTH = [
    "namespace mine { int warp_size(); } int f() { return mine::warp_size(); }",
    "struct S { int warp_size() const; }; int f(S s) { return s.warp_size(); }",
    "using namespace at::cuda; int warp_size(); int f() { return warp_size(); }",
    "#ifndef C10_WARP_SIZE\n#define C10_WARP_SIZE 32\n#endif\nint f() { return C10_WARP_SIZE; }",
    "#if defined(C10_WARP_SIZE)\nint f();\n#endif",
    "#ifdef C10_WARP_SIZE_UPPER_BOUND\nint f();\n#endif",
    "int warp_size = 32; int f() { return warp_size; }",
    "int f(C c) { return cub::warp_size(); }",
]


def _full(text: str) -> str:
    return _HEADERS + re.sub(r"\b(?:CUDA|UTILS)\b", lambda found: _SPACES[found.group()], text)


@pytest.mark.parametrize(("space", "name", "use"), USES)
def test_each_helper(space: str, name: str, use: str) -> None:
    text = _HEADERS + "__device__ " + use.replace("@", f"{space}::{name}".removeprefix("::"))
    port = ported(text).data.decode()
    assert f"porter::torch_warp::{name}" in port
    assert "W105" not in codes(port, "a.hip")


@pytest.mark.parametrize("text", WAYS)
def test_helpers_in_many_spellings(text: str) -> None:
    assert "porter::torch_warp::" in ported(_full(text)).data.decode()


@pytest.mark.parametrize("text", OWN)
def test_what_is_the_projects_or_right(text: str) -> None:
    assert "W105" not in codes(_full(text))


@pytest.mark.parametrize(("header", "text"), [(header, text) for header, texts in WAVES.items() for text in texts])
def test_what_counts_on_whole_wavefronts(header: str, text: str) -> None:
    assert "W105" in codes(f"#include <{header}>\n{text}")
    assert "W105" not in codes(f"#include <ATen/ATen.h>\n{text}")


@pytest.mark.parametrize("text", WIDTHS)
def test_widths(text: str) -> None:
    port = ported(text).data.decode()
    assert "porter::warpSize" in port
    assert "W104" not in codes(port, "a.hip")


@pytest.mark.parametrize("text", BRANCHES)
def test_branches_by_the_width(text: str) -> None:
    assert "W104" in codes(f"{text}\nint f();\n#endif")


@pytest.mark.parametrize("text", NO_WIDTH)
def test_what_is_no_width(text: str) -> None:
    assert "W104" not in codes(text)
