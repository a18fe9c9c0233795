/* Calls whose types are arguments, and those of half precision: through double, rounded once. Included by blas.c. */

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
/* What alpha and beta are, by the type that a product is computed in: a data type, or of the later enumerations. */
static enum Kind scale_of(int compute, int is_data_type, enum Kind result) {
    enum Kind kind = F32;
    if (is_data_type) kind = kind_of(compute);
#ifdef SIDE_CUDA
    else if (compute == 64 || compute == 65) kind = F16;
    else if (compute == 70 || compute == 71) kind = F64;
    else if (compute == 72 || compute == 73) kind = I32;
#else
    else if (compute == 0 || compute == 1) kind = F16;
    else if (compute == 7 || compute == 8) kind = F64;
    else if (compute == 9 || compute == 10) kind = I32;
#endif
    if (result == C32 && kind == F32) return C32;
    return result == C64 && kind == F64 ? C64 : kind;
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
static double loaded(const void *a, enum Kind kind, I at) {
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
static void stored(void *a, enum Kind kind, I at, double value) {
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

typedef struct Product {
    int ta, tb;
    I m, n, k;
    const void *alpha, *beta;
    enum Kind of_a, of_b, of_c, scale;
    I lda, ldb, ldc;
} Product;

static double *widened(const void *a, enum Kind kind, I rows, I columns, I leading) {
    double *made = malloc((size_t)(rows * columns + 1) * sizeof *made);
    for (I j = 0; made && j < columns; j++)
        for (I i = 0; i < rows; i++) made[i + j * rows] = loaded(a, kind, i + j * leading);
    return made;
}

static int product(const char *call, const Product *p, const void *a, const void *b, void *c) {
    enum Kind one = p->of_a;
    if (one == p->of_b && one == p->of_c && one == p->scale) {
        if (one == F32) return gemm_s(call, p->ta, p->tb, p->m, p->n, p->k, p->alpha, a, p->lda, b, p->ldb, p->beta, c, p->ldc);
        if (one == F64) return gemm_d(call, p->ta, p->tb, p->m, p->n, p->k, p->alpha, a, p->lda, b, p->ldb, p->beta, c, p->ldc);
        if (one == C32) return gemm_c(call, p->ta, p->tb, p->m, p->n, p->k, p->alpha, a, p->lda, b, p->ldb, p->beta, c, p->ldc);
        if (one == C64) return gemm_z(call, p->ta, p->tb, p->m, p->n, p->k, p->alpha, a, p->lda, b, p->ldb, p->beta, c, p->ldc);
    }
    if (!one || !p->of_b || !p->of_c || !p->scale || one >= C32 || p->of_b >= C32 || p->of_c >= C32)
        return porter_refuses(call, "with these types"), NOT_SUPPORTED;
    int pa = OP(p->ta) == PLAIN, pb = OP(p->tb) == PLAIN;
    I ra = pa ? p->m : p->k, ca = pa ? p->k : p->m, rb = pb ? p->k : p->n, cb = pb ? p->n : p->k;
    if (p->m < 0 || p->n < 0 || p->k < 0 || p->lda < ra || p->ldb < rb || p->ldc < p->m) return INVALID_VALUE;
    if (lacks_matrix(call, a, ra, ca, p->lda, kind_bytes[one]) || lacks_matrix(call, b, rb, cb, p->ldb, kind_bytes[p->of_b]) || lacks_matrix(call, c, p->m, p->n, p->ldc, kind_bytes[p->of_c]))
        return EXECUTION_FAILED;
    if (!p->m || !p->n) return OK;
    double *wide_a = widened(a, one, ra, ca, p->lda), *wide_b = widened(b, p->of_b, rb, cb, p->ldb), *sum = calloc((size_t)(p->m * p->n), sizeof *sum);
    double alpha = loaded(p->alpha, p->scale, 0), beta = loaded(p->beta, p->scale, 0);
    if (!wide_a || !wide_b || !sum) return free(wide_a), free(wide_b), free(sum), ALLOC_FAILED;
    ((void (*)(int, int, int, I, I, I, double, const double *, I, const double *, I, double, double *, I))openblas("cblas_dgemm"))(
        COLUMNS, OP(p->ta), OP(p->tb), p->m, p->n, p->k, 1.0, wide_a, ra ? ra : 1, wide_b, rb ? rb : 1, 0.0, sum, p->m);
    for (I j = 0; j < p->n; j++)
        for (I i = 0; i < p->m; i++) {
            double old = beta == 0 ? 0 : beta * loaded(c, p->of_c, i + j * p->ldc);
            stored(c, p->of_c, i + j * p->ldc, alpha * sum[i + j * p->m] + old);
        }
    free(wide_a), free(wide_b), free(sum);
    return OK;
}

static int products(const char *call, const Product *p, const void *a, I sa, const void *b, I sb, void *c, I sc, I count) {
    int status = count < 0 || !p->alpha || !p->beta ? INVALID_VALUE : OK;
    for (I i = 0; i < count && !status; i++)
        status = product(call, p, (const char *)a + i * sa * (I)kind_bytes[p->of_a], (const char *)b + i * sb * (I)kind_bytes[p->of_b],
                         (char *)c + i * sc * (I)kind_bytes[p->of_c]);
    return status;
}
static int listed_products(const char *call, const Product *p, const void **a, const void **b, void **c, I count) {
    if (lacks_vector(call, a, count, 1, sizeof *a) || lacks_vector(call, b, count, 1, sizeof *b) || lacks_vector(call, c, count, 1, sizeof *c)) return EXECUTION_FAILED;
    int status = count < 0 || !p->alpha || !p->beta ? INVALID_VALUE : OK;
    for (I i = 0; i < count && !status; i++) status = product(call, p, a[i], b[i], c[i]);
    return status;
}

#define SIZES int ta, int tb, int m, int n, int k
#define PRODUCT(a_, b_, c_, scale_) {ta, tb, m, n, k, alpha, beta, kind_of(a_), kind_of(b_), kind_of(c_), scale_, lda, ldb, ldc}
#define MIXED(more, is_data_type) \
    DEFINE(JOIN(BLAS(GemmEx), more))(void *handle, SIZES, const void *alpha, const void *a, int ka, int lda, const void *b, int kb, int ldb, const void *beta, void *c, int kc, int ldc, int compute, int algorithm) { \
        STARTS(JOIN(BLAS(GemmEx), more)); \
        const Product p = PRODUCT(ka, kb, kc, scale_of(compute, is_data_type, kind_of(kc))); \
        return products(TEXT(JOIN(BLAS(GemmEx), more)), &p, a, 0, b, 0, c, 0, 1); \
    } \
    DEFINE(JOIN(BLAS(GemmStridedBatchedEx), more))(void *handle, SIZES, const void *alpha, const void *a, int ka, int lda, STRIDE sa, const void *b, int kb, int ldb, STRIDE sb, const void *beta, void *c, int kc, int ldc, STRIDE sc, int count, int compute, int algorithm) { \
        STARTS(JOIN(BLAS(GemmStridedBatchedEx), more)); \
        const Product p = PRODUCT(ka, kb, kc, scale_of(compute, is_data_type, kind_of(kc))); \
        return products(TEXT(JOIN(BLAS(GemmStridedBatchedEx), more)), &p, a, sa, b, sb, c, sc, count); \
    } \
    DEFINE(JOIN(BLAS(GemmBatchedEx), more))(void *handle, SIZES, const void *alpha, const void **a, int ka, int lda, const void **b, int kb, int ldb, const void *beta, void **c, int kc, int ldc, int count, int compute, int algorithm) { \
        STARTS(JOIN(BLAS(GemmBatchedEx), more)); \
        const Product p = PRODUCT(ka, kb, kc, scale_of(compute, is_data_type, kind_of(kc))); \
        return listed_products(TEXT(JOIN(BLAS(GemmBatchedEx), more)), &p, a, b, c, count); \
    }
#ifdef SIDE_CUDA
#define STRIDE long long
MIXED(, compute < 64)
#define HALF void
enum { HALF_TYPE = 2 };
DEFINE(cublasSgemmEx)(void *handle, SIZES, const float *alpha, const void *a, int ka, int lda, const void *b, int kb, int ldb, const float *beta, void *c, int kc, int ldc) {
    STARTS(cublasSgemmEx);
    const Product p = PRODUCT(ka, kb, kc, F32);
    return products("cublasSgemmEx", &p, a, 0, b, 0, c, 0, 1);
}
#else
#define STRIDE long
MIXED(, 1)
MIXED(_v2, 0)
#define HALF unsigned short
enum { HALF_TYPE = 150 };
#endif
DEFINE(BLAS(Hgemm))(void *handle, SIZES, const HALF *alpha, const HALF *a, int lda, const HALF *b, int ldb, const HALF *beta, HALF *c, int ldc) {
    STARTS(BLAS(Hgemm));
    const Product p = PRODUCT(HALF_TYPE, HALF_TYPE, HALF_TYPE, F16);
    return products(TEXT(BLAS(Hgemm)), &p, a, 0, b, 0, c, 0, 1);
}
DEFINE(BLAS(HgemmStridedBatched))(void *handle, SIZES, const HALF *alpha, const HALF *a, int lda, long long sa, const HALF *b, int ldb, long long sb, const HALF *beta, HALF *c, int ldc, long long sc, int count) {
    STARTS(BLAS(HgemmStridedBatched));
    const Product p = PRODUCT(HALF_TYPE, HALF_TYPE, HALF_TYPE, F16);
    return products(TEXT(BLAS(HgemmStridedBatched)), &p, a, sa, b, sb, c, sc, count);
}
DEFINE(BLAS(HgemmBatched))(void *handle, SIZES, const HALF *alpha, const HALF **a, int lda, const HALF **b, int ldb, const HALF *beta, HALF **c, int ldc, int count) {
    STARTS(BLAS(HgemmBatched));
    const Product p = PRODUCT(HALF_TYPE, HALF_TYPE, HALF_TYPE, F16);
    return listed_products(TEXT(BLAS(HgemmBatched)), &p, (const void **)a, (const void **)b, (void **)c, count);
}

/* ---- vectors ---------------------------------------------------------------------------------------------------- */

static I first_of(I n, I step) { return step < 0 ? (1 - n) * step : 0; }

#define VECTOR_EX(call, x, n, step, kind) \
    do { \
        if (!kind_of(kind) || kind_of(kind) >= C32) return porter_refuses(TEXT(call), "with these types"), NOT_SUPPORTED; \
        VECTOR(call, x, n, step, kind_bytes[kind_of(kind)]); \
    } while (0)
DEFINE(BLAS(DotEx))(void *handle, int n, const void *x, int kx, int incx, const void *y, int ky, int incy, void *result, int kr, int compute) {
    STARTS(BLAS(DotEx));
    VECTOR_EX(BLAS(DotEx), x, n, incx, kx);
    VECTOR_EX(BLAS(DotEx), y, n, incy, ky);
    double sum = 0;
    for (I i = 0; i < n; i++) sum += loaded(x, kind_of(kx), first_of(n, incx) + i * incx) * loaded(y, kind_of(ky), first_of(n, incy) + i * incy);
    stored(result, kind_of(kr), 0, sum);
    return OK;
}
DEFINE(BLAS(Nrm2Ex))(void *handle, int n, const void *x, int kx, int incx, void *result, int kr, int compute) {
    STARTS(BLAS(Nrm2Ex));
    VECTOR_EX(BLAS(Nrm2Ex), x, n, incx, kx);
    double sum = 0, value;
    for (I i = 0; i < n && incx > 0; i++) value = loaded(x, kind_of(kx), i * incx), sum += value * value;
    stored(result, kind_of(kr), 0, sqrt(sum));
    return OK;
}
DEFINE(BLAS(AxpyEx))(void *handle, int n, const void *alpha, int kalpha, const void *x, int kx, int incx, void *y, int ky, int incy, int compute) {
    STARTS(BLAS(AxpyEx));
    VECTOR_EX(BLAS(AxpyEx), x, n, incx, kx);
    VECTOR_EX(BLAS(AxpyEx), y, n, incy, ky);
    double factor = loaded(alpha, kind_of(kalpha), 0);
    for (I i = 0; i < n; i++) {
        I at = first_of(n, incy) + i * incy;
        stored(y, kind_of(ky), at, loaded(y, kind_of(ky), at) + factor * loaded(x, kind_of(kx), first_of(n, incx) + i * incx));
    }
    return OK;
}
DEFINE(BLAS(ScalEx))(void *handle, int n, const void *alpha, int kalpha, void *x, int kx, int incx, int compute) {
    STARTS(BLAS(ScalEx));
    VECTOR_EX(BLAS(ScalEx), x, n, incx, kx);
    double factor = loaded(alpha, kind_of(kalpha), 0);
    for (I i = 0; i < n && incx > 0; i++) stored(x, kind_of(kx), i * incx, factor * loaded(x, kind_of(kx), i * incx));
    return OK;
}
