// PyTorch's warp helpers (ATen/cuda/DeviceUtils.cuh, AsmUtils.cuh and ScanUtils.cuh, ATen/native/cuda/block_reduce.cuh) for logical warps of 32 lanes.
//
// PyTorch's own versions use the hardware's width on ROCm: 64 lanes on MI300X, masks ignored, WARP_SYNC empty.
// SPDX-License-Identifier: Apache-2.0
#ifndef PORTER_TORCH_WARP_HPP
#define PORTER_TORCH_WARP_HPP

#include "warp32.hpp"

namespace porter {
namespace torch_warp {

/// Threads that two steps over warps can reduce, on host and device; PyTorch for ROCm says 4096.
constexpr int kCUDABlockReduceMaxThreads() { return warpSize * warpSize; }

}  // namespace torch_warp
}  // namespace porter

#if defined(__HIP__) || defined(__HIPCC__)
#include <hip/hip_runtime.h>

#include <limits>

#define PORTER_TORCH __device__ inline __attribute__((always_inline))

namespace porter {
namespace torch_warp {

PORTER_TORCH unsigned ACTIVE_MASK() { return activemask(); }
PORTER_TORCH void WARP_SYNC(unsigned mask = 0xffffffffu) { syncwarp(mask); }
PORTER_TORCH unsigned WARP_BALLOT(int predicate, unsigned mask = 0xffffffffu) {
  return ballot_sync(mask, predicate);
}
template <class T> PORTER_TORCH T WARP_SHFL(T value, int lane, int width = warpSize, unsigned = 0xffffffffu) {
  return static_cast<T>(shfl(value, lane, width));
}
template <class T> PORTER_TORCH T WARP_SHFL_XOR(T value, int mask, int width = warpSize, unsigned = 0xffffffffu) {
  return static_cast<T>(shfl_xor(value, mask, width));
}
template <class T>
PORTER_TORCH T WARP_SHFL_UP(T value, unsigned delta, int width = warpSize, unsigned = 0xffffffffu) {
  return static_cast<T>(shfl_up(value, delta, width));
}
template <class T>
PORTER_TORCH T WARP_SHFL_DOWN(T value, unsigned delta, int width = warpSize, unsigned = 0xffffffffu) {
  return static_cast<T>(shfl_down(value, delta, width));
}

template <class T> PORTER_TORCH T WarpReduceSum(T value) {
#pragma unroll
  for (int offset = warpSize / 2; offset > 0; offset /= 2) value += WARP_SHFL_DOWN(value, offset);
  return value;
}
/// As PyTorch's: NaN wins.
template <class T> PORTER_TORCH T WarpReduceMax(T value) {
#pragma unroll
  for (int offset = warpSize / 2; offset > 0; offset /= 2) {
    T const other = WARP_SHFL_DOWN(value, offset);
    value = other != other || (value == value && value < other) ? other : value;
  }
  return value;
}
template <class T, class ReduceOp> PORTER_TORCH T WarpReduce(T value, ReduceOp const& op) {
#pragma unroll
  for (int offset = warpSize / 2; offset > 0; offset /= 2)
    value = op.combine(value, op.warp_shfl_down(value, offset));
  return value;
}

struct Block1D {
  PORTER_TORCH static int Tid() { return threadIdx.x; }
  PORTER_TORCH static int Warps() { return blockDim.x / warpSize; }
};
struct Block2D {
  PORTER_TORCH static int Tid() { return threadIdx.x + threadIdx.y * blockDim.x; }
  PORTER_TORCH static int Warps() { return blockDim.x * blockDim.y / warpSize; }
};

namespace detail {

/// One value per warp through `shared`, then one warp over those; the result is thread 0's.
template <class B, class T, class WarpWide> PORTER_TORCH T block_reduced(T value, T empty, T* shared, WarpWide warp_wide) {
  int const thread = B::Tid(), lane = thread % warpSize, warp = thread / warpSize;
  value = warp_wide(value);
  __syncthreads();
  if (lane == 0) shared[warp] = value;
  __syncthreads();
  value = thread < B::Warps() ? shared[lane] : empty;
  return warp == 0 ? warp_wide(value) : value;
}

}  // namespace detail

template <class T, class B = Block1D> PORTER_TORCH T BlockReduceSum(T value, T* shared) {
  return detail::block_reduced<B>(value, T(0), shared, [](T v) { return WarpReduceSum(v); });
}
template <class T, class B = Block1D> PORTER_TORCH T BlockReduceMax(T value, T* shared) {
  T const lowest = T(std::numeric_limits<T>::lowest());
  return detail::block_reduced<B>(value, lowest, shared, [](T v) { return WarpReduceMax(v); });
}
template <class T, class ReduceOp, class B = Block1D>
PORTER_TORCH T BlockReduce(T value, ReduceOp const& op, T const& identity, T* shared) {
  return detail::block_reduced<B>(value, identity, shared, [&op](T v) { return WarpReduce(v, op); });
}

/// ATen/cuda/AsmUtils.cuh: on ROCm PyTorch's own count 64 lanes, and the masks have 64 bits.
PORTER_TORCH int getLaneId() { return static_cast<int>(lane_id()); }
PORTER_TORCH unsigned getLaneMaskLt() { return lanemask_lt(); }
PORTER_TORCH unsigned getLaneMaskLe() { return lanemask_le(); }
PORTER_TORCH unsigned getLaneMaskGt() { return lanemask_gt(); }
PORTER_TORCH unsigned getLaneMaskGe() { return ~lanemask_lt(); }

/// ATen/cuda/ScanUtils.cuh: how many threads of the block up to this one say yes; `counts` has one value per warp.
template <class T, bool CountsAreUsedAgain, class Combine>
PORTER_TORCH void inclusiveBinaryPrefixScan(T* counts, bool yes, T* result, Combine combine) {
  unsigned const votes = ballot(yes);
  int const warp = threadIdx.x / warpSize;
  if (lane_id() == 0) counts[warp] = static_cast<T>(__popc(votes));
  __syncthreads();
  if (threadIdx.x == 0) {
    int total = 0;
    for (int other = 0; other < static_cast<int>(blockDim.x / warpSize); ++other) {
      T const own = counts[other];
      counts[other] = combine(own, total);
      total = combine(total, own);
    }
  }
  __syncthreads();
  T const inside = static_cast<T>(__popc(votes & lanemask_le()));
  *result = warp > 0 ? static_cast<T>(combine(inside, counts[warp - 1])) : inside;
  if (CountsAreUsedAgain) __syncthreads();
}
/// The threads before this one, and in `all` those of the block.
template <class T, bool CountsAreUsedAgain, class Combine>
PORTER_TORCH void exclusiveBinaryPrefixScan(T* counts, bool yes, T* result, T* all, Combine combine) {
  inclusiveBinaryPrefixScan<T, false>(counts, yes, result, combine);
  *result -= static_cast<T>(yes);
  *all = counts[(blockDim.x + warpSize - 1) / warpSize - 1];
  if (CountsAreUsedAgain) __syncthreads();
}

}  // namespace torch_warp
}  // namespace porter

#undef PORTER_TORCH

#endif  // HIP
#endif  // PORTER_TORCH_WARP_HPP
