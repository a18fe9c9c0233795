/* fixture
about = "A block sum with dynamic shared memory and a named number of warps."
safe = false
fix = true
native = "widen"
hazards = []
values = []
[launch]
kernel = "total"
symbols = { n = 5000 }
grid = ["3"]
block = ["512"]
shared = "64"
arguments = [
  "in x float32[n] in -5..6",
  "out y float32[3]",
  "scalar n int32 = n",
]
[widened]
grid = ["3"]
block = ["512"]
*/
#include <cuda_runtime.h>

__inline__ __device__ float warp_sum(float v) {
  for (int o = 16; o > 0; o >>= 1) v += __shfl_xor_sync(0xffffffff, v, o);
  return v;
}
__global__ void total(const float* x, float* y, int n) {
  extern __shared__ float sm[];
  int tid = threadIdx.x;
  int lane = tid & 31, warp = tid >> 5;
  float s = 0.f;
  for (int i = blockIdx.x * blockDim.x + tid; i < n; i += gridDim.x * blockDim.x) s += x[i];
  s = warp_sum(s);
  if (lane == 0) sm[warp] = s;
  __syncthreads();
  if (warp == 0) {
    int nwarps = blockDim.x >> 5;
    s = lane < nwarps ? sm[lane] : 0.f;
    s = warp_sum(s);
    if (lane == 0) y[blockIdx.x] = s;
  }
}
void go(const float* x, float* y, int n) { total<<<120, 512, 16 * sizeof(float)>>>(x, y, n); }
