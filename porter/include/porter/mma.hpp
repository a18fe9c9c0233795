// mma.sync, ldmatrix, stmatrix and movmatrix of PTX for logical warps of 32 lanes, for inline assembly that was rewritten.
//
// PTX says which lane holds which element, and that is kept. For mma.sync the rows of A and the columns of B are first
// brought together in quads of lanes, multiplied as in matrix.hpp, and the results handed back: a dozen moves between
// lanes for each product. SPDX-License-Identifier: Apache-2.0
#ifndef PORTER_MMA_HPP
#define PORTER_MMA_HPP

#include "matrix.hpp"

#if defined(__HIP__) || defined(__HIPCC__)

namespace porter {
namespace ptx {

using u32 = unsigned;

// Element types of A and B.
using f16 = matrix::F16;
using bf16 = matrix::BF16;
using tf32 = matrix::TF32;
using s8 = matrix::Bytes<signed char, signed char>;
using u8 = matrix::Bytes<unsigned char, unsigned char>;
using s8u8 = matrix::Bytes<signed char, unsigned char>;
using u8s8 = matrix::Bytes<unsigned char, signed char>;

/// Registers of a result.
template <class T, int Count> struct Registers {
  T x[Count];
};

namespace detail {

/// Four bytes as halves, which have room for every value: e5m2 is the upper byte of a half; e4m3, shifted into place, is
/// 256 times too small.
struct E5M2 {
  static PORTER_MATRIX matrix::words2 halves(u32 x) {
    return matrix::words2{(x & 0xffu) << 8 | (x & 0xff00u) << 16, (x >> 8 & 0xff00u) | (x & 0xff000000u)};
  }
};
struct E4M3 {
  static PORTER_MATRIX u32 pair(u32 low, u32 high) {
    typedef _Float16 half2_ __attribute__((ext_vector_type(2)));
    u32 const bits = half_bits(low) | half_bits(high) << 16;
    u32 const value = matrix::bits<u32>(matrix::bits<half2_>(bits) * half2_{256, 256});
    return value | (is_nan(low) ? 0x7e00u : 0u) | (is_nan(high) ? 0x7e000000u : 0u);
  }
  static PORTER_MATRIX matrix::words2 halves(u32 x) {
    return matrix::words2{pair(x & 255u, x >> 8 & 255u), pair(x >> 16 & 255u, x >> 24)};
  }

