/* Meaning of vector and scalar instructions that is more than one C operator.
 * Everything is branch-free where it can be, so that loops over lanes become vector code. */
#ifndef PORTER_GFX942_LANES_H
#define PORTER_GFX942_LANES_H

#include "wave.h"

#include <math.h>

#define BITCAST(name, from, to)          \
    static inline to name(from x) {      \
        to y;                            \
        memcpy(&y, &x, sizeof y);        \
        return y;                        \
    }
BITCAST(f32_bits, float, uint32_t)
BITCAST(bits_f32, uint32_t, float)
BITCAST(f64_bits, double, uint64_t)
BITCAST(bits_f64, uint64_t, double)
BITCAST(f16_bits_, _Float16, uint16_t)
BITCAST(bits_f16_, uint16_t, _Float16)

static inline float f16_value(uint32_t bits) { return (float)bits_f16_((uint16_t)bits); }
static inline uint32_t f16_pattern(float x) { return f16_bits_((_Float16)x); }
/* With FP16_OVFL what is finite stays finite. */
static inline uint32_t f16_within(float x, uint32_t clamps) {
    uint32_t r = f16_pattern(x);
    return clamps && (r & 0x7fff) == 0x7c00 && fabsf(x) < INFINITY ? r - 1 : r;
}

/* Register bits <-> typed values. f32 denormals are flushed where the kernel's mode says so. */
#ifdef DYNAMIC_MODE
static inline float flush_when(float x, uint32_t on) { return on && fabsf(x) < 0x1p-126f ? copysignf(0.0f, x) : x; }
#endif
#ifdef FLUSH_F32
static inline float flush_f32(float x) { return fabsf(x) < 0x1p-126f ? copysignf(0.0f, x) : x; }
#else
#define flush_f32(x) (x)
#endif
#define IN_b32(x) (x)
#define IN_u32(x) (x)
#define IN_i32(x) ((int32_t)(x))
#ifdef DYNAMIC_MODE /* the kernel changes MODE: each loop says what to flush */
#define IN_f32(x) flush_when(bits_f32(x), flush_inputs)
#define OUT_f32(x) f32_bits(flush_when(x, flush_outputs))
#else
#define IN_f32(x) flush_f32(bits_f32(x))
#define OUT_f32(x) f32_bits(flush_f32(x))
#endif
#define IN_b64(x) (x)
#define IN_u64(x) (x)
#define IN_i64(x) ((int64_t)(x))
#define IN_f64(x) bits_f64(x)
#define IN_u16(x) ((uint16_t)(x))
#define IN_i16(x) ((int16_t)(x))
#define IN_u8(x) ((x) & 255)
#define IN_f16(x) f16_value(x)
#define IN_h16(x) ((uint16_t)(x)) /* an f16 as its bits */
#define OUT_h16(x) ((uint32_t)(uint16_t)(x))
#define OUT_b32(x) (x)
#define OUT_u32(x) (x)
#define OUT_i32(x) ((uint32_t)(x))
#define OUT_b64(x) (x)
#define OUT_u64(x) (x)
#define OUT_i64(x) ((uint64_t)(x))
#define OUT_f64(x) f64_bits(x)
#define OUT_u16(x) ((uint32_t)(uint16_t)(x))
#define OUT_i16(x) ((uint32_t)(uint16_t)(x))
#ifdef DYNAMIC_MODE
#define FP16_OVFL (w->mode >> 23 & 1)
#else
#define FP16_OVFL 0u
#endif
#define OUT_f16(x) f16_within(x, FP16_OVFL)

#define MED3(a, b, c) ((a) < (b) ? ((b) < (c) ? (b) : (a) < (c) ? (c) : (a)) : ((a) < (c) ? (a) : (b) < (c) ? (c) : (b)))

/* ---- integers ------------------------------------------------------------------------------------- */

