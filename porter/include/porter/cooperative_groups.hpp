// Cooperative groups with CUDA's meaning on AMD GPUs: tiles and coalesced groups lie within a logical warp of 32 lanes.
//
// HIP's own groups count 64 lanes in coalesced_threads(), have no reduce, scan or labeled_partition in most versions,
// and shuffle arithmetic types only. Everything here is built on warp32.hpp and works with HIP 5.2 and later.
// Not here: clusters, multi-grid groups, and tiles of more than 32 threads. SPDX-License-Identifier: Apache-2.0
#ifndef PORTER_COOPERATIVE_GROUPS_HPP
#define PORTER_COOPERATIVE_GROUPS_HPP

#include "warp32.hpp"

#if defined(__HIP__) || defined(__HIPCC__)

#include <hip/hip_cooperative_groups.h>

#define PORTER_CG __device__ inline __attribute__((always_inline))

namespace porter {
namespace cooperative_groups {

namespace details {

PORTER_CG unsigned block_rank() { return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z); }
PORTER_CG unsigned block_size() { return blockDim.x * blockDim.y * blockDim.z; }

/// The lanes of `size` threads, a power of two, around the caller.
PORTER_CG unsigned tile_mask(unsigned size) {
  return size >= 32u ? 0xffffffffu : ((1u << size) - 1u) << (lane_id() & ~(size - 1u));
}

/// Lane of the member with a rank: the place of the rank-th set bit.
PORTER_CG unsigned lane_of_rank(unsigned mask, unsigned rank) {
  if (mask == 0xffffffffu) return rank & 31u;
  for (; rank > 0u; --rank) mask &= mask - 1u;
  return static_cast<unsigned>(__ffs(static_cast<int>(mask))) - 1u;
}

/// The bits of `value` at the places set in `mask`, moved together.
PORTER_CG unsigned packed(unsigned value, unsigned mask) {
  if (mask == 0xffffffffu) return value;
  unsigned result = 0u, place = 0u;
  for (; mask != 0u; mask &= mask - 1u, ++place) {
    unsigned const lane = static_cast<unsigned>(__ffs(static_cast<int>(mask))) - 1u;
    result |= (value >> lane & 1u) << place;
  }
  return result;
}

}  // namespace details

class thread_block {
 public:
  PORTER_CG static void sync() { __syncthreads(); }
  PORTER_CG static unsigned thread_rank() { return details::block_rank(); }
  PORTER_CG static unsigned size() { return details::block_size(); }
  PORTER_CG static unsigned num_threads() { return details::block_size(); }
  PORTER_CG static dim3 group_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
  PORTER_CG static dim3 thread_index() { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
  PORTER_CG static dim3 group_dim() { return dim3(blockDim.x, blockDim.y, blockDim.z); }
  PORTER_CG static dim3 dim_threads() { return group_dim(); }
  PORTER_CG static bool is_valid() { return true; }
};

PORTER_CG thread_block this_thread_block() { return thread_block(); }

class grid_group {
 public:
  PORTER_CG static void sync() { ::cooperative_groups::this_grid().sync(); }
  PORTER_CG static bool is_valid() { return ::cooperative_groups::this_grid().is_valid(); }
  PORTER_CG static unsigned long long block_rank() {
    return blockIdx.x + static_cast<unsigned long long>(gridDim.x) * (blockIdx.y + gridDim.y * blockIdx.z);
  }
  PORTER_CG static unsigned long long num_blocks() {
    return static_cast<unsigned long long>(gridDim.x) * gridDim.y * gridDim.z;
  }
  PORTER_CG static unsigned long long size() { return num_blocks() * details::block_size(); }
  PORTER_CG static unsigned long long num_threads() { return size(); }
  PORTER_CG static unsigned long long thread_rank() { return block_rank() * details::block_size() + details::block_rank(); }
  PORTER_CG static dim3 group_dim() { return dim3(gridDim.x, gridDim.y, gridDim.z); }
  PORTER_CG static dim3 dim_blocks() { return group_dim(); }
  PORTER_CG static dim3 block_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
};

PORTER_CG grid_group this_grid() { return grid_group(); }

/// The lanes of one logical warp that a mask names.
class coalesced_group {
 public:
  PORTER_CG explicit coalesced_group(unsigned mask, unsigned meta_rank = 0, unsigned meta_size = 1)
      : mask_(mask), meta_rank_(meta_rank), meta_size_(meta_size) {}

