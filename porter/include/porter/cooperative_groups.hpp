// CUDA's cooperative groups of blocks, grids and logical warps of 32 lanes, on wavefronts of 32 or 64 lanes.
//
// `porter::cooperative_groups` stands for the whole namespace: HIP's own lacks reductions, scans, labelled
// partitions and asynchronous copies, counts 64 lanes in coalesced groups, and differs between versions. Results
// of votes are in the group's own numbering, and floating-point sums are added in the order CUDA adds them.
// Not here: tiles of more than 32 threads, clusters, multi-device grids. SPDX-License-Identifier: Apache-2.0
#ifndef PORTER_COOPERATIVE_GROUPS_HPP
#define PORTER_COOPERATIVE_GROUPS_HPP

#if defined(__HIP__) || defined(__HIPCC__)

#include <hip/hip_runtime.h>

#include "bits.hpp"
#include "warp32.hpp"

#define PORTER_CG __device__ inline __attribute__((always_inline))

namespace porter {
namespace cooperative_groups {

namespace detail {

template <class T> struct plain {
  using type = T;
};
template <class T> struct plain<T&> {
  using type = T;
};
template <class T> struct plain<T&&> {
  using type = T;
};
template <class T> struct plain<T const> {
  using type = T;
};
template <class T> struct plain<T const&> {
  using type = T;
};
template <class T> using plain_t = typename plain<T>::type;
template <class T> __device__ T made();

PORTER_CG unsigned product(dim3 d) { return d.x * d.y * d.z; }
PORTER_CG unsigned rank_in_block() { return threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z); }
PORTER_CG unsigned long long product_64(dim3 d) { return static_cast<unsigned long long>(d.x) * d.y * d.z; }
PORTER_CG unsigned long long rank_of_block() {
  return blockIdx.x + static_cast<unsigned long long>(gridDim.x) *
                          (blockIdx.y + static_cast<unsigned long long>(gridDim.y) * blockIdx.z);
}
PORTER_CG unsigned lowest(unsigned mask) { return static_cast<unsigned>(__builtin_ctz(mask)); }
PORTER_CG unsigned highest(unsigned mask) { return 31u - static_cast<unsigned>(__builtin_clz(mask)); }

/// Some lanes of the caller's logical warp, numbered from the lowest.
struct Lanes {
  unsigned mask;

  PORTER_CG unsigned size() const { return static_cast<unsigned>(porter::popc(mask)); }
  PORTER_CG unsigned rank() const { return static_cast<unsigned>(porter::popc(mask & porter::lanemask_lt())); }
  /// The lane of a rank; 32 or more if there is none.
  PORTER_CG unsigned lane(unsigned rank) const {
    return mask == 0xffffffffu ? rank : porter::fns(mask, 0, static_cast<int>(rank) + 1);
  }
  /// A mask of lanes as a mask of ranks.
  PORTER_CG unsigned packed(unsigned lanes) const {
    if (mask == 0xffffffffu) return lanes;
    unsigned ranks = 0, rank = 0;
    for (unsigned left = mask; left != 0u; left &= left - 1u, ++rank)
      if (lanes & left & -left) ranks |= 1u << rank;
    return ranks;
  }
  template <class T> PORTER_CG T from(T value, unsigned lane) const {
    return static_cast<T>(porter::shfl(value, static_cast<int>(lane)));
  }
};

}  // namespace detail

class thread_block;
class coalesced_group;

/// The threads of the block.
class thread_block {
 public:
  using arrival_token = unsigned;
  static PORTER_CG void sync() { __syncthreads(); }
  static PORTER_CG unsigned size() { return detail::product(blockDim); }
  static PORTER_CG unsigned num_threads() { return size(); }
  static PORTER_CG unsigned thread_rank() { return detail::rank_in_block(); }
  static PORTER_CG dim3 group_index() { return dim3(blockIdx.x, blockIdx.y, blockIdx.z); }
  static PORTER_CG dim3 thread_index() { return dim3(threadIdx.x, threadIdx.y, threadIdx.z); }
  static PORTER_CG dim3 group_dim() { return dim3(blockDim.x, blockDim.y, blockDim.z); }
  static PORTER_CG dim3 dim_threads() { return group_dim(); }
  /// Arriving does nothing and waiting is the whole barrier, which promises more than CUDA does.
  PORTER_CG arrival_token barrier_arrive() const { return 0; }
  PORTER_CG void barrier_wait(arrival_token&&) const { sync(); }
  static PORTER_CG bool is_valid() { return true; }
};
PORTER_CG thread_block this_thread_block() { return thread_block(); }

/// The threads of a cooperative launch.
class grid_group {
 public:
  PORTER_CG bool is_valid() const { return __ockl_grid_is_valid() != 0; }
  PORTER_CG void sync() const { __ockl_grid_sync(); }
  static PORTER_CG unsigned long long num_blocks() { return detail::product_64(dim3(gridDim.x, gridDim.y, gridDim.z)); }
  static PORTER_CG unsigned long long block_rank() { return detail::rank_of_block(); }
  static PORTER_CG unsigned long long size() { return num_blocks() * thread_block::size(); }
  static PORTER_CG unsigned long long num_threads() { return size(); }
  static PORTER_CG unsigned long long thread_rank() {
    return block_rank() * thread_block::size() + thread_block::thread_rank();
  }
  static PORTER_CG dim3 group_dim() { return dim3(gridDim.x, gridDim.y, gridDim.z); }
  static PORTER_CG dim3 dim_blocks() { return group_dim(); }
  static PORTER_CG dim3 block_index() { return thread_block::group_index(); }
  static PORTER_CG dim3 dim_threads() {
    return dim3(gridDim.x * blockDim.x, gridDim.y * blockDim.y, gridDim.z * blockDim.z);
  }
  static PORTER_CG dim3 thread_index() {
    return dim3(blockIdx.x * blockDim.x + threadIdx.x, blockIdx.y * blockDim.y + threadIdx.y,
                blockIdx.z * blockDim.z + threadIdx.z);
  }
};
PORTER_CG grid_group this_grid() { return grid_group(); }

/// Lanes of one warp that are active together, in any pattern.
class coalesced_group {
 public:
  PORTER_CG explicit coalesced_group(unsigned mask, unsigned group_rank = 0, unsigned group_count = 1)
      : lanes_{mask}, group_rank_(group_rank), group_count_(group_count) {}

