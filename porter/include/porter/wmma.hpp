// nvcuda::wmma for logical warps of 32 lanes: `porter::nvcuda::wmma` has CUDA's names and meaning.
//
// CUDA leaves open which lane holds which element, and so does this: x[i] may be used element by element, with the same
// place for fragments of the same type (accumulators of one shape agree whatever their type). Here lane j of a quad of
// lanes holds column j of the quad's 4 x 4 blocks of the accumulator, two blocks to a quad. As on NVIDIA's GPUs elements
// of A and B may be held several times, and `num_elements` need not be CUDA's.
// f16 and bf16 products are added in float; half accumulators are rounded once per mma_sync. gfx90a's MFMA takes subnormal
// f16 and bf16 elements for zero, gfx942's does not.
// Covered: m16n16k16, m32n8k16, m8n32k16 of half, bfloat16, signed and unsigned char; m16n16k8 of TF32; m8n8k4 of double.
// SPDX-License-Identifier: Apache-2.0
#ifndef PORTER_WMMA_HPP
#define PORTER_WMMA_HPP

#include "matrix.hpp"

#if defined(__HIP__) || defined(__HIPCC__)

#if __has_include(<hip/hip_bf16.h>)
#if __has_include("bf16.hpp")
#include "bf16.hpp"
#else
#include <hip/hip_bf16.h>
#endif
#define PORTER_WMMA_BF16 1
#endif

