/* fixture
about = "Four rows per block, written as numbers."
safe = false
fix = true
native = "widen"
hazards = []
values = []
[launch]
kernel = "k"
symbols = { n = 70 }
grid = ["3"]
block = ["128"]
arguments = [
  "in x float32[12 * n] in -9..9",
  "out y float32[12]",
  "scalar n int32 = n",
]
[widened]
grid = ["3"]
block = ["256"]
*/
#include <cuda_runtime.h>

__global__ void k(const float* x, float* y, int n) {
  int row = blockIdx.x * 4 + threadIdx.x / 32, lane = threadIdx.x % 32;
  float v = 0;
  for (int j = lane; j < n; j += 32) v += x[row * n + j];
  for (int o = 16; o; o >>= 1) v += __shfl_xor_sync(0xffffffff, v, o);
  if (lane == 0) y[row] = v;
}
void go(const float* x, float* y, int rows, int n) { k<<<rows / 4, 128>>>(x, y, n); }
