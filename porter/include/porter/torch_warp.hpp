// PyTorch's warp helpers (ATen/cuda/DeviceUtils.cuh and AsmUtils.cuh, ATen/native/cuda/block_reduce.cuh) for logical warps of 32 lanes.
//
// PyTorch's own versions use the hardware's width on ROCm: 64 lanes on MI300X, masks ignored, WARP_SYNC empty.
// SPDX-License-Identifier: Apache-2.0
#ifndef PORTER_TORCH_WARP_HPP
#define PORTER_TORCH_WARP_HPP

#include "warp32.hpp"

#if defined(__HIP__) || defined(__HIPCC__)
#include <hip/hip_runtime.h>

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
template <class T, class B = Block1D, class ReduceOp>
PORTER_TORCH T BlockReduce(T value, ReduceOp const& op, T const& identity, T* shared) {
  return detail::block_reduced<B>(value, identity, shared, [&op](T v) { return WarpReduce(v, op); });
}

/// ATen/cuda/AsmUtils.cuh: on ROCm PyTorch's own count 64 lanes, and the masks have 64 bits.
PORTER_TORCH int getLaneId() { return static_cast<int>(lane_id()); }
PORTER_TORCH unsigned getLaneMaskLt() { return lanemask_lt(); }
PORTER_TORCH unsigned getLaneMaskLe() { return lanemask_le(); }
PORTER_TORCH unsigned getLaneMaskGt() { return lanemask_gt(); }
PORTER_TORCH unsigned getLaneMaskGe() { return ~lanemask_lt(); }

}  // namespace torch_warp
}  // namespace porter

#undef PORTER_TORCH

#endif  // HIP
#endif  // PORTER_TORCH_WARP_HPP
