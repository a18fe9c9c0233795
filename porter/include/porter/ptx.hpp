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
PORTER_PTX s64 bfe(s64 a, u32 start, u32 length) {
  start &= 255u, length &= 255u;
  if (length == 0u) return 0;
  u32 const last = start + length - 1u < 63u ? start + length - 1u : 63u;
  u64 const sign = static_cast<u64>(a) >> last & 1u, low = length >= 64u ? ~0ull : (1ull << length) - 1u;
  u64 const field = shr(static_cast<u64>(a), start) & low;
  u64 const known = start > 63u ? 0u : 64u - start < length ? shr(~0ull, start) & low : low;
  return static_cast<s64>((field & known) | (sign ? ~known : 0u));
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
/// The modes of prmt: the low bits of the third operand say which bytes.
PORTER_PTX u32 selected_bytes(u64 bytes, u32 first, u32 second, u32 third, u32 fourth) {
  return static_cast<u32>((bytes >> 8u * first & 255u) | (bytes >> 8u * second & 255u) << 8 |
                          (bytes >> 8u * third & 255u) << 16 | (bytes >> 8u * fourth & 255u) << 24);
}
PORTER_PTX u32 prmt_f4e(u32 a, u32 b, u32 c) {
  c &= 3u;
  return selected_bytes(static_cast<u64>(b) << 32 | a, c, c + 1u, c + 2u, c + 3u);
}
PORTER_PTX u32 prmt_b4e(u32 a, u32 b, u32 c) {
  c &= 3u;
  return selected_bytes(static_cast<u64>(b) << 32 | a, c, (c + 7u) & 7u, (c + 6u) & 7u, (c + 5u) & 7u);
}
PORTER_PTX u32 prmt_rc8(u32 a, u32, u32 c) { return selected_bytes(a, c & 3u, c & 3u, c & 3u, c & 3u); }
PORTER_PTX u32 prmt_ecl(u32 a, u32, u32 c) {
  c &= 3u;
  return selected_bytes(a, c, c > 1u ? c : 1u, c > 2u ? c : 2u, 3u);
}
PORTER_PTX u32 prmt_ecr(u32 a, u32, u32 c) {
  c &= 3u;
  return selected_bytes(a, 0u, c < 1u ? c : 1u, c < 2u ? c : 2u, c);
}
PORTER_PTX u32 prmt_rc16(u32 a, u32, u32 c) {
  c = 2u * (c & 1u);
  return selected_bytes(a, c, c + 1u, c, c + 1u);
}
/// The highest bit that is not the sign's; all ones if there is none.
PORTER_PTX u32 bfind(u32 a) { return a ? 31u - static_cast<u32>(__builtin_clz(a)) : ~0u; }
PORTER_PTX u32 bfind(u64 a) { return a ? 63u - static_cast<u32>(__builtin_clzll(a)) : ~0u; }
PORTER_PTX u32 bfind(s32 a) { return bfind(static_cast<u32>(a < 0 ? ~a : a)); }
PORTER_PTX u32 bfind(s64 a) { return bfind(static_cast<u64>(a < 0 ? ~a : a)); }
template <class T> PORTER_PTX u32 bfind_shiftamt(T a) {
  u32 const place = bfind(a);
  return place == ~0u ? place : 8u * sizeof(T) - 1u - place;
}
template <class T> PORTER_PTX T sad(T a, T b, T c) {
  u64 const up = static_cast<u64>(a) - static_cast<u64>(b);
  return static_cast<T>(static_cast<u64>(c) + (a < b ? 0u - up : up));
}
PORTER_PTX u32 mul24_lo(u32 a, u32 b) { return (a & 0xffffffu) * (b & 0xffffffu); }
PORTER_PTX s32 mul24_lo(s32 a, s32 b) { return static_cast<s32>(static_cast<u32>(a << 8 >> 8) * static_cast<u32>(b << 8 >> 8)); }
PORTER_PTX u32 mul24_hi(u32 a, u32 b) { return static_cast<u32>(static_cast<u64>(a & 0xffffffu) * (b & 0xffffffu) >> 16); }
PORTER_PTX s32 mul24_hi(s32 a, s32 b) { return static_cast<s32>(static_cast<s64>(a << 8 >> 8) * (b << 8 >> 8) >> 16); }
PORTER_PTX u32 bmsk_clamp(u32 a, u32 b) {
  u32 const mask = b >= 32u ? ~0u : (1u << b) - 1u;
  return shl(mask, a);
}
PORTER_PTX u32 bmsk_wrap(u32 a, u32 b) { return ((1u << (b & 31u)) - 1u) << (a & 31u); }
PORTER_PTX u32 szext_clamp(u32 a, u32 n) { return n >= 32u ? a : a & ((1u << n) - 1u); }
PORTER_PTX u32 szext_wrap(u32 a, u32 n) { return szext_clamp(a, n & 31u); }
PORTER_PTX s32 szext_clamp(s32 a, u32 n) {
  return n == 0u ? 0 : n >= 32u ? a : static_cast<s32>(static_cast<u32>(a) << (32u - n)) >> (32u - n);
}
PORTER_PTX s32 szext_wrap(s32 a, u32 n) { return szext_clamp(a, n & 31u); }
template <class T> PORTER_PTX bool is_finite(T a) { return __builtin_isfinite(a); }
template <class T> PORTER_PTX bool is_infinite(T a) { return __builtin_isinf(a); }
template <class T> PORTER_PTX bool is_number(T a) { return !__builtin_isnan(a); }
template <class T> PORTER_PTX bool is_notanumber(T a) { return __builtin_isnan(a); }
template <class T> PORTER_PTX bool is_normal(T a) { return __builtin_isnormal(a); }
template <class T> PORTER_PTX bool is_subnormal(T a) { return __builtin_isfinite(a) && a != 0 && !__builtin_isnormal(a); }
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
template <class T> PORTER_PTX T carry_addc_cc(T a, T b, bool& carry) {
  T const part = a + b;
  T const sum = part + (carry ? 1u : 0u);
  carry = part < a || sum < part;
  return sum;
}
template <class T> PORTER_PTX T carry_subc_cc(T a, T b, bool& borrow) {
  T const part = a - b;
  T const difference = part - (borrow ? 1u : 0u);
  borrow = a < b || part < (borrow ? 1u : 0u);
  return difference;
}
template <class T> PORTER_PTX T carry_add_cc(T a, T b, bool& carry) { return carry = false, carry_addc_cc(a, b, carry); }
template <class T> PORTER_PTX T carry_sub_cc(T a, T b, bool& borrow) { return borrow = false, carry_subc_cc(a, b, borrow); }
template <class T> PORTER_PTX T carry_addc(T a, T b, bool carry) { return a + b + (carry ? 1u : 0u); }
template <class T> PORTER_PTX T carry_subc(T a, T b, bool borrow) { return a - b - (borrow ? 1u : 0u); }

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
template <class A, class B> PORTER_PTX s32 mixed_dot4(u32 a, u32 b, s32 sum) {
#pragma unroll
  for (int i = 0; i < 4; ++i) sum += static_cast<s32>(static_cast<A>(a >> (8 * i))) * static_cast<B>(b >> (8 * i));
  return sum;
}
PORTER_PTX s32 dp4a_u32_s32(u32 a, u32 b, s32 c) { return mixed_dot4<unsigned char, signed char>(a, b, c); }
PORTER_PTX s32 dp4a_s32_u32(u32 a, u32 b, s32 c) { return mixed_dot4<signed char, unsigned char>(a, b, c); }
template <class A, class B> PORTER_PTX u32 dp2a(u32 a, u32 b, u32 c) {
  s32 const low = static_cast<s32>(static_cast<A>(a)) * static_cast<B>(b);
  s32 const high = static_cast<s32>(static_cast<A>(a >> 16)) * static_cast<B>(b >> 8);
  return c + static_cast<u32>(low) + static_cast<u32>(high);
}

// Video instructions on halves and bytes: parts that are signed or not, each one or saturated or summed up.
template <int Bits, bool Signed> struct lane_of_word {
  static PORTER_PTX s64 part(u32 word, int i) {
    u32 const value = word >> (Bits * i) & ((1u << Bits) - 1u);
    return Signed && value >> (Bits - 1) ? static_cast<s64>(value) - (1ll << Bits) : static_cast<s64>(value);
  }
  static PORTER_PTX s64 clamp(s64 a) {
    return Signed ? within(a, -(1ll << (Bits - 1)), (1ll << (Bits - 1)) - 1) : within(a, 0, (1ll << Bits) - 1);
  }
  static constexpr int bits = Bits;
};
using lane_u8 = lane_of_word<8, false>;
using lane_s8 = lane_of_word<8, true>;
using lane_u16 = lane_of_word<16, false>;
using lane_s16 = lane_of_word<16, true>;
struct do_vadd { PORTER_PTX s64 operator()(s64 a, s64 b) const { return a + b; } };
struct do_vsub { PORTER_PTX s64 operator()(s64 a, s64 b) const { return a - b; } };
struct do_vavrg { PORTER_PTX s64 operator()(s64 a, s64 b) const { return (a + b + (a + b >= 0 ? 1 : 0)) >> 1; } };
struct do_vabsdiff { PORTER_PTX s64 operator()(s64 a, s64 b) const { return vabsdiff(a, b); } };
struct do_vmin { PORTER_PTX s64 operator()(s64 a, s64 b) const { return vmin(a, b); } };
struct do_vmax { PORTER_PTX s64 operator()(s64 a, s64 b) const { return vmax(a, b); } };
#define PORTER_VSET(name, op) \
  struct do_vset_##name { PORTER_PTX s64 operator()(s64 a, s64 b) const { return a op b ? 1 : 0; } };
PORTER_VSET(eq, ==)
PORTER_VSET(ne, !=)
PORTER_VSET(lt, <)
PORTER_VSET(le, <=)
PORTER_VSET(gt, >)
PORTER_VSET(ge, >=)
#undef PORTER_VSET
template <class To, class A, class B, bool Saturate, bool Add, class Op> PORTER_PTX u32 video_lanes(u32 a, u32 b, u32 c, Op op) {
  u32 result = Add ? c : 0u, mask = (1u << To::bits) - 1u;
#pragma unroll
  for (int i = 0; i < 32 / To::bits; ++i) {
    s64 value = op(A::part(a, i), B::part(b, i));
    if (Saturate) value = To::clamp(value);
    if (Add) result += static_cast<u32>(value);
    else result |= (static_cast<u32>(value) & mask) << (To::bits * i);
  }
  return result;
}

// By name, as in porter/bits.hpp: clang before 20 takes wrong bytes for sums that it finds itself.
#if defined(__gfx906__) || defined(__gfx908__) || defined(__gfx90a__) || defined(__gfx940__) || defined(__gfx941__) || \
    defined(__gfx942__) || defined(__gfx950__)
PORTER_PTX u32 dp4a_u32(u32 a, u32 b, u32 c) { return __builtin_amdgcn_udot4(a, b, c, false); }
PORTER_PTX s32 dp4a_s32(u32 a, u32 b, s32 c) {
  return __builtin_amdgcn_sdot4(static_cast<s32>(a), static_cast<s32>(b), c, false);
}
#else
PORTER_PTX u32 dp4a_u32(u32 a, u32 b, u32 c) { return dot4(a, b, c, static_cast<unsigned char>(0)); }
PORTER_PTX s32 dp4a_s32(u32 a, u32 b, s32 c) { return dot4(a, b, c, static_cast<signed char>(0)); }
#endif

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
/// Of a number and a NaN the number; -0 is below 0.
template <bool larger> PORTER_PTX unsigned short extreme_bf16(unsigned short a, unsigned short b) {
  float const x = f32_from_bf16(a), y = f32_from_bf16(b);
  if (x != x) return y != y ? static_cast<unsigned short>(0x7fff) : b;
  if (y != y) return a;
  if (x == y) return larger ? (a & b) : (a | b);
  return (x < y) != larger ? a : b;
}
PORTER_PTX unsigned short min_bf16(unsigned short a, unsigned short b) { return extreme_bf16<false>(a, b); }
PORTER_PTX unsigned short max_bf16(unsigned short a, unsigned short b) { return extreme_bf16<true>(a, b); }
PORTER_PTX u32 min_bf16x2(u32 a, u32 b) { return both_halves(a, b, min_bf16); }
PORTER_PTX u32 max_bf16x2(u32 a, u32 b) { return both_halves(a, b, max_bf16); }
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
PORTER_PTX unsigned short ex2_bf16(unsigned short a) { return bf16_from_f32(exp2f(f32_from_bf16(a))); }
PORTER_PTX unsigned short tanh_bf16(unsigned short a) { return bf16_from_f32(tanhf(f32_from_bf16(a))); }
template <class Op> PORTER_PTX u32 each_half(u32 a, Op op) {
  return static_cast<u32>(op(static_cast<unsigned short>(a >> 16))) << 16 | op(static_cast<unsigned short>(a));
}
PORTER_PTX u32 ex2_bf16x2(u32 a) { return each_half(a, ex2_bf16); }
PORTER_PTX u32 tanh_bf16x2(u32 a) { return each_half(a, tanh_bf16); }
/// `.relu`: not below 0, NaN the one NaN. `.sat`: to [0, 1], NaN 0.
PORTER_PTX unsigned short relu_f16(unsigned short a) { return (a & 0x7fffu) > 0x7c00u ? 0x7fffu : a & 0x8000u ? 0u : a; }
PORTER_PTX unsigned short relu_bf16(unsigned short a) { return (a & 0x7fffu) > 0x7f80u ? 0x7fffu : a & 0x8000u ? 0u : a; }
PORTER_PTX unsigned short sat_f16(unsigned short a) {
  return (a & 0x8000u) || (a & 0x7fffu) > 0x7c00u ? 0u : a > 0x3c00u ? 0x3c00u : a;
}
PORTER_PTX unsigned short sat_bf16(unsigned short a) {
  return (a & 0x8000u) || (a & 0x7fffu) > 0x7f80u ? 0u : a > 0x3f80u ? 0x3f80u : a;
}
PORTER_PTX u32 relu_f16x2(u32 a) { return each_half(a, relu_f16); }
PORTER_PTX u32 relu_bf16x2(u32 a) { return each_half(a, relu_bf16); }
PORTER_PTX u32 sat_f16x2(u32 a) { return each_half(a, sat_f16); }
PORTER_PTX u32 sat_bf16x2(u32 a) { return each_half(a, sat_bf16); }
/// min and max with `.NaN` (of a NaN NaN) and `.xorsign.abs` (of the magnitudes; the signs are multiplied).
template <bool larger, bool keeps_nan, bool crosses> PORTER_PTX float extreme_of_f32(float a, float b) {
  u32 const sign = (bits<u32>(a) ^ bits<u32>(b)) & 0x80000000u;
  if (crosses) a = fabsf(a), b = fabsf(b);
  bool const a_nan = a != a, b_nan = b != b;
  if ((a_nan && b_nan) || (keeps_nan && (a_nan || b_nan))) return bits<float>(0x7fffffffu);
  float result = (a < b) != larger ? a : b;
  if (a_nan) result = b;
  if (b_nan) result = a;
  if (a == b) result = bits<float>(larger ? bits<u32>(a) & bits<u32>(b) : bits<u32>(a) | bits<u32>(b));
  return crosses ? bits<float>((bits<u32>(result) & 0x7fffffffu) | sign) : result;
}
template <bool larger, bool keeps_nan, bool crosses> PORTER_PTX unsigned short extreme_of_f16(unsigned short a, unsigned short b) {
  float const found = extreme_of_f32<larger, keeps_nan, crosses>(f32_from_f16(a), f32_from_f16(b));
  return found != found ? static_cast<unsigned short>(0x7fffu) : f16_from_f32(found);
}
template <bool larger, bool keeps_nan, bool crosses> PORTER_PTX unsigned short extreme_of_bf16(unsigned short a, unsigned short b) {
  return bf16_from_f32(extreme_of_f32<larger, keeps_nan, crosses>(f32_from_bf16(a), f32_from_bf16(b)));
}
template <bool larger, bool keeps_nan, bool crosses> PORTER_PTX u32 extreme_of_f16x2(u32 a, u32 b) {
  return both_halves(a, b, extreme_of_f16<larger, keeps_nan, crosses>);
}
template <bool larger, bool keeps_nan, bool crosses> PORTER_PTX u32 extreme_of_bf16x2(u32 a, u32 b) {
  return both_halves(a, b, extreme_of_bf16<larger, keeps_nan, crosses>);
}
/// A half by one rounding: to nearest even, to zero, down (`m`) or up (`p`).
template <char mode> PORTER_PTX unsigned short f16_rounded(double x) {
  u64 const word = bits<u64>(x);
  u32 const sign = static_cast<u32>(word >> 48) & 0x8000u;
  bool const away = mode == 'p' ? sign == 0u : mode == 'm' && sign != 0u;
  if (x != x) return 0x7fffu;
  s32 const exponent = static_cast<s32>(word >> 52 & 2047u) - 1023;
  if (exponent > 15) {
    bool const infinite = exponent == 1024 || mode == 'n' || away;
    return static_cast<unsigned short>(sign | (infinite ? 0x7c00u : 0x7bffu));
  }
  u64 const mantissa = (word & 0xfffffffffffffull) | (exponent == -1023 ? 0ull : 1ull << 52);
  s32 const shift = exponent < -14 ? (28 - exponent < 63 ? 28 - exponent : 63) : 42;
  u64 const rest = mantissa & ((1ull << shift) - 1ull), half = 1ull << (shift - 1);
  u32 kept = static_cast<u32>(mantissa >> shift);
  bool const up = mode == 'n' ? rest > half || (rest == half && (kept & 1u)) : away && rest != 0ull;
  if (exponent >= -14) kept += static_cast<u32>(exponent + 14) << 10;
  return static_cast<unsigned short>(sign | (kept + (up ? 1u : 0u)));
}
PORTER_PTX unsigned short bf16_truncated(float a) {
  u32 const word = bits<u32>(a);
  return (word & 0x7fffffffu) > 0x7f800000u ? 0x7fffu : static_cast<unsigned short>(word >> 16);
}
/// An 8-bit float as OCP has them: to nearest even, what is too large the largest.
template <int mantissa_bits, int bias, u32 largest, bool relu> PORTER_PTX u32 f8_from_f32(float x) {
  u32 const word = bits<u32>(x), sign = word >> 24 & 128u, magnitude = word & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return 127u;
  if (relu && sign) return 0u;
  s32 const exponent = static_cast<s32>(magnitude >> 23) - 127;
  u32 const mantissa = (magnitude & 0x7fffffu) | (magnitude >> 23 ? 0x800000u : 0u);
  s32 const below = exponent < 1 - bias ? 1 - bias - exponent : 0;
  s32 const shift = 23 - mantissa_bits + below < 31 ? 23 - mantissa_bits + below : 31;
  u32 const rest = mantissa & ((1u << shift) - 1u), half = 1u << (shift - 1);
  u32 kept = mantissa >> shift;
  bool const up = rest > half || (rest == half && (kept & 1u));
  if (!below) kept += static_cast<u32>(exponent + bias - 1) << mantissa_bits;
  kept += up ? 1u : 0u;
  return sign | (kept > largest ? largest : kept);
}
PORTER_PTX unsigned short f16_from_e4m3(u32 a) {
  u32 const sign = (a & 128u) << 8, magnitude = a & 127u;
  if (magnitude == 127u) return 0x7fffu;
  if (magnitude >= 8u) return static_cast<unsigned short>(sign | ((magnitude << 7) + 0x2000u));
  return static_cast<unsigned short>(sign | f16_from_f32(static_cast<float>(magnitude) * 0x1p-9f));
}
PORTER_PTX unsigned short f16_from_e5m2(u32 a) {
  return (a & 127u) > 124u ? static_cast<unsigned short>(0x7fffu) : static_cast<unsigned short>(a << 8);
}
PORTER_PTX u32 f16x2_from_e4m3x2(unsigned short a) {
  return static_cast<u32>(f16_from_e4m3(a >> 8u)) << 16 | f16_from_e4m3(a & 255u);
}
PORTER_PTX u32 f16x2_from_e5m2x2(unsigned short a) {
  return static_cast<u32>(f16_from_e5m2(a >> 8u)) << 16 | f16_from_e5m2(a & 255u);
}
/// Between integers: the nearest that the type has.
template <class To, class From> PORTER_PTX To saturated(From a) {
  constexpr bool to_signed = To(-1) < To(0), from_signed = From(-1) < From(0);
  constexpr To lowest = to_signed ? static_cast<To>(u64(1) << (8 * sizeof(To) - 1)) : To(0);
  constexpr To highest = static_cast<To>(~lowest);
  if (from_signed && a < From(0)) {
    if (!to_signed) return To(0);
    return static_cast<s64>(a) < static_cast<s64>(lowest) ? lowest : static_cast<To>(a);
  }
  return static_cast<u64>(a) > static_cast<u64>(highest) ? highest : static_cast<To>(a);
}
/// A whole number in floating point: saturated, NaN 0, or the highest bit alone of 64 bits and from a double.
template <class To, class From> PORTER_PTX To to_integer(From x) {
  constexpr bool is_signed = To(-1) < To(0);
  constexpr int bits = 8 * static_cast<int>(sizeof(To));
  constexpr To top = static_cast<To>(u64(1) << (bits - 1)), lowest = is_signed ? top : To(0);
  From const end = static_cast<From>(is_signed ? 0x1p63 : 0x1p64) / static_cast<From>(bits == 64 ? 1.0 : 0x1p64 / (1ull << bits));
  if (x != x) return sizeof(To) == 8 || sizeof(From) == 8 ? top : To(0);
  if (x >= end) return static_cast<To>(~lowest);
  return x < (is_signed ? -end : From(0)) ? lowest : static_cast<To>(x);
}
/// `.sat` of floating-point numbers: to [0, 1], NaN 0.
template <class T> PORTER_PTX T within_one(T a) { return a > T(0) ? (a < T(1) ? a : T(1)) : T(0); }
/// Rounds to TF32's ten bits of mantissa, ties away from zero.
PORTER_PTX u32 tf32_from_f32(float a) {
  u32 const word = bits<u32>(a);
  return (word & 0x7f800000u) == 0x7f800000u ? word : (word + 0x1000u) & ~0x1fffu;
}
/// To the nearest, of two the even one, or towards zero; with `relu` nothing is below zero, and NaN stays NaN.
template <bool nearest, bool relu> PORTER_PTX u32 tf32_rounded(float a) {
  u32 const word = bits<u32>(a);
  if ((word & 0x7fffffffu) > 0x7f800000u) return 0x7fffffffu;
  if (relu && word >> 31) return 0u;
  if ((word & 0x7f800000u) == 0x7f800000u || !nearest) return word & ~0x1fffu;
  return (word + 0xfffu + (word >> 13 & 1u)) & ~0x1fffu;
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
