// What PTX's approximations, conversions, sums of matrices and atomics give on a GPU: every input where there is one
// operand of 32 bits, drawn ones for the others. Built and run by capture.sh; read by `python -m benchmarks.capture`.
#include <cuda_runtime.h>

#define RUNTIME(name) cuda##name
#include "../capture_gfx942/device.hpp"

// One operand of 32 bits: `code` makes %0, of a type, of %1.
#define OF_ONE(name, text, type, result, code, operand)                                     \
  struct name {                                                                             \
    static constexpr const char* said = text;                                               \
    static __device__ uint32_t of(uint32_t x) {                                             \
      type y;                                                                               \
      asm volatile(code : result(y) : operand);                                             \
      return y;                                                                             \
    }                                                                                       \
  };
#define UNARY(name, text) \
  OF_ONE(name, text, uint32_t, "=r", "{.reg .f32 a, b; mov.b32 a, %1; " text " b, a; mov.b32 %0, b;}", "r"(x))
#define TO_WORD(name, text) OF_ONE(name, text, uint32_t, "=r", "{.reg .f32 a; mov.b32 a, %1; " text " %0, a;}", "r"(x))
#define TO_16_BITS(name, text) OF_ONE(name, text, uint16_t, "=h", "{.reg .f32 a; mov.b32 a, %1; " text " %0, a;}", "r"(x))
#define HALF(name, text) OF_ONE(name, text, uint16_t, "=h", text " %0, %1;", "h"(static_cast<uint16_t>(x)))

UNARY(Exp2, "ex2.approx.f32")
UNARY(Log2, "lg2.approx.f32")
UNARY(Reciprocal, "rcp.approx.f32")
UNARY(Rsqrt, "rsqrt.approx.f32")
UNARY(Sqrt, "sqrt.approx.f32")
UNARY(Sin, "sin.approx.f32")
UNARY(Cos, "cos.approx.f32")
UNARY(Tanh, "tanh.approx.f32")
UNARY(Exp2Flushed, "ex2.approx.ftz.f32")
UNARY(Log2Flushed, "lg2.approx.ftz.f32")
UNARY(ReciprocalFlushed, "rcp.approx.ftz.f32")
UNARY(RsqrtFlushed, "rsqrt.approx.ftz.f32")
UNARY(SqrtFlushed, "sqrt.approx.ftz.f32")
TO_WORD(ToInt, "cvt.rni.s32.f32")
TO_WORD(ToUnsigned, "cvt.rzi.u32.f32")
TO_WORD(ToTf32, "cvt.rna.tf32.f32")
HALF(Exp2Half, "ex2.approx.f16")
HALF(TanhHalf, "tanh.approx.f16")
TO_16_BITS(ToHalf, "cvt.rn.f16.f32")
TO_16_BITS(ToBfloat16, "cvt.rn.bf16.f32")

ROWS(binary_f32, 6)
  const float a = f32(row, 0), b = f32(row, 1), c = f32(row, 2);
  asm volatile("{.reg .f32 d; div.approx.f32 d, %1, %2; mov.b32 %0, d;}" : "=r"(out[0]) : "f"(a), "f"(b));
  asm volatile("{.reg .f32 d; div.full.f32 d, %1, %2; mov.b32 %0, d;}" : "=r"(out[1]) : "f"(a), "f"(b));
  asm volatile("{.reg .f32 d; fma.rn.f32 d, %1, %2, %3; mov.b32 %0, d;}" : "=r"(out[2]) : "f"(a), "f"(b), "f"(c));
  asm volatile("{.reg .f32 d; fma.rn.ftz.f32 d, %1, %2, %3; mov.b32 %0, d;}" : "=r"(out[3]) : "f"(a), "f"(b), "f"(c));
  asm volatile("{.reg .f32 d; min.f32 d, %1, %2; mov.b32 %0, d;}" : "=r"(out[4]) : "f"(a), "f"(b));
  asm volatile("{.reg .f32 d; max.NaN.f32 d, %1, %2; mov.b32 %0, d;}" : "=r"(out[5]) : "f"(a), "f"(b));
END

ROWS(unary_f64, 8)
  const double x = f64(row, 0);
  double reciprocal, root;
  asm volatile("rcp.approx.ftz.f64 %0, %1;" : "=d"(reciprocal) : "d"(x));
  asm volatile("rsqrt.approx.ftz.f64 %0, %1;" : "=d"(root) : "d"(x));
  put(out, reciprocal);
  put(out + 2, root);
  asm volatile("{.reg .f32 a; cvt.rn.f32.f64 a, %1; mov.b32 %0, a;}" : "=r"(out[4]) : "d"(x));
  asm volatile("cvt.rzi.s32.f64 %0, %1;" : "=r"(out[5]) : "d"(x));
  asm volatile("cvt.rni.u32.f64 %0, %1;" : "=r"(out[6]) : "d"(x));
  asm volatile("{.reg .f32 a; cvt.rz.f32.f64 a, %1; mov.b32 %0, a;}" : "=r"(out[7]) : "d"(x));
