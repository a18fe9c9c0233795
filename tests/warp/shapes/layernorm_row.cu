/* fixture
about = "Layer normalisation, a row of the block per warp."
safe = false
fix = true
native = "widen"
hazards = []
values = []
[launch]
kernel = "layernorm"
symbols = { rows = 7, n = 100 }
grid = ["2"]
block = ["32", "4"]
arguments = [
  "in x float32[rows * n]",
  "in g float32[n]",
  "in b float32[n]",
  "out y float32[rows * n]",
  "scalar rows int32 = rows",
  "scalar n int32 = n",
  "scalar eps float32 = 0.00001",
]
[widened]
grid = ["2"]
block = ["64", "4"]
*/
#include <cuda_runtime.h>

#define WARP 32
__global__ void layernorm(const float* x, const float* g, const float* b, float* y, int rows, int n, float eps) {
  int row = blockIdx.x * blockDim.y + threadIdx.y;
  if (row >= rows) return;
  const float* xr = x + row * n;
  float sum = 0.f, sq = 0.f;
  for (int i = threadIdx.x; i < n; i += WARP) { float v = xr[i]; sum += v; sq += v * v; }
  for (int o = WARP / 2; o > 0; o >>= 1) {
    sum += __shfl_xor_sync(0xffffffff, sum, o);
    sq += __shfl_xor_sync(0xffffffff, sq, o);
  }
  float mean = sum / n;
  float rstd = rsqrtf(sq / n - mean * mean + eps);
  for (int i = threadIdx.x; i < n; i += WARP) y[row * n + i] = (xr[i] - mean) * rstd * g[i] + b[i];
}
void go(const float* x, const float* g, const float* b, float* y, int rows, int n) {
  dim3 block(WARP, 4);
  layernorm<<<(rows + 3) / 4, block>>>(x, g, b, y, rows, n, 1e-5f);
}
