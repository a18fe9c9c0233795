// CUDA's loads and stores with cache hints, and its queries and conversions of address spaces, which HIP lacks.
//
// A hint changes speed, not results. Where CUDA's form also bypasses a cache that is not coherent (`__ldcg`,
// `__ldcv`, `__stcg`, `__stwt`), so does ours: other blocks may poll on it. SPDX-License-Identifier: Apache-2.0
#ifndef PORTER_MEMORY_HPP
#define PORTER_MEMORY_HPP

#if defined(__HIP__) || defined(__HIPCC__)

#include <hip/hip_runtime.h>

#define PORTER_ACCESS template <class T> __device__ inline __attribute__((always_inline))

namespace porter {
namespace detail {

// The largest word that a type is made of; it may alias any type.
template <unsigned size> struct Word;
template <> struct Word<1> {
  typedef unsigned char __attribute__((may_alias)) type;
};
template <> struct Word<2> {
  typedef unsigned short __attribute__((may_alias)) type;
};
template <> struct Word<4> {
  typedef unsigned __attribute__((may_alias)) type;
};
template <> struct Word<8> {
  typedef unsigned long long __attribute__((may_alias)) type;
};
template <> struct Word<16> {
  typedef unsigned __attribute__((ext_vector_type(4), may_alias)) type;
};

template <class T> constexpr unsigned word_size(unsigned most) {
  return most == 1 || (sizeof(T) % most == 0 && alignof(T) % most == 0) ? most : word_size<T>(most / 2);
}

struct Streaming {
  static constexpr unsigned most = 16;
  template <class W> static __device__ W load(W const* p) { return __builtin_nontemporal_load(p); }
  template <class W> static __device__ void store(W* p, W value) { __builtin_nontemporal_store(value, p); }
};
/// Past the caches that one block alone sees.
struct DeviceWide {
  static constexpr unsigned most = 8;
  template <class W> static __device__ W load(W const* p) {
    return __hip_atomic_load(p, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  }
  template <class W> static __device__ void store(W* p, W value) {
    __hip_atomic_store(p, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_AGENT);
  }
};
/// Past all caches of this device.
struct SystemWide {
  static constexpr unsigned most = 8;
  template <class W> static __device__ W load(W const* p) {
    return __hip_atomic_load(p, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
  }
  template <class W> static __device__ void store(W* p, W value) {
    __hip_atomic_store(p, value, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_SYSTEM);
  }
};

template <class Access, class T> __device__ inline __attribute__((always_inline)) T loaded(T const* p) {
  constexpr unsigned size = word_size<T>(Access::most);
  using W = typename Word<size>::type;
  W words[sizeof(T) / size];
#pragma unroll
  for (unsigned i = 0; i < sizeof(T) / size; ++i)
    words[i] = Access::template load<W>(reinterpret_cast<W const*>(p) + i);
  T value;
  __builtin_memcpy(static_cast<void*>(&value), words, sizeof(T));
  return value;
}

template <class Access, class T> __device__ inline __attribute__((always_inline)) void stored(T* p, T const& value) {
  constexpr unsigned size = word_size<T>(Access::most);
  using W = typename Word<size>::type;
  W words[sizeof(T) / size];
  __builtin_memcpy(words, &value, sizeof(T));
#pragma unroll
  for (unsigned i = 0; i < sizeof(T) / size; ++i) Access::template store<W>(reinterpret_cast<W*>(p) + i, words[i]);
}

template <class T> struct Same {
  using type = T;
};

}  // namespace detail

PORTER_ACCESS T ldg(T const* p) { return *p; }
PORTER_ACCESS T ldca(T const* p) { return *p; }
PORTER_ACCESS T ldcs(T const* p) { return detail::loaded<detail::Streaming>(p); }
PORTER_ACCESS T ldlu(T const* p) { return detail::loaded<detail::Streaming>(p); }
PORTER_ACCESS T ldcg(T const* p) { return detail::loaded<detail::DeviceWide>(p); }
PORTER_ACCESS T ldcv(T const* p) { return detail::loaded<detail::SystemWide>(p); }

PORTER_ACCESS void stwb(T* p, typename detail::Same<T>::type value) { *p = value; }
PORTER_ACCESS void stcs(T* p, typename detail::Same<T>::type value) { detail::stored<detail::Streaming>(p, value); }
PORTER_ACCESS void stcg(T* p, typename detail::Same<T>::type value) { detail::stored<detail::DeviceWide>(p, value); }
PORTER_ACCESS void stwt(T* p, typename detail::Same<T>::type value) { detail::stored<detail::SystemWide>(p, value); }

// Address spaces. Constant memory is global memory here, so there is no `__isConstant`.

namespace detail {
typedef __attribute__((address_space(3))) void* shared_pointer;
typedef __attribute__((address_space(5))) void* private_pointer;
}  // namespace detail

__device__ inline unsigned isShared(void const* p) {
  return __builtin_amdgcn_is_shared((const __attribute__((address_space(0))) void*)p);
}
__device__ inline unsigned isLocal(void const* p) {
  return __builtin_amdgcn_is_private((const __attribute__((address_space(0))) void*)p);
}
__device__ inline unsigned isGlobal(void const* p) { return !isShared(p) && !isLocal(p); }

__device__ inline size_t cvta_generic_to_shared(void const* p) {
  return (unsigned)(__UINTPTR_TYPE__)(detail::shared_pointer) const_cast<void*>(p);
}
__device__ inline size_t cvta_generic_to_local(void const* p) {
  return (unsigned)(__UINTPTR_TYPE__)(detail::private_pointer) const_cast<void*>(p);
}
__device__ inline size_t cvta_generic_to_global(void const* p) { return reinterpret_cast<size_t>(p); }
__device__ inline void* cvta_shared_to_generic(size_t address) {
  return (void*)(detail::shared_pointer)(__UINTPTR_TYPE__)(unsigned)address;
}
__device__ inline void* cvta_local_to_generic(size_t address) {
  return (void*)(detail::private_pointer)(__UINTPTR_TYPE__)(unsigned)address;
}
__device__ inline void* cvta_global_to_generic(size_t address) { return reinterpret_cast<void*>(address); }

}  // namespace porter

#undef PORTER_ACCESS

#endif  // HIP
#endif  // PORTER_MEMORY_HPP
