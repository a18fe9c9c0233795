/* fixture
about = "Thread 31 writes the sum of the first 32 elements: a result that shows the width."
safe = false
fix = true
native = "preserve"
hazards = []
values = []
[launch]
kernel = "first_totals"
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

__global__ void first_totals(const int* x, int* y, int* totals, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int lane = threadIdx.x & 31;
  int value = i < n ? x[i] : 0;
  for (int d = 1; d < 32; d <<= 1) {
    const int below = __shfl_up_sync(0xffffffff, value, d);
    if (lane >= d) value += below;
  }
  if (i < n) y[i] = x[i];
  if (threadIdx.x == 31) totals[blockIdx.x] = value;
}
void go(const int* x, int* y, int* totals, int n) {
  if (n > 100000) {
    first_totals<<<(n + 511) / 512, 512>>>(x, y, totals, n);
  } else {
    first_totals<<<(n + 255) / 256, 256>>>(x, y, totals, n);
  }
}
