// Half, bfloat16 and 8-bit floating point types with their operators and functions.
#pragma once
#include "device.h"

#pragma clang force_cuda_host_device begin
#define PORTER_OPERATORS(T)           \
  friend T operator+(const T &, const T &);     \
  friend T operator-(const T &, const T &);     \
  friend T operator*(const T &, const T &);     \
  friend T operator/(const T &, const T &);     \
  friend T &operator+=(T &, const T &);         \
  friend T &operator-=(T &, const T &);         \
  friend T &operator*=(T &, const T &);         \
  friend T &operator/=(T &, const T &);         \
  friend T &operator++(T &);                    \
  friend T operator++(T &, int);                \
  friend T operator-(const T &);                \
  friend T operator+(const T &);                \
  friend bool operator==(const T &, const T &);    \
  friend bool operator!=(const T &, const T &);    \
  friend bool operator<(const T &, const T &);     \
  friend bool operator>(const T &, const T &);     \
  friend bool operator<=(const T &, const T &);    \
  friend bool operator>=(const T &, const T &);
#define PORTER_SMALL_FLOAT(name, pair)                                              \
  struct __attribute__((aligned(2))) name##_raw { unsigned short x; };                 \
  struct __attribute__((aligned(4))) pair##_raw { unsigned short x, y; };              \
  struct __attribute__((aligned(2))) name {                                            \
    unsigned short porter_bits;                                                        \
    name() = default;                                                                  \
    constexpr name(const name##_raw &r) : porter_bits(r.x) {}                          \
    constexpr name(float) : porter_bits(0) {}                                          \
    constexpr name(double) : porter_bits(0) {}                                         \
    template <class T, class = porter_stub::if_integral<T>> constexpr name(T) : porter_bits(0) {} \
    constexpr operator float() const { return 0; }                                     \
    operator name##_raw() const;                                                       \
    template <class T> name &operator=(T);                                             \
    PORTER_OPERATORS(name)                                                             \
  };                                                                                   \
  struct __attribute__((aligned(4))) pair {                                            \
    name x, y;                                                                         \
    pair() = default;                                                                  \
    constexpr pair(name a, name b) : x(a), y(b) {}                                     \
    pair(const pair##_raw &);                                                          \
    operator pair##_raw() const;                                                       \
    PORTER_OPERATORS(pair)                                                             \
  };
PORTER_SMALL_FLOAT(__half, __half2)
PORTER_SMALL_FLOAT(__nv_bfloat16, __nv_bfloat162)
#undef PORTER_SMALL_FLOAT
#undef PORTER_OPERATORS
typedef __half half;
typedef __half2 half2;
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

#define PORTER_FUNCTIONS(T, V)                                                                  \
  V __halves2##T(T, T);                                                                         \
  T __low2##T(V);                                                                               \
  T __high2##T(V);                                                                              \
  bool __heq(T, T);                                                                             \
  bool __hne(T, T);                                                                             \
  bool __hlt(T, T);                                                                             \
  bool __hle(T, T);                                                                             \
  bool __hgt(T, T);                                                                             \
  bool __hge(T, T);                                                                             \
  bool __hisnan(T);                                                                             \
  int __hisinf(T);                                                                              \
  T __hadd(T, T);                                                                               \
  T __hsub(T, T);                                                                               \
  T __hmul(T, T);                                                                               \
  T __hdiv(T, T);                                                                               \
  T __hadd_rn(T, T);                                                                            \
  T __hsub_rn(T, T);                                                                            \
  T __hmul_rn(T, T);                                                                            \
  T __hadd_sat(T, T);                                                                           \
  T __hmul_sat(T, T);                                                                           \
  T __hfma(T, T, T);                                                                            \
  T __hfma_relu(T, T, T);                                                                       \
  T __hfma_sat(T, T, T);                                                                        \
  T __hneg(T);                                                                                  \
  T __habs(T);                                                                                  \
  T __hmax(T, T);                                                                               \
  T __hmin(T, T);                                                                               \
  T __hmax_nan(T, T);                                                                           \
  T __hmin_nan(T, T);                                                                           \
  V __hadd2(V, V);                                                                              \
  V __hsub2(V, V);                                                                              \
  V __hmul2(V, V);                                                                              \
  V __h2div(V, V);                                                                              \
  V __hadd2_rn(V, V);                                                                           \
  V __hmul2_rn(V, V);                                                                           \
  V __hadd2_sat(V, V);                                                                          \
  V __hfma2(V, V, V);                                                                           \
  V __hfma2_relu(V, V, V);                                                                      \
  V __hneg2(V);                                                                                 \
  V __habs2(V);                                                                                 \
  V __hmax2(V, V);                                                                              \
  V __hmin2(V, V);                                                                              \
  V __heq2(V, V);                                                                               \
  V __hne2(V, V);                                                                               \
  V __hlt2(V, V);                                                                               \
  V __hle2(V, V);                                                                               \
  V __hgt2(V, V);                                                                               \
  V __hge2(V, V);                                                                               \
  bool __hbeq2(V, V);                                                                           \
  bool __hbne2(V, V);                                                                           \
  bool __hbgt2(V, V);                                                                           \
  bool __hblt2(V, V);                                                                           \
  bool __hbge2(V, V);                                                                           \
  bool __hble2(V, V);                                                                           \
  unsigned __heq2_mask(V, V);                                                                   \
  unsigned __hgt2_mask(V, V);                                                                   \
  V __lows2##T(V, V);                                                                           \
  float2 __half22float2_##T(V);                                                                 \
  T hexp(T);                                                                                    \
  T hexp2(T);                                                                                   \
  T hexp10(T);                                                                                  \
  T hlog(T);                                                                                    \
  T hlog2(T);                                                                                   \
  T hlog10(T);                                                                                  \
  T hsqrt(T);                                                                                   \
  T hrsqrt(T);                                                                                  \
  T hrcp(T);                                                                                    \
  T hsin(T);                                                                                    \
  T hcos(T);                                                                                    \
  T htanh(T);                                                                                   \
  T hfloor(T);                                                                                  \
  T hceil(T);                                                                                   \
  T htrunc(T);                                                                                  \
  T hrint(T);                                                                                   \
  V h2exp(V);                                                                                   \
  V h2exp2(V);                                                                                  \
  V h2log(V);                                                                                   \
  V h2log2(V);                                                                                  \
  V h2sqrt(V);                                                                                  \
  V h2rsqrt(V);                                                                                 \
  V h2rcp(V);                                                                                   \
  V h2sin(V);                                                                                   \
  V h2cos(V);                                                                                   \
  V h2floor(V);                                                                                 \
  V h2ceil(V);                                                                                  \
  V h2rint(V);
PORTER_FUNCTIONS(__half, __half2)
PORTER_FUNCTIONS(__nv_bfloat16, __nv_bfloat162)
#undef PORTER_FUNCTIONS

float __half2float(__half);
__half __float2half(float);
__half __float2half_rn(float);
__half __float2half_rz(float);
__half __float2half_rd(float);
__half __float2half_ru(float);
__half __double2half(double);
__half2 __float2half2_rn(float);
__half2 __floats2half2_rn(float, float);
__half2 __float22half2_rn(float2);
float2 __half22float2(__half2);
__half2 __half2half2(__half);
__half2 __halves2half2(__half, __half);
__half __low2half(__half2);
__half __high2half(__half2);
float __low2float(__half2);
float __high2float(__half2);
__half2 __low2half2(__half2);
__half2 __high2half2(__half2);
__half2 __lows2half2(__half2, __half2);
__half2 __highs2half2(__half2, __half2);
__half2 __lowhigh2highlow(__half2);
__half2 make_half2(__half, __half);
__half __ushort_as_half(unsigned short);
__half __short_as_half(short);
unsigned short __half_as_ushort(__half);
short __half_as_short(__half);
#define PORTER_INTEGER(T, name)          \
  __half __##name##2half_rn(T);          \
  __half __##name##2half_rz(T);          \
  T __half2##name##_rn(__half);          \
  T __half2##name##_rz(__half);          \
  T __half2##name##_rd(__half);          \
  T __half2##name##_ru(__half);          \
  __nv_bfloat16 __##name##2bfloat16_rn(T); \
  T __bfloat162##name##_rn(__nv_bfloat16); \
  T __bfloat162##name##_rz(__nv_bfloat16);
PORTER_INTEGER(int, int)
PORTER_INTEGER(unsigned, uint)
PORTER_INTEGER(short, short)
PORTER_INTEGER(unsigned short, ushort)
PORTER_INTEGER(long long, ll)
PORTER_INTEGER(unsigned long long, ull)
#undef PORTER_INTEGER
float __bfloat162float(__nv_bfloat16);
__nv_bfloat16 __float2bfloat16(float);
__nv_bfloat16 __float2bfloat16_rn(float);
__nv_bfloat16 __float2bfloat16_rz(float);
__nv_bfloat16 __double2bfloat16(double);
__nv_bfloat162 __float2bfloat162_rn(float);
__nv_bfloat162 __floats2bfloat162_rn(float, float);
__nv_bfloat162 __float22bfloat162_rn(float2);
float2 __bfloat1622float2(__nv_bfloat162);
__nv_bfloat162 __bfloat162bfloat162(__nv_bfloat16);
__nv_bfloat162 __halves2bfloat162(__nv_bfloat16, __nv_bfloat16);
__nv_bfloat162 make_bfloat162(__nv_bfloat16, __nv_bfloat16);
__nv_bfloat16 __low2bfloat16(__nv_bfloat162);
__nv_bfloat16 __high2bfloat16(__nv_bfloat162);
float __low2float(__nv_bfloat162);
float __high2float(__nv_bfloat162);
__nv_bfloat162 __low2bfloat162(__nv_bfloat162);
__nv_bfloat162 __high2bfloat162(__nv_bfloat162);
__nv_bfloat16 __ushort_as_bfloat16(unsigned short);
__nv_bfloat16 __short_as_bfloat16(short);
unsigned short __bfloat16_as_ushort(__nv_bfloat16);
short __bfloat16_as_short(__nv_bfloat16);

typedef unsigned char __nv_fp8_storage_t;
typedef unsigned short __nv_fp8x2_storage_t;
typedef unsigned int __nv_fp8x4_storage_t;
typedef unsigned char __nv_fp4_storage_t;
enum __nv_saturation_t { __NV_NOSAT, __NV_SATFINITE };
enum __nv_fp8_interpretation_t { __NV_E4M3, __NV_E5M2, __NV_E8M0 };
#define PORTER_FP8(name)                                       \
  struct name {                                                \
    __nv_fp8_storage_t __x;                                    \
    name() = default;                                          \
    template <class T> explicit constexpr name(T) : __x(0) {}  \
    explicit operator float() const;                           \
    explicit operator double() const;                          \
    explicit operator __half() const;                          \
    explicit operator __nv_bfloat16() const;                   \
    explicit operator int() const;                             \
    explicit operator unsigned char() const;                   \
    explicit operator bool() const;                            \
  };
#define PORTER_FP8_PACK(name, count, bits, vector)             \
  struct name {                                                \
    bits __x;                                                  \
    name() = default;                                          \
    template <class T> explicit name(T);                       \
    template <class T> name(T, T);                             \
    explicit operator vector() const;                          \
    explicit operator __half2() const;                         \
  };
PORTER_FP8(__nv_fp8_e4m3)
PORTER_FP8(__nv_fp8_e5m2)
PORTER_FP8(__nv_fp8_e8m0)
PORTER_FP8_PACK(__nv_fp8x2_e4m3, 2, __nv_fp8x2_storage_t, float2)
PORTER_FP8_PACK(__nv_fp8x2_e5m2, 2, __nv_fp8x2_storage_t, float2)
PORTER_FP8_PACK(__nv_fp8x4_e4m3, 4, __nv_fp8x4_storage_t, float4)
PORTER_FP8_PACK(__nv_fp8x4_e5m2, 4, __nv_fp8x4_storage_t, float4)
#undef PORTER_FP8
#undef PORTER_FP8_PACK
__nv_fp8_storage_t __nv_cvt_float_to_fp8(float, __nv_saturation_t, __nv_fp8_interpretation_t);
__nv_fp8_storage_t __nv_cvt_double_to_fp8(double, __nv_saturation_t, __nv_fp8_interpretation_t);
__nv_fp8_storage_t __nv_cvt_halfraw_to_fp8(__half_raw, __nv_saturation_t, __nv_fp8_interpretation_t);
__nv_fp8_storage_t __nv_cvt_bfloat16raw_to_fp8(__nv_bfloat16_raw, __nv_saturation_t, __nv_fp8_interpretation_t);
__nv_fp8x2_storage_t __nv_cvt_float2_to_fp8x2(float2, __nv_saturation_t, __nv_fp8_interpretation_t);
__nv_fp8x2_storage_t __nv_cvt_halfraw2_to_fp8x2(__half2_raw, __nv_saturation_t, __nv_fp8_interpretation_t);
__half_raw __nv_cvt_fp8_to_halfraw(__nv_fp8_storage_t, __nv_fp8_interpretation_t);
__half2_raw __nv_cvt_fp8x2_to_halfraw2(__nv_fp8x2_storage_t, __nv_fp8_interpretation_t);
#pragma clang force_cuda_host_device end

#define PORTER_EACH(T)                   \
  PORTER_D T __ldg(const T *);           \
  PORTER_D T __ldcs(const T *);          \
  PORTER_D T __ldca(const T *);          \
  PORTER_D T __ldcg(const T *);          \
  PORTER_D void __stcs(T *, T);          \
  PORTER_D void __stcg(T *, T);          \
  PORTER_D T atomicAdd(T *, T);          \
  PORTER_SHUFFLE(T)
PORTER_EACH(__half)
PORTER_EACH(__half2)
PORTER_EACH(__nv_bfloat16)
PORTER_EACH(__nv_bfloat162)
#undef PORTER_EACH
#undef PORTER_SHUFFLE
#undef PORTER_D