static inline int32_t sext24(uint32_t a) { return (int32_t)(a << 8) >> 8; }
static inline uint32_t abs_u32(uint32_t a) { return (int32_t)a < 0 ? 0u - a : a; }
static inline uint32_t bitrev32(uint32_t x) {
    x = (x >> 1 & 0x55555555) | (x & 0x55555555) << 1;
    x = (x >> 2 & 0x33333333) | (x & 0x33333333) << 2;
    x = (x >> 4 & 0x0f0f0f0f) | (x & 0x0f0f0f0f) << 4;
    x = (x >> 8 & 0x00ff00ff) | (x & 0x00ff00ff) << 8;
    return x >> 16 | x << 16;
}
static inline uint64_t bitrev64(uint64_t x) {
    return (uint64_t)bitrev32((uint32_t)x) << 32 | bitrev32((uint32_t)(x >> 32));
}
static inline uint64_t bfe_u64(uint64_t a, uint32_t offset, uint32_t width) {
    return width >= 64 ? a >> offset : a >> offset & ((1ull << width) - 1);
}
static inline int64_t bfe_i64(int64_t a, uint32_t offset, uint32_t width) {
    if (width == 0) return 0;
    if (width >= 64) return a >> offset;
    return (int64_t)((uint64_t)(a >> offset) << (64 - width)) >> (64 - width);
}
static inline int32_t bfe_i32(int32_t a, uint32_t offset, uint32_t width) {
    uint32_t field = (uint32_t)(a >> offset) & ((1u << width) - 1);
    uint32_t sign = width ? 1u << ((width - 1) & 31) : 0;
    return (int32_t)((field ^ sign) - sign);
}
static inline uint64_t wqm(uint64_t a) {
    a |= a >> 1 & 0x7777777777777777ull;
    a |= a >> 2 & 0x3333333333333333ull;
    a &= 0x1111111111111111ull;
    return a * 15;
}
static inline uint64_t quadmask(uint64_t a) {
    uint64_t r = 0;
    for (int i = 0; i < 16; i++) r |= (uint64_t)((a >> 4 * i & 15) != 0) << i;
    return r;
}
static inline uint64_t bitreplicate(uint32_t a) {
    uint64_t r = 0;
    for (int i = 0; i < 32; i++) r |= (uint64_t)(a >> i & 1) * 3 << 2 * i;
    return r;
}
static inline uint32_t ffbh_u32(uint32_t a) { return a ? (uint32_t)__builtin_clz(a) : 0xffffffffu; }
static inline uint32_t ffbl_b32(uint32_t a) { return a ? (uint32_t)__builtin_ctz(a) : 0xffffffffu; }
static inline uint32_t ffbh_i32(uint32_t a) { return ffbh_u32((int32_t)a < 0 ? ~a : a); }
static inline uint32_t below_lo(int lane) { return lane >= 32 ? 0xffffffffu : (1u << (lane & 31)) - 1; }
static inline uint32_t below_hi(int lane) { return lane >= 32 ? (1u << (lane & 31)) - 1 : 0; }
static inline int32_t sat_i16(int64_t a) { return a > 32767 ? 32767 : a < -32768 ? -32768 : (int32_t)a; }
static inline uint32_t add_sat_u32(uint32_t a, uint32_t b) { return a + b < a ? 0xffffffffu : a + b; }
static inline uint32_t sub_sat_u32(uint32_t a, uint32_t b) { return a < b ? 0 : a - b; }
static inline int32_t sat_i32(int64_t a) { return a > INT32_MAX ? INT32_MAX : a < INT32_MIN ? INT32_MIN : (int32_t)a; }
static inline int32_t add_sat_i32(uint32_t a, uint32_t b) { return sat_i32((int64_t)(int32_t)a + (int32_t)b); }
static inline int32_t sub_sat_i32(uint32_t a, uint32_t b) { return sat_i32((int64_t)(int32_t)a - (int32_t)b); }
static inline int64_t mad_i64(int32_t a, int32_t b, int64_t c) { return (int64_t)((uint64_t)((int64_t)a * b) + (uint64_t)c); }
static inline int mad_overflows_i64(int32_t a, int32_t b, int64_t c) { /* bit 64 of the 65-bit sum */
    int64_t p = (int64_t)a * b, s = (int64_t)((uint64_t)p + (uint64_t)c);
    return ((s ^ ((p ^ s) & (c ^ s))) >> 63) & 1;
}
static inline uint32_t sat_u32(int64_t a) { return a < 0 ? 0 : a > UINT32_MAX ? UINT32_MAX : (uint32_t)a; }
static inline uint32_t sat_u16(uint64_t a) { return a > 65535 ? 65535 : (uint32_t)a; }
static inline uint32_t byte_of(uint32_t a, int i) { return a >> 8 * i & 255; }
static inline uint32_t gap(uint32_t a, uint32_t b) { return a > b ? a - b : b - a; }
static inline uint32_t sad_u8(uint32_t a, uint32_t b, uint32_t c) {
    return gap(byte_of(a, 0), byte_of(b, 0)) + gap(byte_of(a, 1), byte_of(b, 1)) + gap(byte_of(a, 2), byte_of(b, 2)) +
           gap(byte_of(a, 3), byte_of(b, 3)) + c;
}
static inline uint32_t masked_gap(uint32_t a, uint32_t b) { return b ? gap(a, b) : 0; }
static inline uint32_t msad_u8(uint32_t a, uint32_t b, uint32_t c) {
    return masked_gap(byte_of(a, 0), byte_of(b, 0)) + masked_gap(byte_of(a, 1), byte_of(b, 1)) +
           masked_gap(byte_of(a, 2), byte_of(b, 2)) + masked_gap(byte_of(a, 3), byte_of(b, 3)) + c;
}
/* four sums of four differences each, at bytes 0, 1, 2 and 3 of a */
#define FOUR_SUMS(one) (((uint64_t)(one(0) & 0xffff)) | (uint64_t)(one(1) & 0xffff) << 16 | \
                        (uint64_t)(one(2) & 0xffff) << 32 | (uint64_t)(one(3) & 0xffff) << 48)
