// Images through texture objects: bilinear resampling, a lookup table, and a blur with weights in constant memory.
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define CHECK_CUDA(call)                                                                       \
  do {                                                                                         \
    const cudaError_t status_ = (call);                                                        \
    if (status_ != cudaSuccess) {                                                              \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(status_));    \
      std::exit(EXIT_FAILURE);                                                                 \
    }                                                                                          \
  } while (0)

constexpr int kRadius = 4;
constexpr int kBlurBlock = 128;

__constant__ float kWeights[2 * kRadius + 1];

// Samples `image` (clamped, linear, unnormalised coordinates) at the centres of out_w x out_h cells.
__global__ void resample(cudaTextureObject_t image, float* __restrict__ out, int in_w, int in_h, int out_w, int out_h) {
  const int x = blockIdx.x * blockDim.x + threadIdx.x;
  const int y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= out_w || y >= out_h) return;
  out[y * out_w + x] = tex2D<float>(image, (x + 0.5f) * in_w / out_w, (y + 0.5f) * in_h / out_h);
}

// out[i] = table[index[i]], the table read through a texture over linear memory.
__global__ void look_up(cudaTextureObject_t table, const int* __restrict__ index, float* __restrict__ out, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) out[i] = tex1Dfetch<float>(table, index[i]);
}

// Blocks of kBlurBlock threads along a row; pixels beyond an edge repeat the edge.
__global__ void __launch_bounds__(kBlurBlock)
    blur_rows(const float* __restrict__ input, float* __restrict__ out, int width, int height) {
  __shared__ float line[kBlurBlock + 2 * kRadius];
  const int first = blockIdx.x * kBlurBlock - kRadius;
  const float* row = input + blockIdx.y * width;
  for (int i = threadIdx.x; i < kBlurBlock + 2 * kRadius; i += kBlurBlock) line[i] = row[min(max(first + i, 0), width - 1)];
  __syncthreads();
  const int x = blockIdx.x * kBlurBlock + threadIdx.x;
  if (x >= width) return;
  float sum = 0.0f;
#pragma unroll
  for (int k = 0; k <= 2 * kRadius; ++k) sum = fmaf(kWeights[k], line[threadIdx.x + k], sum);
  out[blockIdx.y * width + x] = sum;
}

static cudaTextureObject_t image_texture(cudaArray_t array) {
  cudaResourceDesc resource;
  std::memset(&resource, 0, sizeof(resource));
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureDesc texture;
  std::memset(&texture, 0, sizeof(texture));
  texture.addressMode[0] = texture.addressMode[1] = cudaAddressModeClamp;
  texture.filterMode = cudaFilterModeLinear;
  texture.readMode = cudaReadModeElementType;
  cudaTextureObject_t object = 0;
  CHECK_CUDA(cudaCreateTextureObject(&object, &resource, &texture, nullptr));
  return object;
}

static cudaTextureObject_t linear_texture(float* data, size_t count) {
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeLinear;
  resource.res.linear.devPtr = data;
  resource.res.linear.desc = cudaCreateChannelDesc<float>();
  resource.res.linear.sizeInBytes = count * sizeof(float);
  cudaTextureDesc texture = {};
  texture.readMode = cudaReadModeElementType;
  cudaTextureObject_t object = 0;
  CHECK_CUDA(cudaCreateTextureObject(&object, &resource, &texture, nullptr));
  return object;
}

// False for NaN.
static bool close(double got, double want, double tolerance) { return std::fabs(got - want) <= tolerance; }

