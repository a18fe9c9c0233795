#include <hip/hip_runtime.h>
#include "porter/mma.hpp"
namespace p = porter::ptx;
using u32 = unsigned;

// Each thread has its own registers in memory; warps from `warps` on have no work.
#define THREAD (blockIdx.x * blockDim.x + threadIdx.x)
#define MMA(name, T, A, B, C, ...)                                                                                   \
  extern "C" __global__ void name(const u32* a_, const u32* b_, const T* c_, T* d_, int warps) {                    \
    u32 const *a = a_ + A * THREAD, *b = b_ + B * THREAD;                                                            \
    T const* c = c_ + C * THREAD;                                                                                    \
    if ((int)(THREAD / 32) >= warps) return;                                                                         \
    auto const d = __VA_ARGS__;                                                                                      \
    for (int i = 0; i < C; ++i) d_[C * THREAD + i] = d.x[i];                                                         \
  }
#define A4B2 a[0], a[1], a[2], a[3], b[0], b[1]
#define A2B1 a[0], a[1], b[0]
#define C4 c[0], c[1], c[2], c[3]
#define C2 c[0], c[1]
MMA(m16n8k16_f32_f16, float, 4, 2, 4, p::mma_f32<p::f16>(A4B2, C4))
MMA(m16n8k8_f32_tf32, float, 4, 2, 4, p::mma_f32<p::tf32>(A4B2, C4))
MMA(m16n8k32_f32_e4m3, float, 4, 2, 4, p::mma_f32<p::e4m3>(A4B2, C4))
MMA(m16n8k16_s32_s8, int, 2, 1, 4, p::mma_s32<p::s8>(A2B1, C4))
#ifndef FEW_KERNELS
MMA(m16n8k16_f32_bf16, float, 4, 2, 4, p::mma_f32<p::bf16>(A4B2, C4))
MMA(m16n8k8_f32_f16, float, 2, 1, 4, p::mma_f32<p::f16>(A2B1, C4))
MMA(m16n8k8_f32_bf16, float, 2, 1, 4, p::mma_f32<p::bf16>(A2B1, C4))
MMA(m16n8k4_f32_tf32, float, 2, 1, 4, p::mma_f32<p::tf32>(A2B1, C4))
MMA(m16n8k8_f16_f16, u32, 2, 1, 2, p::mma_f16<p::f16>(A2B1, C2))
MMA(m16n8k32_s32_s8, int, 4, 2, 4, p::mma_s32<p::s8>(A4B2, C4))
MMA(m16n8k32_s32_u8, int, 4, 2, 4, p::mma_s32<p::u8>(A4B2, C4))
MMA(m16n8k32_s32_u8s8, int, 4, 2, 4, p::mma_s32<p::u8s8>(A4B2, C4))
MMA(m16n8k16_s32_s8u8, int, 2, 1, 4, p::mma_s32<p::s8u8>(A2B1, C4))
MMA(m8n8k16_s32_u8, int, 1, 1, 2, p::mma_s32<p::u8>(a[0], b[0], C2))
MMA(m16n8k32_f32_e5m2, float, 4, 2, 4, p::mma_f32<p::e5m2>(A4B2, C4))
MMA(m16n8k32_f32_e4m3e5m2, float, 4, 2, 4, p::mma_f32<p::e4m3e5m2>(A4B2, C4))
MMA(m16n8k32_f16_e5m2e4m3, u32, 4, 2, 2, p::mma_f16<p::e5m2e4m3>(A4B2, C2))
MMA(m16n8k64_s32_s4, int, 4, 2, 4, p::mma_s32<p::s4>(A4B2, C4))
MMA(m16n8k64_s32_u4s4, int, 4, 2, 4, p::mma_s32<p::u4s4>(A4B2, C4))
MMA(m8n8k32_s32_u4, int, 1, 1, 2, p::mma_s32<p::u4>(a[0], b[0], C2))
MMA(m16n8k32_s32_s8_satfinite, int, 4, 2, 4, p::mma_s32_satfinite<p::s8>(A4B2, C4))
#endif
MMA(m16n8k16_f16_f16, u32, 4, 2, 2, p::mma_f16<p::f16>(A4B2, C2))
MMA(m8n8k4_f64_f64, double, 2, 2, 2, p::mma_f64(*(double const*)a, *(double const*)b, C2))

// A tile of 32 rows of 16 bytes for each warp, each row at a place of its own.
#define ROWS(name, count, load)                                                                        \
  extern "C" __global__ void name(const uint4* in, const u32* order, u32* out) {                       \
    __shared__ uint4 tile[3][40];                                                                      \
    u32 const warp = threadIdx.x / 32, lane = threadIdx.x % 32;                                        \
    tile[warp][order[lane]] = in[threadIdx.x];                                                         \
    porter::syncwarp();                                                                                \
    u32 const at = (u32)(__UINTPTR_TYPE__)(__attribute__((address_space(3))) uint4*)&tile[warp][order[lane]]; \
    auto const d = load(at);                                                                           \
    for (int i = 0; i < count; ++i) out[count * threadIdx.x + i] = d.x[i];                             \
  }
ROWS(load_1, 1, p::ldmatrix<1>)
ROWS(load_2_trans, 2, p::ldmatrix_trans<2>)
ROWS(load_4, 4, p::ldmatrix<4>)
ROWS(load_4_trans, 4, p::ldmatrix_trans<4>)

#define BACK(name, count, store, ...)                                                                  \
  extern "C" __global__ void name(const u32* in, const u32* order, uint4* out) {                       \
    __shared__ uint4 tile[3][40];                                                                      \
    u32 const warp = threadIdx.x / 32, lane = threadIdx.x % 32, *x = in + count * threadIdx.x;         \
    u32 const at = (u32)(__UINTPTR_TYPE__)(__attribute__((address_space(3))) uint4*)&tile[warp][order[lane]]; \
    store(at, __VA_ARGS__);                                                                            \
    if (lane < 8 * count) out[8 * count * warp + lane] = tile[warp][order[lane]];                      \
  }
BACK(store_4, 4, p::stmatrix, x[0], x[1], x[2], x[3])
BACK(store_2_trans, 2, p::stmatrix_trans, x[0], x[1])

extern "C" __global__ void transposed(const u32* in, u32* out) { out[THREAD] = p::movmatrix_trans(in[THREAD]); }
