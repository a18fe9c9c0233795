// What kernels use most of libcu++: `cuda::atomic`, `atomic_ref`, fences, `barrier`, `pipeline` and `memcpy_async`.
//
// `porter::cuda` stands for the namespace `cuda`. Atomics keep their scope and order. Asynchronous copies are done when
// the call returns: what waits for them finds them there. A block-scope pipeline of one role for all threads waits with
// a barrier of its group. A barrier counts arrivals in memory and waits in a loop: threads of one wavefront that part,
// some to wait and some to arrive later, hang on gfx942, which does not run them in turns.
// Not here: pipelines with producers and consumers, latches, semaphores, and `cuda::std` but for the order of accesses.
// SPDX-License-Identifier: Apache-2.0
#ifndef PORTER_LIBCUDACXX_HPP
#define PORTER_LIBCUDACXX_HPP

#if defined(__HIP__) || defined(__HIPCC__)

#include <hip/hip_runtime.h>

#define PORTER_CU __host__ __device__ inline __attribute__((always_inline))
#define PORTER_CU_DEVICE __device__ inline __attribute__((always_inline))

namespace porter {
namespace cuda {

enum thread_scope { thread_scope_system, thread_scope_device, thread_scope_block, thread_scope_thread };

enum memory_order : int {
  memory_order_relaxed = __ATOMIC_RELAXED,
  memory_order_consume = __ATOMIC_CONSUME,
  memory_order_acquire = __ATOMIC_ACQUIRE,
  memory_order_release = __ATOMIC_RELEASE,
  memory_order_acq_rel = __ATOMIC_ACQ_REL,
  memory_order_seq_cst = __ATOMIC_SEQ_CST
};

namespace detail {

template <class T, T v> struct constant {
  static constexpr T value = v;
};
template <size_t bytes> struct word;
template <> struct word<1> {
  using type = unsigned char;
};
template <> struct word<2> {
  using type = unsigned short;
};
template <> struct word<4> {
  using type = unsigned;
};
template <> struct word<8> {
  using type = unsigned long long;
};
template <class T> using word_t = typename word<sizeof(T)>::type;
template <class T> struct identity {
  using type = T;
};
template <class T> using plain = typename identity<T>::type;

/// The order of the failing half of an exchange: it stores nothing.
PORTER_CU memory_order failing(memory_order order) {
  return order == memory_order_acq_rel   ? memory_order_acquire
         : order == memory_order_release ? memory_order_relaxed
                                         : order;
}

#if defined(__HIP_DEVICE_COMPILE__) && __HIP_DEVICE_COMPILE__
#define PORTER_CU_SCOPED(call)                                                      \
  if constexpr (scope == thread_scope_system) return call(__HIP_MEMORY_SCOPE_SYSTEM); \
  else if constexpr (scope == thread_scope_device) return call(__HIP_MEMORY_SCOPE_AGENT); \
  else if constexpr (scope == thread_scope_block) return call(__HIP_MEMORY_SCOPE_WORKGROUP); \
  else return call(__HIP_MEMORY_SCOPE_SINGLETHREAD)
#else
#define PORTER_CU_SCOPED(call) return call(0)
#define __hip_atomic_load(p, order, scope) __atomic_load_n(p, order)
#define __hip_atomic_store(p, v, order, scope) __atomic_store_n(p, v, order)
#define __hip_atomic_exchange(p, v, order, scope) __atomic_exchange_n(p, v, order)
#define __hip_atomic_compare_exchange_strong(p, e, v, order, failing, scope) \
  __atomic_compare_exchange_n(p, e, v, false, order, failing)
#endif

template <thread_scope scope, class W> PORTER_CU W load(W const volatile* p, memory_order order) {
#define PORTER_CU_CALL(where) __hip_atomic_load(const_cast<W*>(p), order, where)
  PORTER_CU_SCOPED(PORTER_CU_CALL);
#undef PORTER_CU_CALL
}
template <thread_scope scope, class W> PORTER_CU void store(W volatile* p, W v, memory_order order) {
#define PORTER_CU_CALL(where) __hip_atomic_store(const_cast<W*>(p), v, order, where)
  PORTER_CU_SCOPED(PORTER_CU_CALL);
#undef PORTER_CU_CALL
}
template <thread_scope scope, class W> PORTER_CU W exchange(W volatile* p, W v, memory_order order) {
#define PORTER_CU_CALL(where) __hip_atomic_exchange(const_cast<W*>(p), v, order, where)
  PORTER_CU_SCOPED(PORTER_CU_CALL);
#undef PORTER_CU_CALL
}
template <thread_scope scope, class W>
PORTER_CU bool compare_exchange(W volatile* p, W* expected, W v, memory_order done, memory_order failed) {
#define PORTER_CU_CALL(where) __hip_atomic_compare_exchange_strong(const_cast<W*>(p), expected, v, done, failed, where)
  PORTER_CU_SCOPED(PORTER_CU_CALL);
#undef PORTER_CU_CALL
}
#if defined(__HIP_DEVICE_COMPILE__) && __HIP_DEVICE_COMPILE__
#define PORTER_CU_FETCH(name, builtin)                                                          \
  template <thread_scope scope, class T> PORTER_CU T name(T volatile* p, T v, memory_order order) { \
    PORTER_CU_SCOPED(PORTER_CU_CALL_##name);                                                    \
  }
#define PORTER_CU_CALL_fetch_add(where) __hip_atomic_fetch_add(const_cast<T*>(p), v, order, where)
#define PORTER_CU_CALL_fetch_and(where) __hip_atomic_fetch_and(const_cast<T*>(p), v, order, where)
#define PORTER_CU_CALL_fetch_or(where) __hip_atomic_fetch_or(const_cast<T*>(p), v, order, where)
#define PORTER_CU_CALL_fetch_xor(where) __hip_atomic_fetch_xor(const_cast<T*>(p), v, order, where)
#define PORTER_CU_CALL_fetch_min(where) __hip_atomic_fetch_min(const_cast<T*>(p), v, order, where)
#define PORTER_CU_CALL_fetch_max(where) __hip_atomic_fetch_max(const_cast<T*>(p), v, order, where)
PORTER_CU_FETCH(fetch_add, )
PORTER_CU_FETCH(fetch_and, )
PORTER_CU_FETCH(fetch_or, )
PORTER_CU_FETCH(fetch_xor, )
PORTER_CU_FETCH(fetch_min, )
PORTER_CU_FETCH(fetch_max, )
#undef PORTER_CU_FETCH
#undef PORTER_CU_CALL_fetch_add
#undef PORTER_CU_CALL_fetch_and
#undef PORTER_CU_CALL_fetch_or
#undef PORTER_CU_CALL_fetch_xor
#undef PORTER_CU_CALL_fetch_min
#undef PORTER_CU_CALL_fetch_max
#else
#undef __hip_atomic_load
#undef __hip_atomic_store
#undef __hip_atomic_exchange
#undef __hip_atomic_compare_exchange_strong
#define PORTER_CU_FETCH(name, changed)                                                             \
  template <thread_scope scope, class T> PORTER_CU T name(T volatile* p, T v, memory_order order) {    \
    T old;                                                                                         \
    __atomic_load(const_cast<T*>(p), &old, __ATOMIC_RELAXED);                                      \
    for (T next = (changed); !__atomic_compare_exchange(const_cast<T*>(p), &old, &next, false, order, \
                                                        __ATOMIC_RELAXED);                         \
         next = (changed)) {                                                                       \
    }                                                                                              \
    return old;                                                                                    \
  }
PORTER_CU_FETCH(fetch_add, static_cast<T>(old + v))
PORTER_CU_FETCH(fetch_and, static_cast<T>(old & v))
PORTER_CU_FETCH(fetch_or, static_cast<T>(old | v))
PORTER_CU_FETCH(fetch_xor, static_cast<T>(old ^ v))
PORTER_CU_FETCH(fetch_min, v < old ? v : old)
PORTER_CU_FETCH(fetch_max, old < v ? v : old)
#undef PORTER_CU_FETCH
#endif
#undef PORTER_CU_SCOPED

PORTER_CU void pause() {
#if defined(__HIP_DEVICE_COMPILE__) && __HIP_DEVICE_COMPILE__
  __builtin_amdgcn_s_sleep(1);
#endif
}

/// The operations on an object somewhere; `Self` says where.
template <class Self, class T, thread_scope scope> class Operations {
  using W = word_t<T>;
  static_assert(__is_trivially_copyable(T) && sizeof(T) <= 8, "gfx942 has atomics of 1, 2, 4 and 8 bytes");

  PORTER_CU W volatile* words() const {
    return reinterpret_cast<W volatile*>(const_cast<T*>(static_cast<Self const*>(this)->place()));
  }
  PORTER_CU T volatile* object() const { return const_cast<T*>(static_cast<Self const*>(this)->place()); }
  static PORTER_CU W word_of(T v) { return __builtin_bit_cast(W, v); }
  static PORTER_CU T value_of(W w) { return __builtin_bit_cast(T, w); }

 public:
  using value_type = T;

  PORTER_CU T load(memory_order order = memory_order_seq_cst) const {
    return value_of(detail::load<scope>(static_cast<W const volatile*>(words()), order));
  }
  PORTER_CU void store(T v, memory_order order = memory_order_seq_cst) const {
    detail::store<scope>(words(), word_of(v), order);
  }
  PORTER_CU T exchange(T v, memory_order order = memory_order_seq_cst) const {
    return value_of(detail::exchange<scope>(words(), word_of(v), order));
  }
  PORTER_CU bool compare_exchange_strong(T& expected, T v, memory_order done, memory_order failed) const {
    W known = word_of(expected);
    bool const did = detail::compare_exchange<scope>(words(), &known, word_of(v), done, failed);
    if (!did) expected = value_of(known);
    return did;
  }
  PORTER_CU bool compare_exchange_strong(T& expected, T v, memory_order order = memory_order_seq_cst) const {
    return compare_exchange_strong(expected, v, order, detail::failing(order));
  }
  PORTER_CU bool compare_exchange_weak(T& expected, T v, memory_order done, memory_order failed) const {
    return compare_exchange_strong(expected, v, done, failed);
  }
  PORTER_CU bool compare_exchange_weak(T& expected, T v, memory_order order = memory_order_seq_cst) const {
    return compare_exchange_strong(expected, v, order);
  }
  PORTER_CU bool is_lock_free() const { return true; }
  static constexpr bool is_always_lock_free = true;

  PORTER_CU T fetch_add(plain<T> v, memory_order order = memory_order_seq_cst) const {
    return detail::fetch_add<scope>(object(), v, order);
  }
  PORTER_CU T fetch_sub(plain<T> v, memory_order order = memory_order_seq_cst) const {
    return detail::fetch_add<scope>(object(), static_cast<T>(T() - v), order);
  }
  PORTER_CU T fetch_and(plain<T> v, memory_order order = memory_order_seq_cst) const {
    return detail::fetch_and<scope>(object(), v, order);
  }
  PORTER_CU T fetch_or(plain<T> v, memory_order order = memory_order_seq_cst) const {
    return detail::fetch_or<scope>(object(), v, order);
  }
  PORTER_CU T fetch_xor(plain<T> v, memory_order order = memory_order_seq_cst) const {
    return detail::fetch_xor<scope>(object(), v, order);
  }
  PORTER_CU T fetch_min(plain<T> v, memory_order order = memory_order_seq_cst) const {
    return detail::fetch_min<scope>(object(), v, order);
  }
  PORTER_CU T fetch_max(plain<T> v, memory_order order = memory_order_seq_cst) const {
    return detail::fetch_max<scope>(object(), v, order);
  }
  PORTER_CU void wait(T old, memory_order order = memory_order_seq_cst) const {
    while (word_of(load(order)) == word_of(old)) pause();
  }
  PORTER_CU void notify_one() const {}
  PORTER_CU void notify_all() const {}

  PORTER_CU operator T() const { return load(); }
  PORTER_CU T operator++() const { return static_cast<T>(fetch_add(T(1)) + T(1)); }
  PORTER_CU T operator++(int) const { return fetch_add(T(1)); }
  PORTER_CU T operator--() const { return static_cast<T>(fetch_sub(T(1)) - T(1)); }
  PORTER_CU T operator--(int) const { return fetch_sub(T(1)); }
  PORTER_CU T operator+=(plain<T> v) const { return static_cast<T>(fetch_add(v) + v); }
  PORTER_CU T operator-=(plain<T> v) const { return static_cast<T>(fetch_sub(v) - v); }
  PORTER_CU T operator&=(plain<T> v) const { return static_cast<T>(fetch_and(v) & v); }
  PORTER_CU T operator|=(plain<T> v) const { return static_cast<T>(fetch_or(v) | v); }
  PORTER_CU T operator^=(plain<T> v) const { return static_cast<T>(fetch_xor(v) ^ v); }
};

/// An object that the hardware changes at once.
template <class T, thread_scope scope> class Whole : public Operations<Whole<T, scope>, T, scope> {
  template <class, class, thread_scope> friend class Operations;
  alignas(sizeof(T)) T value_;
  PORTER_CU T const* place() const { return &value_; }

 public:
  Whole() = default;
  __host__ __device__ constexpr Whole(T v) : value_(v) {}
};

/// An object that it does not: with a lock of its own, as libcu++ has it.
template <class T, thread_scope scope> class Locked {
  static_assert(__is_trivially_copyable(T), "what is atomic is copied byte by byte");
  struct Bytes {
    unsigned char at[sizeof(T)];
  };
  T value_;
  mutable unsigned lock_;

  template <class Change> PORTER_CU void changed(Change change) const {
    unsigned open = 0;
    while (!detail::compare_exchange<scope>(&lock_, &open, 1u, memory_order_acquire, memory_order_relaxed)) {
      open = 0;
      pause();
    }
    change(const_cast<T&>(value_));
    detail::store<scope>(&lock_, 0u, memory_order_release);
  }
  // Lane by lane: one that waited for another lane of its wavefront could wait for ever.
  template <class Change> PORTER_CU void alone(Change change) const {
#if defined(__HIP_DEVICE_COMPILE__) && __HIP_DEVICE_COMPILE__
    for (unsigned long long left = __ballot(1); left; left &= left - 1) {
      if (static_cast<int>(__lane_id()) == __builtin_ctzll(left)) changed(change);
    }
#else
    changed(change);
#endif
  }
  static PORTER_CU Bytes bytes_of(T const& v) { return __builtin_bit_cast(Bytes, v); }

 public:
  using value_type = T;
  Locked() = default;
  __host__ __device__ constexpr Locked(T v) : value_(v), lock_(0) {}

  PORTER_CU T load(memory_order = memory_order_seq_cst) const {
    Bytes seen;
    alone([&seen](T& now) { seen = bytes_of(now); });
    return __builtin_bit_cast(T, seen);
  }
  PORTER_CU void store(T v, memory_order = memory_order_seq_cst) const {
    alone([&v](T& now) { now = v; });
  }
  PORTER_CU T exchange(T v, memory_order = memory_order_seq_cst) const {
    Bytes old;
    alone([&old, &v](T& now) {
      old = bytes_of(now);
      now = v;
    });
    return __builtin_bit_cast(T, old);
  }
  PORTER_CU bool compare_exchange_strong(T& expected, T v, memory_order, memory_order) const {
    Bytes const wanted = bytes_of(expected);
    Bytes seen;
    bool same = true;
    alone([&](T& now) {
      seen = bytes_of(now);
      for (size_t i = 0; i < sizeof(T); ++i) same = same && seen.at[i] == wanted.at[i];
      if (same) now = v;
    });
    if (!same) expected = __builtin_bit_cast(T, seen);
    return same;
  }
  PORTER_CU bool compare_exchange_strong(T& expected, T v, memory_order order = memory_order_seq_cst) const {
    return compare_exchange_strong(expected, v, order, order);
  }
  PORTER_CU bool compare_exchange_weak(T& expected, T v, memory_order done, memory_order failed) const {
    return compare_exchange_strong(expected, v, done, failed);
  }
  PORTER_CU bool compare_exchange_weak(T& expected, T v, memory_order order = memory_order_seq_cst) const {
    return compare_exchange_strong(expected, v, order, order);
  }
  PORTER_CU bool is_lock_free() const { return false; }
  static constexpr bool is_always_lock_free = false;
  PORTER_CU operator T() const { return load(); }
};

template <bool whole, class T, thread_scope scope> struct atomic_base {
  using type = Whole<T, scope>;
};
template <class T, thread_scope scope> struct atomic_base<false, T, scope> {
  using type = Locked<T, scope>;
};
template <class T> constexpr bool is_whole = sizeof(T) == 1 || sizeof(T) == 2 || sizeof(T) == 4 || sizeof(T) == 8;

}  // namespace detail

template <class T, thread_scope scope = thread_scope_system>
class atomic : public detail::atomic_base<detail::is_whole<T>, T, scope>::type {
  using Base = typename detail::atomic_base<detail::is_whole<T>, T, scope>::type;

