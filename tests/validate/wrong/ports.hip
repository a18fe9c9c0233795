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
