// What gfx942's instructions give: every input of those with one operand of 32 bits, drawn ones for the others.
// Built and run by capture.sh; read by `python -m benchmarks.capture`.
#include <hip/hip_runtime.h>

#define RUNTIME(name) hip##name
#include "device.hpp"

// The wait states after the instruction are the compiler's business, which does not look into assembly.
#define UNARY(name, text)                                                                   \
  struct name {                                                                             \
    static constexpr const char* said = #name;                                              \
    static __device__ uint32_t of(uint32_t x) {                                             \
      uint32_t y;                                                                           \
      asm volatile(text " %0, %1\n s_nop 4" : "=v"(y) : "v"(x));                            \
      return y;                                                                             \
    }                                                                                       \
  };

UNARY(v_exp_f32, "v_exp_f32_e32")
UNARY(v_log_f32, "v_log_f32_e32")
UNARY(v_rcp_f32, "v_rcp_f32_e32")
UNARY(v_rsq_f32, "v_rsq_f32_e32")
UNARY(v_sqrt_f32, "v_sqrt_f32_e32")
UNARY(v_sin_f32, "v_sin_f32_e32")
UNARY(v_cos_f32, "v_cos_f32_e32")
UNARY(v_rcp_iflag_f32, "v_rcp_iflag_f32_e32")
UNARY(v_fract_f32, "v_fract_f32_e32")
UNARY(v_cvt_f16_f32, "v_cvt_f16_f32_e32")
UNARY(v_cvt_i32_f32, "v_cvt_i32_f32_e32")
UNARY(v_cvt_u32_f32, "v_cvt_u32_f32_e32")
UNARY(v_cvt_rpi_i32_f32, "v_cvt_rpi_i32_f32_e32")
UNARY(v_cvt_flr_i32_f32, "v_cvt_flr_i32_f32_e32")
UNARY(v_cvt_f32_i32, "v_cvt_f32_i32_e32")
UNARY(v_cvt_f32_u32, "v_cvt_f32_u32_e32")
// 16 bits: the low half of the input is the operand
UNARY(v_exp_f16, "v_exp_f16_e32")
UNARY(v_log_f16, "v_log_f16_e32")
UNARY(v_rcp_f16, "v_rcp_f16_e32")
UNARY(v_rsq_f16, "v_rsq_f16_e32")
UNARY(v_sqrt_f16, "v_sqrt_f16_e32")
UNARY(v_sin_f16, "v_sin_f16_e32")
UNARY(v_cos_f16, "v_cos_f16_e32")
UNARY(v_cvt_f32_f16, "v_cvt_f32_f16_e32")
UNARY(v_cvt_f32_fp8, "v_cvt_f32_fp8_e32")
UNARY(v_cvt_f32_bf8, "v_cvt_f32_bf8_e32")

#define PACKED(name, text)                                                                  \
  struct name {                                                                             \
    static constexpr const char* said = #name;                                              \
    static __device__ uint32_t of(uint32_t x) {                                             \
      uint32_t y = 0;                                                                       \
      asm volatile(text " %0, %1, %1\n s_nop 4" : "+v"(y) : "v"(x));                        \
      return y & 0xffffu;                                                                   \
    }                                                                                       \
  };
PACKED(v_cvt_pk_fp8_f32, "v_cvt_pk_fp8_f32")
PACKED(v_cvt_pk_bf8_f32, "v_cvt_pk_bf8_f32")

ROWS(division_f32, 6)
  bool first, second;
  const float n = f32(row, 0), d = f32(row, 1);
  out[0] = __float_as_uint(__builtin_amdgcn_div_scalef(n, d, false, &first));
  out[1] = __float_as_uint(__builtin_amdgcn_div_scalef(n, d, true, &second));
  out[2] = first | second << 1;
  out[3] = __float_as_uint(__builtin_amdgcn_div_fmasf(f32(row, 2), f32(row, 3), f32(row, 4), false));
  out[4] = __float_as_uint(__builtin_amdgcn_div_fmasf(f32(row, 2), f32(row, 3), f32(row, 4), true));
  out[5] = __float_as_uint(__builtin_amdgcn_div_fixupf(f32(row, 2), d, n));
END

