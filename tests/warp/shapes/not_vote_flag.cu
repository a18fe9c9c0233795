/* fixture
about = "A flag for every 32 elements."
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
  "in x int32[n] in 0..5",
  "out y int32[n]",
]
[widened]
grid = ["2"]
block = ["256"]
*/
#include <cuda_runtime.h>

__global__ void k(const int* x, int* y) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  int r = 0;
  if (__any_sync(0xffffffff, x[i] > 3)) r = 1;
  y[i] = r;
}
void go(const int* x, int* y, int n) { k<<<n / 256, 256>>>(x, y); }
