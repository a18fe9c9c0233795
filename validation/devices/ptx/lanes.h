/* Meaning of PTX instructions on one lane, branch-free where it can be, so that loops over lanes become vector code.
 * Registers hold bits: 8, 16 and 32-bit types in uint32_t (unused bits zero), 64-bit types in uint64_t. */
#ifndef PORTER_PTX_LANES_H
#define PORTER_PTX_LANES_H

#include "warp.h"

#include <math.h>

#define BITCAST(name, from, to)          \
    static inline to name(from x) {      \
        to y;                            \
        memcpy(&y, &x, sizeof y);        \
        return y;                        \
    }
BITCAST(u32, float, uint32_t)
BITCAST(f32, uint32_t, float)
BITCAST(u64, double, uint64_t)
BITCAST(f64, uint64_t, double)
BITCAST(half_bits, _Float16, uint16_t)
BITCAST(half_of, uint16_t, _Float16)

static inline float f16(uint32_t bits) { return (float)half_of((uint16_t)bits); }
static inline uint32_t to_f16(float x) { /* NVIDIA's NaN has one pattern */
    return x != x ? 0x7fff : half_bits((_Float16)x);
}
static inline float bf16(uint32_t bits) { return f32(bits << 16); }
static inline uint32_t to_bf16(float x) {
    uint32_t bits = u32(x), rounded = (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
    return x != x ? 0x7fff : rounded;
}
#define PACKED(f, a, b) (f((a) & 0xffff, (b) & 0xffff) | f((a) >> 16, (b) >> 16) << 16)
#define PACKED1(f, a) (f((a) & 0xffff) | f((a) >> 16) << 16)
#define PACKED3(f, a, b, c) (f((a) & 0xffff, (b) & 0xffff, (c) & 0xffff) | f((a) >> 16, (b) >> 16, (c) >> 16) << 16)

#define NAN32 f32(0x7fffffffu)
#define NAN64 f64(0x7fffffffffffffffull)
static inline float canon(float x) { return x != x ? NAN32 : x; }
static inline double canon64(double x) { return x != x ? f64(0x7ff8000000000000ull) : x; }

static inline float ftz(float x) { return fabsf(x) < 0x1p-126f ? f32(u32(x) & 0x80000000u) : x; }
static inline float sat(float x) { return x > 0 ? x < 1 ? x : 1.0f : 0.0f; } /* NaN becomes 0 */
static inline double sat64(double x) { return x > 0 ? x < 1 ? x : 1.0 : 0.0; }

/* ---- exact sums of two: value and error ------------------------------------------------------------- */

static inline double odd_sum(double a, double b) { /* a + b rounded to odd, for a later rounding to fewer bits */
    double s = a + b, t = s - a, error = (a - (s - t)) + (b - t);
    uint64_t bits = u64(s);
    int inward = (error < 0) != (s < 0);
    uint64_t odd = (inward ? bits - 1 : bits) | 1;
    int exact = !(error != 0) || !(fabs(s) < INFINITY);
    return exact ? s : f64(odd);
}
static inline float up(float x) { /* the next float above a finite one */
    uint32_t b = u32(x);
    return x == 0 ? f32(1) : f32((int32_t)b < 0 ? b - 1 : b + 1);
}
static inline float down(float x) { return -up(-x); }

/* double to float in a direction; exact input or one rounded to odd */
static inline float round_rm(double x) {
    float r = (float)x;
    return r == INFINITY && x < INFINITY ? 0x1.fffffep127f : (double)r > x ? down(r) : r;
}
static inline float round_rp(double x) {
    float r = (float)x;
    return r == -INFINITY && x > -INFINITY ? -0x1.fffffep127f : (double)r < x ? up(r) : r;
}
static inline float round_rz(double x) { return x > 0 ? round_rm(x) : x < 0 ? round_rp(x) : (float)x; }
static inline double zero_sign(double s, double a, double b, int minus) { /* x - x is -0 when rounding down */
    return minus && s == 0 && (signbit(a) || signbit(b)) ? -0.0 : s;
}
#define DIRECTED(mode, minus)                                                                                     \
    static inline float add_##mode(float a, float b) {                                                            \
        return round_##mode(zero_sign(odd_sum(a, b), a, b, minus));                                               \
    }                                                                                                             \
    static inline float mul_##mode(float a, float b) { return round_##mode((double)a * b); }                      \
    static inline float fma_##mode(float a, float b, float c) {                                                   \
        double p = (double)a * b;                                                                                 \
        return round_##mode(zero_sign(odd_sum(p, c), p, c, minus));                                               \
    }