END

ROWS(dots, 2)
  const uint32_t x = drawn(row, 41), y = drawn(row, 42), z = drawn(row, 43);
  asm volatile("dp4a.s32.s32 %0, %1, %2, %3;" : "=r"(out[0]) : "r"(x), "r"(y), "r"(z));
  asm volatile("dp2a.lo.s32.s32 %0, %1, %2, %3;" : "=r"(out[1]) : "r"(x), "r"(y), "r"(z));
END

// An atomic gives what was there; what is there after is read again.
ROWS(atomics, 8)
  __shared__ float cells[256];
  const float a = f32(row, 0), b = f32(row, 1);
  float* place = reinterpret_cast<float*>(out);
  place[0] = a;
  out[1] = __float_as_uint(atomicAdd(place, b));
  cells[threadIdx.x] = a;
  out[2] = __float_as_uint(atomicAdd(&cells[threadIdx.x], b));
  out[3] = __float_as_uint(cells[threadIdx.x]);
  double* wide = reinterpret_cast<double*>(out + 4);
  *wide = f64(row, 0);
  put(out + 6, atomicAdd(wide, f64(row, 1)));
END

static __device__ uint32_t two(uint32_t row, uint32_t place, int exponent, int mantissa) {
  const uint32_t at = (threadIdx.x & 31) * 16 + place * 2;
  return element_drawn(row, at, exponent, mantissa) | element_drawn(row, at + 1, exponent, mantissa) << 16;
}
static __device__ uint32_t one(uint32_t row, uint32_t place) { return element_drawn(row, (threadIdx.x & 31) * 16 + place, 8, 23) & 0xffffe000u; }

static __device__ uint32_t four(uint32_t row, uint32_t place, int exponent, int mantissa) {
  uint32_t word = 0;
  for (uint32_t i = 0; i < 4; i++)
    word |= element_drawn(row, (threadIdx.x & 31) * 32 + place * 4 + i, exponent, mantissa) << 8 * i;
  return word;
}

#define LANE (threadIdx.x & 31)
#define WARP_ROW                                                     \
  const uint32_t row = (blockIdx.x * blockDim.x + threadIdx.x) / 32; \
  if (row >= rows) return;
// C is zero in every other four rows: what it adds is then not in the way.
#define SUMMANDS(d)                                                                                       \
  float d[4];                                                                                             \
  for (int i = 0; i < 4; i++)                                                                             \
    d[i] = row & 4 ? __uint_as_float(element_drawn(row, 4096 + LANE * 4 + i, 8, 23)) : 0.0f;
#define LEFT(d) \
  for (int i = 0; i < 4; i++) out[(static_cast<size_t>(row) * 32 + LANE) * 4 + i] = __float_as_uint(d[i]);
#define PRODUCT(name, text, of)                                                                           \
  __global__ void name(uint32_t* out, uint32_t rows) {                                                    \
    WARP_ROW SUMMANDS(d)                                                                                  \
    asm volatile("mma.sync.aligned." text " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"        \
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                         \
                 : "r"(of(0)), "r"(of(1)), "r"(of(2)), "r"(of(3)), "r"(of(4)), "r"(of(5)));               \
    LEFT(d)                                                                                               \
  }
#define HALF_PRODUCT(name, text, of)                                                                      \
  __global__ void name(uint32_t* out, uint32_t rows) {                                                    \
    WARP_ROW SUMMANDS(d)                                                                                  \
    asm volatile("mma.sync.aligned." text " {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};"                 \
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])                                         \
                 : "r"(of(0)), "r"(of(1)), "r"(of(4)));                                                   \
    LEFT(d)                                                                                               \
  }
