// What kernels use of `cuda::std` that the host's library has in a form for device code: types, traits, limits and
// constexpr functions are those of `std`, which clang compiles for both sides. Assignments, `swap` and `exchange`,
// which are constexpr only since C++20, stand here: `tuple` and `pair` are those of `std` with assignments for both sides.
// Not here, and reported: `optional`, `variant`, `expected`, `mdspan`, `chrono`, `bitset`.
// SPDX-License-Identifier: Apache-2.0
#ifndef PORTER_CUDA_STD_HPP
#define PORTER_CUDA_STD_HPP

#if defined(__HIP__) || defined(__HIPCC__)
#include <hip/hip_runtime.h>
#define PORTER_CU_STD __host__ __device__ constexpr inline
#else
#define PORTER_CU_STD constexpr inline
#endif

#include <algorithm>
#include <array>
#include <cassert>
#include <cfloat>
#include <climits>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>

#if defined(__HIP__) && __cplusplus < 202002L
namespace std {  // constexpr, and so for both sides, since C++20 only
template <class T, size_t N> __device__ inline bool operator==(array<T, N> const& a, array<T, N> const& b) {
  for (size_t i = 0; i < N; ++i)
    if (!(a[i] == b[i])) return false;
  return true;
}
template <class T, size_t N> __device__ inline bool operator!=(array<T, N> const& a, array<T, N> const& b) {
  return !(a == b);
}
template <class T, size_t N> __device__ inline bool operator<(array<T, N> const& a, array<T, N> const& b) {
  for (size_t i = 0; i < N; ++i) {
    if (a[i] < b[i]) return true;
    if (b[i] < a[i]) return false;
  }
  return false;
}
}  // namespace std
#endif