DIRECTED(rm, 1)
DIRECTED(rp, 0)
DIRECTED(rz, 0)

/* ---- min, max: NaN loses; -0 is below +0 ------------------------------------------------------------- */

static inline float min_f32(float a, float b) {
    float r = a < b ? a : b < a ? b : f32(u32(a) | u32(b));
    return a != a ? canon(b) : b != b ? a : r;
}
static inline float max_f32(float a, float b) {
    float r = a > b ? a : b > a ? b : f32(u32(a) & u32(b));
    return a != a ? canon(b) : b != b ? a : r;
}
static inline double min_f64(double a, double b) {
    double r = a < b ? a : b < a ? b : f64(u64(a) | u64(b));
    return a != a ? canon64(b) : b != b ? a : r;
}
static inline double max_f64(double a, double b) {
    double r = a > b ? a : b > a ? b : f64(u64(a) & u64(b));
    return a != a ? canon64(b) : b != b ? a : r;
}
static inline float min_nan_f32(float a, float b) { return a != a || b != b ? NAN32 : min_f32(a, b); }
static inline float max_nan_f32(float a, float b) { return a != a || b != b ? NAN32 : max_f32(a, b); }

/* ---- 16-bit floating point, on bits ------------------------------------------------------------------ */

static inline float to_odd(double x) { /* double to float, rounded to odd */
    float r = (float)x;
    uint32_t b = u32(r);
    int outward = fabs((double)r) > fabs(x);
    return (double)r == x || x != x ? r : f32((outward ? b - 1 : b) | 1);
}
#define SMALL(T)                                                                                               \
    static inline uint32_t add_##T(uint32_t a, uint32_t b) { return to_##T(to_odd(odd_sum(T(a), T(b)))); }      \
    static inline uint32_t sub_##T(uint32_t a, uint32_t b) { return to_##T(to_odd(odd_sum(T(a), -T(b)))); }     \
    static inline uint32_t mul_##T(uint32_t a, uint32_t b) { return to_##T(to_odd((double)T(a) * T(b))); }      \
    static inline uint32_t fma_##T(uint32_t a, uint32_t b, uint32_t c) {                                       \
        return to_##T(to_odd(odd_sum((double)T(a) * T(b), T(c))));                                             \
    }                                                                                                          \
    static inline uint32_t min_##T(uint32_t a, uint32_t b) { return to_##T(min_f32(T(a), T(b))); }             \
    static inline uint32_t max_##T(uint32_t a, uint32_t b) { return to_##T(max_f32(T(a), T(b))); }             \
    static inline uint32_t min_nan_##T(uint32_t a, uint32_t b) { return to_##T(min_nan_f32(T(a), T(b))); }     \
    static inline uint32_t max_nan_##T(uint32_t a, uint32_t b) { return to_##T(max_nan_f32(T(a), T(b))); }     \
    static inline uint32_t sat_##T(uint32_t a) { return to_##T(sat(T(a))); }                                   \
    static inline uint32_t relu_##T(uint32_t a) { float x = T(a); return x != x ? 0x7fff : x > 0 ? a : 0; }    \
    static inline uint32_t neg_##T(uint32_t a) { return a ^ 0x8000; }                                          \
    static inline uint32_t abs_##T(uint32_t a) { return a & 0x7fff; }
SMALL(f16)
SMALL(bf16)
static inline uint32_t ftz_f16(uint32_t a) { return a & 0x7c00 ? a : a & 0x8000; }

/* ---- integers ---------------------------------------------------------------------------------------- */

