/* MFMA: matrices gathered from the lanes, multiplied, scattered back (layouts: CDNA3 ISA, chapter 7).
 * Products are exact. f16, bf16 and fp8 sums are kept in double and rounded once; f32 and f64 are chains of fused
 * multiply-adds in order of k; the hardware's own order of summation is not public. xf32 drops 13 mantissa bits. */
#include "lanes.h"

static inline const uint32_t *matrix_row(const Lanes *w, uint32_t row) { return w->core.rows + (size_t)row * 64; }

static double element(const Lanes *w, uint32_t row, int kind, uint32_t item, uint32_t lane) {
    switch (kind) {
    case MX_F32: return bits_f32(matrix_row(w, row + item)[lane]);
    case MX_XF32: return bits_f32(matrix_row(w, row + item)[lane] & 0xffffe000);
    case MX_F16: return f16_value(matrix_row(w, row + item / 2)[lane] >> 16 * (item & 1));
    case MX_BF16: return bits_f32(matrix_row(w, row + item / 2)[lane] >> 16 * (item & 1) << 16);
    case MX_I8: return (int8_t)(matrix_row(w, row + item / 4)[lane] >> 8 * (item & 3));
    case MX_FP8: return f32_from_fp8(byte_of(matrix_row(w, row + item / 4)[lane], (int)(item & 3)));
    case MX_BF8: return f32_from_bf8(byte_of(matrix_row(w, row + item / 4)[lane], (int)(item & 3)));
    default:
        return bits_f64(matrix_row(w, row + 2 * item)[lane] | (uint64_t)matrix_row(w, row + 2 * item + 1)[lane] << 32);
    }
}

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

static double accumulator(const Lanes *w, const MatrixShape *s, int32_t row, uint64_t constant, uint32_t item, uint32_t lane) {
    if (s->result == MX_F64) return row < 0 ? bits_f64(constant) : element(w, (uint32_t)row, MX_F64, item, lane);
    uint32_t bits = row < 0 ? (uint32_t)constant : matrix_row(w, (uint32_t)row + item)[lane];
    return s->result == MX_I32 ? (double)(int32_t)bits : (double)bits_f32(bits);
}

/* One block: c += a * b. The sums stay where the type says. */
static void multiply(const MatrixShape *s, const double *a, const double *b, double *c) {
    for (int i = 0; i < s->m; i++)
        for (int k = 0; k < s->k; k++) {
            double left = a[i * s->k + k];
            const double *right = b + k * s->n;
            double *sum = c + i * s->n;
            if (s->a == MX_F32 || s->a == MX_XF32)
                for (int j = 0; j < s->n; j++) sum[j] = fmaf((float)left, (float)right[j], (float)sum[j]);
            else if (s->a == MX_F64)
                for (int j = 0; j < s->n; j++) sum[j] = fma(left, right[j], sum[j]);
            else
                for (int j = 0; j < s->n; j++) sum[j] += left * right[j];
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

void gfx_matrix(Lanes *w, const MatrixShape *s, uint32_t to, uint32_t a, uint32_t b, int32_t c, uint64_t constant) {
    static _Thread_local double left[1024], right[1024], sum[2048];
    static _Thread_local unsigned char spoilt[2048];
    int per_lane = s->m * s->k * s->blocks / 64, results = s->m * s->n * s->blocks / 64;
    int negate = s->result == MX_F64 ? s->blgp : 0, size = s->m * s->n;
    int spoils = w->core.row_poison && (any_poison(w, (int32_t)a, s->a, per_lane) | any_poison(w, (int32_t)b, s->b, per_lane) |
                                        any_poison(w, c, s->result, results));
    memset(spoilt, 0, sizeof spoilt);
    for (int block = 0; block < s->blocks; block++) {
        uint32_t item, lane;
        for (int i = 0; i < s->m; i++)
            for (int k = 0; k < s->k; k++) {
                lane = a_place(s, block, i, k, &item);
                double x = element(w, a, s->a, item, lane);
                left[i * s->k + k] = negate & 1 ? -x : x;
            }
        for (int k = 0; k < s->k; k++)
            for (int j = 0; j < s->n; j++) {
                lane = b_place(s, block, k, j, &item);
                double x = element(w, b, s->b, item, lane);
                right[k * s->n + j] = negate & 2 ? -x : x;
            }
        double *mine = sum + block * size;
        for (int i = 0; i < s->m; i++)
            for (int j = 0; j < s->n; j++) {
                place(s, block, i, j, &item, &lane);
                double x = accumulator(w, s, c, constant, item, lane);
                mine[i * s->n + j] = negate & 4 ? -x : x;
            }
        multiply(s, left, right, mine);
        if (spoils) spread_poison(w, s, block, a, b, c, spoilt + block * size);
    }
    for (int block = 0; block < s->blocks; block++) /* sources may overlap the result: scatter last */
        for (int i = 0; i < s->m; i++)
            for (int j = 0; j < s->n; j++) {
                uint32_t item, lane;
                double x = sum[block * size + i * s->n + j];
                place(s, block, i, j, &item, &lane);
                uint32_t *row = w->core.rows + (size_t)(to + (s->result == MX_F64 ? 2 * item : item)) * 64;
                if (s->result == MX_F64) {
                    row[lane] = (uint32_t)f64_bits(x);
                    row[64 + lane] = (uint32_t)(f64_bits(x) >> 32);
                } else {
                    row[lane] = s->result == MX_I32 ? (uint32_t)(int64_t)x : f32_bits((float)x);
                }
            }
    if (w->core.row_poison) write_poison(w, s, to, spoilt);
}
