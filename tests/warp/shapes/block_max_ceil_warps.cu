/* fixture
about = "A block maximum that rounds the number of warps up."
safe = false
fix = true
native = "widen"
hazards = []
values = []
[launch]
kernel = "bmax"
symbols = { n = 1500 }
grid = ["3"]
block = ["1024"]
arguments = [
  "in x float32[3 * n]",
  "out y float32[3]",
  "scalar n int32 = n",
]
[widened]
grid = ["3"]
block = ["1024"]
*/
#include <cuda_runtime.h>

__device__ float warpMax(float v) {
  for (int o = 16; o; o /= 2) v = fmaxf(v, __shfl_xor_sync(0xFFFFFFFFu, v, o));
  return v;
}
__global__ void bmax(const float* x, float* y, int n) {
  __shared__ float part[32];
  const int lane = threadIdx.x & 31;
  const int w = threadIdx.x >> 5;
  float m = -1e30f;
  for (int i = threadIdx.x; i < n; i += blockDim.x) m = fmaxf(m, x[blockIdx.x * n + i]);
  m = warpMax(m);
  if (lane == 0) part[w] = m;
  __syncthreads();
  m = (threadIdx.x < (blockDim.x + 31) / 32) ? part[threadIdx.x] : -1e30f;
  if (w == 0) m = warpMax(m);
  if (threadIdx.x == 0) y[blockIdx.x] = m;
}
void go(const float* x, float* y, int rows, int n) { bmax<<<rows, 1024>>>(x, y, n); }
