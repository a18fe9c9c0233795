/* fixture
about = "Lane 0 reads, all lanes use it."
safe = false
fix = true
native = "widen"
hazards = []
values = []
[launch]
kernel = "scale_rows"
symbols = { rows = 11, n = 70 }
grid = ["3"]
block = ["128"]
arguments = [
  "in x float32[rows * n]",
  "in s float32[rows]",
  "out y float32[rows * n]",
  "scalar rows int32 = rows",
  "scalar n int32 = n",
]
[widened]
grid = ["6"]
block = ["128"]
*/
#include <cuda_runtime.h>

__global__ void scale_rows(const float* x, const float* s, float* y, int rows, int n) {
  int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
  if (warp >= rows) return;
  float f = 0.f;
  if (lane == 0) f = s[warp];
  f = __shfl_sync(0xffffffff, f, 0);
  for (int i = lane; i < n; i += 32) y[warp * n + i] = f * x[warp * n + i];
}
void go(const float* x, const float* s, float* y, int rows, int n) { scale_rows<<<(rows * 32 + 127) / 128, 128>>>(x, s, y, rows, n); }
