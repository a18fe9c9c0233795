#pragma once
#include <cstdio>
#include <cstdlib>
#include <cstdint>
#include <vector>
#include <cuda_runtime.h>
template <class T>
struct Buf {
  T* d;
  size_t n;
  explicit Buf(size_t n_) : n(n_) {
    cudaMalloc(&d, n * sizeof(T));
    cudaMemset(d, 0, n * sizeof(T));
  }
  template <class F>
  Buf(size_t n_, F f) : Buf(n_) {
    std::vector<T> h(n);
    for (size_t i = 0; i < n; i++) h[i] = (T)f((int)i);
    cudaMemcpy(d, h.data(), n * sizeof(T), cudaMemcpyHostToDevice);
  }
  operator T*() { return d; }
  void show(const char* name) {
    cudaError_t e = cudaDeviceSynchronize();
    if (e != cudaSuccess) {
      printf("%s: error %d\n", name, (int)e);
      exit(3);
    }
    std::vector<T> h(n);
    cudaMemcpy(h.data(), d, n * sizeof(T), cudaMemcpyDeviceToHost);
    unsigned long long s = 1469598103934665603ull;
    for (size_t i = 0; i < n; i++) {
      s = (s ^ (unsigned long long)(long long)((double)h[i] * 16)) * 1099511628211ull;
    }
    printf("%s hash %llu:", name, s % 1000000007ull);
    for (size_t i = 0; i < n && i < 96; i++) printf(" %g", (double)h[i]);
    printf("\n");
  }
};
static __host__ __device__ inline int rnd(int i) {
  unsigned x = i * 2654435761u;
  x ^= x >> 15;
  x *= 2246822519u;
  x ^= x >> 13;
  return (int)(x & 0x7fffffff);
}
