// Data-parallel gradient descent on every GPU of the machine: gradients are summed with NCCL, each device steps alike.
#include <cuda_runtime.h>
#include <nccl.h>

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

#define CHECK_NCCL(call)                                                                       \
  do {                                                                                         \
    const ncclResult_t status_ = (call);                                                       \
    if (status_ != ncclSuccess) {                                                              \
      std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, ncclGetErrorString(status_));    \
      std::exit(EXIT_FAILURE);                                                                 \
    }                                                                                          \
  } while (0)

// The gradient of |w - target|^2 / 2.
__global__ void gradient(const float* __restrict__ weights, const float* __restrict__ target, float* __restrict__ grad, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) grad[i] = weights[i] - target[i];
}

// Momentum and step; `grad` is the sum over `devices` devices.
__global__ void sgd_step(float* __restrict__ weights, float* __restrict__ velocity, const float* __restrict__ grad,
                         float rate, float momentum, int devices, int n) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= n) return;
  velocity[i] = momentum * velocity[i] + grad[i] / devices;
  weights[i] -= rate * velocity[i];
}

struct Worker {
  int device = 0;
  ncclComm_t comm = nullptr;
  cudaStream_t stream = nullptr;
  float *weights = nullptr, *velocity = nullptr, *grad = nullptr, *target = nullptr;
};

static float target_value(int device, int i) { return static_cast<float>((i * 3 + device * 11) % 17) - 8.0f; }

static Worker make_worker(int device, ncclComm_t comm, int n) {
  Worker worker;
  worker.device = device;
  worker.comm = comm;
  CHECK_CUDA(cudaSetDevice(device));
  CHECK_CUDA(cudaStreamCreate(&worker.stream));
  std::vector<float> target(n);
  for (int i = 0; i < n; ++i) target[i] = target_value(device, i);
  for (float** pointer : {&worker.weights, &worker.velocity, &worker.grad, &worker.target}) {
    CHECK_CUDA(cudaMalloc(pointer, n * sizeof(float)));
    CHECK_CUDA(cudaMemset(*pointer, 0, n * sizeof(float)));
  }
  CHECK_CUDA(cudaMemcpy(worker.target, target.data(), n * sizeof(float), cudaMemcpyHostToDevice));
  return worker;
}

static void step(std::vector<Worker>& workers, float rate, float momentum, int n) {
  const int blocks = (n + 255) / 256;
  for (Worker& w : workers) {
    CHECK_CUDA(cudaSetDevice(w.device));
    gradient<<<blocks, 256, 0, w.stream>>>(w.weights, w.target, w.grad, n);
  }
  CHECK_NCCL(ncclGroupStart());
  for (Worker& w : workers) CHECK_NCCL(ncclAllReduce(w.grad, w.grad, n, ncclFloat, ncclSum, w.comm, w.stream));
  CHECK_NCCL(ncclGroupEnd());
  for (Worker& w : workers) {
    CHECK_CUDA(cudaSetDevice(w.device));
    sgd_step<<<blocks, 256, 0, w.stream>>>(w.weights, w.velocity, w.grad, rate, momentum, static_cast<int>(workers.size()), n);
    CHECK_CUDA(cudaGetLastError());
  }
}

int main() {
  constexpr int n = 10007, steps = 60;
  constexpr float rate = 0.3f, momentum = 0.2f;
  int devices = 0;
  CHECK_CUDA(cudaGetDeviceCount(&devices));
  if (devices == 0) {
    std::fprintf(stderr, "nccl_allreduce: no device\n");
    return EXIT_FAILURE;
  }
  int version = 0;
  CHECK_NCCL(ncclGetVersion(&version));
  std::vector<ncclComm_t> comms(devices);
  CHECK_NCCL(ncclCommInitAll(comms.data(), devices, nullptr));
  std::vector<Worker> workers;
  for (int d = 0; d < devices; ++d) workers.push_back(make_worker(d, comms[d], n));

  for (int s = 0; s < steps; ++s) step(workers, rate, momentum, n);

  int wrong = 0;
  for (Worker& w : workers) {
    std::vector<float> weights(n);
    CHECK_CUDA(cudaSetDevice(w.device));
    CHECK_CUDA(cudaStreamSynchronize(w.stream));
    CHECK_CUDA(cudaMemcpy(weights.data(), w.weights, n * sizeof(float), cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; ++i) {
      double mean = 0.0;
      for (int d = 0; d < devices; ++d) mean += target_value(d, i) / static_cast<double>(devices);
      wrong += !(std::fabs(weights[i] - mean) <= 1e-3);  // NaN is wrong
    }
    for (float* pointer : {w.weights, w.velocity, w.grad, w.target}) CHECK_CUDA(cudaFree(pointer));
    CHECK_CUDA(cudaStreamDestroy(w.stream));
    CHECK_NCCL(ncclCommDestroy(w.comm));
  }
  std::printf("nccl_allreduce: NCCL %d, %d devices, %d wrong weights\n", version, devices, wrong);
  return wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
