/* cuSPARSE and hipSPARSE, whose declarations and numbers are the same: matrices and vectors as descriptors, products and
 * triangular solves of them, in double (complex) whatever the types, rounded once. */
#include "kinds.h"

#ifdef SIDE_CUDA
#define SPARSE(name) JOIN(cusparse, name)
#define ATTRIBUTE void
#else
#define SPARSE(name) JOIN(hipsparse, name)
#define ATTRIBUTE const void
#endif
#define DEFINE(name) EXPORT int SPARSE(name)
enum { OK = 0, NOT_INITIALIZED = 1, ALLOC_FAILED = 2, INVALID_VALUE = 3, EXECUTION_FAILED = 6, NOT_SUPPORTED = 10 };
enum { INDEX_32 = 2, INDEX_64 = 3, BY_COLUMNS = 1, BY_ROWS = 2, UPPER = 1, UNIT = 1, CONJUGATED = 2 };
enum Format { CSR, CSC, COO };
typedef int64_t I;
typedef double complex Value;

typedef struct Handle {
    void *stream;
    int pointer_mode;
} Handle;
typedef struct Sparse {
    enum Format format;
    I rows, columns, count;
    void *starts, *indices, *values; /* COO: rows and columns */
    int start_type, index_type, base, fill, diagonal;
    enum Kind kind;
} Sparse;
typedef struct Dense { /* a vector is a matrix of one column */
    I rows, columns, leading;
    void *values;
    enum Kind kind;
    int order, type;
} Dense;
typedef struct Described { /* of the calls before descriptors */
    int type, fill, diagonal, base;
} Described;

/* ---- handles and descriptors ------------------------------------------------------------------------------------ */

static int create(void **into, const void *from, size_t size) {
    if (!into || !(*into = malloc(size))) return ALLOC_FAILED;
    memcpy(*into, from, size);
    return OK;
}
static int destroy(const void *what) { return free((void *)what), OK; }
DEFINE(Create)(void **into) { return create(into, &(Handle){0}, sizeof(Handle)); }
DEFINE(Destroy)(void *handle) { return destroy(handle); }
DEFINE(SetStream)(void *h, void *stream) { return h ? ((Handle *)h)->stream = stream, OK : NOT_INITIALIZED; }
DEFINE(GetStream)(void *h, void **into) { return h ? *into = ((Handle *)h)->stream, OK : NOT_INITIALIZED; }
DEFINE(SetPointerMode)(void *h, int mode) { return h ? ((Handle *)h)->pointer_mode = mode, OK : NOT_INITIALIZED; }
DEFINE(GetPointerMode)(void *h, int *into) { return h ? *into = ((Handle *)h)->pointer_mode, OK : NOT_INITIALIZED; }
DEFINE(GetVersion)(void *h, int *into) { return (void)h, *into = 12600, OK; }
EXPORT const char *SPARSE(GetErrorName)(int status) { return status ? "SPARSE_STATUS_ERROR" : "SPARSE_STATUS_SUCCESS"; }
EXPORT const char *SPARSE(GetErrorString)(int status) { return status == NOT_SUPPORTED ? "not supported" : status ? "failed" : "success"; }

DEFINE(CreateMatDescr)(void **into) { return create(into, &(Described){0}, sizeof(Described)); }
DEFINE(DestroyMatDescr)(void *d) { return destroy(d); }
DEFINE(SetMatType)(void *d, int type) { return ((Described *)d)->type = type, OK; }
DEFINE(SetMatFillMode)(void *d, int fill) { return ((Described *)d)->fill = fill, OK; }
DEFINE(SetMatDiagType)(void *d, int diagonal) { return ((Described *)d)->diagonal = diagonal, OK; }
DEFINE(SetMatIndexBase)(void *d, int base) { return ((Described *)d)->base = base, OK; }

