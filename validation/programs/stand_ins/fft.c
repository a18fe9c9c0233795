/* cuFFT and hipFFT over FFTW. */
#include "library.h"

#ifdef SIDE_CUDA
#define FFT(name) JOIN(cufft, name)
typedef int Handle;
#else
#define FFT(name) JOIN(hipfft, name)
typedef void *Handle;
#endif
#define DEFINE(name) EXPORT int FFT(name)
enum { OK = 0, INVALID_PLAN = 1, ALLOC_FAILED = 2, INVALID_TYPE = 3, INVALID_VALUE = 4, EXEC_FAILED = 6, NOT_SUPPORTED = 16 };
enum { R2C = 0x2a, C2R = 0x2c, C2C = 0x29, D2Z = 0x6a, Z2D = 0x6c, Z2Z = 0x69 };
enum { MOST_DIMENSIONS = 3, MOST_PLANS = 1 << 16, ESTIMATE = 1 << 6 };
typedef long long Size;

typedef struct Layout { /* of one side: steps of the dimensions and of the batch, in elements */
    Size embed[MOST_DIMENSIONS], step, distance;
} Layout;
typedef struct Plan {
    int rank, type, is_basic, is_made;
    Size n[MOST_DIMENSIONS], batch;
    Layout in, out;
    void *stream;
} Plan;
typedef struct Dimension { /* fftw_iodim64 */
    ptrdiff_t n, in, out;
} Dimension;

static Plan *plans[MOST_PLANS];
static int plan_count;
static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER; /* FFTW's planner wants it */

static Plan *plan_of(Handle handle) {
    intptr_t number = (intptr_t)handle;
    return number > 0 && number <= plan_count ? plans[number - 1] : NULL;
}

/* ---- plans ------------------------------------------------------------------------------------------------------ */

DEFINE(Create)(Handle *into) {
    pthread_mutex_lock(&one_at_a_time);
    int fits = plan_count < MOST_PLANS;
    if (fits) plans[plan_count++] = calloc(1, sizeof(Plan));
    *into = (Handle)(intptr_t)plan_count;
    pthread_mutex_unlock(&one_at_a_time);
    return fits ? OK : ALLOC_FAILED;
}
DEFINE(Destroy)(Handle handle) {
    Plan *plan = plan_of(handle);
    if (!plan) return INVALID_PLAN;
    plans[(intptr_t)handle - 1] = NULL;
    free(plan);
    return OK;
}
DEFINE(SetStream)(Handle handle, void *stream) {
    Plan *plan = plan_of(handle);
    return plan ? plan->stream = stream, OK : INVALID_PLAN;
}
DEFINE(SetAutoAllocation)(Handle handle, int on) { return (void)on, plan_of(handle) ? OK : INVALID_PLAN; }
DEFINE(SetWorkArea)(Handle handle, void *at) { return (void)at, plan_of(handle) ? OK : INVALID_PLAN; }
DEFINE(GetSize)(Handle handle, size_t *size) { return plan_of(handle) ? *size = 0, OK : INVALID_PLAN; }
DEFINE(GetVersion)(int *into) { return *into = 12000, OK; }

static int is_real(int type) { return type != C2C && type != Z2Z; }
static int is_double(int type) { return type == D2Z || type == Z2D || type == Z2Z; }
static int reads_reals(int type) { return type == R2C || type == D2Z; }
static Size halved(Size n) { return n / 2 + 1; }

/* One transform after the other; a real side that is transformed in place has rows as long as the complex ones. */
static Layout plain(const Plan *p, int reals, int padded) {
    Layout made = {.step = 1, .distance = 1};
    for (int i = 0; i < p->rank; i++) made.embed[i] = p->n[i];
    Size *last = &made.embed[p->rank - 1];
    if (is_real(p->type)) *last = !reals ? halved(*last) : padded ? 2 * halved(*last) : *last;
    for (int i = 0; i < p->rank; i++) made.distance *= made.embed[i];
    return made;
}

