/* fixture
about = "An argmax in two variables, one warp per block."
safe = false
fix = true
native = "widen"
hazards = []
values = []
[launch]
kernel = "argmax"
symbols = { n = 90 }
grid = ["6"]
block = ["32"]
arguments = [
  "in x float32[6 * n] in -9..9",
  "out out int32[6]",
  "scalar n int32 = n",
]
[widened]
grid = ["6"]
block = ["64"]
*/
#include <cuda_runtime.h>

__global__ void argmax(const float* x, int* out, int n) {
  int lane = threadIdx.x;
  float best = -1e30f; int at = -1;
  for (int i = lane; i < n; i += 32) { float v = x[blockIdx.x * n + i]; if (v > best) { best = v; at = i; } }
  for (int o = 16; o > 0; o >>= 1) {
    float ov = __shfl_down_sync(0xffffffff, best, o);
    int oi = __shfl_down_sync(0xffffffff, at, o);
    if (ov > best || (ov == best && oi < at)) { best = ov; at = oi; }
  }
  if (lane == 0) out[blockIdx.x] = at;
}
void go(const float* x, int* out, int rows, int n) { argmax<<<rows, 32>>>(x, out, n); }
