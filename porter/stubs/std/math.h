// The C and C++ mathematics functions; CUDA makes all of them usable on host and device.
#pragma once
#include "core.h"
#pragma clang force_cuda_host_device begin

#define M_E 2.7182818284590452354
#define M_LOG2E 1.4426950408889634074
#define M_LOG10E 0.43429448190325182765
#define M_LN2 0.69314718055994530942
#define M_LN10 2.30258509299404568402
#define M_PI 3.14159265358979323846
#define M_PI_2 1.57079632679489661923
#define M_PI_4 0.78539816339744830962
#define M_1_PI 0.31830988618379067154
#define M_2_PI 0.63661977236758134308
#define M_2_SQRTPI 1.12837916709551257390
#define M_SQRT2 1.41421356237309504880
#define M_SQRT1_2 0.70710678118654752440
#define HUGE_VAL __builtin_huge_val()
#define HUGE_VALF __builtin_huge_valf()
#define INFINITY __builtin_inff()
#define NAN __builtin_nanf("")
#define MAXFLOAT FLT_MAX
#define FP_NAN 0
#define FP_INFINITE 1
#define FP_ZERO 2
#define FP_SUBNORMAL 3
#define FP_NORMAL 4
typedef float float_t;
typedef double double_t;

namespace porter_stub {
template <bool, class T> struct only_if {};
template <class T> struct only_if<true, T> { typedef T type; };
template <class T> using if_integral = typename only_if<__is_integral(T), double>::type;
template <class T> using if_mixed = typename only_if<__is_arithmetic(T), double>::type;
}  // namespace porter_stub

#define PORTER_ONE(R, name)                                                                 \
  extern "C" R name(double);                                                                \
  namespace std {                                                                           \
  float name(float);                                                                        \
  using ::name;                                                                             \
  template <class T> porter_stub::if_integral<T> name(T);                                   \
  }                                                                                         \
  using std::name;
#define PORTER_MATH1(name) \
  extern "C" float name##f(float); \
  extern "C" long double name##l(long double); \
  PORTER_ONE(double, name)
#define PORTER_MATH2(name)                                                                  \
  extern "C" float name##f(float, float);                                                   \
  extern "C" double name(double, double);                                                   \
  namespace std {                                                                           \
  float name(float, float);                                                                 \
  using ::name;                                                                             \
  template <class A, class B, class = porter_stub::if_mixed<A>> porter_stub::if_mixed<B> name(A, B); \
  }                                                                                         \
  using std::name;
PORTER_MATH1(sqrt)
PORTER_MATH1(cbrt)
PORTER_MATH1(exp)
PORTER_MATH1(exp2)
PORTER_MATH1(expm1)
PORTER_MATH1(log)
PORTER_MATH1(log2)
PORTER_MATH1(log10)
PORTER_MATH1(log1p)
PORTER_MATH1(logb)
PORTER_MATH1(sin)
PORTER_MATH1(cos)
PORTER_MATH1(tan)
PORTER_MATH1(asin)
PORTER_MATH1(acos)
PORTER_MATH1(atan)
PORTER_MATH1(sinh)
PORTER_MATH1(cosh)
PORTER_MATH1(tanh)
PORTER_MATH1(asinh)
PORTER_MATH1(acosh)
PORTER_MATH1(atanh)
PORTER_MATH1(erf)
PORTER_MATH1(erfc)
PORTER_MATH1(tgamma)
PORTER_MATH1(lgamma)
PORTER_MATH1(ceil)
PORTER_MATH1(floor)
PORTER_MATH1(trunc)
PORTER_MATH1(round)
PORTER_MATH1(rint)
PORTER_MATH1(nearbyint)
PORTER_MATH1(fabs)
PORTER_MATH2(pow)
PORTER_MATH2(atan2)
PORTER_MATH2(fmod)
PORTER_MATH2(remainder)
PORTER_MATH2(hypot)
PORTER_MATH2(fmax)
PORTER_MATH2(fmin)
PORTER_MATH2(fdim)
PORTER_MATH2(copysign)
PORTER_MATH2(nextafter)
#undef PORTER_ONE
#undef PORTER_MATH1
#undef PORTER_MATH2

extern "C" {
double ldexp(double, int);
float ldexpf(float, int);
double scalbn(double, int);
float scalbnf(float, int);
double frexp(double, int *);
float frexpf(float, int *);
double modf(double, double *);
float modff(float, float *);
double remquo(double, double, int *);
float remquof(float, float, int *);
double fma(double, double, double);
float fmaf(float, float, float);
int ilogb(double);
int ilogbf(float);
long lround(double);
long lroundf(float);
long lrint(double);
long lrintf(float);
long long llround(double);
long long llroundf(float);
long long llrint(double);
long long llrintf(float);
double nan(const char *);
float nanf(const char *);
double j0(double);
double j1(double);
double jn(int, double);
double y0(double);
double y1(double);
double yn(int, double);
float j0f(float);
float j1f(float);
float y0f(float);
float y1f(float);
void sincos(double, double *, double *);
void sincosf(float, float *, float *);
int abs(int);
long labs(long);
long long llabs(long long);
int isinff(float);
int isnanf(float);
}
float ldexp(float, int);
float frexp(float, int *);
float modf(float, float *);
float fma(float, float, float);
void sincos(float, float *, float *);
float abs(float);
double abs(double);
long abs(long);
long long abs(long long);
long lround(float);
long long llround(float);
long lrint(float);
template <class T, class = porter_stub::if_mixed<T>> bool isnan(T);
template <class T, class = porter_stub::if_mixed<T>> bool isinf(T);
template <class T, class = porter_stub::if_mixed<T>> bool isfinite(T);
template <class T, class = porter_stub::if_mixed<T>> bool isnormal(T);
template <class T, class = porter_stub::if_mixed<T>> bool signbit(T);
template <class T, class = porter_stub::if_mixed<T>> int fpclassify(T);
namespace std {
using ::abs;
using ::fma;
using ::fmaf;
using ::fpclassify;
using ::frexp;
using ::ilogb;
using ::isfinite;
using ::isinf;
using ::isnan;
using ::isnormal;
using ::labs;
using ::ldexp;
using ::llabs;
using ::llrint;
using ::llround;
using ::lrint;
using ::lround;
using ::modf;
using ::nan;
using ::nanf;
using ::remquo;
using ::scalbn;
using ::signbit;
#define PORTER_IN_STD(name) using ::name##f;
PORTER_IN_STD(sqrt) PORTER_IN_STD(exp) PORTER_IN_STD(log) PORTER_IN_STD(pow) PORTER_IN_STD(fabs)
PORTER_IN_STD(sin) PORTER_IN_STD(cos) PORTER_IN_STD(fmax) PORTER_IN_STD(fmin) PORTER_IN_STD(floor)
PORTER_IN_STD(ceil) PORTER_IN_STD(round) PORTER_IN_STD(tanh) PORTER_IN_STD(tan) PORTER_IN_STD(atan2)
#undef PORTER_IN_STD
template <class T> T lerp(T, T, T);
}  // namespace std
#pragma clang force_cuda_host_device end
