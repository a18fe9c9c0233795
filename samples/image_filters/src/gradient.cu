#include "filters/filters.h"

namespace filters {
namespace {

constexpr int kTile = 16;

__device__ int clamped(int value, int limit) { return value < 0 ? 0 : (value < limit ? value : limit - 1); }

}  // namespace

// Block (kTile, kTile), one thread per pixel, a border of one pixel around the tile.
__global__ void __launch_bounds__(kTile* kTile) gradient_kernel(const float* image, float* edges, int width, int height) {
  __shared__ float tile[kTile + 2][kTile + 2];
  const int x0 = blockIdx.x * kTile - 1;
  const int y0 = blockIdx.y * kTile - 1;
  for (int i = threadIdx.y * kTile + threadIdx.x; i < (kTile + 2) * (kTile + 2); i += kTile * kTile) {
    const int x = clamped(x0 + i % (kTile + 2), width);
    const int y = clamped(y0 + i / (kTile + 2), height);
    tile[i / (kTile + 2)][i % (kTile + 2)] = image[y * width + x];
  }
  __syncthreads();
  const int x = x0 + 1 + threadIdx.x;
  const int y = y0 + 1 + threadIdx.y;
  if (x >= width || y >= height) return;
  const float dx = 0.5f * (tile[threadIdx.y + 1][threadIdx.x + 2] - tile[threadIdx.y + 1][threadIdx.x]);
  const float dy = 0.5f * (tile[threadIdx.y + 2][threadIdx.x + 1] - tile[threadIdx.y][threadIdx.x + 1]);
  edges[y * width + x] = sqrtf(dx * dx + dy * dy);
}

cudaError_t gradient(const Image& in, const Image& out, cudaStream_t stream) {
  const dim3 grid((in.width + kTile - 1) / kTile, (in.height + kTile - 1) / kTile);
  if (grid.x == 0 || grid.y == 0) return cudaSuccess;
  gradient_kernel<<<grid, dim3(kTile, kTile), 0, stream>>>(in.pixels, out.pixels, in.width, in.height);
  return cudaGetLastError();
}

}  // namespace filters