#define OF_F16(place) two(row, place, 5, 10)
#define OF_BF16(place) two(row, place, 8, 7)
#define OF_TF32(place) one(row, place)
PRODUCT(mma_f16, "m16n8k16.row.col.f32.f16.f16.f32", OF_F16)
PRODUCT(mma_bf16, "m16n8k16.row.col.f32.bf16.bf16.f32", OF_BF16)
PRODUCT(mma_tf32, "m16n8k8.row.col.f32.tf32.tf32.f32", OF_TF32)
HALF_PRODUCT(mma_f16_k8, "m16n8k8.row.col.f32.f16.f16.f32", OF_F16)
HALF_PRODUCT(mma_bf16_k8, "m16n8k8.row.col.f32.bf16.bf16.f32", OF_BF16)
HALF_PRODUCT(mma_tf32_k4, "m16n8k4.row.col.f32.tf32.tf32.f32", OF_TF32)
__global__ void mma_f16_sums(uint32_t* out, uint32_t rows) {
  WARP_ROW
  uint32_t d[2];
  for (int i = 0; i < 2; i++)
    d[i] = row & 4 ? element_drawn(row, 4096 + LANE * 4 + 2 * i, 5, 10) | element_drawn(row, 4097 + LANE * 4 + 2 * i, 5, 10) << 16 : 0;
  asm volatile("mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3,%4,%5}, {%6,%7}, {%0,%1};"
               : "+r"(d[0]), "+r"(d[1])
               : "r"(OF_F16(0)), "r"(OF_F16(1)), "r"(OF_F16(2)), "r"(OF_F16(3)), "r"(OF_F16(4)), "r"(OF_F16(5)));
  for (int i = 0; i < 2; i++) out[(static_cast<size_t>(row) * 32 + LANE) * 2 + i] = d[i];
}
__global__ void mma_f64(uint32_t* out, uint32_t rows) {
  WARP_ROW
  double d[2];
  for (int i = 0; i < 2; i++) d[i] = row & 4 ? __uint_as_float(element_drawn(row, 4096 + LANE * 4 + i, 8, 23)) : 0.0;
  const double a = __uint_as_float(element_drawn(row, LANE * 16, 8, 23)) / 3, b = __uint_as_float(element_drawn(row, LANE * 16 + 8, 8, 23)) / 7;
  asm volatile("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0,%1}, {%2}, {%3}, {%0,%1};" : "+d"(d[0]), "+d"(d[1]) : "d"(a), "d"(b));
  for (int i = 0; i < 2; i++) put(out + (static_cast<size_t>(row) * 32 + LANE) * 4 + 2 * i, d[i]);
}
// Elements of 8 bits want sm_89: with CAPTURE_ARCH=89 or more.
#if defined(WITH_FP8)
#define OF_E4M3(place) four(row, place, 4, 3)
#define OF_E5M2(place) four(row, place, 5, 2)
PRODUCT(mma_e4m3, "m16n8k32.row.col.f32.e4m3.e4m3.f32", OF_E4M3)
PRODUCT(mma_e5m2, "m16n8k32.row.col.f32.e5m2.e5m2.f32", OF_E5M2)
#endif
#define WARPS(name, type, words) drawn_rows(file, want, #name, type, name, words, 32);

int main(int count, char** words) {
  const Asked want = asked(count, words);
  cudaDeviceProp device;
  CHECK(cudaGetDeviceProperties(&device, 0));
  char said[320];
  snprintf(said, sizeof said, "%s, compute capability %d.%d", device.name, device.major, device.minor);
  Records file(want.path, "nvidia", said);
  all_inputs<Exp2>(file, want, "f32");
  all_inputs<Log2>(file, want, "f32");
  all_inputs<Reciprocal>(file, want, "f32");
  all_inputs<Rsqrt>(file, want, "f32");
  all_inputs<Sqrt>(file, want, "f32");
  all_inputs<Sin>(file, want, "f32");
  all_inputs<Cos>(file, want, "f32");
  all_inputs<Tanh>(file, want, "f32");
  all_inputs<Exp2Flushed>(file, want, "f32");
  all_inputs<Log2Flushed>(file, want, "f32");
  all_inputs<ReciprocalFlushed>(file, want, "f32");
  all_inputs<RsqrtFlushed>(file, want, "f32");
  all_inputs<SqrtFlushed>(file, want, "f32");
  all_inputs<ToInt>(file, want, "u32");
  all_inputs<ToUnsigned>(file, want, "u32");
  all_inputs<ToTf32>(file, want, "f32");
  all_inputs<ToHalf>(file, want, "f16");
  all_inputs<ToBfloat16>(file, want, "u32");
  Asked small = want;  // 16 bits are 16 blocks: all of them, in full
  small.first = 0, small.step = small.whole = 1, small.blocks = 16;
  all_inputs<Exp2Half>(file, small, "f16", 16);
  all_inputs<TanhHalf>(file, small, "f16", 16);
  DRAWN(binary_f32, "f32", 6)
  DRAWN(unary_f64, "u32", 8)
  DRAWN(dots, "u32", 2)
  DRAWN(atomics, "u32", 8)
  WARPS(mma_f16, "f32", 4)
  WARPS(mma_bf16, "f32", 4)
  WARPS(mma_tf32, "f32", 4)
  WARPS(mma_f16_k8, "f32", 4)
  WARPS(mma_bf16_k8, "f32", 4)
  WARPS(mma_tf32_k4, "f32", 4)
  WARPS(mma_f16_sums, "u32", 2)
  WARPS(mma_f64, "u32", 4)
#if defined(WITH_FP8)
  WARPS(mma_e4m3, "f32", 4)
  WARPS(mma_e5m2, "f32", 4)
#endif
  file.end();
  return 0;
}
