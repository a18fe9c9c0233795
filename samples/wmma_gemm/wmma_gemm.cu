// Half-precision matrix product on tensor cores, through the wmma fragments of one warp.
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <mma.h>

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

using namespace nvcuda;

constexpr int kFragment = 16;
constexpr int kWarpSize = 32;

// Each warp makes one 16 x 16 tile of C; A is row-major, B column-major; M, N, K are multiples of 16.
__global__ void wmma_gemm(const half* __restrict__ A, const half* __restrict__ B, float* __restrict__ C, int M, int N, int K) {
  const int warp = (blockIdx.x * blockDim.x + threadIdx.x) / kWarpSize;
  const int tiles_n = N / kFragment;
  const int row = warp / tiles_n * kFragment, col = warp % tiles_n * kFragment;
  if (row >= M) return;

  wmma::fragment<wmma::matrix_a, kFragment, kFragment, kFragment, half, wmma::row_major> a;
  wmma::fragment<wmma::matrix_b, kFragment, kFragment, kFragment, half, wmma::col_major> b;
  wmma::fragment<wmma::accumulator, kFragment, kFragment, kFragment, float> acc;
  wmma::fill_fragment(acc, 0.0f);
  for (int k = 0; k < K; k += kFragment) {
    wmma::load_matrix_sync(a, A + row * K + k, K);
    wmma::load_matrix_sync(b, B + col * K + k, K);
    wmma::mma_sync(acc, a, b, acc);
  }
  wmma::store_matrix_sync(C + row * N + col, acc, N, wmma::mem_row_major);
}

constexpr int kTile = 64;         // a block's tile of C
constexpr int kDepth = 32;        // its step along K
constexpr int kPad = 8;           // keeps rows of the staged tiles in different banks
constexpr int kThreads = 4 * kWarpSize;

// C = alpha A B + beta C; four warps per block, 2 x 2 fragments each; M, N multiples of 64, K of 32.
__global__ void __launch_bounds__(kThreads)
    wmma_gemm_staged(const half* __restrict__ A, const half* __restrict__ B, float* __restrict__ C, float alpha, float beta,
                     int M, int N, int K) {
  __shared__ __align__(32) half As[kTile][kDepth + kPad];
  __shared__ __align__(32) half Bs[kTile][kDepth + kPad];
  const int warp = threadIdx.x / kWarpSize;
  const int row0 = blockIdx.y * kTile, col0 = blockIdx.x * kTile;
  const int warp_row = warp / 2 * 32, warp_col = warp % 2 * 32;

  wmma::fragment<wmma::accumulator, kFragment, kFragment, kFragment, float> acc[2][2];
  for (auto& line : acc)
    for (auto& fragment : line) wmma::fill_fragment(fragment, 0.0f);

  for (int k0 = 0; k0 < K; k0 += kDepth) {
    for (int i = threadIdx.x; i < kTile * kDepth; i += kThreads) {
      As[i / kDepth][i % kDepth] = A[(row0 + i / kDepth) * K + k0 + i % kDepth];
      Bs[i / kDepth][i % kDepth] = B[(col0 + i / kDepth) * K + k0 + i % kDepth];
    }
    __syncthreads();
    for (int k = 0; k < kDepth; k += kFragment) {
      wmma::fragment<wmma::matrix_a, kFragment, kFragment, kFragment, half, wmma::row_major> a[2];
      wmma::fragment<wmma::matrix_b, kFragment, kFragment, kFragment, half, wmma::col_major> b[2];
      for (int i = 0; i < 2; ++i) {
        wmma::load_matrix_sync(a[i], &As[warp_row + i * kFragment][k], kDepth + kPad);
        wmma::load_matrix_sync(b[i], &Bs[warp_col + i * kFragment][k], kDepth + kPad);
      }
      for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 2; ++j) wmma::mma_sync(acc[i][j], a[i], b[j], acc[i][j]);
    }
    __syncthreads();
  }
  for (int i = 0; i < 2; ++i)
    for (int j = 0; j < 2; ++j) {
      float* target = C + (row0 + warp_row + i * kFragment) * N + col0 + warp_col + j * kFragment;
      wmma::fragment<wmma::accumulator, kFragment, kFragment, kFragment, float> old;
      wmma::load_matrix_sync(old, target, N, wmma::mem_row_major);
      for (int e = 0; e < old.num_elements; ++e) acc[i][j].x[e] = alpha * acc[i][j].x[e] + beta * old.x[e];
      wmma::store_matrix_sync(target, acc[i][j], N, wmma::mem_row_major);
    }
}

// False for NaN.
static bool close(double got, double want, double tolerance) { return std::fabs(got - want) <= tolerance; }

int main() {
  constexpr int M = 128, N = 192, K = 96;
  constexpr float alpha = 0.5f, beta = 2.0f;
  std::vector<half> A(M * K), B(N * K);
  std::vector<float> C(M * N), first(M * N), second(M * N);
  for (int i = 0; i < M * K; ++i) A[i] = __float2half(static_cast<float>(i * 13 % 33 - 16) / 32.0f);
  for (int i = 0; i < N * K; ++i) B[i] = __float2half(static_cast<float>(i * 29 % 37 - 18) / 32.0f);
  for (int i = 0; i < M * N; ++i) C[i] = static_cast<float>(i % 9);

  half *dA, *dB;
  float* dC;
  CHECK_CUDA(cudaMalloc(&dA, A.size() * sizeof(half)));
  CHECK_CUDA(cudaMalloc(&dB, B.size() * sizeof(half)));
  CHECK_CUDA(cudaMalloc(&dC, C.size() * sizeof(float)));
  CHECK_CUDA(cudaMemcpy(dA, A.data(), A.size() * sizeof(half), cudaMemcpyHostToDevice));
  CHECK_CUDA(cudaMemcpy(dB, B.data(), B.size() * sizeof(half), cudaMemcpyHostToDevice));

  const int warps = (M / kFragment) * (N / kFragment);
  wmma_gemm<<<(warps * kWarpSize + 255) / 256, 256>>>(dA, dB, dC, M, N, K);
  CHECK_CUDA(cudaGetLastError());
  CHECK_CUDA(cudaMemcpy(first.data(), dC, C.size() * sizeof(float), cudaMemcpyDeviceToHost));
  CHECK_CUDA(cudaMemcpy(dC, C.data(), C.size() * sizeof(float), cudaMemcpyHostToDevice));
  wmma_gemm_staged<<<dim3(N / kTile, M / kTile), kThreads>>>(dA, dB, dC, alpha, beta, M, N, K);
  CHECK_CUDA(cudaGetLastError());
  CHECK_CUDA(cudaMemcpy(second.data(), dC, C.size() * sizeof(float), cudaMemcpyDeviceToHost));

  int wrong = 0;
  for (int m = 0; m < M; ++m)
    for (int n = 0; n < N; ++n) {
      double product = 0.0;
      for (int k = 0; k < K; ++k) product += static_cast<double>(__half2float(A[m * K + k])) * __half2float(B[n * K + k]);
      wrong += !close(first[m * N + n], product, 1e-3);
      wrong += !close(second[m * N + n], alpha * product + beta * C[m * N + n], 1e-3);
    }
  std::printf("wmma_gemm: %d wrong elements\n", wrong);
  CHECK_CUDA(cudaFree(dA));
  CHECK_CUDA(cudaFree(dB));
  CHECK_CUDA(cudaFree(dC));
  return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