static inline uint64_t qsad_pk(uint64_t a, uint32_t b, uint64_t c) {
#define ONE(i) sad_u8((uint32_t)(a >> 8 * i), b, (uint32_t)(c >> 16 * i) & 0xffff)
    return FOUR_SUMS(ONE);
#undef ONE
}
static inline uint64_t mqsad_pk(uint64_t a, uint32_t b, uint64_t c) {
#define ONE(i) msad_u8((uint32_t)(a >> 8 * i), b, (uint32_t)(c >> 16 * i) & 0xffff)
    return FOUR_SUMS(ONE);
#undef ONE
}
static inline uint32_t sad_u16(uint32_t a, uint32_t b, uint32_t c) {
    return gap(a & 0xffff, b & 0xffff) + gap(a >> 16, b >> 16) + c;
}
static inline uint32_t lerp_byte(uint32_t a, uint32_t b, uint32_t c, int i) {
    return ((byte_of(a, i) + byte_of(b, i) + (c >> 8 * i & 1)) >> 1) << 8 * i;
}
static inline uint32_t lerp_u8(uint32_t a, uint32_t b, uint32_t c) {
    return lerp_byte(a, b, c, 0) + lerp_byte(a, b, c, 1) + lerp_byte(a, b, c, 2) + lerp_byte(a, b, c, 3);
}
static inline uint32_t perm_byte(uint64_t data, uint32_t select) {
    uint32_t plain = (uint32_t)(data >> 8 * (select & 7)) & 255;
    uint32_t sign = (uint32_t)(data >> (16 * (select & 3) + 15) & 1) * 255;
    return select < 8 ? plain : select < 12 ? sign : select == 12 ? 0 : 255;
}
static inline uint32_t perm_b32(uint32_t a, uint32_t b, uint32_t c) {
    uint64_t data = (uint64_t)a << 32 | b;
    return perm_byte(data, c & 255) | perm_byte(data, c >> 8 & 255) << 8 | perm_byte(data, c >> 16 & 255) << 16 |
           perm_byte(data, c >> 24) << 24;
}
static inline uint32_t sat_u8(int32_t a) { return a < 0 ? 0 : a > 255 ? 255 : (uint32_t)a; }
static inline uint32_t sat_pk_u8_i16(uint32_t a) { return sat_u8((int16_t)a) | sat_u8((int16_t)(a >> 16)) << 8; }
static inline int32_t dot4_i32_i8(uint32_t a, uint32_t b, int32_t c) {
    uint32_t r = (uint32_t)c;
    for (int i = 0; i < 4; i++) r += (uint32_t)((int8_t)(a >> 8 * i) * (int8_t)(b >> 8 * i));
    return (int32_t)r;
}
static inline uint32_t dot4_u32_u8(uint32_t a, uint32_t b, uint32_t c) {
    for (int i = 0; i < 4; i++) c += byte_of(a, i) * byte_of(b, i);
    return c;
}
static inline int32_t nibble(uint32_t a, int i) { return (int32_t)(a << (28 - 4 * i)) >> 28; }
static inline int32_t dot8_i32_i4(uint32_t a, uint32_t b, int32_t c) {
    uint32_t r = (uint32_t)c;
    for (int i = 0; i < 8; i++) r += (uint32_t)(nibble(a, i) * nibble(b, i));
    return (int32_t)r;
}
static inline uint32_t dot8_u32_u4(uint32_t a, uint32_t b, uint32_t c) {
    for (int i = 0; i < 8; i++) c += (a >> 4 * i & 15) * (b >> 4 * i & 15);
    return c;
}
static inline int32_t dot2_i32_i16(uint32_t a, uint32_t b, int32_t c) {
    return (int32_t)((uint32_t)c + (uint32_t)((int16_t)a * (int16_t)b) + (uint32_t)((int16_t)(a >> 16) * (int16_t)(b >> 16)));
}
static inline uint32_t dot2_u32_u16(uint32_t a, uint32_t b, uint32_t c) {
    return c + (a & 0xffff) * (b & 0xffff) + (a >> 16) * (b >> 16);
}

/* ---- conversions ---------------------------------------------------------------------------------- */

