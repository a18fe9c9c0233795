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
    int played; /* of a call that a graph plays */
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
    if (h->played) return OK;
    return porter_answers(LIBRARY, call, h->stream) ? NOT_SUPPORTED : OK;
}
#define STARTS(name) \
    do { \
        int status_ = starts(handle, TEXT(name)); \
        if (status_) return status_; \
    } while (0)

/* ---- calls that a stream captures: kept, with the host's scalars as they are now, and played by the graph ---------- */

enum { MOST = 18, SCALARS = 2, ON_DEVICE = 1 };
typedef int (*Kept_call)(void *, I, I, I, I, I, I, I, I, I, I, I, I, I, I, I, I, I, I);
typedef struct Kept {
    Handle handle;
    const char *name;
    Kept_call call;
    I given[MOST];
    long double scalars[SCALARS]; /* 16 bytes: a double complex */
} Kept;

static void play(void *kept) {
    Kept *k = kept;
    const I *a = k->given;
    int status = k->call(&k->handle, a[0], a[1], a[2], a[3], a[4], a[5], a[6], a[7], a[8], a[9], a[10], a[11], a[12], a[13], a[14], a[15], a[16], a[17]);
    if (status) porter_refuses(k->name, "it failed when its graph was played");
}
static int captured(const Handle *h, int has_result) {
    return h && !h->played && porter_captures(h->stream) && (h->pointer_mode == ON_DEVICE || !has_result);
}
/* Each argument fills a word; `scalars`: which of them point to values of `bytes` that may be the host's. */
static int keep(const Handle *h, const char *name, void *call, size_t bytes, unsigned scalars, int count, ...) {
    Kept *k = calloc(1, sizeof *k);
    int many = 0;
    va_list given;
    *k = (Kept){.handle = *h, .name = name};
    k->handle.played = 1;
    memcpy(&k->call, &call, sizeof call);
    va_start(given, count);
    for (int i = 0; i < count; i++) {
        k->given[i] = va_arg(given, I);
        if (h->pointer_mode == ON_DEVICE || !(scalars >> i & 1)) continue;
        memcpy(&k->scalars[many], (const void *)k->given[i], bytes);
        k->given[i] = (I)&k->scalars[many++];
    }
    va_end(given);
    return porter_plays(LIBRARY, name, h->stream, play, k) ? NOT_SUPPORTED : OK;
}
#define COUNT_(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, count, ...) count
#define COUNT(...) COUNT_(__VA_ARGS__, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define STARTS_OR_KEEPS_(name, has_result, bytes, scalars, ...) \
    do { \
        if (captured(handle, has_result)) return keep(handle, TEXT(name), (void *)name, bytes, scalars, COUNT(__VA_ARGS__), __VA_ARGS__); \
        STARTS(name); \
    } while (0)
/* The arguments follow, the handle left out. */
#define STARTS_OR_KEEPS(name, bytes, scalars, ...) STARTS_OR_KEEPS_(name, 0, bytes, scalars, __VA_ARGS__)
#define STARTS_OR_KEEPS_RESULT(name, ...) STARTS_OR_KEEPS_(name, 1, 0, 0, __VA_ARGS__)

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
