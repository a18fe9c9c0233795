/* fixture
about = "A softmax row per block: a maximum, then a sum, broadcast through shared variables."
safe = false
fix = true
native = "widen"
hazards = []
values = []
[launch]
kernel = "softmax"
symbols = { n = 700 }
grid = ["3"]
block = ["256"]
arguments = [
  "in x float32[3 * n]",
  "out y float32[3 * n]",
  "scalar n int32 = n",
]
[widened]
grid = ["3"]
block = ["256"]
*/
#include <cuda_runtime.h>

__device__ float wsum(float v) { for (int o = 16; o > 0; o >>= 1) v += __shfl_xor_sync(0xffffffff, v, o); return v; }
__device__ float wmax(float v) { for (int o = 16; o > 0; o >>= 1) v = fmaxf(v, __shfl_xor_sync(0xffffffff, v, o)); return v; }
__global__ void softmax(const float* x, float* y, int n) {
  __shared__ float smax[32];
  __shared__ float ssum[32];
  __shared__ float bmax, bsum;
  int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  const float* xr = x + (size_t)blockIdx.x * n;
  float* yr = y + (size_t)blockIdx.x * n;
  float m = -INFINITY;
  for (int i = threadIdx.x; i < n; i += blockDim.x) m = fmaxf(m, xr[i]);
  m = wmax(m);
  if (lane == 0) smax[warp] = m;
  __syncthreads();
  if (warp == 0) {
    m = lane < blockDim.x / 32 ? smax[lane] : -INFINITY;
    m = wmax(m);
    if (lane == 0) bmax = m;
  }
  __syncthreads();
  m = bmax;
  float s = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) s += expf(xr[i] - m);
  s = wsum(s);
  if (lane == 0) ssum[warp] = s;
  __syncthreads();
  if (warp == 0) {
    s = lane < blockDim.x / 32 ? ssum[lane] : 0.f;
    s = wsum(s);
    if (lane == 0) bsum = s;
  }
  __syncthreads();
  s = bsum;
  for (int i = threadIdx.x; i < n; i += blockDim.x) yr[i] = expf(xr[i] - m) / s;
}
void go(const float* x, float* y, int rows, int n) { softmax<<<rows, 256>>>(x, y, n); }
