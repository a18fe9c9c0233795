// Functions of CUDA for half and bfloat16 that HIP lacks, wholly or for one of the types.
//
// Every result is rounded once. `__hip_bfloat16` is served where HIP has its header (5.7 and later).
// SPDX-License-Identifier: Apache-2.0
#ifndef PORTER_HALF_HPP
#define PORTER_HALF_HPP

#if defined(__HIP__) || defined(__HIPCC__)

#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>
#if __has_include(<hip/hip_bf16.h>)
#if __has_include("bf16.hpp")
#include "bf16.hpp"
#else
#include <hip/hip_bf16.h>
#endif
#define PORTER_HAS_BF16 1
#endif

#include "math.hpp"

#define PORTER_BOTH __host__ __device__ inline
#define PORTER_UNFUSED _Pragma("clang fp contract(off)")

namespace porter {
namespace detail {

template <class T> PORTER_BOTH unsigned short bits_16(T value) {
  unsigned short bits;
  __builtin_memcpy(&bits, &value, 2);
  return bits;
}
template <class T> PORTER_BOTH T from_bits_16(unsigned short bits) {
  T value{};
  __builtin_memcpy(static_cast<void*>(&value), &bits, 2);
  return value;
}
template <class T> PORTER_BOTH unsigned bits_32(T value) {
  unsigned bits;
  __builtin_memcpy(&bits, &value, 4);
  return bits;
}
template <class T> PORTER_BOTH T from_bits_32(unsigned bits) {
  T value{};
  __builtin_memcpy(static_cast<void*>(&value), &bits, 4);
  return value;
}

/// What the functions below need of a 16-bit type: its range in float, and one rounding to nearest even.
template <class T> struct Narrow;
/// A pair of them: element type.
template <class P> struct Pair;

template <> struct Narrow<__half> {
  static PORTER_BOTH float wide(__half x) { return __half2float(x); }
  static PORTER_BOTH __half nearest(float x) { return __float2half(x); }
};
template <> struct Pair<__half2> {
  using type = __half;
};

PORTER_BOTH unsigned short bf16_bits(float x, Rounding mode) {
  unsigned const bits = bits_as<unsigned>(x);
  if (is_nan(x)) return 0x7fff;
  bool const away = mode == Rounding::zero ? false : (bits >> 31 != 0u) == (mode == Rounding::down);
  return static_cast<unsigned short>((bits >> 16) + (away && (bits & 0xffffu) != 0u));
}
PORTER_BOTH unsigned short bf16_nearest_bits(float x) {
  unsigned const bits = bits_as<unsigned>(x);
  if (is_nan(x)) return 0x7fff;
  return static_cast<unsigned short>((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);
}

#if defined(PORTER_HAS_BF16)
template <> struct Narrow<__hip_bfloat16> {
  static PORTER_BOTH float wide(__hip_bfloat16 x) { return bits_as<float>(static_cast<unsigned>(bits_16(x)) << 16); }
  static PORTER_BOTH __hip_bfloat16 nearest(float x) { return from_bits_16<__hip_bfloat16>(bf16_nearest_bits(x)); }
};
template <> struct Pair<__hip_bfloat162> {
  using type = __hip_bfloat16;
};
#endif

template <class T> PORTER_BOTH float wide(T x) { return Narrow<T>::wide(x); }
template <class T> PORTER_BOTH T nearest(float x) { return Narrow<T>::nearest(x); }

template <class P> PORTER_BOTH typename Pair<P>::type low_of(P pair) {
  return from_bits_16<typename Pair<P>::type>(static_cast<unsigned short>(bits_32(pair)));
}
template <class P> PORTER_BOTH typename Pair<P>::type high_of(P pair) {
  return from_bits_16<typename Pair<P>::type>(static_cast<unsigned short>(bits_32(pair) >> 16));
}
template <class P, class T> PORTER_BOTH P paired(T low, T high) {
  return from_bits_32<P>(bits_16(low) | static_cast<unsigned>(bits_16(high)) << 16);
}

/// A float that rounds to any shorter type as `value` itself does: inexact results are made odd.
PORTER_BOTH float odd_float(double value, double error = 0) {
  float const rounded = opaque(static_cast<float>(value));
  if (is_nan(value) || !finite(value)) return rounded;
  double const difference = value - static_cast<double>(rounded), left = difference != 0 ? difference : error;
  unsigned const bits = bits_as<unsigned>(rounded);
  if (left == 0 || (bits & 1u) != 0u) return rounded;
  return left > 0 ? next_above(rounded) : next_below(rounded);
}

template <class T> PORTER_BOTH T fused(T a, T b, T c) {
  double const product = opaque(static_cast<double>(wide(a)) * static_cast<double>(wide(b)));
  double const summand = wide(c), sum = opaque(product + summand);
  return nearest<T>(odd_float(sum, finite(sum) ? sum_error(product, summand, sum) : 0.0));
}
#if defined(__AMDGCN__)
template <> PORTER_BOTH __half fused<__half>(__half a, __half b, __half c) { return __hfma(a, b, c); }
#endif

enum class Whole { nearest, zero, down, up };
PORTER_BOTH float whole(float x, Whole how) {
  return how == Whole::nearest ? __builtin_rintf(x)
         : how == Whole::zero  ? __builtin_truncf(x)
         : how == Whole::down  ? __builtin_floorf(x)
                               : __builtin_ceilf(x);
}
/// As PTX converts: out of range the nearest end, NaN 0, of 64 bits the highest bit alone.
template <class To, class From> PORTER_BOTH To integer(From from, Whole how) {
  constexpr bool is_signed = To(-1) < To(0);
  constexpr unsigned bits = 8u * sizeof(To);
  constexpr To lowest = is_signed ? static_cast<To>(static_cast<To>(1) << (bits - 1)) : To(0);
  constexpr To highest = static_cast<To>(~lowest);
  float const x = whole(wide(from), how), end = __builtin_ldexpf(1.0f, static_cast<int>(bits) - is_signed);
  if (is_nan(x)) return bits == 64 ? static_cast<To>(static_cast<To>(1) << (bits - 1)) : To(0);
  if (x >= end) return highest;
  return x < (is_signed ? -end : 0.0f) ? lowest : static_cast<To>(x);
}

// Operations on one element. Sums and products of two 16-bit numbers in float are rounded once more without harm.
struct HalfAdd {
  template <class T> PORTER_BOTH T operator()(T a, T b) const {
    PORTER_UNFUSED
    return nearest<T>(wide(a) + wide(b));
  }
};
struct HalfSub {
  template <class T> PORTER_BOTH T operator()(T a, T b) const {
    PORTER_UNFUSED
    return nearest<T>(wide(a) - wide(b));
  }
};
struct HalfMul {
  template <class T> PORTER_BOTH T operator()(T a, T b) const {
    PORTER_UNFUSED
    return nearest<T>(wide(a) * wide(b));
  }
};
template <class T> PORTER_BOTH T canonical_nan() { return from_bits_16<T>(0x7fff); }

/// To [0, 1]; NaN becomes 0.
template <class T> PORTER_BOTH T saturated_half(T x) {
  float const value = wide(x);
  if (!(value > 0)) return from_bits_16<T>(0);
  return value > 1 ? nearest<T>(1.0f) : x;
}
/// Negative results and -0 become 0, NaN the canonical NaN.
template <class T> PORTER_BOTH T rectified(T x) {
  if (is_nan(wide(x))) return canonical_nan<T>();
  return wide(x) > 0 ? x : from_bits_16<T>(0);
}
/// +0 is larger than -0; of a number and a NaN it is the number.
struct HalfMax {
  template <class T> PORTER_BOTH T operator()(T a, T b) const {
    float const x = wide(a), y = wide(b);
    if (is_nan(x)) return is_nan(y) ? canonical_nan<T>() : b;
    if (is_nan(y)) return a;
    if (x == y) return negative(x) ? b : a;
    return x < y ? b : a;
  }
};
struct HalfMin {
  template <class T> PORTER_BOTH T operator()(T a, T b) const {
    float const x = wide(a), y = wide(b);
    if (is_nan(x)) return is_nan(y) ? canonical_nan<T>() : b;
    if (is_nan(y)) return a;
    if (x == y) return negative(x) ? a : b;
    return y < x ? b : a;
  }
};
template <class Op> struct OrNan {
  template <class T> PORTER_BOTH T operator()(T a, T b) const {
    return is_nan(wide(a)) || is_nan(wide(b)) ? canonical_nan<T>() : Op()(a, b);
  }
};

/// Comparisons are false for NaN, "unordered" ones true.
struct HalfEq {
  static PORTER_BOTH bool holds(float a, float b) { return a == b; }
};
struct HalfNe {
  static PORTER_BOTH bool holds(float a, float b) { return a < b || a > b; }
};
struct HalfLt {
  static PORTER_BOTH bool holds(float a, float b) { return a < b; }
};
struct HalfLe {
  static PORTER_BOTH bool holds(float a, float b) { return a <= b; }
};
struct HalfGt {
  static PORTER_BOTH bool holds(float a, float b) { return a > b; }
};
struct HalfGe {
  static PORTER_BOTH bool holds(float a, float b) { return a >= b; }
};
template <class C, bool unordered, class T> PORTER_BOTH bool compared(T a, T b) {
  float const x = wide(a), y = wide(b);
  return is_nan(x) || is_nan(y) ? unordered : C::holds(x, y);
}

template <class Op, class P> PORTER_BOTH P each(P a, P b) {
  return paired<P>(Op()(low_of(a), low_of(b)), Op()(high_of(a), high_of(b)));
}

template <class To> PORTER_BOTH To clamped_to(int x, int low, int high) {
  return static_cast<To>(x < low ? low : x > high ? high : x);
}

/// Towards zero, down or up.
PORTER_BOTH __half half_directed(float x, Rounding mode) {
  __half const near = nearest<__half>(x);
  float const y = wide(near);
  bool const goes_down = mode == Rounding::zero ? x > 0 : mode == Rounding::down;
  if (is_nan(x) || y == x || (y > x) != goes_down) return near;
  unsigned const bits = bits_16(near);
  if ((bits & 0x7fffu) == 0u) return from_bits_16<__half>(goes_down ? 0x8001 : 1);
  return from_bits_16<__half>(static_cast<unsigned short>((bits >> 15 != 0u) == goes_down ? bits + 1u : bits - 1u));
}

/// A whole number as a double with 53 bits that rounds as the number does.
PORTER_BOTH double magnitude(unsigned long long x) {
  if (x >> 53 == 0ull) return static_cast<double>(x);
  return static_cast<double>(x >> 11 | ((x & 0x7ffull) != 0ull)) * 2048.0;
}
PORTER_BOTH float odd_from_integer(long long x) {
  double const size = magnitude(x < 0 ? 0ull - static_cast<unsigned long long>(x) : static_cast<unsigned long long>(x));
  return odd_float(x < 0 ? -size : size);
}
PORTER_BOTH float odd_from_integer(unsigned long long x) { return odd_float(magnitude(x)); }

}  // namespace detail

#define PORTER_SCALARS(CALL) CALL(__half)
#define PORTER_PAIRS(CALL) CALL(__half2)
#if defined(PORTER_HAS_BF16)
#undef PORTER_SCALARS
#undef PORTER_PAIRS
#define PORTER_SCALARS(CALL) CALL(__half) CALL(__hip_bfloat16)
#define PORTER_PAIRS(CALL) CALL(__half2) CALL(__hip_bfloat162)
#endif

#define PORTER_SCALAR_FUNCTIONS(T)                                                                 \
  PORTER_BOTH T hadd_rn(T a, T b) { return detail::HalfAdd()(a, b); }                              \
  PORTER_BOTH T hsub_rn(T a, T b) { return detail::HalfSub()(a, b); }                              \
  PORTER_BOTH T hmul_rn(T a, T b) { return detail::HalfMul()(a, b); }                              \
  PORTER_BOTH T hadd_sat(T a, T b) { return detail::saturated_half(hadd_rn(a, b)); }               \
  PORTER_BOTH T hsub_sat(T a, T b) { return detail::saturated_half(hsub_rn(a, b)); }               \
  PORTER_BOTH T hmul_sat(T a, T b) { return detail::saturated_half(hmul_rn(a, b)); }               \
  PORTER_BOTH T hfma_sat(T a, T b, T c) { return detail::saturated_half(detail::fused(a, b, c)); } \
  PORTER_BOTH T hfma_relu(T a, T b, T c) { return detail::rectified(detail::fused(a, b, c)); }     \
  PORTER_BOTH bool hne(T a, T b) { return detail::compared<detail::HalfNe, false>(a, b); }         \
  PORTER_BOTH int hisinf(T a) { return detail::infinite(a); }                                      \
  PORTER_BOTH T hmax(T a, T b) { return detail::HalfMax()(a, b); }                                 \
  PORTER_BOTH T hmin(T a, T b) { return detail::HalfMin()(a, b); }                                 \
  PORTER_BOTH T hmax_nan(T a, T b) { return detail::OrNan<detail::HalfMax>()(a, b); }              \
  PORTER_BOTH T hmin_nan(T a, T b) { return detail::OrNan<detail::HalfMin>()(a, b); }              \
  /* HIP's of `__half` is NaN wherever it is not, in device libraries before 5.3. */               \
  __device__ inline T hsin(T a) { return detail::nearest<T>(::sinf(detail::wide(a))); }            \
  __device__ inline T htanh(T a) { return detail::nearest<T>(::tanhf(detail::wide(a))); }          \
  __device__ inline T htanh_approx(T a) { return htanh(a); }

#define PORTER_PAIR_FUNCTIONS(P)                                                                                     \
  PORTER_BOTH P hadd2_rn(P a, P b) { return detail::each<detail::HalfAdd>(a, b); }                                   \
  PORTER_BOTH P hsub2_rn(P a, P b) { return detail::each<detail::HalfSub>(a, b); }                                   \
  PORTER_BOTH P hmul2_rn(P a, P b) { return detail::each<detail::HalfMul>(a, b); }                                   \
  PORTER_BOTH P hadd2_sat(P a, P b) {                                                                                \
    return detail::lifted(a, b, [](auto x, auto y) { return hadd_sat(x, y); });                                      \
  }                                                                                                                  \
  PORTER_BOTH P hsub2_sat(P a, P b) {                                                                                \
    return detail::lifted(a, b, [](auto x, auto y) { return hsub_sat(x, y); });                                      \
  }                                                                                                                  \
  PORTER_BOTH P hmul2_sat(P a, P b) {                                                                                \
    return detail::lifted(a, b, [](auto x, auto y) { return hmul_sat(x, y); });                                      \
  }                                                                                                                  \
  PORTER_BOTH P hfma2_sat(P a, P b, P c) {                                                                           \
    return detail::paired<P>(hfma_sat(detail::low_of(a), detail::low_of(b), detail::low_of(c)),                      \
                             hfma_sat(detail::high_of(a), detail::high_of(b), detail::high_of(c)));                  \
  }                                                                                                                  \
  PORTER_BOTH P hfma2_relu(P a, P b, P c) {                                                                          \
    return detail::paired<P>(hfma_relu(detail::low_of(a), detail::low_of(b), detail::low_of(c)),                     \
                             hfma_relu(detail::high_of(a), detail::high_of(b), detail::high_of(c)));                 \
  }                                                                                                                  \
  PORTER_BOTH P hmax2(P a, P b) { return detail::each<detail::HalfMax>(a, b); }                                      \
  PORTER_BOTH P hmin2(P a, P b) { return detail::each<detail::HalfMin>(a, b); }                                      \
  PORTER_BOTH P hmax2_nan(P a, P b) { return detail::each<detail::OrNan<detail::HalfMax>>(a, b); }                   \
  PORTER_BOTH P hmin2_nan(P a, P b) { return detail::each<detail::OrNan<detail::HalfMin>>(a, b); }                   \
  /* (real, imaginary): the real products first, each sum rounded once. */                                           \
  PORTER_BOTH P hcmadd(P a, P b, P c) {                                                                              \
    auto const re = detail::fused(detail::low_of(a), detail::low_of(b), detail::low_of(c));                          \
    auto const im = detail::fused(detail::low_of(a), detail::high_of(b), detail::high_of(c));                        \
    return detail::paired<P>(detail::fused(detail::negated(detail::high_of(a)), detail::high_of(b), re),             \
                             detail::fused(detail::high_of(a), detail::low_of(b), im));                              \
  }                                                                                                                  \
  __device__ inline P h2tanh(P a) { return detail::paired<P>(htanh(detail::low_of(a)), htanh(detail::high_of(a))); } \
  __device__ inline P h2sin(P a) {                                                                                   \
    return detail::paired<P>(porter::hsin(detail::low_of(a)), porter::hsin(detail::high_of(a)));                     \
  }                                                                                                                  \
  PORTER_BOTH P hne2(P a, P b) { return detail::ones<detail::HalfNe, false>(a, b); }                                 \
  /* The second of HIP 6.4's `__hgt2` of bfloat16 is 1.0 whatever is compared. */                                    \
  PORTER_BOTH P hgt2(P a, P b) { return detail::ones<detail::HalfGt, false>(a, b); }                                 \
  PORTER_BOTH bool hbne2(P a, P b) { return detail::masks<detail::HalfNe, false>(a, b) == ~0u; }                     \
  PORTER_BOTH P hisnan2(P a) { return detail::nans(a); }                                                             \
  __device__ inline P h2tanh_approx(P a) { return h2tanh(a); }                                                       \
  PORTER_PAIR_COMPARISON(P, eq, HalfEq)                                                                              \
  PORTER_PAIR_COMPARISON(P, ne, HalfNe)                                                                              \
  PORTER_PAIR_COMPARISON(P, lt, HalfLt)                                                                              \
  PORTER_PAIR_COMPARISON(P, le, HalfLe)                                                                              \
  PORTER_PAIR_COMPARISON(P, gt, HalfGt)                                                                              \
  PORTER_PAIR_COMPARISON(P, ge, HalfGe)

// 1.0 or 0.0 per element; `_mask`: all bits or none.
#define PORTER_PAIR_COMPARISON(P, name, C)                                                         \
  PORTER_BOTH P h##name##u2(P a, P b) { return detail::ones<detail::C, true>(a, b); }              \
  PORTER_BOTH bool hb##name##u2(P a, P b) { return detail::masks<detail::C, true>(a, b) == ~0u; }  \
  PORTER_BOTH unsigned h##name##2_mask(P a, P b) { return detail::masks<detail::C, false>(a, b); } \
  PORTER_BOTH unsigned h##name##u2_mask(P a, P b) { return detail::masks<detail::C, true>(a, b); }

namespace detail {

template <class P, class F> PORTER_BOTH P lifted(P a, P b, F f) {
  return paired<P>(f(low_of(a), low_of(b)), f(high_of(a), high_of(b)));
}
template <class T> PORTER_BOTH T negated(T x) { return from_bits_16<T>(bits_16(x) ^ 0x8000); }
template <class C, bool unordered, class P> PORTER_BOTH unsigned masks(P a, P b) {
  return (compared<C, unordered>(low_of(a), low_of(b)) ? 0xffffu : 0u) |
         (compared<C, unordered>(high_of(a), high_of(b)) ? 0xffff0000u : 0u);
}
template <class C, bool unordered, class P> PORTER_BOTH P ones(P a, P b) {
  using T = typename Pair<P>::type;
  T const one = nearest<T>(1.0f), zero = nearest<T>(0.0f);
  return paired<P>(compared<C, unordered>(low_of(a), low_of(b)) ? one : zero,
                   compared<C, unordered>(high_of(a), high_of(b)) ? one : zero);
}

template <class P> PORTER_BOTH P nans(P pair) {
  using T = typename Pair<P>::type;
  T const one = nearest<T>(1.0f), zero = nearest<T>(0.0f);
  return paired<P>(is_nan(wide(low_of(pair))) ? one : zero, is_nan(wide(high_of(pair))) ? one : zero);
}
/// -1 and 1 for the infinities.
template <class T> PORTER_BOTH int infinite(T x) {
  float const value = wide(x);
  if (is_nan(value) || finite(value)) return 0;
  return value < 0 ? -1 : 1;
}

}  // namespace detail

PORTER_SCALARS(PORTER_SCALAR_FUNCTIONS)
PORTER_PAIRS(PORTER_PAIR_FUNCTIONS)

// Conversions.

PORTER_BOTH __half double2half(double x) { return detail::nearest<__half>(detail::odd_float(x)); }
PORTER_BOTH signed char half2char_rz(__half x) {
  return detail::clamped_to<signed char>(float2int_rz(__half2float(x)), -128, 127);
}
PORTER_BOTH unsigned char half2uchar_rz(__half x) {
  return detail::clamped_to<unsigned char>(float2int_rz(__half2float(x)), 0, 255);
}

#if defined(PORTER_HAS_BF16)

PORTER_BOTH __hip_bfloat16 float2bfloat16_rn(float x) { return detail::nearest<__hip_bfloat16>(x); }
PORTER_BOTH __hip_bfloat16 float2bfloat16_rz(float x) {
  return detail::from_bits_16<__hip_bfloat16>(detail::bf16_bits(x, detail::Rounding::zero));
}
PORTER_BOTH __hip_bfloat16 float2bfloat16_rd(float x) {
  return detail::from_bits_16<__hip_bfloat16>(detail::bf16_bits(x, detail::Rounding::down));
}
PORTER_BOTH __hip_bfloat16 float2bfloat16_ru(float x) {
  return detail::from_bits_16<__hip_bfloat16>(detail::bf16_bits(x, detail::Rounding::up));
}
PORTER_BOTH __hip_bfloat162 make_bfloat162(__hip_bfloat16 low, __hip_bfloat16 high) {
  return detail::paired<__hip_bfloat162>(low, high);
}
PORTER_BOTH __hip_bfloat162 floats2bfloat162_rn(float low, float high) {
  return make_bfloat162(float2bfloat16_rn(low), float2bfloat16_rn(high));
}
PORTER_BOTH __hip_bfloat162 float2bfloat162_rn(float x) { return floats2bfloat162_rn(x, x); }

PORTER_BOTH signed char bfloat162char_rz(__hip_bfloat16 x) {
  return detail::clamped_to<signed char>(float2int_rz(detail::wide(x)), -128, 127);
}
PORTER_BOTH unsigned char bfloat162uchar_rz(__hip_bfloat16 x) {
  return detail::clamped_to<unsigned char>(float2int_rz(detail::wide(x)), 0, 255);
}

#define PORTER_BF16_CONVERSIONS(mode)                                                                                 \
  PORTER_BOTH int bfloat162int_##mode(__hip_bfloat16 x) { return float2int_##mode(detail::wide(x)); }                 \
  PORTER_BOTH unsigned bfloat162uint_##mode(__hip_bfloat16 x) { return float2uint_##mode(detail::wide(x)); }          \
  PORTER_BOTH long long bfloat162ll_##mode(__hip_bfloat16 x) { return float2ll_##mode(detail::wide(x)); }             \
  PORTER_BOTH unsigned long long bfloat162ull_##mode(__hip_bfloat16 x) { return float2ull_##mode(detail::wide(x)); }  \
  PORTER_BOTH short bfloat162short_##mode(__hip_bfloat16 x) {                                                         \
    return detail::clamped_to<short>(float2int_##mode(detail::wide(x)), -32768, 32767);                               \
  }                                                                                                                   \
  PORTER_BOTH unsigned short bfloat162ushort_##mode(__hip_bfloat16 x) {                                               \
    return detail::clamped_to<unsigned short>(float2int_##mode(detail::wide(x)), 0, 65535);                           \
  }                                                                                                                   \
  PORTER_BOTH __hip_bfloat16 int2bfloat16_##mode(int x) { return float2bfloat16_##mode(detail::odd_float(x)); }       \
  PORTER_BOTH __hip_bfloat16 uint2bfloat16_##mode(unsigned x) { return float2bfloat16_##mode(detail::odd_float(x)); } \
  PORTER_BOTH __hip_bfloat16 ll2bfloat16_##mode(long long x) {                                                        \
    return float2bfloat16_##mode(detail::odd_from_integer(x));                                                        \
  }                                                                                                                   \
  PORTER_BOTH __hip_bfloat16 ull2bfloat16_##mode(unsigned long long x) {                                              \
    return float2bfloat16_##mode(detail::odd_from_integer(x));                                                        \
  }                                                                                                                   \
  PORTER_BOTH __hip_bfloat16 short2bfloat16_##mode(short x) { return float2bfloat16_##mode(static_cast<float>(x)); }  \
  PORTER_BOTH __hip_bfloat16 ushort2bfloat16_##mode(unsigned short x) {                                               \
    return float2bfloat16_##mode(static_cast<float>(x));                                                              \
  }

