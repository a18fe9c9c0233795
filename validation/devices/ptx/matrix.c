/* mma, wmma, ldmatrix: products of small matrices spread over the warp. */
#include "lanes.h"

static uint32_t element_bits(int type) {
    switch (type) {
    case MX_F64: return 64;
    case MX_F32: case MX_TF32: case MX_S32: return 32;
    case MX_F16: case MX_BF16: return 16;
    default: return 8;
    }
}

static double element(int type, uint64_t bits) {
    switch (type) {
    case MX_F64: return f64(bits);
    case MX_F32: return f32((uint32_t)bits);
    case MX_TF32: return f32((uint32_t)bits & ~0x1fffu);
    case MX_S32: return (int32_t)bits;
    case MX_F16: return f16((uint32_t)bits & 0xffff);
    case MX_BF16: return bf16((uint32_t)bits & 0xffff);
    case MX_S8: return (int8_t)bits;
    case MX_U8: return (uint8_t)bits;
    case MX_E4M3: return e4m3((uint32_t)bits & 255);
    default: return e5m2((uint32_t)bits & 255);
    }
}

typedef struct Spot {
    uint32_t row, column;
} Spot;

/* Which element of a matrix lies in a lane: part j of register r. mma has fixed layouts (PTX ISA 9.7.15.5);
 * those of wmma are not documented, and here simply in order. */
static Spot spot_of(const MatrixShape *s, int which, uint32_t lane, uint32_t r, uint32_t j) {
    uint32_t type = (uint32_t)(which == 0 ? s->a : which == 1 ? s->b : s->c), bits = element_bits((int)type);
    uint32_t per = bits >= 32 ? 1 : 32 / bits, group = lane >> 2, member = lane & 3;
    if (s->ordered) {
        uint32_t columns = (uint32_t)(which == 0 ? s->k : s->n), rows = (uint32_t)(which == 1 ? s->k : s->m);
        uint32_t count = (uint32_t)(which == 0 ? s->registers_a : which == 1 ? s->registers_b : s->registers_c) * per;
        uint32_t index = (lane * count + r * per + j) % (rows * columns);
        return (Spot){index / columns, index % columns};
    }
    if (which == 0) {
        uint32_t tall = s->m == 16;
        return (Spot){group + (tall ? 8 * (r & 1) : 0), (tall ? r >> 1 : r) * 4 * per + member * per + j};
    }
    if (which == 1) return (Spot){r * 4 * per + member * per + j, group};
    if (per == 2) return (Spot){group + 8 * r, member * 2 + j};
    return (Spot){group + 8 * (r >> 1), member * 2 + (r & 1)};
}

enum { LONGEST = 32 };
typedef struct Matrix {
    double value[LONGEST][LONGEST];
    uint32_t bad[LONGEST]; /* a bit per column */
} Matrix;

static uint64_t bits_in(const void *row, int type, uint32_t lane, uint32_t j) {
    uint32_t bits = element_bits(type);
    if (bits == 64) return ((const uint64_t *)row)[lane];
    return ((const uint32_t *)row)[lane] >> bits * j % 32;
}

static void gather(const MatrixShape *s, int which, const void *const *rows, uint32_t registers, const uint32_t *bad, Matrix *to) {
    int type = which == 0 ? s->a : which == 1 ? s->b : s->c;
    uint32_t per = element_bits(type) >= 32 ? 1 : 32 / element_bits(type);
    memset(to, 0, sizeof *to);
    for (uint32_t r = 0; r < registers; r++)
        for (uint32_t lane = 0; lane < LANES; lane++)
            for (uint32_t j = 0; j < per; j++) {
                Spot at = spot_of(s, which, lane, r, j);
                to->value[at.row][at.column] = element(type, bits_in(rows[r], type, lane, j));
                to->bad[at.row] |= (bad[r] >> lane & 1) << at.column;
            }
}

static uint64_t to_element(int type, double x, int finite) {
    switch (type) {
    case MX_F64: return u64(x);
    case MX_F32: return u32((float)x);
    case MX_F16: {
        uint32_t half = to_f16(to_odd(x));
        return half & 0x7fff ? half : 0;
    }
    default:
        if (finite) return (uint32_t)(x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : (int32_t)x);
        return (uint32_t)(int64_t)x; /* at most 32 products of 16 bits and 32 bits: exact */
    }
}

