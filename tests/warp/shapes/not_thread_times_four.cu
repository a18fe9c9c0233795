/* fixture
about = "Rows of 32 columns in memory: four elements a thread, and no lane."
safe = false
fix = true
native = "widen"
hazards = []
values = []
[launch]
kernel = "tiles"
symbols = { n = 1 }
grid = ["4"]
block = ["64"]
arguments = [
  "in in float32[4096] in -9..9",
  "inout out float32[4096] = 0",
  "inout sum float32[1] = 0",
  "scalar m int32 = 8",
]
[widened]
grid = ["4"]
block = ["64"]
*/
#include <cuda_runtime.h>

__global__ void tiles(const float* in, float* out, float* sum, int m) {
  const int col = threadIdx.x * 4;
  const int place = (col & ~31) * m + (blockIdx.x * 32) + (col & 31);
  float v = in[place];
  out[place] = v;
  for (int o = 16; o > 0; o >>= 1) v += __shfl_down_sync(0xffffffff, v, o);
  if (threadIdx.x % 32 == 0) atomicAdd(sum, v);
}