static inline uint32_t bitrev32(uint32_t x) {
    x = (x >> 1 & 0x55555555) | (x & 0x55555555) << 1;
    x = (x >> 2 & 0x33333333) | (x & 0x33333333) << 2;
    x = (x >> 4 & 0x0f0f0f0f) | (x & 0x0f0f0f0f) << 4;
    x = (x >> 8 & 0x00ff00ff) | (x & 0x00ff00ff) << 8;
    return x >> 16 | x << 16;
}
static inline uint64_t bitrev64(uint64_t x) { return (uint64_t)bitrev32((uint32_t)x) << 32 | bitrev32((uint32_t)(x >> 32)); }
static inline uint32_t clz32(uint32_t x) { return x ? (uint32_t)__builtin_clz(x) : 32; }
static inline uint32_t clz64(uint64_t x) { return x ? (uint32_t)__builtin_clzll(x) : 64; }
static inline uint32_t bfind32(uint32_t x) { return x ? 31 - (uint32_t)__builtin_clz(x) : 0xffffffffu; }
static inline uint32_t bfind64(uint64_t x) { return x ? 63 - (uint32_t)__builtin_clzll(x) : 0xffffffffu; }
static inline uint32_t nth_set(uint32_t mask, uint32_t base, int32_t n) { /* fns */
    if (base > 31) return 0xffffffffu;
    uint32_t left = n >= 0 ? mask & ~0u << base : mask & ~0u >> (31 - base);
    if (n == 0) return mask >> base & 1 ? base : 0xffffffffu;
    for (int64_t skip = (n > 0 ? (int64_t)n : -(int64_t)n) - 1; skip > 0 && left; skip--)
        left &= n > 0 ? left - 1 : ~(1u << bfind32(left));
    return !left ? 0xffffffffu : n > 0 ? (uint32_t)__builtin_ctz(left) : bfind32(left);
}
#ifdef SHIFTS_WRAP /* counts modulo the width, as gfx942 takes them */
static inline uint32_t shl32(uint32_t a, uint32_t b) { return a << (b & 31); }
static inline uint32_t shr32(uint32_t a, uint32_t b) { return a >> (b & 31); }
static inline uint32_t sar32(int32_t a, uint32_t b) { return (uint32_t)(a >> (b & 31)); }
static inline uint64_t shl64(uint64_t a, uint32_t b) { return a << (b & 63); }
static inline uint64_t shr64(uint64_t a, uint32_t b) { return a >> (b & 63); }
static inline uint64_t sar64(int64_t a, uint32_t b) { return (uint64_t)(a >> (b & 63)); }
#else
static inline uint32_t shl32(uint32_t a, uint32_t b) { return b > 31 ? 0 : a << (b & 31); }
static inline uint32_t shr32(uint32_t a, uint32_t b) { return b > 31 ? 0 : a >> (b & 31); }
static inline uint32_t sar32(int32_t a, uint32_t b) { return (uint32_t)(a >> (b > 31 ? 31 : b)); }
static inline uint64_t shl64(uint64_t a, uint32_t b) { return b > 63 ? 0 : a << (b & 63); }
static inline uint64_t shr64(uint64_t a, uint32_t b) { return b > 63 ? 0 : a >> (b & 63); }
static inline uint64_t sar64(int64_t a, uint32_t b) { return (uint64_t)(a >> (b > 63 ? 63 : b)); }
#endif
static inline int32_t sat_s32(int64_t a) { return a > INT32_MAX ? INT32_MAX : a < INT32_MIN ? INT32_MIN : (int32_t)a; }
static inline uint64_t umulhi64(uint64_t a, uint64_t b) { return (uint64_t)((unsigned __int128)a * b >> 64); }
static inline int64_t smulhi64(int64_t a, int64_t b) { return (int64_t)((__int128)a * b >> 64); }
#define DIVISION(name, T)                                                                \
    static inline T div_##name(T a, T b) { return b ? a / b : (T)-1; }                          \
    static inline T rem_##name(T a, T b) { return b ? a % b : (T)-1; }
DIVISION(u32, uint32_t)
DIVISION(u64, uint64_t)
static inline int32_t div_s32(int32_t a, int32_t b) { return b == 0 ? -1 : b == -1 ? (int32_t)(0u - (uint32_t)a) : a / b; }
static inline int32_t rem_s32(int32_t a, int32_t b) { return b == 0 ? -1 : b == -1 ? 0 : a % b; }
static inline int64_t div_s64(int64_t a, int64_t b) { return b == 0 ? -1 : b == -1 ? (int64_t)(0ull - (uint64_t)a) : a / b; }
static inline int64_t rem_s64(int64_t a, int64_t b) { return b == 0 ? -1 : b == -1 ? 0 : a % b; }

