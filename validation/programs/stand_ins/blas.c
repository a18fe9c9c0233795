/* cuBLAS and hipBLAS over OpenBLAS. */
#include "library.h"

#ifdef SIDE_CUDA
#define BLAS(name) JOIN(cublas, name)
#define V2(name) JOIN(name, _v2)
enum { NOT_INITIALIZED = 1, ALLOC_FAILED = 3, INVALID_VALUE = 7, EXECUTION_FAILED = 13, NOT_SUPPORTED = 15 };
#define OP(x) (111 + (x))
#define FILL(x) (122 - (x))
#define DIAG(x) (131 + (x))
#define ON(x) (141 + (x))
#else
#define BLAS(name) JOIN(hipblas, name)
#define V2(name) name
enum { NOT_INITIALIZED = 1, ALLOC_FAILED = 2, INVALID_VALUE = 3, EXECUTION_FAILED = 5, NOT_SUPPORTED = 7 };
#define OP(x) (x)
#define FILL(x) (x)
#define DIAG(x) (x)
#define ON(x) (x)
#endif
enum { OK = 0, COLUMNS = 102, PLAIN = 111, CONJUGATED = 113, UPPER = 121, LEFT = 141 };

typedef struct Handle {
    void *stream;
    int pointer_mode, math_mode, atomics_mode;
} Handle;

/* ---- OpenBLAS, under whatever prefix its packages give it ------------------------------------------------------- */

static int wide; /* its integers have 64 bits */

static void *openblas(const char *name) {
    static const char *const decorated[] = {"%s", "scipy_%s", "%s64_", "scipy_%s64_"};
    static void *library;
    static int form;
    char text[80];
    if (!library) {
        library = kept_library("PORTER_RUN_OPENBLAS");
        for (form = 0; form < 4; form++) {
            snprintf(text, sizeof text, decorated[form], "cblas_dgemm");
            if (dlsym(library, text)) break;
        }
        wide = form >= 2;
    }
    snprintf(text, sizeof text, decorated[form & 3], name);
    void *found = dlsym(library, text);
    if (!found) fprintf(stderr, "porter: " LIBRARY ": OpenBLAS has no %s\n", name), _exit(125);
    return found;
}
/* What hipBLAS's declarations call writable, and cuBLAS's not. */
#ifdef SIDE_CUDA
#define READ(type) const type
#else
#define READ(type) type
#endif
/* Sizes are passed with 64 bits: a callee that takes 32 reads the lower half. */
typedef int64_t I;

/* ---- arguments -------------------------------------------------------------------------------------------------- */

static int starts(void *handle, const char *call) {
    Handle *h = handle;
    if (!h) return NOT_INITIALIZED;
    return porter_answers(LIBRARY, call, h->stream) ? NOT_SUPPORTED : OK;
}
#define STARTS(name) \
    do { \
        int status_ = starts(handle, TEXT(name)); \
        if (status_) return status_; \
    } while (0)

static int lacks_vector(const char *call, const void *x, I n, I step, size_t one) {
    if (n <= 0) return 0;
    return porter_reaches(call, x, (uint64_t)(1 + (n - 1) * (step < 0 ? -step : step)) * one);
}
static int lacks_matrix(const char *call, const void *a, I rows, I columns, I leading, size_t one) {
    if (rows <= 0 || columns <= 0) return 0;
    return porter_reaches(call, a, (uint64_t)((columns - 1) * leading + rows) * one);
}
#define VECTOR(call, x, n, step, one) \
    if (lacks_vector(TEXT(call), x, n, step, one)) return EXECUTION_FAILED
#define MATRIX(call, a, rows, columns, leading, one) \
    if (lacks_matrix(TEXT(call), a, rows, columns, leading, one)) return EXECUTION_FAILED
#define CHECK(condition) \
    if (!(condition)) return INVALID_VALUE

/* ---- handles ---------------------------------------------------------------------------------------------------- */

#define DEFINE(name) EXPORT int name
DEFINE(V2(BLAS(Create)))(void **into) {
    CHECK(into);
    *into = calloc(1, sizeof(Handle));
    return OK;
}
DEFINE(V2(BLAS(Destroy)))(void *handle) {
    if (!handle) return NOT_INITIALIZED;
    free(handle);
    return OK;
}
#define KEEPS(setter, getter, type, field) \
    DEFINE(setter)(void *handle, type value) { return handle ? ((Handle *)handle)->field = value, OK : NOT_INITIALIZED; } \
    DEFINE(getter)(void *handle, type *into) { return handle ? *into = ((Handle *)handle)->field, OK : NOT_INITIALIZED; }
