// Execution control of CUDA that HIP lacks: traps, profiler triggers, the nanosecond clock.
// SPDX-License-Identifier: Apache-2.0
#ifndef PORTER_DEVICE_HPP
#define PORTER_DEVICE_HPP

#if defined(__HIP__) || defined(__HIPCC__)

#include <hip/hip_runtime.h>

namespace porter {

/// Aborts the kernel with an error.
__device__ inline void trap() { __builtin_trap(); }
/// Stops in a debugger.
__device__ inline void brkpt(int = 0) { __builtin_debugtrap(); }
/// There are no profiler counters to trigger.
__device__ inline void prof_trigger(int) {}

/// PTX %globaltimer: nanoseconds of a clock that all blocks share. It counts at 100 MHz on MI200 and later.
__device__ inline unsigned long long globaltimer() { return static_cast<unsigned long long>(wall_clock64()) * 10ull; }

}  // namespace porter

#endif  // HIP
#endif  // PORTER_DEVICE_HPP