/* ---- sums as the tensor cores of an H100 make them ------------------------------------------------------ */

enum { AT_ONCE = 16, EXTRA = 25 }; /* products of one sum; bits that a term keeps below the largest one's leading bit */

static int lowest_exponent(int type) {
    return type == MX_F16 || type == MX_E5M2 ? -14 : type == MX_E4M3 ? -6 : -126;
}

static int exponent_of(int type, double x) {
    int exponent = (int)(u64(x) >> 52 & 2047) - 1023, least = lowest_exponent(type);
    return exponent < least ? least : exponent;
}

static float cut_to_float(double x) {
    if (fabs(x) >= 0x1p128) return x > 0 ? INFINITY : -INFINITY;
    return round_rz(x);
}

static int is_number(double x) { return fabs(x) < INFINITY; }

/* Elements of 8 bits are widened two by two, the first of each word first, and make two sums of 16. */
static int is_byte(int type) { return type == MX_E4M3 || type == MX_E5M2; }
static int part_of(const MatrixShape *s, int k) { return is_byte(s->a) ? k >> 1 & 1 : k / AT_ONCE; }

/* Up to 16 products and the summand at once: aligned to the largest exponent, cut there, added, cut to a float. */
static double fused_step(const MatrixShape *s, const double *a, const Matrix *b, int column, int part, int type, double c) {
    int top = c != 0 ? exponent_of(type, c) : -10000;
    for (int k = 0; k < s->k; k++) {
        double x = a[k], y = b->value[k][column];
        if (x == 0 || y == 0 || part_of(s, k) != part) continue;
        int exponent = exponent_of(s->a, x) + exponent_of(s->b, y);
        if (exponent > top) top = exponent;
    }
    if (top == -10000) return 0;
    double scale = pow2(EXTRA - top);
    int64_t sum = (int64_t)(c * scale);
    for (int k = 0; k < s->k; k++)
        if (part_of(s, k) == part) sum += (int64_t)(a[k] * b->value[k][column] * scale);
    float cut = cut_to_float((double)sum * pow2(top - EXTRA));
    return cut == 0 ? 0 : cut;
}

static double fused_sum(const MatrixShape *s, const double *a, const Matrix *b, int column, double c) {
    int parts = part_of(s, s->k - 1) + 1;
    double sum = is_byte(s->a) ? 0 : c;
    if (!is_number(c)) return NAN;
    for (int k = 0; k < s->k; k++)
        if (!is_number(a[k]) || !is_number(b->value[k][column])) return NAN;
    for (int part = 0; part < parts && is_number(sum); part++)
        sum = fused_step(s, a, b, column, part, part ? MX_F32 : s->c, sum);
    return is_byte(s->a) ? (float)((float)c + (float)sum) : sum;
}

/* One product after the other, in double: what has no numbers among its elements, and integers. */
static double plain_sum(const MatrixShape *s, const double *a, const Matrix *b, int column, double c) {
    for (int k = 0; k < s->k; k++)
        c = s->a == MX_F64 ? __builtin_fma(a[k], b->value[k][column], c) : c + a[k] * b->value[k][column];
    return c;
}

static int is_fused(const MatrixShape *s) {
    return s->a == MX_F16 || s->a == MX_BF16 || s->a == MX_TF32 || s->a == MX_E4M3 || s->a == MX_E5M2;
}

