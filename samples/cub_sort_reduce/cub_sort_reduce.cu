// CUB at its three levels: warp and block primitives inside kernels, device-wide sort, scan and reduction from the host.
#include <cub/cub.cuh>
#include <cuda_runtime.h>

#include <algorithm>
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

constexpr int kBlock = 128;
constexpr int kItems = 4;

struct Larger {
  __host__ __device__ float operator()(float a, float b) const { return a < b ? b : a; }
};

// One block per row.
__global__ void __launch_bounds__(kBlock) row_sum_block(const float* __restrict__ input, float* __restrict__ out, int cols) {
  using BlockReduce = cub::BlockReduce<float, kBlock>;
  __shared__ typename BlockReduce::TempStorage storage;
  float sum = 0.0f;
  for (int col = threadIdx.x; col < cols; col += kBlock) sum += input[blockIdx.x * cols + col];
  sum = BlockReduce(storage).Sum(sum);
  if (threadIdx.x == 0) out[blockIdx.x] = sum;
}

// One warp per row: CUB's default of 32 lanes, and storage for each warp of the block.
__global__ void __launch_bounds__(kBlock)
    row_max_warp(const float* __restrict__ input, float* __restrict__ out, int rows, int cols) {
  using WarpReduce = cub::WarpReduce<float>;
  __shared__ typename WarpReduce::TempStorage storage[kBlock / 32];
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  const int row = blockIdx.x * (kBlock / 32) + warp;
  if (row >= rows) return;
  float largest = -INFINITY;
  for (int col = lane; col < cols; col += 32) largest = fmaxf(largest, input[row * cols + col]);
  largest = WarpReduce(storage[warp]).Reduce(largest, Larger());
  if (lane == 0) out[row] = largest;
}

// Each block scans kBlock * kItems elements by itself.
__global__ void __launch_bounds__(kBlock) block_scan(const int* __restrict__ input, int* __restrict__ out, int n) {
  using Load = cub::BlockLoad<int, kBlock, kItems, cub::BLOCK_LOAD_WARP_TRANSPOSE>;
  using Store = cub::BlockStore<int, kBlock, kItems, cub::BLOCK_STORE_WARP_TRANSPOSE>;
  using Scan = cub::BlockScan<int, kBlock, cub::BLOCK_SCAN_WARP_SCANS>;
  __shared__ union {
    typename Load::TempStorage load;
    typename Scan::TempStorage scan;
    typename Store::TempStorage store;
  } storage;
  const int first = blockIdx.x * kBlock * kItems;
  const int valid = min(n - first, kBlock * kItems);
  int items[kItems];
  Load(storage.load).Load(input + first, items, valid, 0);
  __syncthreads();
  Scan(storage.scan).ExclusiveSum(items, items);
  __syncthreads();
  Store(storage.store).Store(out + first, items, valid);
}

// Device-wide calls ask for their scratch space first.
template <typename Call>
static void with_scratch(Call call) {
  size_t bytes = 0;
  CHECK_CUDA(call(nullptr, bytes));
  void* scratch = nullptr;
  CHECK_CUDA(cudaMalloc(&scratch, std::max<size_t>(bytes, 1)));
  CHECK_CUDA(call(scratch, bytes));
  CHECK_CUDA(cudaFree(scratch));
}

int main() {
  constexpr int rows = 45, cols = 210, n = rows * cols;
  std::vector<float> data(n), sums(rows), maxima(rows);
  std::vector<int> keys(n), values(n), sorted_keys(n), sorted_values(n), scanned(n);
  for (int i = 0; i < n; ++i) {
    data[i] = static_cast<float>(i * 43 % 211) / 16.0f - 6.0f;
    keys[i] = i * 7919 % 503 - 250;
    values[i] = i;
  }

  float *ddata, *dsums, *dmaxima;
  int *dkeys, *dvalues, *dsorted_keys, *dsorted_values, *dscanned, *dtotal;
  for (float** pointer : {&ddata, &dsums, &dmaxima}) CHECK_CUDA(cudaMalloc(pointer, n * sizeof(float)));
  for (int** pointer : {&dkeys, &dvalues, &dsorted_keys, &dsorted_values, &dscanned, &dtotal})
    CHECK_CUDA(cudaMalloc(pointer, n * sizeof(int)));
  CHECK_CUDA(cudaMemcpy(ddata, data.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  CHECK_CUDA(cudaMemcpy(dkeys, keys.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  CHECK_CUDA(cudaMemcpy(dvalues, values.data(), n * sizeof(int), cudaMemcpyHostToDevice));

  row_sum_block<<<rows, kBlock>>>(ddata, dsums, cols);
  row_max_warp<<<(rows + kBlock / 32 - 1) / (kBlock / 32), kBlock>>>(ddata, dmaxima, rows, cols);
  block_scan<<<(n + kBlock * kItems - 1) / (kBlock * kItems), kBlock>>>(dkeys, dscanned, n);
  CHECK_CUDA(cudaGetLastError());
  with_scratch([=](void* scratch, size_t& bytes) {
    return cub::DeviceRadixSort::SortPairs(scratch, bytes, dkeys, dsorted_keys, dvalues, dsorted_values, n);
  });
  with_scratch([=](void* scratch, size_t& bytes) { return cub::DeviceReduce::Sum(scratch, bytes, dkeys, dtotal, n); });

  int total = 0, wrong = 0;
  CHECK_CUDA(cudaMemcpy(sums.data(), dsums, rows * sizeof(float), cudaMemcpyDeviceToHost));
  CHECK_CUDA(cudaMemcpy(maxima.data(), dmaxima, rows * sizeof(float), cudaMemcpyDeviceToHost));
  CHECK_CUDA(cudaMemcpy(scanned.data(), dscanned, n * sizeof(int), cudaMemcpyDeviceToHost));
  CHECK_CUDA(cudaMemcpy(sorted_keys.data(), dsorted_keys, n * sizeof(int), cudaMemcpyDeviceToHost));
  CHECK_CUDA(cudaMemcpy(sorted_values.data(), dsorted_values, n * sizeof(int), cudaMemcpyDeviceToHost));
  CHECK_CUDA(cudaMemcpy(&total, dtotal, sizeof(int), cudaMemcpyDeviceToHost));

  for (int r = 0; r < rows; ++r) {
    const auto first = data.begin() + r * cols;
    wrong += !(std::fabs(sums[r] - std::accumulate(first, first + cols, 0.0)) <= 1e-3);  // NaN is wrong
    wrong += maxima[r] != *std::max_element(first, first + cols);
  }
  std::stable_sort(values.begin(), values.end(), [&](int a, int b) { return keys[a] < keys[b]; });
  int prefix = 0;
  for (int i = 0; i < n; ++i) {
    if (i % (kBlock * kItems) == 0) prefix = 0;
    wrong += scanned[i] != prefix;
    prefix += keys[i];
    wrong += sorted_values[i] != values[i] || sorted_keys[i] != keys[values[i]];
  }
  wrong += total != std::accumulate(keys.begin(), keys.end(), 0);
  std::printf("cub_sort_reduce: %d wrong results\n", wrong);

  for (float* pointer : {ddata, dsums, dmaxima}) CHECK_CUDA(cudaFree(pointer));
  for (int* pointer : {dkeys, dvalues, dsorted_keys, dsorted_values, dscanned, dtotal}) CHECK_CUDA(cudaFree(pointer));
  return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
