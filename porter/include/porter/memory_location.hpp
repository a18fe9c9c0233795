// CUDA 13 names the target of a prefetch or an advice with a struct, HIP with a device number.
#pragma once

#include <hip/hip_runtime.h>

namespace porter {

inline int device_of(const hipMemLocation &location) {
  return location.type == hipMemLocationTypeDevice ? location.id : hipCpuDeviceId;
}

}  // namespace porter
