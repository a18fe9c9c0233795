/* fixture
about = "A block reduction over a functor, in blocks of three warps and of sixteen."
safe = false
fix = true
native = "widen"
hazards = []
values = []
[launch]
kernel = "largest"
symbols = { n = 3000 }
grid = ["5"]
block = ["96"]
arguments = [
  "in in float32[n] in -900..900",
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
    value = over_warp(value, op);
  }
  return value;
}

__global__ void largest(const float* in, float* out, int n) {
  float value = -1000.0f;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) value = fmaxf(value, in[i]);
  value = over_block(value, -1000.0f, Larger{});
  if (threadIdx.x == 0) out[blockIdx.x] = value;
}
__global__ void total(const float* in, float* out, int n) {
  float value = threadIdx.x < n ? in[threadIdx.x] : 0.0f;
  value = over_block(value, 0.0f, Plus{});
  if (threadIdx.x == 0) *out = value;
}
void launch(const float* in, float* out, int n) {
  largest<<<5, 96>>>(in, out, n);
  total<<<1, 512>>>(in, out, n);
}
