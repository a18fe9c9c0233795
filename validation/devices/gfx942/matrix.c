/* MFMA: matrices gathered from the lanes, multiplied, scattered back (layouts: CDNA3 ISA, chapter 7).
 * Products are exact. f16, bf16 and fp8 sums are kept in double and rounded once; f32 and f64 are chains of fused
 * multiply-adds in order of k; the hardware's own order of summation is not public. xf32 drops 13 mantissa bits. */
#include "lanes.h"

static inline const uint32_t *matrix_row(const Lanes *w, uint32_t row) { return w->core.rows + (size_t)row * 64; }

static uint32_t elements_per_word(int kind) {
    return kind == MX_F16 || kind == MX_BF16 ? 2 : kind == MX_I8 || kind == MX_FP8 || kind == MX_BF8 ? 4 : 1;
}

/* Whether a lane holds something that nobody wrote in an element. */
static int poisoned(const Lanes *w, uint32_t row, int kind, uint32_t item, uint32_t lane) {
    uint64_t bad = kind == MX_F64 ? P(row + 2 * item) | P(row + 2 * item + 1) : P(row + item / elements_per_word(kind));
    return bad >> lane & 1;
}

static uint64_t any_poison(const Lanes *w, int32_t row, int kind, int count) {
    uint64_t bad = 0;
    uint32_t words = (uint32_t)count * (kind == MX_F64 ? 2 : 1) / elements_per_word(kind);
    for (uint32_t k = 0; row >= 0 && k < words; k++) bad |= P((uint32_t)row + k);
    return bad;
}

/* BLGP: which lane of B is read (not for f64, where it negates) */
static uint32_t b_lane(uint32_t lane, int pattern) {
    switch (pattern) {
    case 1: return lane & 31;
    case 2: return lane | 32;
    case 3: return (lane + 16) & 63;
    case 4: case 5: case 6: case 7: return (lane & 15) | (uint32_t)(pattern - 4) << 4;
    default: return lane;
    }
}

static void place(const MatrixShape *s, int b, int i, int j, uint32_t *item, uint32_t *lane) {
    if (s->m == 4) {
        *item = s->result == MX_F64 ? 0 : (uint32_t)i;
        *lane = (uint32_t)(s->result == MX_F64 ? 16 * i + 4 * b + j : 4 * b + j);
    } else if (s->result == MX_F64) {
        *item = (uint32_t)i / 4;
        *lane = (uint32_t)(16 * (i % 4) + j);
    } else {
        int groups = 64 / s->n;
        *item = (uint32_t)(b * s->m / groups + 4 * (i / (4 * groups)) + i % 4);
        *lane = (uint32_t)(s->n * (i / 4 % groups) + j);
    }
}

/* One block, four rows and up to 16 columns at a time: c += a * b. A lane's elements lie 64 apart; the sums stay in the
 * type. */
#define PRODUCT(name, type, fused)                                                                                     \
    static inline __attribute__((always_inline)) void name(const MatrixShape *s, int width, int block, const type *a,  \
                                                           const type *b, type *c) {                                   \
        int from = s->cbsz ? (block & ~((1 << s->cbsz) - 1)) | s->abid : block, n = s->n;                              \
        int each_a = s->m * s->k * s->blocks / 64, each_b = n * s->k * s->blocks / 64;                                 \
        for (int at = 0; at < s->m * n; at += at % n + width < n ? width : 3 * n + width) {                            \
            const type *column = b + at % n;                                                                           \
            type sum[4][16];                                                                                           \
            for (int r = 0; r < 4; r++)                                                                                \
                for (int j = 0; j < width; j++) sum[r][j] = c[at + r * n + j];                                         \
            for (int k = 0; k < s->k; k++) {                                                                           \
                const type *left = a + k % each_a * 64 + s->m * (from + s->blocks * (k / each_a)) + at / n;            \
                const type *right = column + k % each_b * 64 + n * (block + s->blocks * (k / each_b));                 \
                for (int r = 0; r < 4; r++)                                                                            \
                    for (int j = 0; j < width; j++) sum[r][j] = fused(left[r], right[j], sum[r][j]);                   \
            }                                                                                                          \
            for (int r = 0; r < 4; r++)                                                                                \
                for (int j = 0; j < width; j++) c[at + r * n + j] = sum[r][j];                                         \
        }                                                                                                              \
    }                                                                                                                  \
    static void name##_of(const MatrixShape *s, int block, const type *a, const type *b, type *c) {                    \
        if (s->n == 4) name(s, 4, block, a, b, c);                                                                     \
        else name(s, 16, block, a, b, c);                                                                              \
    }
#define EXACT(x, y, z) ((z) + (x) * (y)) /* the product is exact */
PRODUCT(exact, double, EXACT)
PRODUCT(fused64, double, __builtin_fma)
PRODUCT(fused32, float, __builtin_fmaf)

