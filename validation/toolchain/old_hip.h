// Before hip_runtime.h where HIP's headers (up to 5.x) reach atomicInc and atomicDec by the names of LLVM intrinsics that
// clang dropped with version 17: the headers' own functions are put aside, and these take their place.
#if defined(__HIP__) && !defined(PORTER_OLD_HIP_H) // not for a C file beside them
#define PORTER_OLD_HIP_H
#define atomicInc porter_dropped_atomicInc
#define atomicDec porter_dropped_atomicDec
#include <hip/hip_runtime.h>
#undef atomicInc
#undef atomicDec

__device__ inline unsigned int atomicInc(unsigned int* address, unsigned int limit) {
  return __builtin_amdgcn_atomic_inc32(address, limit, __ATOMIC_RELAXED, "agent");
}

__device__ inline unsigned int atomicDec(unsigned int* address, unsigned int limit) {
  return __builtin_amdgcn_atomic_dec32(address, limit, __ATOMIC_RELAXED, "agent");
}
#endif
