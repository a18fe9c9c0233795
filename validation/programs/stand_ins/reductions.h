/* What NCCL's types and operators compute: whole numbers modulo their size, others in double, rounded once. */
#ifndef PORTER_REDUCTIONS_H
#define PORTER_REDUCTIONS_H

#include "kinds.h"

enum Type { INT8, UINT8, INT32, UINT32, INT64, UINT64, FLOAT16, FLOAT32, FLOAT64, BFLOAT16, E4M3, E5M2, TYPES };
enum Reduction { SUM, PROD, MAX, MIN, AVG, REDUCTIONS };
static const size_t type_bytes[TYPES] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
static const char *const type_names[TYPES] = {"int8", "uint8", "int32", "uint32", "int64", "uint64", "float16", "float32", "float64", "bfloat16", "float8e4m3", "float8e5m2"};
static const char *const reduction_names[] = {"sum", "prod", "max", "min", "avg", "a sum of scaled values"};
enum { TILE = 512 };

typedef union Tile {
    double floats[TILE];
    uint64_t wholes[TILE];
} Tile;

static int is_whole(enum Type type) { return type <= UINT64; }
static int is_signed(enum Type type) { return type == INT8 || type == INT32 || type == INT64; }

/* Eight bits: OCP's numbers on NVIDIA's GPUs; on gfx942 AMD's own, with a bias more and one zero and one NaN. */
#ifdef SIDE_CUDA
enum { OWN_BIAS = 0 };
#else
enum { OWN_BIAS = 1 };
#endif
static double small(enum Type type, unsigned code) {
    int digits = type == E4M3 ? 3 : 2, bias = (type == E4M3 ? 7 : 15) + OWN_BIAS, exponent = (int)(code & 127) >> digits;
    double part = (double)(code & ((1u << digits) - 1)), sign = code & 128 ? -1 : 1;
    if (OWN_BIAS && code == 128) return NAN;
    if (!OWN_BIAS && type == E4M3 && (code & 127) == 127) return NAN;
    if (!OWN_BIAS && type == E5M2 && exponent == 31) return part != 0 ? NAN : sign * INFINITY;
    return sign * (exponent ? ldexp(1 + ldexp(part, -digits), exponent - bias) : ldexp(part, 1 - bias - digits));
}
static uint8_t to_small(enum Type type, double value) { /* to the nearest, ties to even; what is too large is the largest */
    unsigned low = 0, high = OWN_BIAS ? 127 : type == E4M3 ? 126 : 123, sign = signbit(value) ? 128 : 0;
    double size = fabs(value);
    if (value != value) return OWN_BIAS ? 128 : 127;
    if (size >= small(type, high)) return (uint8_t)(high | sign);
    while (high - low > 1) {
        unsigned middle = (low + high) / 2;
        if (small(type, middle) <= size) low = middle;
        else high = middle;
    }
    double below = size - small(type, low), above = small(type, high) - size;
    unsigned code = below < above || (below == above && !(low & 1)) ? low : high;
    return (uint8_t)(code || !OWN_BIAS ? code | sign : 0);
}

#define EACH(expression) for (size_t i = 0; i < n; i++) expression
static void load_tile(Tile *t, const void *from, enum Type type, size_t at, size_t n) {
    switch (type) {
    case INT8: EACH(t->wholes[i] = (uint64_t)((const int8_t *)from)[at + i]); break;
    case UINT8: EACH(t->wholes[i] = ((const uint8_t *)from)[at + i]); break;
    case INT32: EACH(t->wholes[i] = (uint64_t)((const int32_t *)from)[at + i]); break;
    case UINT32: EACH(t->wholes[i] = ((const uint32_t *)from)[at + i]); break;
    case INT64: case UINT64: EACH(t->wholes[i] = ((const uint64_t *)from)[at + i]); break;
    case FLOAT16: EACH(t->floats[i] = (double)((const _Float16 *)from)[at + i]); break;
    case FLOAT32: EACH(t->floats[i] = ((const float *)from)[at + i]); break;
    case FLOAT64: EACH(t->floats[i] = ((const double *)from)[at + i]); break;
    case BFLOAT16: EACH(t->floats[i] = bfloat(((const uint16_t *)from)[at + i])); break;
    default: EACH(t->floats[i] = small(type, ((const uint8_t *)from)[at + i])); break;
    }
}
static void store_tile(const Tile *t, void *into, enum Type type, size_t at, size_t n) {
    switch (type) {
    case INT8: case UINT8: EACH(((uint8_t *)into)[at + i] = (uint8_t)t->wholes[i]); break;
    case INT32: case UINT32: EACH(((uint32_t *)into)[at + i] = (uint32_t)t->wholes[i]); break;
    case INT64: case UINT64: EACH(((uint64_t *)into)[at + i] = t->wholes[i]); break;
    case FLOAT16: EACH(((_Float16 *)into)[at + i] = (_Float16)t->floats[i]); break;
    case FLOAT32: EACH(((float *)into)[at + i] = (float)t->floats[i]); break;
    case FLOAT64: EACH(((double *)into)[at + i] = t->floats[i]); break;
    case BFLOAT16: EACH(((uint16_t *)into)[at + i] = to_bfloat(t->floats[i])); break;
    default: EACH(((uint8_t *)into)[at + i] = to_small(type, t->floats[i])); break;
    }
}
static void combine_wholes(uint64_t *to, const uint64_t *more, enum Type type, int how, size_t n) {
    if (how == PROD) EACH(to[i] *= more[i]);
    else if (how != MAX && how != MIN) EACH(to[i] += more[i]);
    else EACH(if ((is_signed(type) ? (int64_t)more[i] > (int64_t)to[i] : more[i] > to[i]) == (how == MAX)) to[i] = more[i]);
}
static void combine_tile(Tile *to, const Tile *more, enum Type type, int how, size_t n) {
    if (is_whole(type)) combine_wholes(to->wholes, more->wholes, type, how, n);
    else if (how == PROD) EACH(to->floats[i] *= more->floats[i]);
    else if (how == MAX) EACH(to->floats[i] = fmax(to->floats[i], more->floats[i]));
    else if (how == MIN) EACH(to->floats[i] = fmin(to->floats[i], more->floats[i]));
    else EACH(to->floats[i] += more->floats[i]);
}
static void divide_tile(Tile *t, enum Type type, int by, size_t n) {
    if (!is_whole(type)) EACH(t->floats[i] /= by);
    else if (is_signed(type)) EACH(t->wholes[i] = (uint64_t)((int64_t)t->wholes[i] / by));
    else EACH(t->wholes[i] /= (uint64_t)by);
}
static void scale_tile(Tile *t, enum Type type, const Tile *by, size_t n) {
    if (is_whole(type)) EACH(t->wholes[i] *= by->wholes[0]);
    else EACH(t->floats[i] *= by->floats[0]);
}
#undef EACH

#endif
