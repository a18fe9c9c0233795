/* fixture
about = "An exclusive scan of a block through inclusive scans of warps."
safe = false
fix = true
native = "widen"
hazards = []
values = []
[launch]
kernel = "scan"
symbols = { n = 900 }
grid = ["2"]
block = ["512"]
arguments = [
  "in in int32[n] in -50..51",
  "out out int32[n]",
  "scalar n int32 = n",
]
[widened]
grid = ["2"]
block = ["512"]
*/
#include <cuda_runtime.h>

__device__ int inclusive(int v, int lane) {
  for (int d = 1; d < 32; d *= 2) {
    int t = __shfl_up_sync(0xffffffff, v, d);
    if (lane >= d) v += t;
  }
  return v;
}
__global__ void scan(const int* in, int* out, int n) {
  __shared__ int sums[32];
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int lane = threadIdx.x & 31, wid = threadIdx.x >> 5;
  int x = i < n ? in[i] : 0;
  int v = inclusive(x, lane);
  if (lane == 31) sums[wid] = v;
  __syncthreads();
  if (wid == 0) {
    int s = lane < (blockDim.x >> 5) ? sums[lane] : 0;
    s = inclusive(s, lane);
    sums[lane] = s;
  }
  __syncthreads();
  if (wid > 0) v += sums[wid - 1];
  if (i < n) out[i] = v - x;
}
void go(const int* in, int* out, int n) { scan<<<(n + 511) / 512, 512>>>(in, out, n); }
