/* fixture
about = "The warps' sums are gathered by their maximum: how many lanes a warp has shows."
safe = false
fix = true
native = "preserve"
hazards = []
values = []
[launch]
kernel = "largest_sum"
symbols = { n = 3000 }
grid = ["5"]
block = ["96"]
arguments = [
  "in in float32[n] in -90..90",
  "out out float32[5]",
  "scalar n int32 = n",
]
[widened]
grid = ["5"]
block = ["96"]
*/
#include <cuda_runtime.h>

constexpr int kWarpSize = 32;
constexpr unsigned kAll = 0xffffffffu;
struct Plus {
  template <class T> __device__ T operator()(T a, T b) const { return a + b; }
};
struct Larger {
  template <class T> __device__ T operator()(T a, T b) const { return a < b ? b : a; }
};
template <class T, class Op> __device__ T over_warp(T value, Op op) {
  for (int step = kWarpSize / 2; step > 0; step >>= 1) value = op(value, __shfl_down_sync(kAll, value, step));
  return value;
}
template <class T, class Op> __device__ T over_block(T value, T neutral, Op op) {
  __shared__ T parts[1024 / kWarpSize];
  const int lane = threadIdx.x % kWarpSize, warp = threadIdx.x / kWarpSize;
  value = over_warp(value, op);
  if (lane == 0) parts[warp] = value;
  __syncthreads();
  if (warp == 0) {
    value = lane < static_cast<int>(blockDim.x / kWarpSize) ? parts[lane] : neutral;
    value = over_warp(value, Larger{});
  }
  return value;
}

__global__ void largest_sum(const float* in, float* out, int n) {
  float value = 0.0f;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) value += in[i];
  value = over_block(value, 0.0f, Plus{});
  if (threadIdx.x == 0) out[blockIdx.x] = value;
}
void launch(const float* in, float* out, int n) { largest_sum<<<5, 96>>>(in, out, n); }
