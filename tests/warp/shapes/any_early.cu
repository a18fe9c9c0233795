/* fixture
about = "__reduce_add_sync over a row; the grid is written for four warps per block."
safe = false
fix = true
native = "widen"
hazards = []
values = []
[launch]
kernel = "first_over"
symbols = { rows = 11, n = 70 }
grid = ["3"]
block = ["128"]
arguments = [
  "in x float32[rows * n]",
  "out out int32[rows]",
  "scalar rows int32 = rows",
  "scalar n int32 = n",
  "scalar t float32 = 0.5",
]
[widened]
grid = ["3"]
block = ["256"]
*/
#include <cuda_runtime.h>

__global__ void first_over(const float* x, int* out, int rows, int n, float t) {
  int row = (blockIdx.x * blockDim.x + threadIdx.x) >> 5, lane = threadIdx.x & 31;
  if (row >= rows) return;
  int hits = 0;
  for (int i = lane; i < n; i += 32) hits += x[row * n + i] > t;
  hits = __reduce_add_sync(0xffffffff, hits);
  if (lane == 0) out[row] = hits;
}
void go(const float* x, int* o, int rows, int n) { first_over<<<(rows + 3) / 4, 128>>>(x, o, rows, n, 1.f); }
