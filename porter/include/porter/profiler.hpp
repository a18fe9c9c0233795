// Start and stop of the profiler. HIP declares them and answers with hipErrorNotSupported: that stays the last error,
// and whoever asks for it next, rocThrust for one, takes it for a fault. These do nothing; rocprofv3 collects the whole
// program, or what stands between roctxProfilerResume and roctxProfilerPause of rocprofiler-sdk-roctx.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hip/hip_runtime_api.h>

namespace porter {

inline hipError_t profiler_start() { return hipSuccess; }
inline hipError_t profiler_stop() { return hipSuccess; }

}  // namespace porter
