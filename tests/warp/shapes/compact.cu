/* fixture
about = "Ballot compaction with lane 0 as the leader."
safe = false
fix = true
native = "widen"
hazards = []
values = []
[launch]
kernel = "filter"
symbols = { n = 700 }
grid = ["3"]
block = ["256"]
order = "out"
arguments = [
  "in in int32[n] in -9..10",
  "out out int32[n]",
  "inout count int32[1] = 0",
  "scalar n int32 = n",
]
[widened]
grid = ["3"]
block = ["256"]
*/
#include <cuda_runtime.h>

__global__ void filter(const int* in, int* out, int* count, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int lane = threadIdx.x & 31;
  bool keep = i < n && in[i] > 0;
  unsigned mask = __ballot_sync(0xffffffff, keep);
  int rank = __popc(mask & ((1u << lane) - 1));
  int base = 0;
  if (lane == 0) base = atomicAdd(count, __popc(mask));
  base = __shfl_sync(0xffffffff, base, 0);
  if (keep) out[base + rank] = in[i];
}
void go(const int* in, int* out, int* count, int n) { filter<<<(n + 255) / 256, 256>>>(in, out, count, n); }