ROWS(division_f64, 11)
  bool first, second;
  const double n = f64(row, 0), d = f64(row, 1);
  put(out, __builtin_amdgcn_div_scale(n, d, false, &first));
  put(out + 2, __builtin_amdgcn_div_scale(n, d, true, &second));
  out[4] = first | second << 1;
  put(out + 5, __builtin_amdgcn_div_fmas(f64(row, 2), f64(row, 3), f64(row, 4), false));
  put(out + 7, __builtin_amdgcn_div_fmas(f64(row, 2), f64(row, 3), f64(row, 4), true));
  put(out + 9, __builtin_amdgcn_div_fixup(f64(row, 2), d, n));
END

#define UNARY_F64(text, place)                                                              \
  {                                                                                         \
    double y;                                                                               \
    asm volatile(text " %0, %1\n s_nop 4" : "=v"(y) : "v"(f64(row, 0)));                    \
    put(out + (place), y);                                                                  \
  }
ROWS(unary_f64, 8)
  UNARY_F64("v_rcp_f64_e32", 0)
  UNARY_F64("v_rsq_f64_e32", 2)
  UNARY_F64("v_sqrt_f64_e32", 4)
  UNARY_F64("v_fract_f64_e32", 6)
END

ROWS(conversions_f64, 4)
  const double x = f64(row, 0);
  float narrow;
  int whole;
  uint32_t positive;
  asm volatile("v_cvt_f32_f64_e32 %0, %1\n s_nop 4" : "=v"(narrow) : "v"(x));
  asm volatile("v_cvt_i32_f64_e32 %0, %1\n s_nop 4" : "=v"(whole) : "v"(x));
  asm volatile("v_cvt_u32_f64_e32 %0, %1\n s_nop 4" : "=v"(positive) : "v"(x));
  out[0] = __float_as_uint(narrow);
  out[1] = whole;
  out[2] = positive;
  asm volatile("v_cvt_pkrtz_f16_f32 %0, %1, %2\n s_nop 4" : "=v"(out[3]) : "v"(f32(row, 1)), "v"(f32(row, 2)));
END

// MODE's bits 4 and 5 are what becomes of denormals of 32 bits: 0 flushes both sides, 1 results, 2 operands, 3 none.
#define IN_MODE(mode, text) "s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), " #mode "\n s_nop 4\n " text "\n s_nop 4\n s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 3\n s_nop 4"
#define TWO(mode, name, place) asm volatile(IN_MODE(mode, name " %0, %1, %2") : "=v"(out[place]) : "v"(a), "v"(b));
#define THREE(mode, name, place) asm volatile(IN_MODE(mode, name " %0, %1, %2, %3") : "=v"(out[place]) : "v"(a), "v"(b), "v"(c));
#define MODES(kind, name, place) kind(0, name, place) kind(1, name, place + 1) kind(2, name, place + 2) kind(3, name, place + 3)
ROWS(denormals, 24)
  const float a = f32(row * 2 + 1, 0), b = f32(row, 1), c = f32(row, 2);
  MODES(TWO, "v_add_f32_e32", 0)
  MODES(TWO, "v_mul_f32_e32", 4)
  MODES(TWO, "v_max_f32_e32", 8)
  MODES(TWO, "v_min_f32_e32", 12)
  MODES(THREE, "v_fma_f32", 16)
  MODES(THREE, "v_med3_f32", 20)
END

ROWS(integers, 4)
  const uint32_t a = drawn(row, 0), b = drawn(row, 1);
  const uint64_t c = static_cast<uint64_t>(drawn(row, 2)) << 32 | drawn(row, 3);
  uint64_t signed_sum, sum, carries, carries_of_signed;
  asm volatile("v_mad_i64_i32 %0, %1, %2, %3, %4\n s_nop 4" : "=&v"(signed_sum), "=&s"(carries_of_signed) : "v"(a), "v"(b), "v"(c));
  asm volatile("v_mad_u64_u32 %0, %1, %2, %3, %4\n s_nop 4" : "=&v"(sum), "=&s"(carries) : "v"(a), "v"(b), "v"(c));
  const uint32_t lane = threadIdx.x & 63;
  out[0] = static_cast<uint32_t>(signed_sum >> 32);
  out[1] = static_cast<uint32_t>(carries_of_signed >> lane & 1);
  out[2] = static_cast<uint32_t>(sum >> 32);
  out[3] = static_cast<uint32_t>(carries >> lane & 1);
END

static __device__ uint32_t halves(uint32_t row, uint32_t place) {
  return element_drawn(row, place, 5, 10) | element_drawn(row, place + 1, 5, 10) << 16;
}

