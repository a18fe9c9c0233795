/* fixture
about = "A bitmap of ballots."
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
  "in x int32[n] in -1..2",
  "out bits uint32[16]",
]
[widened]
grid = ["2"]
block = ["256"]
*/
#include <cuda_runtime.h>

__global__ void k(const int* x, unsigned* bits) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  unsigned b = __ballot_sync(0xffffffff, x[i] > 0);
  if ((threadIdx.x & 31) == 0) bits[i >> 5] = b;
}
void go(const int* x, unsigned* b, int n) { k<<<n / 256, 256>>>(x, b); }
