// Right originals; ports.hip has what is wrong.
__global__ void row_sums(const float* a, float* out) {
  float value = a[blockIdx.x * blockDim.x + threadIdx.x];
  for (int offset = 16; offset > 0; offset /= 2) value += __shfl_down_sync(0xffffffffu, value, offset);
  if (threadIdx.x % 32 == 0) out[(blockIdx.x * blockDim.x + threadIdx.x) / 32] = value;
}

__global__ void flags(const int* a, unsigned* out) {
  const unsigned bits = __ballot_sync(0xffffffffu, a[blockIdx.x * blockDim.x + threadIdx.x] > 0);
  if (threadIdx.x % 32 == 0) out[(blockIdx.x * blockDim.x + threadIdx.x) / 32] = bits;
}

__global__ void difference(const float* a, const float* b, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = a[i] - b[i];
}

__global__ void long_sums(const float* a, float* out, int cols) {
  double sum = 0.0;
  for (int c = 0; c < cols; ++c) sum += a[threadIdx.x * cols + c];
  out[threadIdx.x] = static_cast<float>(sum);
}

__global__ void scaled(const float* a, float* out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = 0.5f * a[i];
}

__global__ void any_port(const float* a, float* out, int n) {
  if (threadIdx.x < n) out[threadIdx.x] = 2.0f * a[threadIdx.x];
}
