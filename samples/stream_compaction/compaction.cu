// Keeps the elements above a threshold: ballots and population counts within a warp, atomics or offsets between warps.
#include <cuda_runtime.h>

#include <algorithm>
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

constexpr int kWarp = 32;
constexpr int kBlock = 256;
constexpr int kWarpsPerBlock = kBlock / kWarp;
constexpr unsigned kAllLanes = ~0u;

__device__ __forceinline__ int lane_id() { return threadIdx.x & (kWarp - 1); }
__device__ __forceinline__ unsigned lanes_below() { return (1u << lane_id()) - 1u; }

// Order unspecified; adds to *count, which the caller clears. One atomic per warp and round.
__global__ void __launch_bounds__(kBlock)
    compact_atomic(const float* __restrict__ input, float* __restrict__ out, int* __restrict__ count, float threshold,
                   int n) {
  // The bound is the same for a whole block: every lane takes part in every ballot.
  for (int base = blockIdx.x * kBlock; base < n; base += gridDim.x * kBlock) {
    const int i = base + threadIdx.x;
    const float value = i < n ? input[i] : threshold;
    const bool keep = value > threshold;
    const unsigned kept = __ballot_sync(kAllLanes, keep);
    if (kept == 0) continue;
    const int leader = __ffs(kept) - 1;
    int slot = 0;
    if (lane_id() == leader) slot = atomicAdd(count, __popc(kept));
    slot = __shfl_sync(kAllLanes, slot, leader);
    if (keep) out[slot + __popc(kept & lanes_below())] = value;
  }
}

// Each warp's kept count -> its first slot within the block; returns the block's total.
__device__ int warp_slots(unsigned kept, int (&first_slot)[kWarpsPerBlock]) {
  const int warp = threadIdx.x / kWarp;
  if (lane_id() == 0) first_slot[warp] = __popc(kept);
  __syncthreads();
  int total = 0;
  if (threadIdx.x == 0)
    for (int& slot : first_slot) {
      const int here = slot;
      slot = total;
      total += here;
    }
  __syncthreads();
  return total;
}

__global__ void __launch_bounds__(kBlock)
    count_kept(const float* __restrict__ input, int* __restrict__ block_counts, float threshold, int n) {
  __shared__ int first_slot[kWarpsPerBlock];
  const int i = blockIdx.x * kBlock + threadIdx.x;
  const int total = warp_slots(__ballot_sync(kAllLanes, i < n && input[i] > threshold), first_slot);
  if (threadIdx.x == 0) block_counts[blockIdx.x] = total;
}

// Stable: `block_offsets` is the exclusive prefix sum of what count_kept wrote.
__global__ void __launch_bounds__(kBlock)
    scatter_kept(const float* __restrict__ input, const int* __restrict__ block_offsets, float* __restrict__ out,
                 float threshold, int n) {
  __shared__ int first_slot[kWarpsPerBlock];
  const int i = blockIdx.x * kBlock + threadIdx.x;
  const bool keep = i < n && input[i] > threshold;
  const unsigned kept = __ballot_sync(kAllLanes, keep);
  warp_slots(kept, first_slot);
  if (keep) out[block_offsets[blockIdx.x] + first_slot[threadIdx.x / kWarp] + __popc(kept & lanes_below())] = input[i];
}

// A bit map with 32 flags per word: a data format, whatever the width of the hardware.
__global__ void __launch_bounds__(kBlock)
    pack_flags(const float* __restrict__ input, unsigned* __restrict__ words, float threshold, int n) {
  const int i = blockIdx.x * kBlock + threadIdx.x;
  const unsigned word = __ballot_sync(kAllLanes, i < n && input[i] > threshold);
  if (lane_id() == 0 && i < n) words[i / 32] = word;
}

int main() {
  constexpr int n = 54321, blocks = (n + kBlock - 1) / kBlock, words = (n + 31) / 32;
  constexpr float threshold = 0.25f;
  std::vector<float> input(n), want;
  unsigned state = 1;
  for (float& value : input) {
    state = state * 1664525u + 1013904223u;
    value = static_cast<float>(state >> 8) / (1 << 24);
    if (value > threshold) want.push_back(value);
  }

  float *dinput, *dout;
  int *dcount, *dblocks;
  unsigned* dwords;
  CHECK_CUDA(cudaMalloc(&dinput, n * sizeof(float)));
  CHECK_CUDA(cudaMalloc(&dout, n * sizeof(float)));
  CHECK_CUDA(cudaMalloc(&dcount, sizeof(int)));
  CHECK_CUDA(cudaMalloc(&dblocks, blocks * sizeof(int)));
  CHECK_CUDA(cudaMalloc(&dwords, words * sizeof(unsigned)));
  CHECK_CUDA(cudaMemcpy(dinput, input.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  CHECK_CUDA(cudaMemset(dcount, 0, sizeof(int)));

  int wrong = 0, count = 0;
  compact_atomic<<<40, kBlock>>>(dinput, dout, dcount, threshold, n);
  CHECK_CUDA(cudaGetLastError());
  CHECK_CUDA(cudaMemcpy(&count, dcount, sizeof(int), cudaMemcpyDeviceToHost));
  std::vector<float> got(n);
  CHECK_CUDA(cudaMemcpy(got.data(), dout, n * sizeof(float), cudaMemcpyDeviceToHost));
  wrong += count != static_cast<int>(want.size());
  std::vector<float> sorted_want = want;
  std::sort(sorted_want.begin(), sorted_want.end());
  std::sort(got.begin(), got.begin() + count);
  wrong += !std::equal(sorted_want.begin(), sorted_want.end(), got.begin());

  std::vector<int> offsets(blocks);
  count_kept<<<blocks, kBlock>>>(dinput, dblocks, threshold, n);
  CHECK_CUDA(cudaMemcpy(offsets.data(), dblocks, blocks * sizeof(int), cudaMemcpyDeviceToHost));
  int total = 0;
  for (int& offset : offsets) {
    const int here = offset;
    offset = total;
    total += here;
  }
  CHECK_CUDA(cudaMemcpy(dblocks, offsets.data(), blocks * sizeof(int), cudaMemcpyHostToDevice));
  scatter_kept<<<blocks, kBlock>>>(dinput, dblocks, dout, threshold, n);
  CHECK_CUDA(cudaGetLastError());
  CHECK_CUDA(cudaMemcpy(got.data(), dout, n * sizeof(float), cudaMemcpyDeviceToHost));
  wrong += !std::equal(want.begin(), want.end(), got.begin());

  std::vector<unsigned> flags(words);
  pack_flags<<<blocks, kBlock>>>(dinput, dwords, threshold, n);
  CHECK_CUDA(cudaGetLastError());
  CHECK_CUDA(cudaMemcpy(flags.data(), dwords, words * sizeof(unsigned), cudaMemcpyDeviceToHost));
  for (int i = 0; i < n; ++i) wrong += (flags[i / 32] >> (i & 31) & 1u) != (input[i] > threshold);

  std::printf("stream_compaction: kept %d of %d, %d wrong\n", count, n, wrong);
  for (void* pointer : {static_cast<void*>(dinput), static_cast<void*>(dout), static_cast<void*>(dcount),
                        static_cast<void*>(dblocks), static_cast<void*>(dwords)})
    CHECK_CUDA(cudaFree(pointer));
  return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
