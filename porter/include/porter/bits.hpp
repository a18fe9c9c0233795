// Integer intrinsics of CUDA that HIP lacks, or declares with another type or meaning.
//
// HIP's `__popc` and `__umul24` return the other signedness, which changes comparisons and divisions in the
// expression around them; its `__ffs` and `__ffsll` are ambiguous for `unsigned long` and 64-bit masks.
// SPDX-License-Identifier: Apache-2.0
#ifndef PORTER_BITS_HPP
#define PORTER_BITS_HPP

#if defined(__HIP__) || defined(__HIPCC__)
#include <hip/hip_runtime.h>
#define PORTER_BOTH __host__ __device__ inline
#else
#define PORTER_BOTH inline
#endif

namespace porter {

PORTER_BOTH int popc(unsigned x) { return __builtin_popcount(x); }
PORTER_BOTH int popcll(unsigned long long x) { return __builtin_popcountll(x); }

/// Place of the lowest set bit, counted from 1; 0 if there is none.
PORTER_BOTH int ffs(int x) { return __builtin_ffs(x); }
PORTER_BOTH int ffsll(long long x) { return __builtin_ffsll(x); }

// Averages and sums of differences without overflow in between; HIP's lose the carry.
PORTER_BOTH unsigned uhadd(unsigned a, unsigned b) { return (a & b) + ((a ^ b) >> 1); }
PORTER_BOTH unsigned urhadd(unsigned a, unsigned b) { return (a | b) - ((a ^ b) >> 1); }
PORTER_BOTH int rhadd(int a, int b) { return (a | b) - ((a ^ b) >> 1); }
PORTER_BOTH unsigned sad(int a, int b, unsigned sum) {
  unsigned const up = static_cast<unsigned>(a) - static_cast<unsigned>(b);
  return sum + (a > b ? up : 0u - up);
}

PORTER_BOTH unsigned short bswap16(unsigned short x) { return __builtin_bswap16(x); }
PORTER_BOTH unsigned bswap32(unsigned x) { return __builtin_bswap32(x); }
PORTER_BOTH unsigned long long bswap64(unsigned long long x) { return __builtin_bswap64(x); }

PORTER_BOTH unsigned umul24(unsigned a, unsigned b) { return (a & 0xffffffu) * (b & 0xffffffu); }

// Shifts with the counts of PTX: all bits or more leave nothing but the sign. AMD's hardware takes a count modulo
// the number of bits, so that `mask << (32 - lane)` in lane 0 would leave the mask as it is.

template <class T> PORTER_BOTH auto shift_left(T value, unsigned count) -> decltype(+value) {
  return count < 8u * sizeof(+value) ? (+value) << count : decltype(+value)(0);
}
template <class T> PORTER_BOTH auto shift_right(T value, unsigned count) -> decltype(+value) {
  unsigned const last = 8u * sizeof(+value) - 1u;
  return count <= last ? (+value) >> count : (+value) >> last >> 1;
}

/// The value, unknown to the compiler: clang divides an unsigned constant near 2^32 by a small number in 24 bits.
PORTER_BOTH unsigned opaque(unsigned value) {
#if defined(__HIP_DEVICE_COMPILE__)
  asm("" : "+v"(value));
#endif
  return value;
}

/// Place of the n-th set bit of `mask` from `base` on: upwards for n > 0, downwards for n < 0, `base` itself for 0;
/// 0xffffffff if there is none.
PORTER_BOTH unsigned fns(unsigned mask, unsigned base, int n) {
  unsigned const none = 0xffffffffu;
  if (base > 31u) return none;
  if (n == 0) return mask >> base & 1u ? base : none;
  if (n > 0) {
    mask &= none << base;
    for (; n > 1 && mask; --n) mask &= mask - 1u;
    return mask ? static_cast<unsigned>(__builtin_ctz(mask)) : none;
  }
  mask &= none >> (31u - base);
  for (; n < -1 && mask; ++n) mask &= ~(0x80000000u >> __builtin_clz(mask));
  return mask ? 31u - static_cast<unsigned>(__builtin_clz(mask)) : none;
}

// Dot products of packed integers.

namespace detail {
PORTER_BOTH int signed_byte(int word, int index) { return static_cast<signed char>(word >> 8 * index); }
PORTER_BOTH unsigned unsigned_byte(unsigned word, int index) { return word >> 8 * index & 0xffu; }
PORTER_BOTH int signed_half(int word, int index) { return static_cast<short>(word >> 16 * index); }
PORTER_BOTH unsigned unsigned_half(unsigned word, int index) { return word >> 16 * index & 0xffffu; }
/// The sum wraps around as CUDA's does, which signed arithmetic may not.
PORTER_BOTH int wrapped_sum(int a, int b) {
  return static_cast<int>(static_cast<unsigned>(a) + static_cast<unsigned>(b));
}
}  // namespace detail

// clang before 20 finds such sums itself, and takes bytes of the low word where those of the high one are meant
// (`dp4a(x, __mulhi(y, y), z)`, LLVM #115224): the instruction is asked for by name.
#if defined(__gfx906__) || defined(__gfx908__) || defined(__gfx90a__) || defined(__gfx940__) || defined(__gfx941__) || \
    defined(__gfx942__) || defined(__gfx950__)
#define PORTER_DOT4
#endif

PORTER_BOTH int dp4a(int a, int b, int c) {
#if defined(PORTER_DOT4)
  return __builtin_amdgcn_sdot4(a, b, c, false);
#else
  int sum = 0;
  for (int i = 0; i < 4; ++i) sum += detail::signed_byte(a, i) * detail::signed_byte(b, i);
  return detail::wrapped_sum(c, sum);
#endif
}
PORTER_BOTH unsigned dp4a(unsigned a, unsigned b, unsigned c) {
#if defined(PORTER_DOT4)
  return __builtin_amdgcn_udot4(a, b, c, false);
#else
  for (int i = 0; i < 4; ++i) c += detail::unsigned_byte(a, i) * detail::unsigned_byte(b, i);
  return c;
#endif
}
#undef PORTER_DOT4
PORTER_BOTH int dp2a_lo(int a, int b, int c) {
  return detail::wrapped_sum(
      c, detail::signed_half(a, 0) * detail::signed_byte(b, 0) + detail::signed_half(a, 1) * detail::signed_byte(b, 1));
}
PORTER_BOTH unsigned dp2a_lo(unsigned a, unsigned b, unsigned c) {
  return c + detail::unsigned_half(a, 0) * detail::unsigned_byte(b, 0) +
         detail::unsigned_half(a, 1) * detail::unsigned_byte(b, 1);
}
PORTER_BOTH int dp2a_hi(int a, int b, int c) { return dp2a_lo(a, b >> 16, c); }
PORTER_BOTH unsigned dp2a_hi(unsigned a, unsigned b, unsigned c) { return dp2a_lo(a, b >> 16, c); }

#if defined(__HIP__) || defined(__HIPCC__)
namespace detail {
template <class To, class From> PORTER_BOTH To packed(From const& value) {
  static_assert(sizeof(To) == sizeof(From), "a vector of as many bytes");
  To word;
  __builtin_memcpy(&word, &value, sizeof(To));
  return word;
}
}  // namespace detail
PORTER_BOTH int dp4a(char4 a, char4 b, int c) { return dp4a(detail::packed<int>(a), detail::packed<int>(b), c); }
PORTER_BOTH unsigned dp4a(uchar4 a, uchar4 b, unsigned c) {
  return dp4a(detail::packed<unsigned>(a), detail::packed<unsigned>(b), c);
}
PORTER_BOTH int dp2a_lo(short2 a, char4 b, int c) { return dp2a_lo(detail::packed<int>(a), detail::packed<int>(b), c); }
PORTER_BOTH unsigned dp2a_lo(ushort2 a, uchar4 b, unsigned c) {
  return dp2a_lo(detail::packed<unsigned>(a), detail::packed<unsigned>(b), c);
}
PORTER_BOTH int dp2a_hi(short2 a, char4 b, int c) { return dp2a_hi(detail::packed<int>(a), detail::packed<int>(b), c); }
PORTER_BOTH unsigned dp2a_hi(ushort2 a, uchar4 b, unsigned c) {
  return dp2a_hi(detail::packed<unsigned>(a), detail::packed<unsigned>(b), c);
}
#endif

}  // namespace porter

#undef PORTER_BOTH
#endif  // PORTER_BITS_HPP
