// bfloat16 as CUDA has it, before ROCm 6.2: __hip_bfloat16 gets CUDA's conversions from and to numbers, which only the
// type itself can have, so this stands for <hip/hip_bf16.h>, whose guard it takes. Where that header came first its type
// stays, and gets the operators that HIP has since ROCm 6.1. Sums and products are computed in float and rounded once.
// Nothing with later headers. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hip/hip_version.h>

#if HIP_VERSION_MAJOR > 6 || (HIP_VERSION_MAJOR == 6 && HIP_VERSION_MINOR >= 2)

#include <hip/hip_bf16.h>

#else

#define PORTER_BF16 __host__ __device__ inline __attribute__((always_inline))
#define PORTER_BF16_DEVICE __device__ inline __attribute__((always_inline))

#ifndef _HIP_INCLUDE_HIP_AMD_DETAIL_HIP_BF16_H_
#define _HIP_INCLUDE_HIP_AMD_DETAIL_HIP_BF16_H_
#define PORTER_OLDER_HIP_BF16_H  // what `porter run` puts in that header's place
#define PORTER_BF16_OPERATORS

#include <hip/hip_runtime.h>

struct __hip_bfloat16 {
  unsigned short data;

  __hip_bfloat16() = default;
  PORTER_BF16 __hip_bfloat16(float v) : data(rounded(v)) {}
  // By way of float, as CUDA's constructors round: wide integers and doubles are rounded twice there, too.
  PORTER_BF16 __hip_bfloat16(double v) : __hip_bfloat16(static_cast<float>(v)) {}
  PORTER_BF16 __hip_bfloat16(short v) : __hip_bfloat16(static_cast<float>(v)) {}
  PORTER_BF16 __hip_bfloat16(unsigned short v) : __hip_bfloat16(static_cast<float>(v)) {}
  PORTER_BF16 __hip_bfloat16(int v) : __hip_bfloat16(static_cast<float>(v)) {}
  PORTER_BF16 __hip_bfloat16(unsigned v) : __hip_bfloat16(static_cast<float>(v)) {}
  PORTER_BF16 __hip_bfloat16(long v) : __hip_bfloat16(static_cast<float>(v)) {}
  PORTER_BF16 __hip_bfloat16(unsigned long v) : __hip_bfloat16(static_cast<float>(v)) {}
  PORTER_BF16 __hip_bfloat16(long long v) : __hip_bfloat16(static_cast<float>(v)) {}
  PORTER_BF16 __hip_bfloat16(unsigned long long v) : __hip_bfloat16(static_cast<float>(v)) {}
  PORTER_BF16 operator float() const {
    return __builtin_bit_cast(float, static_cast<unsigned>(data) << 16);
  }

 private:
  static PORTER_BF16 unsigned short rounded(float v) {
    unsigned const bits = __builtin_bit_cast(unsigned, v);
    if ((bits & 0x7fffffffu) > 0x7f800000u) return 0x7fffu;  // CUDA's one NaN
    return static_cast<unsigned short>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
  }
};

struct __hip_bfloat162 {
  __hip_bfloat16 x, y;

  __hip_bfloat162() = default;
  PORTER_BF16 __hip_bfloat162(__hip_bfloat16 const& low, __hip_bfloat16 const& high) : x(low), y(high) {}
};

PORTER_BF16 float __bfloat162float(__hip_bfloat16 a) { return a; }
PORTER_BF16 __hip_bfloat16 __float2bfloat16(float a) { return a; }
PORTER_BF16 __hip_bfloat16 __double2bfloat16(double a) { return a; }
PORTER_BF16 __hip_bfloat162 __float22bfloat162_rn(float2 a) { return {a.x, a.y}; }
PORTER_BF16 float2 __bfloat1622float2(__hip_bfloat162 a) { return float2{a.x, a.y}; }
PORTER_BF16 __hip_bfloat162 __bfloat162bfloat162(__hip_bfloat16 a) { return {a, a}; }
PORTER_BF16 __hip_bfloat162 __halves2bfloat162(__hip_bfloat16 a, __hip_bfloat16 b) { return {a, b}; }
PORTER_BF16 float __low2float(__hip_bfloat162 a) { return a.x; }
PORTER_BF16 float __high2float(__hip_bfloat162 a) { return a.y; }
PORTER_BF16 __hip_bfloat16 __low2bfloat16(__hip_bfloat162 a) { return a.x; }
PORTER_BF16 __hip_bfloat16 __high2bfloat16(__hip_bfloat162 a) { return a.y; }
PORTER_BF16 __hip_bfloat162 __low2bfloat162(__hip_bfloat162 a) { return {a.x, a.x}; }
PORTER_BF16 __hip_bfloat162 __high2bfloat162(__hip_bfloat162 a) { return {a.y, a.y}; }
PORTER_BF16 __hip_bfloat162 __lows2bfloat162(__hip_bfloat162 a, __hip_bfloat162 b) { return {a.x, b.x}; }
PORTER_BF16 __hip_bfloat162 __highs2bfloat162(__hip_bfloat162 a, __hip_bfloat162 b) { return {a.y, b.y}; }
PORTER_BF16 __hip_bfloat162 __lowhigh2highlow(__hip_bfloat162 a) { return {a.y, a.x}; }
PORTER_BF16 short __bfloat16_as_short(__hip_bfloat16 a) { return static_cast<short>(a.data); }
PORTER_BF16 unsigned short __bfloat16_as_ushort(__hip_bfloat16 a) { return a.data; }
PORTER_BF16 __hip_bfloat16 __ushort_as_bfloat16(unsigned short a) { return __builtin_bit_cast(__hip_bfloat16, a); }
PORTER_BF16 __hip_bfloat16 __short_as_bfloat16(short a) { return __builtin_bit_cast(__hip_bfloat16, a); }