  PORTER_CG unsigned size() const { return static_cast<unsigned>(__popc(mask_)); }
  PORTER_CG unsigned num_threads() const { return size(); }
  PORTER_CG unsigned thread_rank() const { return static_cast<unsigned>(__popc(mask_ & lanemask_lt())); }
  PORTER_CG unsigned meta_group_rank() const { return meta_rank_; }
  PORTER_CG unsigned meta_group_size() const { return meta_size_; }
  PORTER_CG void sync() const { syncwarp(mask_); }
  PORTER_CG bool is_valid() const { return true; }
  PORTER_CG unsigned mask() const { return mask_; }

  template <class T> PORTER_CG T shfl(T value, unsigned rank) const {
    return static_cast<T>(porter::shfl(value, static_cast<int>(details::lane_of_rank(mask_, rank % size()))));
  }
  template <class T> PORTER_CG T shfl_down(T value, unsigned delta) const {
    unsigned const rank = thread_rank(), source = rank + delta < size() ? rank + delta : rank;
    return static_cast<T>(porter::shfl(value, static_cast<int>(details::lane_of_rank(mask_, source))));
  }
  template <class T> PORTER_CG T shfl_up(T value, unsigned delta) const {
    unsigned const rank = thread_rank(), source = rank >= delta ? rank - delta : rank;
    return static_cast<T>(porter::shfl(value, static_cast<int>(details::lane_of_rank(mask_, source))));
  }
  PORTER_CG int any(int predicate) const { return any_sync(mask_, predicate); }
  PORTER_CG int all(int predicate) const { return all_sync(mask_, predicate); }
  PORTER_CG unsigned ballot(int predicate) const { return details::packed(ballot_sync(mask_, predicate), mask_); }
  template <class T> PORTER_CG unsigned match_any(T value) const {
    return details::packed(match_any_sync(mask_, value), mask_);
  }
  template <class T> PORTER_CG unsigned match_all(T value, int& predicate) const {
    return details::packed(match_all_sync(mask_, value, &predicate), mask_);
  }

 private:
  unsigned mask_, meta_rank_, meta_size_;
};

/// The lanes of the caller's logical warp that are active here.
PORTER_CG coalesced_group coalesced_threads() { return coalesced_group(activemask()); }

/// `Size` consecutive threads of a block, a power of two up to 32.
template <unsigned Size, class Parent = void> class thread_block_tile {
  static_assert(Size <= 32u && (Size & (Size - 1u)) == 0u, "tiles of more than 32 threads span logical warps");

 public:
  PORTER_CG thread_block_tile() {}
  template <class Other> PORTER_CG thread_block_tile(thread_block_tile<Size, Other> const&) {}

  PORTER_CG static void sync() { syncwarp(); }
  PORTER_CG static constexpr unsigned size() { return Size; }
  PORTER_CG static constexpr unsigned num_threads() { return Size; }
  PORTER_CG static unsigned thread_rank() { return lane_id() & (Size - 1u); }
  PORTER_CG static unsigned meta_group_rank() { return Within<Parent>::rank() / Size; }
  PORTER_CG static unsigned meta_group_size() { return (Within<Parent>::size() + Size - 1u) / Size; }
  PORTER_CG static bool is_valid() { return true; }
  PORTER_CG static unsigned mask() { return details::tile_mask(Size); }

  template <class T> PORTER_CG T shfl(T value, int rank) const { return static_cast<T>(porter::shfl(value, rank, Size)); }
  template <class T> PORTER_CG T shfl_down(T value, unsigned delta) const {
    return static_cast<T>(porter::shfl_down(value, delta, Size));
  }
  template <class T> PORTER_CG T shfl_up(T value, unsigned delta) const {
    return static_cast<T>(porter::shfl_up(value, delta, Size));
  }
  template <class T> PORTER_CG T shfl_xor(T value, unsigned lanes) const {
    return static_cast<T>(porter::shfl_xor(value, static_cast<int>(lanes), Size));
  }
  PORTER_CG int any(int predicate) const { return any_sync(mask(), predicate); }
  PORTER_CG int all(int predicate) const { return all_sync(mask(), predicate); }
  PORTER_CG unsigned ballot(int predicate) const { return shifted(ballot_sync(mask(), predicate)); }
  template <class T> PORTER_CG unsigned match_any(T value) const { return shifted(match_any_sync(mask(), value)); }
  template <class T> PORTER_CG unsigned match_all(T value, int& predicate) const {
    return shifted(match_all_sync(mask(), value, &predicate));
  }

 private:
  template <class Outer, class = void> struct Within {
    PORTER_CG static unsigned rank() { return details::block_rank(); }
    PORTER_CG static unsigned size() { return details::block_size(); }
  };
  template <unsigned Outer, class Any, class Dummy> struct Within<thread_block_tile<Outer, Any>, Dummy> {
    PORTER_CG static unsigned rank() { return lane_id() & (Outer - 1u); }
    PORTER_CG static unsigned size() { return Outer; }
  };

  PORTER_CG static unsigned shifted(unsigned lanes) { return lanes >> (lane_id() & ~(Size - 1u) & 31u); }
};

/// Any group, where the kind is known at run time only.
class thread_group {
 public:
  PORTER_CG thread_group(thread_block const&) : mask_(0u), kind_(block) {}
  PORTER_CG thread_group(grid_group const&) : mask_(0u), kind_(grid) {}
  PORTER_CG thread_group(coalesced_group const& group) : mask_(group.mask()), kind_(lanes) {}
  template <unsigned Size, class Parent>
  PORTER_CG thread_group(thread_block_tile<Size, Parent> const& tile) : mask_(tile.mask()), kind_(lanes) {}

