/* Names that CUDA 13 took away, for originals that were written before it: what their own toolkits have. The members of
   cudaDeviceProp are put into a copy of the toolkit's driver_types.h (removed.py). */

#pragma once

#include <cuda.h>
#include <cuda_runtime.h>

static inline cudaError_t cudaThreadSynchronize(void) { return cudaDeviceSynchronize(); }
static inline cudaError_t cudaThreadExit(void) { return cudaDeviceReset(); }
static inline cudaError_t cudaThreadSetLimit(enum cudaLimit limit, size_t value) { return cudaDeviceSetLimit(limit, value); }
static inline cudaError_t cudaThreadGetLimit(size_t *value, enum cudaLimit limit) { return cudaDeviceGetLimit(value, limit); }
static inline cudaError_t cudaThreadGetCacheConfig(enum cudaFuncCache *config) { return cudaDeviceGetCacheConfig(config); }
#ifndef __cplusplus
static inline cudaError_t cudaThreadSetCacheConfig(enum cudaFuncCache config) { return cudaDeviceSetCacheConfig(config); }
#endif

#ifdef __cplusplus

static inline cudaError_t cudaThreadSetCacheConfig(cudaFuncCache config) { return cudaDeviceSetCacheConfig(config); }

static inline cudaMemLocation porter_location(int device) {
    cudaMemLocation place = {};
    place.type = device == cudaCpuDeviceId ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
    place.id = device == cudaCpuDeviceId ? 0 : device;
    return place;
}
static inline cudaError_t cudaMemPrefetchAsync(const void *at, size_t count, int device, cudaStream_t stream = 0) {
    return cudaMemPrefetchAsync(at, count, porter_location(device), 0u, stream);
}
static inline cudaError_t cudaMemAdvise(const void *at, size_t count, cudaMemoryAdvise advice, int device) {
    return cudaMemAdvise(at, count, advice, porter_location(device));
}
static inline CUresult cuCtxCreate_v4(CUcontext *context, unsigned flags, CUdevice device) {
    return cuCtxCreate_v4(context, nullptr, flags, device);
}

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 700
/* Of the lanes that are there, as before compute capability 7.0. */
template <class T> static __device__ __forceinline__ T __shfl(T value, int lane, int width = 32) {
    return __shfl_sync(__activemask(), value, lane, width);
}
template <class T> static __device__ __forceinline__ T __shfl_up(T value, unsigned delta, int width = 32) {
    return __shfl_up_sync(__activemask(), value, delta, width);
}
template <class T> static __device__ __forceinline__ T __shfl_down(T value, unsigned delta, int width = 32) {
    return __shfl_down_sync(__activemask(), value, delta, width);
}
template <class T> static __device__ __forceinline__ T __shfl_xor(T value, int mask, int width = 32) {
    return __shfl_xor_sync(__activemask(), value, mask, width);
}
#endif

#endif
