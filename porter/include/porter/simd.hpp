// CUDA's SIMD-in-a-word intrinsics (`__vadd4`, `__vcmpgtu2`, ...) and DPX functions (`__viaddmax_s16x2`, ...), which
// HIP does not have. Two 16-bit lanes use packed instructions; four 8-bit lanes are two such pairs, widened.
// SPDX-License-Identifier: Apache-2.0
#ifndef PORTER_SIMD_HPP
#define PORTER_SIMD_HPP

#if defined(__HIP__) || defined(__HIPCC__)
#include <hip/hip_runtime.h>
#define PORTER_BOTH __host__ __device__ inline
#else
#define PORTER_BOTH inline
#endif

namespace porter {
namespace detail {

typedef short s16x2 __attribute__((ext_vector_type(2)));
typedef unsigned short u16x2 __attribute__((ext_vector_type(2)));

template <class V> PORTER_BOTH V lanes(unsigned word) { return __builtin_bit_cast(V, word); }
template <class V> PORTER_BOTH unsigned word(V value) { return __builtin_bit_cast(unsigned, value); }
/// Sums wrap around; signed lanes may not, so they are summed as unsigned ones.
template <class V> PORTER_BOTH V wrapped(u16x2 value) { return __builtin_bit_cast(V, value); }
template <class V> PORTER_BOTH u16x2 raw(V value) { return __builtin_bit_cast(u16x2, value); }

// The four bytes as two pairs of 16-bit lanes: 0 and 2 are the even ones, 1 and 3 the odd ones.
template <class V> struct Bytes;
template <> struct Bytes<s16x2> {
  static PORTER_BOTH s16x2 even(unsigned x) { return lanes<s16x2>(x << 8) >> static_cast<short>(8); }
  static PORTER_BOTH s16x2 odd(unsigned x) { return lanes<s16x2>(x) >> static_cast<short>(8); }
};
template <> struct Bytes<u16x2> {
  static PORTER_BOTH u16x2 even(unsigned x) { return lanes<u16x2>(x & 0x00ff00ffu); }
  static PORTER_BOTH u16x2 odd(unsigned x) { return lanes<u16x2>(x >> 8 & 0x00ff00ffu); }
};
template <class V> PORTER_BOTH unsigned joined(V even, V odd) {
  return (word(even) & 0x00ff00ffu) | (word(odd) << 8 & 0xff00ff00u);
}

template <class V, class Op> PORTER_BOTH unsigned halves(unsigned a, unsigned b, Op op) {
  return word(op(lanes<V>(a), lanes<V>(b)));
}
template <class V, class Op> PORTER_BOTH unsigned bytes(unsigned a, unsigned b, Op op) {
  return joined(op(Bytes<V>::even(a), Bytes<V>::even(b)), op(Bytes<V>::odd(a), Bytes<V>::odd(b)));
}

struct LaneAdd {
  template <class V> PORTER_BOTH V operator()(V a, V b) const { return wrapped<V>(raw(a) + raw(b)); }
};
struct LaneSub {
  template <class V> PORTER_BOTH V operator()(V a, V b) const { return wrapped<V>(raw(a) - raw(b)); }
};
struct LaneMax {
  template <class V> PORTER_BOTH V operator()(V a, V b) const { return __builtin_elementwise_max(a, b); }
};
struct LaneMin {
  template <class V> PORTER_BOTH V operator()(V a, V b) const { return __builtin_elementwise_min(a, b); }
};
struct LaneAbsDiff {
  template <class V> PORTER_BOTH V operator()(V a, V b) const { return LaneSub()(LaneMax()(a, b), LaneMin()(a, b)); }
};
/// (a + b) / 2 without the lost carry, rounded down.
struct LaneHalved {
  template <class V> PORTER_BOTH V operator()(V a, V b) const { return LaneAdd()(a & b, (a ^ b) >> wrapped<V>(1)); }
};
/// (a + b) / 2; one half rounds away from zero.
struct LaneAverage {
  PORTER_BOTH u16x2 operator()(u16x2 a, u16x2 b) const { return (a | b) - ((a ^ b) >> wrapped<u16x2>(1)); }
  PORTER_BOTH s16x2 operator()(s16x2 a, s16x2 b) const {
    s16x2 const floor = LaneHalved()(a, b);
    return LaneAdd()(floor, (a ^ b) & ~(floor >> wrapped<s16x2>(15)) & wrapped<s16x2>(1));
  }
};
struct LaneEq {
  template <class V> PORTER_BOTH V operator()(V a, V b) const { return __builtin_bit_cast(V, a == b); }
};
struct LaneNe {
  template <class V> PORTER_BOTH V operator()(V a, V b) const { return __builtin_bit_cast(V, a != b); }
};
struct LaneGe {
  template <class V> PORTER_BOTH V operator()(V a, V b) const { return __builtin_bit_cast(V, a >= b); }
};
struct LaneGt {
  template <class V> PORTER_BOTH V operator()(V a, V b) const { return __builtin_bit_cast(V, a > b); }
};
struct LaneLe {
  template <class V> PORTER_BOTH V operator()(V a, V b) const { return __builtin_bit_cast(V, a <= b); }
};
struct LaneLt {
  template <class V> PORTER_BOTH V operator()(V a, V b) const { return __builtin_bit_cast(V, a < b); }
};

/// The result of a byte operation, which is exact in 16 bits, brought back into the range of a byte.
template <class Op> struct Saturated {
  PORTER_BOTH s16x2 operator()(s16x2 a, s16x2 b) const {
    return LaneMax()(LaneMin()(Op()(a, b), wrapped<s16x2>(127)), wrapped<s16x2>(0xff80));
  }
  PORTER_BOTH u16x2 operator()(u16x2 a, u16x2 b) const {
    // A negative difference is a large unsigned number; as a signed one it is clamped to 0.
    s16x2 const exact = wrapped<s16x2>(Op()(a, b));
    return raw(LaneMax()(LaneMin()(exact, wrapped<s16x2>(255)), wrapped<s16x2>(0)));
  }
};

template <class V> struct LaneLimits;
template <> struct LaneLimits<s16x2> {
  enum { low = -32768, high = 32767 };
};
template <> struct LaneLimits<u16x2> {
  enum { low = 0, high = 65535 };
};
PORTER_BOTH int clamped(int x, int low, int high) { return x < low ? low : x > high ? high : x; }

struct LaneAddSat {
  template <class V> PORTER_BOTH V operator()(V a, V b) const {
#if __has_builtin(__builtin_elementwise_add_sat)
    return __builtin_elementwise_add_sat(a, b);
#else
    using L = LaneLimits<V>;
    a.x = clamped(a.x + b.x, L::low, L::high);
    a.y = clamped(a.y + b.y, L::low, L::high);
    return a;
#endif
  }
};
struct LaneSubSat {
  template <class V> PORTER_BOTH V operator()(V a, V b) const {
#if __has_builtin(__builtin_elementwise_sub_sat)
    return __builtin_elementwise_sub_sat(a, b);
#else
    using L = LaneLimits<V>;
    a.x = clamped(a.x - b.x, L::low, L::high);
    a.y = clamped(a.y - b.y, L::low, L::high);
    return a;
#endif
  }
};

PORTER_BOTH unsigned sum_of_halves(unsigned x) { return (x & 0xffffu) + (x >> 16); }
PORTER_BOTH unsigned sum_of_bytes(unsigned x) { return sum_of_halves((x & 0x00ff00ffu) + (x >> 8 & 0x00ff00ffu)); }

}  // namespace detail

// Arithmetic that wraps around.
PORTER_BOTH unsigned vadd2(unsigned a, unsigned b) { return detail::halves<detail::u16x2>(a, b, detail::LaneAdd()); }
PORTER_BOTH unsigned vsub2(unsigned a, unsigned b) { return detail::halves<detail::u16x2>(a, b, detail::LaneSub()); }
PORTER_BOTH unsigned vneg2(unsigned a) { return vsub2(0u, a); }
/// The byte sums without their top bits cannot carry into a neighbour; those bits are added without carry.
PORTER_BOTH unsigned vadd4(unsigned a, unsigned b) {
  return ((a & 0x7f7f7f7fu) + (b & 0x7f7f7f7fu)) ^ ((a ^ b) & 0x80808080u);
}
PORTER_BOTH unsigned vsub4(unsigned a, unsigned b) {
  return ((a | 0x80808080u) - (b & 0x7f7f7f7fu)) ^ ((a ^ ~b) & 0x80808080u);
}
PORTER_BOTH unsigned vneg4(unsigned a) { return vsub4(0u, a); }

// name2 and name4 of an operation on lanes of type V.
#define PORTER_LANEWISE(name, V, Op)                                                                             \
  PORTER_BOTH unsigned name##2(unsigned a, unsigned b) { return detail::halves<detail::V>(a, b, detail::Op()); } \
  PORTER_BOTH unsigned name##4(unsigned a, unsigned b) { return detail::bytes<detail::V>(a, b, detail::Op()); }

PORTER_LANEWISE(vmaxs, s16x2, LaneMax)
PORTER_LANEWISE(vmaxu, u16x2, LaneMax)
PORTER_LANEWISE(vmins, s16x2, LaneMin)
PORTER_LANEWISE(vminu, u16x2, LaneMin)
PORTER_LANEWISE(vabsdiffs, s16x2, LaneAbsDiff)
PORTER_LANEWISE(vabsdiffu, u16x2, LaneAbsDiff)
PORTER_LANEWISE(vhaddu, u16x2, LaneHalved)
PORTER_LANEWISE(vavgs, s16x2, LaneAverage)
PORTER_LANEWISE(vavgu, u16x2, LaneAverage)

// vcmp*: all bits of a lane where the comparison holds; vset*: 1.
#define PORTER_COMPARISON(name, V, Op)                                                                     \
  PORTER_LANEWISE(vcmp##name, V, Op)                                                                       \
  PORTER_BOTH unsigned vset##name##2(unsigned a, unsigned b) { return vcmp##name##2(a, b) & 0x00010001u; } \
  PORTER_BOTH unsigned vset##name##4(unsigned a, unsigned b) { return vcmp##name##4(a, b) & 0x01010101u; }

PORTER_COMPARISON(eq, u16x2, LaneEq)
PORTER_COMPARISON(ne, u16x2, LaneNe)
PORTER_COMPARISON(ges, s16x2, LaneGe)
PORTER_COMPARISON(geu, u16x2, LaneGe)
PORTER_COMPARISON(gts, s16x2, LaneGt)
PORTER_COMPARISON(gtu, u16x2, LaneGt)
PORTER_COMPARISON(les, s16x2, LaneLe)
PORTER_COMPARISON(leu, u16x2, LaneLe)
PORTER_COMPARISON(lts, s16x2, LaneLt)
PORTER_COMPARISON(ltu, u16x2, LaneLt)

// Arithmetic that saturates.
#define PORTER_SATURATING(name, V, Op)                                      \
  PORTER_BOTH unsigned v##name##2(unsigned a, unsigned b) {                 \
    return detail::halves<detail::V>(a, b, detail::Op##Sat());              \
  }                                                                         \
  PORTER_BOTH unsigned v##name##4(unsigned a, unsigned b) {                 \
    return detail::bytes<detail::V>(a, b, detail::Saturated<detail::Op>()); \
  }

PORTER_SATURATING(addss, s16x2, LaneAdd)
PORTER_SATURATING(addus, u16x2, LaneAdd)
PORTER_SATURATING(subss, s16x2, LaneSub)
PORTER_SATURATING(subus, u16x2, LaneSub)

PORTER_BOTH unsigned vnegss2(unsigned a) { return vsubss2(0u, a); }
PORTER_BOTH unsigned vnegss4(unsigned a) { return vsubss4(0u, a); }
PORTER_BOTH unsigned vabs2(unsigned a) { return vmaxs2(a, vneg2(a)); }
PORTER_BOTH unsigned vabs4(unsigned a) { return vmaxs4(a, vneg4(a)); }
PORTER_BOTH unsigned vabsss2(unsigned a) { return vmaxs2(a, vnegss2(a)); }
PORTER_BOTH unsigned vabsss4(unsigned a) { return vmaxs4(a, vnegss4(a)); }

PORTER_BOTH unsigned vsads2(unsigned a, unsigned b) { return detail::sum_of_halves(vabsdiffs2(a, b)); }
PORTER_BOTH unsigned vsadu2(unsigned a, unsigned b) { return detail::sum_of_halves(vabsdiffu2(a, b)); }
PORTER_BOTH unsigned vsadu4(unsigned a, unsigned b) {
#if defined(__AMDGCN__)
  return __builtin_amdgcn_sad_u8(a, b, 0u);
#else
  return detail::sum_of_bytes(vabsdiffu4(a, b));
#endif
}
/// Differences stay the same when both sides move by 128.
PORTER_BOTH unsigned vsads4(unsigned a, unsigned b) { return vsadu4(a ^ 0x80808080u, b ^ 0x80808080u); }

// DPX: minima and maxima of sums and of three numbers, in one piece and per half.

#define PORTER_DPX_32(T, suffix)                                                                         \
  PORTER_BOTH T vimax3_##suffix(T a, T b, T c) { return detail::larger(detail::larger(a, b), c); }       \
  PORTER_BOTH T vimin3_##suffix(T a, T b, T c) { return detail::smaller(detail::smaller(a, b), c); }     \
  PORTER_BOTH T viaddmax_##suffix(T a, T b, T c) { return detail::larger(detail::sum(a, b), c); }        \
  PORTER_BOTH T viaddmin_##suffix(T a, T b, T c) { return detail::smaller(detail::sum(a, b), c); }       \
  PORTER_BOTH T vibmax_##suffix(T a, T b, bool* first) { return *first = a >= b, detail::larger(a, b); } \
  PORTER_BOTH T vibmin_##suffix(T a, T b, bool* first) { return *first = a <= b, detail::smaller(a, b); }

#define PORTER_DPX_16(V, kind, suffix)                                                                                 \
  PORTER_BOTH unsigned vimax3_##suffix(unsigned a, unsigned b, unsigned c) {                                           \
    return vmax##kind##2(vmax##kind##2(a, b), c);                                                                      \
  }                                                                                                                    \
  PORTER_BOTH unsigned vimin3_##suffix(unsigned a, unsigned b, unsigned c) {                                           \
    return vmin##kind##2(vmin##kind##2(a, b), c);                                                                      \
  }                                                                                                                    \
  PORTER_BOTH unsigned viaddmax_##suffix(unsigned a, unsigned b, unsigned c) { return vmax##kind##2(vadd2(a, b), c); } \
  PORTER_BOTH unsigned viaddmin_##suffix(unsigned a, unsigned b, unsigned c) { return vmin##kind##2(vadd2(a, b), c); } \
  PORTER_BOTH unsigned vibmax_##suffix(unsigned a, unsigned b, bool* first_high, bool* first_low) {                    \
    unsigned const first = vcmpge##kind##2(a, b);                                                                      \
    *first_high = first >> 16 != 0u, *first_low = (first & 1u) != 0u;                                                  \
    return vmax##kind##2(a, b);                                                                                        \
  }                                                                                                                    \
  PORTER_BOTH unsigned vibmin_##suffix(unsigned a, unsigned b, bool* first_high, bool* first_low) {                    \
    unsigned const first = vcmple##kind##2(a, b);                                                                      \
    *first_high = first >> 16 != 0u, *first_low = (first & 1u) != 0u;                                                  \
    return vmin##kind##2(a, b);                                                                                        \
  }

