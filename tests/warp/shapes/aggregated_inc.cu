/* fixture
about = "The warp-aggregated increment of NVIDIA's blog."
safe = false
fix = true
native = "widen"
hazards = []
values = []
[launch]
kernel = "filter_k"
symbols = { n = 700 }
grid = ["3"]
block = ["256"]
order = "dst"
arguments = [
  "out dst int32[n]",
  "inout nres int32[1] = 0",
  "in src int32[n] in -9..10",
  "scalar n int32 = n",
]
[widened]
grid = ["3"]
block = ["256"]
*/
#include <cuda_runtime.h>

__device__ int atomicAggInc(int* ctr) {
  unsigned int active = __activemask();
  int leader = __ffs(active) - 1;
  int change = __popc(active);
  unsigned int lane_mask_lt = (1u << (threadIdx.x & 31)) - 1;
  unsigned int rank = __popc(active & lane_mask_lt);
  int warp_res = 0;
  if (rank == 0) warp_res = atomicAdd(ctr, change);
  warp_res = __shfl_sync(active, warp_res, leader);
  return warp_res + rank;
}
__global__ void filter_k(int* dst, int* nres, const int* src, int n) {
  int i = threadIdx.x + blockIdx.x * blockDim.x;
  if (i >= n) return;
  if (src[i] > 0) dst[atomicAggInc(nres)] = src[i];
}
void go(int* d, int* r, const int* s, int n) { filter_k<<<(n + 255) / 256, 256>>>(d, r, s, n); }
