// After hip_runtime.h where the device libraries are older than HIP's headers: what these call and those lack.
#ifndef PORTER_OLD_LIBRARIES_H
#define PORTER_OLD_LIBRARIES_H
#include <hip/hip_runtime.h>

#if defined(__HIP_DEVICE_COMPILE__)
#define PORTER_OLD extern "C" __device__ __attribute__((weak, const))

extern "C" __device__ __attribute__((weak)) unsigned long long __ockl_steadyctr_u64() {
#if __has_builtin(__builtin_amdgcn_s_sendmsg_rtnl) && (defined(__GFX11__) || defined(__GFX12__))
  return __builtin_amdgcn_s_sendmsg_rtnl(0x83);
#else
  return __builtin_amdgcn_s_memrealtime();
#endif
}

namespace porter_old {
enum Direction { down, up, to_zero };  // rtn, rtp, rtz

template <class To, class Bits>
__device__ inline To stepped(To value, int by) {  // so many steps away from zero
  return __builtin_bit_cast(To, static_cast<Bits>(__builtin_bit_cast(Bits, value) + static_cast<Bits>(by)));
}

// Rounded to nearest, then one step back where that went the wrong way; NaN goes nowhere.
template <class To, class Bits, class From>
__device__ inline To narrowed(From x, Direction way) {
  const To near = static_cast<To>(x);
  const From back = static_cast<From>(near);
  const bool low = __builtin_signbit(x);
  if (way == to_zero ? (low ? back < x : back > x) : way == down ? back > x : back < x)
    return stepped<To, Bits>(near, (way == down && low) || (way == up && !low) ? 1 : -1);
  return near;
}

// The leading bits of an integer are exact; the rest says whether there is one more step.
template <class To, class Bits, int kept>
__device__ inline To whole(unsigned long long magnitude, bool negative, Direction way) {
  const int surplus = 64 - kept - (magnitude ? __builtin_clzll(magnitude) : 63);
  const unsigned long long lead = surplus > 0 ? magnitude >> surplus << surplus : magnitude;
  To value = static_cast<To>(lead);
  if (lead != magnitude && way != to_zero && (way == down) == negative) value = stepped<To, Bits>(value, 1);
  return negative ? -value : value;
}
template <class To, class Bits, int kept>
__device__ inline To whole(long long x, Direction way) {
  return whole<To, Bits, kept>(x < 0 ? 0 - static_cast<unsigned long long>(x) : x, x < 0, way);
}
}  // namespace porter_old

#define PORTER_ROUNDED(way, name)                                                                                        \
  PORTER_OLD _Float16 __ocml_cvt##name##_f16_f32(float x) {                                                              \
    return porter_old::narrowed<_Float16, unsigned short>(x, porter_old::way);                                           \
  }                                                                                                                      \
  PORTER_OLD float __ocml_cvt##name##_f32_f64(double x) { return porter_old::narrowed<float, unsigned>(x, porter_old::way); } \
  PORTER_OLD float __ocml_cvt##name##_f32_s32(int x) { return porter_old::whole<float, unsigned, 24>(x, porter_old::way); } \
  PORTER_OLD float __ocml_cvt##name##_f32_u32(uint32_t x) {                                                              \
    return porter_old::whole<float, unsigned, 24>(x, false, porter_old::way);                                            \
  }                                                                                                                      \
  PORTER_OLD float __ocml_cvt##name##_f32_s64(int64_t x) {                                                               \
    return porter_old::whole<float, unsigned, 24>(static_cast<long long>(x), porter_old::way);                           \
  }                                                                                                                      \
  PORTER_OLD float __ocml_cvt##name##_f32_u64(uint64_t x) {                                                              \
    return porter_old::whole<float, unsigned, 24>(x, false, porter_old::way);                                            \
  }                                                                                                                      \
  PORTER_OLD double __ocml_cvt##name##_f64_s64(int64_t x) {                                                              \
    return porter_old::whole<double, unsigned long long, 53>(static_cast<long long>(x), porter_old::way);                \
  }                                                                                                                      \
  PORTER_OLD double __ocml_cvt##name##_f64_u64(uint64_t x) {                                                             \
    return porter_old::whole<double, unsigned long long, 53>(x, false, porter_old::way);                                 \
  }
PORTER_ROUNDED(down, rtn)
PORTER_ROUNDED(up, rtp)
PORTER_ROUNDED(to_zero, rtz)
#undef PORTER_ROUNDED
#undef PORTER_OLD
#endif
#endif