ROWS(dots, 6)
  const uint32_t a = halves(row, 0), b = halves(row, 8), c = float_drawn(row, 40);
  const uint32_t x = drawn(row, 41), y = drawn(row, 42), z = drawn(row, 43);
  uint32_t sum = c;
  asm volatile("v_dot2_f32_f16 %0, %1, %2, %3\n s_nop 4" : "=v"(out[0]) : "v"(a), "v"(b), "v"(c));
  asm volatile("v_dot2c_f32_f16_e32 %0, %1, %2\n s_nop 4" : "+v"(sum) : "v"(a), "v"(b));
  out[1] = sum;
  asm volatile("v_dot4_i32_i8 %0, %1, %2, %3\n s_nop 4" : "=v"(out[2]) : "v"(x), "v"(y), "v"(z));
  asm volatile("v_dot4_u32_u8 %0, %1, %2, %3\n s_nop 4" : "=v"(out[3]) : "v"(x), "v"(y), "v"(z));
  asm volatile("v_dot8_i32_i4 %0, %1, %2, %3\n s_nop 4" : "=v"(out[4]) : "v"(x), "v"(y), "v"(z));
  asm volatile("v_dot2_i32_i16 %0, %1, %2, %3\n s_nop 4" : "=v"(out[5]) : "v"(x), "v"(y), "v"(z));
END

// -- atomics: what was there, and what is there after --------------------------------------------------

#define GLOBAL(text, place, start, with)                                                    \
  asm volatile("global_store_dword %1, %2, off\n s_waitcnt vmcnt(0)\n " text " %0, %1, %3, off sc0\n s_waitcnt vmcnt(0)" \
               : "=&v"(old) : "v"(out + (place)), "v"(start), "v"(with) : "memory");           \
  out[(place) + 1] = old;
#define GLOBAL64(text, place, start, with)                                                  \
  asm volatile("global_store_dwordx2 %1, %2, off\n s_waitcnt vmcnt(0)\n " text " %0, %1, %3, off sc0\n s_waitcnt vmcnt(0)" \
               : "=&v"(before) : "v"(out + (place)), "v"(start), "v"(with) : "memory");        \
  put(out + (place) + 2, before);
ROWS(atomics_global, 18)
  uint32_t old;
  double before;
  const float a = f32(row, 0), b = f32(row, 1);
  GLOBAL64("global_atomic_add_f64", 0, f64(row, 0), f64(row, 1))
  GLOBAL64("global_atomic_min_f64", 4, f64(row, 0), f64(row, 1))
  GLOBAL64("global_atomic_max_f64", 8, f64(row, 0), f64(row, 1))
  GLOBAL("global_atomic_add_f32", 12, a, b)
  GLOBAL("global_atomic_pk_add_f16", 14, halves(row, 0), halves(row, 8))
  GLOBAL("global_atomic_pk_add_bf16", 16, float_drawn(row, 2), float_drawn(row, 3))
END

#define LOCAL(text, place)                                                                  \
  asm volatile("ds_write_b32 %1, %2\n s_waitcnt lgkmcnt(0)\n " text " %0, %1, %3\n s_waitcnt lgkmcnt(0)" \
               : "=&v"(old) : "v"(at), "v"(a), "v"(b) : "memory");                             \
  out[place] = old;                                                                         \
  asm volatile("ds_read_b32 %0, %1\n s_waitcnt lgkmcnt(0)" : "=v"(out[(place) + 1]) : "v"(at) : "memory");
#define LOCAL64(text, place)                                                                \
  asm volatile("ds_write_b64 %1, %2\n s_waitcnt lgkmcnt(0)\n " text " %0, %1, %3\n s_waitcnt lgkmcnt(0)" \
               : "=&v"(before) : "v"(at), "v"(f64(row, 0)), "v"(f64(row, 1)) : "memory");      \
  put(out + (place), before);                                                               \
  asm volatile("ds_read_b64 %0, %1\n s_waitcnt lgkmcnt(0)" : "=v"(before) : "v"(at) : "memory"); \
  put(out + (place) + 2, before);
ROWS(atomics_local, 20)
  __shared__ double cells[256];
  const uint32_t at = static_cast<uint32_t>(reinterpret_cast<uintptr_t>((__attribute__((address_space(3))) double*)&cells[threadIdx.x]));
  uint32_t old;
  double before;
  const float a = f32(row, 0), b = f32(row, 1);
  LOCAL("ds_min_rtn_f32", 0)
  LOCAL("ds_max_rtn_f32", 2)
  LOCAL("ds_add_rtn_f32", 4)
  LOCAL64("ds_min_rtn_f64", 8)
  LOCAL64("ds_max_rtn_f64", 12)
  LOCAL64("ds_add_rtn_f64", 16)
