/* fixture
about = "Warps that go on to further rows."
safe = false
fix = true
native = "widen"
hazards = []
values = []
[launch]
kernel = "norms"
symbols = { rows = 37, n = 50 }
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

#define WARP_SIZE 32
__global__ void norms(const float* x, float* y, int rows, int n) {
  int lane = threadIdx.x % WARP_SIZE;
  int warp = (blockIdx.x * blockDim.x + threadIdx.x) / WARP_SIZE;
  int nwarps = (gridDim.x * blockDim.x) / WARP_SIZE;
  for (int row = warp; row < rows; row += nwarps) {
    float s = 0;
    for (int j = lane; j < n; j += WARP_SIZE) { float v = x[row * n + j]; s += v * v; }
    for (int o = WARP_SIZE / 2; o > 0; o /= 2) s += __shfl_down_sync(0xffffffff, s, o);
    if (lane == 0) y[row] = sqrtf(s);
  }
}
void go(const float* x, float* y, int rows, int n) { norms<<<80, 256>>>(x, y, rows, n); }
