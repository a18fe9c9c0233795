"""Masks that were chosen elsewhere: by a caller, or before a condition that lets only some of their lanes come by."""

from __future__ import annotations

import pytest

from tests.warp.spelled import bare, codes, missed

PARTED, AGREED = "threadIdx.x % 3 == 1", "n > 3"
_FULL = "0xffffffff"
_PLAIN = "__device__ int h(unsigned m, int v) { return __shfl_sync(m, v, 0); }"
_WRITTEN = {
    "HELPER": _PLAIN,
    "FULL": _FULL,
    "KERNEL {": "__global__ void k(int *o, int n) { int v = o[threadIdx.x];",
    "EXCHANGE": "__shfl_xor_sync(m, v, 1)",
}


def _found(text: str, condition: str = PARTED) -> set[str]:
    for short, written in _WRITTEN.items():
        text = text.replace(short, written)
    return codes(text.replace("@", condition)) & {"W101", "W102"}


IN_HELPERS = [
    "__device__ int h(unsigned m, int n, int v) { if (@) v += EXCHANGE; return v; }\nKERNEL { o[0] = h(FULL, n, v); }",
    "__device__ int h(unsigned m, int n, int v) { return @ ? EXCHANGE : v; }\nKERNEL { o[0] = h(~0u, n, v); }",
    "__device__ int h(int n, int v, unsigned m = FULL) { if (@) v += EXCHANGE; return v; }\nKERNEL { o[0] = h(n, v); }",
    "__device__ int h(int n, int v, unsigned m = FULL) { if (@) v += EXCHANGE; return v; }",
    "#if A\n#define M 0xffffffffffffffffull\n#else\n#define M FULL\n#endif\n"
    "__device__ int h(int n, int v, unsigned m = static_cast<unsigned>(M)) { if (@) v += EXCHANGE; return v; }",
    "#define M FULL\n__device__ int h(int n, int v, unsigned m = M) { if (@) v += EXCHANGE; return v; }",
    "__device__ int h(unsigned m, int n, int v) { const unsigned w = m; if (@) v = __shfl_sync(w, v, 0); return v; }\n"
    "KERNEL { o[0] = h(FULL, n, v); }",
    "__device__ int h(unsigned m, int n, int v) { const auto w{m}; if (@) v = __shfl_sync(w, v, 0); return v; }\n"
    "KERNEL { o[0] = h(FULL, n, v); }",
    "__device__ int h(unsigned m, int n, int v) { if (@) v = __shfl_sync((unsigned)m, v, 0); return v; }\n"
    "KERNEL { o[0] = h(FULL, n, v); }",
    "HELPER\n__device__ int g(unsigned m, int n, int v) { if (@) v = h(m, v); return v; }\n"
    "KERNEL { o[0] = g(FULL, n, v); }",
    "HELPER\n__device__ int g(unsigned m, int n, int v) { if (@) v = h(m, v); return v; }\n"
    "__device__ int f(unsigned a, int n, int v) { return g(a, n, v); }\nKERNEL { o[0] = f(FULL, n, v); }",
    "template<typename T> __device__ T h(unsigned m, int n, T v) { if (@) v += EXCHANGE; return v; }\n"
    "KERNEL { o[0] = h<int>(FULL, n, v); }",
    "template<unsigned m> __device__ int h(int n, int v) { if (@) v += EXCHANGE; return v; }\n"
    "KERNEL { o[0] = h<FULL>(n, v); }",
    "template<unsigned m = FULL> __device__ int h(int n, int v) { if (@) v += EXCHANGE; return v; }\n"
    "KERNEL { o[0] = h(n, v); }",
    "struct S { static __device__ int h(unsigned m, int n, int v) { if (@) v += EXCHANGE; return v; } };\n"
    "KERNEL { o[0] = S::h(FULL, n, v); }",
    "struct S { __device__ int h(unsigned m, int n, int v) { if (@) v += EXCHANGE; return v; } };\n"
    "KERNEL { S s; o[0] = s.h(FULL, n, v); }",
    "namespace a { __device__ int h(unsigned m, int n, int v) { if (@) v += EXCHANGE; return v; } }\n"
    "KERNEL { o[0] = a::h(FULL, n, v); }",
    "__device__ int h(unsigned m, int n, int v) { for (int i = 0; i < 4; ++i) { if (@) v += EXCHANGE; } return v; }\n"
    "KERNEL { o[0] = h(FULL, n, v); }",
    "__device__ int h(unsigned m, int n, int v) { switch (@) { case 1: v += EXCHANGE; } return v; }\n"
    "KERNEL { o[0] = h(FULL, n, v); }",
    "__device__ int h(unsigned m, int n, int v) { if (@) return v; return EXCHANGE; }\n"
    "KERNEL { o[0] = h(FULL, n, v); }",
    "__device__ bool h(unsigned m, int n, int v) { if (@) return __any_sync(m, v); return v; }\n"
    "KERNEL { o[0] = h(FULL, n, v); }",
    "__device__ int h(unsigned m, int n, int v) { if (@) return __reduce_add_sync(m, v); return v; }\n"
    "KERNEL { o[0] = h(FULL, n, v); }",
    "__device__ int h(unsigned m, int n, int v) { if (@) return __ballot_sync(m, v); return v; }\n"
    "KERNEL { o[0] = h(FULL, n, v); }",
    "__device__ void h(unsigned m, int n, int &v) { if (@) v += EXCHANGE; }\nKERNEL { h(FULL, n, v); o[0] = v; }",
    "#define LANES FULL\n__device__ int h(unsigned m, int n, int v) { if (@) v += EXCHANGE; return v; }\n"
    "KERNEL { o[0] = h(LANES, n, v); }",
    "__device__ int h(unsigned m, int n, int v) {\n"
    " auto f = [&](int w) { if (@) v += __shfl_sync(m, w, 0); }; f(v); return v; }\nKERNEL { o[0] = h(FULL, n, v); }",
    # a caller that names fewer lanes did it before the condition, too
    "__device__ int h(unsigned m, int n, int v) { if (@) v += EXCHANGE; return v; }",
    "__device__ int h(unsigned m, int n, int v) { if (@) v += EXCHANGE; return v; }\n"
    "KERNEL { o[0] = h(__activemask(), n, v); }",
    "HELPER\n__device__ int g(unsigned m, int n, int v) { if (@) v = h(m, v); return v; }",
]


