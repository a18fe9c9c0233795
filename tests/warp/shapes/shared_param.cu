/* fixture
about = "A block sum whose helper takes the array."
safe = false
fix = true
native = "widen"
hazards = []
values = []
[launch]
kernel = "mean"
symbols = { n = 600 }
grid = ["4"]
block = ["256"]
arguments = [
  "in x float32[4 * n] in -9..9",
  "out y float32[4]",
  "scalar n int32 = n",
]
[widened]
grid = ["4"]
block = ["256"]
*/
#include <cuda_runtime.h>

__device__ float blockSum(float v, float* shared) {
  int lane = threadIdx.x & 31, wid = threadIdx.x >> 5;
  for (int o = 16; o; o >>= 1) v += __shfl_down_sync(~0u, v, o);
  if (lane == 0) shared[wid] = v;
  __syncthreads();
  v = threadIdx.x < blockDim.x / 32 ? shared[threadIdx.x] : 0.f;
  if (wid == 0) for (int o = 16; o; o >>= 1) v += __shfl_down_sync(~0u, v, o);
  return v;
}
__global__ void mean(const float* x, float* y, int n) {
  __shared__ float s[32];
  float v = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) v += x[blockIdx.x * n + i];
  v = blockSum(v, s);
  if (threadIdx.x == 0) y[blockIdx.x] = v / n;
}
void go(const float* x, float* y, int rows, int n) { mean<<<rows, 256>>>(x, y, n); }
