// What HIP has beyond the names that mirror CUDA's; those are made from the CUDA stubs and the name tables.
#pragma once
#include "../cuda/libraries.h"

#ifdef __HIP__
#define HIP_KERNEL_NAME(...) __VA_ARGS__
#define HIP_SYMBOL(name) name
#define HIP_DYNAMIC_SHARED(type, name) extern __shared__ type name[];
#define HIP_VERSION 60300000
#define HIP_VERSION_MAJOR 6
#define HIP_VERSION_MINOR 3
#define hipLaunchKernelGGL(kernel, grid, block, shared, stream, ...) \
  do {                                                               \
    kernel<<<(grid), (block), (shared), (stream)>>>(__VA_ARGS__);    \
  } while (0)
typedef unsigned long long lane_mask_t;
__device__ unsigned int __lane_id();
__device__ unsigned long long __lanemask_lt();
__device__ unsigned long long __lanemask_gt();
__device__ unsigned long long __lanemask_eq();
__device__ int __hip_ds_bpermute(int, int);
__device__ int __hip_ds_permute(int, int);
__device__ int __mbcnt_lo(unsigned, unsigned);
__device__ int __mbcnt_hi(unsigned, unsigned);
__device__ unsigned __builtin_amdgcn_mbcnt_lo(unsigned, unsigned);
__device__ unsigned __builtin_amdgcn_mbcnt_hi(unsigned, unsigned);
__device__ long long wall_clock64();
template <class T> __device__ T unsafeAtomicAdd(T *, T);
template <class T> __device__ T safeAtomicAdd(T *, T);
#define PORTER_OPERATORS(T)                          \
  __host__ __device__ T operator+(T, T);             \
  __host__ __device__ T operator-(T, T);             \
  __host__ __device__ T operator*(T, T);             \
  __host__ __device__ T operator/(T, T);             \
  __host__ __device__ T operator-(T);                \
  __host__ __device__ T &operator+=(T &, T);         \
  __host__ __device__ T &operator-=(T &, T);         \
  __host__ __device__ T &operator*=(T &, T);         \
  __host__ __device__ T &operator/=(T &, T);         \
  __host__ __device__ bool operator==(T, T);         \
  __host__ __device__ bool operator!=(T, T);
#define PORTER_BITS(T)                               \
  PORTER_OPERATORS(T)                                \
  __host__ __device__ T operator&(T, T);             \
  __host__ __device__ T operator|(T, T);             \
  __host__ __device__ T operator^(T, T);             \
  __host__ __device__ T operator~(T);
#define PORTER_SIZES(each, name) each(name##1) each(name##2) each(name##3) each(name##4)
PORTER_SIZES(PORTER_OPERATORS, float)
PORTER_SIZES(PORTER_OPERATORS, double)
PORTER_SIZES(PORTER_BITS, char)
PORTER_SIZES(PORTER_BITS, uchar)
PORTER_SIZES(PORTER_BITS, short)
PORTER_SIZES(PORTER_BITS, ushort)
PORTER_SIZES(PORTER_BITS, int)
PORTER_SIZES(PORTER_BITS, uint)
PORTER_SIZES(PORTER_BITS, long)
PORTER_SIZES(PORTER_BITS, ulong)
PORTER_SIZES(PORTER_BITS, longlong)
PORTER_SIZES(PORTER_BITS, ulonglong)
#undef PORTER_SIZES
#undef PORTER_BITS
#undef PORTER_OPERATORS
template <class... A> hipError_t hipModuleLaunchKernel(A &&...);
template <class... A> hipError_t hipExtLaunchKernel(A &&...);
template <class... A> hipError_t hipHostMalloc(A &&...);
template <class... A> hipError_t hipHostFree(A &&...);
#endif
