/* fixture
about = "A block's prefix sums; its last thread writes the total; launched with blocks of two sizes."
safe = false
fix = true
native = "widen"
hazards = []
values = []
[launch]
kernel = "scan_totals"
symbols = { n = 700 }
grid = ["3"]
block = ["256"]
arguments = [
  "in x int32[n] in -9..10",
  "out y int32[n]",
  "out totals int32[3]",
  "scalar n int32 = n",
]
[widened]
grid = ["3"]
block = ["256"]
*/
#include <cuda_runtime.h>

__global__ void scan_totals(const int* x, int* y, int* totals, int n) {
  __shared__ int sums[32];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int lane = threadIdx.x & 31;
  const int warp = threadIdx.x >> 5;
  int value = i < n ? x[i] : 0;
  for (int d = 1; d < 32; d <<= 1) {
    const int below = __shfl_up_sync(0xffffffff, value, d);
    if (lane >= d) value += below;
  }
  if (lane == 31) sums[warp] = value;
  __syncthreads();
  if (warp == 0) {
    int total = lane < blockDim.x / 32 ? sums[lane] : 0;
    for (int d = 1; d < 32; d <<= 1) {
      const int below = __shfl_up_sync(0xffffffff, total, d);
      if (lane >= d) total += below;
    }
    sums[lane] = total;
  }
  __syncthreads();
  if (warp > 0) value += sums[warp - 1];
  if (i < n) y[i] = value;
  if (threadIdx.x == blockDim.x - 1) totals[blockIdx.x] = value;
}
void go(const int* x, int* y, int* totals, int n) {
  if (n > 100000) {
    scan_totals<<<(n + 511) / 512, 512>>>(x, y, totals, n);
  } else {
    scan_totals<<<(n + 255) / 256, 256>>>(x, y, totals, n);
  }
}
