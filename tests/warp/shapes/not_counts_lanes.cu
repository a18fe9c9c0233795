/* fixture
about = "A reduction that counts its lanes."
safe = false
fix = true
native = "preserve"
hazards = []
values = []
[launch]
kernel = "k"
symbols = { rows = 7, n = 90 }
grid = ["1"]
block = ["256"]
arguments = [
  "in x float32[rows * n]",
  "out y float32[rows]",
  "scalar rows int32 = rows",
  "scalar n int32 = n",
]
[widened]
grid = ["1"]
block = ["256"]
*/
#include <cuda_runtime.h>

__global__ void k(const float* x, float* y, int rows, int n) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (row >= rows) return;
  float v = 0, c = 1;
  for (int j = lane; j < n; j += 32) v += x[row * n + j];
  for (int o = 16; o; o >>= 1) { v += __shfl_xor_sync(0xffffffff, v, o); c += __shfl_xor_sync(0xffffffff, c, o); }
  if (lane == 0) y[row] = v / c;
}
void go(const float* x, float* y, int rows, int n) { k<<<(rows * 32 + 255) / 256, 256>>>(x, y, rows, n); }