void ptx_matrix(const MatrixShape *s, const void *const *a, const void *const *b, const void *const *c, void *const *d,
                const uint32_t *bad_a, const uint32_t *bad_b, const uint32_t *bad_c, uint32_t *bad_d) {
    static _Thread_local Matrix ma, mb, mc, md;
    gather(s, 0, a, (uint32_t)s->registers_a, bad_a, &ma);
    gather(s, 1, b, (uint32_t)s->registers_b, bad_b, &mb);
    gather(s, 2, c, (uint32_t)s->registers_c, bad_c, &mc);
    for (int i = 0; i < s->m; i++) {
        md.bad[i] = mc.bad[i];
        for (int j = 0; j < s->n; j++) {
            double c0 = mc.value[i][j], fused = is_fused(s) ? fused_sum(s, ma.value[i], &mb, j, c0) : NAN;
            uint32_t bad = ma.bad[i];
            for (int k = 0; k < s->k; k++) bad |= mb.bad[k] >> j & 1;
            md.value[i][j] = fused == fused ? fused : plain_sum(s, ma.value[i], &mb, j, c0);
            md.bad[i] |= (uint32_t)(bad != 0) << j;
        }
    }
    MatrixShape result = *s;
    result.c = s->d;
    result.registers_c = s->registers_d;
    uint32_t bits = element_bits(s->d), per = bits >= 32 ? 1 : 32 / bits;
    for (uint32_t r = 0; r < (uint32_t)s->registers_d; r++) {
        bad_d[r] = 0;
        for (uint32_t lane = 0; lane < LANES; lane++) {
            uint64_t word = 0;
            for (uint32_t p = 0; p < per; p++) {
                Spot at = spot_of(&result, 2, lane, r, p);
                word |= to_element(s->d, md.value[at.row][at.column], s->finite) << bits * p % 64;
                bad_d[r] |= (md.bad[at.row] >> at.column & 1) << lane;
            }
            if (!d[r]) continue;
            if (bits == 64) ((uint64_t *)d[r])[lane] = word;
            else ((uint32_t *)d[r])[lane] = (uint32_t)word;
        }
    }
}

/* ---- elements of 1 and 4 bits ------------------------------------------------------------------------ */

static int64_t nibble(uint32_t word, int k, int is_signed) {
    uint32_t bits = word >> 4 * k & 15;
    return is_signed && bits & 8 ? (int64_t)bits - 16 : bits;
}

static int64_t word_product(const WordShape *s, uint32_t a, uint32_t b) {
    if (s->product == BITS_XOR) return __builtin_popcount(a ^ b);
    if (s->product == BITS_AND) return __builtin_popcount(a & b);
    int64_t sum = 0;
    for (int k = 0; k < 8; k++) sum += nibble(a, k, s->signed_a) * nibble(b, k, s->signed_b);
    return sum;
}

/* Lane 4i + t holds words t, t + 4, ... of row i of A and of column i of B; with 16 rows, every other register of A those of row i + 8. */
void ptx_matrix_words(const WordShape *s, const void *const *a, const void *const *b, const void *const *c, void *const *d,
                      const uint32_t *bad_a, const uint32_t *bad_b, const uint32_t *bad_c, uint32_t *bad_d, uint32_t count) {
    static _Thread_local uint32_t result[4][LANES];
    int tall = s->m == 16;
    for (uint32_t r = 0; r < count; r++) {
        bad_d[r] = bad_c[r];
        for (uint32_t lane = 0; lane < LANES; lane++) {
            uint32_t half = r >> 1, row = lane >> 2, column = (lane & 3) * 2 + (r & 1);
            int64_t sum = ((const int32_t *)c[r])[lane];
            for (int q = 0; q < s->registers_b; q++) {
                uint32_t from = tall ? 2 * (uint32_t)q + half : (uint32_t)q;
                for (uint32_t t = 0; t < 4; t++)
                    sum += word_product(s, ((const uint32_t *)a[from])[4 * row + t], ((const uint32_t *)b[q])[4 * column + t]);
                if (bad_a[from] >> 4 * row & 15 || bad_b[q] >> 4 * column & 15) bad_d[r] |= 1u << lane;
            }
            if (s->finite) sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
            result[r][lane] = (uint32_t)sum;
        }
    }
    for (uint32_t r = 0; r < count; r++)
        if (d[r]) memcpy(d[r], result[r], sizeof result[r]);
}

static uint64_t at_spot(const MatrixShape *s, Spot spot, int by_column, uint64_t base, uint64_t stride, uint32_t bytes) {
    (void)s;
    return base + bytes * (by_column ? spot.column * stride + spot.row : spot.row * stride + spot.column);
}

