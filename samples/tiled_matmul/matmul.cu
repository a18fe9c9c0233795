// Matrix products through shared-memory tiles, and a tiled transpose. The 32s here are tile sides, not warps.
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

constexpr int ceil_div(int a, int b) { return (a + b - 1) / b; }

// One thread per element of C; block (TILE, TILE).
template <int TILE>
__global__ void __launch_bounds__(TILE * TILE)
    matmul_tiled(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int M, int N, int K) {
  __shared__ float As[TILE][TILE];
  __shared__ float Bs[TILE][TILE];
  const int tx = threadIdx.x, ty = threadIdx.y;
  const int row = blockIdx.y * TILE + ty;
  const int col = blockIdx.x * TILE + tx;
  float acc = 0.0f;
  for (int k0 = 0; k0 < K; k0 += TILE) {
    As[ty][tx] = row < M && k0 + tx < K ? A[row * K + k0 + tx] : 0.0f;
    Bs[ty][tx] = k0 + ty < K && col < N ? B[(k0 + ty) * N + col] : 0.0f;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < TILE; ++k) acc = fmaf(As[ty][k], Bs[k][tx], acc);
    __syncthreads();
  }
  if (row < M && col < N) C[row * N + col] = acc;
}

constexpr int kTileM = 64, kTileN = 64, kTileK = 16;
constexpr int kPerThread = 4;  // 16 x 16 threads, each 4 x 4 elements of C
constexpr size_t kBlockedShared = (kTileM + kTileN) * kTileK * sizeof(float);

// Block (16, 16), dynamic shared memory of kBlockedShared bytes.
__global__ void __launch_bounds__(256, 2)
    matmul_blocked(const float* __restrict__ A, const float* __restrict__ B, float* __restrict__ C, int M, int N, int K) {
  extern __shared__ float tiles[];
  float* As = tiles;                     // [kTileK][kTileM], transposed so that a thread reads four neighbours
  float* Bs = tiles + kTileK * kTileM;   // [kTileK][kTileN]
  const int tid = threadIdx.y * blockDim.x + threadIdx.x;
  const int row0 = blockIdx.y * kTileM, col0 = blockIdx.x * kTileN;
  float acc[kPerThread][kPerThread] = {};
  for (int k0 = 0; k0 < K; k0 += kTileK) {
    for (int i = tid; i < kTileM * kTileK; i += blockDim.x * blockDim.y) {
      const int m = i / kTileK, k = i % kTileK;
      As[k * kTileM + m] = row0 + m < M && k0 + k < K ? A[(row0 + m) * K + k0 + k] : 0.0f;
    }
    for (int i = tid; i < kTileK * kTileN; i += blockDim.x * blockDim.y) {
      const int k = i / kTileN, n = i % kTileN;
      Bs[k * kTileN + n] = k0 + k < K && col0 + n < N ? B[(k0 + k) * N + col0 + n] : 0.0f;
    }
    __syncthreads();
    for (int k = 0; k < kTileK; ++k) {
      float a[kPerThread], b[kPerThread];
#pragma unroll
      for (int i = 0; i < kPerThread; ++i) {
        a[i] = As[k * kTileM + threadIdx.y * kPerThread + i];
        b[i] = Bs[k * kTileN + threadIdx.x * kPerThread + i];
      }
#pragma unroll
      for (int i = 0; i < kPerThread; ++i)
#pragma unroll
        for (int j = 0; j < kPerThread; ++j) acc[i][j] = fmaf(a[i], b[j], acc[i][j]);
    }
    __syncthreads();
  }
  for (int i = 0; i < kPerThread; ++i)
    for (int j = 0; j < kPerThread; ++j) {
      const int row = row0 + threadIdx.y * kPerThread + i;
      const int col = col0 + threadIdx.x * kPerThread + j;
      if (row < M && col < N) C[row * N + col] = acc[i][j];
    }
}

// Block (32, 8); the extra column keeps the transposed reads free of bank conflicts.
__global__ void transpose(const float* __restrict__ input, float* __restrict__ out, int rows, int cols) {
  __shared__ float tile[32][32 + 1];
  int x = blockIdx.x * 32 + threadIdx.x;
  int y = blockIdx.y * 32 + threadIdx.y;
  for (int i = 0; i < 32; i += blockDim.y)
    if (x < cols && y + i < rows) tile[threadIdx.y + i][threadIdx.x] = input[(y + i) * cols + x];
  __syncthreads();
  x = blockIdx.y * 32 + threadIdx.x;
  y = blockIdx.x * 32 + threadIdx.y;
  for (int i = 0; i < 32; i += blockDim.y)
    if (x < rows && y + i < cols) out[(y + i) * rows + x] = tile[threadIdx.x][threadIdx.y + i];
}

