// A CUDA runtime on the host, one thread after the other: enough to run a harness without a GPU.
#pragma once
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cstddef>
#include <cstdint>
#include <tuple>
#include <unistd.h>
#include <utility>
#include <vector>

#define __global__
#define __device__
#define __host__
#define __constant__
#define __shared__ static
#define __launch_bounds__(...)
#define __restrict__ __restrict

struct dim3 {
  unsigned x, y, z;
  dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};
static thread_local dim3 threadIdx, blockIdx, blockDim, gridDim;

enum cudaError_t {
  cudaSuccess = 0,
  cudaErrorInvalidConfiguration = 9,
  cudaErrorNoDevice = 100,
  cudaErrorIllegalAddress = 700,
  cudaErrorLaunchTimeout = 702,
};
enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost };
enum cudaDeviceAttr { cudaDevAttrClockRate, cudaDevAttrMemoryClockRate, cudaDevAttrGlobalMemoryBusWidth };
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize };
using cudaStream_t = void *;
struct FakeEvent { std::chrono::steady_clock::time_point at; };
using cudaEvent_t = FakeEvent *;
struct cudaDeviceProp { char name[256]; int major, minor, warpSize, multiProcessorCount, l2CacheSize; size_t totalGlobalMem; };

static cudaError_t fake_error = cudaSuccess;
inline void fake_fail(cudaError_t error) { fake_error = error; }
inline cudaError_t cudaGetLastError() { return std::exchange(fake_error, cudaSuccess); }
inline const char *cudaGetErrorName(cudaError_t e) { return e == 700 ? "cudaErrorIllegalAddress" : "cudaErrorFake"; }
inline const char *cudaGetErrorString(cudaError_t) { return "made up"; }
inline cudaError_t cudaGetDeviceCount(int *n) { *n = std::getenv("FAKE_NO_GPU") ? 0 : 1; return *n ? cudaSuccess : cudaErrorNoDevice; }
inline cudaError_t cudaGetDeviceProperties(cudaDeviceProp *p, int) {
  std::memset(p, 0, sizeof *p);
  std::strcpy(p->name, "fake");
  p->major = 9; p->warpSize = 32; p->multiProcessorCount = 132; p->l2CacheSize = 1 << 20; p->totalGlobalMem = 1u << 30;
  return cudaSuccess;
}
inline cudaError_t cudaDeviceGetAttribute(int *v, cudaDeviceAttr a, int) {
  *v = a == cudaDevAttrClockRate ? 1980000 : a == cudaDevAttrMemoryClockRate ? 2619000 : 5120;
  return cudaSuccess;
}
inline cudaError_t cudaDriverGetVersion(int *v) { *v = 13000; return cudaSuccess; }
inline cudaError_t cudaRuntimeGetVersion(int *v) { *v = 13000; return cudaSuccess; }
inline cudaError_t cudaMalloc(void **p, size_t n) { *p = std::aligned_alloc(256, (n + 255) / 256 * 256); return cudaSuccess; }
inline cudaError_t cudaFree(void *p) { std::free(p); return cudaSuccess; }
inline cudaError_t cudaMemcpy(void *to, const void *from, size_t n, cudaMemcpyKind) { std::memcpy(to, from, n); return cudaSuccess; }
inline cudaError_t cudaMemset(void *to, int v, size_t n) { std::memset(to, v, n); return cudaSuccess; }
inline cudaError_t cudaMemsetAsync(void *to, int v, size_t n, cudaStream_t) { return cudaMemset(to, v, n); }
inline cudaError_t cudaDeviceSynchronize() { return cudaGetLastError(); }
inline cudaError_t cudaEventCreate(cudaEvent_t *e) { *e = new FakeEvent; return cudaSuccess; }
inline cudaError_t cudaEventDestroy(cudaEvent_t e) { delete e; return cudaSuccess; }
inline cudaError_t cudaEventRecord(cudaEvent_t e, cudaStream_t) { e->at = std::chrono::steady_clock::now(); return cudaSuccess; }
inline cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
inline cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t a, cudaEvent_t b) {
  *ms = std::chrono::duration<float, std::milli>(b->at - a->at).count();
  return cudaSuccess;
}
inline cudaError_t cudaFuncSetAttribute(const void *, cudaFuncAttribute, int) { return cudaSuccess; }
template <typename T> cudaError_t cudaGetSymbolAddress(void **p, T &v) { *p = const_cast<void *>(static_cast<const void *>(&v)); return cudaSuccess; }
template <typename T> cudaError_t cudaGetSymbolSize(size_t *n, T &) { *n = sizeof(T); return cudaSuccess; }

