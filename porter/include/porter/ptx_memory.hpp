// Loads and stores of PTX, for inline assembly that was rewritten. SPDX-License-Identifier: Apache-2.0
//
// How an access was written is a type here: `cg` and `cv` bypass what is not coherent, as in memory.hpp; orders and
// scopes are those of atomics; `kept` is a plain access of an `asm volatile`, which no compiler moves or drops.
#ifndef PORTER_PTX_MEMORY_HPP
#define PORTER_PTX_MEMORY_HPP

#include "memory.hpp"

#if defined(__HIP__) || defined(__HIPCC__)

namespace porter {
namespace ptx {

/// As the compiler likes; the bytes may be of any type.
struct weak {
  static constexpr unsigned most = 16;
  template <class W> static __device__ W load(W const* p) { return *p; }
  template <class W> static __device__ void store(W* p, W value) { *p = value; }
};
template <int Order, int Scope> struct atomic_access {
  static constexpr unsigned most = 8;
  template <class W> static __device__ W load(W const* p) { return __hip_atomic_load(p, Order, Scope); }
  template <class W> static __device__ void store(W* p, W value) { __hip_atomic_store(p, value, Order, Scope); }
};
/// Where the compiler is concerned as `volatile`, at the price of a plain access.
using kept = atomic_access<__ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WAVEFRONT>;
using cs = porter::detail::Streaming;
using cg = porter::detail::DeviceWide;
using cv = porter::detail::SystemWide;
using relaxed_cta = atomic_access<__ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP>;
using relaxed_gpu = atomic_access<__ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT>;
using relaxed_sys = atomic_access<__ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM>;
using acquire_cta = atomic_access<__ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_WORKGROUP>;
using acquire_gpu = atomic_access<__ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_AGENT>;
using acquire_sys = atomic_access<__ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_SYSTEM>;
using release_cta = atomic_access<__ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_WORKGROUP>;
using release_gpu = atomic_access<__ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_AGENT>;
using release_sys = atomic_access<__ATOMIC_RELEASE, __HIP_MEMORY_SCOPE_SYSTEM>;

/// The registers of a vector access, aligned as PTX demands it.
template <int N, class T> struct alignas(N * sizeof(T)) registers { T x[N]; };

template <class How, class T> __device__ inline __attribute__((always_inline)) T ld(T const* p) {
  return porter::detail::loaded<How>(p);
}
template <class How, int N, class T> __device__ inline __attribute__((always_inline)) registers<N, T> ld(T const* p) {
  return porter::detail::loaded<How>(reinterpret_cast<registers<N, T> const*>(p));
}
template <class How, class T, class... Values>
__device__ inline __attribute__((always_inline)) void st(T* p, Values... values) {
  registers<sizeof...(Values), T> const all = {{static_cast<T>(values)...}};
  porter::detail::stored<How>(reinterpret_cast<registers<sizeof...(Values), T>*>(p), all);
}

/// Compares and exchanges; what was there.
template <int Order, int Scope, class T, class V>
__device__ inline __attribute__((always_inline)) T cas(T* p, V compare, V value) {
  constexpr int failed = Order == __ATOMIC_ACQ_REL   ? __ATOMIC_ACQUIRE
                         : Order == __ATOMIC_RELEASE ? __ATOMIC_RELAXED
                                                     : Order;
  T expected = static_cast<T>(compare);
  __hip_atomic_compare_exchange_strong(p, &expected, static_cast<T>(value), Order, failed, Scope);
  return expected;
}

}  // namespace ptx
}  // namespace porter

#endif  // HIP
#endif  // PORTER_PTX_MEMORY_HPP
