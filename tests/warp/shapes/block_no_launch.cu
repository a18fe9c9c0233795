/* fixture
about = "A block sum whose launches are in another file, with a fraction for the number of warps."
safe = false
fix = true
native = "widen"
hazards = []
values = []
[launch]
kernel = "center"
symbols = { n = 500 }
grid = ["3"]
block = ["160"]
arguments = [
  "in in float32[3*n] in -90..90",
  "out out float32[3*n]",
  "scalar n int32 = n",
]
[widened]
grid = ["3"]
block = ["160"]
*/
#include <cuda_runtime.h>

#define ALL_LANES 0xffffffff
template <typename T> __inline__ __device__ T sumOfWarp(T val) {
#pragma unroll
  for (int mask = 16; mask > 0; mask >>= 1) val += __shfl_xor_sync(ALL_LANES, val, mask, 32);
  return val;
}
template <typename T> __inline__ __device__ T sumOfBlock(T val) {
  static __shared__ T shared[32];
  int lane = threadIdx.x & 0x1f;
  int wid = threadIdx.x >> 5;
  val = sumOfWarp<T>(val);
  if (lane == 0) shared[wid] = val;
  __syncthreads();
  val = (threadIdx.x < (blockDim.x / 32.f)) ? shared[lane] : (T)0.0f;
  val = sumOfWarp<T>(val);
  return val;
}
__global__ void center(const float* in, float* out, int n) {
  __shared__ float mean;
  const int tid = threadIdx.x;
  float sum = 0.0f;
  for (int i = tid; i < n; i += blockDim.x) sum += in[blockIdx.x * n + i];
  sum = blockDim.x <= 32 ? sumOfWarp(sum) : sumOfBlock(sum);
  if (tid == 0) mean = sum / n;
  __syncthreads();
  for (int i = tid; i < n; i += blockDim.x) out[blockIdx.x * n + i] = in[blockIdx.x * n + i] - mean;
}
