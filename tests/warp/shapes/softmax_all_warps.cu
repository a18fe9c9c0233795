/* fixture
about = "Every warp gathers the warps' values itself, in blocks of a size that a template parameter gives."
safe = false
fix = true
native = "widen"
hazards = []
values = []
[launch]
kernel = "softmax<96>"
symbols = { n = 500 }
grid = ["3"]
block = ["96"]
arguments = [
  "in in float32[3*n] in -9..9",
  "out out float32[3*n]",
  "scalar cols int32 = n",
]
[widened]
grid = ["3"]
block = ["96"]
*/
#include <cuda_runtime.h>

constexpr int kWarpSize = 32;
#define EVERYONE 0xffffffffu
struct Running {
  float largest;
  float sum;
};
__device__ Running merge(Running a, Running b) {
  const float largest = fmaxf(a.largest, b.largest);
  return {largest, a.sum * __expf(a.largest - largest) + b.sum * __expf(b.largest - largest)};
}
__device__ Running merge_warp(Running value) {
  for (int offset = kWarpSize / 2; offset > 0; offset /= 2) {
    const Running other = {__shfl_xor_sync(EVERYONE, value.largest, offset),
                           __shfl_xor_sync(EVERYONE, value.sum, offset)};
    value = merge(value, other);
  }
  return value;
}
template <int BLOCK> __global__ void __launch_bounds__(BLOCK) softmax(const float* in, float* out, int cols) {
  __shared__ Running partial[BLOCK / kWarpSize];
  const int lane = threadIdx.x % kWarpSize;
  const int warp = threadIdx.x / kWarpSize;
  const float* row = in + blockIdx.x * cols;
  Running mine = {-1e30f, 0.0f};
  for (int c = threadIdx.x; c < cols; c += BLOCK) mine = merge(mine, {row[c], 1.0f});
  mine = merge_warp(mine);
  if (lane == 0) partial[warp] = mine;
  __syncthreads();
  Running all = lane < BLOCK / kWarpSize ? partial[lane] : Running{-1e30f, 0.0f};
  all = merge_warp(all);
  for (int c = threadIdx.x; c < cols; c += BLOCK) out[blockIdx.x * cols + c] = __expf(row[c] - all.largest) / all.sum;
}
template __global__ void softmax<96>(const float*, float*, int);
