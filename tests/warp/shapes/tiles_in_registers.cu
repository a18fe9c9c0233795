/* fixture
about = "A warp per row keeps a tile of its row in registers, in an array of two dimensions."
safe = false
fix = true
native = "widen"
hazards = []
values = []
[launch]
kernel = "centred_rows"
symbols = { n = 200, rows = 7 }
grid = ["2"]
block = ["128"]
arguments = [
  "in x float32[rows * n]",
  "out y float32[rows * n]",
  "scalar rows int32 = rows",
  "scalar n int32 = n",
]
[widened]
grid = ["4"]
block = ["128"]
*/
#include <cuda_runtime.h>

constexpr int kTiles = 4;
constexpr int kPairs = 2;
__global__ void centred_rows(const float* x, float* y, int rows, int n) {
  const int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  if (row >= rows) return;
  float kept[kTiles][kPairs];
  float sum = 0.f;
  for (int t = 0; t < kTiles; ++t) {
    for (int p = 0; p < kPairs; ++p) {
      kept[t][p] = 0.f;
    }
  }
  int filled = 0;
  for (int i = lane; i < n; i += 32) {
    kept[filled / kPairs][filled % kPairs] = x[row * n + i];
    sum += kept[filled / kPairs][filled % kPairs];
    ++filled;
  }
  for (int o = 16; o > 0; o >>= 1) sum += __shfl_xor_sync(0xffffffffu, sum, o);
  int at = 0;
  for (int i = lane; i < n; i += 32) {
    y[row * n + i] = kept[at / kPairs][at % kPairs] - sum / n;
    ++at;
  }
}
void go(const float* x, float* y, int rows, int n) {
  centred_rows<<<(rows + 3) / 4, 128>>>(x, y, rows, n);
}
