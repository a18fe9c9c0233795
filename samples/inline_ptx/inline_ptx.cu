// Kernels that reach for PTX: lane registers, bit fields, asynchronous copies, cache hints and fences.
#include "ptx.cuh"

#include <algorithm>
#include <cmath>
#include <cstdint>
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

// rank[i]: how many flagged elements precede i among its 32; tail[i]: how many from i on.
__global__ void flag_ranks(const int* __restrict__ flags, int* __restrict__ rank, int* __restrict__ tail, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const unsigned flagged = __ballot_sync(0xffffffff, i < n && flags[i] != 0);
  if (i >= n) return;
  rank[i] = __popc(flagged & ptx::lanemask_lt());
  tail[i] = __popc(flagged & ptx::lanemask_ge());
}

// Every element of a group of 32 gets the group's element `source` (its own where that lies beyond n).
__global__ void broadcast_lane(const float* __restrict__ input, float* __restrict__ out, unsigned source, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const bool there = i - static_cast<int>(ptx::lane_id()) + static_cast<int>(source) < n;
  const float own = i < n ? input[i] : 0.0f;
  const float other = __shfl_sync(0xffffffff, own, source);
  if (i < n) out[i] = there ? other : own;
}

// RGB565 to ARGB8888 by replicating high bits, then the byte order reversed where the mask says so.
__global__ void expand_pixels(const uint16_t* __restrict__ input, uint32_t* __restrict__ out, uint32_t swap_mask, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  const unsigned pixel = input[i];
  const unsigned r = ptx::bfe(pixel, 11, 5), g = ptx::bfe(pixel, 5, 6), b = ptx::bfe(pixel, 0, 5);
  unsigned argb = 0xff000000u;
  argb = ptx::bfi(r << 3 | r >> 2, argb, 16, 8);
  argb = ptx::bfi(g << 2 | g >> 4, argb, 8, 8);
  argb = ptx::bfi(b << 3 | b >> 2, argb, 0, 8);
  out[i] = ptx::select_bits(swap_mask, ptx::byte_permute(argb, 0, 0x0123), argb);
}

constexpr int kStage = 256;  // float4 per block

// out = scale * input, staged through shared memory by asynchronous copies; 16-byte aligned.
__global__ void __launch_bounds__(kStage)
    scale_staged(const float4* __restrict__ input, float4* __restrict__ out, float scale, int n4) {
  __shared__ float4 stage[kStage];
  const int i = blockIdx.x * kStage + threadIdx.x;
  if (i < n4) ptx::copy_async_16(&stage[threadIdx.x], &input[i]);
  ptx::copy_async_wait();
  __syncthreads();
  if (i >= n4) return;
  const float4 v = stage[threadIdx.x];
  out[i] = make_float4(scale * v.x, scale * v.y, scale * v.z, scale * v.w);
}

// One partial sum per block; the block that finishes last adds them up. `ticket` is zero before and after.
__global__ void __launch_bounds__(256)
    sum_last_block(const float* __restrict__ input, float* partial, float* out, unsigned* ticket, int n) {
  __shared__ float cache[256];
  __shared__ bool last;
  float sum = 0.0f;
  const int stride = gridDim.x * blockDim.x;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
    if (i + stride < n) ptx::prefetch_l2(&input[i + stride]);
    sum += ptx::load_streaming(&input[i]);
  }
  cache[threadIdx.x] = sum;
  __syncthreads();
  for (unsigned width = blockDim.x / 2; width > 0; width /= 2) {
    if (threadIdx.x < width) cache[threadIdx.x] += cache[threadIdx.x + width];
    __syncthreads();
  }
  if (threadIdx.x == 0) {
    partial[blockIdx.x] = cache[0];
    ptx::fence_device();
    last = atomicInc(ticket, gridDim.x - 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (last && threadIdx.x == 0) {
    ptx::fence_device();
    float total = 0.0f;
    for (unsigned b = 0; b < gridDim.x; ++b) total += reinterpret_cast<volatile float*>(partial)[b];
    *out = total;
  }
}

template <typename T>
static T* upload(const std::vector<T>& host) {
  T* device = nullptr;
  CHECK_CUDA(cudaMalloc(&device, host.size() * sizeof(T)));
  CHECK_CUDA(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice));
  return device;
}