namespace detail {
template <class T> PORTER_BOTH T larger(T a, T b) { return a < b ? b : a; }
template <class T> PORTER_BOTH T smaller(T a, T b) { return b < a ? b : a; }
template <class T> PORTER_BOTH T sum(T a, T b) {
  return static_cast<T>(static_cast<unsigned>(a) + static_cast<unsigned>(b));
}
}  // namespace detail

PORTER_DPX_32(int, s32)
PORTER_DPX_32(unsigned, u32)
PORTER_DPX_16(s16x2, s, s16x2)
PORTER_DPX_16(u16x2, u, u16x2)

// "relu" is the result, or 0 if it is negative.
PORTER_BOTH int vimax_s32_relu(int a, int b) { return vimax3_s32(a, b, 0); }
PORTER_BOTH int vimin_s32_relu(int a, int b) { return detail::larger(detail::smaller(a, b), 0); }
PORTER_BOTH int vimax3_s32_relu(int a, int b, int c) { return detail::larger(vimax3_s32(a, b, c), 0); }
PORTER_BOTH int vimin3_s32_relu(int a, int b, int c) { return detail::larger(vimin3_s32(a, b, c), 0); }
PORTER_BOTH int viaddmax_s32_relu(int a, int b, int c) { return detail::larger(viaddmax_s32(a, b, c), 0); }
PORTER_BOTH int viaddmin_s32_relu(int a, int b, int c) { return detail::larger(viaddmin_s32(a, b, c), 0); }
PORTER_BOTH unsigned vimax_s16x2_relu(unsigned a, unsigned b) { return vmaxs2(vmaxs2(a, b), 0u); }
PORTER_BOTH unsigned vimin_s16x2_relu(unsigned a, unsigned b) { return vmaxs2(vmins2(a, b), 0u); }
PORTER_BOTH unsigned vimax3_s16x2_relu(unsigned a, unsigned b, unsigned c) { return vmaxs2(vimax3_s16x2(a, b, c), 0u); }
PORTER_BOTH unsigned vimin3_s16x2_relu(unsigned a, unsigned b, unsigned c) { return vmaxs2(vimin3_s16x2(a, b, c), 0u); }
PORTER_BOTH unsigned viaddmax_s16x2_relu(unsigned a, unsigned b, unsigned c) {
  return vmaxs2(viaddmax_s16x2(a, b, c), 0u);
}
PORTER_BOTH unsigned viaddmin_s16x2_relu(unsigned a, unsigned b, unsigned c) {
  return vmaxs2(viaddmin_s16x2(a, b, c), 0u);
}

}  // namespace porter

#undef PORTER_LANEWISE
#undef PORTER_COMPARISON
#undef PORTER_SATURATING
#undef PORTER_DPX_32
#undef PORTER_DPX_16
#undef PORTER_BOTH
#endif  // PORTER_SIMD_HPP