 public:
  atomic() = default;
  __host__ __device__ constexpr atomic(T v) : Base(v) {}
  atomic(atomic const&) = delete;
  atomic& operator=(atomic const&) = delete;
  PORTER_CU T operator=(T v) {
    this->store(v);
    return v;
  }
};

template <class T, thread_scope scope = thread_scope_system>
class atomic_ref : public detail::Operations<atomic_ref<T, scope>, T, scope> {
  template <class, class, thread_scope> friend class detail::Operations;
  T* at_;
  PORTER_CU T const* place() const { return at_; }

 public:
  static constexpr size_t required_alignment = sizeof(T);
  PORTER_CU explicit atomic_ref(T& v) : at_(&v) {}
  PORTER_CU atomic_ref(atomic_ref const& other) : at_(other.at_) {}
  PORTER_CU T operator=(T v) const {
    this->store(v);
    return v;
  }
};

PORTER_CU void atomic_thread_fence(memory_order order, thread_scope scope = thread_scope_system) {
#if defined(__HIP_DEVICE_COMPILE__) && __HIP_DEVICE_COMPILE__
  if (order == memory_order_relaxed || scope == thread_scope_thread) return;
#define PORTER_CU_FENCE(where)                                                                        \
  (order == memory_order_acquire || order == memory_order_consume ? __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, where) \
   : order == memory_order_release                                ? __builtin_amdgcn_fence(__ATOMIC_RELEASE, where) \
   : order == memory_order_acq_rel                                ? __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, where) \
                                                                  : __builtin_amdgcn_fence(__ATOMIC_SEQ_CST, where))
  if (scope == thread_scope_system) PORTER_CU_FENCE("");
  else if (scope == thread_scope_device) PORTER_CU_FENCE("agent");
  else PORTER_CU_FENCE("workgroup");
#undef PORTER_CU_FENCE
#else
  (void)scope;
  __atomic_thread_fence(order);
#endif
}

namespace std {
using cuda::memory_order;
using cuda::memory_order_acq_rel;
using cuda::memory_order_acquire;
using cuda::memory_order_consume;
using cuda::memory_order_relaxed;
using cuda::memory_order_release;
using cuda::memory_order_seq_cst;
template <class T> using atomic = cuda::atomic<T, thread_scope_system>;
template <class T> using atomic_ref = cuda::atomic_ref<T, thread_scope_system>;
}  // namespace std

/// Arrivals are counted down; the last one begins the next phase.
template <thread_scope scope = thread_scope_system> class barrier {
  atomic<unsigned, scope> pending_, expected_, phase_;

  PORTER_CU_DEVICE void begin(unsigned count) {
    pending_.store(count, memory_order_relaxed);
    expected_.store(count, memory_order_relaxed);
    phase_.store(0, memory_order_release);
  }
  template <thread_scope other> friend __device__ void init(barrier<other>*, __PTRDIFF_TYPE__);

 public:
  using arrival_token = unsigned;
  barrier() = default;
  PORTER_CU_DEVICE explicit barrier(__PTRDIFF_TYPE__ count) { begin(static_cast<unsigned>(count)); }
  barrier(barrier const&) = delete;
  barrier& operator=(barrier const&) = delete;
  static constexpr __PTRDIFF_TYPE__ max() { return 1 << 20; }

  PORTER_CU_DEVICE arrival_token arrive(__PTRDIFF_TYPE__ count = 1) {
    unsigned const phase = phase_.load(memory_order_relaxed), of = static_cast<unsigned>(count);
    if (pending_.fetch_sub(of, memory_order_acq_rel) == of) {
      pending_.store(expected_.load(memory_order_relaxed), memory_order_relaxed);
      phase_.fetch_add(1u, memory_order_release);
    }
    return phase;
  }
  PORTER_CU_DEVICE bool try_wait_for_phase(arrival_token phase) const {
    return phase_.load(memory_order_acquire) != phase;
  }
  PORTER_CU_DEVICE void wait(arrival_token phase) const {
    while (!try_wait_for_phase(phase)) detail::pause();
  }
  PORTER_CU_DEVICE void arrive_and_wait() { wait(arrive()); }
  PORTER_CU_DEVICE void arrive_and_drop() {
    expected_.fetch_sub(1u, memory_order_relaxed);
    arrive();
  }
  PORTER_CU_DEVICE void wait_parity(bool parity) const {
    while ((phase_.load(memory_order_acquire) & 1u) == static_cast<unsigned>(parity)) detail::pause();
  }
};
template <thread_scope scope> __device__ inline void init(barrier<scope>* at, __PTRDIFF_TYPE__ count) {
  at->begin(static_cast<unsigned>(count));
}

template <size_t alignment> struct aligned_size_t {
  static constexpr size_t align = alignment;
  size_t value;
  PORTER_CU explicit aligned_size_t(size_t size) : value(size) {}
  PORTER_CU operator size_t() const { return value; }
};

template <thread_scope scope, unsigned char stages> struct pipeline_shared_state {
  pipeline_shared_state() = default;
  pipeline_shared_state(pipeline_shared_state const&) = delete;
};

/// All threads produce and consume; copies are done when they were asked for.
template <thread_scope scope> class pipeline {
  PORTER_CU_DEVICE static void together() {
    if (scope != thread_scope_thread) __syncthreads();
  }

 public:
  PORTER_CU_DEVICE void producer_acquire() { together(); }
  PORTER_CU_DEVICE void producer_commit() {}
  PORTER_CU_DEVICE void consumer_wait() { together(); }
  PORTER_CU_DEVICE void consumer_release() {}
  PORTER_CU_DEVICE bool quit() { return true; }
  template <unsigned char prior, thread_scope other> friend __device__ void pipeline_consumer_wait_prior(pipeline<other>&);
};
PORTER_CU_DEVICE pipeline<thread_scope_thread> make_pipeline() { return pipeline<thread_scope_thread>(); }
template <class Group, thread_scope scope, unsigned char stages>
PORTER_CU_DEVICE pipeline<scope> make_pipeline(Group const&, pipeline_shared_state<scope, stages>*) {
  static_assert(scope == thread_scope_thread || sizeof(Group) == 1, "a pipeline here is one of the whole block");
  return pipeline<scope>();
}
template <unsigned char prior, thread_scope scope> __device__ inline void pipeline_consumer_wait_prior(pipeline<scope>& p) {
  p.consumer_wait();
}

namespace detail {

template <class Unit> PORTER_CU_DEVICE void copied(void* to, void const* from, size_t bytes, size_t rank, size_t size) {
  for (size_t i = rank; i < bytes / sizeof(Unit); i += size)
    static_cast<Unit*>(to)[i] = static_cast<Unit const*>(from)[i];
}
PORTER_CU_DEVICE void copy(void* to, void const* from, size_t bytes, size_t rank, size_t size) {
  typedef unsigned __attribute__((may_alias)) Word;
  typedef unsigned __attribute__((ext_vector_type(4), may_alias)) Words;
  size_t const together = reinterpret_cast<size_t>(to) | reinterpret_cast<size_t>(from) | bytes;
  if (together % 16u == 0u) return copied<Words>(to, from, bytes, rank, size);
  if (together % 4u == 0u) return copied<Word>(to, from, bytes, rank, size);
  copied<char>(to, from, bytes, rank, size);
}

}  // namespace detail

/// With a pipeline or a barrier, by one thread or by a group; `bytes` is a number or an `aligned_size_t`.
template <class T, class Size, class Sync>
PORTER_CU_DEVICE void memcpy_async(T* to, T const* from, Size bytes, Sync&) {
  detail::copy(to, from, static_cast<size_t>(bytes), 0, 1);
}
template <class Group, class T, class Size, class Sync>
PORTER_CU_DEVICE void memcpy_async(Group const& group, T* to, T const* from, Size bytes, Sync&) {
  detail::copy(to, from, static_cast<size_t>(bytes), group.thread_rank(), group.size());
}

}  // namespace cuda
}  // namespace porter

#undef PORTER_CU
#undef PORTER_CU_DEVICE

#endif  // HIP
#endif  // PORTER_LIBCUDACXX_HPP
