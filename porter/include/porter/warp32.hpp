// Logical warps of 32 lanes, as CUDA has them, on AMD GPUs with wavefronts of 32 or 64 lanes.
//
// A 64-lane wavefront holds two logical warps: lanes 0-31 and lanes 32-63. Each function below has the meaning
// of the CUDA intrinsic of the same name (`__shfl_sync` is `porter::shfl_sync`), lanes and masks counted within
// the caller's half. Masks are honoured where they change a result; lanes they name that are not active count
// as exited, and nothing is checked or trapped. As in CUDA, a shuffle from a lane that is not active gives an
// undefined value. There is no reconvergence and no progress guarantee between lanes of one wavefront: all
// lanes that a mask names must reach the call together.
//
// Works with HIP 5.2 and later; needs nothing but the HIP runtime header. SPDX-License-Identifier: Apache-2.0
#ifndef PORTER_WARP32_HPP
#define PORTER_WARP32_HPP

namespace porter {

/// Lanes of a logical warp; a constant expression on host and device.
constexpr int warpSize = 32;

}  // namespace porter

#if defined(__HIP__) || defined(__HIPCC__)

#include <hip/hip_runtime.h>

#define PORTER_LANE __device__ inline __attribute__((always_inline))
// CUDA code shuffles variables that only the source lane has set. Without this attribute clang may treat such a
// call as undefined behaviour and drop the branch around the assignment.
#if __has_attribute(maybe_undef)
#define PORTER_MAYBE_UNSET __attribute__((maybe_undef))
#else
#define PORTER_MAYBE_UNSET
#endif

namespace porter {
namespace detail {

constexpr unsigned full_mask = 0xffffffffu;

/// Lane of the wavefront, 0-31 or 0-63. The compiler knows the range, so nothing of the upper half is left
/// where wavefronts have 32 lanes.
PORTER_LANE unsigned wave_lane() { return __builtin_amdgcn_mbcnt_hi(~0u, __builtin_amdgcn_mbcnt_lo(~0u, 0u)); }

/// The caller's 32 bits of a wavefront-wide mask.
PORTER_LANE unsigned own_half(unsigned long long wave_mask) {
  return static_cast<unsigned>(wave_mask >> (wave_lane() & 32u));
}

// The type a shuffle returns: CUDA has no overload for integers narrower than int, so they are promoted.
template <class T> struct promoted { using type = T; };
template <> struct promoted<bool> { using type = int; };
template <> struct promoted<char> { using type = int; };
template <> struct promoted<signed char> { using type = int; };
template <> struct promoted<unsigned char> { using type = int; };
template <> struct promoted<short> { using type = int; };
template <> struct promoted<unsigned short> { using type = int; };

PORTER_LANE unsigned from_lane(unsigned word, unsigned wave_source) {
  return static_cast<unsigned>(
      __builtin_amdgcn_ds_bpermute(static_cast<int>(wave_source << 2), static_cast<int>(word)));
}

/// `Pattern` is and_mask | or_mask << 5 | xor_mask << 10, applied to the lane number within 32 lanes.
template <int Pattern> PORTER_LANE unsigned swizzled(unsigned word) {
  return static_cast<unsigned>(__builtin_amdgcn_ds_swizzle(static_cast<int>(word), Pattern));
}

/// Data-parallel-primitive move within rows of 16 lanes.
template <int Control> PORTER_LANE unsigned row_moved(unsigned word) {
  return static_cast<unsigned>(
      __builtin_amdgcn_update_dpp(0, static_cast<int>(word), Control, 0xf, 0xf, true));
}

// Each mover below names the lane that a 32-bit word comes from. `inner` is width - 1, the lane bits that count
// within a segment; this is PTX's shfl with c = (32 - width) << 8 | clamp, so it is right for every width.
// Constant lane numbers take forms that need no address register.

PORTER_LANE unsigned inner_bits(int width) { return static_cast<unsigned>(width - 1) & 31u; }

struct FromIndex {
  unsigned source, inner, address;

  PORTER_LANE FromIndex(int source_lane, int width)
      : source(static_cast<unsigned>(source_lane) & inner_bits(width)), inner(inner_bits(width)),
        address((wave_lane() & ~inner) + source) {}