static int sparse(void **into, Sparse made, int type) {
    made.kind = kind_of(type);
    return made.kind ? create(into, &made, sizeof made) : NOT_SUPPORTED;
}
DEFINE(CreateCsr)(void **into, I rows, I columns, I count, void *starts, void *indices, void *values, int start_type, int index_type, int base, int type) {
    return sparse(into, (Sparse){CSR, rows, columns, count, starts, indices, values, start_type, index_type, base}, type);
}
DEFINE(CreateConstCsr)(const void **into, I rows, I columns, I count, const void *starts, const void *indices, const void *values, int start_type, int index_type, int base, int type) {
    return SPARSE(CreateCsr)((void **)into, rows, columns, count, (void *)starts, (void *)indices, (void *)values, start_type, index_type, base, type);
}
DEFINE(CreateCsc)(void **into, I rows, I columns, I count, void *starts, void *indices, void *values, int start_type, int index_type, int base, int type) {
    return sparse(into, (Sparse){CSC, rows, columns, count, starts, indices, values, start_type, index_type, base}, type);
}
DEFINE(CreateCoo)(void **into, I rows, I columns, I count, void *row_of, void *column_of, void *values, int index_type, int base, int type) {
    return sparse(into, (Sparse){COO, rows, columns, count, row_of, column_of, values, index_type, index_type, base}, type);
}
DEFINE(DestroySpMat)(const void *a) { return destroy(a); }
DEFINE(CsrSetPointers)(void *a, void *starts, void *indices, void *values) {
    Sparse *m = a;
    return m->starts = starts, m->indices = indices, m->values = values, OK;
}
DEFINE(SpMatGetSize)(const void *a, I *rows, I *columns, I *count) {
    const Sparse *m = a;
    return *rows = m->rows, *columns = m->columns, *count = m->count, OK;
}
DEFINE(SpMatSetAttribute)(void *a, int which, ATTRIBUTE *value, size_t size) {
    if (size != sizeof(int) || which < 0 || which > 1) return INVALID_VALUE;
    *(which ? &((Sparse *)a)->diagonal : &((Sparse *)a)->fill) = *(const int *)value;
    return OK;
}
DEFINE(CreateDnVec)(void **into, I size, void *values, int type) {
    Dense made = {size, 1, size, values, kind_of(type), BY_COLUMNS, type};
    return made.kind ? create(into, &made, sizeof made) : NOT_SUPPORTED;
}
DEFINE(CreateDnMat)(void **into, I rows, I columns, I leading, void *values, int type, int order) {
    Dense made = {rows, columns, leading, values, kind_of(type), order, type};
    return made.kind ? create(into, &made, sizeof made) : NOT_SUPPORTED;
}
DEFINE(DestroyDnVec)(const void *x) { return destroy(x); }
DEFINE(DestroyDnMat)(const void *x) { return destroy(x); }
DEFINE(DnVecSetValues)(void *x, void *values) { return ((Dense *)x)->values = values, OK; }
DEFINE(DnVecGet)(void *x, I *size, void **values, int *type) {
    const Dense *v = x;
    return *size = v->rows, *values = v->values, *type = v->type, OK;
}

/* ---- elements --------------------------------------------------------------------------------------------------- */

static Value get(const void *values, enum Kind kind, I at) {
    if (kind == C32) return ((const float complex *)values)[at];
    return kind == C64 ? ((const Value *)values)[at] : loaded(values, kind, at);
}
static void set(void *values, enum Kind kind, I at, Value value) {
    if (kind == C32) ((float complex *)values)[at] = (float complex)value;
    else if (kind == C64) ((Value *)values)[at] = value;
    else stored(values, kind, at, creal(value));
}
static I place(const Dense *d, I row, I column) { return d->order == BY_ROWS ? row * d->leading + column : row + column * d->leading; }
static I number(const void *at, int type, I i) { return type == INDEX_64 ? ((const int64_t *)at)[i] : ((const int32_t *)at)[i]; }