int ptx_matrix_load(Warp *w, uint32_t site, const MatrixShape *s, int which, int space, int by_column,
                    const uint64_t *base, const uint32_t *stride, void *const *into, uint32_t *bad) {
    int type = which == 0 ? s->a : which == 1 ? s->b : s->c;
    uint32_t bits = element_bits(type), per = bits >= 32 ? 1 : 32 / bits;
    uint32_t registers = (uint32_t)(which == 0 ? s->registers_a : which == 1 ? s->registers_b : s->registers_c);
    for (uint32_t r = 0; r < registers; r++) {
        uint64_t word[LANES] ALIGNED, part[LANES] ALIGNED, address[LANES] ALIGNED;
        void *const target[] = {part};
        memset(word, 0, sizeof word);
        bad[r] = 0;
        for (uint32_t j = 0; j < per; j++) {
            uint32_t found = 0;
            for (uint32_t l = 0; l < LANES; l++)
                address[l] = at_spot(s, spot_of(s, which, l, r, j), by_column, base[l], stride[l], bits / 8);
            if (ptx_load(w, site, w->active, space, address, bits / 8, 0, 1, target, 1, &found)) return 1;
            for (uint32_t l = 0; l < LANES; l++) word[l] |= part[l] << bits * j % 64;
            bad[r] |= found;
        }
        for (uint32_t l = 0; into[r] && l < LANES; l++) {
            if (bits == 64) ((uint64_t *)into[r])[l] = word[l];
            else ((uint32_t *)into[r])[l] = (uint32_t)word[l];
        }
    }
    return 0;
}

int ptx_matrix_store(Warp *w, uint32_t site, const MatrixShape *s, int space, int by_column, const uint64_t *base,
                     const uint32_t *stride, const void *const *from, const uint32_t *bad) {
    uint32_t bits = element_bits(s->c), per = bits >= 32 ? 1 : 32 / bits;
    for (uint32_t r = 0; r < (uint32_t)s->registers_c; r++)
        for (uint32_t j = 0; j < per; j++) {
            uint64_t part[LANES] ALIGNED, address[LANES] ALIGNED;
            void *const source[] = {part};
            for (uint32_t l = 0; l < LANES; l++) {
                address[l] = at_spot(s, spot_of(s, 2, l, r, j), by_column, base[l], stride[l], bits / 8);
                part[l] = bits_in(from[r], s->c, l, j);
            }
            if (ptx_store(w, site, w->active, space, address, bits / 8, 1, source, 1, bad[r])) return 1;
        }
    return 0;
}

/* ldmatrix: lanes 8i to 8i+7 hold the addresses of the rows of matrix i. */
int ptx_load_rows(Warp *w, uint32_t site, int space, const uint64_t *address, int count, int transposed,
                  void *const *into, uint32_t *bad) {
    for (int i = 0; i < count; i++) {
        uint32_t words[4][LANES] ALIGNED, found = 0, lanes = 0xffu << 8 * i;
        uint64_t copy[LANES] ALIGNED;
        void *const rows[] = {words[0], words[1], words[2], words[3]};
        memcpy(copy, address, sizeof copy);
        if (ptx_load(w, site, lanes, space, copy, 4, 0, 4, rows, 0, &found)) return 1;
        bad[i] = found ? UINT32_MAX : 0;
        for (uint32_t l = 0; into[i] && l < LANES; l++) {
            uint32_t group = l >> 2, member = l & 3, value;
            if (transposed) {
                uint32_t low = words[group >> 1][8 * i + 2 * member], high = words[group >> 1][8 * i + 2 * member + 1];
                value = group & 1 ? low >> 16 | (high & 0xffff0000u) : (low & 0xffffu) | high << 16;
            } else {
                value = words[member][8 * i + group];
            }
            ((uint32_t *)into[i])[l] = value;
        }
    }
    return 0;
}

/* stmatrix: the other way round. */
int ptx_store_rows(Warp *w, uint32_t site, int space, const uint64_t *address, int count, int transposed,
                   const void *const *from, const uint32_t *bad) {
    for (int i = 0; i < count; i++) {
        uint32_t words[4][LANES] ALIGNED, lanes = 0xffu << 8 * i;
        uint64_t copy[LANES] ALIGNED;
        void *const rows[] = {words[0], words[1], words[2], words[3]};
        for (uint32_t row = 0; row < 8; row++)
            for (uint32_t column = 0; column < 8; column++) {
                uint32_t lane = transposed ? 4 * column + row / 2 : 4 * row + column / 2, half = (transposed ? row : column) & 1;
                uint32_t value = ((const uint32_t *)from[i])[lane] >> 16 * half & 0xffff;
                uint32_t *word = &words[column / 2][8 * i + row];
                *word = column & 1 ? *word | value << 16 : value;
            }
        memcpy(copy, address, sizeof copy);
        if (ptx_store(w, site, lanes, space, copy, 4, 4, rows, 0, bad[i] ? lanes : 0)) return 1;
    }
    return 0;
}
