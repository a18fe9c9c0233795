// After hip_runtime.h where the device libraries are older than HIP's headers: what wall_clock64() calls and they lack.
#ifndef PORTER_OLD_LIBRARIES_H
#define PORTER_OLD_LIBRARIES_H
#include <hip/hip_runtime.h>

#if defined(__HIP_DEVICE_COMPILE__)
extern "C" __device__ __attribute__((weak)) unsigned long long __ockl_steadyctr_u64() {
#if __has_builtin(__builtin_amdgcn_s_sendmsg_rtnl) && (defined(__GFX11__) || defined(__GFX12__))
  return __builtin_amdgcn_s_sendmsg_rtnl(0x83);
#else
  return __builtin_amdgcn_s_memrealtime();
#endif
}
#endif
#endif
