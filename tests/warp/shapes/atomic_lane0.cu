/* fixture
about = "Lane 0 of each warp adds its sum."
safe = false
fix = true
native = "widen"
hazards = []
values = []
[launch]
kernel = "count_pos"
symbols = { n = 5000 }
grid = ["4"]
block = ["256"]
arguments = [
  "in x int32[n] in -9..10",
  "inout total uint64[1] = 0",
  "scalar n int32 = n",
]
[widened]
grid = ["4"]
block = ["256"]
*/
#include <cuda_runtime.h>

__global__ void count_pos(const int* x, unsigned long long* total, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int c = 0;
  for (; i < n; i += gridDim.x * blockDim.x) c += x[i] > 0;
  for (int o = 16; o > 0; o >>= 1) c += __shfl_down_sync(0xffffffff, c, o);
  if ((threadIdx.x & 31) == 0) atomicAdd(total, (unsigned long long)c);
}
void go(const int* x, unsigned long long* t, int n) { count_pos<<<256, 256>>>(x, t, n); }
