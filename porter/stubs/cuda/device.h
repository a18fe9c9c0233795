// Device functions: synchronisation, warp functions, atomics, intrinsics.
#pragma once
#include "../std/math.h"
#include "../std/clib.h"
#include "language.h"

#define PORTER_D __device__
PORTER_D void __syncthreads();
PORTER_D int __syncthreads_count(int);
PORTER_D int __syncthreads_and(int);
PORTER_D int __syncthreads_or(int);
PORTER_D void __syncwarp(unsigned = 0xffffffffu);
PORTER_D void __threadfence();
PORTER_D void __threadfence_block();
PORTER_D void __threadfence_system();
PORTER_D void __nanosleep(unsigned);
PORTER_D void __trap();
PORTER_D void __brkpt();
PORTER_D void __prof_trigger(int);
PORTER_D long long clock64();
#ifdef __HIP__
PORTER_D unsigned long long __activemask();
PORTER_D unsigned long long __ballot_sync(unsigned long long, int);
PORTER_D unsigned long long __ballot(int);
#else
PORTER_D unsigned __activemask();
PORTER_D unsigned __ballot_sync(unsigned, int);
PORTER_D unsigned __ballot(int);
#endif
PORTER_D int __all_sync(unsigned, int);
PORTER_D int __any_sync(unsigned, int);
PORTER_D int __all(int);
PORTER_D int __any(int);
PORTER_D unsigned __isGlobal(const void *);
PORTER_D unsigned __isShared(const void *);
PORTER_D size_t __cvta_generic_to_shared(const void *);
PORTER_D size_t __cvta_generic_to_global(const void *);
PORTER_D void *__cvta_shared_to_generic(size_t);
PORTER_D void __assertfail(const char *, const char *, unsigned, const char *, size_t);
#define PORTER_SHUFFLE(T)                                               \
  PORTER_D T __shfl_sync(unsigned, T, int, int = 32);                   \
  PORTER_D T __shfl_up_sync(unsigned, T, unsigned, int = 32);           \
  PORTER_D T __shfl_down_sync(unsigned, T, unsigned, int = 32);         \
  PORTER_D T __shfl_xor_sync(unsigned, T, int, int = 32);               \
  PORTER_D T __shfl(T, int, int = 32);                                  \
  PORTER_D T __shfl_up(T, unsigned, int = 32);                          \
  PORTER_D T __shfl_down(T, unsigned, int = 32);                        \
  PORTER_D T __shfl_xor(T, int, int = 32);
#define PORTER_MATCH(T)                                        \
  PORTER_D unsigned __match_any_sync(unsigned, T);             \
  PORTER_D unsigned __match_all_sync(unsigned, T, int *);
#define PORTER_LOAD(T)                                                                       \
  PORTER_D T __ldg(const T *);                                                               \
  PORTER_D T __ldca(const T *);                                                              \
  PORTER_D T __ldcg(const T *);                                                              \
  PORTER_D T __ldcs(const T *);                                                              \
  PORTER_D T __ldcv(const T *);                                                              \
  PORTER_D T __ldlu(const T *);                                                              \
  PORTER_D void __stcg(T *, T);                                                              \
  PORTER_D void __stcs(T *, T);                                                              \
  PORTER_D void __stwb(T *, T);                                                              \
  PORTER_D void __stwt(T *, T);
#define PORTER_SCALARS(each) \
  each(int) each(unsigned) each(long) each(unsigned long) each(long long) each(unsigned long long) each(float) each(double)
PORTER_SCALARS(PORTER_SHUFFLE)
PORTER_SCALARS(PORTER_MATCH)
PORTER_SCALARS(PORTER_LOAD)
PORTER_LOAD(char)
PORTER_LOAD(signed char)
PORTER_LOAD(unsigned char)
PORTER_LOAD(short)
PORTER_LOAD(unsigned short)
#define PORTER_VECTOR_LOADS(name) PORTER_LOAD(name##2) PORTER_LOAD(name##4)
PORTER_VECTOR_LOADS(char)
PORTER_VECTOR_LOADS(uchar)
PORTER_VECTOR_LOADS(short)
PORTER_VECTOR_LOADS(ushort)
PORTER_VECTOR_LOADS(int)
PORTER_VECTOR_LOADS(uint)
PORTER_VECTOR_LOADS(float)
PORTER_LOAD(double2)
PORTER_LOAD(longlong2)
PORTER_LOAD(ulonglong2)
#undef PORTER_VECTOR_LOADS
#undef PORTER_MATCH
#undef PORTER_LOAD
#define PORTER_REDUCE(T)                               \
  PORTER_D T __reduce_add_sync(unsigned, T);           \
  PORTER_D T __reduce_min_sync(unsigned, T);           \
  PORTER_D T __reduce_max_sync(unsigned, T);           \
  PORTER_D unsigned __reduce_and_sync(unsigned, T);    \
  PORTER_D unsigned __reduce_or_sync(unsigned, T);     \
  PORTER_D unsigned __reduce_xor_sync(unsigned, T);
