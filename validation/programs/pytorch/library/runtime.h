/* The runtime that PyTorch's CUDA half stands on, by the names of CUDA: porter's drop-in library of one side. */
#pragma once

#ifdef USE_ROCM
#include <hip/hip_runtime_api.h>
#define PORTER_RUNTIME(name) hip##name
#define cudaError_t hipError_t
#define cudaSuccess hipSuccess
#define cudaStream_t hipStream_t
#define cudaDeviceProp hipDeviceProp_t
#define cudaStreamNonBlocking hipStreamNonBlocking
#define cudaErrorNotReady hipErrorNotReady
#define cudaErrorMemoryAllocation hipErrorOutOfMemory
#define porter_allocate_host(at, bytes) hipHostMalloc(at, bytes, 0)
#define porter_free_host hipHostFree
#else
#include <cuda_runtime_api.h>
#define PORTER_RUNTIME(name) cuda##name
#define porter_allocate_host(at, bytes) cudaMallocHost(at, bytes)
#define porter_free_host cudaFreeHost
#endif

#include <cstdint>
#include <string>

extern "C" int porter_refuses(const char *call, const char *what);
extern "C" void porter_opens(void);
extern "C" void porter_wrote(const void *at, uint64_t bytes);

namespace porter {
/* What PyTorch's CUDA library has and this one lacks: told, kept for the report, and an error. */
[[noreturn]] void unsupported(const char *what);
struct Memory {
    int64_t current, peak, total, freed, allocations;
};
extern Memory memory;
} // namespace porter