PORTER_BF16_CONVERSIONS(rn)
PORTER_BF16_CONVERSIONS(rz)
PORTER_BF16_CONVERSIONS(rd)
PORTER_BF16_CONVERSIONS(ru)
#undef PORTER_BF16_CONVERSIONS

#endif  // bf16

// Conversions from integers. HIP's round to nearest, whatever the name says.
#define PORTER_FROM_INTEGER(name, type, as_float)                                                                       \
  PORTER_BOTH __half name##2half_rz(type x) { return detail::half_directed(as_float(x), detail::Rounding::zero); }      \
  PORTER_BOTH __half name##2half_rd(type x) { return detail::half_directed(as_float(x), detail::Rounding::down); }      \
  PORTER_BOTH __half name##2half_ru(type x) { return detail::half_directed(as_float(x), detail::Rounding::up); }
PORTER_FROM_INTEGER(short, short, static_cast<float>)
PORTER_FROM_INTEGER(ushort, unsigned short, static_cast<float>)
PORTER_FROM_INTEGER(int, int, detail::odd_float)
PORTER_FROM_INTEGER(uint, unsigned, detail::odd_float)
PORTER_FROM_INTEGER(ll, long long, detail::odd_from_integer)
PORTER_FROM_INTEGER(ull, unsigned long long, detail::odd_from_integer)
#undef PORTER_FROM_INTEGER

