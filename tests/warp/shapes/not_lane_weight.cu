/* fixture
about = "A weight per lane."
safe = false
fix = true
native = "preserve"
hazards = []
values = []
[launch]
kernel = "k"
symbols = { n = 90 }
grid = ["4"]
block = ["32"]
arguments = [
  "in x float32[4 * n]",
  "in w float32[32]",
  "out y float32[4]",
  "scalar n int32 = n",
]
[widened]
grid = ["4"]
block = ["32"]
*/
#include <cuda_runtime.h>

__global__ void k(const float* x, const float* w, float* y, int n) {
  int lane = threadIdx.x;
  float v = 0;
  for (int j = lane; j < n; j += 32) v += x[blockIdx.x * n + j] * w[lane];
  for (int o = 16; o; o >>= 1) v += __shfl_xor_sync(0xffffffff, v, o);
  if (lane == 0) y[blockIdx.x] = v;
}
void go(const float* x, const float* w, float* y, int rows, int n) { k<<<rows, 32>>>(x, w, y, n); }
