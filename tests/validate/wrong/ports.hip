// What renaming alone makes of originals.cu, and other ports that are wrong on purpose.
#include <hip/hip_runtime.h>

__global__ void row_sums(const float* a, float* out) {
  float value = a[blockIdx.x * blockDim.x + threadIdx.x];
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_down(value, offset);
  if (threadIdx.x % 64 == 0) out[(blockIdx.x * blockDim.x + threadIdx.x) / 32] = value;
  if (threadIdx.x % 64 == 0) out[(blockIdx.x * blockDim.x + threadIdx.x) / 32 + 1] = value;
}

__global__ void flags(const int* a, unsigned* out) {
  const unsigned bits = __ballot(a[blockIdx.x * blockDim.x + threadIdx.x] > 0);
  if (threadIdx.x % 32 == 0) out[(blockIdx.x * blockDim.x + threadIdx.x) / 32] = bits;
}

__global__ void difference(const float* b, const float* a, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] - b[i];
}

__global__ void long_sums(const float* a, float* out, int cols) {
  float sum = 0.0f;
  for (int c = 0; c < cols; ++c) sum += a[threadIdx.x * cols + c];
  out[threadIdx.x] = sum;
}

__global__ void scaled(const float* a, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = fabsf(a[i]) < 1.17549435e-38f ? 0.0f : 0.5f * a[i];
}

#include <hip/hip_fp16.h>

__device__ unsigned finished;
__device__ int total_of_all;

__global__ void sum_by_last_block(const int* a, int* partial, int* out, int n) {  // without the fence
  __shared__ bool is_last;
  if (threadIdx.x == 0) {
    int sum = 0;
    for (int i = blockIdx.x; i < n; i += gridDim.x) sum += a[i];
    partial[blockIdx.x] = sum;
    is_last = atomicAdd(&finished, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (is_last && threadIdx.x == 0) {
    int sum = 0;
    for (int b = 0; b < gridDim.x; ++b) sum += partial[b];
    out[0] = sum;
    finished = 0;
  }
}

__global__ void ticket(const int* a, int* partial, int* out, int n) {  // without the reset
  __shared__ bool is_last;
  if (threadIdx.x == 0) {
    int sum = 0;
    for (int i = blockIdx.x; i < n; i += gridDim.x) sum += a[i];
    partial[blockIdx.x] = sum;
    __threadfence();
    is_last = atomicAdd(&finished, 1) == gridDim.x - 1;
  }
  __syncthreads();
  if (is_last && threadIdx.x == 0) {
    int sum = 0;
    for (int b = 0; b < gridDim.x; ++b) sum += partial[b];
    out[0] = sum;
  }
}

__global__ void into_a_variable(const int* a, int* out, int n) {  // some elements short
  if (threadIdx.x + 9 < n) atomicAdd(&total_of_all, a[threadIdx.x] % 100);
  if (threadIdx.x < n) out[threadIdx.x] = a[threadIdx.x];
}

__global__ void counted(const int* a, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) __hip_atomic_fetch_add(&out[a[i] & 7], 1, __ATOMIC_RELAXED, __HIP_MEMORY_SCOPE_WORKGROUP);
}

__global__ void to_half(const float* a, __half* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = __ushort_as_half(__half_as_ushort(__float2half(a[i] * 1.7f)) - (fabsf(__half2float(__float2half(a[i] * 1.7f))) > fabsf(a[i] * 1.7f)));
}

__global__ void multiply_add(const __half* a, const __half* b, const __half* c, __half* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  unsigned short product = __half_as_ushort(__float2half(__half2float(a[i]) * __half2float(b[i])));
  asm volatile("" : "+v"(product));  // or clang makes one fused operation of it
  out[i] = __float2half(__half2float(__ushort_as_half(product)) + __half2float(c[i]));
}
