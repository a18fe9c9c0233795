// Element-wise kernels over float, half and float4 with grid-stride loops.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK_CUDA(call)                                                                   \
  do {                                                                                     \
    const cudaError_t status_ = (call);                                                    \
    if (status_ != cudaSuccess) {                                                          \
      std::fprintf(stderr, "%s:%d: %s: %s\n", __FILE__, __LINE__, #call,                   \
                   cudaGetErrorString(status_));                                           \
      std::exit(EXIT_FAILURE);                                                             \
    }                                                                                      \
  } while (0)

// The kernel comes first so that template arguments may hold commas when parenthesised.
#define LAUNCH_1D(kernel, count, stream, ...)                                              \
  do {                                                                                     \
    kernel<<<elementwise::grid_for(count), elementwise::kBlock, 0, stream>>>(__VA_ARGS__); \
    CHECK_CUDA(cudaGetLastError());                                                        \
  } while (0)

namespace elementwise {

constexpr int kBlock = 256;
constexpr int kMaxBlocks = 1024;

inline int grid_for(int count) { return std::max(1, std::min((count + kBlock - 1) / kBlock, kMaxBlocks)); }

__device__ __forceinline__ float to_float(float value) { return value; }
__device__ __forceinline__ float to_float(__half value) { return __half2float(value); }

template <typename T>
__device__ __forceinline__ T from_float(float value);
template <>
__device__ __forceinline__ float from_float<float>(float value) { return value; }
template <>
__device__ __forceinline__ __half from_float<__half>(float value) { return __float2half_rn(value); }

template <typename T>
__global__ void __launch_bounds__(kBlock)
    axpby(const T* __restrict__ x, const T* __restrict__ y, T* __restrict__ out, float alpha, float beta, int n) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
    out[i] = from_float<T>(alpha * to_float(x[i]) + beta * to_float(y[i]));
}

// Two halves per thread; `x` and `out` are 4-byte aligned, an odd last element is done alone.
__global__ void __launch_bounds__(kBlock)
    silu_half(const __half* __restrict__ x, __half* __restrict__ out, int n) {
  const auto* x2 = reinterpret_cast<const __half2*>(x);
  auto* out2 = reinterpret_cast<__half2*>(out);
  const __half2 one = __float2half2_rn(1.0f);
  const int first = blockIdx.x * blockDim.x + threadIdx.x;
  for (int i = first; i < n / 2; i += gridDim.x * blockDim.x) {
    const __half2 value = x2[i];
    out2[i] = __h2div(value, __hadd2(one, h2exp(__hneg2(value))));
  }
  if (first == 0 && (n & 1)) {
    const float value = __half2float(x[n - 1]);
    out[n - 1] = __float2half_rn(value / (1.0f + __expf(-value)));
  }
}

__global__ void __launch_bounds__(kBlock)
    clamp_scale(const float4* __restrict__ input, float4* __restrict__ out, float lo, float hi, float scale, int n4) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n4; i += gridDim.x * blockDim.x) {
    const float4 v = __ldg(&input[i]);
    out[i] = make_float4(scale * fminf(fmaxf(v.x, lo), hi), scale * fminf(fmaxf(v.y, lo), hi),
                         scale * fminf(fmaxf(v.z, lo), hi), scale * fminf(fmaxf(v.w, lo), hi));
  }
}

}  // namespace elementwise

// False for NaN.
static bool close(double got, double want, double tolerance) { return std::fabs(got - want) <= tolerance; }

int main() {
  constexpr int n = 100003;
  constexpr int n4 = n / 4;
  std::vector<float> x(n), y(n), sums(n), clamped(4 * n4);
  std::vector<__half> half_x(n), half_out(n);
  for (int i = 0; i < n; ++i) {
    x[i] = static_cast<float>(i % 201 - 100) / 16.0f;
    y[i] = static_cast<float>(i % 13) / 8.0f;
    half_x[i] = __float2half(x[i]);
  }

  float *dx, *dy, *dsums, *dclamped;
  __half *dhalf_x, *dhalf_out;
  CHECK_CUDA(cudaMalloc(&dx, n * sizeof(float)));
  CHECK_CUDA(cudaMalloc(&dy, n * sizeof(float)));
  CHECK_CUDA(cudaMalloc(&dsums, n * sizeof(float)));
  CHECK_CUDA(cudaMalloc(&dclamped, n4 * sizeof(float4)));
  CHECK_CUDA(cudaMalloc(&dhalf_x, n * sizeof(__half)));
  CHECK_CUDA(cudaMalloc(&dhalf_out, n * sizeof(__half)));

  cudaStream_t stream;
  CHECK_CUDA(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
  CHECK_CUDA(cudaMemcpyAsync(dx, x.data(), n * sizeof(float), cudaMemcpyHostToDevice, stream));
  CHECK_CUDA(cudaMemcpyAsync(dy, y.data(), n * sizeof(float), cudaMemcpyHostToDevice, stream));
  CHECK_CUDA(cudaMemcpyAsync(dhalf_x, half_x.data(), n * sizeof(__half), cudaMemcpyHostToDevice, stream));
  LAUNCH_1D((elementwise::axpby<float>), n, stream, dx, dy, dsums, 2.0f, -0.5f, n);
  LAUNCH_1D(elementwise::silu_half, n / 2, stream, dhalf_x, dhalf_out, n);
  LAUNCH_1D(elementwise::clamp_scale, n4, stream, reinterpret_cast<const float4*>(dx),
            reinterpret_cast<float4*>(dclamped), -1.0f, 1.0f, 3.0f, n4);
  CHECK_CUDA(cudaMemcpyAsync(sums.data(), dsums, n * sizeof(float), cudaMemcpyDeviceToHost, stream));
  CHECK_CUDA(cudaMemcpyAsync(half_out.data(), dhalf_out, n * sizeof(__half), cudaMemcpyDeviceToHost, stream));
  CHECK_CUDA(cudaMemcpyAsync(clamped.data(), dclamped, n4 * sizeof(float4), cudaMemcpyDeviceToHost, stream));
  CHECK_CUDA(cudaStreamSynchronize(stream));

  int wrong = 0;
  for (int i = 0; i < n; ++i) {
    const double silu = x[i] / (1.0 + std::exp(-static_cast<double>(x[i])));
    wrong += !close(sums[i], 2.0 * x[i] - 0.5 * y[i], 1e-5);
    wrong += !close(__half2float(half_out[i]), silu, 4e-3 * std::fmax(1.0, std::fabs(silu)));
    if (i < 4 * n4) wrong += clamped[i] != 3.0f * std::min(std::max(x[i], -1.0f), 1.0f);
  }
  std::printf("elementwise: %d wrong values of %d\n", wrong, n);

  CHECK_CUDA(cudaStreamDestroy(stream));
  for (void* pointer : {static_cast<void*>(dx), static_cast<void*>(dy), static_cast<void*>(dsums),
                        static_cast<void*>(dclamped), static_cast<void*>(dhalf_x), static_cast<void*>(dhalf_out)})
    CHECK_CUDA(cudaFree(pointer));
  return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
