#include <hip/hip_runtime.h>
#include <hip/hip_fp16.h>
#include "porter/wmma.hpp"
using namespace porter::nvcuda;

// A bfloat16 that every version of HIP has: sixteen bits.
struct brain {
  unsigned short raw;
};
template <> struct wmma::detail::Kind<brain> { using type = porter::matrix::BF16; };

// One warp multiplies one tile: D = A B + C; `turned` loads C and stores D by columns.
template <int m, int n, int k, class T, class LA, class LB, class C, class D>
__device__ void tile(const void* a_, const void* b_, const C* c, D* d, int lda, int ldb, int ldc, bool turned, bool sat) {
  using S = typename wmma::helper_traits<T>::storage_element_type;
  wmma::layout_t const layout = turned ? wmma::mem_col_major : wmma::mem_row_major;
  wmma::fragment<wmma::matrix_a, m, n, k, T, LA> a;
  wmma::fragment<wmma::matrix_b, m, n, k, T, LB> b;
  wmma::fragment<wmma::accumulator, m, n, k, C> in;
  wmma::fragment<wmma::accumulator, m, n, k, D> out;
  wmma::load_matrix_sync(a, static_cast<const S*>(a_), lda);
  wmma::load_matrix_sync(b, static_cast<const S*>(b_), ldb);
  wmma::load_matrix_sync(in, c, ldc, layout);
  wmma::mma_sync(out, a, b, in, sat);
  wmma::store_matrix_sync(d, out, ldc, layout);
}
// Warps take tiles as they come; warps above a number have none.
#define PARAMETERS(C, D)                                                                                               \
  const char *a, const char *b, const C *c, D *d, int lda, int ldb, int ldc, int turned, int sat, int size_a, int size_b, \
      int size_c, int warps
#define WARP (int)((blockIdx.x * blockDim.x + threadIdx.x) / 32)
#define TILE a + warp * size_a, b + warp * size_b, c + warp * size_c, d + warp * size_c, lda, ldb, ldc, turned
#define KERNEL(name, m, n, k, T, LA, LB, C, D)                                \
  extern "C" __global__ void name(PARAMETERS(C, D)) {                         \
    int const warp = WARP;                                                    \
    if (warp < warps) tile<m, n, k, T, wmma::LA, wmma::LB, C, D>(TILE, sat);  \
  }

// Kernels from here on.
KERNEL(f16_16x16x16_rc, 16, 16, 16, half, row_major, col_major, float, float)
KERNEL(bf16_32x8x16_rc, 32, 8, 16, brain, row_major, col_major, float, float)
KERNEL(u8_8x32x16_rc, 8, 32, 16, unsigned char, row_major, col_major, int, int)
#ifndef FEW_KERNELS
KERNEL(f16_16x16x16_cr, 16, 16, 16, half, col_major, row_major, float, float)
KERNEL(f16_32x8x16_rc, 32, 8, 16, half, row_major, col_major, float, float)
KERNEL(f16_32x8x16_cr, 32, 8, 16, half, col_major, row_major, float, float)
KERNEL(f16_8x32x16_rc, 8, 32, 16, half, row_major, col_major, float, float)
KERNEL(f16_8x32x16_cr, 8, 32, 16, half, col_major, row_major, float, float)
KERNEL(bf16_16x16x16_cr, 16, 16, 16, brain, col_major, row_major, float, float)
KERNEL(bf16_8x32x16_rc, 8, 32, 16, brain, row_major, col_major, float, float)
KERNEL(s8_16x16x16_rc, 16, 16, 16, signed char, row_major, col_major, int, int)
KERNEL(s8_32x8x16_cr, 32, 8, 16, signed char, col_major, row_major, int, int)
KERNEL(s8_8x32x16_rc, 8, 32, 16, signed char, row_major, col_major, int, int)
KERNEL(u8_16x16x16_rc, 16, 16, 16, unsigned char, row_major, col_major, int, int)
KERNEL(u8_32x8x16_cr, 32, 8, 16, unsigned char, col_major, row_major, int, int)
KERNEL(halffloat_16x16x16_cc, 16, 16, 16, half, col_major, col_major, half, float)
KERNEL(floathalf_32x8x16_rr, 32, 8, 16, half, row_major, row_major, float, half)
KERNEL(tf32_16x16x8_cr, 16, 16, 8, wmma::precision::tf32, col_major, row_major, float, float)
KERNEL(f64_8x8x4_cr, 8, 8, 4, double, col_major, row_major, double, double)
#endif
KERNEL(half_16x16x16_rr, 16, 16, 16, half, row_major, row_major, half, half)
KERNEL(tf32_16x16x8_rc, 16, 16, 8, wmma::precision::tf32, row_major, col_major, float, float)
KERNEL(f64_8x8x4_rc, 8, 8, 4, double, row_major, col_major, double, double)

