// Floating-point intrinsics of CUDA that HIP lacks, or that do something else in HIP:
//   - arithmetic with directed rounding (`__fadd_rd`, `__ddiv_ru`, `__fmaf_rz`, ...), exact in every case;
//   - `__fadd_rn`, `__fmul_rn` and their kin, which CUDA never contracts into a fused multiply-add;
//   - conversions to integers, which saturate in CUDA and are undefined behaviour out of range in HIP;
//   - `__saturatef(NaN)`, which is 0; `__fsqrt_rn` and `__frsqrt_rn`, correctly rounded.
// SPDX-License-Identifier: Apache-2.0
#ifndef PORTER_MATH_HPP
#define PORTER_MATH_HPP

#if defined(__HIP__) || defined(__HIPCC__)
#include <hip/hip_runtime.h>
#define PORTER_BOTH __host__ __device__ inline
#else
#define PORTER_BOTH inline
#endif

// Keeps the compiler from contracting what follows in a function, unless -ffp-contract=fast overrules it.
#define PORTER_UNFUSED _Pragma("clang fp contract(off)")

namespace porter {
namespace detail {

enum class Rounding { down, up, zero };

template <class To, class From> PORTER_BOTH To bits_as(From value) { return __builtin_bit_cast(To, value); }

/// The same value, of which the compiler knows nothing: whatever the flags, it cannot fuse, reorder or cancel the
/// operation that made it. The errors of rounding below depend on that.
template <class T> PORTER_BOTH T opaque(T x) {
#if defined(__AMDGCN__)
  __asm__("" : "+v"(x));
#elif defined(__x86_64__)
  __asm__("" : "+x"(x));
#else
  __asm__("" : "+m"(x));
#endif
  return x;
}

PORTER_BOTH bool negative(float x) { return bits_as<unsigned>(x) >> 31 != 0u; }
PORTER_BOTH bool negative(double x) { return bits_as<unsigned long long>(x) >> 63 != 0ull; }
PORTER_BOTH bool finite(double x) { return (bits_as<unsigned long long>(x) >> 52 & 0x7ffull) != 0x7ffull; }
PORTER_BOTH bool is_nan(float x) { return (bits_as<unsigned>(x) << 1) > 0xff000000u; }
PORTER_BOTH bool is_nan(double x) { return (bits_as<unsigned long long>(x) << 1) > 0xffe0000000000000ull; }

/// The neighbour below; x is no NaN and not -infinity.
PORTER_BOTH float next_below(float x) {
  unsigned const bits = bits_as<unsigned>(x);
  if (bits << 1 == 0u) return bits_as<float>(0x80000001u);
  return bits_as<float>(bits >> 31 ? bits + 1u : bits - 1u);
}
PORTER_BOTH double next_below(double x) {
  unsigned long long const bits = bits_as<unsigned long long>(x);
  if (bits << 1 == 0ull) return bits_as<double>(0x8000000000000001ull);
  return bits_as<double>(bits >> 63 ? bits + 1ull : bits - 1ull);
}
template <class T> PORTER_BOTH T next_above(T x) { return -next_below(-x); }

/// Moves a value rounded to nearest to the side that `mode` asks for. `error` has the sign of exact - rounded.
template <Rounding mode, class T> PORTER_BOTH T directed(T rounded, double error) {
  bool const downwards = mode == Rounding::down || (mode == Rounding::zero && !negative(rounded));
  if (downwards) return error < 0 ? next_below(rounded) : rounded;
  return error > 0 ? next_above(rounded) : rounded;
}

/// Rounds value + error, of which |error| is below half a unit in the last place of `value`, to float.
template <Rounding mode> PORTER_BOTH float narrowed(double value, double error) {
  float const rounded = opaque(static_cast<float>(value));
  if (!finite(value)) return rounded;
  double const difference = value - static_cast<double>(rounded);
  return directed<mode>(rounded, difference != 0 ? difference : error);
}

/// What rounding leaves of a + b; exact, and no intermediate result overflows unless the sum does.
PORTER_BOTH double sum_error(double a, double b, double sum) {
  bool const ordered = __builtin_fabs(a) >= __builtin_fabs(b);
  double const large = ordered ? a : b, small = ordered ? b : a;
  return small - opaque(sum - large);
}

/// A sum of zero keeps its sign in IEEE 754: exact cancellation gives -0 when rounding down, +0 otherwise.
template <Rounding mode, class T> PORTER_BOTH T signed_zero(bool a_negative, bool b_negative) {
  bool const minus = mode == Rounding::down ? a_negative || b_negative : a_negative && b_negative;
  return minus ? -T(0) : T(0);
}

template <Rounding mode> PORTER_BOTH float add(float a, float b) {
  double const wide_a = a, wide_b = b, sum = opaque(wide_a + wide_b);
  if (sum == 0) return signed_zero<mode, float>(negative(a), negative(b));
  return narrowed<mode>(sum, finite(sum) ? sum_error(wide_a, wide_b, sum) : 0.0);
}
template <Rounding mode> PORTER_BOTH float mul(float a, float b) {
  return narrowed<mode>(opaque(static_cast<double>(a) * static_cast<double>(b)), 0.0);
}
template <Rounding mode> PORTER_BOTH float fma(float a, float b, float c) {
  double const product = opaque(static_cast<double>(a) * static_cast<double>(b));
  double const wide_c = c, sum = opaque(product + wide_c);
  if (sum == 0) return signed_zero<mode, float>(negative(product), negative(c));
  return narrowed<mode>(sum, finite(sum) ? sum_error(product, wide_c, sum) : 0.0);
}
template <Rounding mode> PORTER_BOTH float div(float a, float b) {
  double const wide_a = a, wide_b = b, quotient = opaque(wide_a / wide_b);
  if (!finite(quotient) || !finite(wide_b)) return static_cast<float>(quotient);
  double const left = __builtin_fma(-quotient, wide_b, wide_a);
  return narrowed<mode>(quotient, negative(b) ? -left : left);
}
template <Rounding mode> PORTER_BOTH float sqrt(float a) {
  double const wide = a, root = opaque(__builtin_sqrt(wide));
  if (!finite(root)) return static_cast<float>(root);
  return narrowed<mode>(root, __builtin_fma(-root, root, wide));
}

/// x = fraction * 2^exponent with a fraction in [1, 2); for x finite and not 0.
struct Parts {
  double fraction;
  int exponent;
  PORTER_BOTH explicit Parts(double x) {
    int subnormal = 0;
    if ((bits_as<unsigned long long>(x) >> 52 & 0x7ffull) == 0ull) x *= 0x1p64, subnormal = 64;
    unsigned long long const bits = bits_as<unsigned long long>(x);
    exponent = static_cast<int>(bits >> 52 & 0x7ffull) - 1023 - subnormal;
    fraction = bits_as<double>((bits & 0x800fffffffffffffull) | 0x3ff0000000000000ull);
  }
};
PORTER_BOTH double power_of_two(int exponent) {
  return bits_as<double>(static_cast<unsigned long long>(1023 + exponent) << 52);
}
/// x * 2^exponent, exact where the result is normal. In three steps, because the exponent may exceed the range.
PORTER_BOTH double scaled(double x, int exponent) {
  int const step = exponent / 3;
  return opaque(opaque(x * power_of_two(step)) * power_of_two(step)) * power_of_two(exponent - 2 * step);
}

/// Rounding to nearest overflows where another rounding stays at the largest finite number.
template <Rounding mode> PORTER_BOTH double overflowed(double infinity) { return directed<mode>(infinity, -infinity); }

template <Rounding mode> PORTER_BOTH double add(double a, double b) {
  double const sum = opaque(a + b);
  if (sum == 0) return signed_zero<mode, double>(negative(a), negative(b));
  if (!finite(sum)) return finite(a) && finite(b) ? overflowed<mode>(sum) : sum;
  return directed<mode>(sum, sum_error(a, b, sum));
}
template <Rounding mode> PORTER_BOTH double mul(double a, double b) {
  double const product = opaque(a * b);
  if (!finite(product)) return finite(a) && finite(b) ? overflowed<mode>(product) : product;
  if (a == 0 || b == 0) return product;
  Parts const x(a), y(b);
  double const rounded = scaled(product, -(x.exponent + y.exponent));
  return directed<mode>(product, __builtin_fma(x.fraction, y.fraction, -rounded));
}
template <Rounding mode> PORTER_BOTH double div(double a, double b) {
  double const quotient = opaque(a / b);
  if (!finite(quotient)) return finite(a) && finite(b) && b != 0 ? overflowed<mode>(quotient) : quotient;
  if (a == 0 || !finite(b)) return quotient;
  Parts const x(a), y(b);
  double const left = __builtin_fma(-scaled(quotient, y.exponent - x.exponent), y.fraction, x.fraction);
  return directed<mode>(quotient, negative(b) ? -left : left);
}
template <Rounding mode> PORTER_BOTH double sqrt(double a) {
  double const root = opaque(__builtin_sqrt(a));
  if (a == 0 || !finite(root)) return root;
  Parts const x(a);
  int const half = x.exponent >> 1;
  double const rounded = scaled(root, -half);
  return directed<mode>(root, __builtin_fma(-rounded, rounded, scaled(x.fraction, x.exponent - 2 * half)));
}

/// An exact sum of up to four doubles, as parts that do not overlap (Shewchuk's growing expansion).
struct ExactSum {
  double part[4] = {0, 0, 0, 0};
  int count = 0;
  PORTER_BOTH void add(double x) {
    for (int i = 0; i < count; ++i) {
      double const sum = opaque(x + part[i]);
      part[i] = sum_error(x, part[i], sum);
      x = sum;
    }
    part[count++] = x;
  }
  /// Of the whole: of its largest part that is not 0.
  PORTER_BOTH double sign() const {
    for (int i = 3; i > 0; --i)
      if (part[i] != 0) return part[i];
    return part[0];
  }
};

template <Rounding mode> PORTER_BOTH double fma(double a, double b, double c) {
  double const result = opaque(__builtin_fma(a, b, c));
  if (!finite(a) || !finite(b) || !finite(c)) return result;
  if (a == 0 || b == 0) return add<mode>(a * b, c);
  if (c == 0) return mul<mode>(a, b);
  if (!finite(result)) return overflowed<mode>(result);
  Parts const x(a), y(b), z(c);
  double const product = opaque(x.fraction * y.fraction);
  int const unit = x.exponent + y.exponent, distance = z.exponent - unit;
  // Far apart, the smaller summand only says on which side of the larger one the sum lies.
  if (distance > 200) return directed<mode>(result, product);
  ExactSum difference;
  difference.add(distance < -200 ? (negative(c) ? -0x1p-300 : 0x1p-300) : scaled(z.fraction, distance));
  difference.add(__builtin_fma(x.fraction, y.fraction, -product));
  difference.add(product);
  difference.add(-scaled(result, -unit));
  if (result == 0 && difference.sign() == 0) return signed_zero<mode, double>(negative(product), negative(c));
  return directed<mode>(result, difference.sign());
}

/// The float nearest to 1 / sqrt(x): the estimate, or a neighbour if that is on the other side of the midpoint.
PORTER_BOTH float inverse_root(float x) {
  double const wide = x;
  float const estimate = opaque(static_cast<float>(1.0 / __builtin_sqrt(wide)));
  if (!(wide > 0) || !finite(wide)) return estimate;
  double const middle = static_cast<double>(estimate);
  double const above = 0.5 * (middle + static_cast<double>(next_above(estimate)));
  double const below = 0.5 * (middle + static_cast<double>(next_below(estimate)));
  if (__builtin_fma(wide, above * above, -1.0) < 0) return next_above(estimate);
  if (__builtin_fma(wide, below * below, -1.0) > 0) return next_below(estimate);
  return estimate;
}

/// Conversion of a whole number, saturating; `nan` is what CUDA makes of a NaN.
template <class To, class From> PORTER_BOTH To saturated(From whole, To low, To high, To nan) {
  if (is_nan(whole)) return nan;
  // Powers of two, hence exact: the first value above the range, and the lowest one in it.
  From const end = static_cast<From>(high / 2 + 1) * From(2);
  if (whole >= end) return high;
  return whole < static_cast<From>(low) ? low : static_cast<To>(whole);
}
template <class From> PORTER_BOTH int to_int(From whole) {
  int const lowest = -0x7fffffff - 1;
  return saturated<int>(whole, lowest, 0x7fffffff, sizeof(From) == 8 ? lowest : 0);
}
template <class From> PORTER_BOTH unsigned to_uint(From whole) {
  return saturated<unsigned>(whole, 0u, 0xffffffffu, sizeof(From) == 8 ? 0x80000000u : 0u);
}
template <class From> PORTER_BOTH long long to_ll(From whole) {
  long long const lowest = -0x7fffffffffffffffll - 1;
  return saturated<long long>(whole, lowest, 0x7fffffffffffffffll, lowest);
}
template <class From> PORTER_BOTH unsigned long long to_ull(From whole) {
  return saturated<unsigned long long>(whole, 0ull, 0xffffffffffffffffull, 0x8000000000000000ull);
}
#if defined(__AMDGCN__)
// The hardware saturates and makes 0 of a NaN; a C++ conversion would let the compiler drop out-of-range cases.
template <> PORTER_BOTH int to_int<float>(float whole) {
  int result;
  __asm__("v_cvt_i32_f32 %0, %1" : "=v"(result) : "v"(whole));
  return result;
}
template <> PORTER_BOTH unsigned to_uint<float>(float whole) {
  unsigned result;
  __asm__("v_cvt_u32_f32 %0, %1" : "=v"(result) : "v"(whole));
  return result;
}
#endif

}  // namespace detail

// Directed rounding: rd is down, ru up, rz towards zero.
#define PORTER_DIRECTED(suffix, mode)                                                                                  \
  PORTER_BOTH float fadd_##suffix(float a, float b) { return detail::add<detail::Rounding::mode>(a, b); }              \
  PORTER_BOTH float fsub_##suffix(float a, float b) { return detail::add<detail::Rounding::mode>(a, -b); }             \
  PORTER_BOTH float fmul_##suffix(float a, float b) { return detail::mul<detail::Rounding::mode>(a, b); }              \
  PORTER_BOTH float fdiv_##suffix(float a, float b) { return detail::div<detail::Rounding::mode>(a, b); }              \
  PORTER_BOTH float frcp_##suffix(float a) { return detail::div<detail::Rounding::mode>(1.0f, a); }                    \
  PORTER_BOTH float fsqrt_##suffix(float a) { return detail::sqrt<detail::Rounding::mode>(a); }                        \
  PORTER_BOTH float fmaf_##suffix(float a, float b, float c) { return detail::fma<detail::Rounding::mode>(a, b, c); }  \
  PORTER_BOTH float fmaf_ieee_##suffix(float a, float b, float c) { return fmaf_##suffix(a, b, c); }                   \
  PORTER_BOTH double dadd_##suffix(double a, double b) { return detail::add<detail::Rounding::mode>(a, b); }           \
  PORTER_BOTH double dsub_##suffix(double a, double b) { return detail::add<detail::Rounding::mode>(a, -b); }          \
  PORTER_BOTH double dmul_##suffix(double a, double b) { return detail::mul<detail::Rounding::mode>(a, b); }           \
  PORTER_BOTH double ddiv_##suffix(double a, double b) { return detail::div<detail::Rounding::mode>(a, b); }           \
  PORTER_BOTH double drcp_##suffix(double a) { return detail::div<detail::Rounding::mode>(1.0, a); }                   \
  PORTER_BOTH double dsqrt_##suffix(double a) { return detail::sqrt<detail::Rounding::mode>(a); }                      \
  PORTER_BOTH double fma_##suffix(double a, double b, double c) { return detail::fma<detail::Rounding::mode>(a, b, c); }

PORTER_DIRECTED(rd, down)
PORTER_DIRECTED(ru, up)
PORTER_DIRECTED(rz, zero)

// Rounding to nearest, not fused with what surrounds the call. -ffast-math overrules the pragma.
#if defined(__FAST_MATH__)
#define PORTER_ROUNDED(x) detail::opaque(x)
#else
#define PORTER_ROUNDED(x) (x)
#endif
// Integers and doubles as shorter floating-point numbers, rounded in a direction.
namespace detail {
template <Rounding mode, class To, class From> PORTER_BOTH To floating(From x) {
  To const nearest = static_cast<To>(x);
  To const end = static_cast<To>(From(-1) < From(0) ? 0x1p63 : 0x1p64);
  bool const above = nearest >= end || static_cast<From>(nearest) > x;
  bool const below = !above && static_cast<From>(nearest) < x;
  return directed<mode>(nearest, above ? -1.0 : below ? 1.0 : 0.0);
}
}  // namespace detail
#define PORTER_FLOATING(suffix, mode)                                                                                  \
  template <class To, class From> PORTER_BOTH To floating_##suffix(From x) {                                           \
    return detail::floating<detail::Rounding::mode, To>(x);                                                            \
  }                                                                                                                    \
  PORTER_BOTH float double2float_##suffix(double x) { return detail::narrowed<detail::Rounding::mode>(x, 0.0); }
