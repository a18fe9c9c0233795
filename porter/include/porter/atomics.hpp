// Atomic functions of CUDA that HIP lacks: the `_block` forms, and overloads for some types.
//
// A name that HIP has for other types is forwarded to HIP for those. SPDX-License-Identifier: Apache-2.0
#ifndef PORTER_ATOMICS_HPP
#define PORTER_ATOMICS_HPP

#if defined(__HIP__) || defined(__HIPCC__)

#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>
#if __has_include(<hip/hip_bf16.h>)
#if __has_include("bf16.hpp")
#include "bf16.hpp"
#else
#include <hip/hip_bf16.h>
#endif
#endif

#define PORTER_ATOMIC template <class T> __device__ inline
#define PORTER_BLOCK __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP

namespace porter {
namespace detail {

template <class T> struct Operand {
  using type = T;
};

/// CAS loop of a 16-bit word within the 32-bit word around it; returns the old value of the 16 bits.
template <class Change> __device__ inline unsigned short change_16(unsigned short* address, Change change) {
  auto const place = reinterpret_cast<__UINTPTR_TYPE__>(address);
  auto* const around = reinterpret_cast<unsigned*>(place & ~static_cast<__UINTPTR_TYPE__>(3));
  unsigned const shift = static_cast<unsigned>(place & 2u) * 8u;
  unsigned seen = __hip_atomic_load(around, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  for (;;) {
    auto const old = static_cast<unsigned short>(seen >> shift);
    unsigned short wanted = old;
    if (!change(old, wanted)) return old;
    unsigned const next = (seen & ~(0xffffu << shift)) | static_cast<unsigned>(wanted) << shift;
    if (__hip_atomic_compare_exchange_strong(around, &seen, next, __ATOMIC_RELAXED, __ATOMIC_RELAXED,
                                             __HIP_MEMORY_SCOPE_AGENT))
      return old;
  }
}

}  // namespace detail

// Within a block.
PORTER_ATOMIC T atomicAdd_block(T* p, typename detail::Operand<T>::type v) {
  return __hip_atomic_fetch_add(p, v, PORTER_BLOCK);
}
PORTER_ATOMIC T atomicSub_block(T* p, typename detail::Operand<T>::type v) {
  return __hip_atomic_fetch_add(p, T(0) - v, PORTER_BLOCK);
}
PORTER_ATOMIC T atomicExch_block(T* p, typename detail::Operand<T>::type v) {
  return __hip_atomic_exchange(p, v, PORTER_BLOCK);
}
PORTER_ATOMIC T atomicMin_block(T* p, typename detail::Operand<T>::type v) {
  return __hip_atomic_fetch_min(p, v, PORTER_BLOCK);
}
PORTER_ATOMIC T atomicMax_block(T* p, typename detail::Operand<T>::type v) {
  return __hip_atomic_fetch_max(p, v, PORTER_BLOCK);
}
PORTER_ATOMIC T atomicAnd_block(T* p, typename detail::Operand<T>::type v) {
  return __hip_atomic_fetch_and(p, v, PORTER_BLOCK);
}
PORTER_ATOMIC T atomicOr_block(T* p, typename detail::Operand<T>::type v) {
  return __hip_atomic_fetch_or(p, v, PORTER_BLOCK);
}
PORTER_ATOMIC T atomicXor_block(T* p, typename detail::Operand<T>::type v) {
  return __hip_atomic_fetch_xor(p, v, PORTER_BLOCK);
}
PORTER_ATOMIC T atomicCAS_block(T* p, typename detail::Operand<T>::type compare, typename detail::Operand<T>::type v) {
  __hip_atomic_compare_exchange_strong(p, &compare, v, __ATOMIC_RELAXED, PORTER_BLOCK);
  return compare;
}
__device__ inline unsigned atomicInc_block(unsigned* p, unsigned limit) {
  return __builtin_amdgcn_atomic_inc32(p, limit, __ATOMIC_RELAXED, "workgroup");
}
__device__ inline unsigned atomicDec_block(unsigned* p, unsigned limit) {
  return __builtin_amdgcn_atomic_dec32(p, limit, __ATOMIC_RELAXED, "workgroup");
}

// With the host and other devices.
__device__ inline unsigned atomicInc_system(unsigned* p, unsigned limit) {
  return __builtin_amdgcn_atomic_inc32(p, limit, __ATOMIC_RELAXED, "");
}
__device__ inline unsigned atomicDec_system(unsigned* p, unsigned limit) {
  return __builtin_amdgcn_atomic_dec32(p, limit, __ATOMIC_RELAXED, "");
}

// Overloads: types that HIP lacks, and everything else as HIP has it.

__device__ inline unsigned short atomicCAS(unsigned short* p, unsigned short compare, unsigned short value) {
  return detail::change_16(p, [=](unsigned short old, unsigned short& wanted) {
    wanted = value;
    return old == compare;
  });
}
template <class T, class... Values> __device__ inline auto atomicCAS(T* p, Values... v)
    -> decltype(::atomicCAS(p, v...)) {
  return ::atomicCAS(p, v...);
}

#define PORTER_SIGNED_64(name, scope, operation)                                               \
  __device__ inline long long name(long long* p, long long v) {                                \
    return __hip_atomic_fetch_##operation(p, v, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_##scope); \
  }                                                                                            \
  template <class T, class V> __device__ inline auto name(T* p, V v) -> decltype(::name(p, v)) { return ::name(p, v); }
PORTER_SIGNED_64(atomicAnd, AGENT, and)
PORTER_SIGNED_64(atomicOr, AGENT, or)
PORTER_SIGNED_64(atomicXor, AGENT, xor)
PORTER_SIGNED_64(atomicMin, AGENT, min)
PORTER_SIGNED_64(atomicMax, AGENT, max)
PORTER_SIGNED_64(atomicAnd_system, SYSTEM, and)
PORTER_SIGNED_64(atomicOr_system, SYSTEM, or)
PORTER_SIGNED_64(atomicXor_system, SYSTEM, xor)
PORTER_SIGNED_64(atomicMin_system, SYSTEM, min)
PORTER_SIGNED_64(atomicMax_system, SYSTEM, max)

namespace detail {

// Numbers of 16 bits and pairs of them (__half, __hip_bfloat16, __half2, ...), added by compare-and-swap of a 32-bit
// word.
template <unsigned size> struct AddSmall;
template <> struct AddSmall<2> {
  template <class T> static __device__ T run(T* p, T v) {
    unsigned short const old =
        change_16(reinterpret_cast<unsigned short*>(p), [=](unsigned short seen, unsigned short& wanted) {
          T value;
          __builtin_memcpy(static_cast<void*>(&value), &seen, 2);
          value = __hadd(value, v);
          __builtin_memcpy(&wanted, &value, 2);
          return true;
        });
    __builtin_memcpy(static_cast<void*>(&v), &old, 2);
    return v;
  }
};
template <> struct AddSmall<4> {
  template <class T> static __device__ T run(T* p, T v) {
    auto* const word = reinterpret_cast<unsigned*>(p);
    unsigned seen = __hip_atomic_load(word, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT), wanted;
    T value;
    do {
      __builtin_memcpy(static_cast<void*>(&value), &seen, 4);
      value = __hadd2(value, v);
      __builtin_memcpy(&wanted, &value, 4);
    } while (!__hip_atomic_compare_exchange_strong(word, &seen, wanted, __ATOMIC_RELAXED, __ATOMIC_RELAXED,
                                                   __HIP_MEMORY_SCOPE_AGENT));
    __builtin_memcpy(static_cast<void*>(&v), &seen, 4);
    return v;
  }
};
/// A class that HIP's own atomicAdd does not take.
template <class T, class = void> struct is_small_number {
  static constexpr bool value = __is_class(T);
};
template <class T>
struct is_small_number<T, decltype(void(::atomicAdd(static_cast<T*>(nullptr), *static_cast<T*>(nullptr))))> {
  static constexpr bool value = false;
};
template <bool yes, class T> struct only_if {};
template <class T> struct only_if<true, T> {
  using type = T;
};

}  // namespace detail

template <class T> __device__ inline typename detail::only_if<detail::is_small_number<T>::value, T>::type atomicAdd(
    T* p, typename detail::Operand<T>::type v) {
  return detail::AddSmall<sizeof(T)>::run(p, v);
}

/// Each component by itself, which is all that CUDA promises.
__device__ inline float2 atomicAdd(float2* p, float2 v) {
  return make_float2(::atomicAdd(&p->x, v.x), ::atomicAdd(&p->y, v.y));
}
__device__ inline float4 atomicAdd(float4* p, float4 v) {
  return make_float4(::atomicAdd(&p->x, v.x), ::atomicAdd(&p->y, v.y), ::atomicAdd(&p->z, v.z),
                     ::atomicAdd(&p->w, v.w));
}
template <class T, class V> __device__ inline auto atomicAdd(T* p, V v) -> decltype(::atomicAdd(p, v)) {
  return ::atomicAdd(p, v);
}

}  // namespace porter

#undef PORTER_ATOMIC
#undef PORTER_BLOCK
#undef PORTER_SIGNED_64

#endif  // HIP
#endif  // PORTER_ATOMICS_HPP
