/* fixture
about = "The best pair of a row through a helper that compares."
safe = false
fix = true
native = "widen"
hazards = []
values = []
[launch]
kernel = "top1"
symbols = { rows = 11, n = 90 }
grid = ["2"]
block = ["256"]
arguments = [
  "in x float32[rows * n] in -9..9",
  "out out int32[rows]",
  "scalar rows int32 = rows",
  "scalar n int32 = n",
]
[widened]
grid = ["2"]
block = ["512"]
*/
#include <cuda_runtime.h>

struct Pair { float v; int i; };
__device__ Pair better(Pair a, Pair b) { return (a.v > b.v || (a.v == b.v && a.i < b.i)) ? a : b; }
__global__ void top1(const float* x, int* out, int rows, int n) {
  int row = blockIdx.x * (blockDim.x >> 5) + (threadIdx.x >> 5);
  int lane = threadIdx.x & 31;
  if (row >= rows) return;
  Pair p; p.v = -1e30f; p.i = 0;
  for (int j = lane; j < n; j += 32) { Pair q; q.v = x[row * n + j]; q.i = j; p = better(p, q); }
  for (int o = 16; o > 0; o >>= 1) {
    Pair q;
    q.v = __shfl_xor_sync(0xffffffff, p.v, o);
    q.i = __shfl_xor_sync(0xffffffff, p.i, o);
    p = better(p, q);
  }
  if (lane == 0) out[row] = p.i;
}
void go(const float* x, int* out, int rows, int n) { top1<<<(rows + 7) / 8, 256>>>(x, out, rows, n); }