static inline int32_t i32_from_f32(float a) {
    return a != a ? 0 : a >= 2147483648.0f ? INT32_MAX : a < -2147483648.0f ? INT32_MIN : (int32_t)a;
}
static inline uint32_t u32_from_f32(float a) { return !(a > 0) ? 0 : a >= 4294967296.0f ? UINT32_MAX : (uint32_t)a; }
static inline int32_t i32_from_f64(double a) {
    return a != a ? 0 : a >= 2147483648.0 ? INT32_MAX : a <= -2147483649.0 ? INT32_MIN : (int32_t)a;
}
static inline uint32_t u32_from_f64(double a) { return !(a > 0) ? 0 : a >= 4294967296.0 ? UINT32_MAX : (uint32_t)a; }
static inline int32_t i16_from_f32(float a) { return a != a ? 0 : a >= 32767.0f ? 32767 : a <= -32768.0f ? -32768 : (int32_t)a; }
static inline uint32_t u16_from_f32(float a) { return !(a > 0) ? 0 : a >= 65535.0f ? 65535 : (uint32_t)a; }
static inline uint32_t cvt_pk_u8_f32(float a, uint32_t b, uint32_t c) {
    uint32_t byte = !(a > 0) ? 0 : a >= 255.0f ? 255 : (uint32_t)a, shift = 8 * (b & 3);
    return (c & ~(255u << shift)) | byte << shift;
}
static inline uint32_t norm_i16(float a) {
    float x = a != a ? 0 : a > 1 ? 1 : a < -1 ? -1 : a;
    return (uint16_t)(int32_t)__builtin_roundevenf(x * 32767.0f);
}
static inline uint32_t norm_u16(float a) {
    float x = !(a > 0) ? 0 : a > 1 ? 1 : a;
    return (uint32_t)__builtin_roundevenf(x * 65535.0f);
}
static inline uint32_t f16_rtz(float a) {
    uint32_t r = f16_pattern(a);
    int away = fabsf(f16_value(r)) > fabsf(a); /* rounded up: one step back towards zero */
    return away ? r - 1 : r;
}
static inline uint32_t quiet32(uint32_t bits) { return bits | 0x400000; }

/* fp8 of gfx942: FNUZ, bias 8 (e4m3) or 16 (e5m2), 0x80 is the only NaN, no infinities, no negative zero. */
static inline float fnuz_value(uint32_t bits, int mantissa, int bias) {
    uint32_t fraction = bits & ((1u << mantissa) - 1), exponent = (bits & 127) >> mantissa;
    float magnitude = exponent ? (float)((1u << mantissa) + fraction) : (float)fraction;
    int power = (exponent ? (int)exponent : 1) - bias - mantissa;
    float value = magnitude * bits_f32((uint32_t)(power + 127) << 23);
    return bits == 0x80 ? bits_f32(0x7fc00000) : bits & 0x80 ? -value : value;
}
static inline float f32_from_fp8(uint32_t bits) { return fnuz_value(bits, 3, 8); }
static inline float f32_from_bf8(uint32_t bits) { return fnuz_value(bits, 2, 16); }
/* Rounds to nearest even; what is beyond the largest value, and infinity, becomes NaN, with FP16_OVFL the largest. */
static inline uint32_t fnuz_pattern(float a, int mantissa, int bias, uint32_t clamps) {
    uint32_t sign = f32_bits(a) >> 24 & 0x80;
    float size = fabsf(a);
    int exponent = (int)(f32_bits(size) >> 23) - 127, lowest = 1 - bias;
    int scale = (exponent < lowest ? lowest : exponent) - mantissa;
    float steps = __builtin_roundevenf(size * bits_f32((uint32_t)(127 - (scale > 120 ? 120 : scale)) << 23));
    uint32_t code = (uint32_t)steps + ((uint32_t)(exponent < lowest ? 0 : exponent - lowest) << mantissa);
    int beyond = size >= INFINITY || code > 127;
    if (clamps && beyond && size == size) return 0x7f | sign;
    return beyond || size != size ? 0x80 : code ? code | sign : 0;
}
#define fp8_from_f32(a) fnuz_pattern(a, 3, 8, FP16_OVFL)
#define bf8_from_f32(a) fnuz_pattern(a, 2, 16, FP16_OVFL)

static inline uint64_t pair_of(float low, float high) { return f32_bits(low) | (uint64_t)f32_bits(high) << 32; }

/* ---- floating point ------------------------------------------------------------------------------- */

