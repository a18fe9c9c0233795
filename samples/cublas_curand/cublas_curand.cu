// Host code around libraries: cuRAND fills a layer's inputs and weights, cuBLAS multiplies, a kernel adds bias and ReLU.
#include <cublas_v2.h>
#include <cuda_runtime.h>
#include <curand.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(call, good)                                                                   \
  do {                                                                                      \
    const auto status_ = (call);                                                            \
    if (status_ != (good)) {                                                                \
      std::fprintf(stderr, "%s:%d: %s -> %d\n", __FILE__, __LINE__, #call, static_cast<int>(status_)); \
      std::exit(EXIT_FAILURE);                                                              \
    }                                                                                       \
  } while (0)
#define CHECK_CUDA(call) CHECK(call, cudaSuccess)
#define CHECK_CUBLAS(call) CHECK(call, CUBLAS_STATUS_SUCCESS)
#define CHECK_CURAND(call) CHECK(call, CURAND_STATUS_SUCCESS)

// In place on a row-major (rows, cols) matrix.
__global__ void bias_relu(float* __restrict__ data, const float* __restrict__ bias, int rows, int cols) {
  const int count = rows * cols;
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
    data[i] = fmaxf(data[i] + bias[i % cols], 0.0f);
}

class Layer {
 public:
  Layer(int inputs, int outputs, unsigned long long seed) : inputs_(inputs), outputs_(outputs) {
    CHECK_CUDA(cudaStreamCreate(&stream_));
    CHECK_CUBLAS(cublasCreate(&blas_));
    CHECK_CUBLAS(cublasSetStream(blas_, stream_));
    CHECK_CURAND(curandCreateGenerator(&random_, CURAND_RNG_PSEUDO_PHILOX4_32_10));
    CHECK_CURAND(curandSetPseudoRandomGeneratorSeed(random_, seed));
    CHECK_CURAND(curandSetStream(random_, stream_));
    CHECK_CUDA(cudaMalloc(&weights_, sizeof(float) * inputs * outputs));
    CHECK_CUDA(cudaMalloc(&bias_, sizeof(float) * outputs));
    CHECK_CURAND(curandGenerateNormal(random_, weights_, static_cast<size_t>(inputs) * outputs, 0.0f, 1.0f / inputs));
    CHECK_CURAND(curandGenerateUniform(random_, bias_, outputs));
  }
  Layer(const Layer&) = delete;
  Layer& operator=(const Layer&) = delete;
  ~Layer() {
    cudaFree(weights_);
    cudaFree(bias_);
    curandDestroyGenerator(random_);
    cublasDestroy(blas_);
    cudaStreamDestroy(stream_);
  }

  void random_input(float* x, int rows) {
    CHECK_CURAND(curandGenerateNormal(random_, x, static_cast<size_t>(rows) * inputs_, 0.0f, 1.0f));
  }

  // y = relu(x W + b); all matrices are row-major, so cuBLAS sees their transposes: y' = W' x'.
  void forward(const float* x, float* y, int rows) {
    const float one = 1.0f, zero = 0.0f;
    CHECK_CUBLAS(cublasSgemm(blas_, CUBLAS_OP_N, CUBLAS_OP_N, outputs_, rows, inputs_, &one, weights_, outputs_, x, inputs_,
                             &zero, y, outputs_));
    bias_relu<<<(rows * outputs_ + 255) / 256, 256, 0, stream_>>>(y, bias_, rows, outputs_);
    CHECK_CUDA(cudaGetLastError());
  }

  // The same product for each row by itself: a batch of 1 x inputs times inputs x outputs, without bias.
  void products(const float* x, float* y, int rows) {
    const float one = 1.0f, zero = 0.0f;
    CHECK_CUBLAS(cublasSgemmStridedBatched(blas_, CUBLAS_OP_N, CUBLAS_OP_N, outputs_, 1, inputs_, &one, weights_, outputs_, 0,
                                           x, inputs_, inputs_, &zero, y, outputs_, outputs_, rows));
  }

  float norm(const float* values, int count) {
    float result = 0.0f;
    CHECK_CUBLAS(cublasSnrm2(blas_, count, values, 1, &result));
    return result;
  }

  void wait() { CHECK_CUDA(cudaStreamSynchronize(stream_)); }
  const float* weights() const { return weights_; }
  const float* bias() const { return bias_; }

 private:
  int inputs_, outputs_;
  float *weights_ = nullptr, *bias_ = nullptr;
  cudaStream_t stream_ = nullptr;
  cublasHandle_t blas_ = nullptr;
  curandGenerator_t random_ = nullptr;
};

static std::vector<float> download(const float* device, size_t count) {
  std::vector<float> host(count);
  CHECK_CUDA(cudaMemcpy(host.data(), device, count * sizeof(float), cudaMemcpyDeviceToHost));
  return host;
}

// False for NaN.
static bool close(double got, double want, double tolerance) { return std::fabs(got - want) <= tolerance; }

int main() {
  constexpr int rows = 60, inputs = 200, outputs = 50;  // even counts: cuRAND makes normal numbers in pairs
  Layer layer(inputs, outputs, 1234ULL);
  float *dx, *dy, *dproducts;
  CHECK_CUDA(cudaMalloc(&dx, sizeof(float) * rows * inputs));
  CHECK_CUDA(cudaMalloc(&dy, sizeof(float) * rows * outputs));
  CHECK_CUDA(cudaMalloc(&dproducts, sizeof(float) * rows * outputs));
  layer.random_input(dx, rows);
  layer.forward(dx, dy, rows);
  layer.products(dx, dproducts, rows);
  const float norm = layer.norm(dy, rows * outputs);
  layer.wait();

  const auto x = download(dx, rows * inputs), y = download(dy, rows * outputs), products = download(dproducts, rows * outputs);
  const auto weights = download(layer.weights(), inputs * outputs), bias = download(layer.bias(), outputs);
  double norm2 = 0.0, mean = 0.0;
  int wrong = 0;
  for (float value : x) mean += value / static_cast<double>(rows * inputs);
  for (int r = 0; r < rows; ++r)
    for (int o = 0; o < outputs; ++o) {
      double product = 0.0;
      for (int i = 0; i < inputs; ++i) product += static_cast<double>(x[r * inputs + i]) * weights[i * outputs + o];
      const double want = std::fmax(product + bias[o], 0.0);
      wrong += !close(products[r * outputs + o], product, 1e-3);
      wrong += !close(y[r * outputs + o], want, 1e-3);
      norm2 += want * want;
    }
  wrong += !close(norm, std::sqrt(norm2), 1e-3) + !close(mean, 0.0, 0.05);
  std::printf("cublas_curand: %d wrong values, mean of the inputs %.3f\n", wrong, mean);
  for (float* pointer : {dx, dy, dproducts}) CHECK_CUDA(cudaFree(pointer));
  return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
