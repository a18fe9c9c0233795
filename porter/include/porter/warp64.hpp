// Warp operations on the 64 lanes of a wavefront, for kernels that were widened from CUDA's 32.
//
// Each function has the meaning of the CUDA intrinsic of the same name on a warp of 64 lanes; masks have 64 bits. As in
// warp32.hpp nothing is checked or trapped, and lanes that a mask names and that are not active count as exited.
// SPDX-License-Identifier: Apache-2.0
#ifndef PORTER_WARP64_HPP
#define PORTER_WARP64_HPP

#include "warp32.hpp"

namespace porter {
namespace wide {

/// Lanes of a wavefront on CDNA GPUs; a constant expression on host and device.
constexpr int warpSize = 64;

}  // namespace wide
}  // namespace porter

#if defined(__HIP__) || defined(__HIPCC__)

#if defined(__HIP_DEVICE_COMPILE__) && __HIP_DEVICE_COMPILE__ && !defined(__GFX9__)
#error "kernels of this file were widened to 64 lanes; build for a GPU with 64-lane wavefronts, or port with --warp preserve"
#endif

#define PORTER_LANE __device__ inline __attribute__((always_inline))
#if __has_attribute(maybe_undef)
#define PORTER_MAYBE_UNSET __attribute__((maybe_undef))
#else
#define PORTER_MAYBE_UNSET
#endif