static float fp8_values[2][256];
__attribute__((constructor)) static void list_fp8(void) {
    for (uint32_t code = 0; code < 256; code++) {
        fp8_values[0][code] = f32_from_fp8(code);
        fp8_values[1][code] = f32_from_bf8(code);
    }
}

/* The elements of a source: those of a lane 64 apart, in the order of k. */
#define EACH_LANE(expression)                                   \
    for (int l = 0; l < 64; l++) {                              \
        uint32_t x = row[lane[l]];                              \
        out[l] = expression;                                    \
    }                                                           \
    break;
static void decode(const Lanes *w, uint32_t first, int kind, int count, const uint8_t *lane, int negate, double *out) {
    int each = (int)elements_per_word(kind);
    for (int item = 0; item < count; item++, out += 64) {
        const uint32_t *row = matrix_row(w, first + (uint32_t)(kind == MX_F64 ? 2 * item : item / each));
        int shift = item % each * (32 / each);
        switch (kind) {
        case MX_F16: EACH_LANE(f16_value(x >> shift))
        case MX_BF16: EACH_LANE(bits_f32(x >> shift << 16))
        case MX_I8: EACH_LANE((int8_t)(x >> shift))
        case MX_FP8: EACH_LANE(fp8_values[0][x >> shift & 255])
        case MX_BF8: EACH_LANE(fp8_values[1][x >> shift & 255])
        default: EACH_LANE(bits_f64(x | (uint64_t)row[64 + lane[l]] << 32))
        }
        if (negate)
            for (int l = 0; l < 64; l++) out[l] = -out[l];
    }
}
static void decode32(const Lanes *w, uint32_t first, int kind, int count, const uint8_t *lane, float *out) {
    uint32_t kept = kind == MX_XF32 ? 0xffffe000u : 0xffffffffu;
    for (int item = 0; item < count; item++, out += 64) {
        const uint32_t *row = matrix_row(w, first + (uint32_t)item);
        for (int l = 0; l < 64; l++) out[l] = bits_f32(row[lane[l]] & kept);
    }
}

/* Which lanes of A and B one element comes from. */
static uint32_t a_place(const MatrixShape *s, int block, int i, int k, uint32_t *item) {
    int per_lane = s->m * s->k * s->blocks / 64, from = s->cbsz ? (block & ~((1 << s->cbsz) - 1)) | s->abid : block;
    *item = (uint32_t)(k % per_lane);
    return (uint32_t)(i + s->m * (from + s->blocks * (k / per_lane)));
}

static uint32_t b_place(const MatrixShape *s, int block, int k, int j, uint32_t *item) {
    int per_lane = s->n * s->k * s->blocks / 64;
    uint32_t lane = (uint32_t)(j + s->n * (block + s->blocks * (k / per_lane)));
    *item = (uint32_t)(k % per_lane);
    return s->result == MX_F64 ? lane : b_lane(lane, s->blgp);
}

/* Results that depend on something that nobody wrote: by row of A, column of B, and element of C. */
static void spread_poison(const Lanes *w, const MatrixShape *s, int block, uint32_t a, uint32_t b, int32_t c, unsigned char *spoilt) {
    uint64_t rows = 0, columns = 0;
    uint32_t item, lane;
    for (int k = 0; k < s->k; k++) {
        for (int i = 0; i < s->m; i++) {
            lane = a_place(s, block, i, k, &item);
            rows |= (uint64_t)poisoned(w, a, s->a, item, lane) << i;
        }
        for (int j = 0; j < s->n; j++) {
            lane = b_place(s, block, k, j, &item);
            columns |= (uint64_t)poisoned(w, b, s->b, item, lane) << j;
        }
    }
    for (int i = 0; i < s->m; i++)
        for (int j = 0; j < s->n; j++) {
            place(s, block, i, j, &item, &lane);
            int held = c >= 0 && poisoned(w, (uint32_t)c, s->result, item, lane);
            spoilt[i * s->n + j] = (unsigned char)(held | (rows >> i & 1) | (columns >> j & 1));
        }
}

static void write_poison(Lanes *w, const MatrixShape *s, uint32_t to, const unsigned char *spoilt) {
    uint32_t words = s->result == MX_F64 ? 2 : 1;
    for (int block = 0; block < s->blocks; block++)
        for (int at = 0; at < s->m * s->n; at++) {
            uint32_t item, lane;
            place(s, block, at / s->n, at % s->n, &item, &lane);
            uint64_t bit = 1ull << lane, bad = spoilt[block * s->m * s->n + at] ? bit : 0;
            for (uint32_t k = 0; k < words; k++) P(to + words * item + k) = (P(to + words * item + k) & ~bit) | bad;
        }
}

