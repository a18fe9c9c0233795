#include "porter/atomics.hpp"
#include "porter/half.hpp"

#define LANE (__builtin_amdgcn_workgroup_id_x() * 64 + __builtin_amdgcn_workitem_id_x())

template <class T> __device__ T scalar(int op, T a, T b, T c) {
  switch (op) {
    case 0: return porter::hadd_rn(a, b);
    case 1: return porter::hsub_rn(a, b);
    case 2: return porter::hmul_rn(a, b);
    case 3: return porter::hadd_sat(a, b);
    case 4: return porter::hsub_sat(a, b);
    case 5: return porter::hmul_sat(a, b);
    case 6: return porter::hfma_sat(a, b, c);
    case 7: return porter::hfma_relu(a, b, c);
    case 8: return porter::hmax(a, b);
    case 9: return porter::hmin(a, b);
    case 10: return porter::hmax_nan(a, b);
    case 11: return porter::hmin_nan(a, b);
    case 12: return porter::htanh(a);
    default: return porter::htanh_approx(a);
  }
}
template <class P> __device__ P pair(int op, P a, P b, P c) {
  switch (op) {
    case 0: return porter::hadd2_rn(a, b);
    case 1: return porter::hsub2_rn(a, b);
    case 2: return porter::hmul2_rn(a, b);
    case 3: return porter::hadd2_sat(a, b);
    case 4: return porter::hsub2_sat(a, b);
    case 5: return porter::hmul2_sat(a, b);
    case 6: return porter::hfma2_sat(a, b, c);
    case 7: return porter::hfma2_relu(a, b, c);
    case 8: return porter::hmax2(a, b);
    case 9: return porter::hmin2(a, b);
    case 10: return porter::hmax2_nan(a, b);
    case 11: return porter::hmin2_nan(a, b);
    case 12: return porter::h2tanh(a);
    case 13: return porter::h2tanh_approx(a);
    case 14: return porter::hequ2(a, b);
    case 15: return porter::hneu2(a, b);
    case 16: return porter::hltu2(a, b);
    case 17: return porter::hleu2(a, b);
    case 18: return porter::hgtu2(a, b);
    case 19: return porter::hgeu2(a, b);
    default: return porter::hcmadd(a, b, c);
  }
}
template <class P> __device__ unsigned mask(int op, P a, P b) {
  switch (op) {
    case 0: return porter::heq2_mask(a, b);
    case 1: return porter::hne2_mask(a, b);
    case 2: return porter::hlt2_mask(a, b);
    case 3: return porter::hle2_mask(a, b);
    case 4: return porter::hgt2_mask(a, b);
    case 5: return porter::hge2_mask(a, b);
    case 6: return porter::hequ2_mask(a, b);
    case 7: return porter::hneu2_mask(a, b);
    case 8: return porter::hltu2_mask(a, b);
    case 9: return porter::hleu2_mask(a, b);
    case 10: return porter::hgtu2_mask(a, b);
    default: return porter::hgeu2_mask(a, b);
  }
}
#define KERNELS(name, T, P) \
  extern "C" __global__ void scalar_##name(const T* a, const T* b, const T* c, T* out, int op) { \
    out[LANE] = scalar(op, a[LANE], b[LANE], c[LANE]); \
  } \
  extern "C" __global__ void pair_##name(const P* a, const P* b, const P* c, P* out, int op) { \
    out[LANE] = pair(op, a[LANE], b[LANE], c[LANE]); \
  } \
  extern "C" __global__ void mask_##name(const P* a, const P* b, unsigned* out, int op) { \
    out[LANE] = mask(op, a[LANE], b[LANE]); \
  } \
  extern "C" __global__ void atomics_##name(T* sums, P* pairs, const T* in, const P* twice, T* old) { \
    int const i = LANE; \
    old[i] = porter::atomicAdd(sums + i % 4, in[i]); \
    porter::atomicAdd(pairs, twice[i]); \
  }
KERNELS(half, __half, __half2)

extern "C" __global__ void half_conversions(const double* d, const __half* h, __half* halves, signed char* c, unsigned char* u) {
  halves[LANE] = porter::double2half(d[LANE]);
  c[LANE] = porter::half2char_rz(h[LANE]);
  u[LANE] = porter::half2uchar_rz(h[LANE]);
}

#if __has_include(<hip/hip_bf16.h>)
KERNELS(bf16, __hip_bfloat16, __hip_bfloat162)

#define FROM(type, T) \
  extern "C" __global__ void type##_to_bf16(const T* in, __hip_bfloat16* out, int n) { \
    out[0 * n + LANE] = porter::type##2bfloat16_rn(in[LANE]); \
    out[1 * n + LANE] = porter::type##2bfloat16_rz(in[LANE]); \
    out[2 * n + LANE] = porter::type##2bfloat16_rd(in[LANE]); \
    out[3 * n + LANE] = porter::type##2bfloat16_ru(in[LANE]); \
  }
FROM(float, float)
FROM(int, int)
FROM(uint, unsigned)
FROM(ll, long long)
FROM(ull, unsigned long long)
FROM(short, short)
FROM(ushort, unsigned short)

#define TO(type, T) \
  extern "C" __global__ void bf16_to_##type(const __hip_bfloat16* in, T* out, int n) { \
    out[0 * n + LANE] = porter::bfloat162##type##_rn(in[LANE]); \
    out[1 * n + LANE] = porter::bfloat162##type##_rz(in[LANE]); \
    out[2 * n + LANE] = porter::bfloat162##type##_rd(in[LANE]); \
    out[3 * n + LANE] = porter::bfloat162##type##_ru(in[LANE]); \
  }
TO(int, int)
TO(uint, unsigned)
TO(ll, long long)
TO(ull, unsigned long long)
TO(short, short)
TO(ushort, unsigned short)

extern "C" __global__ void bf16_rest(const __hip_bfloat16* in, const float* f, signed char* c, unsigned char* u, __hip_bfloat162* p) {
  c[LANE] = porter::bfloat162char_rz(in[LANE]);
  u[LANE] = porter::bfloat162uchar_rz(in[LANE]);
  p[3 * LANE] = porter::make_bfloat162(in[LANE], porter::float2bfloat16_rn(2.0f));
  p[3 * LANE + 1] = porter::floats2bfloat162_rn(f[LANE], 4.0f);
  p[3 * LANE + 2] = porter::float2bfloat162_rn(f[LANE]);
}
#endif
