// Arithmetic and comparisons of __half and __half2 in host code: CUDA has them since 12.2, HIP in device code only.
//
// The operators are templates for the host alone, so that HIP's own are preferred wherever they can be called.
#pragma once

#include <hip/hip_fp16.h>
#include <hip/hip_runtime_api.h>

#if !defined(__HIPCC_RTC__)
#include <type_traits>

namespace porter {
namespace half_host {

template <class T, class R = T>
using if_half = typename std::enable_if<std::is_same<T, __half>::value || std::is_same<T, __half2>::value, R>::type;

template <class T, class R = T>
using if_scalar = typename std::enable_if<std::is_same<T, __half>::value, R>::type;

#if !defined(__clang__) || !defined(__HIP__)
// For other compilers HIP's types are their bits, and float32 is wide enough that rounding twice is rounding once.
struct two {
  float x, y;
};
inline two operator+(two a, two b) { return {a.x + b.x, a.y + b.y}; }
inline two operator-(two a, two b) { return {a.x - b.x, a.y - b.y}; }
inline two operator*(two a, two b) { return {a.x * b.x, a.y * b.y}; }
inline two operator/(two a, two b) { return {a.x / b.x, a.y / b.y}; }
inline two operator-(two a) { return {-a.x, -a.y}; }

inline float value(const __half &a) { return __half2float(a); }
inline two value(const __half2 &a) { return {__half2float(a.x), __half2float(a.y)}; }

template <class T>
inline T half_of(float v) {
  return __float2half(v);
}
template <class T>
inline T half_of(two v) {
  return T(__float2half(v.x), __float2half(v.y));
}
#else
inline __host__ _Float16 value(__half a) { return static_cast<__half_raw>(a).data; }
inline __host__ decltype(__half2_raw::data) value(__half2 a) { return static_cast<__half2_raw>(a).data; }

template <class T, class V>
inline __host__ T half_of(V v) {
  typename std::conditional<std::is_same<T, __half>::value, __half_raw, __half2_raw>::type raw;
  raw.data = v;
  return T(raw);
}
#endif

}  // namespace half_host
}  // namespace porter

template <class T>
inline __host__ porter::half_host::if_half<T> operator+(const T &a, const T &b) {
  return porter::half_host::half_of<T>(porter::half_host::value(a) + porter::half_host::value(b));
}
template <class T>
inline __host__ porter::half_host::if_half<T> operator-(const T &a, const T &b) {
  return porter::half_host::half_of<T>(porter::half_host::value(a) - porter::half_host::value(b));
}
template <class T>
inline __host__ porter::half_host::if_half<T> operator*(const T &a, const T &b) {
  return porter::half_host::half_of<T>(porter::half_host::value(a) * porter::half_host::value(b));
}
template <class T>
inline __host__ porter::half_host::if_half<T> operator/(const T &a, const T &b) {
  return porter::half_host::half_of<T>(porter::half_host::value(a) / porter::half_host::value(b));
}
template <class T>
inline __host__ porter::half_host::if_half<T> operator-(const T &a) {
  return porter::half_host::half_of<T>(-porter::half_host::value(a));
}

template <class T>
inline __host__ porter::half_host::if_half<T, T &> operator+=(T &a, const T &b) {
  return a = porter::half_host::half_of<T>(porter::half_host::value(a) + porter::half_host::value(b));
}
template <class T>
inline __host__ porter::half_host::if_half<T, T &> operator-=(T &a, const T &b) {
  return a = porter::half_host::half_of<T>(porter::half_host::value(a) - porter::half_host::value(b));
}
template <class T>
inline __host__ porter::half_host::if_half<T, T &> operator*=(T &a, const T &b) {
  return a = porter::half_host::half_of<T>(porter::half_host::value(a) * porter::half_host::value(b));
}
template <class T>
inline __host__ porter::half_host::if_half<T, T &> operator/=(T &a, const T &b) {
  return a = porter::half_host::half_of<T>(porter::half_host::value(a) / porter::half_host::value(b));
}

template <class T>
inline __host__ porter::half_host::if_scalar<T, bool> operator==(const T &a, const T &b) {
  return porter::half_host::value(a) == porter::half_host::value(b);
}
template <class T>
inline __host__ porter::half_host::if_scalar<T, bool> operator!=(const T &a, const T &b) {
  return porter::half_host::value(a) != porter::half_host::value(b);
}
template <class T>
inline __host__ porter::half_host::if_scalar<T, bool> operator<(const T &a, const T &b) {
  return porter::half_host::value(a) < porter::half_host::value(b);
}
template <class T>
inline __host__ porter::half_host::if_scalar<T, bool> operator>(const T &a, const T &b) {
  return porter::half_host::value(a) > porter::half_host::value(b);
}
template <class T>
inline __host__ porter::half_host::if_scalar<T, bool> operator<=(const T &a, const T &b) {
  return porter::half_host::value(a) <= porter::half_host::value(b);
}
template <class T>
inline __host__ porter::half_host::if_scalar<T, bool> operator>=(const T &a, const T &b) {
  return porter::half_host::value(a) >= porter::half_host::value(b);
}
#endif
