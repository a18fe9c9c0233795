// Launches with attributes (cudaLaunchKernelEx and its kin), with CUDA's names and numbers of the attributes, for every
// version of HIP. SPDX-License-Identifier: Apache-2.0
//
// Programmatic dependent launch lets a kernel begin before the one ahead of it in the stream has ended, as far as
// cudaGridDependencySynchronize(). Here a kernel begins after all that, which is what that call waits for: the results
// are the same, the overlap is lost. Hints (priorities, cache windows, carveouts) are left aside. Clusters of blocks do
// not exist on gfx942: a launch that asks for one of more than one block is refused.
#ifndef PORTER_LAUNCH_HPP
#define PORTER_LAUNCH_HPP

#if defined(__HIP__) || defined(__HIPCC__)

#include <hip/hip_runtime.h>

namespace porter {

/// All blocks of the kernels before have ended, and their writes are seen: the stream's order.
__device__ inline void grid_dependency_synchronize() {}

/// Nothing waits for it: what comes next in the stream begins when this kernel has ended.
__device__ inline void trigger_programmatic_launch_completion() {}

}  // namespace porter

#endif  // HIP

#if !defined(__HIPCC_RTC__)

#include <hip/hip_runtime_api.h>

#include <cstddef>
#include <utility>

namespace porter {

enum launch_attribute_id {
  launch_attribute_ignore = 0,
  launch_attribute_access_policy_window = 1,
  launch_attribute_cooperative = 2,
  launch_attribute_synchronization_policy = 3,
  launch_attribute_cluster_dimension = 4,
  launch_attribute_cluster_scheduling_policy_preference = 5,
  launch_attribute_programmatic_stream_serialization = 6,
  launch_attribute_programmatic_event = 7,
  launch_attribute_priority = 8,
  launch_attribute_mem_sync_domain_map = 9,
  launch_attribute_mem_sync_domain = 10,
  launch_attribute_preferred_cluster_dimension = 11,
  launch_attribute_launch_completion_event = 12,
  launch_attribute_device_updatable_kernel_node = 13,
  launch_attribute_preferred_shared_memory_carveout = 14,
  launch_attribute_nvlink_util_centric_scheduling = 16
};

union launch_attribute_value {
  char pad[64];
  hipAccessPolicyWindow accessPolicyWindow;
  int cooperative;
  int syncPolicy;
  struct {
    unsigned x, y, z;
  } clusterDim;
  int clusterSchedulingPolicyPreference;
  int programmaticStreamSerializationAllowed;
  struct {
    hipEvent_t event;
    int flags;
    int triggerAtBlockStart;
  } programmaticEvent;
  int priority;
  struct {
    unsigned char default_, remote;
  } memSyncDomainMap;
  int memSyncDomain;
  struct {
    unsigned x, y, z;
  } preferredClusterDim;
  struct {
    hipEvent_t event;
    int flags;
  } launchCompletionEvent;
  struct {
    int deviceUpdatable;
    void *devNode;
  } deviceUpdatableKernelNode;
  unsigned sharedMemCarveout;
  unsigned nvlinkUtilCentricScheduling;
};

/// cudaLaunchAttribute
struct launch_attribute {
  launch_attribute_id id;
  launch_attribute_value val;
};

/// cudaLaunchConfig_t
struct launch_config {
  dim3 gridDim, blockDim;
  std::size_t dynamicSmemBytes;
  hipStream_t stream;
  launch_attribute *attrs;
  unsigned numAttrs;
};

/// CUlaunchAttribute
struct drv_launch_attribute {
  launch_attribute_id id;
  launch_attribute_value value;
};

/// CUlaunchConfig
struct drv_launch_config {
  unsigned gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ, sharedMemBytes;
  hipStream_t hStream;
  drv_launch_attribute *attrs;
  unsigned numAttrs;
};

namespace detail {

inline launch_attribute_value const &value_of(launch_attribute const &attribute) { return attribute.val; }
inline launch_attribute_value const &value_of(drv_launch_attribute const &attribute) { return attribute.value; }

inline bool is_one_block(unsigned x, unsigned y, unsigned z) { return x <= 1 && y <= 1 && z <= 1; }

/// What the attributes ask for that has to be done or refused.
template <class Config> hipError_t read(Config const *config, bool *cooperative) {
  *cooperative = false;
  if (config == nullptr || (config->attrs == nullptr && config->numAttrs != 0)) return hipErrorInvalidValue;
  for (unsigned i = 0; i < config->numAttrs; ++i) {
    launch_attribute_value const &value = value_of(config->attrs[i]);
    switch (config->attrs[i].id) {
      case launch_attribute_cooperative:
        *cooperative = value.cooperative != 0;
        break;
      case launch_attribute_cluster_dimension:
        if (!is_one_block(value.clusterDim.x, value.clusterDim.y, value.clusterDim.z)) return hipErrorNotSupported;
        break;
      case launch_attribute_device_updatable_kernel_node:
        if (value.deviceUpdatableKernelNode.deviceUpdatable != 0) return hipErrorNotSupported;
        break;
      default:
        break;
    }
  }
  return hipSuccess;
}

/// Events that CUDA records when blocks begin or trigger them are recorded when the kernel has ended: later, never lost.
template <class Attribute> hipError_t record(Attribute const *attributes, unsigned count, hipStream_t stream) {
  for (unsigned i = 0; i < count; ++i) {
    launch_attribute_value const &value = value_of(attributes[i]);
    hipEvent_t event = nullptr;
    if (attributes[i].id == launch_attribute_programmatic_event) event = value.programmaticEvent.event;
    if (attributes[i].id == launch_attribute_launch_completion_event) event = value.launchCompletionEvent.event;
    if (event == nullptr) continue;
    hipError_t const status = hipEventRecord(event, stream);
    if (status != hipSuccess) return status;
  }
  return hipSuccess;
}

inline hipError_t launch(launch_config const *config, void const *kernel, void **arguments) {
  bool cooperative;
  hipError_t status = read(config, &cooperative);
  if (status != hipSuccess) return status;
  status = cooperative ? hipLaunchCooperativeKernel(kernel, config->gridDim, config->blockDim, arguments,
                                                    static_cast<unsigned>(config->dynamicSmemBytes), config->stream)
                       : hipLaunchKernel(kernel, config->gridDim, config->blockDim, arguments, config->dynamicSmemBytes,
                                         config->stream);
  return status == hipSuccess ? record(config->attrs, config->numAttrs, config->stream) : status;
}

inline hipError_t cooperative(drv_launch_config const *config, hipFunction_t kernel, void **arguments, void **extra) {
#if HIP_VERSION >= 50500000
  if (extra != nullptr) return hipErrorNotSupported;
  return hipModuleLaunchCooperativeKernel(kernel, config->gridDimX, config->gridDimY, config->gridDimZ,
                                          config->blockDimX, config->blockDimY, config->blockDimZ,
                                          config->sharedMemBytes, config->hStream, arguments);
#else
  (void)config, (void)kernel, (void)arguments, (void)extra;
  return hipErrorNotSupported;
#endif
}

template <class... P> hipError_t launch_values(launch_config const *config, void (*kernel)(P...), P... values) {
  void *arguments[sizeof...(P) + 1] = {const_cast<void *>(static_cast<void const volatile *>(&values))..., nullptr};
  return launch(config, reinterpret_cast<void const *>(kernel), arguments);
}

}  // namespace detail

/// cudaLaunchKernelExC
inline hipError_t launch_kernel_ex_c(launch_config const *config, void const *kernel, void **arguments) {
  return detail::launch(config, kernel, arguments);
}

/// cudaLaunchKernelEx: what is given becomes what the kernel takes, as in a call.
template <class... P, class... A>
hipError_t launch_kernel_ex(launch_config const *config, void (*kernel)(P...), A &&...given) {
  return detail::launch_values<P...>(config, kernel, std::forward<A>(given)...);
}

/// cuLaunchKernelEx
inline hipError_t drv_launch_kernel_ex(drv_launch_config const *config, hipFunction_t kernel, void **arguments,
                                       void **extra) {
  bool cooperative;
  hipError_t status = detail::read(config, &cooperative);
  if (status != hipSuccess) return status;
  status = cooperative ? detail::cooperative(config, kernel, arguments, extra)
                       : hipModuleLaunchKernel(kernel, config->gridDimX, config->gridDimY, config->gridDimZ,
                                               config->blockDimX, config->blockDimY, config->blockDimZ,
                                               config->sharedMemBytes, config->hStream, arguments, extra);
  return status == hipSuccess ? detail::record(config->attrs, config->numAttrs, config->hStream) : status;
}

}  // namespace porter

#endif  // __HIPCC_RTC__

#endif  // PORTER_LAUNCH_HPP