PORTER_FLOATING(rd, down)
PORTER_FLOATING(ru, up)
PORTER_FLOATING(rz, zero)
#undef PORTER_FLOATING

PORTER_BOTH float fadd_rn(float a, float b) { PORTER_UNFUSED return PORTER_ROUNDED(a + b); }
PORTER_BOTH float fsub_rn(float a, float b) { PORTER_UNFUSED return PORTER_ROUNDED(a - b); }
PORTER_BOTH float fmul_rn(float a, float b) { PORTER_UNFUSED return PORTER_ROUNDED(a * b); }
PORTER_BOTH double dadd_rn(double a, double b) { PORTER_UNFUSED return PORTER_ROUNDED(a + b); }
PORTER_BOTH double dsub_rn(double a, double b) { PORTER_UNFUSED return PORTER_ROUNDED(a - b); }
PORTER_BOTH double dmul_rn(double a, double b) { PORTER_UNFUSED return PORTER_ROUNDED(a * b); }
PORTER_BOTH float fmaf_ieee_rn(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
/// Through double, whose 53 bits make the second rounding harmless.
PORTER_BOTH float fsqrt_rn(float a) { return static_cast<float>(__builtin_sqrt(static_cast<double>(a))); }
PORTER_BOTH float frsqrt_rn(float a) { return detail::inverse_root(a); }

/// Clamped to [0, 1]; NaN gives 0.
PORTER_BOTH float saturatef(float x) { return __builtin_fminf(__builtin_fmaxf(x, 0.0f), 1.0f); }

// Conversions to integers.
#define PORTER_CONVERSIONS(from, T, f)                                                                                 \
  PORTER_CONVERSION(from, T, int, int, f)                                                                              \
  PORTER_CONVERSION(from, T, uint, unsigned, f)                                                                        \
  PORTER_CONVERSION(from, T, ll, long long, f)                                                                         \
  PORTER_CONVERSION(from, T, ull, unsigned long long, f)
#define PORTER_CONVERSION(from, T, to, To, f)                                                                          \
  PORTER_BOTH To from##2##to##_rn(T x) { return detail::to_##to(__builtin_rint##f(x)); }                               \
  PORTER_BOTH To from##2##to##_rz(T x) { return detail::to_##to(__builtin_trunc##f(x)); }                              \
  PORTER_BOTH To from##2##to##_rd(T x) { return detail::to_##to(__builtin_floor##f(x)); }                              \
  PORTER_BOTH To from##2##to##_ru(T x) { return detail::to_##to(__builtin_ceil##f(x)); }
PORTER_CONVERSIONS(float, float, f)
PORTER_CONVERSIONS(double, double, )

PORTER_BOTH double fdivide(double a, double b) { return a / b; }

PORTER_BOTH unsigned umin(unsigned a, unsigned b) { return a < b ? a : b; }
PORTER_BOTH unsigned umax(unsigned a, unsigned b) { return a < b ? b : a; }
PORTER_BOTH long long llmin(long long a, long long b) { return a < b ? a : b; }
PORTER_BOTH long long llmax(long long a, long long b) { return a < b ? b : a; }
PORTER_BOTH unsigned long long ullmin(unsigned long long a, unsigned long long b) { return a < b ? a : b; }
PORTER_BOTH unsigned long long ullmax(unsigned long long a, unsigned long long b) { return a < b ? b : a; }

#if defined(__HIP__) || defined(__HIPCC__)

/// `__tanhf`: CUDA promises 2^-11 relative error; HIP's tanhf is nearer.
__device__ inline float fast_tanhf(float x) { return ::tanhf(x); }

// Pairs of floats, as Blackwell has them.
#define PORTER_PAIRS(suffix, add, mul, fma)                                                                            \
  __device__ inline float2 fadd2_##suffix(float2 a, float2 b) { return make_float2(add(a.x, b.x), add(a.y, b.y)); }    \
  __device__ inline float2 fmul2_##suffix(float2 a, float2 b) { return make_float2(mul(a.x, b.x), mul(a.y, b.y)); }    \
  __device__ inline float2 ffma2_##suffix(float2 a, float2 b, float2 c) {                                              \
    return make_float2(fma(a.x, b.x, c.x), fma(a.y, b.y, c.y));                                                        \
  }
PORTER_PAIRS(rn, fadd_rn, fmul_rn, fmaf_ieee_rn)
PORTER_PAIRS(rd, fadd_rd, fmul_rd, fmaf_rd)
PORTER_PAIRS(ru, fadd_ru, fmul_ru, fmaf_ru)
PORTER_PAIRS(rz, fadd_rz, fmul_rz, fmaf_rz)
#undef PORTER_PAIRS

// CUDA has both names for float as well.
__device__ inline void sincos(float x, float* s, float* c) { ::sincosf(x, s, c); }
__device__ inline void sincos(double x, double* s, double* c) { ::sincos(x, s, c); }
__device__ inline void sincospi(float x, float* s, float* c) { ::sincospif(x, s, c); }
__device__ inline void sincospi(double x, double* s, double* c) { ::sincospi(x, s, c); }

#endif  // HIP

}  // namespace porter

#undef PORTER_DIRECTED
#undef PORTER_CONVERSIONS
#undef PORTER_CONVERSION
#undef PORTER_UNFUSED
#undef PORTER_ROUNDED
#undef PORTER_BOTH
#endif  // PORTER_MATH_HPP