@pytest.mark.parametrize("text", IN_HELPERS)
def test_threads_part_in_a_helper_that_is_handed_the_mask(text: str) -> None:
    assert _found(text)


@pytest.mark.parametrize("text", bare(IN_HELPERS))
def test_threads_agree_in_a_helper_that_is_handed_the_mask(text: str) -> None:
    assert not _found(text, AGREED)


CALLED = [
    "int m = FULL; if (@) v = h(m, v);",
    "unsigned m; m = FULL; if (@) v = h(m, v);",
    "unsigned m = 0; m |= FULL; if (@) v = h(m, v);",
    "unsigned m = 0; if (n > 3) m = FULL; if (@) v = h(m, v);",
    "unsigned m = n > 3 ? FULL : 0xffffu; if (@) v = h(m, v);",
    "if (@) v = h(n > 3 ? FULL : 0xffffu, v);",
    "unsigned m = n < 32 ? (1u << n) - 1 : FULL; if (@) v = h(m, v);",
    "unsigned m = FULL; if (n < 32) m = (1u << n) - 1; if (@) v = h(m, v);",
    "if (@) v = h({FULL}, v);",
    "if (@) v = h(full_mask(), v);",
    "if (@) v = h(warpMask(), v);",
    "S s; s.m = FULL; if (@) v = h(s.m, v);",
    "unsigned m = __activemask(); if (@) v = h(m, v);",
    "unsigned m = __activemask(); if (@) v = __shfl_sync(m, v, 0);",
    "unsigned m = __activemask(); if (n) { if (@) v = h(m, v); }",
    "unsigned m = __ballot_sync(FULL, n > 3); if (@) v = h(m, v);",
    "unsigned m = __match_any_sync(FULL, v); if (@) o[0] = __shfl_sync(m, n, 0);",
    "unsigned m = __activemask(); int w = o[3]; if (@) w = h(m & 0xffff, w); o[2] = w;",
    "unsigned m = (1u << n) - 1; if (@) v = h(m, v);",
    "if (@) v = h((1u << n) - 1, v);",
    "const unsigned m = 0xffu << (threadIdx.x / 8 * 8 % 32); if (@) v = __shfl_down_sync(m, v, 1, 8);",
    "unsigned m = __activemask(); while (@) { v = h(m, v); }",
    "unsigned m = __activemask(); v = @ ? h(m, v) : 0;",
    "unsigned m = __activemask(); auto w = m; if (@) v = h(w, v);",
    "unsigned m = active(); if (@) v = h(m, v);",
    "unsigned m = 1; m = __activemask(); if (@) v = h(m, v);",
    missed("unsigned m[] = {FULL}; if (@) v = h(m[0], v);"),
    missed("if (@) v = h(some(), v);"),
]
_BEFORE = """HELPER
struct S { unsigned m; };
__device__ unsigned full_mask() { return FULL; }
__device__ unsigned warpMask() { return ~0u; }
__device__ unsigned active() { return __activemask(); }
__device__ unsigned some() { return FULL; }
KERNEL { """


@pytest.mark.parametrize("text", CALLED)
def test_a_mask_was_chosen_before_threads_part(text: str) -> None:
    assert "W102" in _found(f"{_BEFORE}{text} o[n] = v; }}")


