/* fixture
about = "A lane number from the number of the thread in the grid, in blocks of three warps."
safe = false
fix = true
native = "preserve"
hazards = []
values = []
[launch]
kernel = "firsts"
symbols = { n = 3000 }
grid = ["5"]
block = ["96"]
arguments = [
  "in in int32[n] in -9..9",
  "inout out int32[1] = 0",
  "scalar n int32 = n",
]
[widened]
grid = ["5"]
block = ["96"]
*/
#include <cuda_runtime.h>

__global__ void firsts(const int* in, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  int v = i < n ? in[i] : 0;
  for (int o = 16; o > 0; o >>= 1) v += __shfl_down_sync(0xffffffff, v, o);
  if (i % 32 == 0) atomicAdd(out, v);
}
void launch(const int* in, int* out, int n) { firsts<<<(n + 95) / 96, 96>>>(in, out, n); }