static inline int is_snan32(uint32_t x) { return (x & 0x7fffffff) > 0x7f800000 && !(x & 0x400000); }
static inline float min_f32(float a, float b) {
    uint32_t x = f32_bits(a), y = f32_bits(b);
    uint32_t equal = x | y, smaller = a < b ? x : y;
    uint32_t r = a == b ? equal : b != b ? x : a != a ? y : smaller;
    r = is_snan32(y) ? quiet32(y) : r;
    return bits_f32(is_snan32(x) ? quiet32(x) : r);
}
static inline float max_f32(float a, float b) {
    uint32_t x = f32_bits(a), y = f32_bits(b);
    uint32_t equal = x & y, larger = a > b ? x : y;
    uint32_t r = a == b ? equal : b != b ? x : a != a ? y : larger;
    r = is_snan32(y) ? quiet32(y) : r;
    return bits_f32(is_snan32(x) ? quiet32(x) : r);
}
static inline uint64_t quiet64(uint64_t bits) { return bits | 0x8000000000000ull; }
static inline int is_snan64(uint64_t x) { return (x & INT64_MAX) > 0x7ff0000000000000ull && !(x & 0x8000000000000ull); }
static inline double min_f64(double a, double b) {
    uint64_t x = f64_bits(a), y = f64_bits(b);
    uint64_t equal = x | y, smaller = a < b ? x : y;
    uint64_t r = a == b ? equal : b != b ? x : a != a ? y : smaller;
    r = is_snan64(y) ? quiet64(y) : r;
    return bits_f64(is_snan64(x) ? quiet64(x) : r);
}
static inline double max_f64(double a, double b) {
    uint64_t x = f64_bits(a), y = f64_bits(b);
    uint64_t equal = x & y, larger = a > b ? x : y;
    uint64_t r = a == b ? equal : b != b ? x : a != a ? y : larger;
    r = is_snan64(y) ? quiet64(y) : r;
    return bits_f64(is_snan64(x) ? quiet64(x) : r);
}
/* The same on f16 bits, which keep signalling NaNs apart. */
static inline int is_nan16(uint32_t x) { return (x & 0x7fff) > 0x7c00; }
static inline int is_snan16(uint32_t x) { return is_nan16(x) && !(x & 0x200); }
static inline uint32_t min_f16(uint32_t x, uint32_t y) {
    float a = f16_value(x), b = f16_value(y);
    uint32_t r = a == b ? x | y : is_nan16(y) ? x : is_nan16(x) ? y : a < b ? x : y;
    r = is_snan16(y) ? y | 0x200 : r;
    return is_snan16(x) ? x | 0x200 : r;
}
static inline uint32_t max_f16(uint32_t x, uint32_t y) {
    float a = f16_value(x), b = f16_value(y);
    uint32_t r = a == b ? x & y : is_nan16(y) ? x : is_nan16(x) ? y : a > b ? x : y;
    r = is_snan16(y) ? y | 0x200 : r;
    return is_snan16(x) ? x | 0x200 : r;
}
static inline uint32_t med3_f16(uint32_t x, uint32_t y, uint32_t z) {
    uint32_t low = min_f16(min_f16(x, y), z);
    float high = f16_value(max_f16(max_f16(x, y), z));
    uint32_t middle = high == f16_value(x) ? max_f16(y, z) : high == f16_value(y) ? max_f16(x, z) : max_f16(x, y);
    return is_nan16(x) || is_nan16(y) || is_nan16(z) ? low : middle;
}
static inline float med3_f32(float a, float b, float c) {
    float low = min_f32(min_f32(a, b), c), high = max_f32(max_f32(a, b), c);
    float middle = high == a ? max_f32(b, c) : high == b ? max_f32(a, c) : max_f32(a, b);
    return a != a || b != b || c != c ? low : middle;
}
/* the clamp modifier, with DX10_CLAMP: NaN becomes 0 */
static inline float clamp_f32(float a) { return !(a > 0) ? 0 : a > 1 ? 1 : a; }
static inline double clamp_f64(double a) { return !(a > 0) ? 0 : a > 1 ? 1 : a; }

