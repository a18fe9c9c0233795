#include "filters/filters.h"

namespace filters {
namespace {

constexpr int kRows = 4;

}  // namespace

// Block (32, kRows): one warp per row.
__global__ void row_extremes_kernel(const float* image, float* extremes, int width, int height) {
  const int row = blockIdx.x * kRows + threadIdx.y;
  if (row >= height) return;  // a whole warp
  float low = image[row * width], high = low;
  for (int x = threadIdx.x; x < width; x += 32) {
    low = fminf(low, image[row * width + x]);
    high = fmaxf(high, image[row * width + x]);
  }
#pragma unroll
  for (int offset = 16; offset > 0; offset /= 2) {
    low = fminf(low, __shfl_down_sync(0xffffffffu, low, offset));
    high = fmaxf(high, __shfl_down_sync(0xffffffffu, high, offset));
  }
  if (threadIdx.x == 0) {
    extremes[2 * row] = low;
    extremes[2 * row + 1] = high;
  }
}

cudaError_t row_extremes(const Image& in, const Image& out, cudaStream_t stream) {
  if (in.width == 0 || in.height == 0) return cudaSuccess;
  const unsigned blocks = (in.height + kRows - 1) / kRows;
  row_extremes_kernel<<<blocks, dim3(32, kRows), 0, stream>>>(in.pixels, out.pixels, in.width, in.height);
  return cudaGetLastError();
}

}  // namespace filters
