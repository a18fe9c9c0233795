// Histograms with shared-memory atomics, and with one atomic per distinct key of a warp.
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

constexpr int kBytes = 256;

// 8-bit fixed-point weights of red, green and blue.
__constant__ int kLuma[3] = {77, 150, 29};

// All kernels add to `hist`, which the caller clears.
__global__ void histogram_bytes(const unsigned char* __restrict__ input, unsigned* __restrict__ hist, int n) {
  __shared__ unsigned local[kBytes];
  for (int bin = threadIdx.x; bin < kBytes; bin += blockDim.x) local[bin] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    atomicAdd(&local[input[i]], 1u);
  __syncthreads();
  for (int bin = threadIdx.x; bin < kBytes; bin += blockDim.x)
    if (local[bin] != 0) atomicAdd(&hist[bin], local[bin]);
}

// `bins` counters of dynamic shared memory; values outside [lo, hi) and NaN are not counted.
__global__ void histogram_range(const float* __restrict__ input, unsigned* __restrict__ hist, float lo, float hi,
                                int bins, int n) {
  extern __shared__ unsigned counts[];
  for (int bin = threadIdx.x; bin < bins; bin += blockDim.x) counts[bin] = 0;
  __syncthreads();
  const float scale = bins / (hi - lo);
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const float value = input[i];
    if (value >= lo && value < hi) atomicAdd(&counts[min(static_cast<int>((value - lo) * scale), bins - 1)], 1u);
  }
  __syncthreads();
  for (int bin = threadIdx.x; bin < bins; bin += blockDim.x)
    if (counts[bin] != 0) atomicAdd(&hist[bin], counts[bin]);
}

__global__ void histogram_luma(const uchar4* __restrict__ rgba, unsigned* __restrict__ hist, int n) {
  __shared__ unsigned local[kBytes];
  for (int bin = threadIdx.x; bin < kBytes; bin += blockDim.x) local[bin] = 0;
  __syncthreads();
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
    const uchar4 pixel = rgba[i];
    atomicAdd(&local[(kLuma[0] * pixel.x + kLuma[1] * pixel.y + kLuma[2] * pixel.z) >> 8], 1u);
  }
  __syncthreads();
  for (int bin = threadIdx.x; bin < kBytes; bin += blockDim.x)
    if (local[bin] != 0) atomicAdd(&hist[bin], local[bin]);
}

// Keys without locality: the lanes of a warp that hold the same key elect one to add for all.
__global__ void histogram_match(const int* __restrict__ keys, unsigned* __restrict__ hist, int n) {
  const int lane = threadIdx.x & 31;
  for (int base = blockIdx.x * blockDim.x; base < n; base += gridDim.x * blockDim.x) {
    const int i = base + threadIdx.x;
    const unsigned inside = __ballot_sync(0xffffffff, i < n);
    if (i < n) {
      const int key = keys[i];
      const unsigned peers = __match_any_sync(inside, key);
      if (lane == __ffs(peers) - 1) atomicAdd(&hist[key], static_cast<unsigned>(__popc(peers)));
    }
  }
}

static int differences(const unsigned* device, const std::vector<unsigned>& want) {
  std::vector<unsigned> got(want.size());
  CHECK_CUDA(cudaMemcpy(got.data(), device, got.size() * sizeof(unsigned), cudaMemcpyDeviceToHost));
  int count = 0;
  for (size_t i = 0; i < want.size(); ++i) count += got[i] != want[i];
  return count;
}

int main() {
  constexpr int n = 70001, bins = 50;
  std::vector<unsigned char> bytes(n);
  std::vector<uchar4> pixels(n);
  std::vector<float> values(n);
  std::vector<int> keys(n);
  std::vector<unsigned> want_bytes(kBytes), want_luma(kBytes), want_range(bins), want_keys(1000);
  unsigned state = 7;
  for (int i = 0; i < n; ++i) {
    state = state * 1664525u + 1013904223u;
    bytes[i] = state >> 24;
    pixels[i] = make_uchar4(state >> 24, state >> 16 & 255, state >> 8 & 255, 255);
    values[i] = static_cast<float>(state >> 10 & 4095) / 64.0f - 2.0f;
    keys[i] = (state >> 12) % (i % 3 == 0 ? 1000 : 4);
    ++want_bytes[bytes[i]];
    ++want_luma[(77 * pixels[i].x + 150 * pixels[i].y + 29 * pixels[i].z) >> 8];
    if (values[i] >= 0.0f && values[i] < 50.0f) ++want_range[static_cast<int>(values[i])];
    ++want_keys[keys[i]];
  }

  unsigned char* dbytes;
  uchar4* dpixels;
  float* dvalues;
  int* dkeys;
  unsigned* dhist;
  CHECK_CUDA(cudaMalloc(&dbytes, n));
  CHECK_CUDA(cudaMalloc(&dpixels, n * sizeof(uchar4)));
  CHECK_CUDA(cudaMalloc(&dvalues, n * sizeof(float)));
  CHECK_CUDA(cudaMalloc(&dkeys, n * sizeof(int)));
  CHECK_CUDA(cudaMalloc(&dhist, 1000 * sizeof(unsigned)));
  CHECK_CUDA(cudaMemcpy(dbytes, bytes.data(), n, cudaMemcpyHostToDevice));
  CHECK_CUDA(cudaMemcpy(dpixels, pixels.data(), n * sizeof(uchar4), cudaMemcpyHostToDevice));
  CHECK_CUDA(cudaMemcpy(dvalues, values.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  CHECK_CUDA(cudaMemcpy(dkeys, keys.data(), n * sizeof(int), cudaMemcpyHostToDevice));

  int wrong = 0;
  CHECK_CUDA(cudaMemset(dhist, 0, 1000 * sizeof(unsigned)));
  histogram_bytes<<<48, 256>>>(dbytes, dhist, n);
  wrong += differences(dhist, want_bytes);
  CHECK_CUDA(cudaMemset(dhist, 0, 1000 * sizeof(unsigned)));
  histogram_luma<<<48, 192>>>(dpixels, dhist, n);
  wrong += differences(dhist, want_luma);
  CHECK_CUDA(cudaMemset(dhist, 0, 1000 * sizeof(unsigned)));
  histogram_range<<<48, 128, bins * sizeof(unsigned)>>>(dvalues, dhist, 0.0f, 50.0f, bins, n);
  wrong += differences(dhist, want_range);
  CHECK_CUDA(cudaMemset(dhist, 0, 1000 * sizeof(unsigned)));
  histogram_match<<<48, 256>>>(dkeys, dhist, n);
  wrong += differences(dhist, want_keys);
  CHECK_CUDA(cudaGetLastError());
  std::printf("histogram: %d wrong counters\n", wrong);

  for (void* pointer : {static_cast<void*>(dbytes), static_cast<void*>(dpixels), static_cast<void*>(dvalues),
                        static_cast<void*>(dkeys), static_cast<void*>(dhist)})
    CHECK_CUDA(cudaFree(pointer));
  return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
