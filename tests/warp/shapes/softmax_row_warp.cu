/* fixture
about = "A softmax row per warp."
safe = false
fix = true
native = "widen"
hazards = []
values = []
[launch]
kernel = "softmax_rows"
symbols = { n = 70, rows = 9 }
grid = ["3"]
block = ["128"]
arguments = [
  "in x float32[rows * n]",
  "out y float32[rows * n]",
  "scalar rows int32 = rows",
  "scalar n int32 = n",
]
[widened]
grid = ["5"]
block = ["128"]
*/
#include <cuda_runtime.h>

constexpr int kWarpSize = 32;
constexpr unsigned kFull = 0xffffffffu;
__global__ void softmax_rows(const float* __restrict__ x, float* __restrict__ y, int rows, int n) {
  const int warps_per_block = blockDim.x / kWarpSize;
  const int row = blockIdx.x * warps_per_block + threadIdx.x / kWarpSize;
  const int lane = threadIdx.x % kWarpSize;
  if (row >= rows) return;
  const float* xr = x + row * n;
  float* yr = y + row * n;
  float m = -INFINITY;
  for (int i = lane; i < n; i += kWarpSize) m = fmaxf(m, xr[i]);
#pragma unroll
  for (int o = kWarpSize / 2; o > 0; o /= 2) m = fmaxf(m, __shfl_xor_sync(kFull, m, o));
  float s = 0.f;
  for (int i = lane; i < n; i += kWarpSize) s += expf(xr[i] - m);
#pragma unroll
  for (int o = kWarpSize / 2; o > 0; o /= 2) s += __shfl_xor_sync(kFull, s, o);
  for (int i = lane; i < n; i += kWarpSize) yr[i] = expf(xr[i] - m) / s;
}
void go(const float* x, float* y, int rows, int n) {
  const int threads = 128;
  const int rows_per_block = threads / kWarpSize;
  dim3 grid((rows + rows_per_block - 1) / rows_per_block);
  softmax_rows<<<grid, threads>>>(x, y, rows, n);
}
