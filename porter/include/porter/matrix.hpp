// Products of small matrices within logical warps of 32 lanes: what wmma.hpp and mma.hpp are built on.
//
// The unit is one block of 4 x 4 results per quad of lanes: lane j of the quad holds column j of B and of the result,
// lane i of some quad of the same group holds row i of A. gfx908 and later do this with the MFMA instructions of 4 x 4
// blocks, whose data never leaves 16 lanes; elsewhere, lanes read A from each other and multiply.
//
// MFMA ignores EXEC: it writes the registers of lanes that are elsewhere, too, and the compiler may keep values of
// those lanes there. It is used only where every lane that the wavefront has is present (`whole_wave`): then there is
// nobody whose registers could suffer. Otherwise - the other half took another branch, left a loop earlier or returned -
// the lanes multiply themselves. Both ways add the same products; only the order of rounding may differ.
// SPDX-License-Identifier: Apache-2.0
#ifndef PORTER_MATRIX_HPP
#define PORTER_MATRIX_HPP

#include "warp32.hpp"

#if defined(__HIP__) || defined(__HIPCC__)

#include <hip/hip_fp16.h>

#define PORTER_MATRIX __device__ inline __attribute__((always_inline))

#if defined(__gfx90a__) || defined(__gfx940__) || defined(__gfx941__) || defined(__gfx942__) || defined(__gfx950__) || \
    defined(__gfx9_4_generic__)
#define PORTER_MFMA 2
#elif defined(__gfx908__)
#define PORTER_MFMA 1
#else
#define PORTER_MFMA 0
#endif