  PORTER_CG unsigned mask() const { return lanes_.mask; }
  PORTER_CG unsigned size() const { return lanes_.size(); }
  PORTER_CG unsigned num_threads() const { return size(); }
  PORTER_CG unsigned thread_rank() const { return lanes_.rank(); }
  PORTER_CG unsigned meta_group_rank() const { return group_rank_; }
  PORTER_CG unsigned meta_group_size() const { return group_count_; }
  PORTER_CG void sync() const { porter::syncwarp(mask()); }
  static PORTER_CG bool is_valid() { return true; }

  template <class T> PORTER_CG T shfl(T value, int rank) const {
    unsigned const lane = rank == 0 ? detail::lowest(mask()) : lanes_.lane(static_cast<unsigned>(rank));
    return lanes_.from(value, lane);
  }
  template <class T> PORTER_CG T shfl_down(T value, unsigned delta) const {
    return moved(value, delta < 32u ? static_cast<int>(delta) : 32);
  }
  template <class T> PORTER_CG T shfl_up(T value, int delta) const { return moved(value, -delta); }

  PORTER_CG int any(int predicate) const { return porter::any_sync(mask(), predicate); }
  PORTER_CG int all(int predicate) const { return porter::all_sync(mask(), predicate); }
  PORTER_CG unsigned ballot(int predicate) const { return lanes_.packed(porter::ballot_sync(mask(), predicate)); }
  template <class T> PORTER_CG unsigned match_any(T value) const {
    return lanes_.packed(porter::match_any_sync(mask(), value));
  }
  template <class T> PORTER_CG unsigned match_all(T value, int& predicate) const {
    return lanes_.packed(porter::match_all_sync(mask(), value, &predicate));
  }

 private:
  detail::Lanes lanes_;
  unsigned group_rank_, group_count_;