#if defined(__HIP__) || defined(__HIPCC__)

#define PORTER_BF16_ONE(name, pair, value)                                                    \
  PORTER_BF16_DEVICE __hip_bfloat16 name(__hip_bfloat16 b) {                                  \
    float const a = b;                                                                        \
    return value;                                                                             \
  }                                                                                           \
  PORTER_BF16_DEVICE __hip_bfloat162 pair(__hip_bfloat162 b) { return {name(b.x), name(b.y)}; }
#define PORTER_BF16_TWO(name, pair, value)                                                    \
  PORTER_BF16_DEVICE __hip_bfloat16 name(__hip_bfloat16 c, __hip_bfloat16 d) {                \
    float const a = c, b = d;                                                                 \
    return value;                                                                             \
  }                                                                                           \
  PORTER_BF16_DEVICE __hip_bfloat162 pair(__hip_bfloat162 c, __hip_bfloat162 d) {             \
    return {name(c.x, d.x), name(c.y, d.y)};                                                  \
  }
#define PORTER_BF16_TEST(name, unordered, both, bothu, holds)                                 \
  PORTER_BF16_DEVICE bool name(__hip_bfloat16 c, __hip_bfloat16 d) {                          \
    float const a = c, b = d;                                                                 \
    return a == a && b == b && (holds);                                                       \
  }                                                                                           \
  PORTER_BF16_DEVICE bool unordered(__hip_bfloat16 c, __hip_bfloat16 d) {                     \
    float const a = c, b = d;                                                                 \
    return a != a || b != b || (holds);                                                       \
  }                                                                                           \
  PORTER_BF16_DEVICE bool both(__hip_bfloat162 c, __hip_bfloat162 d) { return name(c.x, d.x) && name(c.y, d.y); } \
  PORTER_BF16_DEVICE bool bothu(__hip_bfloat162 c, __hip_bfloat162 d) {                       \
    return unordered(c.x, d.x) && unordered(c.y, d.y);                                        \
  }                                                                                           \
  PORTER_BF16_DEVICE __hip_bfloat162 name##2(__hip_bfloat162 c, __hip_bfloat162 d) {          \
    return {name(c.x, d.x) ? 1.0f : 0.0f, name(c.y, d.y) ? 1.0f : 0.0f};                      \
  }

PORTER_BF16_TWO(__hadd, __hadd2, a + b)
PORTER_BF16_TWO(__hsub, __hsub2, a - b)
PORTER_BF16_TWO(__hmul, __hmul2, a* b)
PORTER_BF16_TWO(__hdiv, __h2div, a / b)
PORTER_BF16_TWO(__hmax, __hmax2, fmaxf(a, b))
PORTER_BF16_TWO(__hmin, __hmin2, fminf(a, b))
PORTER_BF16_DEVICE __hip_bfloat16 __hfma(__hip_bfloat16 a, __hip_bfloat16 b, __hip_bfloat16 c) {
  return fmaf(a, b, c);
}
PORTER_BF16_DEVICE __hip_bfloat162 __hfma2(__hip_bfloat162 a, __hip_bfloat162 b, __hip_bfloat162 c) {
  return {__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)};
}
PORTER_BF16_DEVICE __hip_bfloat16 __hneg(__hip_bfloat16 a) {
  return __ushort_as_bfloat16(static_cast<unsigned short>(a.data ^ 0x8000u));
}
PORTER_BF16_DEVICE __hip_bfloat162 __hneg2(__hip_bfloat162 a) { return {__hneg(a.x), __hneg(a.y)}; }
PORTER_BF16_DEVICE __hip_bfloat16 __habs(__hip_bfloat16 a) {
  return __ushort_as_bfloat16(static_cast<unsigned short>(a.data & 0x7fffu));
}
PORTER_BF16_DEVICE __hip_bfloat162 __habs2(__hip_bfloat162 a) { return {__habs(a.x), __habs(a.y)}; }
PORTER_BF16_DEVICE bool __hisnan(__hip_bfloat16 a) { return (a.data & 0x7fffu) > 0x7f80u; }
PORTER_BF16_DEVICE int __hisinf(__hip_bfloat16 a) { return a.data == 0x7f80u ? 1 : a.data == 0xff80u ? -1 : 0; }
PORTER_BF16_DEVICE __hip_bfloat162 __hisnan2(__hip_bfloat162 a) {
  return {__hisnan(a.x) ? 1.0f : 0.0f, __hisnan(a.y) ? 1.0f : 0.0f};
}
PORTER_BF16_TEST(__heq, __hequ, __hbeq2, __hbequ2, a == b)
PORTER_BF16_TEST(__hne, __hneu, __hbne2, __hbneu2, a != b)
PORTER_BF16_TEST(__hlt, __hltu, __hblt2, __hbltu2, a < b)
PORTER_BF16_TEST(__hle, __hleu, __hble2, __hbleu2, a <= b)
PORTER_BF16_TEST(__hgt, __hgtu, __hbgt2, __hbgtu2, a > b)
PORTER_BF16_TEST(__hge, __hgeu, __hbge2, __hbgeu2, a >= b)
PORTER_BF16_ONE(hceil, h2ceil, ceilf(a))
PORTER_BF16_ONE(hfloor, h2floor, floorf(a))
PORTER_BF16_ONE(hrint, h2rint, rintf(a))
PORTER_BF16_ONE(htrunc, h2trunc, truncf(a))
PORTER_BF16_ONE(hcos, h2cos, cosf(a))
PORTER_BF16_ONE(hsin, h2sin, sinf(a))
PORTER_BF16_ONE(hexp, h2exp, expf(a))
PORTER_BF16_ONE(hexp2, h2exp2, exp2f(a))
PORTER_BF16_ONE(hexp10, h2exp10, exp10f(a))
PORTER_BF16_ONE(hlog, h2log, logf(a))
PORTER_BF16_ONE(hlog2, h2log2, log2f(a))
PORTER_BF16_ONE(hlog10, h2log10, log10f(a))
PORTER_BF16_ONE(hrcp, h2rcp, 1.0f / a)
PORTER_BF16_ONE(hrsqrt, h2rsqrt, rsqrtf(a))
PORTER_BF16_ONE(hsqrt, h2sqrt, sqrtf(a))

