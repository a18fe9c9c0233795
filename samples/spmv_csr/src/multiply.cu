#include "spmv/csr.cuh"
#include "spmv/device.cuh"

namespace spmv {
namespace {

constexpr int kBlock = 128;

}  // namespace

// WIDTH lanes per row; block kBlock.
template <int WIDTH>
__global__ void __launch_bounds__(kBlock)
    spmv_vector(const int* __restrict__ offsets, const int* __restrict__ columns, const float* __restrict__ values,
                const float* __restrict__ x, float* __restrict__ y, float alpha, float beta, int rows) {
  const int row = (blockIdx.x * kBlock + threadIdx.x) / WIDTH;
  const int lane = threadIdx.x % WIDTH;
  // Groups beyond the last row stay: their warp's shuffles name every lane.
  const int begin = row < rows ? offsets[row] : 0;
  const int end = row < rows ? offsets[row + 1] : 0;
  const float product = row_product<WIDTH>(columns, values, x, begin, end, lane);
  if (row < rows && lane == 0) y[row] = alpha * product + (beta == 0.0f ? 0.0f : beta * y[row]);
}

// One thread per row, for very short rows.
__global__ void __launch_bounds__(kBlock)
    spmv_scalar(const int* __restrict__ offsets, const int* __restrict__ columns, const float* __restrict__ values,
                const float* __restrict__ x, float* __restrict__ y, float alpha, float beta, int rows) {
  const int row = blockIdx.x * kBlock + threadIdx.x;
  if (row >= rows) return;
  float sum = 0.0f;
  for (int k = offsets[row]; k < offsets[row + 1]; ++k) sum = fmaf(values[k], x[columns[k]], sum);
  y[row] = alpha * sum + (beta == 0.0f ? 0.0f : beta * y[row]);
}

cudaError_t multiply(const CsrMatrix& a, const float* x, float* y, float alpha, float beta, cudaStream_t stream) {
  if (a.rows == 0) return cudaSuccess;
  const auto blocks = [&a](int width) { return (a.rows + kBlock / width - 1) / (kBlock / width); };

#define SPMV_LAUNCH(width)                                                                                            \
  spmv_vector<width><<<blocks(width), kBlock, 0, stream>>>(a.offsets, a.columns, a.values, x, y, alpha, beta, a.rows)

  const int mean = a.nonzeros / a.rows;
  if (mean < 2)
    spmv_scalar<<<blocks(1), kBlock, 0, stream>>>(a.offsets, a.columns, a.values, x, y, alpha, beta, a.rows);
  else if (mean <= 8)
    SPMV_LAUNCH(4);
  else if (mean <= 24)  // three quarters of a warp
    SPMV_LAUNCH(16);
  else
    SPMV_LAUNCH(kWarpSize);
#undef SPMV_LAUNCH

  return cudaGetLastError();
}

}  // namespace spmv