// Loops of another length in each warp. `early` is made before the product of its round, and used after the loop; a warp
// that is done keeps it in registers while the other goes on.
extern "C" __global__ void rounds(const half* a_, const half* b_, float* d, float* rest, const int* trips) {
  int const warp = WARP;
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> b;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc;
  wmma::fill_fragment(acc, 0.0f);
  float early[16], late[16];
  for (int i = 0; i < trips[warp]; ++i) {
    wmma::load_matrix_sync(a, a_ + 256 * i, 16);
    wmma::load_matrix_sync(b, b_ + 256 * i, 16);
    wmma::mma_sync(acc, a, b, acc);
    for (int e = 0; e < 16; ++e) early[e] = __half2float(a_[256 * i + 16 * e + threadIdx.x % 16]);
    if (i % 3 == 1) wmma::mma_sync(acc, a, b, acc);
    for (int e = 0; e < 16; ++e) late[e] = early[e] * __half2float(b.x[e]) + threadIdx.x;
  }
  wmma::store_matrix_sync(d + 256 * warp, acc, 16, wmma::mem_row_major);
  for (int e = 0; e < 16; ++e) rest[32 * (blockIdx.x * blockDim.x + threadIdx.x) + e] = early[e];
  for (int e = 0; e < 16; ++e) rest[32 * (blockIdx.x * blockDim.x + threadIdx.x) + 16 + e] = late[e];
}

// Even warps multiply, odd ones compute something else with many live values.
extern "C" __global__ void roles(const half* a_, const half* b_, float* d, const float* x) {
  int const warp = WARP, lane = threadIdx.x % 32;
  float kept[24];
  for (int i = 0; i < 24; ++i) kept[i] = x[32 * i + lane];
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc;
  wmma::fill_fragment(acc, static_cast<float>(warp));
  if (warp % 2 == 0) {
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> b;
    wmma::load_matrix_sync(a, a_, 16);
    wmma::load_matrix_sync(b, b_, 16);
    wmma::mma_sync(acc, a, b, acc);
  } else {
    for (int i = 0; i < 24; ++i) acc.x[i % 8] += kept[i] * kept[23 - i];
  }
  for (int i = 0; i < 8; ++i) acc.x[i] += kept[i];
  wmma::store_matrix_sync(d + 256 * warp, acc, 16, wmma::mem_row_major);
}

// Elementwise work, with as many elements as the fragment says and as CUDA has.
extern "C" __global__ void elementwise(const half* a_, const half* b_, half* d) {
  wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> a;
  wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::col_major> b;
  wmma::fragment<wmma::accumulator, 16, 16, 16, float> acc;
  wmma::fragment<wmma::accumulator, 16, 16, 16, half> out;
  wmma::load_matrix_sync(a, a_, 16);
  wmma::load_matrix_sync(b, b_, 16);
  wmma::fill_fragment(acc, 1.0f);
  for (int i = 0; i < 16; ++i) a.x[i] = __hmul(a.x[i], __float2half(2.0f));
  for (int i = 0; i < b.num_elements; ++i) b.x[i] = __hneg(b.x[i]);
  wmma::mma_sync(acc, a, b, acc);
  for (int i = 0; i < acc.num_elements; ++i) out.x[i] = __float2half(acc.x[i] * 0.5f);
  wmma::store_matrix_sync(d, out, 16, wmma::mem_col_major);
}

extern "C" __global__ void to_tf32(const float* x, float* y) { y[threadIdx.x] = wmma::__float_to_tf32(x[threadIdx.x]); }
