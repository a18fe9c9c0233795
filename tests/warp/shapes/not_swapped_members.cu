/* fixture
about = "The second stage takes the members of a structure in another order."
safe = false
fix = true
native = "preserve"
hazards = []
values = []
[launch]
kernel = "swapped"
symbols = { n = 500 }
grid = ["1"]
block = ["128"]
arguments = [
  "in in float32[n] in -9..9",
  "out out float32[1]",
  "scalar n int32 = n",
]
[widened]
grid = ["1"]
block = ["128"]
*/
#include <cuda_runtime.h>

__device__ float2 of_warp(float2 v) {
  for (int o = 16; o > 0; o >>= 1) {
    float2 other = make_float2(__shfl_xor_sync(0xffffffffu, v.x, o), __shfl_xor_sync(0xffffffffu, v.y, o));
    v = make_float2(v.x + other.x, fmaxf(v.y, other.y));
  }
  return v;
}
__global__ void swapped(const float* in, float* out, int n) {
  __shared__ float xs[32], ys[32];
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  float2 v = make_float2(in[threadIdx.x], in[n - 1 - threadIdx.x]);
  v = of_warp(v);
  if (lane == 0) {
    xs[warp] = v.x;
    ys[warp] = v.y;
  }
  __syncthreads();
  if (warp == 0) {
    float2 part = make_float2(0.0f, 0.0f);
    if (lane < blockDim.x / 32) {
      part.x = ys[lane];
      part.y = xs[lane];
    }
    part = of_warp(part);
    if (lane == 0) out[0] = part.x;
  }
}
void launch(const float* in, float* out, int n) { swapped<<<1, 128>>>(in, out, n); }