PORTER_REDUCE(int)
PORTER_REDUCE(unsigned)
#undef PORTER_REDUCE

#define PORTER_ATOMIC(name, T)          \
  PORTER_D T name(T *, T);              \
  PORTER_D T name##_block(T *, T);      \
  PORTER_D T name##_system(T *, T);
#define PORTER_INTEGER_ATOMICS(name) \
  PORTER_ATOMIC(name, int) PORTER_ATOMIC(name, unsigned) PORTER_ATOMIC(name, unsigned long long)
PORTER_INTEGER_ATOMICS(atomicAdd)
PORTER_ATOMIC(atomicAdd, float)
PORTER_ATOMIC(atomicAdd, double)
PORTER_ATOMIC(atomicAdd, float2)
PORTER_ATOMIC(atomicAdd, float4)
PORTER_ATOMIC(atomicSub, int)
PORTER_ATOMIC(atomicSub, unsigned)
PORTER_INTEGER_ATOMICS(atomicExch)
PORTER_ATOMIC(atomicExch, float)
PORTER_INTEGER_ATOMICS(atomicMin)
PORTER_ATOMIC(atomicMin, long long)
PORTER_INTEGER_ATOMICS(atomicMax)
PORTER_ATOMIC(atomicMax, long long)
PORTER_INTEGER_ATOMICS(atomicAnd)
PORTER_INTEGER_ATOMICS(atomicOr)
PORTER_INTEGER_ATOMICS(atomicXor)
PORTER_ATOMIC(atomicInc, unsigned)
PORTER_ATOMIC(atomicDec, unsigned)
#define PORTER_CAS(T)                      \
  PORTER_D T atomicCAS(T *, T, T);         \
  PORTER_D T atomicCAS_block(T *, T, T);   \
  PORTER_D T atomicCAS_system(T *, T, T);
PORTER_CAS(int)
PORTER_CAS(unsigned)
PORTER_CAS(unsigned long long)
PORTER_CAS(unsigned short)
#undef PORTER_CAS
#undef PORTER_INTEGER_ATOMICS
#undef PORTER_ATOMIC

#define PORTER_F1(name) PORTER_D float name(float);
PORTER_F1(__expf) PORTER_F1(__exp10f) PORTER_F1(__logf) PORTER_F1(__log2f) PORTER_F1(__log10f) PORTER_F1(__sinf)
PORTER_F1(__cosf) PORTER_F1(__tanf) PORTER_F1(__saturatef) PORTER_F1(__frsqrt_rn) PORTER_F1(__tanhf)
#define PORTER_ROUNDED(each) each(rn) each(rz) each(ru) each(rd)
#define PORTER_ARITHMETIC(r)                              \
  PORTER_D float __fadd_##r(float, float);                \
  PORTER_D float __fsub_##r(float, float);                \
  PORTER_D float __fmul_##r(float, float);                \
  PORTER_D float __fdiv_##r(float, float);                \
  PORTER_D float __frcp_##r(float);                       \
  PORTER_D float __fsqrt_##r(float);                      \
  PORTER_D float __fmaf_##r(float, float, float);         \
  PORTER_D double __dadd_##r(double, double);             \
  PORTER_D double __dsub_##r(double, double);             \
  PORTER_D double __dmul_##r(double, double);             \
  PORTER_D double __ddiv_##r(double, double);             \
  PORTER_D double __drcp_##r(double);                     \
  PORTER_D double __dsqrt_##r(double);                    \
  PORTER_D double __fma_##r(double, double, double);      \
  PORTER_D int __float2int_##r(float);                    \
  PORTER_D unsigned __float2uint_##r(float);              \
  PORTER_D long long __float2ll_##r(float);               \
  PORTER_D unsigned long long __float2ull_##r(float);     \
  PORTER_D int __double2int_##r(double);                  \
  PORTER_D unsigned __double2uint_##r(double);            \
  PORTER_D long long __double2ll_##r(double);             \
  PORTER_D unsigned long long __double2ull_##r(double);   \
  PORTER_D float __double2float_##r(double);              \
  PORTER_D float __int2float_##r(int);                    \
  PORTER_D float __uint2float_##r(unsigned);              \
  PORTER_D float __ll2float_##r(long long);               \
  PORTER_D float __ull2float_##r(unsigned long long);     \
  PORTER_D double __ll2double_##r(long long);             \
  PORTER_D double __ull2double_##r(unsigned long long);
