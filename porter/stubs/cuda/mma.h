// Warp matrix functions.
#pragma once
#include "half.h"

namespace nvcuda {
namespace wmma {
struct row_major {};
struct col_major {};
struct matrix_a {};
struct matrix_b {};
struct accumulator {};
namespace precision { struct tf32 {}; struct u4 {}; struct s4 {}; struct b1 {}; }
namespace experimental { namespace precision { struct u4 {}; struct s4 {}; struct b1 {}; } enum bmmaBitOp { bmmaBitOpXOR = 1, bmmaBitOpAND }; enum bmmaAccumulateOp { bmmaAccumulateOpPOPC = 1 }; }
enum layout_t { mem_row_major, mem_col_major };
template <class Use, int m, int n, int k, class T, class Layout = void> struct fragment {
  static constexpr int num_elements = m * n / 32 > 1 ? m * n / 32 : 1, num_storage_elements = num_elements;
  T x[num_elements];
};
template <class Use, int m, int n, int k, class Layout> struct fragment<Use, m, n, k, precision::tf32, Layout> {
  static constexpr int num_elements = m * n / 32, num_storage_elements = num_elements;
  float x[num_elements];
};
template <class F, class T> __device__ void fill_fragment(F &, const T &);
template <class F, class T> __device__ void load_matrix_sync(F &, const T *, unsigned);
template <class F, class T> __device__ void load_matrix_sync(F &, const T *, unsigned, layout_t);
template <class T, class F> __device__ void store_matrix_sync(T *, const F &, unsigned, layout_t);
template <class D, class A, class B, class C> __device__ void mma_sync(D &, const A &, const B &, const C &, bool = false);
template <class D, class A, class B, class C, class... O> __device__ void bmma_sync(D &, const A &, const B &, const C &, O...);
__device__ float __float_to_tf32(float);
}  // namespace wmma
}  // namespace nvcuda
