// Functions of CUDA's driver API that HIP lacks before some version, or takes other arguments for. HIP's own names, and
// as right with later versions. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hip/hip_runtime_api.h>

namespace porter {

typedef unsigned cuuint32_t;
typedef unsigned long long cuuint64_t;

enum { sharedmem_carveout_default = -1, sharedmem_carveout_max_l1 = 0, sharedmem_carveout_max_shared = 100 };

/// The null stream waits for the other blocking streams, and they for it, unless it is made one per thread.
constexpr hipStream_t stream_legacy = nullptr;

inline hipError_t hipDrvGetErrorString(hipError_t error, const char **text) {
  if (text == nullptr) return hipErrorInvalidValue;
  *text = ::hipGetErrorString(error);
  return hipSuccess;
}

inline hipError_t hipDrvGetErrorName(hipError_t error, const char **name) {
  if (name == nullptr) return hipErrorInvalidValue;
  *name = ::hipGetErrorName(error);
  return hipSuccess;
}

// The source is not written to, though HIP declares it so.

inline hipError_t hipMemcpyHtoD(hipDeviceptr_t to, const void *from, size_t bytes) {
  return ::hipMemcpyHtoD(to, const_cast<void *>(from), bytes);
}

inline hipError_t hipMemcpyHtoDAsync(hipDeviceptr_t to, const void *from, size_t bytes, hipStream_t stream) {
  return ::hipMemcpyHtoDAsync(to, const_cast<void *>(from), bytes, stream);
}

/// What a context is made with since CUDA 12.5; hipCtxCreate below is found by it, where four arguments are given.
struct CUctxCreateParams {
  void *execAffinityParams;
  int numExecAffinityParams;
  void *cigParams;
};

inline hipError_t hipCtxCreate(hipCtx_t *context, CUctxCreateParams *parameters, unsigned flags, hipDevice_t device) {
  if (parameters != nullptr && (parameters->numExecAffinityParams != 0 || parameters->cigParams != nullptr))
    return hipErrorNotSupported;
  return ::hipCtxCreate(context, flags, device);
}

}  // namespace porter
