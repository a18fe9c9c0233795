/* fixture
about = "A block sum through a static array in a template helper."
safe = false
fix = true
native = "widen"
hazards = []
values = []
[launch]
kernel = "reduce"
symbols = { n = 5000 }
grid = ["5"]
block = ["256"]
arguments = [
  "in in float32[n] in -5..6",
  "inout out float32[1] = 0",
  "scalar n int32 = n",
]
[widened]
grid = ["5"]
block = ["256"]
*/
#include <cuda_runtime.h>

#define FULL_MASK 0xffffffff
#define WARP_SIZE 32
template <typename T> __device__ T warpReduceSum(T val) {
#pragma unroll
  for (int offset = WARP_SIZE / 2; offset > 0; offset >>= 1) val += __shfl_down_sync(FULL_MASK, val, offset);
  return val;
}
template <typename T> __device__ T blockReduceSum(T val) {
  static __shared__ T shared[WARP_SIZE];
  int lane = threadIdx.x % WARP_SIZE;
  int wid = threadIdx.x / WARP_SIZE;
  val = warpReduceSum(val);
  if (lane == 0) shared[wid] = val;
  __syncthreads();
  val = (threadIdx.x < blockDim.x / WARP_SIZE) ? shared[lane] : 0;
  if (wid == 0) val = warpReduceSum(val);
  return val;
}
__global__ void reduce(const float* in, float* out, int n) {
  float sum = 0;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x) sum += in[i];
  sum = blockReduceSum(sum);
  if (threadIdx.x == 0) atomicAdd(out, sum);
}
void launch(const float* in, float* out, int n) { reduce<<<64, 256>>>(in, out, n); }