template <typename T>
static std::vector<T> take(T* device, size_t count) {
  std::vector<T> host(count);
  CHECK_CUDA(cudaMemcpy(host.data(), device, count * sizeof(T), cudaMemcpyDeviceToHost));
  CHECK_CUDA(cudaFree(device));
  return host;
}

int main() {
  constexpr int n = 10020, blocks = (n + 255) / 256, sum_blocks = 24;
  constexpr unsigned source = 5;
  std::vector<int> flags(n);
  std::vector<float> values(n);
  std::vector<uint16_t> pixels(n);
  for (int i = 0; i < n; ++i) {
    flags[i] = i * 7 % 5 < 2;
    values[i] = static_cast<float>(i % 83) / 8.0f;
    pixels[i] = static_cast<uint16_t>(i * 2654435761u >> 16);
  }
  int* dflags = upload(flags);
  float* dvalues = upload(values);
  uint16_t* dpixels = upload(pixels);
  int *drank = upload(std::vector<int>(n)), *dtail = upload(std::vector<int>(n));
  float *dbroadcast = upload(std::vector<float>(n)), *dscaled = upload(std::vector<float>(n));
  float *dpartial = upload(std::vector<float>(sum_blocks)), *dsum = upload(std::vector<float>(1));
  uint32_t* dargb = upload(std::vector<uint32_t>(n));
  unsigned* dticket = upload(std::vector<unsigned>(1));

  flag_ranks<<<blocks, 256>>>(dflags, drank, dtail, n);
  broadcast_lane<<<blocks, 256>>>(dvalues, dbroadcast, source, n);
  expand_pixels<<<blocks, 256>>>(dpixels, dargb, 0x0000ffffu, n);
  scale_staged<<<(n / 4 + kStage - 1) / kStage, kStage>>>(reinterpret_cast<const float4*>(dvalues),
                                                           reinterpret_cast<float4*>(dscaled), 2.5f, n / 4);
  sum_last_block<<<sum_blocks, 256>>>(dvalues, dpartial, dsum, dticket, n);
  CHECK_CUDA(cudaGetLastError());
  CHECK_CUDA(cudaDeviceSynchronize());

  const auto rank = take(drank, n), tail = take(dtail, n);
  const auto broadcast = take(dbroadcast, n), scaled = take(dscaled, n);
  const auto argb = take(dargb, n);
  const float sum = take(dsum, 1)[0];
  const unsigned ticket = take(dticket, 1)[0];
  double want_sum = 0.0;
  int wrong = 0;
  for (int i = 0; i < n; ++i) {
    const int group = i / 32 * 32;
    int before = 0, after = 0;
    for (int j = group; j < std::min(group + 32, n); ++j) (j < i ? before : after) += flags[j];
    wrong += rank[i] != before || tail[i] != after;
    wrong += broadcast[i] != (group + static_cast<int>(source) < n ? values[group + source] : values[i]);
    wrong += scaled[i] != 2.5f * values[i];
    const unsigned r = pixels[i] >> 11, g = pixels[i] >> 5 & 63, b = pixels[i] & 31;
    const unsigned plain = 0xff000000u | (r << 3 | r >> 2) << 16 | (g << 2 | g >> 4) << 8 | (b << 3 | b >> 2);
    const unsigned swapped = plain << 24 | (plain << 8 & 0xff0000u) | (plain >> 8 & 0xff00u) | plain >> 24;
    wrong += argb[i] != ((swapped & 0x0000ffffu) | (plain & 0xffff0000u));
    want_sum += values[i];
  }
  wrong += !(std::fabs(sum - want_sum) <= 1e-5 * want_sum) || ticket != 0;  // NaN is wrong
  std::printf("inline_ptx: %d wrong values\n", wrong);
  for (void* pointer : {static_cast<void*>(dflags), static_cast<void*>(dvalues), static_cast<void*>(dpixels),
                        static_cast<void*>(dpartial)})
    CHECK_CUDA(cudaFree(pointer));
  return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
