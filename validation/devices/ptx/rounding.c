/* Arithmetic of double (and division of float) in a rounding mode other than to nearest, lane by lane. */
#include "lanes.h"

#include <fenv.h>

#define KEEP(x) __asm__ volatile("" : "+m"(x))

double ptx_rounded(int operation, int mode, double a, double b, double c) {
    static const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
    double r;
    int64_t i = (int64_t)u64(a);
    fesetround(modes[mode]);
    KEEP(a);
    KEEP(b);
    KEEP(c);
    KEEP(i);
    switch (operation) {
    case R_ADD: r = a + b; break;
    case R_SUB: r = a - b; break;
    case R_MUL: r = a * b; break;
    case R_DIV: r = a / b; break;
    case R_FMA: r = __builtin_fma(a, b, c); break;
    case R_SQRT: r = __builtin_sqrt(a); break;
    case R_S64: r = (double)i; break;
    case R_U64: r = (double)(uint64_t)i; break;
    default: r = 1.0 / a; break;
    }
    KEEP(r);
    fesetround(FE_TONEAREST);
    return r;
}

float ptx_rounded32(int operation, int mode, double a, double b) {
    static const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
    float x = (float)a, y = (float)b, r;
    int64_t i = (int64_t)u64(a);
    fesetround(modes[mode]);
    KEEP(x);
    KEEP(y);
    KEEP(i);
    switch (operation) {
    case R_DIV: r = x / y; break;
    case R_SQRT: r = __builtin_sqrtf(x); break;
    case R_S64: r = (float)i; break;
    case R_U64: r = (float)(uint64_t)i; break;
    default: r = 1.0f / x; break;
    }
    KEEP(r);
    fesetround(FE_TONEAREST);
    return r;
}