  PORTER_LANE unsigned operator()(unsigned word) const {
    if (__builtin_constant_p(source) && __builtin_constant_p(inner)) {
      if (inner == 31u && source == 0u) return swizzled<0x0000>(word);
      if (inner == 31u && source == 31u) return swizzled<0x03e0>(word);
      if (inner == 15u && source == 0u) return swizzled<0x0010>(word);
      if (inner == 7u && source == 0u) return swizzled<0x0018>(word);
      if (inner == 3u && source == 0u) return row_moved<0x00>(word);  // quad_perm [0,0,0,0]
      if (inner == 1u && source == 0u) return row_moved<0xa0>(word);  // quad_perm [0,0,2,2]
    }
    return from_lane(word, address);
  }
};

struct FromBelow {
  unsigned address;

  PORTER_LANE FromBelow(unsigned delta, int width) {
    unsigned const lane = wave_lane(), source = lane - (delta & 31u);
    address = static_cast<int>(source) < static_cast<int>(lane & ~inner_bits(width)) ? lane : source;
  }

  PORTER_LANE unsigned operator()(unsigned word) const { return from_lane(word, address); }
};

struct FromAbove {
  unsigned address;

  PORTER_LANE FromAbove(unsigned delta, int width) {
    unsigned const lane = wave_lane(), step = delta & 31u, inner = inner_bits(width);
    address = (lane & inner) + step <= inner ? lane + step : lane;
  }

  PORTER_LANE unsigned operator()(unsigned word) const { return from_lane(word, address); }
};

struct FromXor {
  unsigned flipped, inner, address;

  PORTER_LANE FromXor(int lane_mask, int width)
      : flipped(static_cast<unsigned>(lane_mask) & 31u), inner(inner_bits(width)) {
    unsigned const lane = wave_lane(), partner = lane ^ flipped;
    address = inner == 31u || partner <= (lane | inner) ? partner : lane;
  }

  PORTER_LANE unsigned operator()(unsigned word) const {
    if (__builtin_constant_p(flipped) && __builtin_constant_p(flipped <= inner) && flipped <= inner) {
      switch (flipped) {
        case 1: return row_moved<0xb1>(word);   // quad_perm [1,0,3,2]
        case 2: return row_moved<0x4e>(word);   // quad_perm [2,3,0,1]
        case 3: return row_moved<0x1b>(word);   // quad_perm [3,2,1,0]
        case 4: return swizzled<0x101f>(word);
        case 7: return row_moved<0x141>(word);  // row_half_mirror
        case 8: return row_moved<0x128>(word);  // row_ror:8
        case 15: return row_moved<0x140>(word); // row_mirror
        case 16: return swizzled<0x401f>(word);
        case 31: return swizzled<0x7c1f>(word);
        default: break;
      }
    }
    return from_lane(word, address);
  }
};

/// Moves a value of any size, word by word.
template <class T, class Mover> PORTER_LANE T moved(T const& value, Mover const& mover) {
  constexpr unsigned words = (sizeof(T) + 3u) / 4u;
  unsigned buffer[words] = {};
  __builtin_memcpy(buffer, &value, sizeof(T));
#pragma unroll
  for (unsigned i = 0; i < words; ++i) buffer[i] = mover(buffer[i]);
  T result = value;
  __builtin_memcpy(static_cast<void*>(&result), buffer, sizeof(T));
  return result;
}

template <class T> PORTER_LANE bool equals_first_active(T const& value) {
  constexpr unsigned words = (sizeof(T) + 3u) / 4u;
  unsigned buffer[words] = {};
  __builtin_memcpy(buffer, &value, sizeof(T));
  bool same = true;
#pragma unroll
  for (unsigned i = 0; i < words; ++i)
    same &= buffer[i] == static_cast<unsigned>(__builtin_amdgcn_readfirstlane(static_cast<int>(buffer[i])));
  return same;
}

/// Bitwise, as PTX's match is: 0.0 and -0.0 differ, equal NaN payloads match.
template <class T> PORTER_LANE bool same_bits(T const& a, T const& b) {
  constexpr unsigned words = (sizeof(T) + 3u) / 4u;
  unsigned first[words] = {}, second[words] = {};
  __builtin_memcpy(first, &a, sizeof(T));
  __builtin_memcpy(second, &b, sizeof(T));
  unsigned different = 0;
#pragma unroll
  for (unsigned i = 0; i < words; ++i) different |= first[i] ^ second[i];
  return different == 0;
}

}  // namespace detail

/// PTX %laneid: the lane within the logical warp, 0-31.
PORTER_LANE unsigned lane_id() { return detail::wave_lane() & 31u; }

/// PTX %warpid for a resident block: the logical warp within the block.
PORTER_LANE unsigned warp_id() {
  return (threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z)) >> 5;
}

