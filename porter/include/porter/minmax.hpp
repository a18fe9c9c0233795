// min and max with CUDA's overloads, for device and host code.
//
// HIP declares fewer of them. In device code arguments of two types meet a template that returns double:
// min(-1, 2u) is -1.0, where CUDA compares as unsigned and returns 2. In host code older compilers know min(int, int)
// alone, and min(0.5f, 0.7f) is 0.
// SPDX-License-Identifier: Apache-2.0
#ifndef PORTER_MINMAX_HPP
#define PORTER_MINMAX_HPP

#if defined(__HIP__) || defined(__HIPCC__)
#include <hip/hip_runtime.h>
#define PORTER_MINMAX inline __host__ __device__
struct __half;
struct __hip_bfloat16;
#else
#define PORTER_MINMAX inline
#endif

#pragma push_macro("min")
#pragma push_macro("max")
#undef min
#undef max

namespace porter {
namespace minmax {

template <bool, class T> struct if_true {};
template <class T> struct if_true<true, T> { using type = T; };
// Not __is_arithmetic: libstdc++ has a class of that name, after which older clangs take it for that class.
template <class T> struct is_number { static constexpr bool value = __is_integral(T) || __is_floating_point(T); };
// HIP's template for arguments of two types is an error for a half beside a number, where CUDA takes the number's type.
template <class T> struct is_half { static constexpr bool value = false; };
#if defined(__HIP__) || defined(__HIPCC__)
template <> struct is_half<::__half> { static constexpr bool value = true; };
template <> struct is_half<::__hip_bfloat16> { static constexpr bool value = true; };
#endif
template <class A, class B> struct is_mixed {
  static constexpr bool value = is_half<A>::value && __is_floating_point(B);
};
template <class A, class B>
using if_project_t = typename if_true<!(is_number<A>::value && is_number<B>::value) && !is_mixed<A, B>::value &&
                                          !is_mixed<B, A>::value,
                                      A>::type;
template <class A, class B> using if_mixed_t = typename if_true<is_mixed<A, B>::value, B>::type;

#if defined(__HIP__) || defined(__HIPCC__)
using ::max;
using ::min;
#else
void max();
void min();
#endif

// What an unqualified call finds for types of the project: the overloads of its own.
template <class A, class B> PORTER_MINMAX auto project_min(const A &a, const B &b) -> decltype(min(a, b)) {
  return min(a, b);
}
template <class A, class B> PORTER_MINMAX auto project_max(const A &a, const B &b) -> decltype(max(a, b)) {
  return max(a, b);
}

}  // namespace minmax

#define PORTER_MIN_MAX(result, first, second)                                             \
  PORTER_MINMAX result min(first a, second b) {                                           \
    return static_cast<result>(a) < static_cast<result>(b) ? static_cast<result>(a)       \
                                                           : static_cast<result>(b);      \
  }                                                                                       \
  PORTER_MINMAX result max(first a, second b) {                                           \
    return static_cast<result>(a) > static_cast<result>(b) ? static_cast<result>(a)       \
                                                           : static_cast<result>(b);      \
  }
#define PORTER_MIN_MAX_INTEGER(type)                       \
  PORTER_MIN_MAX(type, type, type)                         \
  PORTER_MIN_MAX(unsigned type, unsigned type, unsigned type) \
  PORTER_MIN_MAX(unsigned type, type, unsigned type)       \
  PORTER_MIN_MAX(unsigned type, unsigned type, type)
// As fmin and fmax: of a number and a NaN the number.
#define PORTER_MIN_MAX_FLOATING(result, first, second, suffix)                            \
  PORTER_MINMAX result min(first a, second b) { return __builtin_fmin##suffix(a, b); }    \
  PORTER_MINMAX result max(first a, second b) { return __builtin_fmax##suffix(a, b); }

PORTER_MIN_MAX_INTEGER(int)
PORTER_MIN_MAX_INTEGER(long)
PORTER_MIN_MAX_INTEGER(long long)
PORTER_MIN_MAX_FLOATING(float, float, float, f)
PORTER_MIN_MAX_FLOATING(double, double, double, )
PORTER_MIN_MAX_FLOATING(double, float, double, )
PORTER_MIN_MAX_FLOATING(double, double, float, )

#undef PORTER_MIN_MAX
#undef PORTER_MIN_MAX_INTEGER
#undef PORTER_MIN_MAX_FLOATING

template <class A, class B, class = minmax::if_project_t<A, B>>
PORTER_MINMAX auto min(const A &a, const B &b) -> decltype(minmax::project_min(a, b)) {
  return minmax::project_min(a, b);
}
template <class A, class B, class = minmax::if_project_t<A, B>>
PORTER_MINMAX auto max(const A &a, const B &b) -> decltype(minmax::project_max(a, b)) {
  return minmax::project_max(a, b);
}

template <class A, class B> PORTER_MINMAX minmax::if_mixed_t<A, B> min(const A &a, const B &b) {
  return min(static_cast<float>(a), b);
}
template <class A, class B> PORTER_MINMAX minmax::if_mixed_t<B, A> min(const A &a, const B &b) {
  return min(a, static_cast<float>(b));
}
template <class A, class B> PORTER_MINMAX minmax::if_mixed_t<A, B> max(const A &a, const B &b) {
  return max(static_cast<float>(a), b);
}
template <class A, class B> PORTER_MINMAX minmax::if_mixed_t<B, A> max(const A &a, const B &b) {
  return max(a, static_cast<float>(b));
}

}  // namespace porter

#pragma pop_macro("min")
#pragma pop_macro("max")
#undef PORTER_MINMAX

#endif