static int lacks(const char *call, const void *at, I count, size_t one) { return count > 0 && porter_reaches(call, at, (uint64_t)count * one); }
static int lacks_dense(const char *call, const Dense *d) {
    I lines = d->order == BY_ROWS ? d->rows : d->columns, in_line = d->order == BY_ROWS ? d->columns : d->rows;
    return lines > 0 && in_line > 0 && lacks(call, d->values, (lines - 1) * d->leading + in_line, kind_bytes[d->kind]);
}

typedef struct Entry {
    I row, column, at;
} Entry;
/* All entries of op(a), by rows of what is stored; null with a status where memory or an index is wrong. */
static Entry *entries(const char *call, const Sparse *a, int op, int *status) {
    I major = a->format == CSC ? a->columns : a->rows, minor = a->format == CSC ? a->rows : a->columns;
    size_t of_start = a->start_type == INDEX_64 ? 8 : 4, of_index = a->index_type == INDEX_64 ? 8 : 4;
    *status = EXECUTION_FAILED;
    if (lacks(call, a->starts, a->format == COO ? a->count : major + 1, of_start) || lacks(call, a->indices, a->count, of_index) || lacks(call, a->values, a->count, kind_bytes[a->kind])) return NULL;
    Entry *made = malloc((size_t)(a->count + 1) * sizeof *made);
    if (!made) return *status = ALLOC_FAILED, NULL;
    I line = 0, limit = a->format == COO ? 0 : number(a->starts, a->start_type, 1) - a->base;
    for (I k = 0; k < a->count; k++) {
        if (a->format == COO) line = number(a->starts, a->start_type, k) - a->base;
        else
            while (k >= limit && line + 1 < major) line++, limit = number(a->starts, a->start_type, line + 1) - a->base;
        I other = number(a->indices, a->index_type, k) - a->base;
        if (line < 0 || line >= major || other < 0 || other >= minor) {
            porter_refuses(call, "an index outside the matrix");
            return free(made), NULL;
        }
        int swapped = (a->format == CSC) != (op != 0);
        made[k] = (Entry){swapped ? other : line, swapped ? line : other, k};
    }
    *status = OK;
    return made;
}
static Value entry_value(const Sparse *a, int op, I at) {
    Value value = get(a->values, a->kind, at);
    return op == CONJUGATED ? conj(value) : value;
}

static int starts(void *handle, const char *call) {
    Handle *h = handle;
    if (!h) return NOT_INITIALIZED;
    return porter_answers(LIBRARY, call, h->stream) ? NOT_SUPPORTED : OK;
}
static Value scalar(const void *at, int type) { return get(at, kind_of(type), 0); }

/* ---- products --------------------------------------------------------------------------------------------------- */

typedef struct Product { /* what a call asks for, apart from objects that may be gone when a graph plays it */
    const char *call;
    int op, op_b, type;
    const void *alpha, *beta;
    Sparse a;
    Dense b, c;
    Value scalars[2]; /* the host's, of a call that is kept */
} Product;

