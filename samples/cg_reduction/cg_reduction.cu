// Cooperative groups: tiles that reduce, coalesced threads that count, a grid that waits for itself.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace cg = cooperative_groups;

#define CHECK_CUDA(call)                                                                       \
  do {                                                                                         \
    const cudaError_t status_ = (call);                                                        \
    if (status_ != cudaSuccess) {                                                              \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_));    \
      std::exit(EXIT_FAILURE);                                                                 \
    }                                                                                          \
  } while (0)

// One tile of 32 threads per row.
__global__ void tile_row_sum(const float* __restrict__ input, float* __restrict__ out, int rows, int cols) {
  const cg::thread_block block = cg::this_thread_block();
  const cg::thread_block_tile<32> tile = cg::tiled_partition<32>(block);
  const int row = blockIdx.x * tile.meta_group_size() + tile.meta_group_rank();
  if (row >= rows) return;
  float sum = 0.0f;
  for (int col = tile.thread_rank(); col < cols; col += tile.num_threads()) sum += input[row * cols + col];
  sum = cg::reduce(tile, sum, cg::plus<float>());
  if (tile.thread_rank() == 0) out[row] = sum;
}

// Groups of WIDTH neighbours: WIDTH is a logical tile, smaller than any hardware warp.
template <unsigned WIDTH>
__global__ void tile_max(const int* __restrict__ input, int* __restrict__ out, int groups) {
  const auto tile = cg::tiled_partition<WIDTH>(cg::this_thread_block());
  const int group = (blockIdx.x * blockDim.x + threadIdx.x) / WIDTH;
  int value = group < groups ? input[group * WIDTH + tile.thread_rank()] : 0;
  for (unsigned offset = tile.size() / 2; offset > 0; offset /= 2) value = max(value, tile.shfl_xor(value, offset));
  if (tile.thread_rank() == 0 && group < groups) out[group] = value;
}

// Adds to *count, which the caller clears; whichever threads are here elect one of them.
__global__ void count_above(const float* __restrict__ input, int* __restrict__ count, float threshold, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    if (input[i] > threshold) {
      const cg::coalesced_group here = cg::coalesced_threads();
      if (here.thread_rank() == 0) atomicAdd(count, static_cast<int>(here.num_threads()));
    }
}

// data /= |data|; launched cooperatively, *norm2 cleared by the caller.
__global__ void __launch_bounds__(256) normalise(float* __restrict__ data, double* __restrict__ norm2, int n) {
  const cg::grid_group grid = cg::this_grid();
  const auto tile = cg::tiled_partition<32>(cg::this_thread_block());
  double sum = 0.0;
  for (unsigned long long i = grid.thread_rank(); i < n; i += grid.size()) sum += static_cast<double>(data[i]) * data[i];
  sum = cg::reduce(tile, sum, cg::plus<double>());
  if (tile.thread_rank() == 0) atomicAdd(norm2, sum);
  grid.sync();
  const double scale = 1.0 / sqrt(*static_cast<volatile double*>(norm2));
  for (unsigned long long i = grid.thread_rank(); i < n; i += grid.size()) data[i] = static_cast<float>(data[i] * scale);
}

// False for NaN.
static bool close(double got, double want, double tolerance) { return std::fabs(got - want) <= tolerance; }

int main() {
  int cooperative = 0, processors = 0, per_processor = 0;
  CHECK_CUDA(cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, 0));
  CHECK_CUDA(cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0));
  if (!cooperative) {
    std::fprintf(stderr, "cg_reduction: the device cannot launch cooperatively\n");
    return EXIT_FAILURE;
  }
  int rows = 150, cols = 333, n = rows * cols;
  const int groups = n / 8;
  std::vector<float> data(n), sums(rows), normal(n);
  std::vector<int> keys(n), maxima(groups);
  for (int i = 0; i < n; ++i) {
    data[i] = static_cast<float>(i * 31 % 127) / 32.0f - 2.0f;
    keys[i] = i * 131 % 1009;
  }

  float *ddata, *dsums;
  int *dkeys, *dmaxima, *dcount;
  double* dnorm2;
  CHECK_CUDA(cudaMalloc(&ddata, n * sizeof(float)));
  CHECK_CUDA(cudaMalloc(&dsums, rows * sizeof(float)));
  CHECK_CUDA(cudaMalloc(&dkeys, n * sizeof(int)));
  CHECK_CUDA(cudaMalloc(&dmaxima, groups * sizeof(int)));
  CHECK_CUDA(cudaMalloc(&dcount, sizeof(int)));
  CHECK_CUDA(cudaMalloc(&dnorm2, sizeof(double)));
  CHECK_CUDA(cudaMemcpy(ddata, data.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  CHECK_CUDA(cudaMemcpy(dkeys, keys.data(), n * sizeof(int), cudaMemcpyHostToDevice));
  CHECK_CUDA(cudaMemset(dcount, 0, sizeof(int)));
  CHECK_CUDA(cudaMemset(dnorm2, 0, sizeof(double)));

  tile_row_sum<<<(rows + 3) / 4, 128>>>(ddata, dsums, rows, cols);
  tile_max<8><<<(n + 255) / 256, 256>>>(dkeys, dmaxima, groups);
  count_above<<<20, 256>>>(ddata, dcount, 0.5f, n);
  CHECK_CUDA(cudaGetLastError());
  CHECK_CUDA(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_processor, normalise, 256, 0));
  const int grid = std::min((n + 255) / 256, per_processor * processors);
  void* arguments[] = {&ddata, &dnorm2, &n};
  CHECK_CUDA(cudaLaunchCooperativeKernel(reinterpret_cast<void*>(normalise), dim3(grid), dim3(256), arguments, 0, nullptr));
  CHECK_CUDA(cudaDeviceSynchronize());

  int count = 0, want_count = 0, wrong = 0;
  CHECK_CUDA(cudaMemcpy(sums.data(), dsums, rows * sizeof(float), cudaMemcpyDeviceToHost));
  CHECK_CUDA(cudaMemcpy(maxima.data(), dmaxima, groups * sizeof(int), cudaMemcpyDeviceToHost));
  CHECK_CUDA(cudaMemcpy(&count, dcount, sizeof(int), cudaMemcpyDeviceToHost));
  CHECK_CUDA(cudaMemcpy(normal.data(), ddata, n * sizeof(float), cudaMemcpyDeviceToHost));
  double norm2 = 0.0;
  for (float value : data) {
    norm2 += static_cast<double>(value) * value;
    want_count += value > 0.5f;
  }
  for (int r = 0; r < rows; ++r) {
    double sum = 0.0;
    for (int c = 0; c < cols; ++c) sum += data[r * cols + c];
    wrong += !close(sums[r], sum, 1e-3);
  }
  for (int g = 0; g < groups; ++g) wrong += maxima[g] != *std::max_element(&keys[g * 8], &keys[g * 8] + 8);
  for (int i = 0; i < n; ++i) wrong += !close(normal[i], data[i] / std::sqrt(norm2), 1e-6);
  wrong += count != want_count;
  std::printf("cg_reduction: %d wrong results\n", wrong);

  for (void* pointer : {static_cast<void*>(ddata), static_cast<void*>(dsums), static_cast<void*>(dkeys),
                        static_cast<void*>(dmaxima), static_cast<void*>(dcount), static_cast<void*>(dnorm2)})
    CHECK_CUDA(cudaFree(pointer));
  return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