int main() {
  constexpr int w = 200, h = 90, out_w = 150, out_h = 140, count = w * h;
  std::vector<float> image(count), resampled(out_w * out_h), blurred(count), weights(2 * kRadius + 1), looked_up(count);
  std::vector<int> index(count);
  for (int i = 0; i < count; ++i) {
    image[i] = static_cast<float>(i % w * 3 + i / w * 5 % 71) / 64.0f;
    index[i] = i * 37 % count;
  }
  for (int k = 0; k <= 2 * kRadius; ++k) weights[k] = (kRadius + 1 - std::abs(k - kRadius)) / 25.0f;

  cudaArray_t array;
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<float>();
  float *dimage, *dresampled, *dblurred, *dlooked_up;
  int* dindex;
  CHECK_CUDA(cudaMallocArray(&array, &format, w, h));
  CHECK_CUDA(cudaMemcpy2DToArray(array, 0, 0, image.data(), w * sizeof(float), w * sizeof(float), h, cudaMemcpyHostToDevice));
  for (float** pointer : {&dimage, &dblurred, &dlooked_up}) CHECK_CUDA(cudaMalloc(pointer, count * sizeof(float)));
  CHECK_CUDA(cudaMalloc(&dresampled, out_w * out_h * sizeof(float)));
  CHECK_CUDA(cudaMalloc(&dindex, count * sizeof(int)));
  CHECK_CUDA(cudaMemcpy(dimage, image.data(), count * sizeof(float), cudaMemcpyHostToDevice));
  CHECK_CUDA(cudaMemcpy(dindex, index.data(), count * sizeof(int), cudaMemcpyHostToDevice));
  CHECK_CUDA(cudaMemcpyToSymbol(kWeights, weights.data(), sizeof(kWeights)));
  const cudaTextureObject_t texture = image_texture(array), table = linear_texture(dimage, count);

  resample<<<dim3((out_w + 31) / 32, (out_h + 7) / 8), dim3(32, 8)>>>(texture, dresampled, w, h, out_w, out_h);
  look_up<<<(count + 255) / 256, 256>>>(table, dindex, dlooked_up, count);
  blur_rows<<<dim3((w + kBlurBlock - 1) / kBlurBlock, h), kBlurBlock>>>(dimage, dblurred, w, h);
  CHECK_CUDA(cudaGetLastError());
  CHECK_CUDA(cudaMemcpy(resampled.data(), dresampled, out_w * out_h * sizeof(float), cudaMemcpyDeviceToHost));
  CHECK_CUDA(cudaMemcpy(looked_up.data(), dlooked_up, count * sizeof(float), cudaMemcpyDeviceToHost));
  CHECK_CUDA(cudaMemcpy(blurred.data(), dblurred, count * sizeof(float), cudaMemcpyDeviceToHost));

  const auto pixel = [&](int x, int y) {
    return static_cast<double>(image[std::clamp(y, 0, h - 1) * w + std::clamp(x, 0, w - 1)]);
  };
  int wrong = 0;
  for (int y = 0; y < out_h; ++y)
    for (int x = 0; x < out_w; ++x) {
      const double u = (x + 0.5) * w / out_w - 0.5, v = (y + 0.5) * h / out_h - 0.5;
      const int left = static_cast<int>(std::floor(u)), top = static_cast<int>(std::floor(v));
      const double a = u - left, b = v - top;
      const double want = (1 - b) * ((1 - a) * pixel(left, top) + a * pixel(left + 1, top)) +
                          b * ((1 - a) * pixel(left, top + 1) + a * pixel(left + 1, top + 1));
      wrong += !close(resampled[y * out_w + x], want, 0.02);  // the hardware keeps 8 bits of a and b
    }
  for (int i = 0; i < count; ++i) {
    double want = 0.0;
    for (int k = 0; k <= 2 * kRadius; ++k) want += weights[k] * pixel(i % w + k - kRadius, i / w);
    wrong += !close(blurred[i], want, 1e-5);
    wrong += looked_up[i] != image[index[i]];
  }
  std::printf("texture_filter: %d wrong pixels\n", wrong);

  CHECK_CUDA(cudaDestroyTextureObject(texture));
  CHECK_CUDA(cudaDestroyTextureObject(table));
  CHECK_CUDA(cudaFreeArray(array));
  for (float* pointer : {dimage, dresampled, dblurred, dlooked_up}) CHECK_CUDA(cudaFree(pointer));
  CHECK_CUDA(cudaFree(dindex));
  return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
