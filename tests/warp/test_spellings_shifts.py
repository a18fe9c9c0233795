"""W112: shifts that come to 32 in one lane, in the spellings that C++ has for them, and their near misses."""

from __future__ import annotations

import pytest

from tests.warp.spelled import codes, missed

BEFORE = """
#include <climits>
#define FULL_MASK 0xffffffffu
#define FULL 0xffffffff
#define WARP_SIZE 32
#define LOG_WARP 5
#define LANES (1 << 5)
#define SHL(m, l) ((m) << (32 - (l)))
#define BELOW(l) ((1u << (l)) - 1)
#define UPTO(l) ((1u << ((l) + 1)) - 1)
constexpr int kWarpSize = 32;
enum { kW = 32 };
enum class E : int { W = 32 };
struct C { static constexpr int kWarp = 32; };
struct Q { unsigned m; };
"""
REACH = [
    "out[t] = mask << (32 - lane);",
    "out[t] = mask << 32 - lane;",
    "out[t] = (mask) << (32 - lane);",
    "out[t] = (mask << (32 - lane));",
    "out[t] = mask << (32u - lane);",
    "out[t] = mask << (0x20 - lane);",
    "out[t] = mask << (040 - lane);",
    "out[t] = mask << (WARP_SIZE - lane);",
    "out[t] = mask << (kWarpSize - lane);",
    "out[t] = mask << (kW - lane);",
    "out[t] = mask << (C::kWarp - lane);",
    "out[t] = mask << ((1 << 5) - lane);",
    "out[t] = mask << ((1 << LOG_WARP) - lane);",
    "out[t] = mask << (LANES - lane);",
    "out[t] = mask << (sizeof(unsigned) * 8 - lane);",
    "out[t] = mask << (sizeof(mask) * 8 - lane);",
    "out[t] = mask << (CHAR_BIT * sizeof(unsigned) - lane);",
    "out[t] = mask << (warpSize - lane);",
    "out[t] = mask << (int(warpSize) - lane);",
    "out[t] = mask << (unsigned)(warpSize - lane);",
    "out[t] = mask << static_cast<unsigned>(32 - lane);",
    "out[t] = mask << int(32 - lane);",
    "out[t] = mask << (32 - (int)lane);",
    "out[t] = mask << (32 - int(lane));",
    "out[t] = mask << (32 - (threadIdx.x & 31));",
    "out[t] = mask << (32 - (threadIdx.x % 32));",
    "out[t] = mask << (32 - threadIdx.x % 32);",
    "out[t] = mask << (32 - (t & 0x1f));",
    "out[t] = mask << (32 - (t & (warpSize - 1)));",
    "out[t] = mask << (32 - (t & WARP_SIZE - 1));",
    "out[t] = mask << (32 - t % warpSize);",
    "out[t] = mask << (32 - lane_id());",
    "out[t] = mask << (32 - laneId());",
    "out[t] = mask << (32 - get_lane_id());",
    "out[t] = mask << (32 - cub::LaneId());",
    "out[t] = mask << (32 - __lane_id());",
    "out[t] = mask << (32 - warp.thread_rank());",
    "out[t] = mask << (-lane + 32);",
    "out[t] = mask << -(lane - 32);",
    "int s = 32 - lane; out[t] = mask << s;",
    "const int s = 32 - lane; out[t] = mask << s;",
    "const auto s{32 - lane}; out[t] = mask << s;",
    "int s(32 - lane); out[t] = mask << s;",
    "int s; s = 32 - lane; out[t] = mask << s;",
    "int x = lane; out[t] = mask << (32 - x);",
    "unsigned x = t & 31; out[t] = mask << (32 - x);",
    "const auto x = threadIdx.x % 32u; out[t] = mask << (32u - x);",
    "int x = t - (t / 32) * 32; out[t] = mask << (32 - x);",
    "int x = t - 32 * (t >> 5); out[t] = mask << (32 - x);",
    'int x; asm("mov.u32 %0, %laneid;" : "=r"(x)); out[t] = mask << (32 - x);',
    "int x = lane ^ 1; out[t] = mask << (32 - x);",
    "out[t] = mask >> (32 - lane);",
    "out[t] = mask >> (kWarpSize - lane);",
    "out[t] = ~0u >> (32 - lane);",
    "out[t] = 0xffffffffu >> (32 - lane);",
    "out[t] = 0xffffffff >> (32 - lane);",
    "out[t] = 4294967295u >> (32 - lane);",
    "out[t] = FULL_MASK >> (32 - lane);",
    "out[t] = FULL >> (WARP_SIZE - lane);",
    "out[t] = UINT_MAX >> (32 - lane);",
    "out[t] = UINT32_MAX >> (32 - lane);",
    "out[t] = (unsigned)-1 >> (32 - lane);",
    "out[t] = unsigned(-1) >> (32 - lane);",
    "out[t] = static_cast<unsigned>(-1) >> (32 - lane);",
    "out[t] = std::numeric_limits<unsigned>::max() >> (32 - lane);",
    "out[t] = uint32_t{0xffffffff} >> (32 - lane);",
    "out[t] = (1u << (lane + 1)) - 1;",
    "out[t] = (1u << lane + 1) - 1;",
    "out[t] = (1 << (lane + 1)) - 1;",
    "out[t] = (1u << (1 + lane)) - 1;",
    "out[t] = (1u << (lane + 1u)) - 1u;",
    "out[t] = (unsigned(1) << (lane + 1)) - 1;",
    "out[t] = ((unsigned)1 << (lane + 1)) - 1;",
    "out[t] = (0x1u << (lane + 1)) - 0x1u;",
    "out[t] = (1U << ((t & 31) + 1)) - 1;",
    "out[t] = (1u << (t % 32 + 1)) - 1;",
    "out[t] = ~0u << (lane + 1);",
    "out[t] = 0xffffffffu << (lane + 1);",
    "out[t] = ~(FULL_MASK << (lane + 1));",
    "out[t] = -1 << (lane + 1);",
    "out[t] = (-1) << (lane + 1);",
    "out[t] = mask >> (lane + 1);",
    "out[t] = mask >> 1 + lane;",
    "int n = lane + 1; out[t] = (1u << n) - 1;",
    "const unsigned n = lane + 1u; out[t] = ~0u << n;",
    "int n = lane; ++n; out[t] = (1u << n) - 1;",
    "int n = lane; n += 1; out[t] = (1u << n) - 1;",
    "out[t] = (1u << ++lane) - 1;",
    "out[t] = __popc(mask << (32 - lane));",
    "out[t] = __popc(mask & ((1u << (lane + 1)) - 1));",
    "out[t] = __ffs(mask >> (lane + 1));",
    "out[t] = __clz(mask << (32 - lane));",
    "if (mask << (32 - lane)) out[t] = 1;",
    "out[t] = lane ? mask >> (32 - lane) : 0;",
    "out[t] = (mask >> (lane + 1)) ? 1 : 0;",
    "mask <<= 32 - lane; out[t] = mask;",
    "mask <<= (32 - lane); out[t] = mask;",
    "mask >>= (lane + 1); out[t] = mask;",
    "mask &= ~0u >> (32 - lane); out[t] = mask;",
    "mask &= (1u << (lane + 1)) - 1; out[t] = mask;",
    "out[t] <<= 32 - lane;",
    "q.m <<= (32 - lane); out[t] = q.m;",
    "out[t] = SHL(mask, lane);",
    "out[t] = UPTO(lane);",
    "out[t] = BELOW(lane + 1);",
    missed("auto f = [&](int l) { return mask << (32 - l); }; out[t] = f(lane);"),
    "auto f = [&] { return mask << (32 - lane); }; out[t] = f();",
    "auto f = [=](int lane) { return (1u << (lane + 1)) - 1; }; out[t] = f(lane);",
    "out[t] = mask << (31 - lane + 1);",
    "out[t] = mask << (31 - (lane - 1));",
    "out[t] = mask << (32 - lane) | 1;",
    "out[t] = 1u << (32 - lane);",
    "out[t] = x[t] << (32 - lane);",
    "out[t] = uint32_t(mask64) << (32 - lane);",
    "out[t] = (unsigned)(mask64) << (32 - lane);",
    "out[t] = (unsigned)mask64 >> (32 - lane);",
    "out[t] = (__ballot_sync(~0u, t > 3)) << (32 - lane);",
    "out[t] = __ballot_sync(~0u, t > 3) << (32 - lane);",
    "out[t] = __activemask() >> (lane + 1);",
    "out[t] = ballot(t > 3) << (32 - lane);",
    "for (unsigned m = mask << (32 - lane); m; m &= m - 1) out[t] += 1;",
    "while (mask >> (lane + 1)) mask = 0; out[t] = mask;",
    "switch (mask << (32 - lane)) { case 0: out[t] = 1; }",
    "return (void)(out[t] = mask << (32 - lane));",
    "out[mask << (32 - lane)] = 1;",
    "unsigned a[2] = {mask << (32 - lane), 1}; out[t] = a[0];",
    "unsigned a{mask << (32 - lane)}; out[t] = a;",
    "out[t] = h(mask << (32 - lane), 1);",
    "out[t] = h<3>(mask << (32 - lane));",
    "UNROLL for (int k = 0; k < 2; ++k) out[t] = mask << (32 - lane);",
    "const unsigned lt = (1u << lane) - 1, ge = mask >> (32 - lane); out[t] = lt + ge;",
    "out[t] = mask << (32-lane);",
    "out[t] = mask<<(32-lane);",
    "out[t] = mask << (32 /* w */ - lane);",
    "out[t] = mask << // x\n (32 - lane);",
    "out[t] = mask << ( ( 32 ) - ( lane ) );",
    "out[t] = mask << (32 - this->lane_);",
    "out[t] = mask << (32 - p.lane);",
    "out[t] = mask << (32 - lanes[0]);",
    "out[t] = mask << (32 - laneid);",
    "out[t] = mask << (32 - tid_in_warp);",
    "out[t] = mask << (32 - thread_in_warp);",
]
STAY = [
    "out[t] = mask << (31 - lane);",
    "out[t] = mask << 31 - lane;",
    "out[t] = (1u << lane) - 1;",
    "out[t] = mask >> lane;",
    "out[t] = mask << (31 - lane) << 1;",
    "out[t] = 2u << lane;",
    "out[t] = (2u << lane) - 1;",
    "out[t] = mask >> lane >> 1;",
    "out[t] = mask64 << (32 - lane);",
    "out[t] = 1ull << (lane + 1);",
    "out[t] = 1LL << (lane + 1);",
    "out[t] = (unsigned long long)mask << (32 - lane);",
    "out[t] = uint64_t(mask) << (32 - lane);",
    "out[t] = uint64_t{1} << (lane + 1);",
    "out[t] = static_cast<uint64_t>(mask) << (32 - lane);",
    "unsigned long long big = mask; out[t] = big << (32 - lane);",
    "uint64_t big = mask; out[t] = big >> (lane + 1);",
    "size_t big = mask; out[t] = big >> (lane + 1);",
    "auto big = 1ull; out[t] = big << (lane + 1);",
    "out[t] = (x[t] << lane) | (x[t] >> (32 - lane));",
    "out[t] = (mask << lane) | (mask >> (32 - lane));",
    "out[t] = mask >> (lane / 2 + 1);",
    "out[t] = mask >> ((lane & 15) + 1);",
    "out[t] = mask >> ((t & 15) + 1);",
    "out[t] = mask << (16 - (t & 15));",
    "out[t] = mask >> (t & 31);",
    "out[t] = mask << (32 - bits);",
    "out[t] = 1u << (n + 1);",
    "out[t] = mask >> (warp + 1);",
    "out[t] = __funnelshift_l(0, mask, 32 - lane);",
    "std::cout << (32 - lane);",
    "out[t] = mask >> ((lane + 1) & 31);",
    "out[t] = mask << ((32 - lane) & 31);",
    "out[t] = mask << (64 - lane);",
    "out[t] = (1u << (lane - 1)) - 1;",
    "out[t] = mask << (32 - lane - 1);",
    "out[t] = mask >> (lane * 2 + 1);",
    "out[t] = 1 << (lane >> 2);",
    "out[t] = 1u << (sub_lane + 1);",
]


def _codes(text: str) -> set[str]:
    lane = (
        "int t = threadIdx.x; int lane = t & 31; int warp = t / 32; unsigned mask = __ballot_sync(0xffffffffu, x[t]);"
    )
    head = "__global__ void k(unsigned *out, unsigned *x, unsigned long long mask64, int bits, Q q)"
    return codes(f"{BEFORE}{head} {{ {lane}\n {text}\n}}")


@pytest.mark.parametrize("text", REACH)
def test_shifts_that_reach_the_width(text: str) -> None:
    assert "W112" in _codes(text)


@pytest.mark.parametrize("text", STAY)
def test_shifts_that_do_not(text: str) -> None:
    assert "W112" not in _codes(text)


def test_a_shift_in_a_helper_whose_callers_pass_lanes() -> None:
    helper = "__device__ unsigned up_to(int l) { int n = l + 1; return (1u << n) - 1; }"
    kernel = "__global__ void k(unsigned *out) { out[0] = up_to(threadIdx.x & 31); }"
    assert "W112" in codes(f"{helper}\n{kernel}")
    assert "W112" not in codes(f"{helper}\n{kernel.replace('31', '15')}")