static inline double pow2_f64(int n) { return bits_f64((uint64_t)(uint32_t)(n + 1023) << 52); }
static inline float ldexp_f32(float a, int n) {
    int m = n > 300 ? 300 : n < -300 ? -300 : n;
    return (float)((double)a * pow2_f64(m)); /* exact in double, one rounding */
}
static inline float ldexp_f16(float a, int n) {
    int m = n > 60 ? 60 : n < -60 ? -60 : n;
    return a * bits_f32((uint32_t)(m + 127) << 23);
}
static inline double ldexp_f64(double a, int n) {
    int m = n > 3000 ? 3000 : n < -3000 ? -3000 : n;
    for (int i = 0; i < 2; i++) { /* steps that never round twice in the denormals */
        double f = m > 1023 ? 0x1p1023 : m < -1022 ? 0x1p-969 : 1.0;
        a *= f;
        m -= m > 1023 ? 1023 : m < -1022 ? -969 : 0;
    }
    m = m > 1023 ? 1023 : m < -1022 ? -1022 : m;
    return a * pow2_f64(m);
}
static inline int biased_f32(float a) { return f32_bits(a) >> 23 & 255; }
static inline int biased_f64(double a) { return (int)(f64_bits(a) >> 52 & 2047); }
static inline int frexp_exp_f32(float a) {
    int tiny = biased_f32(a) == 0;
    float x = tiny ? a * 0x1p32f : a;
    return a == 0 || biased_f32(a) == 255 ? 0 : biased_f32(x) - 126 - (tiny ? 32 : 0);
}
static inline float frexp_mant_f32(float a) {
    float x = biased_f32(a) == 0 ? a * 0x1p32f : a;
    float m = bits_f32((f32_bits(x) & 0x807fffff) | 0x3f000000);
    return a == 0 || biased_f32(a) == 255 ? a : m;
}
static inline int frexp_exp_f64(double a) {
    int tiny = biased_f64(a) == 0;
    double x = tiny ? a * 0x1p64 : a;
    return a == 0 || biased_f64(a) == 2047 ? 0 : biased_f64(x) - 1022 - (tiny ? 64 : 0);
}
static inline double frexp_mant_f64(double a) {
    double x = biased_f64(a) == 0 ? a * 0x1p64 : a;
    double m = bits_f64((f64_bits(x) & 0x800fffffffffffffull) | 0x3fe0000000000000ull);
    return a == 0 || biased_f64(a) == 2047 ? a : m;
}
/* fract never reaches 1 */
static inline float fract_f32(float a) {
    float r = a - floorf(a);
    return r >= 1.0f ? 0x1.fffffep-1f : r;
}
static inline float fract_f16(float a) {
    float r = f16_value(f16_pattern(a - floorf(a)));
    return r >= 1.0f ? 0x1.ffcp-1f : r;
}
static inline double fract_f64(double a) {
    double r = a - floor(a);
    return r >= 1.0 ? 0x1.fffffffffffffp-1 : r;
}
/* Classes (bit order of V_CMP_CLASS): sNaN qNaN -inf -normal -denormal -0 +0 +denormal +normal +inf */
static inline uint32_t class_of(int negative, int zero, int denormal, int infinite, int nan, int quiet) {
    uint32_t positive = infinite ? 512 : zero ? 64 : denormal ? 128 : 256;
    uint32_t minus = infinite ? 4 : zero ? 32 : denormal ? 16 : 8;
    return nan ? (quiet ? 2 : 1) : negative ? minus : positive;
}
static inline uint32_t class_f32(float a) {
    uint32_t x = f32_bits(a), m = x & 0x7fffffff;
    return class_of(x >> 31, m == 0, m < 0x800000, m == 0x7f800000, m > 0x7f800000, x >> 22 & 1);
}
static inline uint32_t class_f64(double a) {
    uint64_t x = f64_bits(a), m = x & INT64_MAX;
    return class_of(x >> 63, m == 0, m < 0x10000000000000ull, m == 0x7ff0000000000000ull, m > 0x7ff0000000000000ull,
                    x >> 51 & 1);
}
static inline uint32_t class_f16(uint32_t x) {
    uint32_t m = x & 0x7fff;
    return class_of(x >> 15 & 1, m == 0, m < 0x400, m == 0x7c00, m > 0x7c00, x >> 9 & 1);
}