 private:
  static PORTER_MATRIX u32 half_bits(u32 x) { return (x & 0x7fu) << 7 | (x & 0x80u) << 8; }
  static PORTER_MATRIX bool is_nan(u32 x) { return (x & 0x7fu) == 0x7fu; }
};

/// OCP's 8-bit floats, multiplied as halves: gfx942's own fp8 has another range.
template <class A, class B> struct Fp8 {
  using Pack = u32;
  using Sum = matrix::float4_;
  static constexpr int step = 4;
  template <int Cbsz, int Abid> static PORTER_MATRIX Sum matrix(Pack a, Pack b, Sum c) {
    return porter::matrix::F16::matrix<Cbsz, Abid>(A::halves(a), B::halves(b), c);
  }
  static PORTER_MATRIX float dot(Pack a, Pack b, float c) { return porter::matrix::F16::dot(A::halves(a), B::halves(b), c); }
};

/// Eight numbers of 4 bits: as bytes, the even ones and then the odd ones of both factors.
template <class A, class B> struct Nibbles {
  using Pack = u32;
  using Wide = porter::matrix::Bytes<A, B>;
  using Sum = typename Wide::Sum;
  static constexpr int step = 8;
  template <class T> static PORTER_MATRIX u32 even(u32 x) {
    u32 const low = x & 0x0f0f0f0fu;
    return static_cast<T>(-1) < 0 ? low | (low & 0x08080808u) * 0x1eu : low;
  }
  template <int Cbsz, int Abid> static PORTER_MATRIX Sum matrix(Pack a, Pack b, Sum c) {
    c = Wide::template matrix<Cbsz, Abid>(even<A>(a), even<B>(b), c);
    return Wide::template matrix<Cbsz, Abid>(even<A>(a >> 4), even<B>(b >> 4), c);
  }
  static PORTER_MATRIX int dot(Pack a, Pack b, int c) {
    return Wide::dot(even<A>(a >> 4), even<B>(b >> 4), Wide::dot(even<A>(a), even<B>(b), c));
  }
};

}  // namespace detail

using s4 = detail::Nibbles<signed char, signed char>;
using u4 = detail::Nibbles<unsigned char, unsigned char>;
using s4u4 = detail::Nibbles<signed char, unsigned char>;
using u4s4 = detail::Nibbles<unsigned char, signed char>;
using e4m3 = detail::Fp8<detail::E4M3, detail::E4M3>;
using e5m2 = detail::Fp8<detail::E5M2, detail::E5M2>;
using e4m3e5m2 = detail::Fp8<detail::E4M3, detail::E5M2>;
using e5m2e4m3 = detail::Fp8<detail::E5M2, detail::E4M3>;

namespace detail {

using porter::detail::from_lane;
using porter::detail::wave_lane;
using matrix::words2;

/// Words of A or B for one step: two of 16-bit elements, the second zero if there is none, else one.
PORTER_MATRIX void pack(words2& to, u32 const* words, int count) { to = words2{words[0], count > 1 ? words[1] : 0u}; }
PORTER_MATRIX void pack(u32& to, u32 const* words, int) { to = words[0]; }

/// Element `at` of four.
PORTER_MATRIX float chosen(matrix::float4_ x, u32 at) {
  float const low = at & 1u ? x.y : x.x, high = at & 1u ? x.w : x.z;
  return at & 2u ? high : low;
}
PORTER_MATRIX int chosen(matrix::int4_ x, u32 at) {
  int const low = at & 1u ? x.y : x.x, high = at & 1u ? x.w : x.z;
  return at & 2u ? high : low;
}

/// The value of the lane whose number differs in bit 2.
template <class T> PORTER_MATRIX T from_next_quad(T value) {
  return matrix::bits<T>(
      porter::detail::row_moved<0x1b>(porter::detail::row_moved<0x141>(matrix::bits<u32>(value))));
}

/// Rows lane / 4 (and lane / 4 + 8 if there are two), columns 2 (lane % 4) and the next of A B.
template <class Kind, int Rows, int Words> struct Product {
  using Pack = typename Kind::Pack;
  using Sum = typename Kind::Sum;
  static constexpr int per_step = sizeof(Pack) / sizeof(u32);
  static constexpr int steps = (Words + per_step - 1) / per_step;

  Pack a[Rows][steps], b[4][steps];
  Sum sums[Rows];

  /// Lane i of quad t of 16 lanes gets row i of theirs, the elements that lane t of the row's quad has. Lane j of quad p
  /// gets column 2 j + p % 2, from all four lanes that hold it.
  PORTER_MATRIX Product(u32 const (&held_a)[Words][Rows], u32 const (&held_b)[Words]) {
    u32 const lane = wave_lane(), row = (lane & ~15u) | (lane & 3u) << 2 | (lane >> 2 & 3u);
    u32 const column = (lane & ~31u) | (lane & 3u) << 3 | (lane & 4u);
#pragma unroll
    for (int r = 0; r < Rows; ++r) {
      u32 words[Words];
#pragma unroll
      for (int w = 0; w < Words; ++w) words[w] = from_lane(held_a[w][r], row);
      sums[r] = Sum{0, 0, 0, 0};
#pragma unroll
      for (int s = 0; s < steps; ++s) pack(a[r][s], words + s * per_step, Words);
    }
#pragma unroll
    for (u32 t = 0; t < 4u; ++t) {
      u32 words[Words];
#pragma unroll
      for (int w = 0; w < Words; ++w) words[w] = from_lane(held_b[w], column + t);
#pragma unroll
      for (int s = 0; s < steps; ++s) pack(b[t][s], words + s * per_step, Words);
    }
  }

  template <bool ByMatrix> PORTER_MATRIX void multiply() {
    using Step = matrix::Step<Kind, ByMatrix>;
#pragma unroll
    for (int r = 0; r < Rows; ++r) {
#pragma unroll
      for (int s = 0; s < steps; ++s) {
        sums[r] = Step::template add<2, 0>(a[r][s], b[0][s], sums[r]);
        sums[r] = Step::template add<2, 1>(a[r][s], b[1][s], sums[r]);
        sums[r] = Step::template add<2, 2>(a[r][s], b[2][s], sums[r]);
        sums[r] = Step::template add<2, 3>(a[r][s], b[3][s], sums[r]);
      }
    }
  }

  /// Quad p has all four rows of a column; row p of it, and row p of what its neighbour has, are its own results.
  template <class T> PORTER_MATRIX void results(T (&to)[2 * Rows]) const {
    u32 const quad = wave_lane() >> 2 & 3u;
#pragma unroll
    for (int r = 0; r < Rows; ++r) {
      T const own = chosen(sums[r], quad), other = from_next_quad(chosen(sums[r], quad ^ 1u));
      to[2 * r] = quad & 1u ? other : own;
      to[2 * r + 1] = quad & 1u ? own : other;
    }
  }
};

template <class Kind, class T, int Rows, int Words>
PORTER_MATRIX void multiply(u32 const (&a)[Words][Rows], u32 const (&b)[Words], T (&to)[2 * Rows]) {
  Product<Kind, Rows, Words> product(a, b);
  if (matrix::whole_wave())
    product.template multiply<true>();
  else
    product.template multiply<false>();
  product.results(to);
}

template <class Kind, int Words>
PORTER_MATRIX Registers<float, 4> floats(u32 const (&a)[Words][2], u32 const (&b)[Words], float const (&c)[4]) {
  Registers<float, 4> d;
  multiply<Kind>(a, b, d.x);
#pragma unroll
  for (int i = 0; i < 4; ++i) d.x[i] += c[i];
  return d;
}

/// Accumulators of halves: rounded once.
template <class Kind, int Words>
PORTER_MATRIX Registers<u32, 2> halves(u32 const (&a)[Words][2], u32 const (&b)[Words], u32 const (&c)[2]) {
  typedef _Float16 pair __attribute__((ext_vector_type(2)));
  float sums[4];
  multiply<Kind>(a, b, sums);
  Registers<u32, 2> d;
#pragma unroll
  for (int i = 0; i < 2; ++i) {
    pair const before = matrix::bits<pair>(c[i]);
    pair after;
    after.x = static_cast<_Float16>(sums[2 * i] + static_cast<float>(before.x));
    after.y = static_cast<_Float16>(sums[2 * i + 1] + static_cast<float>(before.y));
    d.x[i] = matrix::bits<u32>(after);
  }
  return d;
}

template <class Kind, bool Saturate, int Rows, int Words>
PORTER_MATRIX Registers<int, 2 * Rows> integers(u32 const (&a)[Words][Rows], u32 const (&b)[Words],
                                                int const (&c)[2 * Rows]) {
  Registers<int, 2 * Rows> d;
  multiply<Kind>(a, b, d.x);
#pragma unroll
  for (int i = 0; i < 2 * Rows; ++i)
    d.x[i] = Saturate ? matrix::saturated_sum(c[i], d.x[i]) : matrix::wrapped_sum(c[i], d.x[i]);
  return d;
}

}  // namespace detail

// mma.sync.aligned.m16n8k*: four registers of A and two of B, or two and one. The type names the elements of A and B.

template <class Kind>
PORTER_MATRIX Registers<float, 4> mma_f32(u32 a0, u32 a1, u32 a2, u32 a3, u32 b0, u32 b1, float c0, float c1, float c2,
                                          float c3) {
  return detail::floats<Kind>({{a0, a1}, {a2, a3}}, {b0, b1}, {c0, c1, c2, c3});
}
template <class Kind>
PORTER_MATRIX Registers<float, 4> mma_f32(u32 a0, u32 a1, u32 b0, float c0, float c1, float c2, float c3) {
  return detail::floats<Kind, 1>({{a0, a1}}, {b0}, {c0, c1, c2, c3});
}
template <class Kind>
PORTER_MATRIX Registers<u32, 2> mma_f16(u32 a0, u32 a1, u32 a2, u32 a3, u32 b0, u32 b1, u32 c0, u32 c1) {
  return detail::halves<Kind>({{a0, a1}, {a2, a3}}, {b0, b1}, {c0, c1});
}
template <class Kind> PORTER_MATRIX Registers<u32, 2> mma_f16(u32 a0, u32 a1, u32 b0, u32 c0, u32 c1) {
  return detail::halves<Kind, 1>({{a0, a1}}, {b0}, {c0, c1});
}
#define PORTER_MMA_INTEGERS(name, saturate)                                                                             \
  template <class Kind>                                                                                                 \
  PORTER_MATRIX Registers<int, 4> name(u32 a0, u32 a1, u32 a2, u32 a3, u32 b0, u32 b1, int c0, int c1, int c2, int c3) { \
    return detail::integers<Kind, saturate>({{a0, a1}, {a2, a3}}, {b0, b1}, {c0, c1, c2, c3});                          \
  }                                                                                                                     \
  template <class Kind>                                                                                                 \
  PORTER_MATRIX Registers<int, 4> name(u32 a0, u32 a1, u32 b0, int c0, int c1, int c2, int c3) {                        \
    return detail::integers<Kind, saturate, 2, 1>({{a0, a1}}, {b0}, {c0, c1, c2, c3});                                  \
  }                                                                                                                     \
  /* m8n8k* */                                                                                                          \
  template <class Kind> PORTER_MATRIX Registers<int, 2> name(u32 a0, u32 b0, int c0, int c1) {                          \
    return detail::integers<Kind, saturate, 1, 1>({{a0}}, {b0}, {c0, c1});                                              \
  }
PORTER_MMA_INTEGERS(mma_s32, false)
PORTER_MMA_INTEGERS(mma_s32_satfinite, true)
#undef PORTER_MMA_INTEGERS

/// m8n8k4 of doubles: each lane fetches its row of A from its quad, its two columns of B from theirs.
PORTER_MATRIX Registers<double, 2> mma_f64(double a, double b, double c0, double c1) {
  u32 const lane = detail::wave_lane(), column = (lane & ~31u) | (lane & 3u) << 3;
  Registers<double, 2> d = {{c0, c1}};
#pragma unroll
  for (u32 k = 0; k < 4u; ++k) {
    double const x = shfl(a, static_cast<int>(k), 4);
    auto const get = [&](u32 from) {
      matrix::words2 const words = matrix::bits<matrix::words2>(b);
      return matrix::bits<double>(matrix::words2{detail::from_lane(words.x, from), detail::from_lane(words.y, from)});
    };
    d.x[0] = __builtin_fma(x, get(column + k), d.x[0]);
    d.x[1] = __builtin_fma(x, get(column + k + 4u), d.x[1]);
  }
  return d;
}

// Matrices of 8 x 8 elements of 16 bits: lane l has elements 2 (l % 4) and the next of row l / 4; lanes 8 i to 8 i + 7 have
// the addresses of the rows of matrix i, as offsets in LDS.

namespace detail {
template <class T> PORTER_MATRIX T __attribute__((address_space(3))) * in_lds(u32 offset) {
  return (T __attribute__((address_space(3)))*)(__UINTPTR_TYPE__)offset;
}
PORTER_MATRIX u32 row_address(u32 address, u32 row) { return from_lane(address, (wave_lane() & ~31u) + row); }
}  // namespace detail

template <int Count> PORTER_MATRIX Registers<u32, Count> ldmatrix(u32 address) {
  u32 const lane = lane_id();
  Registers<u32, Count> d;
  syncwarp();
#pragma unroll
  for (u32 i = 0; i < Count; ++i)
    d.x[i] = *detail::in_lds<u32 const>(detail::row_address(address, 8u * i + (lane >> 2)) + 4u * (lane & 3u));
  return d;
}
template <int Count> PORTER_MATRIX Registers<u32, Count> ldmatrix_trans(u32 address) {
  u32 const lane = lane_id(), row = 2u * (lane & 3u), byte = 2u * (lane >> 2);
  Registers<u32, Count> d;
  syncwarp();
#pragma unroll
  for (u32 i = 0; i < Count; ++i) {
    u32 const low = *detail::in_lds<unsigned short const>(detail::row_address(address, 8u * i + row) + byte);
    u32 const high = *detail::in_lds<unsigned short const>(detail::row_address(address, 8u * i + row + 1u) + byte);
    d.x[i] = low | high << 16;
  }
  return d;
}

namespace detail {
template <int Count> PORTER_MATRIX void store(u32 address, u32 const (&x)[Count], bool transposed) {
  u32 const lane = lane_id(), row = 2u * (lane & 3u), byte = 2u * (lane >> 2);
  syncwarp();
#pragma unroll
  for (u32 i = 0; i < Count; ++i) {
    if (transposed) {
      u32 const low = row_address(address, 8u * i + row), high = row_address(address, 8u * i + row + 1u);
      *in_lds<unsigned short>(low + byte) = static_cast<unsigned short>(x[i]);
      *in_lds<unsigned short>(high + byte) = static_cast<unsigned short>(x[i] >> 16);
    } else {
      *in_lds<u32>(row_address(address, 8u * i + (lane >> 2)) + 4u * (lane & 3u)) = x[i];
    }
  }
  syncwarp();
}
}  // namespace detail

PORTER_MATRIX void stmatrix(u32 address, u32 x0) { detail::store<1>(address, {x0}, false); }
PORTER_MATRIX void stmatrix(u32 address, u32 x0, u32 x1) { detail::store<2>(address, {x0, x1}, false); }
PORTER_MATRIX void stmatrix(u32 address, u32 x0, u32 x1, u32 x2, u32 x3) {
  detail::store<4>(address, {x0, x1, x2, x3}, false);
}
PORTER_MATRIX void stmatrix_trans(u32 address, u32 x0) { detail::store<1>(address, {x0}, true); }
PORTER_MATRIX void stmatrix_trans(u32 address, u32 x0, u32 x1) { detail::store<2>(address, {x0, x1}, true); }
PORTER_MATRIX void stmatrix_trans(u32 address, u32 x0, u32 x1, u32 x2, u32 x3) {
  detail::store<4>(address, {x0, x1, x2, x3}, true);
}

/// The transposed matrix of one that lies in registers.
PORTER_MATRIX u32 movmatrix_trans(u32 x) {
  u32 const lane = lane_id(), from = (detail::wave_lane() & ~31u) + 8u * (lane & 3u) + (lane >> 3);
  u32 const shift = (lane >> 2 & 1u) * 16u;
  u32 const low = detail::from_lane(x, from) >> shift & 0xffffu, high = detail::from_lane(x, from + 4u) >> shift;
  return low | high << 16;
}

}  // namespace ptx
}  // namespace porter

#endif  // HIP
#endif  // PORTER_MMA_HPP
