#include <ATen/AccumulateType.h>
#include <ATen/Dispatch.h>
#include <ATen/cuda/CUDAContext.h>
#include <ATen/cuda/DeviceUtils.cuh>
#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/zeros_like.h>
#include <c10/cuda/CUDAException.h>
#include <c10/cuda/CUDAGuard.h>
#include <c10/macros/Macros.h>

#include <algorithm>

#include "rms_norm.h"

namespace {

constexpr int kMaxThreads = 1024;

// The sum over a block, in all of its threads; `partial` has room for one value per warp.
template <typename acc_t>
__device__ acc_t block_sum(acc_t value, acc_t* partial) {
  const int lane = threadIdx.x % C10_WARP_SIZE;
  const int warp = threadIdx.x / C10_WARP_SIZE;
#pragma unroll
  for (int offset = C10_WARP_SIZE / 2; offset > 0; offset >>= 1) value += WARP_SHFL_XOR(value, offset);
  if (lane == 0) partial[warp] = value;
  __syncthreads();
  value = lane < static_cast<int>(blockDim.x) / C10_WARP_SIZE ? partial[lane] : acc_t(0);
#pragma unroll
  for (int offset = C10_WARP_SIZE / 2; offset > 0; offset >>= 1) value += WARP_SHFL_XOR(value, offset);
  return value;
}

// One block per row.
template <typename scalar_t, typename acc_t>
__global__ void rms_norm_forward_kernel(const scalar_t* __restrict__ x, const scalar_t* __restrict__ weight,
                                        scalar_t* __restrict__ y, acc_t* __restrict__ rstd, int64_t cols, acc_t eps) {
  __shared__ acc_t partial[kMaxThreads / C10_WARP_SIZE];
  const int64_t start = blockIdx.x * cols;
  acc_t sum = 0;
  for (int64_t c = threadIdx.x; c < cols; c += blockDim.x) {
    const acc_t value = static_cast<acc_t>(x[start + c]);
    sum += value * value;
  }
  const acc_t scale = rsqrt(block_sum(sum, partial) / cols + eps);
  if (threadIdx.x == 0) rstd[blockIdx.x] = scale;
  for (int64_t c = threadIdx.x; c < cols; c += blockDim.x)
    y[start + c] = static_cast<scalar_t>(static_cast<acc_t>(x[start + c]) * scale * static_cast<acc_t>(weight[c]));
}

// One block per row.
template <typename scalar_t, typename acc_t>
__global__ void rms_norm_backward_input_kernel(const scalar_t* __restrict__ grad, const scalar_t* __restrict__ x,
                                               const scalar_t* __restrict__ weight, const acc_t* __restrict__ rstd,
                                               scalar_t* __restrict__ dx, int64_t cols) {
  __shared__ acc_t partial[kMaxThreads / C10_WARP_SIZE];
  const int64_t start = blockIdx.x * cols;
  const acc_t scale = rstd[blockIdx.x];
  acc_t sum = 0;
  for (int64_t c = threadIdx.x; c < cols; c += blockDim.x)
    sum += static_cast<acc_t>(grad[start + c]) * static_cast<acc_t>(weight[c]) * static_cast<acc_t>(x[start + c]);
  const acc_t mean = block_sum(sum, partial) * scale * scale / cols;
  for (int64_t c = threadIdx.x; c < cols; c += blockDim.x) {
    const acc_t scaled = static_cast<acc_t>(grad[start + c]) * static_cast<acc_t>(weight[c]);
    dx[start + c] = static_cast<scalar_t>(scale * (scaled - static_cast<acc_t>(x[start + c]) * mean));
  }
}

// One warp per column: the lanes go down the rows.
template <typename scalar_t, typename acc_t>
__global__ void rms_norm_backward_weight_kernel(const scalar_t* __restrict__ grad, const scalar_t* __restrict__ x,
                                                const acc_t* __restrict__ rstd, scalar_t* __restrict__ dweight, int64_t rows,
                                                int64_t cols) {
  const int64_t col = blockIdx.x * static_cast<int64_t>(blockDim.y) + threadIdx.y;
  if (col >= cols) return;
  acc_t sum = 0;
  for (int64_t r = threadIdx.x; r < rows; r += 32)
    sum += static_cast<acc_t>(grad[r * cols + col]) * static_cast<acc_t>(x[r * cols + col]) * rstd[r];
#pragma unroll
  for (int offset = 16; offset > 0; offset >>= 1) sum += __shfl_down_sync(0xffffffff, sum, offset);
  if (threadIdx.x == 0) dweight[col] = static_cast<scalar_t>(sum);
}

int threads_for(int64_t cols) {
  const int64_t warps = (cols + C10_WARP_SIZE - 1) / C10_WARP_SIZE;
  return static_cast<int>(std::min<int64_t>(kMaxThreads, std::max<int64_t>(1, warps) * C10_WARP_SIZE));
}

}  // namespace

