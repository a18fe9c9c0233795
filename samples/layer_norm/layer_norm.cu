// Layer normalisation, forward and backward: Welford's statistics merged with shuffles, column sums through a tile.
#include <cuda_runtime.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK_CUDA(call)                                                                       \
  do {                                                                                         \
    const cudaError_t status_ = (call);                                                        \
    if (status_ != cudaSuccess) {                                                              \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_));    \
      std::exit(EXIT_FAILURE);                                                                 \
    }                                                                                          \
  } while (0)

constexpr int kWarpSize = 32;
constexpr int kMaxWarps = 32;
constexpr unsigned kFull = 0xffffffff;

struct Welford {
  float mean = 0.0f;
  float m2 = 0.0f;  // sum of squared distances from the mean
  float count = 0.0f;
};

__device__ __forceinline__ void add(Welford& w, float value) {
  w.count += 1.0f;
  const float delta = value - w.mean;
  w.mean += delta / w.count;
  w.m2 += delta * (value - w.mean);
}

__device__ __forceinline__ Welford merge(const Welford& a, const Welford& b) {
  Welford w;
  w.count = a.count + b.count;
  if (w.count == 0.0f) return w;
  const float delta = b.mean - a.mean;
  w.mean = a.mean + delta * (b.count / w.count);
  w.m2 = a.m2 + b.m2 + delta * delta * (a.count * b.count / w.count);
  return w;
}

__device__ Welford warp_merge(Welford w) {
#pragma unroll
  for (int offset = kWarpSize / 2; offset > 0; offset >>= 1) {
    Welford other;
    other.mean = __shfl_down_sync(kFull, w.mean, offset);
    other.m2 = __shfl_down_sync(kFull, w.m2, offset);
    other.count = __shfl_down_sync(kFull, w.count, offset);
    w = merge(w, other);
  }
  return w;
}

__device__ float2 warp_sum(float2 v) {
#pragma unroll
  for (int offset = kWarpSize / 2; offset > 0; offset >>= 1) {
    v.x += __shfl_xor_sync(kFull, v.x, offset);
    v.y += __shfl_xor_sync(kFull, v.y, offset);
  }
  return v;
}

// One block per row, a multiple of 32 threads.
__global__ void layer_norm_forward(const float* __restrict__ x, const float* __restrict__ gamma,
                                   const float* __restrict__ beta, float* __restrict__ y, float* __restrict__ mean,
                                   float* __restrict__ rstd, int cols, float eps) {
  __shared__ float s_mean[kMaxWarps], s_m2[kMaxWarps], s_count[kMaxWarps], s_result[2];
  const float* row = x + static_cast<size_t>(blockIdx.x) * cols;
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;

  Welford w;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) add(w, row[c]);
  w = warp_merge(w);
  if (lane == 0) {
    s_mean[warp] = w.mean;
    s_m2[warp] = w.m2;
    s_count[warp] = w.count;
  }
  __syncthreads();
  if (warp == 0) {
    Welford part;
    if (lane < static_cast<int>(blockDim.x >> 5)) {
      part.mean = s_mean[lane];
      part.m2 = s_m2[lane];
      part.count = s_count[lane];
    }
    part = warp_merge(part);
    if (lane == 0) {
      s_result[0] = mean[blockIdx.x] = part.mean;
      s_result[1] = rstd[blockIdx.x] = rsqrtf(part.m2 / cols + eps);
    }
  }
  __syncthreads();
  float* out = y + static_cast<size_t>(blockIdx.x) * cols;
  for (int c = threadIdx.x; c < cols; c += blockDim.x) out[c] = (row[c] - s_result[0]) * s_result[1] * gamma[c] + beta[c];
}

// One block per row, a multiple of 32 threads.
__global__ void layer_norm_backward_input(const float* __restrict__ dy, const float* __restrict__ x,
                                          const float* __restrict__ gamma, const float* __restrict__ mean,
                                          const float* __restrict__ rstd, float* __restrict__ dx, int cols) {
  __shared__ float2 partial[kMaxWarps];
  const size_t start = static_cast<size_t>(blockIdx.x) * cols;
  const float mu = mean[blockIdx.x], scale = rstd[blockIdx.x];
  const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;

  float2 sums = make_float2(0.0f, 0.0f);
  for (int c = threadIdx.x; c < cols; c += blockDim.x) {
    const float g = dy[start + c] * gamma[c];
    sums.x += g;
    sums.y += g * (x[start + c] - mu) * scale;
  }
  sums = warp_sum(sums);
  if (lane == 0) partial[warp] = sums;
  __syncthreads();
  sums = lane < static_cast<int>(blockDim.x >> 5) ? partial[lane] : make_float2(0.0f, 0.0f);
  sums = warp_sum(sums);
  for (int c = threadIdx.x; c < cols; c += blockDim.x) {
    const float normal = (x[start + c] - mu) * scale;
    dx[start + c] = scale * (dy[start + c] * gamma[c] - (sums.x + normal * sums.y) / cols);
  }
}

constexpr int kTileCols = 32;  // columns of a tile; no warp is meant
constexpr int kTileRows = 8;

