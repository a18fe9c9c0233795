// CubDebugExit, which hipCUB lacks: says what failed where, and ends the program.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hip/hip_runtime_api.h>

#include <stdio.h>
#include <stdlib.h>

namespace porter {

inline bool cub_failed(hipError_t error, char const* file, int line) {
  if (error == hipSuccess) return false;
  fprintf(stderr, "HIP error %d [%s, %d]: %s\n", static_cast<int>(error), file, line, hipGetErrorString(error));
  return true;
}

} // namespace porter

// As in CUB an if with its block: some callers write no semicolon behind it.
#define PORTER_CUB_DEBUG_EXIT(e)                                            \
  if (porter::cub_failed(static_cast<hipError_t>(e), __FILE__, __LINE__)) { \
    exit(1);                                                                \
  }
