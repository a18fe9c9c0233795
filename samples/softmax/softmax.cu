// Row-wise softmax: one warp per row for short rows, one block per row with running maximum and sum for long ones.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <cfloat>
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

#define FULL_MASK 0xffffffffu

namespace softmax {

constexpr int kWarpSize = 32;
constexpr int kRowsPerBlock = 4;

__device__ __forceinline__ float load(float value) { return value; }
__device__ __forceinline__ float load(__half value) { return __half2float(value); }
__device__ __forceinline__ void store(float* place, float value) { *place = value; }
__device__ __forceinline__ void store(__half* place, float value) { *place = __float2half_rn(value); }

__device__ __forceinline__ float warp_max(float value) {
#pragma unroll
  for (int mask = 16; mask > 0; mask /= 2) value = fmaxf(value, __shfl_xor_sync(FULL_MASK, value, mask));
  return value;
}

__device__ __forceinline__ float warp_sum(float value) {
#pragma unroll
  for (int mask = 16; mask > 0; mask /= 2) value += __shfl_xor_sync(FULL_MASK, value, mask);
  return value;
}

// Block (32, kRowsPerBlock); each lane keeps PER_LANE elements of its row, cols <= 32 * PER_LANE.
template <typename T, int PER_LANE>
__global__ void __launch_bounds__(kWarpSize * kRowsPerBlock)
    softmax_warp(const T* __restrict__ input, T* __restrict__ out, int rows, int cols) {
  const int row = blockIdx.x * blockDim.y + threadIdx.y;
  if (row >= rows) return;
  const T* source = input + static_cast<size_t>(row) * cols;
  T* target = out + static_cast<size_t>(row) * cols;

  float values[PER_LANE];
  float largest = -FLT_MAX;
#pragma unroll
  for (int i = 0; i < PER_LANE; ++i) {
    const int col = i * kWarpSize + threadIdx.x;
    values[i] = col < cols ? load(source[col]) : -INFINITY;
    largest = fmaxf(largest, values[i]);
  }
  largest = warp_max(largest);
  float sum = 0.0f;
#pragma unroll
  for (int i = 0; i < PER_LANE; ++i) {
    values[i] = __expf(values[i] - largest);
    sum += values[i];
  }
  sum = warp_sum(sum);
#pragma unroll
  for (int i = 0; i < PER_LANE; ++i) {
    const int col = i * kWarpSize + threadIdx.x;
    if (col < cols) store(&target[col], values[i] / sum);
  }
}

struct Running {
  float largest;
  float sum;  // of exp(value - largest)
};

__device__ __forceinline__ Running merge(Running a, Running b) {
  const float largest = fmaxf(a.largest, b.largest);
  return {largest, a.sum * __expf(a.largest - largest) + b.sum * __expf(b.largest - largest)};
}

__device__ __forceinline__ Running warp_merge(Running value) {
  for (int offset = kWarpSize / 2; offset > 0; offset /= 2) {
    const Running other = {__shfl_xor_sync(FULL_MASK, value.largest, offset),
                           __shfl_xor_sync(FULL_MASK, value.sum, offset)};
    value = merge(value, other);
  }
  return value;
}

// One block per row; `cols` floats of dynamic shared memory keep the row between the passes.
template <typename T, int BLOCK>
__global__ void __launch_bounds__(BLOCK) softmax_block(const T* __restrict__ input, T* __restrict__ out, int cols) {
  extern __shared__ float row[];
  __shared__ Running partial[BLOCK / kWarpSize];
  const T* source = input + static_cast<size_t>(blockIdx.x) * cols;
  T* target = out + static_cast<size_t>(blockIdx.x) * cols;
  const int lane = threadIdx.x % kWarpSize;
  const int warp = threadIdx.x / kWarpSize;

  Running mine = {-FLT_MAX, 0.0f};
  for (int col = threadIdx.x; col < cols; col += BLOCK) {
    row[col] = load(source[col]);  // read back by this thread only
    mine = merge(mine, {row[col], 1.0f});
  }
  mine = warp_merge(mine);
  if (lane == 0) partial[warp] = mine;
  __syncthreads();
  Running all = lane < BLOCK / kWarpSize ? partial[lane] : Running{-FLT_MAX, 0.0f};
  all = warp_merge(all);
  for (int col = threadIdx.x; col < cols; col += BLOCK) store(&target[col], __expf(row[col] - all.largest) / all.sum);
}

template <typename T>
void run(const T* input, T* out, int rows, int cols, cudaStream_t stream) {
  const dim3 block(kWarpSize, kRowsPerBlock);
  const int grid = (rows + kRowsPerBlock - 1) / kRowsPerBlock;
  if (cols <= 4 * kWarpSize)
    softmax_warp<T, 4><<<grid, block, 0, stream>>>(input, out, rows, cols);
  else if (cols <= 16 * kWarpSize)
    softmax_warp<T, 16><<<grid, block, 0, stream>>>(input, out, rows, cols);
  else
    softmax_block<T, 256><<<rows, 256, cols * sizeof(float), stream>>>(input, out, cols);
  CHECK_CUDA(cudaGetLastError());
}

}  // namespace softmax

template <typename T>
static int count_wrong(int rows, int cols, double tolerance) {
  const size_t count = static_cast<size_t>(rows) * cols;
  std::vector<T> input(count), got(count);
  for (size_t i = 0; i < count; ++i) input[i] = static_cast<T>(static_cast<float>(i * 29 % 97) / 8.0f - 6.0f);
  T *dinput, *dout;
  CHECK_CUDA(cudaMalloc(&dinput, count * sizeof(T)));
  CHECK_CUDA(cudaMalloc(&dout, count * sizeof(T)));
  CHECK_CUDA(cudaMemcpy(dinput, input.data(), count * sizeof(T), cudaMemcpyHostToDevice));
  softmax::run(dinput, dout, rows, cols, nullptr);
  CHECK_CUDA(cudaMemcpy(got.data(), dout, count * sizeof(T), cudaMemcpyDeviceToHost));
  CHECK_CUDA(cudaFree(dinput));
  CHECK_CUDA(cudaFree(dout));

  int wrong = 0;
  for (int r = 0; r < rows; ++r) {
    const T* source = &input[static_cast<size_t>(r) * cols];
    double sum = 0.0;
    for (int c = 0; c < cols; ++c) sum += std::exp(static_cast<double>(static_cast<float>(source[c])));
    for (int c = 0; c < cols; ++c) {
      const double want = std::exp(static_cast<double>(static_cast<float>(source[c]))) / sum;
      const double error = std::fabs(static_cast<float>(got[static_cast<size_t>(r) * cols + c]) - want);
      wrong += !(error <= tolerance * std::fmax(want, 1e-4));  // below that, half has no precision left
    }
  }
  return wrong;
}

int main() {
  int wrong = 0;
  for (int cols : {1, 33, 128, 500, 1000})
    wrong += count_wrong<float>(7, cols, 1e-5) + count_wrong<__half>(7, cols, 2e-3);
  std::printf("softmax: %d wrong values\n", wrong);
  return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
