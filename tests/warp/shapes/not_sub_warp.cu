/* fixture
about = "A row per half a warp."
safe = false
fix = true
native = "preserve"
hazards = []
values = []
[launch]
kernel = "k"
symbols = { rows = 20, n = 50 }
grid = ["2"]
block = ["256"]
arguments = [
  "in x float32[rows * n]",
  "out y float32[rows]",
  "scalar rows int32 = rows",
  "scalar n int32 = n",
]
[widened]
grid = ["2"]
block = ["256"]
*/
#include <cuda_runtime.h>

__global__ void k(const float* x, float* y, int rows, int n) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) / 16, lane = threadIdx.x % 16;
  if (row >= rows) return;
  float v = 0;
  for (int j = lane; j < n; j += 16) v += x[row * n + j];
  for (int o = 8; o; o >>= 1) v += __shfl_xor_sync(0xffffffff, v, o, 16);
  if (lane == 0) y[row] = v;
}
void go(const float* x, float* y, int rows, int n) { k<<<(rows + 15) / 16, 256>>>(x, y, rows, n); }