END

// -- matrices: one row for each wavefront --------------------------------------------------------------

typedef _Float16 half4 __attribute__((ext_vector_type(4)));
typedef short short4_ __attribute__((ext_vector_type(4)));
typedef float f32x2 __attribute__((ext_vector_type(2)));
typedef float f32x4 __attribute__((ext_vector_type(4)));
typedef float f32x16 __attribute__((ext_vector_type(16)));
typedef int i32x4 __attribute__((ext_vector_type(4)));
typedef double f64x4 __attribute__((ext_vector_type(4)));

template <typename T>
static __device__ T from(uint64_t bits) {
  T value;
  static_assert(sizeof value == 8 || sizeof value == 4, "an operand of one or two registers");
  __builtin_memcpy(&value, &bits, sizeof value);
  return value;
}

// 64 bits of elements for a lane: place 0 for A, 1 for B.
static __device__ uint64_t elements(uint32_t row, uint32_t place, int exponent, int mantissa) {
  const int bits = 1 + exponent + mantissa, count = 64 / bits;
  uint64_t made = 0;
  for (int i = 0; i < count; i++)
    made |= static_cast<uint64_t>(element_drawn(row, ((threadIdx.x & 63) * 2 + place) * 8 + i, exponent, mantissa)) << (i * bits);
  return made;
}
static __device__ uint64_t integers_of(uint32_t row, uint32_t place) {
  const uint32_t lane = (threadIdx.x & 63) * 4 + place * 2;
  return static_cast<uint64_t>(drawn(row, lane)) << 32 | drawn(row, lane + 1);
}
static __device__ double element_f64(uint32_t row, uint32_t place) {
  const uint32_t low = drawn(row, 1024 + (threadIdx.x & 63) * 2 + place);
  const uint32_t high = element_drawn(row, (threadIdx.x & 63) * 2 + place, 11, 20);
  return __longlong_as_double(static_cast<uint64_t>(high) << 32 | low);
}

#define MATRIX(name, result, words, a, b, first)                                            \
  __global__ void name(uint32_t* out, uint32_t rows) {                                      \
    const uint32_t row = (blockIdx.x * blockDim.x + threadIdx.x) / 64;                       \
    if (row >= rows) return;                                                                \
    result d;                                                                               \
    for (unsigned i = 0; i < sizeof d / sizeof d[0]; i++) d[i] = first;                     \
    d = __builtin_amdgcn_##name(a, b, d, 0, 0, 0);                                          \
    __builtin_memcpy(out + (static_cast<size_t>(row) * 64 + (threadIdx.x & 63)) * (words), &d, sizeof d); \
  }
// C is zero in every other four rows: what it adds is then not in the way
#define START (row & 4 ? __uint_as_float(element_drawn(row, 4096 + (threadIdx.x & 63) * 16 + i, 8, 23)) : 0.0f)
#define E4(T, place, exponent, mantissa) from<T>(elements(row, place, exponent, mantissa))
MATRIX(mfma_f32_16x16x16f16, f32x4, 4, E4(half4, 0, 5, 10), E4(half4, 1, 5, 10), START)
MATRIX(mfma_f32_32x32x8f16, f32x16, 16, E4(half4, 0, 5, 10), E4(half4, 1, 5, 10), START)
MATRIX(mfma_f32_4x4x4f16, f32x4, 4, E4(half4, 0, 5, 10), E4(half4, 1, 5, 10), START)
MATRIX(mfma_f32_16x16x16bf16_1k, f32x4, 4, E4(short4_, 0, 8, 7), E4(short4_, 1, 8, 7), START)
MATRIX(mfma_f32_16x16x32_fp8_fp8, f32x4, 4, E4(long, 0, 4, 3), E4(long, 1, 4, 3), START)
MATRIX(mfma_f32_16x16x32_bf8_bf8, f32x4, 4, E4(long, 0, 5, 2), E4(long, 1, 5, 2), START)
MATRIX(mfma_i32_16x16x32_i8, i32x4, 4, from<long>(integers_of(row, 0)), from<long>(integers_of(row, 1)), static_cast<int>(drawn(row, i)))
MATRIX(mfma_f32_16x16x4f32, f32x4, 4, E4(f32x2, 0, 8, 23).x, E4(f32x2, 1, 8, 23).x, START)
MATRIX(mfma_f32_16x16x8_xf32, f32x4, 4, E4(f32x2, 0, 8, 23), E4(f32x2, 1, 8, 23), START)
MATRIX(mfma_f64_16x16x4f64, f64x4, 8, element_f64(row, 0), element_f64(row, 1), START)

