// What PTX instructions do, for inline assembly that was rewritten. SPDX-License-Identifier: Apache-2.0
#ifndef PORTER_PTX_HPP
#define PORTER_PTX_HPP

#include "warp32.hpp"

#if defined(__HIP__) || defined(__HIPCC__)

#include <hip/hip_fp16.h>

#define PORTER_PTX __device__ inline __attribute__((always_inline))

namespace porter {
namespace ptx {

using u32 = unsigned;
using s32 = int;
using u64 = unsigned long long;
using s64 = long long;

template <class To, class From> PORTER_PTX To bits(From from) {
  static_assert(sizeof(To) == sizeof(From), "as wide as each other");
  To to;
  __builtin_memcpy(&to, &from, sizeof(To));
  return to;
}

// Shifts by more than the width give 0 or the sign, as in PTX.
/// Comparisons that are false of a NaN.
template <class T> PORTER_PTX bool differ(T a, T b) { return a < b || a > b; }
template <class T> PORTER_PTX bool ordered(T a, T b) { return a == a && b == b; }

PORTER_PTX u32 shl(u32 a, u32 b) { return b < 32u ? a << b : 0u; }
PORTER_PTX u64 shl(u64 a, u32 b) { return b < 64u ? a << b : 0u; }
PORTER_PTX u32 shr(u32 a, u32 b) { return b < 32u ? a >> b : 0u; }
PORTER_PTX u64 shr(u64 a, u32 b) { return b < 64u ? a >> b : 0u; }
PORTER_PTX s32 shr(s32 a, u32 b) { return a >> (b < 31u ? b : 31u); }
PORTER_PTX s64 shr(s64 a, u32 b) { return a >> (b < 63u ? b : 63u); }

PORTER_PTX u32 bfe(u32 a, u32 start, u32 length) {
  start &= 255u, length &= 255u;
  return length >= 32u ? shr(a, start) : shr(a, start) & ((1u << length) - 1u);
}
PORTER_PTX u64 bfe(u64 a, u32 start, u32 length) {
  start &= 255u, length &= 255u;
  return length >= 64u ? shr(a, start) : shr(a, start) & ((1ull << length) - 1u);
}
PORTER_PTX s32 bfe(s32 a, u32 start, u32 length) {
  start &= 255u, length &= 255u;
  if (length == 0u) return 0;
  u32 const last = start + length - 1u < 31u ? start + length - 1u : 31u;
  u32 const sign = static_cast<u32>(a) >> last & 1u;
  u32 const low = length >= 32u ? ~0u : (1u << length) - 1u;
  u32 const field = shr(static_cast<u32>(a), start) & low;
  u32 const known = start > 31u ? 0u : 32u - start < length ? shr(~0u, start) & low : low;
  return static_cast<s32>((field & known) | (sign ? ~known : 0u));
}
PORTER_PTX u32 bfi(u32 field, u32 into, u32 start, u32 length) {
  start &= 255u, length &= 255u;
  u32 const mask = shl(length >= 32u ? ~0u : (1u << length) - 1u, start);
  return (into & ~mask) | (shl(field, start) & mask);
}
PORTER_PTX u64 bfi(u64 field, u64 into, u32 start, u32 length) {
  start &= 255u, length &= 255u;
  u64 const mask = shl(length >= 64u ? ~0ull : (1ull << length) - 1u, start);
  return (into & ~mask) | (shl(field, start) & mask);
}
/// Bit 3 of a selector replicates the sign of the byte.
PORTER_PTX u32 prmt(u32 a, u32 b, u32 selectors) {
  u64 const bytes = static_cast<u64>(b) << 32 | a;
  u32 result = 0u;
#pragma unroll
  for (u32 i = 0u; i < 4u; ++i) {
    u32 const selector = selectors >> (4u * i) & 15u;
    u32 const byte = static_cast<u32>(bytes >> (8u * (selector & 7u))) & 255u;
    result |= (selector & 8u ? (byte & 128u ? 255u : 0u) : byte) << (8u * i);
  }
  return result;
}
template <unsigned Table> PORTER_PTX u32 lop3(u32 a, u32 b, u32 c) {
  u32 result = 0u;
  if (Table & 0x01u) result |= ~a & ~b & ~c;
  if (Table & 0x02u) result |= ~a & ~b & c;
  if (Table & 0x04u) result |= ~a & b & ~c;
  if (Table & 0x08u) result |= ~a & b & c;
  if (Table & 0x10u) result |= a & ~b & ~c;
  if (Table & 0x20u) result |= a & ~b & c;
  if (Table & 0x40u) result |= a & b & ~c;
  if (Table & 0x80u) result |= a & b & c;
  return result;
}
/// shf.l and shf.r: the 64 bits hi:lo shifted, one half of the result.
PORTER_PTX u32 shf_l_wrap(u32 lo, u32 hi, u32 by) {
  return static_cast<u32>((static_cast<u64>(hi) << 32 | lo) << (by & 31u) >> 32);
}
PORTER_PTX u32 shf_l_clamp(u32 lo, u32 hi, u32 by) {
  return by >= 32u ? lo : static_cast<u32>((static_cast<u64>(hi) << 32 | lo) << by >> 32);
}
PORTER_PTX u32 shf_r_wrap(u32 lo, u32 hi, u32 by) {
  return static_cast<u32>((static_cast<u64>(hi) << 32 | lo) >> (by & 31u));
}
PORTER_PTX u32 shf_r_clamp(u32 lo, u32 hi, u32 by) {
  return by >= 32u ? hi : static_cast<u32>((static_cast<u64>(hi) << 32 | lo) >> by);
}

// Sums that take a carry from the instruction before and give one to the next.
template <class T> PORTER_PTX T addc_cc(T a, T b, bool& carry) {
  T const part = a + b;
  T const sum = part + (carry ? 1u : 0u);
  carry = part < a || sum < part;
  return sum;
}
template <class T> PORTER_PTX T subc_cc(T a, T b, bool& borrow) {
  T const part = a - b;
  T const difference = part - (borrow ? 1u : 0u);
  borrow = a < b || part < (borrow ? 1u : 0u);
  return difference;
}
template <class T> PORTER_PTX T add_cc(T a, T b, bool& carry) { return carry = false, addc_cc(a, b, carry); }
template <class T> PORTER_PTX T sub_cc(T a, T b, bool& borrow) { return borrow = false, subc_cc(a, b, borrow); }
template <class T> PORTER_PTX T addc(T a, T b, bool carry) { return a + b + (carry ? 1u : 0u); }
template <class T> PORTER_PTX T subc(T a, T b, bool borrow) { return a - b - (borrow ? 1u : 0u); }

// Video instructions: a part of a register as a number, what is done to it, and where it goes.
PORTER_PTX s64 part_u8(u32 a, u32 shift) { return a >> shift & 255u; }
PORTER_PTX s64 part_s8(u32 a, u32 shift) { return static_cast<signed char>(a >> shift); }
PORTER_PTX s64 part_u16(u32 a, u32 shift) { return a >> shift & 65535u; }
PORTER_PTX s64 part_s16(u32 a, u32 shift) { return static_cast<short>(a >> shift); }
PORTER_PTX s64 part_u32(u32 a, u32) { return a; }
PORTER_PTX s64 part_s32(u32 a, u32) { return static_cast<s32>(a); }
PORTER_PTX s64 vadd(s64 a, s64 b) { return a + b; }
PORTER_PTX s64 vsub(s64 a, s64 b) { return a - b; }
/// Not `a < b ? b - a : a - b`, of which clang 19 makes `b - a` for gfx9 where the numbers are small.
PORTER_PTX s64 vabsdiff(s64 a, s64 b) { return a - b < 0 ? -(a - b) : a - b; }
PORTER_PTX s64 vmin(s64 a, s64 b) { return a < b ? a : b; }
PORTER_PTX s64 vmax(s64 a, s64 b) { return a < b ? b : a; }
PORTER_PTX s64 vshl_wrap(s64 a, s64 by) { return static_cast<s64>(static_cast<u64>(a) << (by & 31)); }
PORTER_PTX s64 vshl_clamp(s64 a, s64 by) { return static_cast<s64>(static_cast<u64>(a) << (by > 32 ? 32 : by)); }
PORTER_PTX s64 vshr_wrap(s64 a, s64 by) { return a >> (by & 31); }
PORTER_PTX s64 vshr_clamp(s64 a, s64 by) { return a >> (by > 32 ? 32 : by); }
PORTER_PTX s64 within(s64 a, s64 low, s64 high) { return a < low ? low : a > high ? high : a; }
PORTER_PTX s64 clamp_u8(s64 a) { return within(a, 0, 255); }
PORTER_PTX s64 clamp_s8(s64 a) { return within(a, -128, 127); }
PORTER_PTX s64 clamp_u16(s64 a) { return within(a, 0, 65535); }
PORTER_PTX s64 clamp_s16(s64 a) { return within(a, -32768, 32767); }
PORTER_PTX s64 clamp_u32(s64 a) { return within(a, 0, 0xffffffffll); }
PORTER_PTX s64 clamp_s32(s64 a) { return within(a, -0x80000000ll, 0x7fffffffll); }
PORTER_PTX u32 merged(u32 part, u32 into, u32 mask, u32 shift) {
  return (into & ~(mask << shift)) | (part & mask) << shift;
}

template <class A, class B> PORTER_PTX A dot4(u32 a, u32 b, A sum, B) {
#pragma unroll
  for (int i = 0; i < 4; ++i)
    sum += static_cast<A>(static_cast<B>(a >> (8 * i))) * static_cast<A>(static_cast<B>(b >> (8 * i)));
  return sum;
}
PORTER_PTX u32 dp4a_u32(u32 a, u32 b, u32 c) { return dot4(a, b, c, static_cast<unsigned char>(0)); }
PORTER_PTX s32 dp4a_s32(u32 a, u32 b, s32 c) { return dot4(a, b, c, static_cast<signed char>(0)); }

// Approximations of the same kind; the last bits differ from NVIDIA's.
PORTER_PTX float ex2(float x) { return exp2f(x); }
PORTER_PTX float lg2(float x) { return log2f(x); }
PORTER_PTX float rcp(float x) { return __builtin_amdgcn_rcpf(x); }
PORTER_PTX double rcp(double x) { return 1.0 / x; }
PORTER_PTX float rsqrt(float x) { return __builtin_amdgcn_rsqf(x); }
PORTER_PTX double rsqrt(double x) { return 1.0 / sqrt(x); }

// Packed half arithmetic on 32-bit registers.
PORTER_PTX u32 add_f16x2(u32 a, u32 b) { return bits<u32>(__hadd2(bits<__half2>(a), bits<__half2>(b))); }
PORTER_PTX u32 sub_f16x2(u32 a, u32 b) { return bits<u32>(__hsub2(bits<__half2>(a), bits<__half2>(b))); }
PORTER_PTX u32 mul_f16x2(u32 a, u32 b) { return bits<u32>(__hmul2(bits<__half2>(a), bits<__half2>(b))); }
PORTER_PTX u32 fma_f16x2(u32 a, u32 b, u32 c) {
  return bits<u32>(__hfma2(bits<__half2>(a), bits<__half2>(b), bits<__half2>(c)));
}
PORTER_PTX unsigned short add_f16(unsigned short a, unsigned short b) {
  return bits<unsigned short>(static_cast<_Float16>(bits<_Float16>(a) + bits<_Float16>(b)));
}
PORTER_PTX unsigned short sub_f16(unsigned short a, unsigned short b) {
  return bits<unsigned short>(static_cast<_Float16>(bits<_Float16>(a) - bits<_Float16>(b)));
}
PORTER_PTX unsigned short mul_f16(unsigned short a, unsigned short b) {
  return bits<unsigned short>(static_cast<_Float16>(bits<_Float16>(a) * bits<_Float16>(b)));
}
PORTER_PTX unsigned short fma_f16(unsigned short a, unsigned short b, unsigned short c) {
  return bits<unsigned short>(
      static_cast<_Float16>(__builtin_fmaf16(bits<_Float16>(a), bits<_Float16>(b), bits<_Float16>(c))));
}
PORTER_PTX unsigned short min_f16(unsigned short a, unsigned short b) {
  return bits<unsigned short>(static_cast<_Float16>(fminf(bits<_Float16>(a), bits<_Float16>(b))));
}
PORTER_PTX unsigned short max_f16(unsigned short a, unsigned short b) {
  return bits<unsigned short>(static_cast<_Float16>(fmaxf(bits<_Float16>(a), bits<_Float16>(b))));
}
template <class Op> PORTER_PTX u32 both_halves(u32 a, u32 b, Op op) {
  return static_cast<u32>(op(static_cast<unsigned short>(a >> 16), static_cast<unsigned short>(b >> 16))) << 16 |
         op(static_cast<unsigned short>(a), static_cast<unsigned short>(b));
}
// With `.rn` a sum or product is not fused with what comes next.
#define PORTER_ALONE(name, op)                                                                                         \
  PORTER_PTX unsigned short name##_rn_f16(unsigned short a, unsigned short b) {                                        \
    _Pragma("clang fp contract(off)") return bits<unsigned short>(                                                     \
        static_cast<_Float16>(bits<_Float16>(a) op bits<_Float16>(b)));                                                \
  }                                                                                                                    \
  PORTER_PTX u32 name##_rn_f16x2(u32 a, u32 b) { return both_halves(a, b, name##_rn_f16); }
PORTER_ALONE(add, +)
PORTER_ALONE(sub, -)
PORTER_ALONE(mul, *)
#undef PORTER_ALONE
PORTER_PTX u32 min_f16x2(u32 a, u32 b) { return both_halves(a, b, min_f16); }
PORTER_PTX u32 max_f16x2(u32 a, u32 b) { return both_halves(a, b, max_f16); }
PORTER_PTX float f32_from_f16(unsigned short a) { return static_cast<float>(bits<_Float16>(a)); }
PORTER_PTX unsigned short f16_from_f32(float a) { return bits<unsigned short>(static_cast<_Float16>(a)); }
PORTER_PTX u32 f16x2_from_f32(float high, float low) {
  return static_cast<u32>(f16_from_f32(high)) << 16 | f16_from_f32(low);
}
PORTER_PTX unsigned short bf16_from_f32(float a) {
  u32 const word = bits<u32>(a);
  if ((word & 0x7fffffffu) > 0x7f800000u) return 0x7fffu;
  return static_cast<unsigned short>((word + 0x7fffu + (word >> 16 & 1u)) >> 16);
}
PORTER_PTX u32 bf16x2_from_f32(float high, float low) {
  return static_cast<u32>(bf16_from_f32(high)) << 16 | bf16_from_f32(low);
}
PORTER_PTX float f32_from_bf16(unsigned short a) { return bits<float>(static_cast<u32>(a) << 16); }
/// Each half in float, rounded once.
PORTER_PTX u32 fma_bf16x2(u32 a, u32 b, u32 c) {
  float const low = fmaf(bits<float>(a << 16), bits<float>(b << 16), bits<float>(c << 16));
  u32 const top = 0xffff0000u;
  float const high = fmaf(bits<float>(a & top), bits<float>(b & top), bits<float>(c & top));
  return bf16x2_from_f32(high, low);
}
PORTER_PTX unsigned short add_bf16(unsigned short a, unsigned short b) {
  return bf16_from_f32(f32_from_bf16(a) + f32_from_bf16(b));
}
PORTER_PTX unsigned short sub_bf16(unsigned short a, unsigned short b) {
  return bf16_from_f32(f32_from_bf16(a) - f32_from_bf16(b));
}
PORTER_PTX unsigned short mul_bf16(unsigned short a, unsigned short b) {
  return bf16_from_f32(f32_from_bf16(a) * f32_from_bf16(b));
}
PORTER_PTX unsigned short fma_bf16(unsigned short a, unsigned short b, unsigned short c) {
  return bf16_from_f32(fmaf(f32_from_bf16(a), f32_from_bf16(b), f32_from_bf16(c)));
}
PORTER_PTX u32 add_bf16x2(u32 a, u32 b) { return both_halves(a, b, add_bf16); }
PORTER_PTX u32 sub_bf16x2(u32 a, u32 b) { return both_halves(a, b, sub_bf16); }
PORTER_PTX u32 mul_bf16x2(u32 a, u32 b) { return both_halves(a, b, mul_bf16); }
PORTER_PTX unsigned short ex2_f16(unsigned short a) { return f16_from_f32(exp2f(f32_from_f16(a))); }
PORTER_PTX unsigned short tanh_f16(unsigned short a) { return f16_from_f32(tanhf(f32_from_f16(a))); }
PORTER_PTX u32 ex2_f16x2(u32 a) {
  return static_cast<u32>(ex2_f16(static_cast<unsigned short>(a >> 16))) << 16 | ex2_f16(static_cast<unsigned short>(a));
}
PORTER_PTX u32 tanh_f16x2(u32 a) {
  return static_cast<u32>(tanh_f16(static_cast<unsigned short>(a >> 16))) << 16 | tanh_f16(static_cast<unsigned short>(a));
}
template <class T> PORTER_PTX T saturated(int a) {
  int const low = T(-1) < T(0) ? -(1 << (8 * sizeof(T) - 1)) : 0;
  int const high = T(-1) < T(0) ? (1 << (8 * sizeof(T) - 1)) - 1 : (1 << (8 * sizeof(T))) - 1;
  return static_cast<T>(a < low ? low : a > high ? high : a);
}
/// Rounds to TF32's ten bits of mantissa, ties away from zero.
PORTER_PTX u32 tf32_from_f32(float a) {
  u32 const word = bits<u32>(a);
  return (word & 0x7f800000u) == 0x7f800000u ? word : (word + 0x1000u) & ~0x1fffu;
}

// Shuffles as PTX writes them: `c` holds the segment mask and the clamp.
PORTER_PTX int width_of(u32 c) { return static_cast<int>(32u - (c >> 8 & 31u)); }
PORTER_PTX u32 shfl_idx(u32 a, u32 b, u32 c) { return shfl(a, static_cast<int>(b), width_of(c)); }
PORTER_PTX u32 shfl_up(u32 a, u32 b, u32 c) { return porter::shfl_up(a, b, width_of(c)); }
PORTER_PTX u32 shfl_down(u32 a, u32 b, u32 c) { return porter::shfl_down(a, b, width_of(c)); }
PORTER_PTX u32 shfl_bfly(u32 a, u32 b, u32 c) { return shfl_xor(a, static_cast<int>(b), width_of(c)); }
PORTER_PTX bool in_range_up(u32 b, u32 c) { return (lane_id() & ~(c >> 8 & 31u)) >= (b & 31u); }
PORTER_PTX bool in_range_down(u32 b, u32 c) {
  u32 const inner = 31u & ~(c >> 8);
  return (lane_id() & inner) + (b & 31u) <= inner;
}
PORTER_PTX bool in_range_bfly(u32 b, u32 c) {
  u32 const inner = 31u & ~(c >> 8);
  return (lane_id() ^ (b & 31u)) <= (lane_id() | inner);
}

/// cp.async: what lies beyond `given` bytes of the source is filled with zeros.
template <int Size> PORTER_PTX void cp_async(unsigned char* to, unsigned char const* from) {
  static_assert(Size == 4 || Size == 8 || Size == 16, "sizes that PTX has");
  typedef u32 words __attribute__((ext_vector_type(Size / 4)));
  *reinterpret_cast<words*>(to) = *reinterpret_cast<words const*>(from);
}
template <int Size> PORTER_PTX void cp_async(unsigned char* to, unsigned char const* from, u32 given) {
  if (given >= static_cast<u32>(Size)) return cp_async<Size>(to, from);
  for (u32 i = 0u; i < static_cast<u32>(Size); ++i) to[i] = i < given ? from[i] : static_cast<unsigned char>(0);
}

/// True for the lowest lane of the mask that is here.
PORTER_PTX bool elected(u32 mask) {
  return lane_id() == static_cast<u32>(__ffs(static_cast<int>(mask & activemask()))) - 1u;
}

}  // namespace ptx
}  // namespace porter

#undef PORTER_PTX

#endif  // HIP
#endif  // PORTER_PTX_HPP
