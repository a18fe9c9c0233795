// `__pipeline_memcpy_async` and its kin for GPUs without asynchronous copies into LDS: a copy is done when the call
// returns, so that what waits for it finds it there. Right, but no longer at the same time as other work.
// SPDX-License-Identifier: Apache-2.0
#ifndef PORTER_PIPELINE_HPP
#define PORTER_PIPELINE_HPP

#if defined(__HIP__) || defined(__HIPCC__)

#include <hip/hip_runtime.h>

#define PORTER_PIPELINE __device__ inline __attribute__((always_inline))

namespace porter {

/// Copies 4, 8 or 16 bytes; of them the last `zeros` are not read but zero.
PORTER_PIPELINE void pipeline_memcpy_async(void* to, void const* from, size_t size, size_t zeros = 0) {
  typedef unsigned __attribute__((ext_vector_type(2), may_alias)) words2;
  typedef unsigned __attribute__((ext_vector_type(4), may_alias)) words4;
  typedef unsigned __attribute__((may_alias)) word;
  if (zeros == 0 && size == 16) {
    *static_cast<words4*>(to) = *static_cast<words4 const*>(from);
  } else if (zeros == 0 && size == 8) {
    *static_cast<words2*>(to) = *static_cast<words2 const*>(from);
  } else if (zeros == 0 && size == 4) {
    *static_cast<word*>(to) = *static_cast<word const*>(from);
  } else {
    for (size_t i = 0; i < size; ++i)
      static_cast<unsigned char*>(to)[i] = i + zeros < size ? static_cast<unsigned char const*>(from)[i] : 0;
  }
}
PORTER_PIPELINE void pipeline_commit() {}
PORTER_PIPELINE void pipeline_wait_prior(size_t) {}

}  // namespace porter

#undef PORTER_PIPELINE

#endif  // HIP
#endif  // PORTER_PIPELINE_HPP
