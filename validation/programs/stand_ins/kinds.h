/* Element types that are arguments of calls, and their values. */
#ifndef PORTER_KINDS_H
#define PORTER_KINDS_H

#include "library.h"

enum Kind { NONE, F16, BF16, F32, F64, I8, U8, I32, C32, C64 };
static const size_t kind_bytes[] = {0, 2, 2, 4, 8, 1, 1, 4, 8, 16};

/* CUDA's and HIP's data types are numbered alike; hipBLAS had its own from 150. */
static enum Kind kind_of(int type) {
    switch (type) {
    case 0: case 151: return F32;
    case 1: case 152: return F64;
    case 2: case 150: return F16;
    case 3: case 160: return I8;
    case 4: case 154: return C32;
    case 5: case 155: return C64;
    case 8: case 161: return U8;
    case 10: case 162: return I32;
    case 14: case 168: return BF16;
    }
    return NONE;
}
static double bfloat(uint16_t bits) {
    uint32_t word = (uint32_t)bits << 16;
    float value;
    return memcpy(&value, &word, 4), value;
}
static uint16_t to_bfloat(double value) {
    float f = (float)value;
    uint32_t word;
    memcpy(&word, &f, 4);
    if (f != f) return 0x7fff;
    return (uint16_t)((word + 0x7fff + (word >> 16 & 1)) >> 16);
}
static double loaded(const void *a, enum Kind kind, int64_t at) {
    switch (kind) {
    case F16: return (double)((const _Float16 *)a)[at];
    case BF16: return bfloat(((const uint16_t *)a)[at]);
    case F32: return ((const float *)a)[at];
    case F64: return ((const double *)a)[at];
    case I8: return ((const int8_t *)a)[at];
    case U8: return ((const uint8_t *)a)[at];
    case I32: return ((const int32_t *)a)[at];
    default: return NAN;
    }
}
static void stored(void *a, enum Kind kind, int64_t at, double value) {
    switch (kind) {
    case F16: ((_Float16 *)a)[at] = (_Float16)value; break;
    case BF16: ((uint16_t *)a)[at] = to_bfloat(value); break;
    case F32: ((float *)a)[at] = (float)value; break;
    case F64: ((double *)a)[at] = value; break;
    case I8: ((int8_t *)a)[at] = (int8_t)fmin(fmax(nearbyint(value), -128), 127); break;
    case U8: ((uint8_t *)a)[at] = (uint8_t)fmin(fmax(nearbyint(value), 0), 255); break;
    case I32: ((int32_t *)a)[at] = (int32_t)(int64_t)value; break;
    default: break;
    }
}

#endif