/* Division helpers (12.10, V_DIV_*): a is the quotient or the operand to scale, b the denominator, c the numerator. */
static inline float div_fixup_f32(float a, float b, float c) {
    uint32_t sign = (f32_bits(b) ^ f32_bits(c)) & 0x80000000;
    float mb = fabsf(b), mc = fabsf(c);
    uint32_t r = sign | (a != a ? 0x7f800000 : f32_bits(a) & 0x7fffffff); /* NaN: an overflow on the way */
    r = biased_f32(c) - biased_f32(b) < -150 ? sign : r; /* underflow; the last bit is not shown */
    r = mb == INFINITY || mc == 0 ? sign : r;
    r = mb == 0 || mc == INFINITY ? sign | 0x7f800000 : r;
    r = (mb == INFINITY && mc == INFINITY) || (mb == 0 && mc == 0) ? 0xffc00000 : r;
    r = b != b ? quiet32(f32_bits(b)) : r;
    return bits_f32(c != c ? quiet32(f32_bits(c)) : r);
}
static inline double div_fixup_f64(double a, double b, double c) {
    uint64_t sign = (f64_bits(b) ^ f64_bits(c)) & 0x8000000000000000ull;
    double mb = fabs(b), mc = fabs(c);
    uint64_t r = sign | (a != a ? 0x7ff0000000000000ull : f64_bits(a) & INT64_MAX);
    r = biased_f64(c) - biased_f64(b) < -1075 ? sign : r;
    r = mb == INFINITY || mc == 0 ? sign : r;
    r = mb == 0 || mc == INFINITY ? sign | 0x7ff0000000000000ull : r;
    r = (mb == INFINITY && mc == INFINITY) || (mb == 0 && mc == 0) ? 0xfff8000000000000ull : r;
    r = b != b ? quiet64(f64_bits(b)) : r;
    return bits_f64(c != c ? quiet64(f64_bits(c)) : r);
}
static inline float div_fixup_f16(float a, float b, float c) {
    uint32_t sign = (f32_bits(b) ^ f32_bits(c)) & 0x80000000;
    float mb = fabsf(b), mc = fabsf(c);
    uint32_t r = sign | (f32_bits(a) & 0x7fffffff);
    r = mb == INFINITY || mc == 0 ? sign : r;
    r = mb == 0 || mc == INFINITY ? sign | 0x7f800000 : r;
    r = (mb == INFINITY && mc == INFINITY) || (mb == 0 && mc == 0) ? 0xffc00000 : r;
    r = b != b ? quiet32(f32_bits(b)) : r;
    return bits_f32(c != c ? quiet32(f32_bits(c)) : r);
}
static inline int denormal_f32(float a) { return a != 0 && biased_f32(a) == 0; }
static inline int denormal_f64(double a) { return a != 0 && biased_f64(a) == 0; }
static inline float div_scale_f32(float a, float b, float c) {
    float up = a * 0x1p64f, down = a * 0x1p-64f;
    int inverse_tiny = denormal_f32(1.0f / b), quotient_tiny = denormal_f32(c / b);
    float r = biased_f32(c) <= 23 ? up : a;
    r = quotient_tiny ? (a == c ? up : a) : r;
    r = inverse_tiny ? down : r;
    r = inverse_tiny && quotient_tiny ? (a == b ? down : a) : r; /* the document: up, which overflows */
    r = denormal_f32(b) ? up : r;
    r = biased_f32(c) - biased_f32(b) >= 96 ? (a == b ? up : a) : r;
    return b == 0 || c == 0 ? bits_f32(0x7fc00000) : r;
}
static inline int div_scale_flag_f32(float b, float c) {
    int inverse_tiny = denormal_f32(1.0f / b), quotient_tiny = denormal_f32(c / b);
    int flag = quotient_tiny;
    flag = denormal_f32(b) ? 0 : flag;
    flag = biased_f32(c) - biased_f32(b) >= 96 ? 1 : flag;
    (void)inverse_tiny;
    return b == 0 || c == 0 ? 0 : flag;
}
static inline double div_scale_f64(double a, double b, double c) {
    double up = a * 0x1p128, down = a * 0x1p-128;
    int inverse_tiny = denormal_f64(1.0 / b), quotient_tiny = denormal_f64(c / b);
    double r = biased_f64(c) <= 53 ? up : a;
    r = quotient_tiny ? (a == c ? up : a) : r;
    r = inverse_tiny ? down : r;
    r = inverse_tiny && quotient_tiny ? (a == b ? down : a) : r; /* the document: up, which overflows */
    r = denormal_f64(b) ? up : r;
    r = biased_f64(c) - biased_f64(b) >= 768 ? (a == b ? up : a) : r;
    return b == 0 || c == 0 ? bits_f64(0x7ff8000000000000ull) : r;
}
static inline int div_scale_flag_f64(double b, double c) {
    int flag = denormal_f64(c / b);
    flag = denormal_f64(b) ? 0 : flag;
    flag = biased_f64(c) - biased_f64(b) >= 768 ? 1 : flag;
    return b == 0 || c == 0 ? 0 : flag;
}

/* s + error, rounded to odd: a later rounding to fewer bits is then right */
static inline double round_to_odd(double s, double error) {
    uint64_t bits = f64_bits(s);
    int inward = (error < 0) != (s < 0);
    uint64_t odd = (inward ? bits - 1 : bits) | 1;
    int exact = !(error != 0) || !(fabs(s) < INFINITY) || error != error;
    return exact ? s : bits_f64(odd);
}
/* Undoes what V_DIV_SCALE did, in the direction that the quotient c tells; the ISA document has one fixed factor, with
 * which no quotient that needs it comes out right. A sum that loses bits again is kept odd, so that it is rounded
 * once. */
static inline float div_fmas_f32(float a, float b, float c, int scaled) {
    double p = (double)a * b, s = p + c, t = s - p;
    double odd = round_to_odd(s, (p - (s - t)) + (c - t));
    return scaled ? (float)(odd * (biased_f32(c) > 127 ? 0x1p64 : 0x1p-64)) : fmaf(a, b, c);
}
static inline double div_fmas_f64(double a, double b, double c, int scaled) {
    double r = fma(a, b, c), p = a * b, low = fma(a, b, -p), s = p + c, t = s - p;
    double error = (s - r) + (((p - (s - t)) + (c - t)) + low);
    double scale = biased_f64(c) > 1023 ? 0x1p128 : 0x1p-128, result = r * scale;
    return scaled ? fabs(result) < 0x1p-1022 ? round_to_odd(r, error) * scale : result : r;
}

/* Transcendentals, in double and rounded once: the hardware's last bits are not shown by this device. Those of f32 take
 * and give no denormals, whatever MODE says. */