static int multiplied(const Product *p) {
    const char *call = p->call;
    const Sparse *a = &p->a;
    const Dense *b = &p->b, *c = &p->c;
    const void *alpha = p->alpha, *beta = p->beta;
    int op = p->op, op_b = p->op_b, type = p->type, status;
    I inner = op ? a->rows : a->columns, outer = op ? a->columns : a->rows;
    if (outer != c->rows || inner != (op_b ? b->columns : b->rows) || c->columns != (op_b ? b->rows : b->columns)) return INVALID_VALUE;
    if (lacks_dense(call, b) || lacks_dense(call, c)) return EXECUTION_FAILED;
    Entry *list = entries(call, a, op, &status);
    if (!list) return status;
    Value *sum = calloc((size_t)(outer * c->columns + 1), sizeof *sum), f = scalar(alpha, type), g = scalar(beta, type);
    for (I k = 0; sum && k < a->count; k++) {
        Value value = entry_value(a, op, list[k].at);
        for (I j = 0; j < c->columns; j++) {
            Value right = get(b->values, b->kind, op_b ? place(b, j, list[k].column) : place(b, list[k].column, j));
            sum[list[k].row * c->columns + j] += value * (op_b == CONJUGATED ? conj(right) : right);
        }
    }
    for (I i = 0; sum && i < outer; i++)
        for (I j = 0; j < c->columns; j++) {
            I at = place(c, i, j);
            set(c->values, c->kind, at, f * sum[i * c->columns + j] + (g == 0 ? 0 : g * get(c->values, c->kind, at)));
        }
    status = sum ? OK : ALLOC_FAILED;
    return free(list), free(sum), status;
}
static void play(void *kept) {
    const Product *p = kept;
    if (multiplied(p)) porter_refuses(p->call, "it failed when its graph was played");
}
static int multiply(const char *call, void *handle, int op, int op_b, const void *alpha, const Sparse *a, const Dense *b, const void *beta, const Dense *c, int type) {
    const Handle *h = handle;
    Product now = {call, op, op_b, type, alpha, beta, *a, *b, *c, {0, 0}}, *kept = NULL;
    if (h && porter_captures(h->stream)) {
        if (create((void **)&kept, &now, sizeof now)) return ALLOC_FAILED;
        if (!h->pointer_mode) {
            memcpy(&kept->scalars[0], alpha, kind_bytes[kind_of(type)]), memcpy(&kept->scalars[1], beta, kind_bytes[kind_of(type)]);
            kept->alpha = &kept->scalars[0], kept->beta = &kept->scalars[1];
        }
        return porter_plays(LIBRARY, call, h->stream, play, kept) ? NOT_SUPPORTED : OK;
    }
    int status = starts(handle, call);
    return status ? status : multiplied(&now);
}
#define VECTOR_ARGUMENTS void *handle, int op, const void *alpha, const void *a, const void *x, const void *beta, void *y, int type, int algorithm
DEFINE(SpMV_bufferSize)(VECTOR_ARGUMENTS, size_t *size) { return *size = 16, OK; }
DEFINE(SpMV_preprocess)(VECTOR_ARGUMENTS, void *buffer) { return OK; }
DEFINE(SpMV)(VECTOR_ARGUMENTS, void *buffer) { return multiply(TEXT(SPARSE(SpMV)), handle, op, 0, alpha, a, x, beta, y, type); }
#define MATRIX_ARGUMENTS void *handle, int op, int op_b, const void *alpha, const void *a, const void *b, const void *beta, void *c, int type, int algorithm
DEFINE(SpMM_bufferSize)(MATRIX_ARGUMENTS, size_t *size) { return *size = 16, OK; }
DEFINE(SpMM_preprocess)(MATRIX_ARGUMENTS, void *buffer) { return OK; }
DEFINE(SpMM)(MATRIX_ARGUMENTS, void *buffer) { return multiply(TEXT(SPARSE(SpMM)), handle, op, op_b, alpha, a, b, beta, c, type); }

