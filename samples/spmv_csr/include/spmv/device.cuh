// Device code that users of the library may call from their own kernels.
#pragma once

namespace spmv {

constexpr int kWarpSize = 32;

// The sum over WIDTH neighbouring lanes, in all of them; WIDTH is a power of two and divides the warp.
template <int WIDTH, typename T>
__device__ __forceinline__ T group_sum(T value) {
  static_assert(WIDTH > 0 && WIDTH <= kWarpSize && (WIDTH & (WIDTH - 1)) == 0, "a group is a part of a warp");
#pragma unroll
  for (int offset = WIDTH / 2; offset > 0; offset /= 2) value += __shfl_xor_sync(0xffffffffu, value, offset, WIDTH);
  return value;
}

// One row's product, shared by the WIDTH lanes of a group; all lanes of the warp take part.
template <int WIDTH>
__device__ float row_product(const int* __restrict__ columns, const float* __restrict__ values, const float* __restrict__ x,
                             int begin, int end, int lane) {
  float sum = 0.0f;
  for (int k = begin + lane; k < end; k += WIDTH) sum = fmaf(values[k], __ldg(&x[columns[k]]), sum);
  return group_sum<WIDTH>(sum);
}

}  // namespace spmv
