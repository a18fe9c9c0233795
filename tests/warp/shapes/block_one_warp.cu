/* fixture
about = "The same kernel as block_no_launch in blocks of one warp."
safe = false
fix = true
native = "widen"
hazards = []
values = []
[launch]
kernel = "sums"
symbols = { n = 500 }
grid = ["3"]
block = ["32"]
arguments = [
  "in in int32[3*n] in -90..90",
  "out out int32[3]",
  "scalar n int32 = n",
]
[widened]
grid = ["3"]
block = ["32"]
*/
#include <cuda_runtime.h>

template <typename T> __device__ T sum_of_warp(T val) {
  for (int o = 16; o > 0; o >>= 1) val += __shfl_down_sync(0xffffffff, val, o);
  return val;
}
__global__ void sums(const int* in, int* out, int n) {
  __shared__ int parts[32];
  int sum = 0;
  for (int i = threadIdx.x; i < n; i += blockDim.x) sum += in[blockIdx.x * n + i];
  sum = sum_of_warp(sum);
  if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x == 0) {
    int total = 0;
    for (int w = 0; w < (blockDim.x + 31) / 32; ++w) total += parts[w];
    out[blockIdx.x] = total;
  }
}
