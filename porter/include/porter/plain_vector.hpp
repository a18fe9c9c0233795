// CUDA's vector types without operators, as bases for classes that bring their own: HIP's have operators of their own,
// and those of two bases are ambiguous. They convert to HIP's by value. SPDX-License-Identifier: Apache-2.0
#ifndef PORTER_PLAIN_VECTOR_HPP
#define PORTER_PLAIN_VECTOR_HPP

#include <hip/hip_vector_types.h>

#if defined(__HIP__) || defined(__HIPCC__)
#define PORTER_BOTH __host__ __device__ inline
#else
#define PORTER_BOTH inline
#endif

namespace porter {
namespace plain {  // of its own, where calls without a namespace find no function by their arguments

#define PORTER_PLAIN_VECTORS(name, element)                                                                            \
  struct alignas(::name##1) name##1_base {                                                                             \
    element x;                                                                                                         \
    name##1_base() = default;                                                                                          \
    PORTER_BOTH explicit name##1_base(element a) : x(a) {}                                                             \
    PORTER_BOTH name##1_base(const ::name##1 &v) : x(v.x) {}                                                           \
    PORTER_BOTH operator ::name##1() const { return ::name##1(x); }                                                    \
  };                                                                                                                   \
  struct alignas(::name##2) name##2_base {                                                                             \
    element x, y;                                                                                                      \
    name##2_base() = default;                                                                                          \
    PORTER_BOTH name##2_base(element a, element b) : x(a), y(b) {}                                                     \
    PORTER_BOTH name##2_base(const ::name##2 &v) : x(v.x), y(v.y) {}                                                   \
    PORTER_BOTH operator ::name##2() const { return ::name##2(x, y); }                                                 \
  };                                                                                                                   \
  struct alignas(::name##3) name##3_base {                                                                             \
    element x, y, z;                                                                                                   \
    name##3_base() = default;                                                                                          \
    PORTER_BOTH name##3_base(element a, element b, element c) : x(a), y(b), z(c) {}                                    \
    PORTER_BOTH name##3_base(const ::name##3 &v) : x(v.x), y(v.y), z(v.z) {}                                           \
    PORTER_BOTH operator ::name##3() const { return ::name##3(x, y, z); }                                              \
  };                                                                                                                   \
  struct alignas(::name##4) name##4_base {                                                                             \
    element x, y, z, w;                                                                                                \
    name##4_base() = default;                                                                                          \
    PORTER_BOTH name##4_base(element a, element b, element c, element d) : x(a), y(b), z(c), w(d) {}                   \
    PORTER_BOTH name##4_base(const ::name##4 &v) : x(v.x), y(v.y), z(v.z), w(v.w) {}                                   \
    PORTER_BOTH operator ::name##4() const { return ::name##4(x, y, z, w); }                                           \
  };                                                                                                                   \
  static_assert(sizeof(name##3_base) == sizeof(::name##3) && sizeof(name##4_base) == sizeof(::name##4), "")
PORTER_PLAIN_VECTORS(char, signed char);
PORTER_PLAIN_VECTORS(uchar, unsigned char);
PORTER_PLAIN_VECTORS(short, short);
PORTER_PLAIN_VECTORS(ushort, unsigned short);
PORTER_PLAIN_VECTORS(int, int);
PORTER_PLAIN_VECTORS(uint, unsigned int);
PORTER_PLAIN_VECTORS(long, long);
PORTER_PLAIN_VECTORS(ulong, unsigned long);
PORTER_PLAIN_VECTORS(longlong, long long);
PORTER_PLAIN_VECTORS(ulonglong, unsigned long long);
PORTER_PLAIN_VECTORS(float, float);
PORTER_PLAIN_VECTORS(double, double);
#undef PORTER_PLAIN_VECTORS

}  // namespace plain
}  // namespace porter

#undef PORTER_BOTH

#endif  // PORTER_PLAIN_VECTOR_HPP
