/* fixture
about = "A helper that a kernel which keeps its 32 lanes calls, too: the other kernel gets a copy."
safe = false
fix = true
native = "widen"
hazards = []
values = []
[launch]
kernel = "total"
symbols = { n = 3000 }
grid = ["5"]
block = ["224"]
arguments = [
  "in in float32[n] in -9..9",
  "inout out float32[1] = 0",
  "scalar n int32 = n",
]
[widened]
grid = ["5"]
block = ["224"]
*/
#include <cuda_runtime.h>

namespace tools {
template <class T, int WIDTH = 32> __device__ T sum(T v) {
#pragma unroll
  for (int o = WIDTH / 2; o > 0; o /= 2) v += __shfl_xor_sync(0xffffffff, v, o, WIDTH);
  return v;
}
}  // namespace tools
__global__ void groups(const float* in, float* out) {
  out[blockIdx.x * blockDim.x + threadIdx.x] = tools::sum(in[blockIdx.x * blockDim.x + threadIdx.x]);
}
__global__ void total(const float* in, float* out, int n) {
  float v = 0.0f;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) v += in[i];
  v = tools::sum(v);
  if ((threadIdx.x & 31) == 0) atomicAdd(out, v);
}
void launch(const float* in, float* out, int n) {
  groups<<<n / 128, 128>>>(in, out);
  total<<<5, 224>>>(in, out, n);
}
