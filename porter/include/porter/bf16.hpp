// Operators of __hip_bfloat16 and __hip_bfloat162, which HIP has since ROCm 6.1: sums and products of two are computed in
// float and rounded once. Nothing with later headers. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <hip/hip_version.h>
#include <hip/hip_bf16.h>

#if HIP_VERSION_MAJOR < 6 || (HIP_VERSION_MAJOR == 6 && HIP_VERSION_MINOR < 1)

#define PORTER_BF16 __host__ __device__ inline __attribute__((always_inline))
#define PORTER_BF16_ARITHMETIC(op)                                                                \
  PORTER_BF16 __hip_bfloat16 operator op(const __hip_bfloat16& a, const __hip_bfloat16& b) {     \
    return __float2bfloat16(__bfloat162float(a) op __bfloat162float(b));                          \
  }                                                                                               \
  PORTER_BF16 __hip_bfloat162 operator op(const __hip_bfloat162& a, const __hip_bfloat162& b) {  \
    return __hip_bfloat162{a.x op b.x, a.y op b.y};                                               \
  }                                                                                               \
  PORTER_BF16 __hip_bfloat16& operator op##=(__hip_bfloat16& a, const __hip_bfloat16& b) { return a = a op b; } \
  PORTER_BF16 __hip_bfloat162& operator op##=(__hip_bfloat162& a, const __hip_bfloat162& b) { return a = a op b; }
#define PORTER_BF16_COMPARISON(op)                                                    \
  PORTER_BF16 bool operator op(const __hip_bfloat16& a, const __hip_bfloat16& b) {   \
    return __bfloat162float(a) op __bfloat162float(b);                                \
  }

PORTER_BF16_ARITHMETIC(+)
PORTER_BF16_ARITHMETIC(-)
PORTER_BF16_ARITHMETIC(*)
PORTER_BF16_ARITHMETIC(/)
PORTER_BF16_COMPARISON(==)
PORTER_BF16_COMPARISON(!=)
PORTER_BF16_COMPARISON(<)
PORTER_BF16_COMPARISON(<=)
PORTER_BF16_COMPARISON(>)
PORTER_BF16_COMPARISON(>=)
PORTER_BF16 __hip_bfloat16 operator+(const __hip_bfloat16& a) { return a; }
PORTER_BF16 __hip_bfloat16 operator-(const __hip_bfloat16& a) {
  __hip_bfloat16 result = a;
  result.data = static_cast<unsigned short>(result.data ^ 0x8000u);
  return result;
}
PORTER_BF16 __hip_bfloat162 operator-(const __hip_bfloat162& a) { return __hip_bfloat162{-a.x, -a.y}; }

#undef PORTER_BF16
#undef PORTER_BF16_ARITHMETIC
#undef PORTER_BF16_COMPARISON

#endif