namespace porter {
namespace wide {
namespace detail {

using porter::detail::from_lane;
using porter::detail::moved;
using porter::detail::row_moved;
using porter::detail::swizzled;
using porter::detail::wave_lane;

constexpr unsigned long long full_mask = ~0ull;

PORTER_LANE unsigned inner_bits(int width) { return static_cast<unsigned>(width - 1) & 63u; }

struct FromIndex {
  unsigned source, inner;
  PORTER_LANE FromIndex(int lane, int width)
      : source(static_cast<unsigned>(lane) & inner_bits(width)), inner(inner_bits(width)) {}
  PORTER_LANE unsigned operator()(unsigned word) const {
    if (__builtin_constant_p(source) && inner == 63u)
      return static_cast<unsigned>(__builtin_amdgcn_readlane(static_cast<int>(word), static_cast<int>(source)));
    return from_lane(word, (wave_lane() & ~inner) + source);
  }
};

struct FromBelow {
  unsigned address;
  PORTER_LANE FromBelow(unsigned delta, int width) {
    unsigned const lane = wave_lane(), step = delta & 63u;
    address = (lane & inner_bits(width)) >= step ? lane - step : lane;
  }
  PORTER_LANE unsigned operator()(unsigned word) const { return from_lane(word, address); }
};

struct FromAbove {
  unsigned address;
  PORTER_LANE FromAbove(unsigned delta, int width) {
    unsigned const lane = wave_lane(), step = delta & 63u, inner = inner_bits(width);
    address = (lane & inner) + step <= inner ? lane + step : lane;
  }
  PORTER_LANE unsigned operator()(unsigned word) const { return from_lane(word, address); }
};

struct FromXor {
  unsigned flipped, inner;
  PORTER_LANE FromXor(int lanes, int width) : flipped(static_cast<unsigned>(lanes) & 63u), inner(inner_bits(width)) {}
  PORTER_LANE unsigned operator()(unsigned word) const {
    if (__builtin_constant_p(flipped) && __builtin_constant_p(flipped <= inner) && flipped <= inner) {
      switch (flipped) {
        case 1: return row_moved<0xb1>(word);   // quad_perm [1,0,3,2]
        case 2: return row_moved<0x4e>(word);   // quad_perm [2,3,0,1]
        case 4: return swizzled<0x101f>(word);
        case 8: return row_moved<0x128>(word);  // row_ror:8
        case 16: return swizzled<0x401f>(word);
        default: break;
      }
    }
    unsigned const lane = wave_lane(), partner = lane ^ flipped;
    return from_lane(word, partner <= (lane | inner) ? partner : lane);
  }
};

}  // namespace detail

PORTER_LANE unsigned lane_id() { return detail::wave_lane(); }
PORTER_LANE unsigned long long lanemask_lt() { return (1ull << lane_id()) - 1ull; }

/// Lanes of this wavefront that belong to the block: 32 in the last wavefront of a block of an odd number of warps (or of
/// rows of 32 threads), else 64. The same for all lanes of the wavefront.
PORTER_LANE int lanes() {
  unsigned const first = static_cast<unsigned>(__builtin_amdgcn_readfirstlane(static_cast<int>(threadIdx.x))) & ~63u;
  return blockDim.x - first > 32u ? 64 : 32;
}

PORTER_LANE unsigned long long ballot(int predicate) { return __ballot(predicate); }
PORTER_LANE unsigned long long activemask() { return __ballot(1); }
PORTER_LANE int any(int predicate) { return ballot(predicate) != 0ull; }
PORTER_LANE int all(int predicate) { return ballot(!predicate) == 0ull; }
PORTER_LANE unsigned long long ballot_sync(unsigned long long mask, int predicate) { return ballot(predicate) & mask; }
PORTER_LANE int any_sync(unsigned long long mask, int predicate) { return ballot_sync(mask, predicate) != 0ull; }
PORTER_LANE int all_sync(unsigned long long mask, int predicate) { return ballot_sync(mask, !predicate) == 0ull; }

template <class T> using promoted = typename porter::detail::promoted<T>::type;

template <class T> PORTER_LANE promoted<T> shfl(PORTER_MAYBE_UNSET T value, int lane, int width = warpSize) {
  return detail::moved(value, detail::FromIndex(lane, width));
}
template <class T> PORTER_LANE promoted<T> shfl_up(PORTER_MAYBE_UNSET T value, unsigned delta, int width = warpSize) {
  return detail::moved(value, detail::FromBelow(delta, width));
}
template <class T> PORTER_LANE promoted<T> shfl_down(PORTER_MAYBE_UNSET T value, unsigned delta, int width = warpSize) {
  return detail::moved(value, detail::FromAbove(delta, width));
}
template <class T> PORTER_LANE promoted<T> shfl_xor(PORTER_MAYBE_UNSET T value, int lanes, int width = warpSize) {
  return detail::moved(value, detail::FromXor(lanes, width));
}
template <class T>
PORTER_LANE promoted<T> shfl_sync(unsigned long long, PORTER_MAYBE_UNSET T value, int lane, int width = warpSize) {
  return shfl(value, lane, width);
}
template <class T>
PORTER_LANE promoted<T> shfl_up_sync(unsigned long long, PORTER_MAYBE_UNSET T value, unsigned delta, int width = warpSize) {
  return shfl_up(value, delta, width);
}
template <class T>
PORTER_LANE promoted<T> shfl_down_sync(unsigned long long, PORTER_MAYBE_UNSET T value, unsigned delta,
                                       int width = warpSize) {
  return shfl_down(value, delta, width);
}
template <class T>
PORTER_LANE promoted<T> shfl_xor_sync(unsigned long long, PORTER_MAYBE_UNSET T value, int lanes, int width = warpSize) {
  return shfl_xor(value, lanes, width);
}

namespace detail {

/// All lanes of the wavefront take part; where some are missing, the members are folded one by one.
template <class T, class Op> PORTER_LANE T reduced(unsigned long long mask, T value, Op op) {
  unsigned long long members = mask & activemask();
  if (members == full_mask) {
#pragma unroll
    for (int lanes = 32; lanes > 0; lanes /= 2) value = op(value, shfl_xor(value, lanes));
    return value;
  }
  T result = shfl(value, __ffsll(members) - 1);
  for (members &= members - 1ull; members != 0ull; members &= members - 1ull)
    result = op(result, shfl(value, __ffsll(members) - 1));
  return result;
}

}  // namespace detail

template <class T> PORTER_LANE T reduce_add_sync(unsigned long long mask, T value) {
  return detail::reduced(mask, value, porter::detail::Add());
}
template <class T> PORTER_LANE T reduce_min_sync(unsigned long long mask, T value) {
  return detail::reduced(mask, value, porter::detail::Min());
}
template <class T> PORTER_LANE T reduce_max_sync(unsigned long long mask, T value) {
  return detail::reduced(mask, value, porter::detail::Max());
}
template <class T> PORTER_LANE T reduce_and_sync(unsigned long long mask, T value) {
  return detail::reduced(mask, value, porter::detail::And());
}
template <class T> PORTER_LANE T reduce_or_sync(unsigned long long mask, T value) {
  return detail::reduced(mask, value, porter::detail::Or());
}
template <class T> PORTER_LANE T reduce_xor_sync(unsigned long long mask, T value) {
  return detail::reduced(mask, value, porter::detail::Xor());
}

PORTER_LANE void syncwarp(unsigned long long = detail::full_mask) { porter::syncwarp(); }

}  // namespace wide
}  // namespace porter

#undef PORTER_LANE
#undef PORTER_MAYBE_UNSET

#endif  // HIP
#endif  // PORTER_WARP64_HPP
