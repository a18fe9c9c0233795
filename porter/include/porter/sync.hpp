// Waiting within a kernel. SPDX-License-Identifier: Apache-2.0
#ifndef PORTER_SYNC_HPP
#define PORTER_SYNC_HPP

#if defined(__HIP__) || defined(__HIPCC__)

#include <hip/hip_runtime.h>

namespace porter {

/// Sleeps for about as long as asked: the clock of gfx942 ticks every 10 ns, and one sleep takes 64 core clocks.
__device__ inline void nanosleep(unsigned nanoseconds) {
  long long const begin = wall_clock64();
  do {
    __builtin_amdgcn_s_sleep(1);
  } while ((wall_clock64() - begin) * 10 < static_cast<long long>(nanoseconds));
}

}  // namespace porter

#endif  // HIP
#endif  // PORTER_SYNC_HPP
