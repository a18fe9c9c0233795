"""Code that is AMD's already: masks, bits and groups of 64 lanes in many spellings, and near misses."""

from __future__ import annotations

import pytest

from tests.warp.spelled import codes, missed

BEFORE = """
struct S { unsigned m; unsigned q[2]; unsigned long long w; };
template <class T> struct V { T x; };
typedef unsigned u32;
__device__ void take(unsigned m) {}
__device__ void take64(unsigned long long m) {}
template <unsigned M> __device__ void tmpl();
#define BALLOT(p) __ballot(p)
__device__ inline unsigned long long my_ballot(int p) { return __ballot(p); }
#include <climits>
#define FULL_MASK 0xffffffff
#define BIT(l) (1u << (l))
constexpr unsigned kFull = 0xffffffffu;
#define UNROLL _Pragma("unroll")
#define STEP(o) v += __shfl_down(v, o)
#define WARP 32
constexpr int kHalf = 16;
"""
HEADS = {
    "masks": (
        "__global__ void k(unsigned *out, unsigned long long *w, int p, S *sp, unsigned long long m64) "
        "{ int t = threadIdx.x; @ }"
    ),
    "steps": (
        "__global__ void k(float *x, const float *y) { int lane = threadIdx.x % 64; float v = x[threadIdx.x]; "
        "@ if (lane == 0) x[threadIdx.x / 64] = v; }"
    ),
    "groups": "__global__ void k(float *x, const float *y) { @ }",
}
REDUCE = "__device__ float reduce32(float v) { for (int o = 16; o > 0; o >>= 1) v += __shfl_down(v, o); return v; }"
V101 = [
    "unsigned m = __ballot(p); out[t] = m;",
    "unsigned int m = __ballot(p); out[t] = m;",
    "uint32_t m = __ballot(p); out[t] = m;",
    "std::uint32_t m = __ballot(p); out[t] = m;",
    "int m = __ballot(p); out[t] = m;",
    "int32_t m = __ballot(p); out[t] = m;",
    "uint m = __ballot(p); out[t] = m;",
    "u32 m = __ballot(p); out[t] = m;",
    "const unsigned m = __ballot(p); out[t] = m;",
    "unsigned const m = __ballot(p); out[t] = m;",
    "unsigned m(__ballot(p)); out[t] = m;",
    "unsigned m{(unsigned)__ballot(p)}; out[t] = m;",
    "unsigned m; m = __ballot(p); out[t] = m;",
    "unsigned m = 0; m |= __ballot(p); out[t] = m;",
    "unsigned m = ~0u; m &= __ballot(p); out[t] = m;",
    "unsigned m = 0; m ^= __ballot(p); out[t] = m;",
    "unsigned m = ~__ballot(p); out[t] = m;",
    "unsigned m = __ballot(p) & __activemask(); out[t] = m;",
    "unsigned m = __ballot(p) | 1; out[t] = m;",
    "unsigned m = __ballot(p) >> 1; out[t] = m;",
    "unsigned m = __ballot(p) << 1; out[t] = m;",
    "unsigned m = __ballot(p) & (__ballot(p) - 1); out[t] = m;",
    "unsigned m = p ? __ballot(p) : 0; out[t] = m;",
    "unsigned m = p ? 0 : __ballot(p); out[t] = m;",
    "unsigned a = 1, m = __ballot(p); out[t] = m + a;",
    "unsigned m[2]; m[0] = __ballot(p); out[t] = m[0];",
    "unsigned m[2] = {__ballot(p), 0}; out[t] = m[0];",
    "unsigned m[2] = {(unsigned)__ballot(p), 0}; out[t] = m[0];",
    "S s; s.m = __ballot(p); out[t] = s.m;",
    "S s; s.q[1] = __ballot(p); out[t] = s.q[1];",
    "S *s = sp; s->m = __ballot(p); out[t] = s->m;",
    "out[t] = __ballot(p);",
    "*out = __ballot(p);",
    "out[t] |= __ballot(p);",
    "unsigned *q = out + t; *q = __ballot(p);",
    "unsigned &m = out[t]; m = __ballot(p);",
    "take(__ballot(p));",
    "(take)(__ballot(p));",
    "atomicOr(out, __ballot(p));",
    "atomicOr(&out[t], (unsigned)__ballot(p));",
    "auto m = (unsigned)__ballot(p); out[t] = m;",
    "auto m = unsigned(__ballot(p)); out[t] = m;",
    "auto m = static_cast<unsigned>(__ballot(p)); out[t] = m;",
    "auto m = uint32_t(__ballot(p)); out[t] = m;",
    "auto m = uint32_t{(uint32_t)__ballot(p)}; out[t] = m;",
    "auto m = __ballot(p); out[t] = m;",
    "auto m = __ballot(p); unsigned n = m; out[t] = n;",
    "unsigned long long m = __ballot(p); unsigned n = m; out[t] = n;",
    "unsigned long long m = __ballot(p); take(m);",
    "unsigned long long m = __ballot(p); out[t] = m;",
    "uint64_t m = __ballot(p); out[t] = (unsigned)m;",
    "uint64_t m; m = __ballot(p); int n = m; out[t] = n;",
    "const auto &m = __ballot(p); out[t] = m;",
    "auto f = [&] { return (unsigned)__ballot(p); }; out[t] = f();",
    "auto f = [&]() -> unsigned { return __ballot(p); }; out[t] = f();",
    "auto f = [m = (unsigned)__ballot(p)] { return m; }; out[t] = f();",
    missed("auto f = [](unsigned m) { return m; }; out[t] = f(__ballot(p));"),
    missed("auto [m, n] = std::pair<unsigned, int>(__ballot(p), 1); out[t] = m;"),
    "for (unsigned m = __ballot(p); m; m &= m - 1) out[t] += 1;",
    "if (unsigned m = __ballot(p)) out[t] = m;",
    "if (unsigned m = __ballot(p); m) out[t] = m;",
    "while (unsigned m = __ballot(p)) { out[t] = m; break; }",
    "switch ((unsigned)__ballot(p)) { case 0: out[t] = 1; }",
    "unsigned m = BALLOT(p); out[t] = m;",
    "unsigned m = my_ballot(p); out[t] = m;",
    "unsigned m = __activemask(); out[t] = m;",
    "unsigned m = __match_any(p); out[t] = m;",
    "unsigned m = __match_any_sync(~0ull, p); out[t] = m;",
    "unsigned m = __ballot_sync(~0ull, p); out[t] = m;",
    "unsigned m = __ballot64(p); out[t] = m;",
    "unsigned m = __builtin_amdgcn_ballot_w64(p); out[t] = m;",
    "unsigned m = __builtin_amdgcn_read_exec(); out[t] = m;",
    "unsigned m = __builtin_amdgcn_uicmp(p, 0, 33); out[t] = m;",
    "unsigned m = __builtin_amdgcn_sicmp(p, 0, 33); out[t] = m;",
    "unsigned m = __lanemask_lt(); out[t] = m;",
    "unsigned m = ::__ballot(p); out[t] = m;",
    "unsigned m = cg::coalesced_threads().ballot(p); out[t] = m;",
    "unsigned short m = __ballot(p); out[t] = m;",
    "long m = __ballot(p); int n = (int)m; out[t] = n;",
    "unsigned m = __ballot(p), n = __popc(m); out[t] = n;",
    "unsigned m = 0; if (p) m = __ballot(p); out[t] = m;",
    "unsigned m = (t, __ballot(p)); out[t] = m;",
    missed("unsigned m = ({ __ballot(p); }); out[t] = m;"),
    "volatile unsigned m = __ballot(p); out[t] = m;",
    "__shared__ unsigned s[4]; s[t / 64] = __ballot(p); out[t] = s[0];",
    "static __shared__ unsigned s; s = __ballot(p); out[t] = s;",
    "int n = __popc(__ballot(p)); out[t] = n;",
    "return out[t] = __ballot(p), void();",
    'printf("%u", (unsigned)__ballot(p));',
    "memcpy(out, &(const unsigned &)__ballot(p), 4);",
    "__shfl((unsigned)__ballot(p), 0);",
    "unsigned m = __shfl(__ballot(p), 0); out[t] = m;",
    "unsigned m = __builtin_amdgcn_readfirstlane(__ballot(p)); out[t] = m;",
    missed("unsigned m = std::min<unsigned>(__ballot(p), 4); out[t] = m;"),
]
V101_NOT = [
    "unsigned long long m = __ballot(p); w[t] = m;",
    "uint64_t m = __ballot(p); w[t] = m;",
    "auto m = __ballot(p); w[t] = m;",
    "bool m = __ballot(p); out[t] = m;",
    "bool m = __ballot(p) != 0; out[t] = m;",
    "out[t] = __ballot(p) == ~0ull;",
    "unsigned hi = __ballot(p) >> 32; out[t] = hi;",
    "unsigned lo = __ballot(p) & 0xffffffff; out[t] = lo;",
    "unsigned half = __ballot(p) >> (t & 32); out[t] = half;",
    "unsigned half = __ballot(p) >> ((t / 32 % 2) * 32); out[t] = half;",
    "int n = __popcll(__ballot(p)); out[t] = n;",
    "unsigned bit = __ballot(p) >> __lane_id() & 1; out[t] = bit;",
    "bool bit = (__ballot(p) >> __lane_id()) & 1; out[t] = bit;",
    "if (__ballot(p)) out[t] = 1;",
    "while (__ballot(p)) break;",
    "unsigned m = p; out[t] = m;",
    "unsigned m = tile32.ballot(p); out[t] = m;",
    "unsigned lo = (unsigned)m64, hi = (unsigned)(m64 >> 32); out[t] = lo ^ hi;",
    "unsigned lane = __ffsll(__ballot(p)) - 1; out[t] = lane;",
    "int n = !__ballot(p); out[t] = n;",
    "unsigned n = __ballot(p) ? 1 : 0; out[t] = n;",
    "take64(__ballot(p));",
    "S s; s.w = __ballot(p);",
    "w[t] = __ballot(p);",
]
V102 = [
    "out[t] = __popc(__ballot(p));",
    "out[t] = __popc((__ballot(p)));",
    "out[t] = __popc(__ballot(p) & __activemask());",
    "auto m = __ballot(p); out[t] = __popc(m);",
    "unsigned long long m = __ballot(p); out[t] = __popc(m);",
    "uint64_t m = __ballot(p); out[t] = __popc(m >> 1);",
    "uint64_t m = __ballot(p); out[t] = __popc(m & ((1ull << __lane_id()) - 1));",
    "out[t] = __ffs(__ballot(p)) - 1;",
    "out[t] = __ffs(~__ballot(p));",
    "const auto m = __activemask(); int leader = __ffs(m) - 1; out[t] = leader;",
    "out[t] = __clz(__ballot(p));",
    "out[t] = 31 - __clz(__ballot(p));",
    "out[t] = __brev(__ballot(p));",
    "out[t] = __builtin_popcount(__ballot(p));",
    "out[t] = __builtin_ctz(__ballot(p));",
    "out[t] = __builtin_ffs(__ballot(p));",
    "out[t] = __builtin_clz(__ballot(p));",
    "out[t] = ::__popc(__ballot(p));",
    "out[t] = __popc(p ? __ballot(p) : 0);",
    "out[t] = __popc((unsigned)__ballot(p));",
    "out[t] = __popc(unsigned(__ballot(p)));",
    "out[t] = __popc(static_cast<unsigned>(__ballot(p)));",
    "out[t] = __popc(my_ballot(p));",
    "out[t] = __popc(BALLOT(p));",
    "out[t] = __popc(__match_any(p));",
    "out[t] = __popc(__builtin_amdgcn_read_exec());",
    "for (auto m = __ballot(p); m; m &= m - 1) out[t] += __ffs(m);",
    missed("auto f = [&](unsigned long long m) { return __popc(m); }; out[t] = f(__ballot(p));"),
    "auto tile64 = cg::tiled_partition<64>(b); out[t] = __popc(tile64.ballot(p));",
    "out[t] = std::popcount((unsigned)__ballot(p));",
    "out[t] = __fns32(__ballot(p), 0, 1);",
    missed("out[t] = __popc(w[t] = __ballot(p));"),
]
V102_NOT = [
    "out[t] = __popcll(__ballot(p));",
    "out[t] = __popc(p);",
    "out[t] = __popc(__ballot(p) & 0xffffffff);",
    "out[t] = __popc(__ballot(p) >> 32);",
    "out[t] = __popc((unsigned)(m64 >> 32));",
    "out[t] = __ffsll(__ballot(p));",
    "auto m = __popcll(__ballot(p)); out[t] = __popc(m);",
    "out[t] = 63 - __clzll(__ballot(p));",
]
V103 = [
    "w[t] = __ballot(p) & (1 << (t & 63));",
    "w[t] = __ballot(p) & ((1 << (t % 64)) - 1);",
    "w[t] = 1 << __lane_id();",
    "w[t] = 1u << __lane_id();",
    "w[t] = 1U << (threadIdx.x % warpSize);",
    "w[t] = 1u << (threadIdx.x & (warpSize - 1));",
    "w[t] = 1u << (threadIdx.x & 63);",
    "int lane = threadIdx.x % 64; w[t] = (1u << lane) - 1;",
    "int lane = threadIdx.x & 0x3f; w[t] = (1 << lane) - 1;",
    "const unsigned lane = __lane_id(); w[t] = ~(~0u << lane);",
    "int lane = __lane_id(); w[t] = (2u << lane) - 1;",
    "int lane = __lane_id(); w[t] = __ballot(p) >> lane & 1u << lane;",
    "int lane = __lane_id(); unsigned long long m = 1 << lane; w[t] = m;",
    "int lane = __lane_id(); out[t] = 1u << lane;",
    "int lane = __lane_id(); unsigned m = 1u << lane; out[t] = m;",
    "int lane = __lane_id(); w[t] = unsigned(1) << lane;",
    "int lane = __lane_id(); w[t] = (unsigned)1 << lane;",
    "int lane = __lane_id(); w[t] = uint32_t{1} << lane;",
    "int lane = __lane_id(); w[t] = static_cast<unsigned>(1) << lane;",
    "int lane = __lane_id(); unsigned one = 1; w[t] = one << lane;",
    "int lane = __lane_id(); w[t] = 0xffffffffu << lane;",
    "int lane = __lane_id(); w[t] = 0xffffffffu >> (63 - lane);",
    "int lane = __lane_id(); w[t] = ~0u >> lane;",
    "int lane = __lane_id(); w[t] = -1 << lane;",
    "int lane = __lane_id(); if (__ballot(p) & 1 << lane) out[t] = 1;",
    "int lane = __lane_id(); w[t] = __ballot(p) & ((1 << lane + 1) - 1);",
    "int lane = __lane_id(); unsigned m = 1; m <<= lane; out[t] = m;",
    "w[t] = BIT(__lane_id());",
    "int lane = __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0)); w[t] = 1u << lane;",
]
V103_NOT = [
    "w[t] = 1ull << __lane_id();",
    "w[t] = 1ULL << (t & 63);",
    "w[t] = (uint64_t)1 << (t & 63);",
    "w[t] = uint64_t{1} << (t & 63);",
    "w[t] = 1l << (t & 63);",
    "out[t] = 1u << (t & 31);",
    "out[t] = 1u << p;",
    "out[t] = 1u << (t / 64);",
    "int lane = threadIdx.x % 32; out[t] = 1u << lane;",
    "int lane = t % 64; out[t] = lane < 32 ? 1u << lane : 0;",
]
V107 = [
    "out[t] = __shfl_down_sync(0xffffffff, p, 1);",
    "out[t] = __shfl_down_sync(0xffffffffu, p, 1);",
    "out[t] = __shfl_down_sync(0xffffffffULL, p, 1);",
    "out[t] = __shfl_down_sync(0x00000000ffffffffull, p, 1);",
    "out[t] = __shfl_down_sync(4294967295u, p, 1);",
    "out[t] = __shfl_down_sync(~0u, p, 1);",
    "out[t] = __shfl_down_sync(~0, p, 1);",
    "out[t] = __shfl_down_sync(-1, p, 1);",
    "out[t] = __shfl_down_sync((unsigned)-1, p, 1);",
    "out[t] = __shfl_down_sync(unsigned(-1), p, 1);",
    "out[t] = __shfl_down_sync(uint32_t(-1), p, 1);",
    "out[t] = __shfl_down_sync(UINT_MAX, p, 1);",
    "out[t] = __shfl_down_sync(FULL_MASK, p, 1);",
    "out[t] = __shfl_down_sync(kFull, p, 1);",
    "out[t] = __shfl_sync(0xffffffff, p, 1);",
    "out[t] = __shfl_up_sync(0xffffffff, p, 1);",
    "out[t] = __shfl_xor_sync(0xffffffff, p, 1);",
    "out[t] = __any_sync(0xffffffff, p);",
    "out[t] = __all_sync(0xffffffff, p);",
    "w[t] = __ballot_sync(0xffffffff, p);",
    "w[t] = __match_any_sync(0xffffffff, p);",
    "__syncwarp(0xffffffff);",
    "out[t] = __reduce_add_sync(0xffffffff, p);",
    "const unsigned m = 0xffffffff; out[t] = __shfl_sync(m, p, 1);",
    "unsigned m = (unsigned)__activemask(); out[t] = __shfl_sync(m, p, 1);",
    "auto m = 0xffffffffu; out[t] = __shfl_sync(m, p, 1);",
    "uint64_t m = 0xffffffff; out[t] = __shfl_sync(m, p, 1);",
    "out[t] = __shfl_sync(p ? 0xffffffff : 1, p, 1);",
    "out[t] = __shfl_sync((1ull << 32) - 1, p, 1);",
    "out[t] = __shfl_sync(0xFFFF'FFFFull, p, 1);",
]
V107_NOT = [
    "out[t] = __shfl_sync(~0ull, p, 1);",
    "out[t] = __shfl_sync(0xffffffffffffffffull, p, 1);",
    "out[t] = __shfl_sync(-1ll, p, 1);",
    "out[t] = __shfl_sync(__activemask(), p, 1);",
    "out[t] = __shfl_sync(m64, p, 1);",
    "auto m = __ballot(p); out[t] = __shfl_sync(m, p, 1);",
    "out[t] = __shfl_sync(uint64_t(-1), p, 1);",
    "out[t] = __shfl_sync((unsigned long long)-1, p, 1);",
]
V104 = [
    "for (int o = 16; o > 0; o >>= 1) v += __shfl_down(v, o);",
    "for (int o = 16; o > 0; o /= 2) v += __shfl_down(v, o);",
    "for (int o = 16; o; o >>= 1) v += __shfl_xor(v, o);",
    "for (int o = 16; o >= 1; o >>= 1) { v += __shfl_xor(v, o); }",
    "for (unsigned o = 16u; o > 0; o = o >> 1) v += __shfl_down(v, o);",
    "for (auto o = 16; o > 0; o = o / 2) v += __shfl_down(v, o);",
    "for (int o = 1; o < 32; o <<= 1) v += __shfl_xor(v, o);",
    "for (int o = 1; o <= 16; o *= 2) v += __shfl_xor(v, o);",
    "for (int o = 1; o < 32; o *= 2) v += __shfl_xor(v, o);",
    "for (int o = 0; o < 5; ++o) v += __shfl_xor(v, 1 << o);",
    "for (int o = 32 / 2; o > 0; o >>= 1) v += __shfl_down(v, o);",
    "for (int o = 32 >> 1; o > 0; o >>= 1) v += __shfl_down(v, o);",
    "for (int o = WARP / 2; o > 0; o >>= 1) v += __shfl_down(v, o);",
    "for (int o = kHalf; o > 0; o >>= 1) v += __shfl_down(v, o);",
    "int o = 16; while (o > 0) { v += __shfl_down(v, o); o >>= 1; }",
    "int o = 16; do { v += __shfl_down(v, o); o >>= 1; } while (o);",
    "int o; for (o = 16; o > 0; o >>= 1) v += __shfl_down(v, o);",
    "\n#pragma unroll\nfor (int o = 16; o > 0; o >>= 1) v += __shfl_down(v, o);",
    "UNROLL for (int o = 16; o > 0; o >>= 1) v += __shfl_down(v, o);",
    "for (int o = 16; o > 0; o >>= 1) v += __shfl_down(v, o, 64);",
    "for (int o = 16; o > 0; o >>= 1) v += __shfl_down(v, o, warpSize);",
    "for (int o = 16; o > 0; o >>= 1) v += __shfl_down_sync(~0ull, v, o);",
    "for (int o = 16; o > 0; o >>= 1) v = fmaxf(v, __shfl_down(v, o));",
    "for (int o = 16; o > 0; o >>= 1) { float w = __shfl_down(v, o); v += w; }",
    "for (int o = 16; o > 0; o >>= 1) { auto w = __shfl_down(v, o); v = max(v, w); }",
    (
        "v += __shfl_down(v, 16); v += __shfl_down(v, 8); v += __shfl_down(v, 4); v += __shfl_down(v, 2); v "
        "+= __shfl_down(v, 1);"
    ),
    missed("STEP(16); STEP(8); STEP(4); STEP(2); STEP(1);"),
    "auto sum = [&](float q) { for (int o = 16; o > 0; o >>= 1) q += __shfl_down(q, o); return q; }; v = sum(v);",
    "for (int o : {16, 8, 4, 2, 1}) v += __shfl_down(v, o);",
    "v = reduce32(v);",
    "for (int o = 16, n = 0; o > 0; o >>= 1, ++n) v += __shfl_down(v, o);",
]
V104_NOT = [
    "for (int o = 32; o > 0; o >>= 1) v += __shfl_down(v, o);",
    "for (int o = warpSize / 2; o > 0; o >>= 1) v += __shfl_down(v, o);",
    "for (int o = 1; o < 64; o <<= 1) v += __shfl_xor(v, o);",
    "for (int o = 0; o < 6; ++o) v += __shfl_xor(v, 1 << o);",
    "for (int o = 16; o > 0; o >>= 1) v += __shfl_down(v, o, 32); v += __shfl(v, 32);",
    "for (int o = 8; o > 0; o >>= 1) v += __shfl_down(v, o);",
    (
        "v += __shfl_down(v, 32); v += __shfl_down(v, 16); v += __shfl_down(v, 8); v += __shfl_down(v, 4); v "
        "+= __shfl_down(v, 2); v += __shfl_down(v, 1);"
    ),
    "for (int o = 16; o > 0; o >>= 1) v += y[o];",
]
V105 = [
    "int row = threadIdx.x / 32; float f = __shfl(x[threadIdx.x], 0); x[threadIdx.x] = f * row;",
    "int row = threadIdx.x >> 5; float f = __shfl(x[threadIdx.x], 0); x[threadIdx.x] = f * row;",
    "int lane = threadIdx.x % 32; float f = __shfl(x[threadIdx.x], 0); x[threadIdx.x] = f * lane;",
    "int lane = threadIdx.x & 31; float f = __shfl(x[threadIdx.x], 31); x[threadIdx.x] = f * lane;",
    "int lane = threadIdx.x & 0x1f; float f = __shfl(x[threadIdx.x], 3); x[threadIdx.x] = f * lane;",
    "const auto lane = threadIdx.x % WARP; float f = __shfl(x[threadIdx.x], 3); x[threadIdx.x] = f * lane;",
    "unsigned lane{threadIdx.x & 31u}; float f = __shfl(x[threadIdx.x], 3); x[threadIdx.x] = f * lane;",
    "int tid = threadIdx.x; int lane = tid & 31; float f = __shfl(x[tid], 3); x[tid] = f * lane;",
    "int lane = __lane_id() & 31; float f = __shfl(x[threadIdx.x], 3); x[threadIdx.x] = f * lane;",
    "int lane = __lane_id() % 32; float f = __shfl(x[threadIdx.x], 3); x[threadIdx.x] = f * lane;",
    "int lane = threadIdx.x & 31; if (__ballot(x[threadIdx.x] > 0) & (1u << lane)) x[lane] = 1;",
    (
        "int lane = threadIdx.x & 31; float v = x[threadIdx.x]; for (int o = 32; o > 0; o >>= 1) v += "
        "__shfl_down(v, o); if (lane == 0) x[threadIdx.x / 32] = v;"
    ),
    missed("int lane = threadIdx.x & 31; if (__any(x[threadIdx.x] > 0)) x[lane] = 1;"),
    missed("int lane = threadIdx.x & 31; if (__all(x[threadIdx.x] > 0)) x[lane] = 1;"),
    (
        "int lane = threadIdx.x & 31; int n = __popcll(__ballot(x[threadIdx.x] > 0)); if (lane == 0) "
        "x[threadIdx.x / 32] = n;"
    ),
    (
        "int lane = threadIdx.x & 31; int n = __ffsll(__ballot(x[threadIdx.x] > 0)); if (lane == 0) "
        "x[threadIdx.x / 32] = n;"
    ),
    "int lane = threadIdx.x & 31; float f = __shfl_sync(~0ull, x[threadIdx.x], 0); x[threadIdx.x] = f * lane;",
    "int lane = threadIdx.x & 31; float f = __shfl(x[threadIdx.x], lane ^ 1); x[threadIdx.x] = f * lane;",
    "int lane = threadIdx.x & 31; float f = __shfl(x[threadIdx.x], (lane + 1) & 31); x[threadIdx.x] = f * lane;",
    "if ((threadIdx.x & 31) == 0) x[threadIdx.x >> 5] = __popcll(__ballot(1));",
]
V105_NOT = [
    "int row = threadIdx.x / 64; float f = __shfl(x[threadIdx.x], 0); x[threadIdx.x] = f * row;",
    "int row = threadIdx.x / 32; float f = __shfl(x[threadIdx.x], 0, 32); x[threadIdx.x] = f * row;",
    (
        "int lane = threadIdx.x & 31; unsigned half = __ballot(x[threadIdx.x] > 0) >> (__lane_id() & 32); if "
        "(half) x[lane] = 1;"
    ),
    (
        "int lane = threadIdx.x & 31; float v = x[threadIdx.x]; for (int o = 16; o > 0; o >>= 1) v += "
        "__shfl_down(v, o, 32); if (lane == 0) x[0] = v;"
    ),
    (
        "int lane = threadIdx.x & 31; float v = x[threadIdx.x]; for (int o = 16; o > 0; o >>= 1) v += "
        "__shfl_xor(v, o); if (lane == 0) x[threadIdx.x / 32] = v;"
    ),
    "int lane = threadIdx.x & 31; x[lane] = 1;",
]
V106 = [
    "int lane = threadIdx.x & 63; int wave = threadIdx.x >> 5; x[wave] = lane;",
    "int lane = threadIdx.x % 64; int wave = threadIdx.x / 32; x[wave] = lane + __shfl(lane, 1);",
    "int lane = threadIdx.x % warpSize; int wave = threadIdx.x / 32; x[wave] = lane + __shfl(lane, 1);",
    "int lane = threadIdx.x & (warpSize - 1); int wave = threadIdx.x >> 5; x[wave] = lane + __shfl(lane, 1);",
    "unsigned lane = __lane_id(), wave = threadIdx.x / 32u; x[wave] = lane + __shfl((int)lane, 1);",
    (
        "__shared__ float s[32]; int lane = threadIdx.x & 63, wave = threadIdx.x >> 6; if (!lane) s[wave] = "
        "__shfl(x[0], 1); __syncthreads(); if (threadIdx.x < blockDim.x / 32) x[0] += s[lane];"
    ),
    (
        "__shared__ float s[32]; int lane = threadIdx.x & 63, wave = threadIdx.x >> 6; if (!lane) s[wave] = "
        "__shfl(x[0], 1); __syncthreads(); if (threadIdx.x < (blockDim.x >> 5)) x[0] += s[lane];"
    ),
    (
        "__shared__ float s[32]; int lane = threadIdx.x & 63; s[lane] = x[threadIdx.x]; __syncthreads(); "
        "x[lane] = s[lane];"
    ),
    "const int nw = blockDim.x / 32; int lane = threadIdx.x & 63; x[lane] = nw + __shfl(lane, 0);",
    "auto wave = threadIdx.x / 32; auto lane = threadIdx.x % 64; x[wave] = __shfl(x[lane], 0);",
    "int t = threadIdx.x; int lane = t & 63; int wave = t / 32; x[wave] = __shfl(x[lane], 0);",
    missed(
        "int lane = threadIdx.x - (threadIdx.x / 64) * 64; int wave = threadIdx.x / 32; x[wave] = __shfl(x[lane], 0);"
    ),
]
V106_NOT = [
    "int lane = threadIdx.x & 63; int wave = threadIdx.x >> 6; x[wave] = lane;",
    "int lane = threadIdx.x & 31; int row = threadIdx.x >> 5; x[row] = lane;",
    (
        "__shared__ float s[64]; int lane = threadIdx.x & 63; s[lane] = x[threadIdx.x]; __syncthreads(); "
        "x[lane] = s[lane];"
    ),
]