static inline uint64_t bfe_u(uint64_t a, uint32_t position, uint32_t length) {
    position &= 255, length &= 255;
    uint64_t field = position > 63 ? 0 : a >> position;
    return length > 63 ? field : field & ((1ull << length) - 1);
}
static inline uint64_t bfe_s(uint64_t a, uint32_t position, uint32_t length, uint32_t width) { /* a is sign-extended */
    position &= 255, length &= 255;
    uint32_t last = position + length - 1 < width - 1 ? position + length - 1 : width - 1;
    uint64_t sign = length ? a >> last & 1 : 0;
    uint64_t field = position >= width ? 0 : a >> position;
    uint32_t valid = position >= width ? 0 : length < width - position ? length : width - position;
    uint64_t low = valid > 63 ? ~0ull : (1ull << valid) - 1;
    return (field & low) | (sign && length ? ~low : 0);
}
static inline uint64_t bfi(uint64_t a, uint64_t b, uint32_t position, uint32_t length, uint32_t width) {
    position &= 255, length &= 255;
    uint64_t ones = length > 63 ? ~0ull : (1ull << length) - 1;
    uint64_t mask = position >= width ? 0 : ones << (position & 63);
    return (b & ~mask) | (position >= width ? 0 : a << (position & 63) & mask);
}
static inline uint32_t bmsk(uint32_t a, uint32_t b, int clamp) {
    uint32_t position = clamp ? (a > 32 ? 32 : a) : a & 31, length = clamp ? (b > 32 ? 32 : b) : b & 31;
    uint64_t mask = ((1ull << length) - 1) << position;
    return (uint32_t)mask;
}
static inline uint32_t prmt(uint32_t a, uint32_t b, uint32_t selector) {
    uint64_t bytes = (uint64_t)b << 32 | a;
    uint32_t r = 0;
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t s = selector >> 4 * i, byte = (uint32_t)(bytes >> 8 * (s & 7)) & 255;
        r |= (s & 8 ? byte & 128 ? 255u : 0u : byte) << 8 * i;
    }
    return r;
}
static inline uint32_t prmt_mode(uint32_t a, uint32_t b, uint32_t c, int mode) {
    static const uint16_t table[6][4] = {
        {0x3210, 0x4321, 0x5432, 0x6543}, {0x5670, 0x6701, 0x7012, 0x0123}, {0x0000, 0x1111, 0x2222, 0x3333},
        {0x3210, 0x3211, 0x3222, 0x3333}, {0x0000, 0x1110, 0x2210, 0x3210}, {0x1010, 0x3232, 0x1010, 0x3232}};
    return prmt(a, b, table[mode][c & 3]);
}
static inline uint32_t fshl(uint32_t low, uint32_t high, uint32_t n) { return (uint32_t)(((uint64_t)high << 32 | low) << n >> 32); }
static inline uint32_t fshr(uint32_t low, uint32_t high, uint32_t n) { return (uint32_t)(((uint64_t)high << 32 | low) >> n); }
static inline int32_t byte_at(uint32_t a, int i, int is_signed) {
    return is_signed ? (int8_t)(a >> 8 * i) : (int32_t)(a >> 8 * i & 255);
}
static inline uint32_t dp4a(uint32_t a, uint32_t b, uint32_t c, int sa, int sb) {
    for (int i = 0; i < 4; i++) c += (uint32_t)(byte_at(a, i, sa) * byte_at(b, i, sb));
    return c;
}
static inline uint32_t dp2a(uint32_t a, uint32_t b, uint32_t c, int sa, int sb, int high) {
    for (int i = 0; i < 2; i++) {
        int32_t x = sa ? (int16_t)(a >> 16 * i) : (int32_t)(a >> 16 * i & 0xffff);
        c += (uint32_t)(x * byte_at(b, i + 2 * high, sb));
    }
    return c;
}

/* ---- conversions: NaN becomes 0, out of range the nearest ------------------------------------------- */

static inline uint32_t f64_u32(double x) { return x >= 4294967296.0 ? UINT32_MAX : x > 0 ? (uint32_t)(int64_t)x : 0; }
static inline int32_t f64_s32(double x) {
    return x != x ? 0 : x >= 2147483648.0 ? INT32_MAX : x <= -2147483648.0 ? INT32_MIN : (int32_t)x;
}
static inline uint64_t f64_u64(double x) {
    return x >= 0x1p64 ? UINT64_MAX : x >= 0x1p63 ? (uint64_t)(int64_t)(x - 0x1p63) | 1ull << 63 : x > 0 ? (uint64_t)(int64_t)x : 0;
}
static inline int64_t f64_s64(double x) {
    return x != x ? 0 : x >= 0x1p63 ? INT64_MAX : x <= -0x1p63 ? INT64_MIN : (int64_t)x;
}
/* NaN to 64 bits is 0x8000... on the hardware */
static inline uint64_t nan_u64(double x) { return x != x ? 1ull << 63 : f64_u64(x); }
static inline int64_t nan_s64(double x) { return x != x ? INT64_MIN : f64_s64(x); }