PORTER_ROUNDED(PORTER_ARITHMETIC)
#undef PORTER_ARITHMETIC
#undef PORTER_ROUNDED
#undef PORTER_F1
PORTER_D double __int2double_rn(int);
PORTER_D double __uint2double_rn(unsigned);
PORTER_D float __fdividef(float, float);
PORTER_D float fdividef(float, float);
PORTER_D float __powf(float, float);
PORTER_D void __sincosf(float, float *, float *);
PORTER_D int __float_as_int(float);
PORTER_D unsigned __float_as_uint(float);
PORTER_D float __int_as_float(int);
PORTER_D float __uint_as_float(unsigned);
PORTER_D long long __double_as_longlong(double);
PORTER_D double __longlong_as_double(long long);
PORTER_D int __double2hiint(double);
PORTER_D int __double2loint(double);
PORTER_D double __hiloint2double(int, int);
PORTER_D int __popc(unsigned);
PORTER_D int __popcll(unsigned long long);
PORTER_D int __clz(int);
PORTER_D int __clzll(long long);
PORTER_D int __ffs(int);
PORTER_D int __ffsll(long long);
PORTER_D unsigned __fns(unsigned, unsigned, int);
PORTER_D unsigned __brev(unsigned);
PORTER_D unsigned long long __brevll(unsigned long long);
PORTER_D unsigned __byte_perm(unsigned, unsigned, unsigned);
PORTER_D unsigned __funnelshift_l(unsigned, unsigned, unsigned);
PORTER_D unsigned __funnelshift_r(unsigned, unsigned, unsigned);
PORTER_D unsigned __funnelshift_lc(unsigned, unsigned, unsigned);
PORTER_D unsigned __funnelshift_rc(unsigned, unsigned, unsigned);
PORTER_D int __mul24(int, int);
PORTER_D unsigned __umul24(unsigned, unsigned);
PORTER_D int __mulhi(int, int);
PORTER_D unsigned __umulhi(unsigned, unsigned);
PORTER_D long long __mul64hi(long long, long long);
PORTER_D unsigned long long __umul64hi(unsigned long long, unsigned long long);
PORTER_D int __hadd(int, int);
PORTER_D int __rhadd(int, int);
PORTER_D unsigned __uhadd(unsigned, unsigned);
PORTER_D unsigned __urhadd(unsigned, unsigned);
PORTER_D unsigned __sad(int, int, unsigned);
PORTER_D unsigned __usad(unsigned, unsigned, unsigned);
PORTER_D int mul24(int, int);
PORTER_D unsigned umul24(unsigned, unsigned);
PORTER_D int mulhi(int, int);
PORTER_D unsigned umulhi(unsigned, unsigned);
PORTER_D int __dp4a(int, int, int);
PORTER_D unsigned __dp4a(unsigned, unsigned, unsigned);
PORTER_D int __dp2a_lo(int, int, int);
PORTER_D int __dp2a_hi(int, int, int);
#define PORTER_V(name) PORTER_D unsigned name(unsigned, unsigned);
#define PORTER_SIMD(name) PORTER_V(name##2) PORTER_V(name##4)
PORTER_SIMD(__vadd) PORTER_SIMD(__vsub) PORTER_SIMD(__vaddss) PORTER_SIMD(__vaddus) PORTER_SIMD(__vsubss) PORTER_SIMD(__vsubus)
PORTER_SIMD(__vavgs) PORTER_SIMD(__vavgu) PORTER_SIMD(__vhaddu) PORTER_SIMD(__vabsdiffs) PORTER_SIMD(__vabsdiffu)
PORTER_SIMD(__vmaxs) PORTER_SIMD(__vmaxu) PORTER_SIMD(__vmins) PORTER_SIMD(__vminu) PORTER_SIMD(__vsads) PORTER_SIMD(__vsadu)
PORTER_SIMD(__vcmpeq) PORTER_SIMD(__vcmpne) PORTER_SIMD(__vcmpges) PORTER_SIMD(__vcmpgeu) PORTER_SIMD(__vcmpgts)
PORTER_SIMD(__vcmpgtu) PORTER_SIMD(__vcmples) PORTER_SIMD(__vcmpleu) PORTER_SIMD(__vcmplts) PORTER_SIMD(__vcmpltu)
PORTER_SIMD(__vseteq) PORTER_SIMD(__vsetne) PORTER_SIMD(__vsetgts) PORTER_SIMD(__vsetgtu) PORTER_SIMD(__vsetlts) PORTER_SIMD(__vsetltu)
#undef PORTER_SIMD
#undef PORTER_V
PORTER_D unsigned __vabs2(unsigned);
PORTER_D unsigned __vabs4(unsigned);
PORTER_D unsigned __vneg2(unsigned);
PORTER_D unsigned __vneg4(unsigned);
PORTER_D unsigned __vabsss4(unsigned);
PORTER_D int __viaddmax_s32(int, int, int);
PORTER_D int __vimax3_s32(int, int, int);
PORTER_D void __pipeline_memcpy_async(void *, const void *, size_t, size_t = 0);
PORTER_D void __pipeline_commit();
PORTER_D void __pipeline_wait_prior(size_t);
PORTER_D void __stwt(void *, unsigned);

