/* fixture
about = "Every 32 elements are normalised by their sum."
safe = false
fix = true
native = "preserve"
hazards = []
values = []
[launch]
kernel = "k"
symbols = { n = 512 }
grid = ["2"]
block = ["256"]
arguments = [
  "in x float32[n]",
  "out y float32[n]",
]
[widened]
grid = ["2"]
block = ["256"]
*/
#include <cuda_runtime.h>

__global__ void k(const float* x, float* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  float v = x[i];
  for (int o = 16; o; o >>= 1) v += __shfl_xor_sync(0xffffffff, v, o);
  y[i] = x[i] / v;
}
void go(const float* x, float* y, int n) { k<<<n / 256, 256>>>(x, y); }