/// PTX %nwarpid restricted to the block: its number of logical warps.
PORTER_LANE unsigned warp_count() { return (blockDim.x * blockDim.y * blockDim.z + 31u) >> 5; }

PORTER_LANE unsigned lanemask_eq() { return 1u << lane_id(); }
PORTER_LANE unsigned lanemask_lt() { return (1u << lane_id()) - 1u; }
PORTER_LANE unsigned lanemask_le() { return (2u << lane_id()) - 1u; }
PORTER_LANE unsigned lanemask_gt() { return ~1u << lane_id(); }
PORTER_LANE unsigned lanemask_ge() { return detail::full_mask << lane_id(); }

// Votes. Without a mask they take the lanes of the half that are active.

PORTER_LANE unsigned ballot(int predicate) { return detail::own_half(__ballot(predicate)); }
PORTER_LANE unsigned activemask() { return ballot(1); }
PORTER_LANE int any(int predicate) { return ballot(predicate) != 0u; }
PORTER_LANE int all(int predicate) { return ballot(!predicate) == 0u; }

PORTER_LANE unsigned ballot_sync(unsigned mask, int predicate) { return ballot(predicate) & mask; }
PORTER_LANE int any_sync(unsigned mask, int predicate) { return ballot_sync(mask, predicate) != 0u; }
PORTER_LANE int all_sync(unsigned mask, int predicate) { return ballot_sync(mask, !predicate) == 0u; }
PORTER_LANE int uni_sync(unsigned mask, int predicate) {
  return all_sync(mask, predicate) || !any_sync(mask, predicate);
}

// Shuffles. The mask changes no defined result: a lane may only read lanes that its mask names.

template <class T>
PORTER_LANE typename detail::promoted<T>::type shfl(PORTER_MAYBE_UNSET T value, int source_lane,
                                                    int width = warpSize) {
  return detail::moved(value, detail::FromIndex(source_lane, width));
}
template <class T>
PORTER_LANE typename detail::promoted<T>::type shfl_up(PORTER_MAYBE_UNSET T value, unsigned delta,
                                                       int width = warpSize) {
  return detail::moved(value, detail::FromBelow(delta, width));
}
template <class T>
PORTER_LANE typename detail::promoted<T>::type shfl_down(PORTER_MAYBE_UNSET T value, unsigned delta,
                                                         int width = warpSize) {
  return detail::moved(value, detail::FromAbove(delta, width));
}
template <class T>
PORTER_LANE typename detail::promoted<T>::type shfl_xor(PORTER_MAYBE_UNSET T value, int lane_mask,
                                                        int width = warpSize) {
  return detail::moved(value, detail::FromXor(lane_mask, width));
}

template <class T>
PORTER_LANE typename detail::promoted<T>::type shfl_sync(unsigned, PORTER_MAYBE_UNSET T value, int source_lane,
                                                         int width = warpSize) {
  return shfl(value, source_lane, width);
}
template <class T>
PORTER_LANE typename detail::promoted<T>::type shfl_up_sync(unsigned, PORTER_MAYBE_UNSET T value,
                                                            unsigned delta, int width = warpSize) {
  return shfl_up(value, delta, width);
}
template <class T>
PORTER_LANE typename detail::promoted<T>::type shfl_down_sync(unsigned, PORTER_MAYBE_UNSET T value,
                                                              unsigned delta, int width = warpSize) {
  return shfl_down(value, delta, width);
}
template <class T>
PORTER_LANE typename detail::promoted<T>::type shfl_xor_sync(unsigned, PORTER_MAYBE_UNSET T value,
                                                             int lane_mask, int width = warpSize) {
  return shfl_xor(value, lane_mask, width);
}

// Matches.

/// Lanes of `mask` that hold the same bits as the caller; one pass per distinct value of the wavefront.
template <class T> PORTER_LANE unsigned match_any_sync(unsigned mask, T value) {
  for (;;) {
    bool const same = detail::equals_first_active(value);
    unsigned const peers = ballot(same);
    if (same) return peers & mask;
  }
}