/* The rows of C or D that a block's row of n elements lies in, and its first lane. */
static uint32_t *row_of_result(Lanes *w, const MatrixShape *s, uint32_t first, int block, int i) {
    uint32_t item, lane;
    place(s, block, i, 0, &item, &lane);
    return w->core.rows + (size_t)(first + (s->result == MX_F64 ? 2 * item : item)) * 64 + lane;
}

static void accumulate(Lanes *w, const MatrixShape *s, int32_t c, uint64_t constant, int block, int negate, double *sum) {
    for (int i = 0; i < s->m; i++, sum += s->n) {
        const uint32_t *row = c < 0 ? NULL : row_of_result(w, s, (uint32_t)c, block, i);
        for (int j = 0; j < s->n; j++) {
            uint64_t bits = !row ? constant : s->result == MX_F64 ? row[j] | (uint64_t)row[64 + j] << 32 : row[j];
            double x = s->result == MX_F64 ? bits_f64(bits) : s->result == MX_I32 ? (double)(int32_t)bits : (double)bits_f32((uint32_t)bits);
            sum[j] = negate ? -x : x;
        }
    }
}

static void accumulate32(Lanes *w, const MatrixShape *s, int32_t c, uint64_t constant, int block, float *sum) {
    for (int i = 0; i < s->m; i++, sum += s->n) {
        if (c >= 0) memcpy(sum, row_of_result(w, s, (uint32_t)c, block, i), 4 * (size_t)s->n);
        for (int j = 0; c < 0 && j < s->n; j++) sum[j] = bits_f32((uint32_t)constant);
    }
}

static void scatter(Lanes *w, const MatrixShape *s, uint32_t to, int block, const double *sum) {
    for (int i = 0; i < s->m; i++, sum += s->n) {
        uint32_t *row = row_of_result(w, s, to, block, i);
        if (s->result == MX_F64)
            for (int j = 0; j < s->n; j++) {
                row[j] = (uint32_t)f64_bits(sum[j]);
                row[64 + j] = (uint32_t)(f64_bits(sum[j]) >> 32);
            }
        else if (s->result == MX_I32)
            for (int j = 0; j < s->n; j++) row[j] = (uint32_t)(int64_t)sum[j];
        else
            for (int j = 0; j < s->n; j++) row[j] = f32_bits((float)sum[j]);
    }
}

void gfx_matrix(Lanes *w, const MatrixShape *s, uint32_t to, uint32_t a, uint32_t b, int32_t c, uint64_t constant) {
    static _Thread_local double left[8 * 64] ALIGNED, right[8 * 64] ALIGNED, sum[2048] ALIGNED;
    static _Thread_local unsigned char spoilt[2048];
    int each_a = s->m * s->k * s->blocks / 64, each_b = s->n * s->k * s->blocks / 64;
    int results = s->m * s->n * s->blocks / 64, negate = s->result == MX_F64 ? s->blgp : 0, size = s->m * s->n;
    int single = s->a == MX_F32 || s->a == MX_XF32;
    int spoils = w->core.row_poison && (any_poison(w, (int32_t)a, s->a, each_a) | any_poison(w, (int32_t)b, s->b, each_b) |
                                        any_poison(w, c, s->result, results));
    uint8_t own[64], theirs[64];
    for (uint32_t l = 0; l < 64; l++) {
        own[l] = (uint8_t)l;
        theirs[l] = (uint8_t)(s->result == MX_F64 ? l : b_lane(l, s->blgp));
    }
    if (single) {
        decode32(w, a, s->a, each_a, own, (float *)left);
        decode32(w, b, s->b, each_b, theirs, (float *)right);
    } else {
        decode(w, a, s->a, each_a, own, negate & 1, left);
        decode(w, b, s->b, each_b, theirs, negate & 2, right);
    }
    for (int block = 0; block < s->blocks; block++) {
        if (single) {
            float *mine = (float *)sum + block * size;
            accumulate32(w, s, c, constant, block, mine);
            fused32_of(s, block, (float *)left, (float *)right, mine);
        } else {
            double *mine = sum + block * size;
            accumulate(w, s, c, constant, block, negate & 4, mine);
            if (s->a == MX_F64) fused64_of(s, block, left, right, mine);
            else exact_of(s, block, left, right, mine);
        }
        if (spoils) spread_poison(w, s, block, a, b, c, spoilt + block * size);
    }
    for (int block = 0; block < s->blocks; block++) { /* sources may overlap the result: scatter last */
        if (single)
            for (int i = 0; i < s->m; i++)
                memcpy(row_of_result(w, s, to, block, i), (float *)sum + block * size + i * s->n, 4 * (size_t)s->n);
        else
            scatter(w, s, to, block, sum + block * size);
    }
    if (spoils) write_poison(w, s, to, spoilt);
    else if (w->core.row_poison) memset(&P(to), 0, sizeof P(to) * (size_t)(s->result == MX_F64 ? 2 * results : results));
}
