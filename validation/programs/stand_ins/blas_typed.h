/* The calls of one element type, once with int and, on CUDA's side, once with 64-bit sizes; included by blas.c.
 * l, U: the type's letters; T: what pointers point to in the declarations; E, R: an element, a real. */
#ifdef COMPLEX
#define VALUE(pointer) (pointer)
#define VALUE_TYPE const void *
#define CONJ(x) ((E)conj(x))
#else
#define VALUE(pointer) (*(pointer))
#define VALUE_TYPE R
#define CONJ(x) (x)
#endif
#define NAME(rest) V2(JOIN(BLAS(), JOIN(U, rest)))
#define C_(rest) "cblas_" TEXT(l) rest
#define AT(a, i, j, leading) (((E *)(a))[(i) + (I)(j) * (leading)])

static int JOIN(lu_, l)(I n, E *a, I leading, int *pivots) {
    int first = 0;
    if (pivots) {
        int64_t *own = malloc((size_t)(n + 1) * sizeof *own);
        first = (int)((I(*)(int, I, I, E *, I, void *))openblas("LAPACKE_" TEXT(l) "getrf"))(COLUMNS, n, n, a, leading, own);
        for (I i = 0; i < n; i++) pivots[i] = wide ? (int)own[i] : ((int *)own)[i];
        free(own);
        return first;
    }
    for (I k = 0; k < n; k++) { /* without pivots */
        if (AT(a, k, k, leading) == 0 && !first) first = (int)k + 1;
        for (I i = k + 1; i < n; i++) AT(a, i, k, leading) /= AT(a, k, k, leading);
        for (I j = k + 1; j < n; j++)
            for (I i = k + 1; i < n; i++) AT(a, i, j, leading) -= AT(a, i, k, leading) * AT(a, k, j, leading);
    }
    return first;
}

#define INT int
#define TAIL
#include "blas_calls.h"
#ifdef SIDE_CUDA
#define INT I
#define TAIL _64
#include "blas_calls.h"
#endif

/* ---- many small factorisations ---------------------------------------------------------------------------------- */

#define FNB(rest) JOIN(BLAS(), JOIN(U, rest))

/* 64-bit pivots for a library that wants them; to be freed. */
static void *JOIN(pivots_, l)(const int *pivots, I n) {
    int64_t *own = malloc((size_t)(n + 1) * sizeof *own);
    for (I i = 0; i < n; i++)
        if (wide) own[i] = pivots ? pivots[i] : i + 1;
        else ((int *)own)[i] = pivots ? pivots[i] : (int)i + 1;
    return own;
}
static int JOIN(inverse_, l)(I n, E *a, I leading, const int *pivots) {
    I (*invert)(int, I, E *, I, const void *) = openblas("LAPACKE_" TEXT(l) "getri");
    void *own = JOIN(pivots_, l)(pivots, n);
    int status = (int)invert(COLUMNS, n, a, leading, own);
    free(own);
    return status;
}

