/* The calls of one element type (blas_typed.h) and one type of sizes: INT, with TAIL after the names. */
#define FN(rest) JOIN(NAME(rest), TAIL)                      /* cublasSgemm_v2 */
#define FNB(rest) JOIN(JOIN(BLAS(), JOIN(U, rest)), TAIL)    /* cublasSgeam: has no _v2 */

/* ---- vectors ---------------------------------------------------------------------------------------------------- */

DEFINE(FN(copy))(void *handle, INT n, const T *x, INT incx, T *y, INT incy) {
    STARTS_OR_KEEPS(FN(copy), 0, 0, n, x, incx, y, incy);
    VECTOR(FN(copy), x, n, incx, sizeof(E));
    VECTOR(FN(copy), y, n, incy, sizeof(E));
    ((void (*)(I, const T *, I, T *, I))openblas(C_("copy")))(n, x, incx, y, incy);
    return OK;
}
DEFINE(FN(swap))(void *handle, INT n, T *x, INT incx, T *y, INT incy) {
    STARTS_OR_KEEPS(FN(swap), 0, 0, n, x, incx, y, incy);
    VECTOR(FN(swap), x, n, incx, sizeof(E));
    VECTOR(FN(swap), y, n, incy, sizeof(E));
    ((void (*)(I, T *, I, T *, I))openblas(C_("swap")))(n, x, incx, y, incy);
    return OK;
}
DEFINE(FN(axpy))(void *handle, INT n, const T *alpha, const T *x, INT incx, T *y, INT incy) {
    STARTS_OR_KEEPS(FN(axpy), sizeof(E), 1 << 1, n, alpha, x, incx, y, incy);
    VECTOR(FN(axpy), x, n, incx, sizeof(E));
    VECTOR(FN(axpy), y, n, incy, sizeof(E));
    ((void (*)(I, VALUE_TYPE, const T *, I, T *, I))openblas(C_("axpy")))(n, VALUE(alpha), x, incx, y, incy);
    return OK;
}
DEFINE(FN(scal))(void *handle, INT n, const T *alpha, T *x, INT incx) {
    STARTS_OR_KEEPS(FN(scal), sizeof(E), 1 << 1, n, alpha, x, incx);
    VECTOR(FN(scal), x, n, incx, sizeof(E));
    ((void (*)(I, VALUE_TYPE, T *, I))openblas(C_("scal")))(n, VALUE(alpha), x, incx);
    return OK;
}
#ifdef COMPLEX
#define DOTS(kind) \
    DEFINE(FN(dot##kind))(void *handle, INT n, const T *x, INT incx, const T *y, INT incy, T *result) { \
        STARTS_OR_KEEPS_RESULT(FN(dot##kind), n, x, incx, y, incy, result); \
        VECTOR(FN(dot##kind), x, n, incx, sizeof(E)); \
        VECTOR(FN(dot##kind), y, n, incy, sizeof(E)); \
        ((void (*)(I, const T *, I, const T *, I, T *))openblas(C_("dot" #kind "_sub")))(n, x, incx, y, incy, result); \
        return OK; \
    }
DOTS(u)
DOTS(c)
#undef DOTS
DEFINE(JOIN(V2(JOIN(BLAS(), JOIN(U, JOIN(REAL, scal)))), TAIL))(void *handle, INT n, const R *alpha, T *x, INT incx) {
    STARTS(JOIN(V2(JOIN(BLAS(), JOIN(U, JOIN(REAL, scal)))), TAIL));
    VECTOR(FN(scal), x, n, incx, sizeof(E));
    ((void (*)(I, R, T *, I))openblas("cblas_" TEXT(l) TEXT(REAL) "scal"))(n, *alpha, x, incx);
    return OK;
}
#else
DEFINE(FN(dot))(void *handle, INT n, const T *x, INT incx, const T *y, INT incy, T *result) {
    STARTS_OR_KEEPS_RESULT(FN(dot), n, x, incx, y, incy, result);
    VECTOR(FN(dot), x, n, incx, sizeof(E));
    VECTOR(FN(dot), y, n, incy, sizeof(E));
    *result = ((R(*)(I, const T *, I, const T *, I))openblas(C_("dot")))(n, x, incx, y, incy);
    return OK;
}
DEFINE(FN(rot))(void *handle, INT n, T *x, INT incx, T *y, INT incy, const T *c, const T *s) {
    STARTS(FN(rot));
    VECTOR(FN(rot), x, n, incx, sizeof(E));
    VECTOR(FN(rot), y, n, incy, sizeof(E));
    ((void (*)(I, T *, I, T *, I, R, R))openblas(C_("rot")))(n, x, incx, y, incy, *c, *s);
    return OK;
}
#endif
DEFINE(JOIN(V2(JOIN(BLAS(), JOIN(OF_REAL, nrm2))), TAIL))(void *handle, INT n, const T *x, INT incx, R *result) {
    STARTS_OR_KEEPS_RESULT(JOIN(V2(JOIN(BLAS(), JOIN(OF_REAL, nrm2))), TAIL), n, x, incx, result);
    VECTOR(FN(nrm2), x, n, incx, sizeof(E));
    *result = ((R(*)(I, const T *, I))openblas("cblas_" OF_REAL_TEXT "nrm2"))(n, x, incx);
    return OK;
}
DEFINE(JOIN(V2(JOIN(BLAS(), JOIN(OF_REAL, asum))), TAIL))(void *handle, INT n, const T *x, INT incx, R *result) {
    STARTS_OR_KEEPS_RESULT(JOIN(V2(JOIN(BLAS(), JOIN(OF_REAL, asum))), TAIL), n, x, incx, result);
    VECTOR(FN(asum), x, n, incx, sizeof(E));
    *result = ((R(*)(I, const T *, I))openblas("cblas_" OF_REAL_TEXT "asum"))(n, x, incx);
    return OK;
}
#define EXTREME(which) \
    DEFINE(JOIN(V2(JOIN(BLAS(I), JOIN(l, a##which))), TAIL))(void *handle, INT n, const T *x, INT incx, INT *result) { \
        STARTS(JOIN(V2(JOIN(BLAS(I), JOIN(l, a##which))), TAIL)); \
        VECTOR(JOIN(BLAS(I), a##which), x, n, incx, sizeof(E)); \
        *result = n < 1 || incx < 1 ? 0 : 1 + (INT)((I(*)(I, const T *, I))openblas("cblas_i" TEXT(l) "a" #which))(n, x, incx); \
        return OK; \
    }
EXTREME(max)
EXTREME(min)
#undef EXTREME

/* ---- a matrix and vectors --------------------------------------------------------------------------------------- */

DEFINE(FN(gemv))(void *handle, int trans, INT m, INT n, const T *alpha, const T *a, INT lda, const T *x, INT incx, const T *beta, T *y, INT incy) {
    STARTS_OR_KEEPS(FN(gemv), sizeof(E), 1 << 3 | 1 << 8, trans, m, n, alpha, a, lda, x, incx, beta, y, incy);
    CHECK(m >= 0 && n >= 0 && lda >= (m > 1 ? m : 1) && incx && incy);
    int plain = OP(trans) == PLAIN;
    MATRIX(FN(gemv), a, m, n, lda, sizeof(E));
    VECTOR(FN(gemv), x, plain ? n : m, incx, sizeof(E));
    VECTOR(FN(gemv), y, plain ? m : n, incy, sizeof(E));
    ((void (*)(int, int, I, I, VALUE_TYPE, const T *, I, const T *, I, VALUE_TYPE, T *, I))openblas(C_("gemv")))(COLUMNS, OP(trans), m, n, VALUE(alpha), a, lda, x, incx, VALUE(beta), y, incy);
    return OK;
}
#define RANK_ONE(name, kept) \
    DEFINE(FN(name))(void *handle, INT m, INT n, const T *alpha, const T *x, INT incx, const T *y, INT incy, T *a, INT lda) { \
        STARTS_OR_KEEPS(FN(name), sizeof(E), 1 << 2, m, n, alpha, x, incx, y, incy, a, lda); \
        CHECK(m >= 0 && n >= 0 && incx && incy && lda >= (m > 1 ? m : 1)); \
        VECTOR(FN(name), x, m, incx, sizeof(E)); \
        VECTOR(FN(name), y, n, incy, sizeof(E)); \
        MATRIX(FN(name), a, m, n, lda, sizeof(E)); \
        ((void (*)(int, I, I, VALUE_TYPE, const T *, I, const T *, I, T *, I))openblas(C_(kept)))(COLUMNS, m, n, VALUE(alpha), x, incx, y, incy, a, lda); \
        return OK; \
    }
#ifdef COMPLEX
RANK_ONE(geru, "geru")
RANK_ONE(gerc, "gerc")
#define HERMITIAN(rest) he##rest
#define HERMITIAN_TEXT "he"
#else
RANK_ONE(ger, "ger")
#define HERMITIAN(rest) sy##rest
#define HERMITIAN_TEXT "sy"
#endif
#undef RANK_ONE
DEFINE(FN(HERMITIAN(mv)))(void *handle, int fill, INT n, const T *alpha, const T *a, INT lda, const T *x, INT incx, const T *beta, T *y, INT incy) {
    STARTS(FN(HERMITIAN(mv)));
    CHECK(n >= 0 && incx && incy && lda >= (n > 1 ? n : 1));
    MATRIX(FN(symv), a, n, n, lda, sizeof(E));
    VECTOR(FN(symv), x, n, incx, sizeof(E));
    VECTOR(FN(symv), y, n, incy, sizeof(E));
    ((void (*)(int, int, I, VALUE_TYPE, const T *, I, const T *, I, VALUE_TYPE, T *, I))openblas(C_(HERMITIAN_TEXT "mv")))(COLUMNS, FILL(fill), n, VALUE(alpha), a, lda, x, incx, VALUE(beta), y, incy);
    return OK;
}
DEFINE(FN(HERMITIAN(r)))(void *handle, int fill, INT n, const R *alpha, const T *x, INT incx, T *a, INT lda) {
    STARTS(FN(HERMITIAN(r)));
    CHECK(n >= 0 && incx && lda >= (n > 1 ? n : 1));
    MATRIX(FN(syr), a, n, n, lda, sizeof(E));
    VECTOR(FN(syr), x, n, incx, sizeof(E));
    ((void (*)(int, int, I, R, const T *, I, T *, I))openblas(C_(HERMITIAN_TEXT "r")))(COLUMNS, FILL(fill), n, *alpha, x, incx, a, lda);
    return OK;
}
DEFINE(FN(HERMITIAN(r2)))(void *handle, int fill, INT n, const T *alpha, const T *x, INT incx, const T *y, INT incy, T *a, INT lda) {
    STARTS(FN(HERMITIAN(r2)));
    CHECK(n >= 0 && incx && incy && lda >= (n > 1 ? n : 1));
    MATRIX(FN(syr2), a, n, n, lda, sizeof(E));
    VECTOR(FN(syr2), x, n, incx, sizeof(E));
    VECTOR(FN(syr2), y, n, incy, sizeof(E));
    ((void (*)(int, int, I, VALUE_TYPE, const T *, I, const T *, I, T *, I))openblas(C_(HERMITIAN_TEXT "r2")))(COLUMNS, FILL(fill), n, VALUE(alpha), x, incx, y, incy, a, lda);
    return OK;
}
#define TRIANGLE(name) \
    DEFINE(FN(name))(void *handle, int fill, int trans, int diag, INT n, const T *a, INT lda, T *x, INT incx) { \
        STARTS(FN(name)); \
        CHECK(n >= 0 && incx && lda >= (n > 1 ? n : 1)); \
        MATRIX(FN(name), a, n, n, lda, sizeof(E)); \
        VECTOR(FN(name), x, n, incx, sizeof(E)); \
        ((void (*)(int, int, int, int, I, const T *, I, T *, I))openblas(C_(#name)))(COLUMNS, FILL(fill), OP(trans), DIAG(diag), n, a, lda, x, incx); \
        return OK; \
    }
TRIANGLE(trsv)
TRIANGLE(trmv)
#undef TRIANGLE

/* ---- matrices --------------------------------------------------------------------------------------------------- */

static int JOIN(JOIN(gemm_, l), TAIL)(const char *call, int ta, int tb, I m, I n, I k, const T *alpha, const T *a, I lda, const T *b, I ldb, const T *beta, T *c, I ldc) {
    int pa = OP(ta) == PLAIN, pb = OP(tb) == PLAIN;
    if (m < 0 || n < 0 || k < 0 || lda < (pa ? m : k) || ldb < (pb ? k : n) || ldc < m || !alpha || !beta) return INVALID_VALUE;
    if (lacks_matrix(call, a, pa ? m : k, pa ? k : m, lda, sizeof(E)) || lacks_matrix(call, b, pb ? k : n, pb ? n : k, ldb, sizeof(E)) || lacks_matrix(call, c, m, n, ldc, sizeof(E)))
        return EXECUTION_FAILED;
    if (!m || !n) return OK;
    ((void (*)(int, int, int, I, I, I, VALUE_TYPE, const T *, I, const T *, I, VALUE_TYPE, T *, I))openblas(C_("gemm")))(COLUMNS, OP(ta), OP(tb), m, n, k, VALUE(alpha), a, lda ? lda : 1, b, ldb ? ldb : 1, VALUE(beta), c, ldc);
    return OK;
}
#define GEMM JOIN(JOIN(gemm_, l), TAIL)
DEFINE(FN(gemm))(void *handle, int ta, int tb, INT m, INT n, INT k, const T *alpha, const T *a, INT lda, const T *b, INT ldb, const T *beta, T *c, INT ldc) {
    STARTS_OR_KEEPS(FN(gemm), sizeof(E), 1 << 5 | 1 << 10, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
    return GEMM(TEXT(FN(gemm)), ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}
DEFINE(FNB(gemmBatched))(void *handle, int ta, int tb, INT m, INT n, INT k, const T *alpha, const T **a, INT lda, const T **b, INT ldb, const T *beta, T **c, INT ldc, INT count) {
    STARTS_OR_KEEPS(FNB(gemmBatched), sizeof(E), 1 << 5 | 1 << 10, ta, tb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc, count);
    CHECK(count >= 0);
    VECTOR(FNB(gemmBatched), a, count, 1, sizeof(void *));
    VECTOR(FNB(gemmBatched), b, count, 1, sizeof(void *));
    VECTOR(FNB(gemmBatched), c, count, 1, sizeof(void *));
    int status = OK;
    for (INT i = 0; i < count && !status; i++) status = GEMM(TEXT(FNB(gemmBatched)), ta, tb, m, n, k, alpha, a[i], lda, b[i], ldb, beta, c[i], ldc);
    return status;
}
DEFINE(FNB(gemmStridedBatched))(void *handle, int ta, int tb, INT m, INT n, INT k, const T *alpha, const T *a, INT lda, long long sa, const T *b, INT ldb, long long sb, const T *beta, T *c, INT ldc, long long sc, INT count) {
    STARTS_OR_KEEPS(FNB(gemmStridedBatched), sizeof(E), 1 << 5 | 1 << 11, ta, tb, m, n, k, alpha, a, lda, sa, b, ldb, sb, beta, c, ldc, sc, count);
    CHECK(count >= 0);
    int status = OK;
    for (I i = 0; i < count && !status; i++)
        status = GEMM(TEXT(FNB(gemmStridedBatched)), ta, tb, m, n, k, alpha, (const T *)((const E *)a + i * sa), lda, (const T *)((const E *)b + i * sb), ldb, beta, (T *)((E *)c + i * sc), ldc);
    return status;
}
#undef GEMM
#define SIDED(name) \
    DEFINE(FN(name))(void *handle, int side, int fill, INT m, INT n, const T *alpha, const T *a, INT lda, const T *b, INT ldb, const T *beta, T *c, INT ldc) { \
        STARTS(FN(name)); \
        INT order = ON(side) == LEFT ? m : n; \
        CHECK(m >= 0 && n >= 0 && lda >= order && ldb >= m && ldc >= m); \
        MATRIX(FN(name), a, order, order, lda, sizeof(E)); \
        MATRIX(FN(name), b, m, n, ldb, sizeof(E)); \
        MATRIX(FN(name), c, m, n, ldc, sizeof(E)); \
        ((void (*)(int, int, int, I, I, VALUE_TYPE, const T *, I, const T *, I, VALUE_TYPE, T *, I))openblas(C_(#name)))(COLUMNS, ON(side), FILL(fill), m, n, VALUE(alpha), a, lda, b, ldb, VALUE(beta), c, ldc); \
        return OK; \
    }
#define RANK_K(name, S, SCALE) \
    DEFINE(FN(name))(void *handle, int fill, int trans, INT n, INT k, const S *alpha, const T *a, INT lda, const S *beta, T *c, INT ldc) { \
        STARTS(FN(name)); \
        int plain = OP(trans) == PLAIN; \
        CHECK(n >= 0 && k >= 0 && lda >= (plain ? n : k) && ldc >= n); \
        MATRIX(FN(name), a, plain ? n : k, plain ? k : n, lda, sizeof(E)); \
        MATRIX(FN(name), c, n, n, ldc, sizeof(E)); \
        ((void (*)(int, int, int, I, I, SCALE, const T *, I, SCALE, T *, I))openblas(C_(#name)))(COLUMNS, FILL(fill), OP(trans), n, k, BY(SCALE, alpha), a, lda, BY(SCALE, beta), c, ldc); \
        return OK; \
    }
#define RANK_2K(name, S, SCALE) \
    DEFINE(FN(name))(void *handle, int fill, int trans, INT n, INT k, const T *alpha, const T *a, INT lda, const T *b, INT ldb, const S *beta, T *c, INT ldc) { \
        STARTS(FN(name)); \
        int plain = OP(trans) == PLAIN; \
        CHECK(n >= 0 && k >= 0 && lda >= (plain ? n : k) && ldb >= (plain ? n : k) && ldc >= n); \
        MATRIX(FN(name), a, plain ? n : k, plain ? k : n, lda, sizeof(E)); \
        MATRIX(FN(name), b, plain ? n : k, plain ? k : n, ldb, sizeof(E)); \
        MATRIX(FN(name), c, n, n, ldc, sizeof(E)); \
        ((void (*)(int, int, int, I, I, VALUE_TYPE, const T *, I, const T *, I, SCALE, T *, I))openblas(C_(#name)))(COLUMNS, FILL(fill), OP(trans), n, k, VALUE(alpha), a, lda, b, ldb, BY(SCALE, beta), c, ldc); \
        return OK; \
    }
#define BY(type, pointer) _Generic((type){0}, const void *: (const void *)(pointer), default: *(const R *)(pointer))
SIDED(symm)
#ifdef COMPLEX
SIDED(hemm)
RANK_K(syrk, T, const void *)
RANK_K(herk, R, R)
RANK_2K(syr2k, T, const void *)
RANK_2K(her2k, R, R)
#else
RANK_K(syrk, T, R)
RANK_2K(syr2k, T, R)
#endif
#undef SIDED
#undef RANK_K
#undef RANK_2K
#undef BY

static int JOIN(JOIN(trsm_, l), TAIL)(const char *call, int side, int fill, int trans, int diag, I m, I n, const T *alpha, const T *a, I lda, T *b, I ldb) {
    I order = ON(side) == LEFT ? m : n;
    if (m < 0 || n < 0 || lda < order || ldb < m || !alpha) return INVALID_VALUE;
    if (lacks_matrix(call, a, order, order, lda, sizeof(E)) || lacks_matrix(call, b, m, n, ldb, sizeof(E))) return EXECUTION_FAILED;
    ((void (*)(int, int, int, int, int, I, I, VALUE_TYPE, const T *, I, T *, I))openblas(C_("trsm")))(COLUMNS, ON(side), FILL(fill), OP(trans), DIAG(diag), m, n, VALUE(alpha), a, lda, b, ldb);
    return OK;
}
DEFINE(FN(trsm))(void *handle, int side, int fill, int trans, int diag, INT m, INT n, const T *alpha, const T *a, INT lda, T *b, INT ldb) {
    STARTS(FN(trsm));
    return JOIN(JOIN(trsm_, l), TAIL)(TEXT(FN(trsm)), side, fill, trans, diag, m, n, alpha, a, lda, b, ldb);
}
DEFINE(FNB(trsmBatched))(void *handle, int side, int fill, int trans, int diag, INT m, INT n, const T *alpha, const T **a, INT lda, T **b, INT ldb, INT count) {
    STARTS(FNB(trsmBatched));
    VECTOR(FNB(trsmBatched), a, count, 1, sizeof(void *));
    VECTOR(FNB(trsmBatched), b, count, 1, sizeof(void *));
    int status = OK;
    for (INT i = 0; i < count && !status; i++) status = JOIN(JOIN(trsm_, l), TAIL)(TEXT(FNB(trsmBatched)), side, fill, trans, diag, m, n, alpha, a[i], lda, b[i], ldb);
    return status;
}
DEFINE(FN(trmm))(void *handle, int side, int fill, int trans, int diag, INT m, INT n, const T *alpha, const T *a, INT lda, const T *b, INT ldb, T *c, INT ldc) {
    STARTS(FN(trmm));
    INT order = ON(side) == LEFT ? m : n;
    CHECK(m >= 0 && n >= 0 && lda >= order && ldb >= m && ldc >= m);
    MATRIX(FN(trmm), a, order, order, lda, sizeof(E));
    MATRIX(FN(trmm), b, m, n, ldb, sizeof(E));
    MATRIX(FN(trmm), c, m, n, ldc, sizeof(E));
    for (I j = 0; j < n; j++) memmove((E *)c + j * ldc, (const E *)b + j * ldb, (size_t)m * sizeof(E));
    ((void (*)(int, int, int, int, int, I, I, VALUE_TYPE, const T *, I, T *, I))openblas(C_("trmm")))(COLUMNS, ON(side), FILL(fill), OP(trans), DIAG(diag), m, n, VALUE(alpha), a, lda, c, ldc);
    return OK;
}
static E JOIN(JOIN(entry_, l), TAIL)(const T *a, I leading, int op, I i, I j) {
    if (op == PLAIN) return AT(a, i, j, leading);
    return op == CONJUGATED ? CONJ(AT(a, j, i, leading)) : AT(a, j, i, leading);
}
#define ENTRY JOIN(JOIN(entry_, l), TAIL)
DEFINE(FNB(geam))(void *handle, int ta, int tb, INT m, INT n, const T *alpha, const T *a, INT lda, const T *beta, const T *b, INT ldb, T *c, INT ldc) {
    STARTS(FNB(geam));
    int pa = OP(ta) == PLAIN, pb = OP(tb) == PLAIN;
    E f = *(const E *)alpha, g = *(const E *)beta;
    CHECK(m >= 0 && n >= 0 && ldc >= m);
    if (f != 0) MATRIX(FNB(geam), a, pa ? m : n, pa ? n : m, lda, sizeof(E));
    if (g != 0) MATRIX(FNB(geam), b, pb ? m : n, pb ? n : m, ldb, sizeof(E));
    MATRIX(FNB(geam), c, m, n, ldc, sizeof(E));
    for (I j = 0; j < n; j++)
        for (I i = 0; i < m; i++) AT(c, i, j, ldc) = (f == 0 ? 0 : f * ENTRY(a, lda, OP(ta), i, j)) + (g == 0 ? 0 : g * ENTRY(b, ldb, OP(tb), i, j));
    return OK;
}
#undef ENTRY
DEFINE(FNB(dgmm))(void *handle, int side, INT m, INT n, const T *a, INT lda, const T *x, INT incx, T *c, INT ldc) {
    STARTS(FNB(dgmm));
    int left = ON(side) == LEFT;
    I many = left ? m : n, first = incx < 0 ? (1 - many) * incx : 0;
    CHECK(m >= 0 && n >= 0 && lda >= m && ldc >= m);
    MATRIX(FNB(dgmm), a, m, n, lda, sizeof(E));
    VECTOR(FNB(dgmm), x, many, incx, sizeof(E));
    MATRIX(FNB(dgmm), c, m, n, ldc, sizeof(E));
    for (I j = 0; j < n; j++)
        for (I i = 0; i < m; i++) AT(c, i, j, ldc) = AT(a, i, j, lda) * ((const E *)x)[first + (left ? i : j) * incx];
    return OK;
}

#undef HERMITIAN
#undef HERMITIAN_TEXT
#undef FNB
#undef FN
#undef TAIL
#undef INT
