// Counts the pixels on edges: a filter of the library and a kernel of this program's own.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "filters/filters.h"

// A grid of one-dimensional blocks whose size is a multiple of 32; `count` starts at 0.
__global__ void count_above(const float* edges, int size, float limit, unsigned* count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const bool above = i < size && edges[i] > limit;
  const unsigned votes = __ballot_sync(0xffffffffu, above);
  if (threadIdx.x % 32 == 0) atomicAdd(count, __popc(votes));
}

int main() {
  constexpr int kSide = 200, kSize = kSide * kSide;
  std::vector<float> pixels(kSize);
  for (int i = 0; i < kSize; ++i) pixels[i] = i % kSide < kSide / 2 ? 0.0f : 1.0f;  // one vertical edge
  filters::Image in{nullptr, kSide, kSide}, edges = in;
  unsigned* count = nullptr;
  unsigned found = 0;
  cudaMalloc(&in.pixels, sizeof(float) * kSize);
  cudaMalloc(&edges.pixels, sizeof(float) * kSize);
  cudaMalloc(&count, sizeof(unsigned));
  cudaMemcpy(in.pixels, pixels.data(), sizeof(float) * kSize, cudaMemcpyHostToDevice);
  cudaMemset(count, 0, sizeof(unsigned));
  filters::gradient(in, edges);
  count_above<<<(kSize + 255) / 256, 256>>>(edges.pixels, kSize, 0.25f, count);
  cudaMemcpy(&found, count, sizeof(unsigned), cudaMemcpyDeviceToHost);
  if (cudaDeviceSynchronize() != cudaSuccess) return EXIT_FAILURE;
  std::printf("image_filters: %u pixels on edges\n", found);
  return found == 2u * kSide ? EXIT_SUCCESS : EXIT_FAILURE;
}