/// The lanes of `mask` if all of them hold the same bits, else 0; `*predicate` says which.
template <class T> PORTER_LANE unsigned match_all_sync(unsigned mask, T value, int* predicate) {
  unsigned const members = mask & activemask();
  T const leader = detail::moved(value, detail::FromIndex(__ffs(static_cast<int>(members)) - 1, warpSize));
  bool const equal = all_sync(mask, detail::same_bits(value, leader)) != 0;
  *predicate = equal;
  return equal ? members : 0u;
}

// Reductions.

namespace detail {

struct Add { template <class T> PORTER_LANE T operator()(T a, T b) const { return a + b; } };
struct Min { template <class T> PORTER_LANE T operator()(T a, T b) const { return b < a ? b : a; } };
struct Max { template <class T> PORTER_LANE T operator()(T a, T b) const { return a < b ? b : a; } };
struct And { template <class T> PORTER_LANE T operator()(T a, T b) const { return a & b; } };
struct Or { template <class T> PORTER_LANE T operator()(T a, T b) const { return a | b; } };
struct Xor { template <class T> PORTER_LANE T operator()(T a, T b) const { return a ^ b; } };

/// All 32 lanes take part. After steps 1 and 2 the lanes of a quad agree, so mirrors serve for 4 and 8.
template <class T, class Op> PORTER_LANE T reduced_full(T value, Op op) {
  value = op(value, moved(value, FromXor(1, 32)));
  value = op(value, moved(value, FromXor(2, 32)));
  value = op(value, moved(value, FromXor(7, 32)));
  value = op(value, moved(value, FromXor(15, 32)));
  return op(value, moved(value, FromXor(16, 32)));
}

/// Any set of lanes, different sets at once: each lane folds in the next member of its set, then skips over it.
template <class T, class Op> PORTER_LANE T reduced_members(unsigned members, T value, Op op) {
  unsigned const half = wave_lane() & 32u;
  unsigned const above = members & lanemask_gt();
  // 0 says that there is no further member; a lane above another one is never lane 0 of its half.
  unsigned next = above ? static_cast<unsigned>(__ffs(static_cast<int>(above))) - 1u : 0u;
#pragma unroll
  for (int step = 0; step < 5; ++step) {
    T const folded = op(value, static_cast<T>(from_lane(static_cast<unsigned>(value), half | next)));
    unsigned const after = from_lane(next, half | next);
    value = next ? folded : value;
    next = next ? after : 0u;
  }
  unsigned const first = static_cast<unsigned>(__ffs(static_cast<int>(members))) - 1u;
  return static_cast<T>(from_lane(static_cast<unsigned>(value), half | (first & 31u)));
}

template <class T, class Op> PORTER_LANE T reduced(unsigned mask, T value, Op op) {
  unsigned const members = mask & activemask();
  if (__ballot(members != full_mask) == 0) return reduced_full(value, op);
  return reduced_members(members, value, op);
}

}  // namespace detail

PORTER_LANE unsigned reduce_add_sync(unsigned mask, unsigned v) { return detail::reduced(mask, v, detail::Add()); }
PORTER_LANE unsigned reduce_min_sync(unsigned mask, unsigned v) { return detail::reduced(mask, v, detail::Min()); }
PORTER_LANE unsigned reduce_max_sync(unsigned mask, unsigned v) { return detail::reduced(mask, v, detail::Max()); }
PORTER_LANE unsigned reduce_and_sync(unsigned mask, unsigned v) { return detail::reduced(mask, v, detail::And()); }
PORTER_LANE unsigned reduce_or_sync(unsigned mask, unsigned v) { return detail::reduced(mask, v, detail::Or()); }
PORTER_LANE unsigned reduce_xor_sync(unsigned mask, unsigned v) { return detail::reduced(mask, v, detail::Xor()); }
PORTER_LANE int reduce_add_sync(unsigned mask, int v) {
  return static_cast<int>(reduce_add_sync(mask, static_cast<unsigned>(v)));
}
PORTER_LANE int reduce_min_sync(unsigned mask, int v) { return detail::reduced(mask, v, detail::Min()); }
PORTER_LANE int reduce_max_sync(unsigned mask, int v) { return detail::reduced(mask, v, detail::Max()); }

/// Orders the memory accesses of the lanes of a warp. Lanes of one wavefront run in lockstep, so this holds the
/// compiler back and costs no instruction.
PORTER_LANE void syncwarp(unsigned = detail::full_mask) {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
  __builtin_amdgcn_wave_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
}

}  // namespace porter

#undef PORTER_LANE
#undef PORTER_MAYBE_UNSET

#endif  // HIP
#endif  // PORTER_WARP32_HPP