/* ---- approximations: in double, rounded once; the hardware's last bits are not shown ----------------- */

static inline double pow2(int n) { return f64((uint64_t)(uint32_t)(n + 1023) << 52); }
static inline float ex2_approx(float a) {
    double x = a < -200.0f ? -200.0 : a > 200.0f ? 200.0 : (double)a;
    double n = __builtin_roundeven(x), r = (x - n) * 0x1.62e42fefa39efp-1;
    double p = 1.0 + r * (1.0 + r * (1.0 / 2 + r * (1.0 / 6 + r * (1.0 / 24 + r * (1.0 / 120 + r * (1.0 / 720 +
               r * (1.0 / 5040 + r * (1.0 / 40320 + r * (1.0 / 362880 + r * (1.0 / 3628800))))))))));
    float y = (float)(p * pow2((int)n));
    return a != a ? NAN32 : y;
}
static inline float lg2_approx(float a) {
    uint64_t bits = u64((double)a);
    int above = (bits & 0xfffffffffffffull) > 0x6a09e667f3bcdull;
    int exponent = (int)(bits >> 52 & 2047) - 1023 + above;
    double m = f64((bits & 0xfffffffffffffull) | (above ? 0x3fe0000000000000ull : 0x3ff0000000000000ull));
    double s = (m - 1) / (m + 1), t = s * s;
    double p = s * (1 + t * (1.0 / 3 + t * (1.0 / 5 + t * (1.0 / 7 + t * (1.0 / 9 + t * (1.0 / 11 + t * (1.0 / 13 +
               t * (1.0 / 15 + t * (1.0 / 17)))))))));
    float y = (float)(exponent + p * 0x1.71547652b82fep+1);
    y = a == INFINITY ? INFINITY : y;
    y = a == 0 ? -INFINITY : y;
    return a != a || a < 0 ? NAN32 : y;
}
static inline double sin_turn(double x) { /* sin(2 pi x) for |x| <= 1/4 */
    double y = x * 0x1.921fb54442d18p+2, t = y * y;
    return y * (1 - t * (1.0 / 6 - t * (1.0 / 120 - t * (1.0 / 5040 - t * (1.0 / 362880 - t * (1.0 / 39916800 -
           t * (1.0 / 6227020800.0 - t * (1.0 / 1307674368000.0 - t * (1.0 / 355687428096000.0)))))))));
}
/* As on an H100: the product with 1/(2 pi) is cut to a float, so that large angles come out as they do there. */
static inline double turns_approx(float a) { return round_rz((double)a * (double)0x1.45f306p-3f); }
static inline float sin_approx(float a) {
    double turns = turns_approx(a), x = turns - __builtin_roundeven(turns);
    double folded = x > 0.25 ? 0.5 - x : x < -0.25 ? -0.5 - x : x;
    float r = (float)sin_turn(folded);
    return a == 0 ? a : fabsf(a) < INFINITY ? r : NAN32;
}
static inline float cos_approx(float a) {
    double turns = turns_approx(a), x = fabs(turns - __builtin_roundeven(turns));
    float r = (float)sin_turn(0.25 - x);
    return fabsf(a) < INFINITY ? r : NAN32;
}
static inline float tanh_approx(float a) {
    double x = fabs((double)a) > 20 ? 20 : fabs((double)a), n = __builtin_roundeven(x * 2.8853900817779268), r = x * 2 - n * 0x1.62e42fefa39efp-1;
    double p = 1.0 + r * (1.0 + r * (1.0 / 2 + r * (1.0 / 6 + r * (1.0 / 24 + r * (1.0 / 120 + r * (1.0 / 720 +
               r * (1.0 / 5040 + r * (1.0 / 40320 + r * (1.0 / 362880))))))))), e = p * pow2((int)n);
    return a != a ? NAN32 : x < 0x1p-12 ? a : copysignf((float)((e - 1) / (e + 1)), a);
}
/* Beyond 2^126 the divisor's reciprocal is subnormal, and taken for zero. */
static inline float div_approx(float a, float b) {
    return fabsf(b) > 0x1p126f && fabsf(b) < INFINITY ? a * copysignf(0.0f, b) : a / b;
}
static inline float rsqrt_approx(float a) { return canon((float)(1.0 / sqrt((double)a))); }
static inline double high_half(double x) { return f64(u64(x) & 0xffffffff00000000ull); }
static inline double rcp_approx64(double a) { /* .ftz: 20 bits of mantissa, low word zero */
    double x = fabs(a) < 0x1p-1022 ? copysign(0.0, a) : high_half(a), r = 1.0 / x;
    return a != a ? f64(0x7fffffff00000000ull) : high_half(fabs(r) < 0x1p-1022 ? copysign(0.0, r) : r);
}
static inline double rsqrt_approx64(double a) {
    double x = fabs(a) < 0x1p-1022 ? copysign(0.0, a) : high_half(a), r = 1.0 / sqrt(x);
    return r != r ? f64(0x7fffffff00000000ull) : high_half(r);
}

