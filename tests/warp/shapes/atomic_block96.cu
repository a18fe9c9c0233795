/* fixture
about = "Blocks of three warps."
safe = false
fix = true
native = "widen"
hazards = []
values = []
[launch]
kernel = "k"
symbols = { n = 600 }
grid = ["7"]
block = ["96"]
arguments = [
  "in x float32[n] in -9..9",
  "inout y float32[1] = 0",
  "scalar n int32 = n",
]
[widened]
grid = ["7"]
block = ["96"]
*/
#include <cuda_runtime.h>

__global__ void k(const float* x, float* y, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = i < n ? x[i] : 0;
  for (int o = 16; o; o >>= 1) v += __shfl_down_sync(0xffffffff, v, o);
  if (threadIdx.x % 32 == 0) atomicAdd(y, v);
}
void go(const float* x, float* y, int n) { k<<<(n + 95) / 96, 96>>>(x, y, n); }
