// The warp size as ported code counts it, for host code that asks the device.
// SPDX-License-Identifier: Apache-2.0
#ifndef PORTER_WARP_QUERY_HPP
#define PORTER_WARP_QUERY_HPP

#include <hip/hip_runtime_api.h>

#include "warp32.hpp"

namespace porter {

/// Stands for `hipDeviceGetAttribute(value, hipDeviceAttributeWarpSize, device)`: the width that the ported kernels are
/// written for, 32 unless they were widened, whatever the hardware has.
inline hipError_t get_warp_size(int* value, int /*device*/, int width = warpSize) {
  *value = width;
  return hipSuccess;
}

}  // namespace porter

#endif  // PORTER_WARP_QUERY_HPP