#pragma clang force_cuda_host_device begin
#define PORTER_HD(R, ...) extern "C" R __VA_ARGS__;
PORTER_HD(float, rsqrtf(float))
PORTER_HD(double, rsqrt(double))
PORTER_HD(float, rcbrtf(float))
PORTER_HD(double, rcbrt(double))
PORTER_HD(float, exp10f(float))
PORTER_HD(double, exp10(double))
PORTER_HD(float, sinpif(float))
PORTER_HD(double, sinpi(double))
PORTER_HD(float, cospif(float))
PORTER_HD(double, cospi(double))
PORTER_HD(void, sincospif(float, float *, float *))
PORTER_HD(void, sincospi(double, double *, double *))
PORTER_HD(float, erfinvf(float))
PORTER_HD(double, erfinv(double))
PORTER_HD(float, erfcinvf(float))
PORTER_HD(double, erfcinv(double))
PORTER_HD(float, erfcxf(float))
PORTER_HD(double, erfcx(double))
PORTER_HD(float, normcdff(float))
PORTER_HD(double, normcdf(double))
PORTER_HD(float, normcdfinvf(float))
PORTER_HD(double, normcdfinv(double))
PORTER_HD(float, rhypotf(float, float))
PORTER_HD(double, rhypot(double, double))
PORTER_HD(float, norm3df(float, float, float))
PORTER_HD(double, norm3d(double, double, double))
PORTER_HD(float, rnorm3df(float, float, float))
PORTER_HD(double, rnorm3d(double, double, double))
PORTER_HD(float, norm4df(float, float, float, float))
PORTER_HD(float, rnorm4df(float, float, float, float))
PORTER_HD(float, normf(int, const float *))
PORTER_HD(double, norm(int, const double *))
PORTER_HD(float, cyl_bessel_i0f(float))
PORTER_HD(double, cyl_bessel_i0(double))
PORTER_HD(float, cyl_bessel_i1f(float))
PORTER_HD(double, cyl_bessel_i1(double))
#undef PORTER_HD
float rsqrt(float);
float sinpi(float);
float cospi(float);
float exp10(float);
#pragma clang force_cuda_host_device end
#define PORTER_MINMAX(T) \
  __device__ T min(T, T); \
  __device__ T max(T, T); \
  __host__ T min(T, T); \
  __host__ T max(T, T);
PORTER_SCALARS(PORTER_MINMAX)
#undef PORTER_MINMAX
#pragma clang force_cuda_host_device begin
template <class A, class B, class = typename porter_stub::only_if<__is_arithmetic(A) && __is_arithmetic(B) && !__is_same(A, B), void>::type>
constexpr decltype(true ? A() : B()) min(A a, B b) { return a; }
template <class A, class B, class = typename porter_stub::only_if<__is_arithmetic(A) && __is_arithmetic(B) && !__is_same(A, B), void>::type>
constexpr decltype(true ? A() : B()) max(A a, B b) { return a; }
#pragma clang force_cuda_host_device end
__device__ long long llmin(long long, long long);
__device__ long long llmax(long long, long long);
__device__ unsigned umin(unsigned, unsigned);
__device__ unsigned umax(unsigned, unsigned);