#define WAVES(name, type, words) drawn_rows(file, want, #name, type, name, words, 64);

int main(int count, char** words) {
  const Asked want = asked(count, words);
  hipDeviceProp_t device;
  CHECK(hipGetDeviceProperties(&device, 0));
  if (strncmp(device.gcnArchName, "gfx942", 6)) {
    fprintf(stderr, "capture: this device is %s, not gfx942\n", device.gcnArchName);
    return 1;
  }
  Records file(want.path, "gfx942", device.name);
  all_inputs<v_exp_f32>(file, want, "f32");
  all_inputs<v_log_f32>(file, want, "f32");
  all_inputs<v_rcp_f32>(file, want, "f32");
  all_inputs<v_rsq_f32>(file, want, "f32");
  all_inputs<v_sqrt_f32>(file, want, "f32");
  all_inputs<v_sin_f32>(file, want, "f32");
  all_inputs<v_cos_f32>(file, want, "f32");
  all_inputs<v_rcp_iflag_f32>(file, want, "f32");
  all_inputs<v_fract_f32>(file, want, "f32");
  all_inputs<v_cvt_f16_f32>(file, want, "f16");
  all_inputs<v_cvt_i32_f32>(file, want, "u32");
  all_inputs<v_cvt_u32_f32>(file, want, "u32");
  all_inputs<v_cvt_rpi_i32_f32>(file, want, "u32");
  all_inputs<v_cvt_flr_i32_f32>(file, want, "u32");
  all_inputs<v_cvt_f32_i32>(file, want, "f32");
  all_inputs<v_cvt_f32_u32>(file, want, "f32");
  all_inputs<v_cvt_pk_fp8_f32>(file, want, "u32");
  all_inputs<v_cvt_pk_bf8_f32>(file, want, "u32");
  Asked small = want;  // 16 bits are 16 blocks: all of them, in full
  small.first = 0, small.step = small.whole = 1, small.blocks = 16;
  all_inputs<v_exp_f16>(file, small, "f16", 16);
  all_inputs<v_log_f16>(file, small, "f16", 16);
  all_inputs<v_rcp_f16>(file, small, "f16", 16);
  all_inputs<v_rsq_f16>(file, small, "f16", 16);
  all_inputs<v_sqrt_f16>(file, small, "f16", 16);
  all_inputs<v_sin_f16>(file, small, "f16", 16);
  all_inputs<v_cos_f16>(file, small, "f16", 16);
  all_inputs<v_cvt_f32_f16>(file, small, "f32", 16);
  all_inputs<v_cvt_f32_fp8>(file, small, "f32", 1);
  all_inputs<v_cvt_f32_bf8>(file, small, "f32", 1);
  DRAWN(division_f32, "u32", 6)
  DRAWN(division_f64, "u32", 11)
  DRAWN(unary_f64, "f64", 8)
  DRAWN(conversions_f64, "u32", 4)
  DRAWN(denormals, "f32", 24)
  DRAWN(integers, "u32", 4)
  DRAWN(dots, "u32", 6)
  DRAWN(atomics_global, "u32", 18)
  DRAWN(atomics_local, "u32", 20)
  WAVES(mfma_f32_16x16x16f16, "f32", 4)
  WAVES(mfma_f32_32x32x8f16, "f32", 16)
  WAVES(mfma_f32_4x4x4f16, "f32", 4)
  WAVES(mfma_f32_16x16x16bf16_1k, "f32", 4)
  WAVES(mfma_f32_16x16x32_fp8_fp8, "f32", 4)
  WAVES(mfma_f32_16x16x32_bf8_bf8, "f32", 4)
  WAVES(mfma_i32_16x16x32_i8, "u32", 4)
  WAVES(mfma_f32_16x16x4f32, "f32", 4)
  WAVES(mfma_f32_16x16x8_xf32, "f32", 4)
  WAVES(mfma_f64_16x16x4f64, "f64", 8)
  file.end();
  return 0;
}
