/* fixture
about = "Running mean and variance, handed on by reference, in blocks of five warps."
safe = false
fix = true
native = "widen"
hazards = []
values = []
[launch]
kernel = "variance"
symbols = { n = 500 }
grid = ["3"]
block = ["160"]
arguments = [
  "in in float32[3*n] in -9..9",
  "out out float32[3*n]",
  "scalar n int32 = n",
]
[widened]
grid = ["3"]
block = ["160"]
*/
#include <cuda_runtime.h>

constexpr int kLanes = 32;
struct Moments {
  float mean = 0.0f;
  float m2 = 0.0f;
  float count = 0.0f;
};
__device__ void take(Moments& m, float x) {
  m.count += 1.0f;
  float d = x - m.mean;
  m.mean += d / m.count;
  m.m2 += d * (x - m.mean);
}
__device__ Moments both(const Moments& a, const Moments& b) {
  Moments m;
  m.count = a.count + b.count;
  if (m.count == 0.0f) return m;
  float d = b.mean - a.mean;
  m.mean = a.mean + d * (b.count / m.count);
  m.m2 = a.m2 + b.m2 + d * d * (a.count * b.count / m.count);
  return m;
}
__device__ Moments of_warp(Moments m) {
#pragma unroll
  for (int o = kLanes / 2; o > 0; o >>= 1) {
    Moments other;
    other.mean = __shfl_down_sync(0xffffffffu, m.mean, o);
    other.m2 = __shfl_down_sync(0xffffffffu, m.m2, o);
    other.count = __shfl_down_sync(0xffffffffu, m.count, o);
    m = both(m, other);
  }
  return m;
}
__global__ void variance(const float* in, float* out, int n) {
  __shared__ float means[32], squares[32], counts[32], found[2];
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
  Moments m;
  for (int i = threadIdx.x; i < n; i += blockDim.x) take(m, in[blockIdx.x * n + i]);
  m = of_warp(m);
  if (lane == 0) {
    means[warp] = m.mean;
    squares[warp] = m.m2;
    counts[warp] = m.count;
  }
  __syncthreads();
  if (warp == 0) {
    Moments part;
    if (lane < static_cast<int>(blockDim.x >> 5)) {
      part.mean = means[lane];
      part.m2 = squares[lane];
      part.count = counts[lane];
    }
    part = of_warp(part);
    if (lane == 0) {
      found[0] = part.mean;
      found[1] = part.m2 / n;
    }
  }
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += blockDim.x)
    out[blockIdx.x * n + i] = (in[blockIdx.x * n + i] - found[0]) * rsqrtf(found[1] + 1e-3f);
}
void launch(const float* in, float* out, int n) { variance<<<3, 160>>>(in, out, n); }