static int count_wrong(const std::vector<float>& got, const std::vector<double>& want) {
  int wrong = 0;
  for (size_t i = 0; i < want.size(); ++i) wrong += !(std::fabs(got[i] - want[i]) <= 1e-4);  // NaN is wrong
  return wrong;
}

int main() {
  constexpr int M = 130, N = 77, K = 201;
  std::vector<float> A(M * K), B(K * N), C(M * N), transposed(M * K);
  for (size_t i = 0; i < A.size(); ++i) A[i] = static_cast<float>(i * 37 % 64) / 64.0f - 0.5f;
  for (size_t i = 0; i < B.size(); ++i) B[i] = static_cast<float>(i * 23 % 64) / 64.0f - 0.5f;
  std::vector<double> product(M * N, 0.0), flipped(M * K);
  for (int m = 0; m < M; ++m)
    for (int k = 0; k < K; ++k) {
      flipped[k * M + m] = A[m * K + k];
      for (int n = 0; n < N; ++n) product[m * N + n] += static_cast<double>(A[m * K + k]) * B[k * N + n];
    }

  float *dA, *dB, *dC, *dT;
  CHECK_CUDA(cudaMalloc(&dA, A.size() * sizeof(float)));
  CHECK_CUDA(cudaMalloc(&dB, B.size() * sizeof(float)));
  CHECK_CUDA(cudaMalloc(&dC, C.size() * sizeof(float)));
  CHECK_CUDA(cudaMalloc(&dT, transposed.size() * sizeof(float)));
  CHECK_CUDA(cudaMemcpy(dA, A.data(), A.size() * sizeof(float), cudaMemcpyHostToDevice));
  CHECK_CUDA(cudaMemcpy(dB, B.data(), B.size() * sizeof(float), cudaMemcpyHostToDevice));

  cudaEvent_t start, stop;
  CHECK_CUDA(cudaEventCreate(&start));
  CHECK_CUDA(cudaEventCreate(&stop));
  float milliseconds = 0.0f;
  int wrong = 0;

  constexpr int kTile = 32;
  CHECK_CUDA(cudaEventRecord(start));
  matmul_tiled<kTile><<<dim3(ceil_div(N, kTile), ceil_div(M, kTile)), dim3(kTile, kTile)>>>(dA, dB, dC, M, N, K);
  CHECK_CUDA(cudaGetLastError());
  CHECK_CUDA(cudaEventRecord(stop));
  CHECK_CUDA(cudaEventSynchronize(stop));
  CHECK_CUDA(cudaEventElapsedTime(&milliseconds, start, stop));
  CHECK_CUDA(cudaMemcpy(C.data(), dC, C.size() * sizeof(float), cudaMemcpyDeviceToHost));
  wrong += count_wrong(C, product);

  matmul_blocked<<<dim3(ceil_div(N, kTileN), ceil_div(M, kTileM)), dim3(16, 16), kBlockedShared>>>(dA, dB, dC, M, N, K);
  CHECK_CUDA(cudaGetLastError());
  CHECK_CUDA(cudaMemcpy(C.data(), dC, C.size() * sizeof(float), cudaMemcpyDeviceToHost));
  wrong += count_wrong(C, product);

  transpose<<<dim3(ceil_div(K, 32), ceil_div(M, 32)), dim3(32, 8)>>>(dA, dT, M, K);
  CHECK_CUDA(cudaGetLastError());
  CHECK_CUDA(cudaMemcpy(transposed.data(), dT, transposed.size() * sizeof(float), cudaMemcpyDeviceToHost));
  wrong += count_wrong(transposed, flipped);

  std::printf("tiled_matmul: %d wrong elements, tiled kernel %.3f ms\n", wrong, milliseconds);
  CHECK_CUDA(cudaEventDestroy(start));
  CHECK_CUDA(cudaEventDestroy(stop));
  for (float* pointer : {dA, dB, dC, dT}) CHECK_CUDA(cudaFree(pointer));
  return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
