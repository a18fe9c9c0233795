// Instead of the header of this name where its bfloat16 has no conversions and no operators: those of newer HIP have
// them, as CUDA's has. Functions of that header take and return the plain type, whose bits are the same.
#ifndef PORTER_OLDER_HIP_BF16_H
#define PORTER_OLDER_HIP_BF16_H
#define __hip_bfloat16 porter_plain_bfloat16
#include_next <hip/hip_bf16.h>
#undef __hip_bfloat16
#include <type_traits>

struct __hip_bfloat16 : porter_plain_bfloat16 {
  __hip_bfloat16() = default;
  __host__ __device__ __hip_bfloat16(porter_plain_bfloat16 plain) : porter_plain_bfloat16(plain) {}
  template <class Number, class = std::enable_if_t<std::is_arithmetic_v<Number>>>
  __host__ __device__ __hip_bfloat16(Number value) : porter_plain_bfloat16(__float2bfloat16(static_cast<float>(value))) {}
  __host__ __device__ operator float() const { return __bfloat162float(*this); }
};

// Rounded after each operation.
#define PORTER_BFLOAT16(sign)                                                                     \
  __host__ __device__ inline __hip_bfloat16 operator sign(__hip_bfloat16 a, __hip_bfloat16 b) {   \
    return static_cast<float>(a) sign static_cast<float>(b);                                      \
  }                                                                                               \
  __host__ __device__ inline __hip_bfloat16& operator sign##=(__hip_bfloat16& a, __hip_bfloat16 b) { return a = a sign b; }
PORTER_BFLOAT16(+)
PORTER_BFLOAT16(-)
PORTER_BFLOAT16(*)
PORTER_BFLOAT16(/)
#undef PORTER_BFLOAT16
#endif
