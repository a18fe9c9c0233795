/* fixture
about = "An inclusive scan over blocks of seven warps."
safe = false
fix = true
native = "widen"
hazards = []
values = []
[launch]
kernel = "scan"
symbols = { n = 1000 }
grid = ["5"]
block = ["224"]
arguments = [
  "in in int32[n] in -9..9",
  "out out int32[n]",
  "scalar n int32 = n",
]
[widened]
grid = ["5"]
block = ["224"]
*/
#include <cuda_runtime.h>

#define WARP_SIZE 32
__global__ void scan(const int* in, int* out, int n) {
  __shared__ int sums[WARP_SIZE];
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  const int lane = threadIdx.x % WARP_SIZE, warp = threadIdx.x / WARP_SIZE;
  int v = i < n ? in[i] : 0;
  for (int d = 1; d < WARP_SIZE; d *= 2) {
    int below = __shfl_up_sync(0xffffffff, v, d);
    if (lane >= d) v += below;
  }
  if (lane == WARP_SIZE - 1) sums[warp] = v;
  __syncthreads();
  if (warp == 0) {
    int s = lane < blockDim.x / WARP_SIZE ? sums[lane] : 0;
    for (int d = 1; d < WARP_SIZE; d *= 2) {
      int below = __shfl_up_sync(0xffffffff, s, d);
      if (lane >= d) s += below;
    }
    if (lane < blockDim.x / WARP_SIZE) sums[lane] = s;
  }
  __syncthreads();
  if (warp > 0) v += sums[warp - 1];
  if (i < n) out[i] = v;
}