// ---- arrays, texture and surface objects: what was asked for, kept for the test to look at --------------------------
enum cudaChannelFormatKind { cudaChannelFormatKindSigned, cudaChannelFormatKindUnsigned, cudaChannelFormatKindFloat };
struct cudaChannelFormatDesc { int x, y, z, w; cudaChannelFormatKind f; };
struct cudaExtent { size_t width, height, depth; };
struct cudaPos { size_t x, y, z; };
struct cudaPitchedPtr { void *ptr; size_t pitch, xsize, ysize; };
inline cudaExtent make_cudaExtent(size_t w, size_t h, size_t d) { return {w, h, d}; }
inline cudaPitchedPtr make_cudaPitchedPtr(void *p, size_t pitch, size_t x, size_t y) { return {p, pitch, x, y}; }
struct cudaArray { cudaChannelFormatDesc format; cudaExtent extent; unsigned flags; std::vector<char> texels; };
using cudaArray_t = cudaArray *;
constexpr unsigned cudaArrayLayered = 1, cudaArraySurfaceLoadStore = 2;
struct cudaMemcpy3DParms {
  cudaArray_t srcArray; cudaPos srcPos; cudaPitchedPtr srcPtr;
  cudaArray_t dstArray; cudaPos dstPos; cudaPitchedPtr dstPtr;
  cudaExtent extent; cudaMemcpyKind kind;
};
enum cudaResourceType { cudaResourceTypeArray, cudaResourceTypeMipmappedArray, cudaResourceTypeLinear, cudaResourceTypePitch2D };
struct cudaResourceDesc {
  cudaResourceType resType;
  union {
    struct { cudaArray_t array; } array;
    struct { void *devPtr; cudaChannelFormatDesc desc; size_t sizeInBytes; } linear;
    struct { void *devPtr; cudaChannelFormatDesc desc; size_t width, height, pitchInBytes; } pitch2D;
  } res;
};
enum cudaTextureAddressMode { cudaAddressModeWrap, cudaAddressModeClamp, cudaAddressModeMirror, cudaAddressModeBorder };
enum cudaTextureFilterMode { cudaFilterModePoint, cudaFilterModeLinear };
enum cudaTextureReadMode { cudaReadModeElementType, cudaReadModeNormalizedFloat };
struct cudaTextureDesc {
  cudaTextureAddressMode addressMode[3]; cudaTextureFilterMode filterMode; cudaTextureReadMode readMode; int normalizedCoords;
};
struct FakeObject { cudaResourceDesc resource; cudaTextureDesc reading; bool surface; };
using cudaTextureObject_t = unsigned long long;
using cudaSurfaceObject_t = unsigned long long;
static int fake_alive = 0;
inline size_t fake_texel(const cudaChannelFormatDesc &f) { return (f.x + f.y + f.z + f.w) / 8; }
inline size_t fake_one(size_t n) { return n ? n : 1; }
inline cudaError_t cudaMalloc3DArray(cudaArray_t *a, const cudaChannelFormatDesc *f, cudaExtent e, unsigned flags) {
  ++fake_alive;
  *a = new cudaArray{*f, e, flags, std::vector<char>(fake_texel(*f) * e.width * fake_one(e.height) * fake_one(e.depth))};
  return cudaSuccess;
}
inline cudaError_t cudaFreeArray(cudaArray_t a) { --fake_alive; delete a; return cudaSuccess; }
inline cudaError_t cudaMemcpy3D(const cudaMemcpy3DParms *p) {  // whole arrays only
  cudaArray *a = p->dstArray ? p->dstArray : p->srcArray;
  const size_t bytes = fake_texel(a->format) * p->extent.width * p->extent.height * p->extent.depth;
  if (bytes != a->texels.size()) return cudaErrorInvalidConfiguration;
  p->dstArray ? std::memcpy(a->texels.data(), p->srcPtr.ptr, bytes) : std::memcpy(p->dstPtr.ptr, a->texels.data(), bytes);
  return cudaSuccess;
}
inline cudaError_t cudaMallocPitch(void **p, size_t *pitch, size_t row, size_t rows) {
  *pitch = (row + 511) / 512 * 512;
  return cudaMalloc(p, *pitch * rows);
}
inline cudaError_t cudaMemcpy2D(void *to, size_t a, const void *from, size_t b, size_t row, size_t rows, cudaMemcpyKind) {
  for (size_t y = 0; y < rows; ++y) std::memcpy(static_cast<char *>(to) + y * a, static_cast<const char *>(from) + y * b, row);
  return cudaSuccess;
}
inline cudaError_t cudaCreateTextureObject(cudaTextureObject_t *t, const cudaResourceDesc *r, const cudaTextureDesc *d, const void *) {
  ++fake_alive;
  *t = reinterpret_cast<cudaTextureObject_t>(new FakeObject{*r, *d, false});
  return cudaSuccess;
}
inline cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t *s, const cudaResourceDesc *r) {
  ++fake_alive;
  *s = reinterpret_cast<cudaSurfaceObject_t>(new FakeObject{*r, {}, true});
  return cudaSuccess;
}
inline cudaError_t cudaDestroyTextureObject(cudaTextureObject_t t) { --fake_alive; delete reinterpret_cast<FakeObject *>(t); return cudaSuccess; }
inline cudaError_t cudaDestroySurfaceObject(cudaSurfaceObject_t s) { return cudaDestroyTextureObject(s); }

template <typename... P, std::size_t... I>
void fake_call(void (*f)(P...), void **a, std::index_sequence<I...>) { f(*static_cast<std::remove_reference_t<P> *>(a[I])...); }

template <typename... P>
cudaError_t fake_launch(void (*f)(P...), dim3 grid, dim3 block, void **a) {
  if (block.x * block.y * block.z > 1024) return cudaErrorInvalidConfiguration;
  gridDim = grid;
  blockDim = block;
  for (blockIdx.z = 0; blockIdx.z < grid.z; ++blockIdx.z)
    for (blockIdx.y = 0; blockIdx.y < grid.y; ++blockIdx.y)
      for (blockIdx.x = 0; blockIdx.x < grid.x; ++blockIdx.x)
        for (threadIdx.z = 0; threadIdx.z < block.z; ++threadIdx.z)
          for (threadIdx.y = 0; threadIdx.y < block.y; ++threadIdx.y)
            for (threadIdx.x = 0; threadIdx.x < block.x; ++threadIdx.x) fake_call(f, a, std::index_sequence_for<P...>{});
  return cudaSuccess;
}
// The function's type is known where the harness launches it.
#define cudaLaunchKernel(function, grid, block, arguments, shared, stream) ((void)(function), fake_launch(porter_function, grid, block, arguments))
#define cudaLaunchCooperativeKernel cudaLaunchKernel
