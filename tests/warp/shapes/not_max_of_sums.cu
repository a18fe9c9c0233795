/* fixture
about = "The maximum of the warps' sums: the width shows in the result."
safe = false
fix = true
native = "preserve"
hazards = []
values = []
[launch]
kernel = "k"
symbols = { n = 600 }
grid = ["3"]
block = ["256"]
arguments = [
  "in x float32[n] in -9..9",
  "inout out int32[1] = 0",
  "scalar n int32 = n",
]
[widened]
grid = ["3"]
block = ["256"]
*/
#include <cuda_runtime.h>

__global__ void k(const float* x, int* out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int v = i < n ? (int)x[i] : 0;
  for (int o = 16; o; o >>= 1) v += __shfl_xor_sync(0xffffffff, v, o);
  if (threadIdx.x % 32 == 0) atomicMax(out, v);
}
void go(const float* x, int* o, int n) { k<<<(n + 255) / 256, 256>>>(x, o, n); }