  PORTER_CG void sync() const {
    if (kind_ == block) __syncthreads();
    else if (kind_ == grid) grid_group::sync();
    else syncwarp(mask_);
  }
  PORTER_CG unsigned long long size() const {
    return kind_ == block ? details::block_size() : kind_ == grid ? grid_group::size() : warp().size();
  }
  PORTER_CG unsigned long long num_threads() const { return size(); }
  PORTER_CG unsigned long long thread_rank() const {
    return kind_ == block ? details::block_rank() : kind_ == grid ? grid_group::thread_rank() : warp().thread_rank();
  }
  PORTER_CG bool is_valid() const { return true; }
  PORTER_CG unsigned mask() const { return kind_ == lanes ? mask_ : 0xffffffffu; }

 private:
  enum Kind { block, grid, lanes };
  PORTER_CG coalesced_group warp() const { return coalesced_group(mask_); }

  unsigned mask_;
  Kind kind_;
};

// Partitions.

template <unsigned Size> PORTER_CG thread_block_tile<Size, thread_block> tiled_partition(thread_block const&) {
  return {};
}
template <unsigned Size, unsigned Outer, class Parent>
PORTER_CG thread_block_tile<Size, thread_block_tile<Outer, Parent>> tiled_partition(thread_block_tile<Outer, Parent> const&) {
  static_assert(Size <= Outer, "a tile is cut into smaller tiles");
  return {};
}
PORTER_CG thread_group tiled_partition(thread_group const&, unsigned size) {
  return coalesced_group(details::tile_mask(size));
}
/// Cuts a coalesced group into groups of `size` by rank.
PORTER_CG coalesced_group tiled_partition(coalesced_group const& group, unsigned size) {
  unsigned const mine = group.thread_rank() / size;
  unsigned rest = group.mask(), members = 0u;
  for (unsigned rank = 0u; rest != 0u; rest &= rest - 1u, ++rank)
    if (rank / size == mine) members |= rest & -rest;
  return coalesced_group(members, mine, (group.size() + size - 1u) / size);
}
template <unsigned Size> PORTER_CG coalesced_group tiled_partition(coalesced_group const& group) {
  return tiled_partition(group, Size);
}
template <class Group, class Label> PORTER_CG coalesced_group labeled_partition(Group const& group, Label label) {
  return coalesced_group(match_any_sync(group.mask(), label));
}
template <class Group> PORTER_CG coalesced_group binary_partition(Group const& group, bool predicate) {
  unsigned const yes = ballot_sync(group.mask(), predicate);
  return coalesced_group(predicate ? yes : group.mask() & ~yes & activemask());
}

template <class Group> PORTER_CG void sync(Group const& group) { group.sync(); }
template <class Group> PORTER_CG auto thread_rank(Group const& group) { return group.thread_rank(); }
template <class Group> PORTER_CG auto group_size(Group const& group) { return group.size(); }

// Reductions and scans.

template <class T> struct plus {
  template <class A, class B> PORTER_CG auto operator()(A a, B b) const { return a + b; }
};
template <class T> struct less {
  template <class A> PORTER_CG A operator()(A a, A b) const { return b < a ? b : a; }
};
template <class T> struct greater {
  template <class A> PORTER_CG A operator()(A a, A b) const { return a < b ? b : a; }
};
template <class T> struct bit_and {
  template <class A> PORTER_CG A operator()(A a, A b) const { return a & b; }
};
template <class T> struct bit_or {
  template <class A> PORTER_CG A operator()(A a, A b) const { return a | b; }
};
template <class T> struct bit_xor {
  template <class A> PORTER_CG A operator()(A a, A b) const { return a ^ b; }
};

template <unsigned Size, class Parent, class T, class Op>
PORTER_CG T reduce(thread_block_tile<Size, Parent> const& tile, T value, Op&& op) {
#pragma unroll
  for (unsigned lanes = Size / 2u; lanes > 0u; lanes /= 2u) value = op(value, tile.shfl_xor(value, lanes));
  return value;
}
template <class T, class Op> PORTER_CG T reduce(coalesced_group const& group, T value, Op&& op) {
  unsigned const rank = group.thread_rank(), size = group.size();
  for (unsigned delta = 1u; delta < size; delta *= 2u) {
    T const other = group.shfl_down(value, delta);
    if (rank + delta < size) value = op(value, other);
  }
  return group.shfl(value, 0u);
}

template <class Group, class T, class Op> PORTER_CG T inclusive_scan(Group const& group, T value, Op&& op) {
  unsigned const rank = static_cast<unsigned>(group.thread_rank()), size = static_cast<unsigned>(group.size());
  for (unsigned delta = 1u; delta < size; delta *= 2u) {
    T const other = group.shfl_up(value, delta);
    if (rank >= delta) value = op(other, value);
  }
  return value;
}
template <class Group, class T> PORTER_CG T inclusive_scan(Group const& group, T value) {
  return inclusive_scan(group, value, plus<T>());
}
/// Rank 0 gets `T()`, as in CUDA.
template <class Group, class T, class Op> PORTER_CG T exclusive_scan(Group const& group, T value, Op&& op) {
  T const before = group.shfl_up(inclusive_scan(group, value, op), 1u);
  return group.thread_rank() == 0 ? T() : before;
}
template <class Group, class T> PORTER_CG T exclusive_scan(Group const& group, T value) {
  return exclusive_scan(group, value, plus<T>());
}

/// One member of the group calls the function.
template <class Group, class Function, class... Arguments>
PORTER_CG void invoke_one(Group const& group, Function&& function, Arguments&&... arguments) {
  if (group.thread_rank() == 0) function(static_cast<Arguments&&>(arguments)...);
}
template <class Group, class Function, class... Arguments>
PORTER_CG auto invoke_one_broadcast(Group const& group, Function&& function, Arguments&&... arguments) {
  decltype(function(static_cast<Arguments&&>(arguments)...)) result{};
  if (group.thread_rank() == 0) result = function(static_cast<Arguments&&>(arguments)...);
  return group.shfl(result, 0);
}

// Copies: synchronous, so wait is the barrier that makes them visible.

template <class Group>
PORTER_CG void memcpy_async(Group const& group, void* target, void const* source, unsigned long long bytes) {
  unsigned long long const step = group.size() * 4u;
  char* const to = static_cast<char*>(target);
  char const* const from = static_cast<char const*>(source);
  unsigned long long const words = bytes / 4u * 4u;
  if (((reinterpret_cast<unsigned long long>(to) | reinterpret_cast<unsigned long long>(from)) & 3u) == 0u) {
    for (unsigned long long i = group.thread_rank() * 4u; i < words; i += step)
      *reinterpret_cast<unsigned*>(to + i) = *reinterpret_cast<unsigned const*>(from + i);
    for (unsigned long long i = words + group.thread_rank(); i < bytes; i += group.size()) to[i] = from[i];
    return;
  }
  for (unsigned long long i = group.thread_rank(); i < bytes; i += group.size()) to[i] = from[i];
}
template <class Group, class T>
PORTER_CG void memcpy_async(Group const& group, T* target, unsigned long long room, T const* source, unsigned long long count) {
  memcpy_async(group, static_cast<void*>(target), static_cast<void const*>(source), (room < count ? room : count) * sizeof(T));
}
template <class Group> PORTER_CG void wait(Group const& group) { group.sync(); }
template <unsigned Stages, class Group> PORTER_CG void wait_prior(Group const& group) { group.sync(); }

}  // namespace cooperative_groups
}  // namespace porter

#undef PORTER_CG

#endif  // HIP
#endif  // PORTER_COOPERATIVE_GROUPS_HPP