namespace porter {
namespace cuda {
namespace std {

template <class... T> struct tuple : ::std::tuple<T...> {
  using base = ::std::tuple<T...>;
  tuple() = default;
  tuple(tuple const&) = default;
  tuple(tuple&&) = default;
  template <class... U, ::std::enable_if_t<sizeof...(U) == sizeof...(T) && (::std::is_convertible_v<U, T> && ...), int> = 0>
  PORTER_CU_STD tuple(U&&... v) : base(static_cast<U&&>(v)...) {}
  template <class... U, ::std::enable_if_t<sizeof...(U) == sizeof...(T), int> = 0>
  PORTER_CU_STD tuple(::std::tuple<U...> const& other) : base(other) {}

  PORTER_CU_STD tuple& operator=(tuple const& other) {
    return assign(other, ::std::index_sequence_for<T...>());
  }
  template <class... U> PORTER_CU_STD tuple& operator=(::std::tuple<U...> const& other) {
    return assign(other, ::std::index_sequence_for<T...>());
  }
  template <class... U> PORTER_CU_STD tuple& operator=(::std::tuple<U...>&& other) {
    return taken(other, ::std::index_sequence_for<T...>());
  }
  template <class U, class V> PORTER_CU_STD tuple& operator=(::std::pair<U, V> const& other) {
    ::std::get<0>(static_cast<base&>(*this)) = other.first;
    ::std::get<1>(static_cast<base&>(*this)) = other.second;
    return *this;
  }

 private:
  template <class Other, size_t... at> PORTER_CU_STD tuple& assign(Other const& other, ::std::index_sequence<at...>) {
    (void(::std::get<at>(static_cast<base&>(*this)) = ::std::get<at>(other)), ...);
    return *this;
  }
  template <class... U, size_t... at>
  PORTER_CU_STD tuple& taken(::std::tuple<U...>& other, ::std::index_sequence<at...>) {
    (void(::std::get<at>(static_cast<base&>(*this)) = static_cast<U&&>(::std::get<at>(other))), ...);
    return *this;
  }
};
template <class... T> tuple(T...) -> tuple<T...>;

template <class A, class B> struct pair : ::std::pair<A, B> {
  using base = ::std::pair<A, B>;
  pair() = default;
  pair(pair const&) = default;
  pair(pair&&) = default;
  template <class U, class V>
  PORTER_CU_STD pair(U&& first, V&& second) : base(static_cast<U&&>(first), static_cast<V&&>(second)) {}
  template <class U, class V> PORTER_CU_STD pair(::std::pair<U, V> const& other) : base(other.first, other.second) {}

  PORTER_CU_STD pair& operator=(pair const& other) {
    this->first = other.first;
    this->second = other.second;
    return *this;
  }
  template <class U, class V> PORTER_CU_STD pair& operator=(::std::pair<U, V> const& other) {
    this->first = other.first;
    this->second = other.second;
    return *this;
  }
};
template <class A, class B> pair(A, B) -> pair<A, B>;

template <class... T> PORTER_CU_STD tuple<::std::decay_t<T>...> make_tuple(T&&... v) {
  return tuple<::std::decay_t<T>...>(static_cast<T&&>(v)...);
}
template <class... T> PORTER_CU_STD tuple<T&...> tie(T&... v) { return tuple<T&...>(v...); }
template <class A, class B> PORTER_CU_STD pair<::std::decay_t<A>, ::std::decay_t<B>> make_pair(A&& a, B&& b) {
  return pair<::std::decay_t<A>, ::std::decay_t<B>>(static_cast<A&&>(a), static_cast<B&&>(b));
}
template <class T> PORTER_CU_STD void swap(T& a, T& b) {
  T held = static_cast<T&&>(a);
  a = static_cast<T&&>(b);
  b = static_cast<T&&>(held);
}
template <class T, class U = T> PORTER_CU_STD T exchange(T& place, U&& v) {
  T old = static_cast<T&&>(place);
  place = static_cast<U&&>(v);
  return old;
}
template <class To, class From> PORTER_CU_STD To bit_cast(From const& v) { return __builtin_bit_cast(To, v); }
template <class T> PORTER_CU_STD int popcount(T v) {
  return __builtin_popcountll(static_cast<unsigned long long>(v));
}
template <class T> PORTER_CU_STD int countl_zero(T v) {
  return v == 0 ? static_cast<int>(8 * sizeof(T))
                : __builtin_clzll(static_cast<unsigned long long>(v)) - static_cast<int>(64 - 8 * sizeof(T));
}
template <class T> PORTER_CU_STD int countr_zero(T v) {
  return v == 0 ? static_cast<int>(8 * sizeof(T)) : __builtin_ctzll(static_cast<unsigned long long>(v));
}
template <class T> PORTER_CU_STD bool has_single_bit(T v) { return v != 0 && (v & (v - 1)) == 0; }

}  // namespace std

/// The wider of two operands' types, as `std::max` and `std::min` do not take them.
template <class T = void> struct maximum {
  template <class A, class B> PORTER_CU_STD ::std::common_type_t<A, B> operator()(A const& a, B const& b) const {
    return a < b ? b : a;
  }
};
template <class T = void> struct minimum {
  template <class A, class B> PORTER_CU_STD ::std::common_type_t<A, B> operator()(A const& a, B const& b) const {
    return b < a ? b : a;
  }
};
template <class T, class U> PORTER_CU_STD ::std::common_type_t<T, U> ceil_div(T a, U b) {
  using C = ::std::common_type_t<T, U>;
  return static_cast<C>(static_cast<C>(a) / static_cast<C>(b) + (static_cast<C>(a) % static_cast<C>(b) != 0));
}
template <class T, class U> PORTER_CU_STD ::std::common_type_t<T, U> round_up(T a, U b) {
  return static_cast<::std::common_type_t<T, U>>(ceil_div(a, b) * static_cast<::std::common_type_t<T, U>>(b));
}

}  // namespace cuda
}  // namespace porter

template <class... T>
struct std::tuple_size<porter::cuda::std::tuple<T...>> : ::std::tuple_size<::std::tuple<T...>> {};
template <size_t at, class... T>
struct std::tuple_element<at, porter::cuda::std::tuple<T...>> : ::std::tuple_element<at, ::std::tuple<T...>> {};
template <class A, class B>
struct std::tuple_size<porter::cuda::std::pair<A, B>> : ::std::tuple_size<::std::pair<A, B>> {};
template <size_t at, class A, class B>
struct std::tuple_element<at, porter::cuda::std::pair<A, B>> : ::std::tuple_element<at, ::std::pair<A, B>> {};

#undef PORTER_CU_STD

#endif  // PORTER_CUDA_STD_HPP