// Conversions to integers. HIP's truncate, whatever the name says, and wrap where CUDA's saturate.
#define PORTER_TO_INTEGER(name, type)                                                                                  \
  PORTER_BOTH type half2##name##_rn(__half x) { return detail::integer<type>(x, detail::Whole::nearest); }             \
  PORTER_BOTH type half2##name##_rz(__half x) { return detail::integer<type>(x, detail::Whole::zero); }                \
  PORTER_BOTH type half2##name##_rd(__half x) { return detail::integer<type>(x, detail::Whole::down); }                \
  PORTER_BOTH type half2##name##_ru(__half x) { return detail::integer<type>(x, detail::Whole::up); }
PORTER_TO_INTEGER(short, short)
PORTER_TO_INTEGER(ushort, unsigned short)
PORTER_TO_INTEGER(int, int)
PORTER_TO_INTEGER(uint, unsigned)
PORTER_TO_INTEGER(ll, long long)
PORTER_TO_INTEGER(ull, unsigned long long)
#undef PORTER_TO_INTEGER
/// The average of two integers, which HIP's is not; of 16-bit floats it is the sum.
PORTER_BOTH int hadd(int a, int b) { return (a & b) + ((a ^ b) >> 1); }
template <bool other> struct Sum;
template <> struct Sum<true> {
  template <class A, class B> static __device__ auto of(A a, B b) -> decltype(__hadd(a, b)) { return __hadd(a, b); }
};
template <class A, class B> __device__ inline auto hadd(A a, B b) -> decltype(Sum<!__is_integral(A)>::of(a, b)) {
  return Sum<!__is_integral(A)>::of(a, b);
}

}  // namespace porter

#undef PORTER_SCALARS
#undef PORTER_PAIRS
#undef PORTER_SCALAR_FUNCTIONS
#undef PORTER_PAIR_FUNCTIONS
#undef PORTER_PAIR_COMPARISON
#undef PORTER_UNFUSED
#undef PORTER_BOTH

#endif  // HIP
#endif  // PORTER_HALF_HPP
