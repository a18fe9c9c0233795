// Kernels that are wrong on purpose, each in one way; kernels.case.toml says what they should do.
#include <cuda_fp16.h>

__global__ void last_forgotten(const float* a, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n - 1) out[i] = 2.0f * a[i];
}

__global__ void reads_past_the_end(const float* a, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 0.5f * (a[i] + a[i + 1]);
}

__global__ void missing_barrier(const float* a, float* out) {
  __shared__ float tile[128];
  tile[threadIdx.x] = a[blockIdx.x * 128 + threadIdx.x];
  out[blockIdx.x * 128 + threadIdx.x] = tile[127 - threadIdx.x];
}

__global__ void half_accumulator(const float* a, float* out, int cols) {
  __half sum = __float2half(0.0f);
  for (int c = 0; c < cols; ++c) sum = __hadd(sum, __float2half(a[threadIdx.x * cols + c]));
  out[threadIdx.x] = __half2float(sum);
}

__global__ void unwritten_tail(const float4* a, float4* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n / 4) out[i] = make_float4(2 * a[i].x, 2 * a[i].y, 2 * a[i].z, 2 * a[i].w);
}

__global__ void nan_swallowed(const float* a, float* out, int cols) {
  float largest = -1e30f;
  for (int c = 0; c < cols; ++c) largest = fmaxf(largest, a[threadIdx.x * cols + c]);
  out[threadIdx.x] = largest;
}

__global__ void swapped_arguments(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = b[i] - a[i];
}

// Every element finds a place; which one is a matter of who comes first.
__global__ void append_in_any_order(const float* a, float* out, int* count, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[atomicAdd(count, 1)] = a[i];
}

__global__ void last_block_wins(const float* a, float* out) {
  if (threadIdx.x == 0) out[0] = a[blockIdx.x];
}

__global__ void writes_integers(const float* a, int* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = static_cast<int>(1000.0f * a[i]);
}

__global__ void half_the_lanes(const float* a, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n && threadIdx.x % 32 < 16) out[i] = 2.0f * a[i];
}

__global__ void never_ends(const float* a, volatile float* out, int n) {
  const int i = threadIdx.x;
  if (i < n) {
    out[i] = a[i];
    while (out[i] == a[i]) out[i] = a[i];
  }
}

__global__ void pads_written(const float* a, float* out, int rows, int pitch) {
  for (int r = 0; r < rows; ++r) out[r * pitch + threadIdx.x] = 2.0f * a[r * 32 + threadIdx.x % 32];
}

__global__ void input_written(float* a, float* out, int n) {
  const int i = threadIdx.x;
  if (i < n) {
    a[i] *= 2.0f;
    out[i] = a[i];
  }
}

__global__ void softmax_without_maximum(const float* a, float* out, int cols) {
  float sum = 0.0f;
  for (int c = 0; c < cols; ++c) sum += expf(a[threadIdx.x * cols + c]);
  for (int c = 0; c < cols; ++c) out[threadIdx.x * cols + c] = expf(a[threadIdx.x * cols + c]) / sum;
}

__global__ void shared_not_filled(const float* a, float* out, int n) {
  __shared__ float tile[64];
  if (threadIdx.x < n) tile[threadIdx.x] = a[threadIdx.x];
  __syncthreads();
  if (threadIdx.x < n) out[threadIdx.x] = tile[63 - threadIdx.x];
}

__global__ void barrier_in_a_branch(const float* a, float* out) {
  __shared__ float tile[64];
  tile[threadIdx.x] = a[threadIdx.x];
  if (threadIdx.x % 64 < 40) __syncthreads();
  out[threadIdx.x] = tile[threadIdx.x ^ 1];
}

__global__ void sixteen_bits(const int* a, int* out, int cols) {
  short sum = 0;
  for (int c = 0; c < cols; ++c) sum = static_cast<short>(sum + a[threadIdx.x * cols + c]);
  out[threadIdx.x] = sum;
}

__global__ void variance_by_squares(const float* a, float* out, int cols) {
  float sum = 0.0f, squares = 0.0f;
  for (int c = 0; c < cols; ++c) {
    const float value = a[threadIdx.x * cols + c];
    sum += value;
    squares += value * value;
  }
  out[threadIdx.x] = squares / cols - (sum / cols) * (sum / cols);
}

__global__ void trap_for_negatives(const float* a, float* out, int n) {
  if (threadIdx.x < n) {
    if (a[threadIdx.x] < 0.0f) __trap();
    out[threadIdx.x] = sqrtf(a[threadIdx.x]);
  }
}

__global__ void one_step_short(const float* a, float* out) {
  float value = a[blockIdx.x * 32 + threadIdx.x];
  for (int offset = 16; offset > 1; offset /= 2) value += __shfl_xor_sync(0xffffffffu, value, offset);
  if (threadIdx.x == 0) out[blockIdx.x] = value;
}

__global__ void adds_to_what_is_there(const float* a, float* out, int n) {
  if (threadIdx.x < n) out[threadIdx.x] += a[threadIdx.x];
}

// The sum has a double's place and a float's digits; the scaled values beside it are right.
__global__ void double_sum_in_float(const float* a, float* scaled, double* total, int n) {
  float sum = 0;
  for (int i = 0; i < n; i++) {
    sum += a[i] * a[i];
    scaled[i] = a[i] * 2;
  }
  *total = sum;
}
