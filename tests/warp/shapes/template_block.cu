/* fixture
about = "A dot product whose block size is a template parameter."
safe = false
fix = true
native = "widen"
hazards = []
values = []
[launch]
kernel = "dot<256>"
symbols = { n = 5000 }
grid = ["4"]
block = ["256"]
arguments = [
  "in a float64[n] in -5..6",
  "in b float64[n] in -5..6",
  "inout out float64[1] = 0",
  "scalar n int32 = n",
]
[widened]
grid = ["4"]
block = ["256"]
*/
#include <cuda_runtime.h>

template <int BLOCK> __global__ void dot(const double* a, const double* b, double* out, int n) {
  __shared__ double warp_sums[BLOCK / 32];
  double s = 0;
  for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += BLOCK * gridDim.x) s += a[i] * b[i];
  for (int o = 16; o > 0; o >>= 1) s += __shfl_down_sync(0xffffffff, s, o);
  if ((threadIdx.x & 31) == 0) warp_sums[threadIdx.x / 32] = s;
  __syncthreads();
  if (threadIdx.x < 32) {
    s = threadIdx.x < BLOCK / 32 ? warp_sums[threadIdx.x] : 0.0;
    for (int o = 16; o > 0; o >>= 1) s += __shfl_down_sync(0xffffffff, s, o);
    if (threadIdx.x == 0) atomicAdd(out, s);
  }
}
void go(const double* a, const double* b, double* o, int n) { dot<256><<<100, 256>>>(a, b, o, n); }