  /// From the lane `delta` ranks away, or the own value where that is outside.
  template <class T> PORTER_CG T moved(T value, int delta) const {
    unsigned const self = porter::lane_id();
    unsigned const lane = porter::fns(mask(), self, delta < 0 ? delta - 1 : delta + 1);
    return lanes_.from(value, lane < 32u ? lane : self);
  }
};
PORTER_CG coalesced_group coalesced_threads() { return coalesced_group(porter::activemask()); }

/// `Size` neighbouring threads, a power of two.
template <unsigned Size, class Parent = void> class thread_block_tile {
  static_assert(Size >= 1 && (Size & (Size - 1)) == 0, "a tile has a power of two of threads");
  static_assert(Size <= 32, "tiles of more than one warp: reduce through shared memory");

 public:
  static constexpr unsigned static_size = Size;

  PORTER_CG explicit thread_block_tile(unsigned group_rank = 0, unsigned group_count = 1)
      : group_rank_(group_rank), group_count_(group_count) {}
  template <class Other> PORTER_CG thread_block_tile(thread_block_tile<Size, Other> const& other)
      : group_rank_(other.meta_group_rank()), group_count_(other.meta_group_size()) {}

  PORTER_CG unsigned mask() const { return (0xffffffffu >> (32u - Size)) << base(); }
  static constexpr PORTER_CG unsigned size() { return Size; }
  static constexpr PORTER_CG unsigned num_threads() { return Size; }
  PORTER_CG unsigned thread_rank() const { return porter::lane_id() & (Size - 1u); }
  PORTER_CG unsigned meta_group_rank() const { return group_rank_; }
  PORTER_CG unsigned meta_group_size() const { return group_count_; }
  PORTER_CG void sync() const { porter::syncwarp(mask()); }
  static PORTER_CG bool is_valid() { return true; }

  template <class T> PORTER_CG T shfl(T value, int rank) const {
    return static_cast<T>(porter::shfl(value, rank, Size));
  }
  template <class T> PORTER_CG T shfl_down(T value, unsigned delta) const {
    return static_cast<T>(porter::shfl_down(value, delta, Size));
  }
  template <class T> PORTER_CG T shfl_up(T value, unsigned delta) const {
    return static_cast<T>(porter::shfl_up(value, delta, Size));
  }
  template <class T> PORTER_CG T shfl_xor(T value, unsigned flipped) const {
    return static_cast<T>(porter::shfl_xor(value, static_cast<int>(flipped), Size));
  }

  PORTER_CG int any(int predicate) const { return porter::any_sync(mask(), predicate); }
  PORTER_CG int all(int predicate) const { return porter::all_sync(mask(), predicate); }
  PORTER_CG unsigned ballot(int predicate) const { return porter::ballot_sync(mask(), predicate) >> base(); }
  template <class T> PORTER_CG unsigned match_any(T value) const {
    return porter::match_any_sync(mask(), value) >> base();
  }
  template <class T> PORTER_CG unsigned match_all(T value, int& predicate) const {
    return porter::match_all_sync(mask(), value, &predicate) >> base();
  }

 private:
  unsigned group_rank_, group_count_;

  PORTER_CG unsigned base() const { return porter::lane_id() & ~(Size - 1u); }
};

/// Any of the groups above, behind one type.
class thread_group {
 public:
  PORTER_CG thread_group(thread_block const&) : kind_(block) {}
  PORTER_CG thread_group(grid_group const&) : kind_(grid) {}
  PORTER_CG thread_group(coalesced_group const& group) : kind_(lanes), lanes_{group.mask()} {}
  template <unsigned Size, class Parent> PORTER_CG thread_group(thread_block_tile<Size, Parent> const& tile)
      : kind_(lanes), lanes_{tile.mask()} {}

  PORTER_CG void sync() const {
    if (kind_ == block) return thread_block::sync();
    if (kind_ == grid) return grid_group().sync();
    porter::syncwarp(lanes_.mask);
  }
  PORTER_CG unsigned long long size() const {
    return kind_ == block ? thread_block::size() : kind_ == grid ? grid_group::size() : lanes_.size();
  }
  PORTER_CG unsigned long long num_threads() const { return size(); }
  PORTER_CG unsigned long long thread_rank() const {
    return kind_ == block ? thread_block::thread_rank() : kind_ == grid ? grid_group::thread_rank() : lanes_.rank();
  }
  PORTER_CG bool is_valid() const { return kind_ != grid || grid_group().is_valid(); }
  PORTER_CG bool is_block() const { return kind_ == block; }
  PORTER_CG unsigned mask() const { return lanes_.mask; }

