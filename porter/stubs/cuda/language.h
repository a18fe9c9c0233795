// CUDA's own words: attributes, vector types, thread coordinates, kernel launch.
#pragma once
#include "../std/core.h"

#define __host__ __attribute__((host))
#define __device__ __attribute__((device))
#define __global__ __attribute__((global))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((device))
#define __grid_constant__
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))
#define __cluster_dims__(...)
#define __maxnreg__(...)
#define __block_size__(...)
#define __nv_pure__
#define __noinline__ __attribute__((noinline))
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __align__(n) __attribute__((aligned(n)))
#define __builtin_align__(n) __attribute__((aligned(n)))
#define __device_builtin__
#define __cudart_builtin__
#define __restrict __restrict__
#define CUDARTAPI
#define CUDART_CB
#define CUDAAPI
#define CUDA_CB
#ifndef __HIP__
#define CUDART_VERSION 12040
#define CUDA_VERSION 12040
#endif
#define CUDART_INF_F __builtin_inff()
#define CUDART_NAN_F __builtin_nanf("")
#define CUDART_INF __builtin_inf()
#define CUDART_NAN __builtin_nan("")
#define CUDART_PI_F 3.141592654f
#define CUDART_PI 3.1415926535897931
#define CUDART_SQRT_HALF_F 0.707106781f
#define CUDART_ONE_F 1.0f
#define CUDART_ZERO_F 0.0f
#define CUDART_MAX_NORMAL_F FLT_MAX
#define CUDART_L2T_F 3.321928095f
#define CUDART_LN2_F 0.693147181f
#ifndef __HIP__
#define __CUDACC_VER_MAJOR__ 12
#define __CUDACC_VER_MINOR__ 4
#define __CUDACC_VER_BUILD__ 0
#define __NVCC__ 1
#ifndef __CUDACC__
#define __CUDACC__ 1
#endif
#endif

#pragma clang force_cuda_host_device begin
#define PORTER_VECTOR1(name, T) \
  struct name { T x; };         \
  name make_##name(T x);
#define PORTER_VECTOR2(name, T, align)                   \
  struct __attribute__((aligned(align))) name { T x, y; }; \
  name make_##name(T x, T y);
#define PORTER_VECTOR3(name, T) \
  struct name { T x, y, z; };   \
  name make_##name(T x, T y, T z);
#define PORTER_VECTOR4(name, T, align)                         \
  struct __attribute__((aligned(align))) name { T x, y, z, w; }; \
  name make_##name(T x, T y, T z, T w);
#define PORTER_VECTORS(name, T, size)                           \
  PORTER_VECTOR1(name##1, T)                                    \
  PORTER_VECTOR2(name##2, T, 2 * size)                          \
  PORTER_VECTOR3(name##3, T)                                    \
  PORTER_VECTOR4(name##4, T, (4 * size > 16 ? 16 : 4 * size))
PORTER_VECTORS(char, signed char, 1)
PORTER_VECTORS(uchar, unsigned char, 1)
PORTER_VECTORS(short, short, 2)
PORTER_VECTORS(ushort, unsigned short, 2)
PORTER_VECTORS(int, int, 4)
PORTER_VECTORS(uint, unsigned int, 4)
PORTER_VECTORS(long, long, 8)
PORTER_VECTORS(ulong, unsigned long, 8)
PORTER_VECTORS(longlong, long long, 8)
PORTER_VECTORS(ulonglong, unsigned long long, 8)
PORTER_VECTORS(float, float, 4)
PORTER_VECTORS(double, double, 8)
PORTER_VECTOR4(double4_16a, double, 16)
PORTER_VECTOR4(double4_32a, double, 32)
#undef PORTER_VECTOR1
#undef PORTER_VECTOR2
#undef PORTER_VECTOR3
#undef PORTER_VECTOR4
#undef PORTER_VECTORS

struct dim3 {
  unsigned int x, y, z;
  constexpr dim3(unsigned int a = 1, unsigned int b = 1, unsigned int c = 1) : x(a), y(b), z(c) {}
  constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
  constexpr operator uint3() const { return uint3{x, y, z}; }
};

#pragma clang force_cuda_host_device end
extern const __device__ uint3 threadIdx, blockIdx;
extern const __device__ dim3 blockDim, gridDim;
extern const __device__ int warpSize;

typedef struct CUstream_st *cudaStream_t;
enum cudaError : int;
extern "C" cudaError cudaConfigureCall(dim3 grid, dim3 block, size_t shared = 0, cudaStream_t stream = nullptr);
extern "C" cudaError __hipPushCallConfiguration(dim3 grid, dim3 block, size_t shared = 0, cudaStream_t stream = nullptr);
extern "C" cudaError __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared = 0, cudaStream_t stream = nullptr);

#define __nv_is_extended_device_lambda_closure_type(T) false