namespace porter {
namespace nvcuda {
namespace wmma {

struct row_major;
struct col_major;
struct matrix_a;
struct matrix_b;
struct accumulator;
enum layout_t { mem_row_major, mem_col_major };
namespace precision {
struct tf32;
}

/// What x[] holds, and how elements of A and B are multiplied.
template <class T> struct helper_traits {
  typedef T element_type;
  typedef T storage_element_type;
  typedef T fill_argument_type;
};
template <> struct helper_traits<precision::tf32> {
  typedef precision::tf32 element_type;
  typedef float storage_element_type;
  typedef float fill_argument_type;
};

namespace detail {

template <class T> struct Kind;
template <> struct Kind<__half> { using type = matrix::F16; };
#if defined(PORTER_WMMA_BF16)
template <> struct Kind<__hip_bfloat16> { using type = matrix::BF16; };
#endif
template <> struct Kind<precision::tf32> { using type = matrix::TF32; };
template <> struct Kind<signed char> { using type = matrix::Bytes<signed char, signed char>; };
template <> struct Kind<unsigned char> { using type = matrix::Bytes<unsigned char, unsigned char>; };

/// Who holds what: quad q of the 8 has accumulator blocks (row_block(q, 0..1), column_block(q)), each 4 x 4. Groups of
/// `group` quads share the rows of A; each quad of a group holds `run` of the k-s in a row.
template <int M, int N, int K, class T> struct Places {
  static_assert(M * N == 256 && (N == 8 || N == 16 || N == 32), "m16n16, m32n8 or m8n32");
  static constexpr int step = Kind<T>::type::step;
  static constexpr int columns = N / 4;
  static constexpr int cbsz = columns == 2 ? 1 : 2;
  static constexpr int group = 1 << cbsz;
  static constexpr int run = K / group;
  static constexpr int own_a = 2 * run;
  // CUDA's fragments of halves have 16 elements: loops that say 16 instead of num_elements stay inside.
  static constexpr int count_a = sizeof(typename helper_traits<T>::storage_element_type) == 2 && own_a < 16 ? 16 : own_a;

  static PORTER_MATRIX unsigned quad() { return porter::lane_id() >> 2; }
  static PORTER_MATRIX unsigned in_quad() { return porter::lane_id() & 3u; }
  static PORTER_MATRIX unsigned first_row(int block) { return 4u * (2u * (quad() / columns) + block); }
  static PORTER_MATRIX unsigned first_column() { return 4u * (quad() % columns); }
  static PORTER_MATRIX unsigned first_k() { return (quad() % group) * run; }
};
/// Elements that lie one after the other; CUDA asks for matrices and rows at multiples of 32 and 16 bytes.
template <int Count, class T> PORTER_MATRIX void load_run(T* to, T const* from) {
  constexpr unsigned bytes = Count * sizeof(T);
  __builtin_memcpy(static_cast<void*>(to), __builtin_assume_aligned(from, bytes < 16u ? bytes : 16u), bytes);
}
template <int Count, class T> PORTER_MATRIX void load_stride(T* to, T const* from, size_t stride) {
#pragma unroll
  for (int i = 0; i < Count; ++i) to[i] = from[i * stride];
}

template <class Use, class T, int Size> struct Elements {
  typedef typename helper_traits<T>::element_type element_type;
  typedef typename helper_traits<T>::storage_element_type storage_element_type;
  enum { num_elements = Size };
  enum { num_storage_elements = Size };
  storage_element_type x[Size];
};

template <class Use, int M, int N, int K, class T> struct Size;
template <int M, int N, int K, class T> struct Size<matrix_a, M, N, K, T> {
  static constexpr int value = Places<M, N, K, T>::count_a;
};
template <int M, int N, int K, class T> struct Size<matrix_b, M, N, K, T> { static constexpr int value = K; };
template <int M, int N, int K, class T> struct Size<accumulator, M, N, K, T> { static constexpr int value = 8; };
// Doubles: a lane holds row lane / 4 of A and columns 2 (lane % 4) and the next of B.
template <> struct Size<matrix_a, 8, 8, 4, double> { static constexpr int value = 4; };
template <> struct Size<matrix_b, 8, 8, 4, double> { static constexpr int value = 8; };
template <> struct Size<accumulator, 8, 8, 4, double> { static constexpr int value = 2; };

// HIP's own conversions of __half are not there with PyTorch's flags (__HIP_NO_HALF_CONVERSIONS__).
PORTER_MATRIX float number(float x) { return x; }
PORTER_MATRIX float number(__half x) { return static_cast<float>(matrix::bits<_Float16>(x)); }
template <class T> struct Narrow { static PORTER_MATRIX T from(float x) { return static_cast<T>(x); } };
template <> struct Narrow<__half> {
  static PORTER_MATRIX __half from(float x) { return matrix::bits<__half>(static_cast<_Float16>(x)); }
};

template <class T> struct Rounded {
  static PORTER_MATRIX T from(float x, bool saturate) {
    if (!saturate) return Narrow<T>::from(x);
    float const top = sizeof(T) == 2 ? 65504.0f : 3.402823466e38f;
    return Narrow<T>::from(x != x ? 0.0f : x > top ? top : x < -top ? -top : x);
  }
};

/// All steps along k, for both rows of blocks.
template <class At, class Kind, bool ByMatrix, int First, int End> struct Steps {
  template <class A, class B>
  static PORTER_MATRIX void add(A const* a, B const* b, typename Kind::Sum (&sums)[2]) {
    constexpr int per = At::run / Kind::step, abid = First / per, offset = First % per * Kind::step;
    using Step = matrix::Step<Kind, ByMatrix>;
    typename Kind::Pack upper, lower, right;
    __builtin_memcpy(&upper, a + offset, sizeof(upper));
    __builtin_memcpy(&lower, a + At::run + offset, sizeof(lower));
    __builtin_memcpy(&right, b + First * Kind::step, sizeof(right));
    sums[0] = Step::template add<At::cbsz, abid>(upper, right, sums[0]);
    sums[1] = Step::template add<At::cbsz, abid>(lower, right, sums[1]);
    Steps<At, Kind, ByMatrix, First + 1, End>::add(a, b, sums);
  }
};
template <class At, class Kind, bool ByMatrix, int End> struct Steps<At, Kind, ByMatrix, End, End> {
  template <class A, class B> static PORTER_MATRIX void add(A const*, B const*, typename Kind::Sum (&)[2]) {}
};

template <class At, class Kind, int K, class A, class B>
PORTER_MATRIX void add_products(A const* a, B const* b, typename Kind::Sum (&sums)[2]) {
  if (matrix::whole_wave())
    Steps<At, Kind, true, 0, K / Kind::step>::add(a, b, sums);
  else
    Steps<At, Kind, false, 0, K / Kind::step>::add(a, b, sums);
}

/// Floats: the products are added to C before anything is rounded to the type of the result.
template <int M, int N, int K, class T, class D, class C> struct Multiply {
  template <class A, class B>
  static PORTER_MATRIX void into(D* d, A const* a, B const* b, C const* c, bool saturate) {
    using Kind = typename Kind<T>::type;
    typename Kind::Sum sums[2];
#pragma unroll
    for (int i = 0; i < 8; ++i) sums[i / 4][i % 4] = number(c[i]);
    add_products<Places<M, N, K, T>, Kind, K>(a, b, sums);
#pragma unroll
    for (int i = 0; i < 8; ++i) d[i] = Rounded<D>::from(sums[i / 4][i % 4], saturate);
  }
};
template <int M, int N, int K, class T> struct Multiply<M, N, K, T, int, int> {
  template <class A, class B>
  static PORTER_MATRIX void into(int* d, A const* a, B const* b, int const* c, bool saturate) {
    using Kind = typename Kind<T>::type;
    typename Kind::Sum sums[2] = {{0, 0, 0, 0}, {0, 0, 0, 0}};
    add_products<Places<M, N, K, T>, Kind, K>(a, b, sums);
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      int const sum = sums[i / 4][i % 4];
      d[i] = saturate ? matrix::saturated_sum(c[i], sum) : matrix::wrapped_sum(c[i], sum);
    }
  }
};

template <class Use, int M, int N, int K, class T, class Layout> struct Load;
template <int M, int N, int K, class T, class Layout> struct Load<matrix_a, M, N, K, T, Layout> {
  using At = Places<M, N, K, T>;
  template <class S> static PORTER_MATRIX void into(S* x, S const* p, size_t ldm) {
#pragma unroll
    for (int block = 0; block < 2; ++block) {
      size_t const row = At::first_row(block) + At::in_quad(), k = At::first_k();
      if (__is_same(Layout, row_major))
        load_run<At::run>(x + block * At::run, p + row * ldm + k);
      else
        load_stride<At::run>(x + block * At::run, p + k * ldm + row, ldm);
    }
#pragma unroll
    for (int i = At::own_a; i < At::count_a; ++i) x[i] = x[i - At::own_a];
  }
};
template <int M, int N, int K, class T, class Layout> struct Load<matrix_b, M, N, K, T, Layout> {
  using At = Places<M, N, K, T>;
  template <class S> static PORTER_MATRIX void into(S* x, S const* p, size_t ldm) {
    size_t const column = At::first_column() + At::in_quad();
    if (__is_same(Layout, col_major))
      load_run<K>(x, p + column * ldm);
    else
      load_stride<K>(x, p + column, ldm);
  }
};

template <int M, int N, class T> struct Results {
  static constexpr int columns = N / 4;
  static PORTER_MATRIX size_t row(int block) { return 4u * (2u * (porter::lane_id() / 4u / columns) + block); }
  static PORTER_MATRIX size_t column() { return 4u * (porter::lane_id() / 4u % columns) + (porter::lane_id() & 3u); }

  static PORTER_MATRIX void load(T* x, T const* p, size_t ldm, bool by_row) {
#pragma unroll
    for (int block = 0; block < 2; ++block) {
      if (by_row)
        load_stride<4>(x + 4 * block, p + row(block) * ldm + column(), ldm);
      else
        load_run<4>(x + 4 * block, p + column() * ldm + row(block));
    }
  }
  static PORTER_MATRIX void store(T* p, T const* x, size_t ldm, bool by_row) {
#pragma unroll
    for (int block = 0; block < 2; ++block) {
      if (by_row) {
#pragma unroll
        for (int i = 0; i < 4; ++i) p[(row(block) + i) * ldm + column()] = x[4 * block + i];
      } else {
        void* const to = __builtin_assume_aligned(p + column() * ldm + row(block), 4 * sizeof(T));
        __builtin_memcpy(to, static_cast<void const*>(x + 4 * block), 4 * sizeof(T));
      }
    }
  }
};

// Doubles: every lane has all factors of its two results, row lane / 4, columns 2 (lane % 4) and the next.

template <class Layout> struct Load<matrix_a, 8, 8, 4, double, Layout> {
  static PORTER_MATRIX void into(double* x, double const* p, size_t ldm) {
    size_t const row = porter::lane_id() >> 2;
#pragma unroll
    for (int k = 0; k < 4; ++k) x[k] = __is_same(Layout, row_major) ? p[row * ldm + k] : p[k * ldm + row];
  }
};
template <class Layout> struct Load<matrix_b, 8, 8, 4, double, Layout> {
  static PORTER_MATRIX void into(double* x, double const* p, size_t ldm) {
#pragma unroll
    for (int i = 0; i < 8; ++i) {
      size_t const k = i & 3, column = 2u * (porter::lane_id() & 3u) + (i >> 2);
      x[i] = __is_same(Layout, row_major) ? p[k * ldm + column] : p[column * ldm + k];
    }
  }
};
template <> struct Results<8, 8, double> {
  static PORTER_MATRIX size_t place(int i, size_t ldm, bool by_row) {
    size_t const row = porter::lane_id() >> 2, column = 2u * (porter::lane_id() & 3u) + i;
    return by_row ? row * ldm + column : column * ldm + row;
  }
  static PORTER_MATRIX void load(double* x, double const* p, size_t ldm, bool by_row) {
    x[0] = p[place(0, ldm, by_row)], x[1] = p[place(1, ldm, by_row)];
  }
  static PORTER_MATRIX void store(double* p, double const* x, size_t ldm, bool by_row) {
    p[place(0, ldm, by_row)] = x[0], p[place(1, ldm, by_row)] = x[1];
  }
};
template <> struct Multiply<8, 8, 4, double, double, double> {
  static PORTER_MATRIX void into(double* d, double const* a, double const* b, double const* c, bool) {
#pragma unroll
    for (int i = 0; i < 2; ++i) {
      double sum = c[i];
#pragma unroll
      for (int k = 0; k < 4; ++k) sum = __builtin_fma(a[k], b[4 * i + k], sum);
      d[i] = sum;
    }
  }
};

}  // namespace detail

template <class Use, int m, int n, int k, class T, class Layout = void>
class fragment : public detail::Elements<Use, T, detail::Size<Use, m, n, k, T>::value> {};

PORTER_MATRIX float __float_to_tf32(float x) {
  unsigned const word = matrix::bits<unsigned>(x);
  return (word & 0x7f800000u) == 0x7f800000u ? x : matrix::bits<float>((word + 0x1000u) & ~0x1fffu);
}

template <class Use, int m, int n, int k, class T, class Layout>
PORTER_MATRIX void fill_fragment(fragment<Use, m, n, k, T, Layout>& f,
                                 typename helper_traits<T>::fill_argument_type const& value) {
#pragma unroll
  for (int i = 0; i < f.num_elements; ++i) f.x[i] = value;
}

// Loads and stores are in order with what the lanes of the warp did before and do after them.

template <class Use, int m, int n, int k, class T, class Layout>
PORTER_MATRIX void load_matrix_sync(fragment<Use, m, n, k, T, Layout>& f,
                                    typename helper_traits<T>::storage_element_type const* p, unsigned ldm) {
  porter::syncwarp();
  detail::Load<Use, m, n, k, T, Layout>::into(f.x, p, ldm);
}
template <int m, int n, int k, class T>
PORTER_MATRIX void load_matrix_sync(fragment<accumulator, m, n, k, T>& f, T const* p, unsigned ldm, layout_t layout) {
  porter::syncwarp();
  detail::Results<m, n, T>::load(f.x, p, ldm, layout == mem_row_major);
}
template <int m, int n, int k, class T>
PORTER_MATRIX void store_matrix_sync(T* p, fragment<accumulator, m, n, k, T> const& f, unsigned ldm, layout_t layout) {
  porter::syncwarp();
  detail::Results<m, n, T>::store(p, f.x, ldm, layout == mem_row_major);
  porter::syncwarp();
}

/// `satf` keeps float results finite and int results within their range.
template <int m, int n, int k, class D, class T, class LayoutA, class LayoutB, class C>
PORTER_MATRIX void mma_sync(fragment<accumulator, m, n, k, D>& d, fragment<matrix_a, m, n, k, T, LayoutA> const& a,
                            fragment<matrix_b, m, n, k, T, LayoutB> const& b,
                            fragment<accumulator, m, n, k, C> const& c, bool satf = false) {
  detail::Multiply<m, n, k, T, D, C>::into(d.x, a.x, b.x, c.x, satf);
}

}  // namespace wmma
}  // namespace nvcuda
}  // namespace porter

#endif  // HIP
#endif  // PORTER_WMMA_HPP