 private:
  enum Kind { block, grid, lanes };
  Kind kind_;
  detail::Lanes lanes_ = {0xffffffffu};
};

// Partitions.

template <unsigned Size> PORTER_CG thread_block_tile<Size, thread_block> tiled_partition(thread_block const&) {
  return thread_block_tile<Size, thread_block>(thread_block::thread_rank() / Size,
                                               (thread_block::size() + Size - 1u) / Size);
}
template <unsigned Size, unsigned From, class Parent>
PORTER_CG thread_block_tile<Size, thread_block_tile<From, Parent>> tiled_partition(
    thread_block_tile<From, Parent> const& parent) {
  static_assert(Size <= From, "a tile of a tile is no larger");
  return thread_block_tile<Size, thread_block_tile<From, Parent>>(parent.thread_rank() / Size, From / Size);
}

/// The members of a coalesced group in runs of `size` ranks.
PORTER_CG coalesced_group tiled_partition(coalesced_group const& parent, unsigned size) {
  unsigned const first = parent.thread_rank() / size * size;
  unsigned left = parent.mask(), mask = 0;
  for (unsigned rank = 0; left != 0u; ++rank, left &= left - 1u)
    if (rank >= first && rank < first + size) mask |= left & -left;
  return coalesced_group(mask, first / size, (parent.size() + size - 1u) / size);
}
PORTER_CG thread_group tiled_partition(thread_group const& parent, unsigned size) {
  if (!parent.is_block()) return tiled_partition(coalesced_group(parent.mask()), size);
  unsigned const base = porter::lane_id() & ~(size - 1u);
  return coalesced_group((0xffffffffu >> (32u - size)) << base);
}
PORTER_CG thread_group tiled_partition(thread_block const& parent, unsigned size) {
  return tiled_partition(thread_group(parent), size);
}

/// Those for whom the predicate holds, and the others.
template <class Group> PORTER_CG coalesced_group binary_partition(Group const& group, bool predicate) {
  unsigned const all = group.mask() & porter::activemask(), set = porter::ballot_sync(all, predicate);
  if (set == all || set == 0u) return coalesced_group(all);
  return coalesced_group(predicate ? set : all & ~set, predicate, 2);
}
/// Those with the same label.
template <class Group, class Label> PORTER_CG coalesced_group labeled_partition(Group const& group, Label label) {
  unsigned const all = group.mask() & porter::activemask(), mine = porter::match_any_sync(all, label);
  unsigned const leader = detail::lowest(mine);
  unsigned const leaders = porter::ballot_sync(all, leader == porter::lane_id());
  unsigned const before = leaders & ((1u << leader) - 1u);
  return coalesced_group(mine, static_cast<unsigned>(porter::popc(before)),
                         static_cast<unsigned>(porter::popc(leaders)));
}
template <class Group> PORTER_CG coalesced_group labeled_partition(Group const& group, bool label) {
  return binary_partition(group, label);
}

// Reductions and scans.

template <class T> struct plus {
  PORTER_CG T operator()(T a, T b) const { return a + b; }
};
template <class T> struct less {
  PORTER_CG T operator()(T a, T b) const { return b < a ? b : a; }
};
template <class T> struct greater {
  PORTER_CG T operator()(T a, T b) const { return a < b ? b : a; }
};
template <class T> struct bit_and {
  PORTER_CG T operator()(T a, T b) const { return a & b; }
};
template <class T> struct bit_or {
  PORTER_CG T operator()(T a, T b) const { return a | b; }
};
template <class T> struct bit_xor {
  PORTER_CG T operator()(T a, T b) const { return a ^ b; }
};

namespace detail {

/// Integer sums lose nothing when subtracted again.
template <class Op, class T> struct is_integer_sum {
  static constexpr bool value = false;
};
template <class T> struct is_integer_sum<plus<T>, T> {
  static constexpr bool value = __is_integral(T);
};
template <bool yes> struct Choice {};

template <class Group, class T> PORTER_CG T to_exclusive(Group const&, T inclusive, T own, Choice<true>) {
  return inclusive - own;
}
template <class Group, class T> PORTER_CG T to_exclusive(Group const& group, T inclusive, T, Choice<false>) {
  T const before = group.shfl_up(inclusive, 1);
  return group.thread_rank() == 0 ? T() : before;
}

}  // namespace detail

template <class Group, class T, class Op> PORTER_CG auto inclusive_scan(Group const& group, T&& value, Op&& op)
    -> decltype(op(value, value)) {
  auto result = static_cast<decltype(op(value, value))>(value);
  for (unsigned distance = 1; distance < group.size(); distance *= 2u) {
    auto const lower = group.shfl_up(result, distance);
    if (distance <= group.thread_rank()) result = op(result, lower);
  }
  return result;
}
template <class Group, class T> PORTER_CG detail::plain_t<T> inclusive_scan(Group const& group, T&& value) {
  return inclusive_scan(group, value, plus<detail::plain_t<T>>());
}
template <class Group, class T, class Op> PORTER_CG auto exclusive_scan(Group const& group, T&& value, Op&& op)
    -> decltype(op(value, value)) {
  using R = decltype(op(value, value));
  using Sum = detail::Choice<detail::is_integer_sum<detail::plain_t<Op>, detail::plain_t<T>>::value>;
  return detail::to_exclusive(group, static_cast<R>(inclusive_scan(group, value, op)), static_cast<R>(value), Sum());
}
template <class Group, class T> PORTER_CG detail::plain_t<T> exclusive_scan(Group const& group, T&& value) {
  return exclusive_scan(group, value, plus<detail::plain_t<T>>());
}

template <unsigned Size, class Parent, class T, class Op>
PORTER_CG auto reduce(thread_block_tile<Size, Parent> const& group, T&& value, Op&& op) -> decltype(op(value, value)) {
  auto result = static_cast<decltype(op(value, value))>(value);
#pragma unroll
  for (unsigned distance = Size / 2u; distance > 0u; distance /= 2u)
    result = op(result, group.shfl_xor(result, distance));
  return result;
}
template <class T, class Op> PORTER_CG auto reduce(coalesced_group const& group, T&& value, Op&& op)
    -> decltype(op(value, value)) {
  if (group.mask() == 0xffffffffu) return reduce(thread_block_tile<32>(0, 1), value, op);
  auto const sums = inclusive_scan(group, value, op);
  return detail::Lanes{group.mask()}.from(sums, detail::highest(group.mask()));
}

// One thread for all.

template <class Group, class Function, class... Arguments>
PORTER_CG void invoke_one(Group const& group, Function&& function, Arguments&&... arguments) {
  if (group.thread_rank() == 0) static_cast<Function&&>(function)(static_cast<Arguments&&>(arguments)...);
}
template <class Group, class Function, class... Arguments>
PORTER_CG auto invoke_one_broadcast(Group const& group, Function&& function, Arguments&&... arguments)
    -> detail::plain_t<decltype(function(arguments...))> {
  detail::plain_t<decltype(function(arguments...))> result{};
  if (group.thread_rank() == 0) result = static_cast<Function&&>(function)(static_cast<Arguments&&>(arguments)...);
  return group.shfl(result, 0);
}

// Asynchronous copies are made at once; waiting for them is a barrier of the group.

namespace detail {

template <class Unit, class Group> PORTER_CG void copied(Group const& group, void* to, void const* from, size_t bytes) {
  for (size_t i = group.thread_rank(); i < bytes / sizeof(Unit); i += group.size())
    static_cast<Unit*>(to)[i] = static_cast<Unit const*>(from)[i];
}
template <class Group> PORTER_CG void copy_bytes(Group const& group, void* to, void const* from, size_t bytes) {
  typedef unsigned __attribute__((may_alias)) Word;
  typedef unsigned __attribute__((ext_vector_type(4), may_alias)) Words;
  size_t const together = reinterpret_cast<size_t>(to) | reinterpret_cast<size_t>(from) | bytes;
  if (together % 16u == 0u) return copied<Words>(group, to, from, bytes);
  if (together % 4u == 0u) return copied<Word>(group, to, from, bytes);
  copied<char>(group, to, from, bytes);
}

}  // namespace detail

/// `bytes` may be a number or a `cuda::aligned_size_t`.
template <class Group, class T, class Size>
PORTER_CG void memcpy_async(Group const& group, T* to, T const* from, Size const& bytes) {
  detail::copy_bytes(group, to, from, static_cast<size_t>(bytes));
}
/// Room at the target, and elements at the source.
template <class Group, class T, class ToCount, class FromCount>
PORTER_CG void memcpy_async(Group const& group, T* to, ToCount const& room, T const* from, FromCount const& count) {
  size_t const n =
      static_cast<size_t>(room) < static_cast<size_t>(count) ? static_cast<size_t>(room) : static_cast<size_t>(count);
  detail::copy_bytes(group, to, from, n * sizeof(T));
}
template <class Group> PORTER_CG void wait(Group const& group) { group.sync(); }
template <unsigned Stage, class Group> PORTER_CG void wait_prior(Group const& group) { group.sync(); }

template <class Group> PORTER_CG void sync(Group const& group) { group.sync(); }
template <class Group> PORTER_CG auto thread_rank(Group const& group) -> decltype(group.thread_rank()) {
  return group.thread_rank();
}
template <class Group> PORTER_CG auto group_size(Group const& group) -> decltype(group.size()) { return group.size(); }

}  // namespace cooperative_groups
}  // namespace porter

#undef PORTER_CG

#endif  // HIP
#endif  // PORTER_COOPERATIVE_GROUPS_HPP
