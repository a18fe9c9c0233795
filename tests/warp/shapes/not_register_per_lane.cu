/* fixture
about = "Each lane keeps its sum in an element of its own of an array of 32: there would be too few for 64 lanes."
safe = false
fix = true
native = "preserve"
hazards = []
values = []
[launch]
kernel = "lane_slots"
symbols = { n = 200, rows = 7 }
grid = ["2"]
block = ["128"]
arguments = [
  "in x float32[rows * n]",
  "out y float32[rows]",
  "scalar rows int32 = rows",
  "scalar n int32 = n",
]
[widened]
grid = ["4"]
block = ["128"]
*/
#include <cuda_runtime.h>

__global__ void lane_slots(const float* x, float* y, int rows, int n) {
  const int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  if (row >= rows) return;
  float slots[32];
  slots[lane] = 0.f;
  for (int i = lane; i < n; i += 32) slots[lane] += x[row * n + i];
  float sum = slots[lane];
  for (int o = 16; o > 0; o >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, o);
  if (lane == 0) y[row] = sum;
}
void go(const float* x, float* y, int rows, int n) {
  lane_slots<<<(rows + 3) / 4, 128>>>(x, y, rows, n);
}