std::tuple<at::Tensor, at::Tensor> rms_norm_forward_cuda(const at::Tensor& x, const at::Tensor& weight, double eps) {
  const c10::cuda::CUDAGuard guard(x.device());
  const int64_t cols = x.size(-1);
  const int64_t rows = cols == 0 ? 0 : x.numel() / cols;
  auto y = at::empty_like(x);
  auto rstd = at::empty({rows}, x.options().dtype(at::toAccumulateType(x.scalar_type(), true)));
  if (rows == 0) return {y, rstd};
  const auto stream = at::cuda::getCurrentCUDAStream();
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, x.scalar_type(), "rms_norm_forward", [&] {
    using acc_t = at::acc_type<scalar_t, true>;
    rms_norm_forward_kernel<scalar_t, acc_t><<<static_cast<unsigned>(rows), threads_for(cols), 0, stream>>>(
        x.const_data_ptr<scalar_t>(), weight.const_data_ptr<scalar_t>(), y.mutable_data_ptr<scalar_t>(),
        rstd.mutable_data_ptr<acc_t>(), cols, static_cast<acc_t>(eps));
  });
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return {y, rstd};
}

std::tuple<at::Tensor, at::Tensor> rms_norm_backward_cuda(const at::Tensor& grad, const at::Tensor& x, const at::Tensor& weight,
                                                          const at::Tensor& rstd) {
  const c10::cuda::CUDAGuard guard(x.device());
  const int64_t cols = x.size(-1);
  const int64_t rows = cols == 0 ? 0 : x.numel() / cols;
  auto dx = at::empty_like(x);
  auto dweight = at::zeros_like(weight);
  if (rows == 0) return {dx, dweight};
  const auto stream = at::cuda::getCurrentCUDAStream();
  const dim3 block(32, 8);
  const auto columns = static_cast<unsigned>((cols + block.y - 1) / block.y);
  AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, x.scalar_type(), "rms_norm_backward", [&] {
    using acc_t = at::acc_type<scalar_t, true>;
    rms_norm_backward_input_kernel<scalar_t, acc_t><<<static_cast<unsigned>(rows), threads_for(cols), 0, stream>>>(
        grad.const_data_ptr<scalar_t>(), x.const_data_ptr<scalar_t>(), weight.const_data_ptr<scalar_t>(),
        rstd.const_data_ptr<acc_t>(), dx.mutable_data_ptr<scalar_t>(), cols);
    rms_norm_backward_weight_kernel<scalar_t, acc_t><<<columns, block, 0, stream>>>(
        grad.const_data_ptr<scalar_t>(), x.const_data_ptr<scalar_t>(), rstd.const_data_ptr<acc_t>(),
        dweight.mutable_data_ptr<scalar_t>(), rows, cols);
  });
  C10_CUDA_KERNEL_LAUNCH_CHECK();
  return {dx, dweight};
}