def _codes(head: str, text: str) -> set[str]:
    before = f"{BEFORE}{REDUCE}\n" if "reduce32" in text else BEFORE
    return codes(f"{before}{HEADS[head].replace('@', text)}\n", "a.hip")


@pytest.mark.parametrize("text", V101)
def test_masks_in_32_bits(text: str) -> None:
    assert _codes("masks", text) & {"V101", "V102"}


@pytest.mark.parametrize("text", V101_NOT)
def test_no_masks_in_32_bits(text: str) -> None:
    assert not _codes("masks", text) & {"V101", "V102"}


@pytest.mark.parametrize("text", V102)
def test_masks_counted_in_32_bits(text: str) -> None:
    assert _codes("masks", text) & {"V101", "V102"}


@pytest.mark.parametrize("text", V102_NOT)
def test_no_masks_counted_in_32_bits(text: str) -> None:
    assert not _codes("masks", text) & {"V101", "V102"}


@pytest.mark.parametrize("text", V103)
def test_bits_of_lanes(text: str) -> None:
    assert _codes("masks", text) & {"V101", "V103"}


@pytest.mark.parametrize("text", V103_NOT)
def test_no_bits_of_lanes(text: str) -> None:
    assert not _codes("masks", text) & {"V103"}


@pytest.mark.parametrize("text", V107)
def test_masks_of_32_lanes(text: str) -> None:
    assert _codes("masks", text) & {"V101", "V107"}


@pytest.mark.parametrize("text", V107_NOT)
def test_no_masks_of_32_lanes(text: str) -> None:
    assert not _codes("masks", text) & {"V107"}


@pytest.mark.parametrize("text", V104)
def test_steps_from_16(text: str) -> None:
    assert _codes("steps", text) & {"V104"}


@pytest.mark.parametrize("text", V104_NOT)
def test_no_steps_from_16(text: str) -> None:
    assert not _codes("steps", text) & {"V104"}


@pytest.mark.parametrize("text", V105)
def test_lanes_counted_by_32(text: str) -> None:
    assert _codes("groups", text) & {"V101", "V103", "V105", "V106"}


@pytest.mark.parametrize("text", V105_NOT)
def test_no_lanes_counted_by_32(text: str) -> None:
    assert not _codes("groups", text) & {"V105"}


@pytest.mark.parametrize("text", V106)
def test_groups_counted_by_32(text: str) -> None:
    assert _codes("groups", text) & {"V105", "V106"}


@pytest.mark.parametrize("text", V106_NOT)
def test_no_groups_counted_by_32(text: str) -> None:
    assert not _codes("groups", text) & {"V106"}