// Block (kTileCols, kTileRows), one block per kTileCols columns.
__global__ void layer_norm_backward_params(const float* __restrict__ dy, const float* __restrict__ x,
                                           const float* __restrict__ mean, const float* __restrict__ rstd,
                                           float* __restrict__ dgamma, float* __restrict__ dbeta, int rows, int cols) {
  __shared__ float2 tile[kTileRows][kTileCols];
  const int c = blockIdx.x * kTileCols + threadIdx.x;
  float2 sums = make_float2(0.0f, 0.0f);
  for (int r = threadIdx.y; r < rows && c < cols; r += kTileRows) {
    const float g = dy[static_cast<size_t>(r) * cols + c];
    sums.x += g * (x[static_cast<size_t>(r) * cols + c] - mean[r]) * rstd[r];
    sums.y += g;
  }
  tile[threadIdx.y][threadIdx.x] = sums;
  __syncthreads();
  if (threadIdx.y != 0 || c >= cols) return;
  for (int r = 1; r < kTileRows; ++r) {
    sums.x += tile[r][threadIdx.x].x;
    sums.y += tile[r][threadIdx.x].y;
  }
  dgamma[c] = sums.x;
  dbeta[c] = sums.y;
}

// False for NaN.
static bool close(double got, double want, double tolerance) { return std::fabs(got - want) <= tolerance; }

int main() {
  constexpr int rows = 37, cols = 300, count = rows * cols;
  constexpr float eps = 1e-5f;
  enum { X, DY, Y, DX, GAMMA, BETA, DGAMMA, DBETA, MEAN, RSTD, BUFFERS };
  const int sizes[BUFFERS] = {count, count, count, count, cols, cols, cols, cols, rows, rows};
  std::vector<std::vector<float>> host(BUFFERS);
  float* device[BUFFERS];
  for (int b = 0; b < BUFFERS; ++b) {
    host[b].resize(sizes[b]);
    for (int i = 0; i < sizes[b]; ++i) host[b][i] = static_cast<float>((i * 17 + b * 5) % 61) / 16.0f - 1.0f;
    CHECK_CUDA(cudaMalloc(&device[b], sizes[b] * sizeof(float)));
    CHECK_CUDA(cudaMemcpy(device[b], host[b].data(), sizes[b] * sizeof(float), cudaMemcpyHostToDevice));
  }
  layer_norm_forward<<<rows, 128>>>(device[X], device[GAMMA], device[BETA], device[Y], device[MEAN], device[RSTD], cols, eps);
  layer_norm_backward_input<<<rows, 128>>>(device[DY], device[X], device[GAMMA], device[MEAN], device[RSTD], device[DX], cols);
  layer_norm_backward_params<<<(cols + kTileCols - 1) / kTileCols, dim3(kTileCols, kTileRows)>>>(
      device[DY], device[X], device[MEAN], device[RSTD], device[DGAMMA], device[DBETA], rows, cols);
  CHECK_CUDA(cudaGetLastError());
  for (int b : {Y, DX, DGAMMA, DBETA, MEAN, RSTD})
    CHECK_CUDA(cudaMemcpy(host[b].data(), device[b], sizes[b] * sizeof(float), cudaMemcpyDeviceToHost));

  constexpr double tolerance = 1e-3;
  int wrong = 0;
  std::vector<double> dgamma(cols), dbeta(cols);
  for (int r = 0; r < rows; ++r) {
    const float *x = &host[X][r * cols], *dy = &host[DY][r * cols];
    double mean = 0.0, variance = 0.0, sum = 0.0, dot = 0.0;
    for (int c = 0; c < cols; ++c) mean += x[c] / static_cast<double>(cols);
    for (int c = 0; c < cols; ++c) variance += (x[c] - mean) * (x[c] - mean) / cols;
    const double rstd = 1.0 / std::sqrt(variance + eps);
    for (int c = 0; c < cols; ++c) {
      sum += dy[c] * host[GAMMA][c];
      dot += dy[c] * host[GAMMA][c] * (x[c] - mean) * rstd;
      dgamma[c] += dy[c] * (x[c] - mean) * rstd;
      dbeta[c] += dy[c];
    }
    for (int c = 0; c < cols; ++c) {
      const double normal = (x[c] - mean) * rstd;
      wrong += !close(host[Y][r * cols + c], normal * host[GAMMA][c] + host[BETA][c], tolerance);
      const double dx = rstd * (dy[c] * host[GAMMA][c] - (sum + normal * dot) / cols);
      wrong += !close(host[DX][r * cols + c], dx, tolerance);
    }
    wrong += !close(host[MEAN][r], mean, tolerance) + !close(host[RSTD][r], rstd, tolerance);
  }
  for (int c = 0; c < cols; ++c)
    wrong += !close(host[DGAMMA][c], dgamma[c], tolerance) + !close(host[DBETA][c], dbeta[c], tolerance);
  std::printf("layer_norm: %d wrong values\n", wrong);
  for (float* pointer : device) CHECK_CUDA(cudaFree(pointer));
  return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
