// Loads and stores of PTX, for inline assembly that was rewritten. SPDX-License-Identifier: Apache-2.0
//
// How an access was written is a type here: `cg` and `cv` bypass what is not coherent, as in memory.hpp; orders and
// scopes are those of atomics; `kept` is a plain access of an `asm volatile`, which no compiler moves or drops, and
// `kept_cs` one that streams.
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
/// Of an `asm volatile`: the hint for the caches, and no compiler takes it out of its loop.
struct kept_cs {
  static constexpr unsigned most = cs::most;
  template <class W> static __device__ W load(W const* p) {
    __asm__ volatile("" ::: "memory");
    return cs::load(p);
  }
  template <class W> static __device__ void store(W* p, W value) {
    cs::store(p, value);
    __asm__ volatile("" ::: "memory");
  }
};
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

// Opcodes that macros put together of their arguments: `opcode<read("ld.global." #how "." #type)>` has the element's
// type and how it is accessed; one that says anything else does not compile. Names that no macro's parameter has.
namespace detail {
constexpr char const* elements = ".b8.u8.s8.b16.u16.s16.b32.u32.s32.f32.b64.u64.s64.f64";
constexpr char const* caches = ".weak.ca.wb.nc.cs.lu.cg.cv.wt.volatile";
constexpr char const* others = ".ld.ldu.st.global.const.local.param.v2.v4";
constexpr unsigned unknown = 1u << 31;

/// Whether the first part of a text, up to a point, is the first of a list.
constexpr bool begins(char const* text, char const* list) {
  return *list == 0 || *list == '.' ? *text == 0 || *text == '.' : *text == *list && begins(text + 1, list + 1);
}
constexpr char const* behind(char const* text) { return *text == 0 || *text == '.' ? text : behind(text + 1); }
/// Where the first part of a text stands in a list, from 1; 0 for nowhere.
constexpr unsigned place(char const* text, char const* list, unsigned number = 1) {
  return *list == 0 ? 0 : begins(text, list + 1) ? number : place(text, behind(list + 1), number + 1);
}
constexpr unsigned part(char const* text) {
  return place(text, elements) != 0 ? place(text, elements)
         : place(text, caches) != 0 ? place(text, caches) << 8
         : place(text, others) != 0 ? 0u
                                    : unknown;
}

template <unsigned Place> struct element;
template <> struct element<1> { using type = unsigned char; };
template <> struct element<2> { using type = unsigned char; };
template <> struct element<3> { using type = signed char; };
template <> struct element<4> { using type = unsigned short; };
template <> struct element<5> { using type = unsigned short; };
template <> struct element<6> { using type = short; };
template <> struct element<7> { using type = unsigned; };
template <> struct element<8> { using type = unsigned; };
template <> struct element<9> { using type = int; };
template <> struct element<10> { using type = float; };
template <> struct element<11> { using type = unsigned long long; };
template <> struct element<12> { using type = unsigned long long; };
template <> struct element<13> { using type = long long; };
template <> struct element<14> { using type = double; };

/// How an access is done, and how one of an `asm volatile` is.
template <class How, class Kept = How> struct ways {
  using porter_how = How;
  using porter_kept = Kept;
};
template <unsigned Place> struct cache;
template <> struct cache<0> : ways<weak, ptx::kept> {};
template <> struct cache<1> : ways<weak, ptx::kept> {};
template <> struct cache<2> : ways<weak, ptx::kept> {};
template <> struct cache<3> : ways<weak, ptx::kept> {};
template <> struct cache<4> : ways<weak> {};
template <> struct cache<5> : ways<cs, ptx::kept_cs> {};
template <> struct cache<6> : ways<cs, ptx::kept_cs> {};
template <> struct cache<7> : ways<cg> {};
template <> struct cache<8> : ways<cv> {};
template <> struct cache<9> : ways<cv> {};
template <> struct cache<10> : ways<cv> {};
}  // namespace detail

constexpr unsigned read(char const* text, unsigned known = 0) {
  return *text == 0 ? known
                    : read(*detail::behind(text) == 0 ? detail::behind(text) : detail::behind(text) + 1,
                           known | detail::part(text));
}
template <unsigned Code> struct opcode : detail::cache<(Code >> 8)> { using porter_type = typename detail::element<(Code & 0xffu)>::type; };

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

/// Adds to both halves of a word; `Sum` is a function of ptx.hpp. What was there.
template <int Order, int Scope, unsigned (*Sum)(unsigned, unsigned)>
__device__ inline __attribute__((always_inline)) unsigned add_pair(unsigned* p, unsigned value) {
  unsigned known = __hip_atomic_load(p, __ATOMIC_RELAXED, Scope);
  while (!__hip_atomic_compare_exchange_strong(p, &known, Sum(known, value), Order, __ATOMIC_RELAXED, Scope)) {
  }
  return known;
}

/// The same of one number of 16 bits.
template <int Order, int Scope, unsigned short (*Sum)(unsigned short, unsigned short)>
__device__ inline __attribute__((always_inline)) unsigned short add_one(unsigned short* p, unsigned short value) {
  unsigned short known = __hip_atomic_load(p, __ATOMIC_RELAXED, Scope);
  while (!__hip_atomic_compare_exchange_strong(p, &known, Sum(known, value), Order, __ATOMIC_RELAXED, Scope)) {
  }
  return known;
}

// An mbarrier: from below 20 bits of arrivals that are missing, 20 bits of arrivals in a phase, the number of the phase.
using mbarrier_word = unsigned long long;
constexpr mbarrier_word mbarrier_mask = 0xfffffu;

__device__ inline void mbarrier_init(mbarrier_word* at, unsigned count) {
  mbarrier_word const word = static_cast<mbarrier_word>(count) << 20 | count;
  __hip_atomic_store(at, word, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
}
template <bool Drops> __device__ inline mbarrier_word mbarrier_arrive(mbarrier_word* at, unsigned count) {
  mbarrier_word known = __hip_atomic_load(at, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP), next;
  do {
    mbarrier_word const pending = (known & mbarrier_mask) - count;
    mbarrier_word const expected = (known >> 20 & mbarrier_mask) - (Drops ? count : 0u);
    next = (known >> 40) << 40 | expected << 20 | pending;
    if (pending == 0u) next = ((known >> 40) + 1u) << 40 | expected << 20 | expected;
  } while (!__hip_atomic_compare_exchange_strong(at, &known, next, __ATOMIC_ACQ_REL, __ATOMIC_RELAXED,
                                                 __HIP_MEMORY_SCOPE_WORKGROUP));
  return known;
}
__device__ inline mbarrier_word mbarrier_phase(mbarrier_word* at) {
  return __hip_atomic_load(at, __ATOMIC_ACQUIRE, __HIP_MEMORY_SCOPE_WORKGROUP) >> 40;
}
__device__ inline bool mbarrier_passed(mbarrier_word* at, mbarrier_word state) { return mbarrier_phase(at) != state >> 40; }
__device__ inline bool mbarrier_passed_parity(mbarrier_word* at, unsigned parity) {
  return (mbarrier_phase(at) & 1u) != (parity & 1u);
}
__device__ inline unsigned mbarrier_pending(mbarrier_word state) { return static_cast<unsigned>(state & mbarrier_mask); }

}  // namespace ptx
}  // namespace porter

#endif  // HIP
#endif  // PORTER_PTX_MEMORY_HPP
