// Functions of CUDA's math library that CUDA also offers to host code and HIP to device code only.
#pragma once

#include <hip/hip_runtime.h>

#if !defined(__HIPCC_RTC__)
#include <cmath>
#endif

#if defined(__HIP_DEVICE_COMPILE__) && __HIP_DEVICE_COMPILE__
#define PORTER_HOST_MATH(name, parameters, on_device, on_host) \
  inline __host__ __device__ auto name parameters -> decltype(::on_device) { return ::on_device; }
#else
#define PORTER_HOST_MATH(name, parameters, on_device, on_host) \
  inline __host__ __device__ auto name parameters -> decltype(on_host) { return on_host; }
#endif

namespace porter {
namespace host_math {

constexpr double kPi = 3.14159265358979323846;

// sin(pi x) without the rounding of pi x: exact reduction to [-0.5, 0.5] first.
inline __host__ __device__ double sin_pi(double x) {
  if (!(x - x == 0)) return x - x;
  double r = std::fmod(x, 2.0);
  if (r > 1.0) r -= 2.0;
  if (r < -1.0) r += 2.0;
  if (r == 0.0 || r == 1.0 || r == -1.0) return std::copysign(0.0, x);
  if (r > 0.5) r = 1.0 - r;
  if (r < -0.5) r = -1.0 - r;
  return std::fabs(r) > 0.25 ? std::copysign(std::cos(kPi * (0.5 - std::fabs(r))), r) : std::sin(kPi * r);
}

inline __host__ __device__ double cos_pi(double x) {
  if (!(x - x == 0)) return x - x;
  double r = std::fabs(std::fmod(x, 2.0));
  if (r > 1.0) r = 2.0 - r;
  if (r == 0.5) return 0.0;
  return r > 0.75 ? -std::cos(kPi * (1.0 - r)) : r > 0.25 ? std::sin(kPi * (0.5 - r)) : std::cos(kPi * r);
}

inline __host__ __device__ double norm(double a, double b, double c, double d) {
  return std::hypot(std::hypot(a, b), std::hypot(c, d));
}

}  // namespace host_math

PORTER_HOST_MATH(rsqrt, (double x), rsqrt(x), 1.0 / std::sqrt(x))
PORTER_HOST_MATH(rsqrtf, (float x), rsqrtf(x), float(1.0 / std::sqrt(double(x))))
PORTER_HOST_MATH(rsqrt, (float x), rsqrtf(x), float(1.0 / std::sqrt(double(x))))
PORTER_HOST_MATH(rcbrt, (double x), rcbrt(x), 1.0 / std::cbrt(x))
PORTER_HOST_MATH(rcbrtf, (float x), rcbrtf(x), float(1.0 / std::cbrt(double(x))))
PORTER_HOST_MATH(rcbrt, (float x), rcbrtf(x), float(1.0 / std::cbrt(double(x))))
PORTER_HOST_MATH(sinpi, (double x), sinpi(x), host_math::sin_pi(x))
PORTER_HOST_MATH(sinpif, (float x), sinpif(x), float(host_math::sin_pi(x)))
PORTER_HOST_MATH(sinpi, (float x), sinpif(x), float(host_math::sin_pi(x)))
PORTER_HOST_MATH(cospi, (double x), cospi(x), host_math::cos_pi(x))
PORTER_HOST_MATH(cospif, (float x), cospif(x), float(host_math::cos_pi(x)))
PORTER_HOST_MATH(cospi, (float x), cospif(x), float(host_math::cos_pi(x)))
PORTER_HOST_MATH(rhypot, (double x, double y), rhypot(x, y), 1.0 / std::hypot(x, y))
PORTER_HOST_MATH(rhypotf, (float x, float y), rhypotf(x, y), float(1.0 / std::hypot(double(x), double(y))))
PORTER_HOST_MATH(rhypot, (float x, float y), rhypotf(x, y), float(1.0 / std::hypot(double(x), double(y))))
PORTER_HOST_MATH(norm3d, (double a, double b, double c), norm3d(a, b, c), host_math::norm(a, b, c, 0))
PORTER_HOST_MATH(norm3df, (float a, float b, float c), norm3df(a, b, c), float(host_math::norm(a, b, c, 0)))
PORTER_HOST_MATH(norm4d, (double a, double b, double c, double d), norm4d(a, b, c, d), host_math::norm(a, b, c, d))
PORTER_HOST_MATH(norm4df, (float a, float b, float c, float d), norm4df(a, b, c, d),
                 float(host_math::norm(a, b, c, d)))
PORTER_HOST_MATH(rnorm3d, (double a, double b, double c), rnorm3d(a, b, c), 1.0 / host_math::norm(a, b, c, 0))
PORTER_HOST_MATH(rnorm3df, (float a, float b, float c), rnorm3df(a, b, c), float(1.0 / host_math::norm(a, b, c, 0)))
PORTER_HOST_MATH(rnorm4d, (double a, double b, double c, double d), rnorm4d(a, b, c, d),
                 1.0 / host_math::norm(a, b, c, d))
PORTER_HOST_MATH(rnorm4df, (float a, float b, float c, float d), rnorm4df(a, b, c, d),
                 float(1.0 / host_math::norm(a, b, c, d)))
PORTER_HOST_MATH(normcdf, (double x), normcdf(x), 0.5 * std::erfc(-x * 0.70710678118654752440))
PORTER_HOST_MATH(normcdff, (float x), normcdff(x), float(0.5 * std::erfc(-double(x) * 0.70710678118654752440)))
PORTER_HOST_MATH(normcdf, (float x), normcdff(x), float(0.5 * std::erfc(-double(x) * 0.70710678118654752440)))
PORTER_HOST_MATH(fdividef, (float x, float y), fdividef(x, y), x / y)

}  // namespace porter

#undef PORTER_HOST_MATH
