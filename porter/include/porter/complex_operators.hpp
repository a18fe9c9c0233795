// Products and quotients of complex numbers, which HIP's headers make ambiguous: a complex number is a vector of two
// there, and vectors multiply component by component. An overload whose right side binds closer than to a const
// reference is preferred to both. With a const right side the product stays ambiguous, and does not compile.
#pragma once

#include <hip/hip_complex.h>
#include <hip/hip_runtime.h>

#ifdef COMPLEX_MUL_OP_OVERLOAD  // before ROCm 6.4 the header has operators for const right sides
#define PORTER_COMPLEX_CONST(...)
#else
#define PORTER_COMPLEX_CONST(...) __VA_ARGS__
#endif

#define PORTER_COMPLEX_OF(result, left, type, name, right, value) \
    static inline __host__ __device__ result name(left a, type right b) { return value; }
#define PORTER_COMPLEX_BOTH(result, left, type, name, value)          \
    PORTER_COMPLEX_OF(result, left, type, name, &, value)             \
    PORTER_COMPLEX_OF(result, left, type, name, &&, value)            \
    PORTER_COMPLEX_CONST(PORTER_COMPLEX_OF(result, left, const type, name, &, value))

#define PORTER_COMPLEX_OPERATOR(type, symbol, function) \
    PORTER_COMPLEX_BOTH(type, const type &, type, operator symbol, function(a, b))
#define PORTER_COMPLEX_ASSIGNMENT(type, symbol, function) \
    PORTER_COMPLEX_BOTH(type &, type &, type, operator symbol, a = function(a, b))