DEFINE(SDDMM_bufferSize)(MATRIX_ARGUMENTS, size_t *size) { return *size = 16, OK; }
DEFINE(SDDMM_preprocess)(MATRIX_ARGUMENTS, void *buffer) { return OK; }
DEFINE(SDDMM)(MATRIX_ARGUMENTS, void *buffer) {
    static const char call[] = TEXT(SPARSE(SDDMM));
    const Dense *left = a, *right = b;
    const Sparse *into = c;
    int status = starts(handle, call);
    if (status) return status;
    if (op == CONJUGATED || op_b == CONJUGATED) return porter_refuses(call, "conjugated"), NOT_SUPPORTED;
    if (lacks_dense(call, left) || lacks_dense(call, right)) return EXECUTION_FAILED;
    I inner = op ? left->rows : left->columns;
    if (inner != (op_b ? right->columns : right->rows)) return INVALID_VALUE;
    Entry *list = entries(call, into, 0, &status);
    Value f = scalar(alpha, type), g = scalar(beta, type);
    for (I k = 0; list && k < into->count; k++) {
        Value sum = 0;
        for (I i = 0; i < inner; i++)
            sum += get(left->values, left->kind, op ? place(left, i, list[k].row) : place(left, list[k].row, i)) *
                   get(right->values, right->kind, op_b ? place(right, list[k].column, i) : place(right, i, list[k].column));
        set(into->values, into->kind, k, f * sum + (g == 0 ? 0 : g * get(into->values, into->kind, k)));
    }
    return free(list), status;
}
DEFINE(SparseToDense_bufferSize)(void *handle, const void *a, void *b, int algorithm, size_t *size) { return *size = 16, OK; }
DEFINE(SparseToDense)(void *handle, const void *a, void *b, int algorithm, void *buffer) {
    const Sparse *from = a;
    const Dense *to = b;
    int status = starts(handle, TEXT(SPARSE(SparseToDense)));
    if (status) return status;
    if (lacks_dense(TEXT(SPARSE(SparseToDense)), to)) return EXECUTION_FAILED;
    Entry *list = entries(TEXT(SPARSE(SparseToDense)), from, 0, &status);
    if (!list) return status;
    for (I i = 0; i < to->rows; i++)
        for (I j = 0; j < to->columns; j++) set(to->values, to->kind, place(to, i, j), 0);
    for (I k = 0; k < from->count; k++) set(to->values, to->kind, place(to, list[k].row, list[k].column), get(from->values, from->kind, k));
    return free(list), OK;
}

/* ---- triangular solves ------------------------------------------------------------------------------------------ */

DEFINE(SpSV_createDescr)(void **into) { return create(into, &(int){0}, sizeof(int)); }
DEFINE(SpSV_destroyDescr)(void *d) { return destroy(d); }
#define SOLVE_ARGUMENTS void *handle, int op, const void *alpha, const void *a, const void *x, void *y, int type, int algorithm, void *descriptor
DEFINE(SpSV_bufferSize)(SOLVE_ARGUMENTS, size_t *size) { return *size = 16, OK; }
DEFINE(SpSV_analysis)(SOLVE_ARGUMENTS, void *buffer) { return OK; }
DEFINE(SpSV_solve)(SOLVE_ARGUMENTS) {
    static const char call[] = TEXT(SPARSE(SpSV_solve));
    const Sparse *m = a;
    const Dense *from = x, *to = y;
    int status = starts(handle, call);
    if (status) return status;
    I n = m->rows;
    if (n != m->columns || from->rows != n || to->rows != n) return INVALID_VALUE;
    if (lacks_dense(call, from) || lacks_dense(call, to)) return EXECUTION_FAILED;
    Entry *list = entries(call, m, op, &status);
    if (!list) return status;
    /* entries by rows: where each row's begin, then the entries behind one another */
    I *begin = calloc((size_t)(n + 2), sizeof *begin), *order = malloc((size_t)(m->count + 1) * sizeof *order);
    Value *solved = calloc((size_t)(n + 1), sizeof *solved), f = scalar(alpha, type);
    if (!begin || !order || !solved) return free(list), free(begin), free(order), free(solved), ALLOC_FAILED;
    for (I k = 0; k < m->count; k++) begin[list[k].row + 2]++;
    for (I i = 0; i <= n; i++) begin[i + 1] += begin[i];
    for (I k = 0; k < m->count; k++) order[begin[list[k].row + 1]++] = k;
    int upper = (m->fill == UPPER) != (op != 0);
    for (I step = 0; step < n; step++) {
        I row = upper ? n - 1 - step : step;
        Value rest = f * get(from->values, from->kind, row), diagonal = m->diagonal == UNIT;
        for (I k = begin[row]; k < begin[row + 1]; k++) {
            const Entry *e = &list[order[k]];
            Value value = entry_value(m, op, e->at);
            if (e->column == row && m->diagonal != UNIT) diagonal += value;
            else if (upper ? e->column > row : e->column < row) rest -= value * solved[e->column];
        }
        solved[row] = rest / diagonal;
    }
    for (I i = 0; i < n; i++) set(to->values, to->kind, i, solved[i]);
    return free(list), free(begin), free(order), free(solved), OK;
}
