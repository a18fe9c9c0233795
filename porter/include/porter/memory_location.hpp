// CUDA 13 names the target of a prefetch or an advice with a struct, HIP with a device number.
#pragma once

#if !defined(__HIPCC_RTC__)

#include <hip/hip_runtime.h>

namespace porter {

inline int device_of(const hipMemLocation &location) {
  return location.type == hipMemLocationTypeDevice ? location.id : hipCpuDeviceId;
}

}  // namespace porter

#endif  // __HIPCC_RTC__