DEFINE(FNB(getrfBatched))(void *handle, int n, T **a, int lda, int *pivots, int *info, int count) {
    STARTS(FNB(getrfBatched));
    CHECK(n >= 0 && count >= 0 && lda >= (n > 1 ? n : 1));
    VECTOR(FNB(getrfBatched), a, count, 1, sizeof(void *));
    VECTOR(FNB(getrfBatched), info, count, 1, sizeof(int));
    if (pivots) VECTOR(FNB(getrfBatched), pivots, (I)n * count, 1, sizeof(int));
    for (I i = 0; i < count; i++) {
        MATRIX(FNB(getrfBatched), a[i], n, n, lda, sizeof(E));
        info[i] = JOIN(lu_, l)(n, (E *)a[i], lda, pivots ? pivots + i * n : NULL);
    }
    return OK;
}
DEFINE(FNB(getriBatched))(void *handle, int n, READ(T) **a, int lda, READ(int) *pivots, T **c, int ldc, int *info, int count) {
    STARTS(FNB(getriBatched));
    CHECK(n >= 0 && count >= 0 && lda >= n && ldc >= n);
    for (I i = 0; i < count; i++) {
        MATRIX(FNB(getriBatched), a[i], n, n, lda, sizeof(E));
        MATRIX(FNB(getriBatched), c[i], n, n, ldc, sizeof(E));
        for (I j = 0; j < n; j++) memmove((E *)c[i] + j * ldc, (const E *)a[i] + j * lda, (size_t)n * sizeof(E));
        info[i] = JOIN(inverse_, l)(n, (E *)c[i], ldc, pivots ? pivots + i * n : NULL);
    }
    return OK;
}
DEFINE(FNB(getrsBatched))(void *handle, int trans, int n, int many, READ(T) **a, int lda, const int *pivots, T **b, int ldb, int *info, int count) {
    STARTS(FNB(getrsBatched));
    I (*solve)(int, char, I, I, const T *, I, const void *, T *, I) = openblas("LAPACKE_" TEXT(l) "getrs");
    CHECK(n >= 0 && many >= 0 && count >= 0 && lda >= n && ldb >= n);
    *info = 0;
    for (I i = 0; i < count; i++) {
        MATRIX(FNB(getrsBatched), a[i], n, n, lda, sizeof(E));
        MATRIX(FNB(getrsBatched), b[i], n, many, ldb, sizeof(E));
        void *own = JOIN(pivots_, l)(pivots ? pivots + i * n : NULL, n);
        solve(COLUMNS, "NTC"[OP(trans) - PLAIN], n, many, a[i], lda, own, b[i], ldb);
        free(own);
    }
    return OK;
}
DEFINE(FNB(gelsBatched))(void *handle, int trans, int m, int n, int many, T **a, int lda, T **b, int ldb, int *info, int *each, int count) {
    STARTS(FNB(gelsBatched));
    I (*solve)(int, char, I, I, I, T *, I, T *, I) = openblas("LAPACKE_" TEXT(l) "gels");
    I most = m > n ? m : n;
    CHECK(m >= 0 && n >= 0 && many >= 0 && count >= 0 && lda >= m && ldb >= most);
    *info = 0;
    for (I i = 0; i < count; i++) {
        MATRIX(FNB(gelsBatched), a[i], m, n, lda, sizeof(E));
        MATRIX(FNB(gelsBatched), b[i], most, many, ldb, sizeof(E));
        I status = solve(COLUMNS, "NTC"[OP(trans) - PLAIN], m, n, many, a[i], lda, b[i], ldb);
        if (each) each[i] = (int)status;
    }
    return OK;
}
#ifdef SIDE_CUDA
DEFINE(FNB(matinvBatched))(void *handle, int n, const T **a, int lda, T **c, int ldc, int *info, int count) {
    STARTS(FNB(matinvBatched));
    CHECK(n >= 0 && n <= 32 && count >= 0 && lda >= n && ldc >= n);
    for (I i = 0; i < count; i++) {
        int pivots[32];
        MATRIX(FNB(matinvBatched), a[i], n, n, lda, sizeof(E));
        MATRIX(FNB(matinvBatched), c[i], n, n, ldc, sizeof(E));
        for (I j = 0; j < n; j++) memmove((E *)c[i] + j * ldc, (const E *)a[i] + j * lda, (size_t)n * sizeof(E));
        info[i] = JOIN(lu_, l)(n, (E *)c[i], ldc, pivots);
        if (!info[i]) info[i] = JOIN(inverse_, l)(n, (E *)c[i], ldc, pivots);
    }
    return OK;
}
#endif

#undef FNB
#undef AT
#undef C_
#undef NAME
#undef CONJ
#undef VALUE
#undef VALUE_TYPE
#undef OF_REAL
#undef OF_REAL_TEXT
#undef REAL
#undef COMPLEX
#undef R
#undef E
#undef T
#undef U
#undef l