static inline float no_denormal(float x) { return fabsf(x) < 0x1p-126f ? copysignf(0.0f, x) : x; }
static inline float rsq_f32(float a) { return (float)(1.0 / sqrt((double)a)); }
static inline float exp2_f32(float a) {
    double x = a < -200.0f ? -200.0 : a > 200.0f ? 200.0 : (double)a;
    double n = __builtin_roundeven(x), r = (x - n) * 0x1.62e42fefa39efp-1;
    double p = 1.0 + r * (1.0 + r * (1.0 / 2 + r * (1.0 / 6 + r * (1.0 / 24 + r * (1.0 / 120 + r * (1.0 / 720 +
               r * (1.0 / 5040 + r * (1.0 / 40320 + r * (1.0 / 362880 + r * (1.0 / 3628800))))))))));
    float y = (float)(p * pow2_f64((int)n));
    return a != a ? a : y;
}
static inline float log2_f32(float a) {
    uint64_t bits = f64_bits((double)a);
    int up = (bits & 0xfffffffffffffull) > 0x6a09e667f3bcdull; /* mantissa above sqrt(2) */
    int exponent = (int)(bits >> 52 & 2047) - 1023 + up;
    double m = bits_f64((bits & 0xfffffffffffffull) | (up ? 0x3fe0000000000000ull : 0x3ff0000000000000ull));
    double s = (m - 1) / (m + 1), t = s * s;
    double p = s * (1 + t * (1.0 / 3 + t * (1.0 / 5 + t * (1.0 / 7 + t * (1.0 / 9 + t * (1.0 / 11 + t * (1.0 / 13 +
               t * (1.0 / 15 + t * (1.0 / 17)))))))));
    float y = (float)(exponent + p * 0x1.71547652b82fep+1);
    y = a == INFINITY ? INFINITY : y;
    y = a == 0 ? -INFINITY : y;
    return a != a ? a : a < 0 ? bits_f32(0xffc00000) : y;
}
static inline double sin_turn(double x) { /* sin(2 pi x) for |x| <= 1/4 */
    double y = x * 0x1.921fb54442d18p+2, t = y * y;
    return y * (1 - t * (1.0 / 6 - t * (1.0 / 120 - t * (1.0 / 5040 - t * (1.0 / 362880 - t * (1.0 / 39916800 -
           t * (1.0 / 6227020800.0 - t * (1.0 / 1307674368000.0 - t * (1.0 / 355687428096000.0)))))))));
}
static inline float sin_f32(float a) {
    double x = (double)a - __builtin_roundeven((double)a);
    double folded = x > 0.25 ? 0.5 - x : x < -0.25 ? -0.5 - x : x;
    float r = a == 0 ? a : (float)sin_turn(folded);
    return fabsf(a) == INFINITY ? bits_f32(0xffc00000) : a != a ? a : r;
}
static inline float cos_f32(float a) {
    double x = fabs((double)a - __builtin_roundeven((double)a));
    float r = (float)sin_turn(0.25 - x);
    return fabsf(a) == INFINITY ? bits_f32(0xffc00000) : a != a ? a : r;
}

/* Cube maps: the face that a direction meets (0 to 5: +x -x +y -y +z -z), and the place on it. */
static inline float cube_face(float x, float y, float z) {
    int by_z = fabsf(z) >= fabsf(x) && fabsf(z) >= fabsf(y), by_y = fabsf(y) >= fabsf(x);
    return by_z ? 4.0f + (z < 0) : by_y ? 2.0f + (y < 0) : 0.0f + (x < 0);
}
static inline float cube_axis(float x, float y, float z) {
    float face = cube_face(x, y, z);
    return face >= 4 ? z : face >= 2 ? y : x;
}
static inline float cube_s(float x, float y, float z) {
    float face = cube_face(x, y, z);
    return face == 5 ? -x : face >= 2 ? x : face == 1 ? z : -z;
}
static inline float cube_t(float x, float y, float z) {
    float face = cube_face(x, y, z);
    return face == 3 ? -z : face == 2 ? z : -y;
}


static inline float float_to_odd(double s) {
    float f = (float)s;
    uint32_t bits = f32_bits(f);
    int outward = fabs((double)f) > fabs(s);
    uint32_t odd = (outward ? bits - 1 : bits) | 1;
    return (double)f == s || s != s ? f : bits_f32(odd);
}
/* fused on f16 values: the product is exact in double, the sum is kept odd until the last rounding */
static inline float fma_f16(float a, float b, float c) {
    double p = (double)a * b, s = p + c, t = s - p;
    double error = (p - (s - t)) + (c - t);
    return float_to_odd(round_to_odd(s, error));
}
static inline uint32_t pk_fma_f16(uint32_t a, uint32_t b, uint32_t c) {
    uint32_t low = f16_pattern(fma_f16(f16_value(a), f16_value(b), f16_value(c)));
    return low | f16_pattern(fma_f16(f16_value(a >> 16), f16_value(b >> 16), f16_value(c >> 16))) << 16;
}
static inline float dot2_f32_f16(uint32_t a, uint32_t b, float c) {
    float r = c + f16_value(a) * f16_value(b);
    return r + f16_value(a >> 16) * f16_value(b >> 16);
}

double gfx_two_over_pi(uint32_t shift);
static inline double trig_preop_f64(double a, uint32_t b) {
    int exponent = biased_f64(a), shift = (int)(b & 31) * 53 + (exponent > 1077 ? exponent - 1077 : 0);
    return ldexp_f64(gfx_two_over_pi((uint32_t)shift), -53 - shift + (exponent >= 1968 ? 128 : 0));
}
#endif
