// Functions of long double for both sides: HIP has them on the host alone, and nvcc computes them in double on the device.
#pragma once

#include <cmath>

#include <hip/hip_runtime.h>

#if defined(__HIP_DEVICE_COMPILE__) && __HIP_DEVICE_COMPILE__
#define PORTER_LONG_ONE(name)                                                                                          \
  __host__ __device__ inline long double name##l(long double x) { return ::name(static_cast<double>(x)); }
#define PORTER_LONG_TWO(name)                                                                                          \
  __host__ __device__ inline long double name##l(long double x, long double y) {                                       \
    return ::name(static_cast<double>(x), static_cast<double>(y));                                                     \
  }
#else
#define PORTER_LONG_ONE(name)                                                                                          \
  __host__ __device__ inline long double name##l(long double x) { return std::name(x); }
#define PORTER_LONG_TWO(name)                                                                                          \
  __host__ __device__ inline long double name##l(long double x, long double y) { return std::name(x, y); }
#endif

namespace porter {

PORTER_LONG_ONE(exp)
PORTER_LONG_ONE(exp2)
PORTER_LONG_ONE(expm1)
PORTER_LONG_ONE(log)
PORTER_LONG_ONE(log2)
PORTER_LONG_ONE(log10)
PORTER_LONG_ONE(log1p)
PORTER_LONG_ONE(sqrt)
PORTER_LONG_ONE(cbrt)
PORTER_LONG_ONE(sin)
PORTER_LONG_ONE(cos)
PORTER_LONG_ONE(tan)
PORTER_LONG_ONE(asin)
PORTER_LONG_ONE(acos)
PORTER_LONG_ONE(atan)
PORTER_LONG_ONE(sinh)
PORTER_LONG_ONE(cosh)
PORTER_LONG_ONE(tanh)
PORTER_LONG_ONE(asinh)
PORTER_LONG_ONE(acosh)
PORTER_LONG_ONE(atanh)
PORTER_LONG_ONE(erf)
PORTER_LONG_ONE(erfc)
PORTER_LONG_ONE(floor)
PORTER_LONG_ONE(ceil)
PORTER_LONG_ONE(round)
PORTER_LONG_ONE(trunc)
PORTER_LONG_ONE(rint)
PORTER_LONG_ONE(nearbyint)
PORTER_LONG_ONE(fabs)
PORTER_LONG_TWO(pow)
PORTER_LONG_TWO(fmod)
PORTER_LONG_TWO(fmax)
PORTER_LONG_TWO(fmin)
PORTER_LONG_TWO(hypot)
PORTER_LONG_TWO(atan2)
PORTER_LONG_TWO(copysign)

} // namespace porter

#undef PORTER_LONG_ONE
#undef PORTER_LONG_TWO
