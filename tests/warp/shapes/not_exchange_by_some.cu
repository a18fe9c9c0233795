/* fixture
about = "The threads that have a warp's value each are the only ones in the second exchange."
safe = false
fix = true
native = "preserve"
hazards = []
values = []
[launch]
kernel = "some"
symbols = { n = 2048 }
grid = ["2"]
block = ["1024"]
arguments = [
  "in in int32[n] in -9..9",
  "out out int32[2]",
  "scalar n int32 = n",
]
[widened]
grid = ["2"]
block = ["1024"]
*/
#include <cuda_runtime.h>

__global__ void some(const int* in, int* out, int n) {
  __shared__ int parts[32];
  int v = in[blockIdx.x * blockDim.x + threadIdx.x];
  for (int o = 16; o > 0; o >>= 1) v += __shfl_down_sync(0xffffffff, v, o);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = v;
  __syncthreads();
  if (threadIdx.x < blockDim.x / 32) {
    int s = parts[threadIdx.x];
    for (int o = 16; o > 0; o >>= 1) s += __shfl_down_sync(0xffffffff, s, o);
    if (threadIdx.x == 0) out[blockIdx.x] = s;
  }
}
void launch(const int* in, int* out, int n) { some<<<2, 1024>>>(in, out, n); }
