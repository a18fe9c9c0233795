// Cooperative groups.
#pragma once
#include "device.h"
#pragma clang force_cuda_host_device begin

namespace cooperative_groups {
struct __v1_marker {};
class thread_group {
 public:
  void sync() const;
  unsigned long long size() const;
  unsigned long long num_threads() const;
  unsigned long long thread_rank() const;
  bool is_valid() const;
};
template <class Self> class porter_group : public thread_group {
 public:
  static void sync();
  static unsigned int size();
  static unsigned int num_threads();
  static unsigned int thread_rank();
  struct arrival_token {};
  arrival_token barrier_arrive() const;
  void barrier_wait() const;
  void barrier_wait(arrival_token &&) const;
};
class thread_block : public porter_group<thread_block> {
 public:
  static dim3 group_index();
  static dim3 thread_index();
  static dim3 group_dim();
  static dim3 dim_threads();
};
class grid_group : public porter_group<grid_group> {
 public:
  static unsigned long long num_threads();
  static unsigned long long size();
  static unsigned long long thread_rank();
  static unsigned long long block_rank();
  static unsigned long long num_blocks();
  static dim3 group_dim();
  static dim3 dim_blocks();
  static dim3 block_index();
  bool is_valid() const;
};
class multi_grid_group : public porter_group<multi_grid_group> {
 public:
  unsigned int grid_rank() const;
  unsigned int num_grids() const;
};
class cluster_group : public porter_group<cluster_group> {
 public:
  static unsigned int block_rank();
  static unsigned int num_blocks();
  static dim3 block_index();
  static dim3 dim_blocks();
  template <class T> static T *map_shared_rank(T *, int);
  template <class T> static unsigned int query_shared_rank(const T *);
  static void barrier_arrive();
  static void barrier_wait();
};
template <class Self> class porter_warp_group : public porter_group<Self> {
 public:
  unsigned long long meta_group_size() const;
  unsigned long long meta_group_rank() const;
  template <class T> T shfl(T, int) const;
  template <class T> T shfl_up(T, unsigned int) const;
  template <class T> T shfl_down(T, unsigned int) const;
  template <class T> T shfl_xor(T, unsigned int) const;
  int any(int) const;
  int all(int) const;
  unsigned int ballot(int) const;
  template <class T> unsigned int match_any(T) const;
  template <class T> unsigned int match_all(T, int &) const;
};
template <unsigned int size = 0, class Parent = void> class thread_block_tile
    : public porter_warp_group<thread_block_tile<size, Parent>> {
 public:
  template <class P> thread_block_tile(const thread_block_tile<size, P> &);
  thread_block_tile();
};
class coalesced_group : public porter_warp_group<coalesced_group> {};
thread_block this_thread_block();
grid_group this_grid();
multi_grid_group this_multi_grid();
cluster_group this_cluster();
thread_group this_thread();
coalesced_group coalesced_threads();
thread_group tiled_partition(const thread_group &, unsigned int);
template <unsigned int size, class P> thread_block_tile<size, P> tiled_partition(const P &);
template <class G> coalesced_group binary_partition(const G &, bool);
template <class G, class V> coalesced_group labeled_partition(const G &, V);
template <class G> void sync(const G &);
template <class T> struct plus { T operator()(T, T) const; };
template <class T> struct less { T operator()(T, T) const; };
template <class T> struct greater { T operator()(T, T) const; };
template <class T> struct bit_and { T operator()(T, T) const; };
template <class T> struct bit_or { T operator()(T, T) const; };
template <class T> struct bit_xor { T operator()(T, T) const; };
template <class G, class T, class F> T reduce(const G &, T, F &&);
template <class G, class T, class F> T inclusive_scan(const G &, T, F &&);
template <class G, class T, class F> T exclusive_scan(const G &, T, F &&);
template <class G, class T> T inclusive_scan(const G &, T);
template <class G, class T> T exclusive_scan(const G &, T);
template <class G, class... A> void memcpy_async(const G &, A &&...);
template <class G> void wait(const G &);
template <unsigned n, class G> void wait_prior(const G &);
template <class G, class F> void invoke_one(const G &, F &&);
template <class G, class T, class F> void reduce_update_async(const G &, T &, F &&);
template <unsigned n = 1, unsigned threads = 1024> struct block_tile_memory {};
template <unsigned n, unsigned threads> thread_block this_thread_block(block_tile_memory<n, threads> &);
namespace experimental { using namespace cooperative_groups; }
}  // namespace cooperative_groups
#pragma clang force_cuda_host_device end
