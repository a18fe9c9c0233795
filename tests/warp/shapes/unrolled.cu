/* fixture
about = "A butterfly written out in five lines."
safe = false
fix = true
native = "widen"
hazards = []
values = []
[launch]
kernel = "rowsum"
symbols = { n = 90 }
grid = ["6"]
block = ["32"]
arguments = [
  "in x float32[6 * n] in -9..9",
  "out y float32[6]",
  "scalar n int32 = n",
]
[widened]
grid = ["6"]
block = ["64"]
*/
#include <cuda_runtime.h>

__global__ void rowsum(const float* x, float* y, int n) {
  int lane = threadIdx.x;
  float v = 0;
  for (int i = lane; i < n; i += 32) v += x[blockIdx.x * n + i];
  v += __shfl_xor_sync(0xffffffff, v, 16);
  v += __shfl_xor_sync(0xffffffff, v, 8);
  v += __shfl_xor_sync(0xffffffff, v, 4);
  v += __shfl_xor_sync(0xffffffff, v, 2);
  v += __shfl_xor_sync(0xffffffff, v, 1);
  if (lane == 0) y[blockIdx.x] = v;
}
void go(const float* x, float* y, int rows, int n) { rowsum<<<rows, 32>>>(x, y, n); }
