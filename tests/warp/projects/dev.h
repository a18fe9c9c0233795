#pragma once
#include <cuda_runtime.h>
#include <cstdio>
#include <vector>
template <class T> struct Dev {
  T* p = nullptr; size_t n;
  explicit Dev(size_t count) : n(count) { cudaMalloc((void**)&p, n * sizeof(T)); cudaMemset(p, 0, n * sizeof(T)); }
  explicit Dev(const std::vector<T>& h) : Dev(h.size()) { cudaMemcpy(p, h.data(), n * sizeof(T), cudaMemcpyHostToDevice); }
  ~Dev() { cudaFree(p); }
  std::vector<T> get() const { std::vector<T> h(n); cudaMemcpy(h.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost); return h; }
};
inline std::vector<int> numbers(size_t n, unsigned seed, int mod) {
  std::vector<int> v(n);
  for (auto& x : v) { seed = seed * 1664525u + 1013904223u; x = int((seed >> 9) % unsigned(mod)); }
  return v;
}
template <class T> void show(const char* what, const std::vector<T>& v) {
  unsigned long long h = 1469598103934665603ull;
  for (auto x : v) h = (h ^ (unsigned long long)x) * 1099511628211ull;
  std::printf("%s:", what);
  for (size_t i = 0; i < v.size() && i < 8; i++) std::printf(" %lld", (long long)v[i]);
  std::printf(" sum %llu\n", h % 1000000007ull);
}