namespace porter {
namespace matrix {

using u32 = unsigned;
typedef u32 words2 __attribute__((ext_vector_type(2)));
typedef short short4_ __attribute__((ext_vector_type(4)));
typedef _Float16 half4_ __attribute__((ext_vector_type(4)));
typedef float float4_ __attribute__((ext_vector_type(4)));
typedef int int4_ __attribute__((ext_vector_type(4)));

template <class To, class From> PORTER_MATRIX To bits(From from) {
  static_assert(sizeof(To) == sizeof(From), "as wide as each other");
  To to;
  __builtin_memcpy(&to, &from, sizeof(To));
  return to;
}

/// Lanes of the caller's wavefront that exist at all; the last wavefront of a block may be shorter.
PORTER_MATRIX u32 lanes_of_wave() {
  u32 const threads = blockDim.x * blockDim.y * blockDim.z;
  u32 const thread = threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z);
  u32 const left = threads - (static_cast<u32>(__builtin_amdgcn_readfirstlane(static_cast<int>(thread))) & ~63u);
  return left < 64u ? left : 64u;
}

/// Whether no lane of the wavefront is elsewhere. The statement reads EXEC where it stands, which compilers before
/// LLVM 16 do not promise of a ballot; the result is the same for all lanes, and known to be, at any level of optimisation.
PORTER_MATRIX bool whole_wave() {
#if PORTER_MFMA
  unsigned long long here;
  asm volatile("s_mov_b64 %0, exec" : "=s"(here));
  bool const whole = here == ~0ull || static_cast<u32>(__builtin_popcountll(here)) == lanes_of_wave();
  return __builtin_amdgcn_readfirstlane(whole) != 0;
#else
  return false;
#endif
}

/// The word of lane `Lane` of each group of 4 << Cbsz lanes.
template <int Cbsz, int Lane> PORTER_MATRIX u32 of_group(u32 word) {
  return detail::swizzled<((31 & ~((4 << Cbsz) - 1)) | Lane << 5)>(word);
}
template <int Cbsz, int Lane> PORTER_MATRIX words2 of_group(words2 words) {
  return words2{of_group<Cbsz, Lane>(words.x), of_group<Cbsz, Lane>(words.y)};
}

// Kinds of elements. `Pack` is what a lane holds of A or B for one step along k, `step` elements; `matrix` is one step by
// MFMA, `dot` the same for one result.

struct F16 {
  using Pack = words2;
  using Sum = float4_;
  static constexpr int step = 4;
  template <int Cbsz, int Abid> static PORTER_MATRIX Sum matrix(Pack a, Pack b, Sum c) {
#if PORTER_MFMA
    return __builtin_amdgcn_mfma_f32_4x4x4f16(bits<half4_>(a), bits<half4_>(b), c, Cbsz, Abid, 0);
#else
    return (void)a, (void)b, c;
#endif
  }
  static PORTER_MATRIX float dot(Pack a, Pack b, float c) {
    half4_ const x = bits<half4_>(a), y = bits<half4_>(b);
#pragma unroll
    for (int k = 0; k < step; ++k) c = __builtin_fmaf(static_cast<float>(x[k]), static_cast<float>(y[k]), c);
    return c;
  }
};

struct BF16 {
  using Pack = words2;
  using Sum = float4_;
  static constexpr int step = 4;
  template <int Cbsz, int Abid> static PORTER_MATRIX Sum matrix(Pack a, Pack b, Sum c) {
#if PORTER_MFMA >= 2
    return __builtin_amdgcn_mfma_f32_4x4x4bf16_1k(bits<short4_>(a), bits<short4_>(b), c, Cbsz, Abid, 0);
#elif PORTER_MFMA
    Pack const low = a << 16u, high = a & 0xffff0000u, right_low = b << 16u, right_high = b & 0xffff0000u;
    c = __builtin_amdgcn_mfma_f32_4x4x1f32(bits<float>(low.x), bits<float>(right_low.x), c, Cbsz, Abid, 0);
    c = __builtin_amdgcn_mfma_f32_4x4x1f32(bits<float>(high.x), bits<float>(right_high.x), c, Cbsz, Abid, 0);
    c = __builtin_amdgcn_mfma_f32_4x4x1f32(bits<float>(low.y), bits<float>(right_low.y), c, Cbsz, Abid, 0);
    return __builtin_amdgcn_mfma_f32_4x4x1f32(bits<float>(high.y), bits<float>(right_high.y), c, Cbsz, Abid, 0);
#else
    return (void)a, (void)b, c;
#endif
  }
  static PORTER_MATRIX float dot(Pack a, Pack b, float c) {
    u32 const high = 0xffff0000u;
    c = __builtin_fmaf(bits<float>(a.x << 16), bits<float>(b.x << 16), c);
    c = __builtin_fmaf(bits<float>(a.x & high), bits<float>(b.x & high), c);
    c = __builtin_fmaf(bits<float>(a.y << 16), bits<float>(b.y << 16), c);
    return __builtin_fmaf(bits<float>(a.y & high), bits<float>(b.y & high), c);
  }
};

/// Multiplied as float: what TF32 would drop is kept.
struct TF32 {
  using Pack = u32;
  using Sum = float4_;
  static constexpr int step = 1;
  template <int Cbsz, int Abid> static PORTER_MATRIX Sum matrix(Pack a, Pack b, Sum c) {
#if PORTER_MFMA
    return __builtin_amdgcn_mfma_f32_4x4x1f32(bits<float>(a), bits<float>(b), c, Cbsz, Abid, 0);
#else
    return (void)a, (void)b, c;
#endif
  }
  static PORTER_MATRIX float dot(Pack a, Pack b, float c) { return __builtin_fmaf(bits<float>(a), bits<float>(b), c); }
};

/// Bytes, four to a word. MFMA knows signed ones: an unsigned byte is a signed one plus 128, and the sums of the other
/// factor that come with the 128 are made by multiplying it with ones.
template <class A, class B> struct Bytes {
  using Pack = u32;
  using Sum = int4_;
  static constexpr int step = 4;
  static constexpr bool unsigned_a = static_cast<A>(-1) > 0, unsigned_b = static_cast<B>(-1) > 0;

  template <int Cbsz, int Abid> static PORTER_MATRIX Sum matrix(Pack a, Pack b, Sum c) {
#if PORTER_MFMA
    u32 const ones = 0x01010101u, flip = 0x80808080u;
    a ^= unsigned_a ? flip : 0u, b ^= unsigned_b ? flip : 0u;
    c = signed_step<Cbsz, Abid>(a, b, c);
    if (!unsigned_a && !unsigned_b) return c;
    Sum rest = {0, 0, 0, 0};
    if (unsigned_b) rest = signed_step<Cbsz, Abid>(a, ones, rest);
    if (unsigned_a) rest = signed_step<Cbsz, Abid>(ones, b, rest);
    Sum const both = rest + (unsigned_a && unsigned_b ? 4 * 128 : 0);
    return bits<Sum>(bits<uint4_>(c) + (bits<uint4_>(both) << 7u));
#else
    return (void)a, (void)b, c;
#endif
  }
  static PORTER_MATRIX int dot(Pack a, Pack b, int c) {
    int sum = 0;
#pragma unroll
    for (int k = 0; k < step; ++k)
      sum += static_cast<int>(static_cast<A>(a >> 8 * k)) * static_cast<int>(static_cast<B>(b >> 8 * k));
    return static_cast<int>(static_cast<u32>(c) + static_cast<u32>(sum));
  }

 private:
  typedef u32 uint4_ __attribute__((ext_vector_type(4)));
#if PORTER_MFMA
  template <int Cbsz, int Abid> static PORTER_MATRIX Sum signed_step(u32 a, u32 b, Sum c) {
    return __builtin_amdgcn_mfma_i32_4x4x4i8(static_cast<int>(a), static_cast<int>(b), c, Cbsz, Abid, 0);
  }
#endif
};

/// One step of all blocks: A from quad `Abid` of each group of 1 << Cbsz quads.
template <class Kind, bool ByMatrix> struct Step {
  template <int Cbsz, int Abid>
  static PORTER_MATRIX typename Kind::Sum add(typename Kind::Pack a, typename Kind::Pack b, typename Kind::Sum c) {
    return Kind::template matrix<Cbsz, Abid>(a, b, c);
  }
};
template <class Kind> struct Step<Kind, false> {
  template <int Cbsz, int Abid>
  static PORTER_MATRIX typename Kind::Sum add(typename Kind::Pack a, typename Kind::Pack b, typename Kind::Sum c) {
    c[0] = Kind::dot(of_group<Cbsz, 4 * Abid + 0>(a), b, c[0]);
    c[1] = Kind::dot(of_group<Cbsz, 4 * Abid + 1>(a), b, c[1]);
    c[2] = Kind::dot(of_group<Cbsz, 4 * Abid + 2>(a), b, c[2]);
    c[3] = Kind::dot(of_group<Cbsz, 4 * Abid + 3>(a), b, c[3]);
    return c;
  }
};

/// Addition that stops at the ends of int.
PORTER_MATRIX int saturated_sum(int a, int b) {
  long long const sum = static_cast<long long>(a) + b;
  return sum > 0x7fffffffLL ? 0x7fffffff : sum < -0x80000000LL ? -0x7fffffff - 1 : static_cast<int>(sum);
}
PORTER_MATRIX int wrapped_sum(int a, int b) { return static_cast<int>(static_cast<u32>(a) + static_cast<u32>(b)); }

}  // namespace matrix
}  // namespace porter

#endif  // HIP
#endif  // PORTER_MATRIX_HPP