@pytest.mark.parametrize("text", bare(CALLED))
def test_a_mask_was_chosen_before_threads_agree(text: str) -> None:
    assert not _found(f"{_BEFORE}{text} o[n] = v; }}", AGREED)


RELATED = [
    "if (@) v = h(__activemask(), v);",
    "if (@) { unsigned m = __activemask(); v = h(m, v); }",
    "if (@) { unsigned m; m = __activemask(); v = __shfl_sync(m, v, 0); }",
    "unsigned m = 0; if (@) { m = __activemask(); v = h(m, v); }",
    "unsigned m = FULL; if (@) { m = __activemask(); v = h(m, v); }",
    "unsigned m = __activemask(); if (@) { m &= __activemask(); v = h(m, v); }",
    "unsigned m = __activemask(); if (@) v = h(m & __activemask(), v);",
    "bool p = @; unsigned m = __ballot_sync(FULL, p); if (p) v = h(m, v);",
    "bool p = @; unsigned m = __ballot_sync(FULL, p); if (p) v = __shfl_sync(m, v, __ffs(m) - 1);",
    "int i = threadIdx.x; unsigned m = __ballot_sync(FULL, i % 3 == 1); if (i % 3 == 1) v = h(m, v);",
    "int i = threadIdx.x; unsigned m = __ballot_sync(FULL, i < n); for (; i < n; i += 32) { v = h(m, v); "
    "m = __ballot_sync(m, i + 32 < n); }",
    "int i = threadIdx.x; unsigned m = (1u << n) - 1; if (i < n) v = h(m, v);",
    "int i = threadIdx.x % 32; if (i < n) v = h((1u << n) - 1, v);",
    "unsigned m = __ballot_sync(FULL, v > 3); if (m & (1u << threadIdx.x % 32)) v = h(m, v);",
    "unsigned m = __ballot_sync(FULL, v > 3); bool in = m >> threadIdx.x % 32 & 1; if (in) v = h(m, v);",
    "unsigned m = __match_any_sync(FULL, v); if (v > 3) v = h(m, v);",
    "unsigned m = __match_any_sync(FULL, v); int l = __ffs(m) - 1; if (threadIdx.x % 32 == l) n = h(m, v);",
    "if (threadIdx.x < blockDim.x / 32) v = h((1u << (blockDim.x / 32)) - 1, v);",
    "if (threadIdx.x % 32 < 16) v = h(0xffff, v);",
    "unsigned m = 0xffff; if (threadIdx.x % 32 < 16) v = h(m, v);",
    "if (@) v = h(getMask(), v);",
    "if (@) v = h(active(), v);",
    "if (@) { unsigned m = active(); v = h(m, v); }",
    "S s; fill(&s); if (@) v = h(s.mask, v);",
    "unsigned m = n < 32 ? (1u << n) - 1 : FULL; if (threadIdx.x % 32 < n) v = h(m, v);",
    "unsigned m = FULL; if (n < 32) m = (1u << n) - 1; if (threadIdx.x % 32 < n) v = h(m, v);",
    "unsigned m = FULL; if (n < 32) m = __ballot_sync(FULL, v > 3); if (v > 3) v = h(m, v);",
    "if (@) v = f<0x0000ffff>(v);",
    "if (@) v = g(v, FULL);",
    "unsigned m = FULL; v = h(m, v); if (@) m = 1; v = h(m, v);",
]
_HELPERS = """HELPER
struct S { unsigned mask; };
__device__ unsigned active() { return __activemask(); }
template<unsigned M> __device__ int f(int v) { return __shfl_sync(M, v, 0); }
__device__ int g(int v, unsigned m) { m &= __activemask(); return __shfl_sync(m, v, 0); }
KERNEL { """


@pytest.mark.parametrize("text", RELATED)
def test_a_mask_that_names_the_lanes_that_are_there_is_no_hazard(text: str) -> None:
    assert "W102" not in _found(f"{_HELPERS}{text} o[n] = v; }}")


def test_lanes_of_a_helper_by_its_own_parameters_may_be_what_the_caller_chose() -> None:
    helper = "__device__ int h(unsigned m, bool p, int v) { if (p) v = __shfl_sync(m, v, 0); return v; }"
    kernel = "KERNEL { bool p = v > 3; o[0] = h(__ballot_sync(FULL, p), p, v); }"
    assert not _found(f"{helper}\n{kernel}")
    assert _found(f"{helper}\n{kernel.replace('__ballot_sync(FULL, p)', 'FULL')}")


def test_a_full_mask_of_one_caller_is_no_hazard_at_another() -> None:
    kernel = "KERNEL { v = h(FULL, v); if (@) v = h(__activemask(), v); o[0] = v; }"
    assert not _found(f"{_PLAIN}\n{kernel}")
