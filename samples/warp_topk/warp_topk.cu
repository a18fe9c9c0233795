// The k largest of each row, one warp per row: a sorted list with one entry per lane, merged with bitonic networks.
#include <cuda_runtime.h>

#include <algorithm>
#include <climits>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <vector>

#define CHECK_CUDA(call)                                                                       \
  do {                                                                                         \
    const cudaError_t status_ = (call);                                                        \
    if (status_ != cudaSuccess) {                                                              \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_));    \
      std::exit(EXIT_FAILURE);                                                                 \
    }                                                                                          \
  } while (0)

namespace topk {

constexpr int kLanes = 32;
constexpr unsigned kMask = 0xffffffffu;
constexpr int kNoIndex = INT_MAX;

struct Entry {
  float value;
  int index;
};

// A total order for NaN-free values: larger first, the earlier of equals first.
__device__ __forceinline__ bool before(const Entry& a, const Entry& b) {
  return a.value > b.value || (a.value == b.value && a.index < b.index);
}

__device__ __forceinline__ Entry shuffle_xor(const Entry& e, int mask) {
  return {__shfl_xor_sync(kMask, e.value, mask), __shfl_xor_sync(kMask, e.index, mask)};
}

// One step of a sorting network: partners are `distance` lanes apart, the first of them keeps the entry that comes first
// when `descending`, else the other one.
__device__ __forceinline__ void compare_exchange(Entry& mine, int distance, bool descending) {
  const int lane = threadIdx.x & (kLanes - 1);
  const Entry other = shuffle_xor(mine, distance);
  const bool want_first = ((lane & distance) == 0) == descending;
  if (before(other, mine) == want_first) mine = other;
}

__device__ void sort_descending(Entry& mine) {
  const int lane = threadIdx.x & (kLanes - 1);
  for (int size = 2; size <= kLanes; size <<= 1)
    for (int distance = size >> 1; distance > 0; distance >>= 1)
      compare_exchange(mine, distance, (lane & size) == 0 || size == kLanes);
}

// Both lists are sorted; afterwards `best` holds the first 32 of the 64 entries, sorted.
__device__ void merge_best(Entry& best, const Entry& candidate) {
  const Entry reversed = shuffle_xor(candidate, kLanes - 1);
  if (before(reversed, best)) best = reversed;
  for (int distance = kLanes / 2; distance > 0; distance >>= 1) compare_exchange(best, distance, true);
}

// k <= 32; indices of absent entries (cols < k) are -1.
__global__ void __launch_bounds__(128)
    warp_topk(const float* __restrict__ input, float* __restrict__ values, int* __restrict__ indices, int rows, int cols,
              int k) {
  const int row = (blockIdx.x * blockDim.x + threadIdx.x) / kLanes;
  const int lane = threadIdx.x & (kLanes - 1);
  if (row >= rows) return;
  const float* source = input + static_cast<size_t>(row) * cols;

  Entry best = {-INFINITY, kNoIndex};
  for (int base = 0; base < cols; base += kLanes) {
    const int col = base + lane;
    Entry candidate = {-INFINITY, kNoIndex};
    if (col < cols) candidate = {source[col], col};
    const Entry last = {__shfl_sync(kMask, best.value, kLanes - 1), __shfl_sync(kMask, best.index, kLanes - 1)};
    if (!__any_sync(kMask, before(candidate, last))) continue;
    sort_descending(candidate);
    merge_best(best, candidate);
  }
  if (lane < k) {
    values[static_cast<size_t>(row) * k + lane] = best.value;
    indices[static_cast<size_t>(row) * k + lane] = best.index == kNoIndex ? -1 : best.index;
  }
}

__global__ void warp_argmax(const float* __restrict__ input, int* __restrict__ out, int rows, int cols) {
  const int row = blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5);
  if (row >= rows) return;
  Entry best = {-INFINITY, kNoIndex};
  for (int col = threadIdx.x & 31; col < cols; col += 32) {
    const Entry candidate = {input[static_cast<size_t>(row) * cols + col], col};
    if (before(candidate, best)) best = candidate;
  }
#pragma unroll
  for (int mask = 16; mask >= 1; mask >>= 1) {
    const Entry other = shuffle_xor(best, mask);
    if (before(other, best)) best = other;
  }
  if ((threadIdx.x & 31) == 0) out[row] = best.index;
}

}  // namespace topk

int main() {
  constexpr int rows = 21, cols = 777, k = 20;
  std::vector<float> input(rows * cols), values(rows * k);
  std::vector<int> indices(rows * k), argmax(rows);
  unsigned state = 3;
  for (float& value : input) {
    state = state * 1664525u + 1013904223u;
    value = static_cast<float>(state >> 20) - 2048.0f;  // few enough values for ties
  }

  float *dinput, *dvalues;
  int *dindices, *dargmax;
  CHECK_CUDA(cudaMalloc(&dinput, input.size() * sizeof(float)));
  CHECK_CUDA(cudaMalloc(&dvalues, values.size() * sizeof(float)));
  CHECK_CUDA(cudaMalloc(&dindices, indices.size() * sizeof(int)));
  CHECK_CUDA(cudaMalloc(&dargmax, argmax.size() * sizeof(int)));
  CHECK_CUDA(cudaMemcpy(dinput, input.data(), input.size() * sizeof(float), cudaMemcpyHostToDevice));
  topk::warp_topk<<<(rows + 3) / 4, 4 * topk::kLanes>>>(dinput, dvalues, dindices, rows, cols, k);
  topk::warp_argmax<<<(rows + 7) / 8, 256>>>(dinput, dargmax, rows, cols);
  CHECK_CUDA(cudaGetLastError());
  CHECK_CUDA(cudaMemcpy(values.data(), dvalues, values.size() * sizeof(float), cudaMemcpyDeviceToHost));
  CHECK_CUDA(cudaMemcpy(indices.data(), dindices, indices.size() * sizeof(int), cudaMemcpyDeviceToHost));
  CHECK_CUDA(cudaMemcpy(argmax.data(), dargmax, argmax.size() * sizeof(int), cudaMemcpyDeviceToHost));

  int wrong = 0;
  for (int row = 0; row < rows; ++row) {
    const float* source = &input[row * cols];
    std::vector<int> order(cols);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(), [source](int a, int b) { return source[a] > source[b]; });
    wrong += argmax[row] != order[0];
    for (int i = 0; i < k; ++i) wrong += indices[row * k + i] != order[i] || values[row * k + i] != source[order[i]];
  }
  std::printf("warp_topk: %d wrong entries\n", wrong);
  for (float* pointer : {dinput, dvalues}) CHECK_CUDA(cudaFree(pointer));
  for (int* pointer : {dindices, dargmax}) CHECK_CUDA(cudaFree(pointer));
  return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