static int make(Handle handle, int rank, const Size *n, const Size *in, Size in_step, Size in_distance, const Size *out, Size out_step, Size out_distance, int type, Size batch) {
    Plan *p = plan_of(handle);
    if (!p) return INVALID_PLAN;
    if (rank < 1 || rank > MOST_DIMENSIONS || batch < 1) return INVALID_VALUE;
    if (type != C2C && type != R2C && type != C2R && type != Z2Z && type != D2Z && type != Z2D) return INVALID_TYPE;
    *p = (Plan){.rank = rank, .type = type, .batch = batch, .is_basic = !in || !out, .is_made = 1, .stream = p->stream};
    for (int i = 0; i < rank; i++)
        if ((p->n[i] = n[i]) < 1) return INVALID_VALUE;
    if (p->is_basic) return OK;
    p->in = (Layout){.step = in_step, .distance = in_distance};
    p->out = (Layout){.step = out_step, .distance = out_distance};
    for (int i = 0; i < rank; i++) p->in.embed[i] = in[i], p->out.embed[i] = out[i];
    return OK;
}
static const Size *widened(const int *n, int rank, Size *room) {
    for (int i = 0; n && i < rank && i < MOST_DIMENSIONS; i++) room[i] = n[i];
    return n ? room : NULL;
}
DEFINE(MakePlan1d)(Handle handle, int nx, int type, int batch, size_t *size) {
    if (size) *size = 0;
    return make(handle, 1, (Size[]){nx}, NULL, 1, 0, NULL, 1, 0, type, batch);
}
DEFINE(MakePlan2d)(Handle handle, int nx, int ny, int type, size_t *size) {
    if (size) *size = 0;
    return make(handle, 2, (Size[]){nx, ny}, NULL, 1, 0, NULL, 1, 0, type, 1);
}
DEFINE(MakePlan3d)(Handle handle, int nx, int ny, int nz, int type, size_t *size) {
    if (size) *size = 0;
    return make(handle, 3, (Size[]){nx, ny, nz}, NULL, 1, 0, NULL, 1, 0, type, 1);
}
DEFINE(MakePlanMany)(Handle handle, int rank, int *n, int *in, int in_step, int in_distance, int *out, int out_step, int out_distance, int type, int batch, size_t *size) {
    Size a[MOST_DIMENSIONS], b[MOST_DIMENSIONS], c[MOST_DIMENSIONS];
    if (size) *size = 0;
    return make(handle, rank, widened(n, rank, a), widened(in, rank, b), in_step, in_distance, widened(out, rank, c), out_step, out_distance, type, batch);
}
DEFINE(MakePlanMany64)(Handle handle, int rank, Size *n, Size *in, Size in_step, Size in_distance, Size *out, Size out_step, Size out_distance, int type, Size batch, size_t *size) {
    if (size) *size = 0;
    return make(handle, rank, n, in, in_step, in_distance, out, out_step, out_distance, type, batch);
}
DEFINE(Plan1d)(Handle *into, int nx, int type, int batch) { return FFT(Create)(into) ? ALLOC_FAILED : FFT(MakePlan1d)(*into, nx, type, batch, NULL); }
DEFINE(Plan2d)(Handle *into, int nx, int ny, int type) { return FFT(Create)(into) ? ALLOC_FAILED : FFT(MakePlan2d)(*into, nx, ny, type, NULL); }
DEFINE(Plan3d)(Handle *into, int nx, int ny, int nz, int type) { return FFT(Create)(into) ? ALLOC_FAILED : FFT(MakePlan3d)(*into, nx, ny, nz, type, NULL); }
DEFINE(PlanMany)(Handle *into, int rank, int *n, int *in, int in_step, int in_distance, int *out, int out_step, int out_distance, int type, int batch) {
    return FFT(Create)(into) ? ALLOC_FAILED : FFT(MakePlanMany)(*into, rank, n, in, in_step, in_distance, out, out_step, out_distance, type, batch, NULL);
}

/* ---- transforms ------------------------------------------------------------------------------------------------- */

