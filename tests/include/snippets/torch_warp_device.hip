#include <hip/hip_runtime.h>
#include "porter/torch_warp.hpp"

using namespace porter::torch_warp;

struct Add {
  __device__ int operator()(int a, int b) const { return a + b; }
};

struct Greatest {
  __device__ float combine(float a, float b) const { return a < b ? b : a; }
  __device__ float warp_shfl_down(float v, int o) const { return WARP_SHFL_DOWN(v, o); }
};

extern "C" __global__ void blocks(const float* x, float* sums, float* most, float* combined, float* flat) {
  __shared__ float s[32], m[32], c[32], f[32];
  int const thread = threadIdx.x + threadIdx.y * blockDim.x;
  float const v = x[blockIdx.x * blockDim.x * blockDim.y + thread];
  float const sum = BlockReduceSum<float, Block2D>(v, s), top = BlockReduceMax<float, Block2D>(v, m);
  float const both = BlockReduce<float, Greatest, Block2D>(v, Greatest(), -1e30f, c);
  float const one = blockDim.y == 1 ? BlockReduceSum(v, f) : 0;
  if (thread == 0) {
    sums[blockIdx.x] = sum;
    most[blockIdx.x] = top;
    combined[blockIdx.x] = both;
    flat[blockIdx.x] = one;
  }
}

extern "C" __global__ void scans(const int* yes, int* up_to, int* before, int* all) {
  __shared__ int s[32];
  int const at = blockIdx.x * blockDim.x + threadIdx.x;
  inclusiveBinaryPrefixScan<int, true>(s, yes[at] != 0, up_to + at, Add());
  exclusiveBinaryPrefixScan<int, true>(s, yes[at] != 0, before + at, all + at, Add());
}

extern "C" __global__ void lanes(unsigned* out) {
  unsigned* const o = out + threadIdx.x * 6;
  o[0] = static_cast<unsigned>(getLaneId());
  o[1] = getLaneMaskLt();
  o[2] = getLaneMaskLe();
  o[3] = getLaneMaskGt();
  o[4] = getLaneMaskGe();
  o[5] = WARP_BALLOT(threadIdx.x % 3 == 0, 0xffffu);
}
