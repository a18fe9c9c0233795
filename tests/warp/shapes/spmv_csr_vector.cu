/* fixture
about = "A sparse row per warp: bounds from memory."
safe = false
fix = true
native = "widen"
hazards = []
values = []
[launch]
kernel = "spmv"
symbols = { rows = 20 }
grid = ["3"]
block = ["256"]
arguments = [
  "scalar rows int32 = rows",
  "in ptr int32[21] in 0..40",
  "in idx int32[64] in 0..30",
  "in val float32[64] in -4..5",
  "in x float32[32] in -4..5",
  "out y float32[rows]",
]
[widened]
grid = ["5"]
block = ["256"]
*/
#include <cuda_runtime.h>

__global__ void spmv(int rows, const int* ptr, const int* idx, const float* val, const float* x, float* y) {
  int gtid = blockIdx.x * blockDim.x + threadIdx.x;
  int row = gtid >> 5;
  int lane = gtid & 31;
  if (row < rows) {
    float sum = 0;
    int begin = ptr[row], end = ptr[row + 1];
    for (int j = begin + lane; j < end; j += 32) sum += val[j] * x[idx[j]];
    for (int d = 16; d > 0; d >>= 1) sum += __shfl_down_sync(0xffffffff, sum, d);
    if (lane == 0) y[row] = sum;
  }
}
void go(int rows, const int* p, const int* i, const float* v, const float* x, float* y) {
  int block = 256;
  int grid = (rows * 32 + block - 1) / block;
  spmv<<<grid, block>>>(rows, p, i, v, x, y);
}
