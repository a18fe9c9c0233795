// Block-wide reductions: shuffles within a warp, one partial result per warp in shared memory.
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK_CUDA(call)                                                                       \
  do {                                                                                         \
    const cudaError_t status_ = (call);                                                        \
    if (status_ != cudaSuccess) {                                                              \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_));    \
      std::exit(EXIT_FAILURE);                                                                 \
    }                                                                                          \
  } while (0)

namespace reduce {

constexpr int kWarpSize = 32;
constexpr unsigned kFullMask = 0xffffffffu;

struct Sum {
  template <typename T>
  __device__ T operator()(T a, T b) const { return a + b; }
};

struct Max {
  template <typename T>
  __device__ T operator()(T a, T b) const { return a < b ? b : a; }
};

template <typename T, typename Op>
__device__ __forceinline__ T warp_reduce(T value, Op op) {
#pragma unroll
  for (int offset = kWarpSize / 2; offset > 0; offset >>= 1)
    value = op(value, __shfl_down_sync(kFullMask, value, offset));
  return value;
}

// The result is valid in thread 0; the block size is a multiple of the warp size.
template <typename T, typename Op>
__device__ T block_reduce(T value, T identity, Op op) {
  __shared__ T partial[1024 / kWarpSize];
  const int lane = threadIdx.x % kWarpSize;
  const int warp = threadIdx.x / kWarpSize;
  value = warp_reduce(value, op);
  if (lane == 0) partial[warp] = value;
  __syncthreads();
  if (warp == 0) {
    value = lane < static_cast<int>(blockDim.x / kWarpSize) ? partial[lane] : identity;
    value = warp_reduce(value, op);
  }
  return value;
}

// Block b sums input[b * chunk .. (b + 1) * chunk).
template <typename T>
__global__ void block_sum(const T* __restrict__ input, T* __restrict__ out, int n, int chunk) {
  const int first = blockIdx.x * chunk;
  const int last = min(n, first + chunk);
  T value = 0;
  for (int i = first + threadIdx.x; i < last; i += blockDim.x) value += input[i];
  value = block_reduce(value, T(0), Sum{});
  if (threadIdx.x == 0) out[blockIdx.x] = value;
}

__global__ void block_max_abs(const float* __restrict__ input, float* __restrict__ out, int n, int chunk) {
  const int first = blockIdx.x * chunk;
  const int last = min(n, first + chunk);
  float value = 0.0f;
  for (int i = first + threadIdx.x; i < last; i += blockDim.x) value = fmaxf(value, fabsf(input[i]));
  value = block_reduce(value, 0.0f, Max{});
  if (threadIdx.x == 0) out[blockIdx.x] = value;
}

// Adds to *result, which the caller clears.
__global__ void __launch_bounds__(256)
    dot(const float* __restrict__ x, const float* __restrict__ y, double* __restrict__ result, int n) {
  double value = 0.0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    value += static_cast<double>(x[i]) * y[i];
  value = block_reduce(value, 0.0, Sum{});
  if (threadIdx.x == 0) atomicAdd(result, value);
}

}  // namespace reduce

// False for NaN.
static bool close(double got, double want, double tolerance) { return std::fabs(got - want) <= tolerance; }

int main() {
  constexpr int n = 200001, chunk = 4096, blocks = (n + chunk - 1) / chunk;
  std::vector<float> x(n), y(n), sums(blocks), maxima(blocks);
  for (int i = 0; i < n; ++i) {
    x[i] = static_cast<float>(i * 7 % 129 - 64) / 32.0f;
    y[i] = static_cast<float>(i * 5 % 65 - 32) / 64.0f;
  }

  float *dx, *dy, *dsums, *dmaxima;
  double* dresult;
  CHECK_CUDA(cudaMalloc(&dx, n * sizeof(float)));
  CHECK_CUDA(cudaMalloc(&dy, n * sizeof(float)));
  CHECK_CUDA(cudaMalloc(&dsums, blocks * sizeof(float)));
  CHECK_CUDA(cudaMalloc(&dmaxima, blocks * sizeof(float)));
  CHECK_CUDA(cudaMalloc(&dresult, sizeof(double)));
  CHECK_CUDA(cudaMemcpy(dx, x.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  CHECK_CUDA(cudaMemcpy(dy, y.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  CHECK_CUDA(cudaMemset(dresult, 0, sizeof(double)));

  reduce::block_sum<float><<<blocks, 512>>>(dx, dsums, n, chunk);
  reduce::block_max_abs<<<blocks, 96>>>(dx, dmaxima, n, chunk);
  reduce::dot<<<64, 256>>>(dx, dy, dresult, n);
  CHECK_CUDA(cudaGetLastError());

  double dot = 0.0;
  CHECK_CUDA(cudaMemcpy(sums.data(), dsums, blocks * sizeof(float), cudaMemcpyDeviceToHost));
  CHECK_CUDA(cudaMemcpy(maxima.data(), dmaxima, blocks * sizeof(float), cudaMemcpyDeviceToHost));
  CHECK_CUDA(cudaMemcpy(&dot, dresult, sizeof(double), cudaMemcpyDeviceToHost));

  int wrong = 0;
  double want_dot = 0.0;
  for (int b = 0; b < blocks; ++b) {
    double sum = 0.0;
    float largest = 0.0f;
    for (int i = b * chunk; i < std::min(n, (b + 1) * chunk); ++i) {
      sum += x[i];
      largest = std::fmax(largest, std::fabs(x[i]));
      want_dot += static_cast<double>(x[i]) * y[i];
    }
    wrong += !close(sums[b], sum, 1e-3);
    wrong += maxima[b] != largest;
  }
  wrong += !close(dot, want_dot, 1e-9 * n);
  std::printf("block_reduce: %d wrong results, dot %.6f (expected %.6f)\n", wrong, dot, want_dot);

  for (float* pointer : {dx, dy, dsums, dmaxima}) CHECK_CUDA(cudaFree(pointer));
  CHECK_CUDA(cudaFree(dresult));
  return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