KEEPS(V2(BLAS(SetStream)), V2(BLAS(GetStream)), void *, stream)
KEEPS(V2(BLAS(SetPointerMode)), V2(BLAS(GetPointerMode)), int, pointer_mode)
KEEPS(BLAS(SetAtomicsMode), BLAS(GetAtomicsMode), int, atomics_mode)
KEEPS(BLAS(SetMathMode), BLAS(GetMathMode), int, math_mode)

static const char *status_text(int status) {
    switch (status) {
    case OK: return "STATUS_SUCCESS";
    case NOT_INITIALIZED: return "STATUS_NOT_INITIALIZED";
    case ALLOC_FAILED: return "STATUS_ALLOC_FAILED";
    case INVALID_VALUE: return "STATUS_INVALID_VALUE";
    case EXECUTION_FAILED: return "STATUS_EXECUTION_FAILED";
    case NOT_SUPPORTED: return "STATUS_NOT_SUPPORTED";
    }
    return "STATUS_INTERNAL_ERROR";
}
#ifdef SIDE_CUDA
EXPORT const char *cublasGetStatusName(int status) { return status_text(status); }
EXPORT const char *cublasGetStatusString(int status) { return status_text(status); }
EXPORT int cublasGetVersion_v2(void *handle, int *into) { return (void)handle, *into = 130000, OK; }
EXPORT int cublasSetWorkspace_v2(void *handle, void *at, size_t bytes) { return (void)at, (void)bytes, handle ? OK : NOT_INITIALIZED; }
EXPORT int cublasLoggerConfigure(int on, int out, int err, const char *file) { return (void)on, (void)out, (void)err, (void)file, OK; }
#else
EXPORT const char *hipblasStatusToString(int status) { return status_text(status); }
#endif

/* ---- copies to and from the device ------------------------------------------------------------------------------ */

static int copy_blocks(const char *call, I rows, I columns, I one, const void *from, I from_leading, void *to, I to_leading, const void *device) {
    if (rows < 0 || columns < 0 || one <= 0 || from_leading <= 0 || to_leading <= 0) return INVALID_VALUE;
    if (porter_answers(LIBRARY, call, NULL)) return NOT_SUPPORTED;
    if (lacks_matrix(call, device, rows, columns, device == to ? to_leading : from_leading, (size_t)one)) return EXECUTION_FAILED;
    for (I j = 0; j < columns; j++) memmove((char *)to + j * to_leading * one, (const char *)from + j * from_leading * one, (size_t)(rows * one));
    return OK;
}
#define COPIES(name, more, device) \
    DEFINE(BLAS(JOIN(name##Vector, more)))(int n, int one, const void *x, int incx, void *y, int incy STREAM) { \
        return copy_blocks(TEXT(BLAS(JOIN(name##Vector, more))), 1, n, one, x, incx, y, incy, device(x, y)); \
    } \
    DEFINE(BLAS(JOIN(name##Matrix, more)))(int rows, int columns, int one, const void *x, int ldx, void *y, int ldy STREAM) { \
        return copy_blocks(TEXT(BLAS(JOIN(name##Matrix, more))), rows, columns, one, x, ldx, y, ldy, device(x, y)); \
    }
#define FIRST(x, y) (x)
#define SECOND(x, y) (y)
#define STREAM
COPIES(Set, , SECOND)
COPIES(Get, , FIRST)
#undef STREAM
#define STREAM , void *stream
COPIES(Set, Async, SECOND)
COPIES(Get, Async, FIRST)
#undef STREAM

/* ---- the four types --------------------------------------------------------------------------------------------- */

#define l s
#define U S
#define OF_REAL S
#define OF_REAL_TEXT "s"
#define T float
#define E float
#define R float
#include "blas_typed.h"
#define l d
#define U D
#define OF_REAL D
#define OF_REAL_TEXT "d"
#define T double
#define E double
#define R double
#include "blas_typed.h"
#define COMPLEX
#define REAL s
#define l c
#define U C
#define OF_REAL Sc
#define OF_REAL_TEXT "sc"
#define T void
#define E float complex
#define R float
#include "blas_typed.h"
#define COMPLEX
#define REAL d
#define l z
#define U Z
#define OF_REAL Dz
#define OF_REAL_TEXT "dz"
#define T void
#define E double complex
#define R double
#include "blas_typed.h"

#include "blas_mixed.h"
