// <cuda/std/...>, <cuda/atomic>, <cuda/barrier>, <cuda/pipeline>: the standard library's names again, and CUDA's own.
#pragma once
#include "../std/streams.h"
#include "cooperative_groups.h"

namespace cuda {
#pragma clang force_cuda_host_device begin
namespace std { using namespace ::std; }
enum thread_scope { thread_scope_system, thread_scope_device, thread_scope_block, thread_scope_thread };
typedef ::std::memory_order memory_order;
using ::std::memory_order_relaxed;
using ::std::memory_order_consume;
using ::std::memory_order_acquire;
using ::std::memory_order_release;
using ::std::memory_order_acq_rel;
using ::std::memory_order_seq_cst;
template <class T, thread_scope scope = thread_scope_system> struct atomic : ::std::atomic<T> {
  using ::std::atomic<T>::atomic;
  using ::std::atomic<T>::operator=;
  T fetch_min(T, memory_order = memory_order_seq_cst) noexcept;
  T fetch_max(T, memory_order = memory_order_seq_cst) noexcept;
  void wait(T, memory_order = memory_order_seq_cst) const noexcept;
  void notify_all() noexcept;
  void notify_one() noexcept;
};
template <class T, thread_scope scope = thread_scope_system> struct atomic_ref : atomic<T, scope> {
  explicit atomic_ref(T &);
};
void atomic_thread_fence(memory_order, thread_scope = thread_scope_system);
template <thread_scope scope = thread_scope_system, class C = void> class barrier {
 public:
  typedef unsigned long long arrival_token;
  barrier();
  barrier(ptrdiff_t);
  arrival_token arrive(ptrdiff_t = 1);
  void wait(arrival_token &&) const;
  void arrive_and_wait();
  void arrive_and_drop();
};
template <thread_scope scope> void init(barrier<scope> *, ptrdiff_t);
template <thread_scope scope, unsigned stages> class pipeline_shared_state {};
template <thread_scope scope> class pipeline {
 public:
  void producer_acquire();
  void producer_commit();
  void consumer_wait();
  void consumer_release();
};
pipeline<thread_scope_thread> make_pipeline();
template <class G, class S, class... A> pipeline<thread_scope_block> make_pipeline(const G &, S *, A...);
template <unsigned n, thread_scope scope> void pipeline_consumer_wait_prior(pipeline<scope> &);
template <size_t n> struct aligned_size_t { explicit aligned_size_t(size_t); operator size_t() const; };
template <class... A> void memcpy_async(A &&...);
template <class A, class B> A ceil_div(A, B);
template <thread_scope scope = thread_scope_system> struct counting_semaphore { void acquire(); void release(ptrdiff_t = 1); };
template <class T> T *annotated_ptr(T *);
namespace ptx {}
namespace device {}
struct proclaim_result { template <class F> F operator()(F) const; };
template <class R, class F> F proclaim_return_type(F);
#pragma clang force_cuda_host_device end
}  // namespace cuda