#undef PORTER_BF16_ONE
#undef PORTER_BF16_TWO
#undef PORTER_BF16_TEST

#endif  // what only device code calls

#elif !defined(PORTER_OLDER_HIP_BF16_H) && (HIP_VERSION_MAJOR < 6 || HIP_VERSION_MINOR < 1)
#define PORTER_BF16_OPERATORS
#endif

#ifdef PORTER_BF16_OPERATORS
#define PORTER_BF16_ARITHMETIC(op)                                                                \
  PORTER_BF16 __hip_bfloat16 operator op(const __hip_bfloat16& a, const __hip_bfloat16& b) {     \
    return __float2bfloat16(__bfloat162float(a) op __bfloat162float(b));                          \
  }                                                                                               \
  PORTER_BF16 __hip_bfloat162 operator op(const __hip_bfloat162& a, const __hip_bfloat162& b) {  \
    return __hip_bfloat162{a.x op b.x, a.y op b.y};                                               \
  }                                                                                               \
  PORTER_BF16 __hip_bfloat16& operator op##=(__hip_bfloat16& a, const __hip_bfloat16& b) { return a = a op b; } \
  PORTER_BF16 __hip_bfloat162& operator op##=(__hip_bfloat162& a, const __hip_bfloat162& b) { return a = a op b; }
#define PORTER_BF16_COMPARISON(op)                                                    \
  PORTER_BF16 bool operator op(const __hip_bfloat16& a, const __hip_bfloat16& b) {   \
    return __bfloat162float(a) op __bfloat162float(b);                                \
  }

PORTER_BF16_ARITHMETIC(+)
PORTER_BF16_ARITHMETIC(-)
PORTER_BF16_ARITHMETIC(*)
PORTER_BF16_ARITHMETIC(/)
PORTER_BF16_COMPARISON(==)
PORTER_BF16_COMPARISON(!=)
PORTER_BF16_COMPARISON(<)
PORTER_BF16_COMPARISON(<=)
PORTER_BF16_COMPARISON(>)
PORTER_BF16_COMPARISON(>=)
PORTER_BF16 __hip_bfloat16 operator+(const __hip_bfloat16& a) { return a; }
PORTER_BF16 __hip_bfloat16 operator-(const __hip_bfloat16& a) {
  __hip_bfloat16 result = a;
  result.data = static_cast<unsigned short>(result.data ^ 0x8000u);
  return result;
}
PORTER_BF16 __hip_bfloat162 operator-(const __hip_bfloat162& a) { return __hip_bfloat162{-a.x, -a.y}; }
PORTER_BF16 __hip_bfloat16& operator++(__hip_bfloat16& a) { return a = a + __float2bfloat16(1.0f); }
PORTER_BF16 __hip_bfloat16& operator--(__hip_bfloat16& a) { return a = a - __float2bfloat16(1.0f); }

#undef PORTER_BF16_ARITHMETIC
#undef PORTER_BF16_COMPARISON
#undef PORTER_BF16_OPERATORS
#endif

#undef PORTER_BF16
#undef PORTER_BF16_DEVICE

#endif