static void *fftw(int doubles, const char *name) {
    static void *libraries[2];
    char text[80];
    if (!libraries[doubles]) libraries[doubles] = kept_library(doubles ? "PORTER_RUN_FFTW" : "PORTER_RUN_FFTWF");
    snprintf(text, sizeof text, "fftw%s_%s", doubles ? "" : "f", name);
    void *found = dlsym(libraries[doubles], text);
    if (!found) fprintf(stderr, "porter: " LIBRARY ": FFTW has no %s\n", text), _exit(125);
    return found;
}

static Size reach(const Plan *p, const Layout *l, int reals) { /* elements from the first to the last */
    Size last = 0, step = l->step;
    for (int i = p->rank - 1; i >= 0; i--) {
        Size n = i == p->rank - 1 && is_real(p->type) && !reals ? halved(p->n[i]) : p->n[i];
        last += (n - 1) * step;
        step *= l->embed[i];
    }
    return last + (p->batch - 1) * l->distance + 1;
}

static int execute(const char *call, Handle handle, int type, void *in, void *out, int sign) {
    const Plan *p = plan_of(handle);
    if (!p || !p->is_made) return INVALID_PLAN;
    if (p->type != type) return INVALID_TYPE;
    if (porter_answers(LIBRARY, call, p->stream)) return NOT_SUPPORTED;
    int reals_in = reads_reals(type), reals_out = is_real(type) && !reals_in, in_place = in == out;
    Layout from = p->is_basic ? plain(p, reals_in, in_place) : p->in, to = p->is_basic ? plain(p, reals_out, in_place) : p->out;
    Size one = is_double(type) ? 8 : 4, in_bytes = reach(p, &from, reals_in) * one * (reals_in ? 1 : 2), out_bytes = reach(p, &to, reals_out) * one * (reals_out ? 1 : 2);
    if (porter_reaches(call, in, (uint64_t)in_bytes) || porter_reaches(call, out, (uint64_t)out_bytes)) return EXEC_FAILED;
    void *kept = NULL; /* FFTW writes over what it makes reals of, cuFFT does not say so of every case */
    if (reals_out && !in_place) {
        if (!(kept = malloc((size_t)in_bytes))) return ALLOC_FAILED;
        in = memcpy(kept, in, (size_t)in_bytes);
    }
    Dimension dimensions[MOST_DIMENSIONS], batch = {p->batch, from.distance, to.distance};
    ptrdiff_t in_step = from.step, out_step = to.step;
    for (int i = p->rank - 1; i >= 0; i--) {
        dimensions[i] = (Dimension){p->n[i], in_step, out_step};
        in_step *= from.embed[i], out_step *= to.embed[i];
    }
    typedef void *Made;
    int d = is_double(type);
    pthread_mutex_lock(&one_at_a_time);
    Made made;
    if (!is_real(type)) made = ((Made(*)(int, const Dimension *, int, const Dimension *, void *, void *, int, unsigned))fftw(d, "plan_guru64_dft"))(p->rank, dimensions, 1, &batch, in, out, sign, ESTIMATE);
    else made = ((Made(*)(int, const Dimension *, int, const Dimension *, void *, void *, unsigned))fftw(d, reals_in ? "plan_guru64_dft_r2c" : "plan_guru64_dft_c2r"))(p->rank, dimensions, 1, &batch, in, out, ESTIMATE);
    if (made) ((void (*)(Made))fftw(d, "execute"))(made), ((void (*)(Made))fftw(d, "destroy_plan"))(made);
    pthread_mutex_unlock(&one_at_a_time);
    free(kept);
    return made ? OK : EXEC_FAILED;
}
#define EXECUTES(name, A, B) \
    DEFINE(Exec##name)(Handle handle, A *in, B *out) { return execute(TEXT(FFT(Exec##name)), handle, name, in, out, 0); }
EXECUTES(R2C, float, void)
EXECUTES(C2R, void, float)
EXECUTES(D2Z, double, void)
EXECUTES(Z2D, void, double)
DEFINE(ExecC2C)(Handle handle, void *in, void *out, int way) { return execute(TEXT(FFT(ExecC2C)), handle, C2C, in, out, way); }
DEFINE(ExecZ2Z)(Handle handle, void *in, void *out, int way) { return execute(TEXT(FFT(ExecZ2Z)), handle, Z2Z, in, out, way); }