/* ---- rounding modes of double, one lane at a time: see rounding.c ------------------------------------ */

double ptx_rounded(int operation, int mode, double a, double b, double c);
float ptx_rounded32(int operation, int mode, double a, double b);
enum { ROUND_RN, ROUND_RZ, ROUND_RM, ROUND_RP };
enum { R_ADD, R_SUB, R_MUL, R_DIV, R_FMA, R_SQRT, R_RCP, R_S64, R_U64 };


/* ---- f16 and bf16 in the other rounding modes: exact values first ------------------------------------- */

#define NARROW(T, largest)                                                                                            \
    static inline uint32_t T##_step(uint32_t bits, int away) { /* the neighbour away from zero, or towards it */      \
        return away ? bits + 1 : bits - 1;                                                                            \
    }                                                                                                                 \
    static inline uint32_t T##_rz(double x) {                                                                         \
        uint32_t r = to_##T(to_odd(x));                                                                               \
        return x != x || fabs(x) == INFINITY || fabs((double)T(r)) <= fabs(x) ? r : T##_step(r, 0);                   \
    }                                                                                                                 \
    static inline uint32_t T##_rm(double x) {                                                                         \
        uint32_t r = T##_rz(x);                                                                                       \
        return x < 0 && (double)T(r) > x ? T##_step(r | 0x8000, 1) : r;                                               \
    }                                                                                                                 \
    static inline uint32_t T##_rp(double x) {                                                                         \
        uint32_t r = T##_rz(x);                                                                                       \
        return x > 0 && (double)T(r) < x ? T##_step(r, 1) : r;                                                        \
    }                                                                                                                 \
    static inline uint32_t T##_rna(double x) {                                                                        \
        uint32_t low = T##_rz(x), high = T##_step(low, 1);                                                            \
        double below = fabs((double)T(low)), above = fabs((double)T(high));                                           \
        return x == x && fabs(x) - below >= above - fabs(x) && fabs(x) < INFINITY ? high : low;                       \
    }
NARROW(f16, 0x7bff)
NARROW(bf16, 0x7f7f)

/* ---- 8-bit floating point, saturating ------------------------------------------------------------------ */

static inline float relu(float x) { return x != x ? x : x > 0 ? x : 0.0f; }
static inline uint32_t to_tiny(float a, int mantissa, int bias, uint32_t largest, uint32_t nan) {
    uint32_t sign = u32(a) >> 24 & 0x80;
    float size = fabsf(a);
    int exponent = (int)(u32(size) >> 23) - 127, lowest = 1 - bias;
    int scale = (exponent < lowest ? lowest : exponent) - mantissa;
    float steps = __builtin_roundevenf(size * f32((uint32_t)(127 - (scale > 120 ? 120 : scale)) << 23));
    uint32_t code = exponent > 64 ? largest : (uint32_t)steps + ((uint32_t)(exponent < lowest ? 0 : exponent - lowest) << mantissa);
    return a != a ? nan : (code > largest ? largest : code) | sign;
}
static inline uint32_t to_e4m3(float a) { return to_tiny(a, 3, 7, 0x7e, 0x7f); }
static inline uint32_t to_e5m2(float a) { return to_tiny(a, 2, 15, 0x7b, 0x7f); }
static inline float e5m2(uint32_t bits) { return f16(bits << 8); }
static inline float e4m3(uint32_t bits) {
    uint32_t size = bits & 127, exponent = size >> 3, mantissa = size & 7;
    float value = exponent ? f32((exponent + 120) << 23 | mantissa << 20) : (float)mantissa * 0x1p-9f;
    return size == 127 ? NAN32 : bits & 128 ? -value : value;
}
#endif
