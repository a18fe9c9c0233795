// Prefix sums: within a warp by shuffles, within a block over warp totals, over any length in three phases.
#include <cuda_runtime.h>

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

#define FULL_MASK 0xffffffff
#define WARP_SIZE 32

template <typename T>
__device__ T warp_inclusive_scan(T value) {
  const int lane = threadIdx.x & (WARP_SIZE - 1);
#pragma unroll
  for (int delta = 1; delta < WARP_SIZE; delta <<= 1) {
    const T below = __shfl_up_sync(FULL_MASK, value, delta);
    if (lane >= delta) value += below;
  }
  return value;
}

// Rows of 32 elements, one warp each: the row length of the data equals the warp size by design.
__global__ void warp_scan_rows(const float* __restrict__ input, float* __restrict__ inclusive,
                               float* __restrict__ exclusive, int rows) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / WARP_SIZE;
  const int lane = threadIdx.x % WARP_SIZE;
  if (row >= rows) return;
  const float sum = warp_inclusive_scan(input[row * 32 + lane]);
  const float below = __shfl_up_sync(FULL_MASK, sum, 1);
  inclusive[row * 32 + lane] = sum;
  exclusive[row * 32 + lane] = lane == 0 ? 0.0f : below;
}

// Scans the BLOCK elements of each block, in place or not; the block totals go to `block_sums` unless it is null.
template <typename T, int BLOCK, bool EXCLUSIVE>
__global__ void __launch_bounds__(BLOCK)
    scan_blocks(const T* input, T* out, T* __restrict__ block_sums, int n) {
  static_assert(BLOCK % WARP_SIZE == 0 && BLOCK <= WARP_SIZE * WARP_SIZE, "one warp scans all warp totals");
  __shared__ T warp_totals[BLOCK / WARP_SIZE];
  const int i = blockIdx.x * BLOCK + threadIdx.x;
  const int lane = threadIdx.x & 31;
  const int warp = threadIdx.x >> 5;

  const T own = i < n ? input[i] : T(0);
  T value = warp_inclusive_scan(own);
  if (lane == 31) warp_totals[warp] = value;
  __syncthreads();
  if (warp == 0) {
    const T total = lane < BLOCK / WARP_SIZE ? warp_totals[lane] : T(0);
    const T scanned = warp_inclusive_scan(total);
    if (lane < BLOCK / WARP_SIZE) warp_totals[lane] = scanned;
  }
  __syncthreads();
  if (warp > 0) value += warp_totals[warp - 1];
  if (i < n) out[i] = EXCLUSIVE ? value - own : value;
  if (threadIdx.x == BLOCK - 1 && block_sums != nullptr) block_sums[blockIdx.x] = value;
}

template <typename T>
__global__ void add_block_offsets(T* __restrict__ data, const T* __restrict__ offsets, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) data[i] += offsets[blockIdx.x];
}

// Up to 256 * 1024 elements.
template <bool EXCLUSIVE>
static void scan(const int* input, int* out, int* block_sums, int n, cudaStream_t stream) {
  constexpr int kBlock = 256;
  const int blocks = (n + kBlock - 1) / kBlock;
  scan_blocks<int, kBlock, EXCLUSIVE><<<blocks, kBlock, 0, stream>>>(input, out, block_sums, n);
  scan_blocks<int, 1024, true><<<1, 1024, 0, stream>>>(block_sums, block_sums, nullptr, blocks);
  add_block_offsets<<<blocks, kBlock, 0, stream>>>(out, block_sums, n);
  CHECK_CUDA(cudaGetLastError());
}

int main() {
  constexpr int n = 123457, rows = 37;
  std::vector<int> input(n), inclusive(n), exclusive(n);
  for (int i = 0; i < n; ++i) input[i] = i % 11 - 4;
  std::vector<float> row_input(rows * 32), row_inclusive(rows * 32), row_exclusive(rows * 32);
  for (int i = 0; i < rows * 32; ++i) row_input[i] = static_cast<float>(i % 7);

  int *dinput, *dinclusive, *dexclusive, *dsums;
  float *drow_input, *drow_inclusive, *drow_exclusive;
  CHECK_CUDA(cudaMalloc(&dinput, n * sizeof(int)));
  CHECK_CUDA(cudaMalloc(&dinclusive, n * sizeof(int)));
  CHECK_CUDA(cudaMalloc(&dexclusive, n * sizeof(int)));
  CHECK_CUDA(cudaMalloc(&dsums, 1024 * sizeof(int)));
  for (float** pointer : {&drow_input, &drow_inclusive, &drow_exclusive})
    CHECK_CUDA(cudaMalloc(pointer, rows * 32 * sizeof(float)));
  CHECK_CUDA(cudaMemcpy(dinput, input.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  CHECK_CUDA(cudaMemcpy(drow_input, row_input.data(), rows * 32 * sizeof(float), cudaMemcpyHostToDevice));

  cudaStream_t stream;
  CHECK_CUDA(cudaStreamCreate(&stream));
  scan<false>(dinput, dinclusive, dsums, n, stream);
  scan<true>(dinput, dexclusive, dsums, n, stream);
  warp_scan_rows<<<(rows * WARP_SIZE + 127) / 128, 128, 0, stream>>>(drow_input, drow_inclusive, drow_exclusive, rows);
  CHECK_CUDA(cudaGetLastError());
  CHECK_CUDA(cudaStreamSynchronize(stream));
  CHECK_CUDA(cudaMemcpy(inclusive.data(), dinclusive, n * sizeof(int), cudaMemcpyDeviceToHost));
  CHECK_CUDA(cudaMemcpy(exclusive.data(), dexclusive, n * sizeof(int), cudaMemcpyDeviceToHost));
  CHECK_CUDA(cudaMemcpy(row_inclusive.data(), drow_inclusive, rows * 32 * sizeof(float), cudaMemcpyDeviceToHost));
  CHECK_CUDA(cudaMemcpy(row_exclusive.data(), drow_exclusive, rows * 32 * sizeof(float), cudaMemcpyDeviceToHost));

  int wrong = 0, sum = 0;
  for (int i = 0; i < n; ++i) {
    wrong += exclusive[i] != sum;
    sum += input[i];
    wrong += inclusive[i] != sum;
  }
  float row_sum = 0.0f;
  for (int i = 0; i < rows * 32; ++i) {
    if (i % 32 == 0) row_sum = 0.0f;
    wrong += row_exclusive[i] != row_sum;
    row_sum += row_input[i];
    wrong += row_inclusive[i] != row_sum;
  }
  std::printf("warp_scan: %d wrong values\n", wrong);

  CHECK_CUDA(cudaStreamDestroy(stream));
  for (int* pointer : {dinput, dinclusive, dexclusive, dsums}) CHECK_CUDA(cudaFree(pointer));
  for (float* pointer : {drow_input, drow_inclusive, drow_exclusive}) CHECK_CUDA(cudaFree(pointer));
  return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
