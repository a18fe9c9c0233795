/* The calls that CUDA's runtime and HIP's share: memory, streams, events, devices, errors. See host.h. */
#define _GNU_SOURCE
#include "api.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <signal.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

/* ---- one at a time ------------------------------------------------------------------------------------------ */

pthread_mutex_t the_lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static __thread int last_error, the_device;
static int the_sticky;

/* Within a call a thread may touch device memory, and after one of a stand-in, which works on it, until the next. */
static __thread int within, lent;

int lock_(void) {
    int status = pthread_mutex_lock(&the_lock);
    if (!within++) memory_allow(1);
    return status;
}
void unlock_(int *held) {
    (void)held;
    if (!--within && !lent) memory_allow(0);
    pthread_mutex_unlock(&the_lock);
}
void lend(int given) { lent = given; }

/* The program's own code, called from within a call. */
void call_back(void (*call)(void *), void *data) {
    int before = within, given = lent;
    within = lent = 0;
    memory_allow(0);
    call(data);
    within = before, lent = given;
    memory_allow(within || lent);
}
int sticky(void) { return the_sticky; }
void set_sticky(int status) { the_sticky = status; }
void keep_error(int status) { last_error = status; }

static void crashed(int number) {
    signal(number, SIG_DFL);
    end_by_signal(number);
}

/* The program's own code is where a driver would have ended it. */
static void broke_in(int number, siginfo_t *info, void *context) {
    char near[400], text[1000], code[300] = "";
    Dl_info found;
    if (info->si_code != SEGV_PKUERR || !memory_is_closed(info->si_addr)) crashed(number);
#if defined __x86_64__
    const void *at = (const void *)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
    if (dladdr(at, &found))
        snprintf(code, sizeof code, "%s%s%s+%#lx", found.dli_sname ? found.dli_sname : "", found.dli_sname ? " in " : "", found.dli_fname,
                 (unsigned long)((const char *)at - (const char *)found.dli_fbase));
#else
    (void)context;
#endif
    memory_describe((uint64_t)info->si_addr, near, sizeof near);
    snprintf(text, sizeof text, "host code touches device memory: %s%s%p, %s", code, code[0] ? "; " : "", info->si_addr, near);
    fault_happened("host-access", "host code", text, NULL, 0, (uint32_t[3]){0}, 0);
    fprintf(stderr, "porter: %s\n", text);
    if (settings.stop_at_fault) end_process(END_FAULT, NULL);
    memory_open();
}

static void watch_for_signals(void) {
    const int signals[] = {SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTERM, SIGXCPU};
    struct sigaction now, breaking = {.sa_flags = SA_SIGINFO | SA_NODEFER};
    breaking.sa_sigaction = broke_in;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        if (!sigaction(signals[i], NULL, &now) && now.sa_handler == SIG_DFL) signal(signals[i], crashed);
    if (!sigaction(SIGSEGV, NULL, &now) && now.sa_handler == SIG_DFL) sigaction(SIGSEGV, &breaking, NULL);
}

void ready(void) {
    static int started;
    if (__atomic_load_n(&started, __ATOMIC_ACQUIRE)) return;
    pthread_mutex_lock(&the_lock);
    if (!started) {
        report_start();
        memory_start();
        watch_for_signals();
        __atomic_store_n(&started, 1, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&the_lock);
}

/* ---- errors ------------------------------------------------------------------------------------------------- */

static const struct {
    int status;
    const char *name;
} error_names[] = {
#define ERROR(number, name) {number, #name},
    ERRORS
#undef ERROR
};

const char *status_name(int status) {
    for (size_t i = 0; i < sizeof error_names / sizeof *error_names; i++)
        if (error_names[i].status == status) return error_names[i].name;
    return "unrecognized error code";
}

const char *status_text(int status) {
    switch (status) {
    case OK: return "no error";
    case INVALID_VALUE: return "invalid argument";
    case OUT_OF_MEMORY: return "out of memory";
    case INVALID_CONFIGURATION: return "invalid configuration argument";
    case INVALID_SYMBOL: return "invalid device symbol";
    case INVALID_FUNCTION: return "invalid device function";
    case INVALID_DEVICE: return "invalid device ordinal";
    case NO_IMAGE: return "no kernel image is available for execution on the device";
    case BAD_HANDLE: return "invalid resource handle";
    case NOT_FOUND: return "named symbol not found";
    case NOT_READY: return "device not ready";
    case ILLEGAL_ADDRESS: return "an illegal memory access was encountered";
    case OUT_OF_RESOURCES: return "too many resources requested for launch";
    case ASSERTED: return "device-side assert triggered";
    case LAUNCH_FAILED: return "unspecified launch failure";
    case NOT_SUPPORTED: return "operation not supported";
    case TOO_LARGE: return "too many blocks in cooperative launch";
    }
    return status_name(status);
}

int fail(const char *call, int status, const char *format, ...) {
    char text[600] = "";
    if (format) {
        va_list values;
        va_start(values, format);
        vsnprintf(text, sizeof text, format, values);
        va_end(values);
    }
    last_error = status;
    return failed_call(call, status, text);
}

EXPORT int API(GetLastError)(void) {
    int status = the_sticky ? the_sticky : last_error;
    last_error = OK;
    return status;
}
EXPORT int API(PeekAtLastError)(void) { return the_sticky ? the_sticky : last_error; }
EXPORT const char *API(GetErrorString)(int status) { return status_text(status); }
EXPORT const char *API(GetErrorName)(int status) { return status_name(status); }

/* ---- allocations -------------------------------------------------------------------------------------------- */

static int allocate(const char *call, void **into, size_t bytes, enum Sort sort) {
    if (!into) return fail(call, INVALID_VALUE, "no place for the pointer");
    if (the_sticky) return the_sticky;
    if (!bytes) return *into = NULL, OK;
    void *made = memory_allocate(bytes, sort, ALLOCATION_LIVE, NULL);
    if (!made) {
        *into = NULL;
        return fail(call, OUT_OF_MEMORY, "%zu bytes, %llu of %llu in use", bytes, (unsigned long long)memory_used(), (unsigned long long)memory_total());
    }
    Detail *detail = memory_detail(memory_find(made));
    detail->device = (uint32_t)the_device;
    memory_fresh(made, bytes, sort);
    *into = made;
    return OK;
}

static int release(const char *call, void *at, enum Sort sort) {
    if (the_sticky) return the_sticky;
    if (!at) return OK;
    int status = memory_release(at, sort);
    char near[400];
    if (!status) return OK;
    memory_describe((uint64_t)at, near, sizeof near);
    return fail(call, status, "%p is no allocation of this kind: %s", at, near);
}

EXPORT int API(Malloc)(void **into, size_t bytes) { BEGIN; return allocate(NAME(Malloc), into, bytes, SORT_DEVICE); }
EXPORT int API(MallocAsync)(void **into, size_t bytes, void *s) { (void)s; BEGIN; return allocate(NAME(MallocAsync), into, bytes, SORT_DEVICE); }
EXPORT int API(MallocFromPoolAsync)(void **into, size_t bytes, void *pool, void *s) { (void)s, (void)pool; BEGIN; return allocate(NAME(MallocFromPoolAsync), into, bytes, SORT_DEVICE); }
EXPORT int API(MallocManaged)(void **into, size_t bytes, unsigned flags) { (void)flags; BEGIN; return allocate(NAME(MallocManaged), into, bytes, SORT_MANAGED); }
EXPORT int API(MallocHost)(void **into, size_t bytes) { BEGIN; return allocate(NAME(MallocHost), into, bytes, SORT_PINNED); }
EXPORT int API(HostAlloc)(void **into, size_t bytes, unsigned flags) {
    BEGIN;
    int status = allocate(NAME(HostAlloc), into, bytes, SORT_PINNED);
    if (!status && *into) memory_detail(memory_find(*into))->flags = flags;
    return status;
}
EXPORT int API(Free)(void *at) { SYNCHRONISED; return release(NAME(Free), at, SORT_DEVICE); }
EXPORT int API(FreeAsync)(void *at, void *s) { (void)s; SYNCHRONISED; return release(NAME(FreeAsync), at, SORT_DEVICE); }
EXPORT int API(FreeHost)(void *at) { SYNCHRONISED; return release(NAME(FreeHost), at, SORT_PINNED); }

EXPORT int API(MallocPitch)(void **into, size_t *pitch, size_t width, size_t height) {
    BEGIN;
    *pitch = (width + 511) / 512 * 512;
    int status = allocate(NAME(MallocPitch), into, *pitch * height, SORT_DEVICE);
    if (!status && *into) memory_detail(memory_find(*into))->pitch = *pitch;
    return status;
}
EXPORT int API(Malloc3D)(Pitched *into, Extent extent) {
    BEGIN;
    into->pitch = (extent.width + 511) / 512 * 512;
    into->width = extent.width;
    into->height = extent.height;
    return allocate(NAME(Malloc3D), &into->at, into->pitch * extent.height * extent.depth, SORT_DEVICE);
}

EXPORT int API(HostRegister)(void *at, size_t bytes, unsigned flags) {
    (void)flags;
    BEGIN;
    int status = memory_register(at, bytes);
    return status ? fail(NAME(HostRegister), status, NULL) : OK;
}
EXPORT int API(HostUnregister)(void *at) {
    SYNCHRONISED;
    int status = memory_unregister(at);
    return status ? fail(NAME(HostUnregister), status, NULL) : OK;
}
EXPORT int API(HostGetDevicePointer)(void **into, void *at, unsigned flags) {
    (void)flags;
    BEGIN;
    const Allocation *row = memory_find(at);
    enum Sort sort = row ? memory_detail(row)->sort : SORT_DEVICE;
    if (sort != SORT_PINNED && sort != SORT_REGISTERED && sort != SORT_MANAGED) return fail(NAME(HostGetDevicePointer), INVALID_VALUE, "%p is no pinned memory", at);
    *into = at;
    return OK;
}
EXPORT int API(HostGetFlags)(unsigned *into, void *at) {
    BEGIN;
    const Allocation *row = memory_find(at);
    if (!row) return fail(NAME(HostGetFlags), INVALID_VALUE, NULL);
    *into = memory_detail(row)->flags;
    return OK;
}
EXPORT int API(MemGetInfo)(size_t *left, size_t *total) {
    BEGIN;
    if (left) *left = memory_total() - memory_used();
    if (total) *total = memory_total();
    return OK;
}

/* ---- copies ------------------------------------------------------------------------------------------------- */

enum Way { HOST_TO_HOST, HOST_TO_DEVICE, DEVICE_TO_HOST, DEVICE_TO_DEVICE, ANY_WAY };

/* Whether `bytes` at an address lie inside one allocation, if it is the device's; `device`: it has to be. */
int reaches(const char *call, const void *at, size_t bytes, int device) {
    const Allocation *row = memory_find(at);
    char near[400];
    if (!bytes) return OK;
    if (!row && !memory_is_ours(at) && !device) return OK;
    if (row && row->state != ALLOCATION_FREED && (uint64_t)at + bytes <= row->end) return OK;
    if (row && memory_detail(row)->sort == SORT_REGISTERED && !device) return OK;
    memory_describe((uint64_t)at, near, sizeof near);
    return fail(call, INVALID_VALUE, "%zu bytes at %p: %s", bytes, at, memory_is_ours(at) ? near : "no device memory");
}

int copy(const char *call, void *to, const void *from, size_t bytes, int way) {
    if (the_sticky) return the_sticky;
    if (way < HOST_TO_HOST || way > ANY_WAY) return fail(call, INVALID_DIRECTION, NULL);
    if (!bytes) return OK;
    if (!to || !from) return fail(call, INVALID_VALUE, "a null pointer");
    int status = reaches(call, to, bytes, way == HOST_TO_DEVICE || way == DEVICE_TO_DEVICE);
    if (!status) status = reaches(call, from, bytes, way == DEVICE_TO_HOST || way == DEVICE_TO_DEVICE);
    if (status) return status;
    memory_moved(to, from, bytes); /* before the copy touches pages */
    if (!memory_is_ours(to)) memory_shown(call, from, bytes);
    memmove(to, from, bytes);
    return OK;
}

EXPORT int API(Memcpy)(void *to, const void *from, size_t bytes, int way) { IN_NULL_STREAM; return copy(NAME(Memcpy), to, from, bytes, way); }
EXPORT int API(MemcpyAsync)(void *to, const void *from, size_t bytes, int way, void *s) { BEGIN; return queue_keeps(s) ? queue_copy(s, to, from, bytes, way) : copy(NAME(MemcpyAsync), to, from, bytes, way); }
EXPORT int API(MemcpyPeer)(void *to, int d, const void *from, int e, size_t bytes) { (void)d, (void)e; SYNCHRONISED; return copy(NAME(MemcpyPeer), to, from, bytes, DEVICE_TO_DEVICE); }
EXPORT int API(MemcpyPeerAsync)(void *to, int d, const void *from, int e, size_t bytes, void *s) { (void)d, (void)e, (void)s; SYNCHRONISED; return copy(NAME(MemcpyPeerAsync), to, from, bytes, DEVICE_TO_DEVICE); }

static int copy_2d(const char *call, void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height, int way) {
    if (width > to_pitch || width > from_pitch) return fail(call, 12, "a row of %zu bytes, pitches %zu and %zu", width, to_pitch, from_pitch);
    for (size_t row = 0; row < height; row++) {
        int status = copy(call, (char *)to + row * to_pitch, (const char *)from + row * from_pitch, width, way);
        if (status) return status;
    }
    return OK;
}
EXPORT int API(Memcpy2D)(void *to, size_t tp, const void *from, size_t fp, size_t width, size_t height, int way) { IN_NULL_STREAM; return copy_2d(NAME(Memcpy2D), to, tp, from, fp, width, height, way); }
EXPORT int API(Memcpy2DAsync)(void *to, size_t tp, const void *from, size_t fp, size_t width, size_t height, int way, void *s) { (void)s; SYNCHRONISED; return copy_2d(NAME(Memcpy2DAsync), to, tp, from, fp, width, height, way); }

int set_memory(const char *call, void *to, int value, size_t bytes) {
    if (the_sticky) return the_sticky;
    int status = reaches(call, to, bytes, 1);
    if (status) return status;
    memset(to, value, bytes);
    memory_wrote(to, bytes);
    return OK;
}
EXPORT int API(Memset)(void *to, int value, size_t bytes) { IN_NULL_STREAM; return set_memory(NAME(Memset), to, value, bytes); }
EXPORT int API(MemsetAsync)(void *to, int value, size_t bytes, void *s) { BEGIN; return queue_keeps(s) ? queue_set(s, to, value, bytes) : set_memory(NAME(MemsetAsync), to, value, bytes); }

static int set_2d(const char *call, void *to, size_t pitch, int value, size_t width, size_t height) {
    for (size_t row = 0; row < height; row++) {
        int status = set_memory(call, (char *)to + row * pitch, value, width);
        if (status) return status;
    }
    return OK;
}
EXPORT int API(Memset2D)(void *to, size_t pitch, int value, size_t width, size_t height) { IN_NULL_STREAM; return set_2d(NAME(Memset2D), to, pitch, value, width, height); }
EXPORT int API(Memset2DAsync)(void *to, size_t pitch, int value, size_t width, size_t height, void *s) { (void)s; SYNCHRONISED; return set_2d(NAME(Memset2DAsync), to, pitch, value, width, height); }

int copy_3d(const char *call, const Copy3D *c) {
#ifdef SIDE_CUDA
    if (c->to_array || c->from_array) return copy_3d_arrays(call, c);
#else
    if (c->to_array || c->from_array) return refuse(call, "copies of arrays in three dimensions");
#endif
    for (size_t z = 0; z < c->extent.depth; z++) {
        const char *from = (const char *)c->from.at + ((z + c->from_at.z) * c->from.height + c->from_at.y) * c->from.pitch + c->from_at.x;
        char *to = (char *)c->to.at + ((z + c->to_at.z) * c->to.height + c->to_at.y) * c->to.pitch + c->to_at.x;
        int status = copy_2d(call, to, c->to.pitch, from, c->from.pitch, c->extent.width, c->extent.height, c->way);
        if (status) return status;
    }
    return OK;
}
EXPORT int API(Memcpy3D)(const Copy3D *c) { IN_NULL_STREAM; return copy_3d(NAME(Memcpy3D), c); }
EXPORT int API(Memcpy3DAsync)(const Copy3D *c, void *s) { (void)s; SYNCHRONISED; return copy_3d(NAME(Memcpy3DAsync), c); }

/* ---- symbols ------------------------------------------------------------------------------------------------ */

static int symbol(const char *call, const void *host, size_t bytes, size_t offset, void **at) {
    uint64_t address;
    size_t size;
    int status = symbol_find(host, &address, &size);
    if (status) return fail(call, status, NULL);
    if (offset + bytes > size) return fail(call, INVALID_VALUE, "%zu bytes at %zu of a symbol of %zu", bytes, offset, size);
    *at = (void *)(address + offset);
    return OK;
}
static int to_symbol(const char *call, const void *host, const void *from, size_t bytes, size_t offset, int way) {
    void *at;
    int status = symbol(call, host, bytes, offset, &at);
    return status ? status : copy(call, at, from, bytes, way);
}
static int from_symbol(const char *call, void *to, const void *host, size_t bytes, size_t offset, int way) {
    void *at;
    int status = symbol(call, host, bytes, offset, &at);
    return status ? status : copy(call, to, at, bytes, way);
}
EXPORT int API(MemcpyToSymbol)(const void *host, const void *from, size_t bytes, size_t offset, int way) { IN_NULL_STREAM; return to_symbol(NAME(MemcpyToSymbol), host, from, bytes, offset, way); }
EXPORT int API(MemcpyToSymbolAsync)(const void *host, const void *from, size_t bytes, size_t offset, int way, void *s) { (void)s; SYNCHRONISED; return to_symbol(NAME(MemcpyToSymbolAsync), host, from, bytes, offset, way); }
EXPORT int API(MemcpyFromSymbol)(void *to, const void *host, size_t bytes, size_t offset, int way) { IN_NULL_STREAM; return from_symbol(NAME(MemcpyFromSymbol), to, host, bytes, offset, way); }
EXPORT int API(MemcpyFromSymbolAsync)(void *to, const void *host, size_t bytes, size_t offset, int way, void *s) { (void)s; SYNCHRONISED; return from_symbol(NAME(MemcpyFromSymbolAsync), to, host, bytes, offset, way); }
EXPORT int API(GetSymbolAddress)(void **into, const void *host) { BEGIN; return symbol(NAME(GetSymbolAddress), host, 0, 0, into); }
EXPORT int API(GetSymbolSize)(size_t *into, const void *host) {
    uint64_t address;
    BEGIN;
    int status = symbol_find(host, &address, into);
    return status ? fail(NAME(GetSymbolSize), status, NULL) : OK;
}

/* ---- streams and events: everything has happened when a call returns ------------------------------------------- */

typedef struct Stream {
    uint32_t magic, flags;
    int priority;
} Stream;
typedef struct Event {
    uint32_t magic, flags, recorded;
    double at;
} Event;
enum { STREAM = 0x53545245, EVENT = 0x45564e54, DEAD = 0xdead };

double seconds_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int is_stream(const void *s) { return (uint64_t)s < 16 || ((const Stream *)s)->magic == STREAM; }

static int make_stream(void **into, unsigned flags, int priority) {
    Stream *made = calloc(1, sizeof *made);
    *made = (Stream){STREAM, flags, priority};
    *into = made;
    return the_sticky;
}
EXPORT int API(StreamCreate)(void **into) { BEGIN; return make_stream(into, 0, 0); }
EXPORT int API(StreamCreateWithFlags)(void **into, unsigned flags) { BEGIN; return make_stream(into, flags, 0); }
EXPORT int API(StreamCreateWithPriority)(void **into, unsigned flags, int priority) { BEGIN; return make_stream(into, flags, priority); }
EXPORT int API(StreamDestroy)(void *s) {
    SYNCHRONISED;
    if ((uint64_t)s < 16 || !is_stream(s)) return fail(NAME(StreamDestroy), BAD_HANDLE, NULL);
    ((Stream *)s)->magic = DEAD;
    return the_sticky;
}
static int waits(const char *call, void *s) { return is_stream(s) ? the_sticky : fail(call, BAD_HANDLE, NULL); }
int stream_blocks(const void *s) { return (uint64_t)s < 16 || !(((const Stream *)s)->flags & 1); }
EXPORT int API(StreamSynchronize)(void *s) { BEGIN; queue_drain_of(s); return waits(NAME(StreamSynchronize), s); }
EXPORT int API(StreamQuery)(void *s) { SYNCHRONISED; return waits(NAME(StreamQuery), s); }
EXPORT int API(StreamWaitEvent)(void *s, void *event, unsigned flags) { (void)event, (void)flags; SYNCHRONISED; return waits(NAME(StreamWaitEvent), s); }
EXPORT int API(StreamGetFlags)(void *s, unsigned *into) { BEGIN; *into = (uint64_t)s < 16 ? 0 : ((Stream *)s)->flags; return waits(NAME(StreamGetFlags), s); }
EXPORT int API(StreamGetPriority)(void *s, int *into) { BEGIN; *into = (uint64_t)s < 16 ? 0 : ((Stream *)s)->priority; return waits(NAME(StreamGetPriority), s); }
EXPORT int API(StreamGetDevice)(void *s, int *into) { BEGIN; *into = the_device; return waits(NAME(StreamGetDevice), s); }
EXPORT int API(StreamAttachMemAsync)(void *s, void *at, size_t bytes, unsigned flags) { (void)at, (void)bytes, (void)flags; BEGIN; return waits(NAME(StreamAttachMemAsync), s); }
EXPORT int API(StreamAddCallback)(void *s, void (*call)(void *, int, void *), void *data, unsigned flags) {
    (void)flags;
    {
        SYNCHRONISED;
    }
    call(s, the_sticky, data);
    return the_sticky;
}
EXPORT int API(LaunchHostFunc)(void *s, void (*call)(void *), void *data) {
    {
        BEGIN;
        if (queue_keeps(s)) return queue_call_back(s, call, data);
    }
    call(data);
    return the_sticky;
}
EXPORT int API(DeviceGetStreamPriorityRange)(int *least, int *greatest) {
    if (least) *least = 0;
    if (greatest) *greatest = -1;
    return OK;
}

static int make_event(void **into, unsigned flags) {
    Event *made = calloc(1, sizeof *made);
    *made = (Event){EVENT, flags, 0, 0};
    *into = made;
    return the_sticky;
}
static int is_event(const void *e) { return (uint64_t)e > 4096 && ((const Event *)e)->magic == EVENT; }
EXPORT int API(EventCreate)(void **into) { BEGIN; return make_event(into, 0); }
EXPORT int API(EventCreateWithFlags)(void **into, unsigned flags) { BEGIN; return make_event(into, flags); }
EXPORT int API(EventDestroy)(void *e) {
    BEGIN;
    if (!is_event(e)) return fail(NAME(EventDestroy), BAD_HANDLE, NULL);
    ((Event *)e)->magic = DEAD;
    return the_sticky;
}
EXPORT int API(EventRecord)(void *e, void *s) {
    BEGIN;
    if (!is_event(e)) return fail(NAME(EventRecord), BAD_HANDLE, NULL);
    if (!queue_captures(s)) queue_drain(); /* a time is wanted */
    ((Event *)e)->recorded = 1;
    ((Event *)e)->at = seconds_now();
    return the_sticky;
}
EXPORT int API(EventRecordWithFlags)(void *e, void *s, unsigned flags) { (void)flags; return API(EventRecord)(e, s); }
EXPORT int API(EventSynchronize)(void *e) { SYNCHRONISED; return is_event(e) ? the_sticky : fail(NAME(EventSynchronize), BAD_HANDLE, NULL); }
EXPORT int API(EventQuery)(void *e) { SYNCHRONISED; return is_event(e) ? the_sticky : fail(NAME(EventQuery), BAD_HANDLE, NULL); }
EXPORT int API(EventElapsedTime)(float *into, void *first, void *second) {
    BEGIN;
    if (!is_event(first) || !is_event(second)) return fail(NAME(EventElapsedTime), BAD_HANDLE, NULL);
    if (!((Event *)first)->recorded || !((Event *)second)->recorded) return fail(NAME(EventElapsedTime), BAD_HANDLE, "an event that was not recorded");
    *into = (float)(1e3 * (((Event *)second)->at - ((Event *)first)->at));
    return the_sticky;
}

/* ---- devices ------------------------------------------------------------------------------------------------ */

EXPORT int API(DeviceSynchronize)(void) { SYNCHRONISED; return the_sticky; }
EXPORT int API(GetDeviceCount)(int *into) { BEGIN; *into = (int)settings.devices; return OK; }
EXPORT int API(GetDevice)(int *into) { BEGIN; *into = the_device; return OK; }
EXPORT int API(SetDevice)(int device) {
    BEGIN;
    if (device < 0 || device >= (int)settings.devices) return fail(NAME(SetDevice), INVALID_DEVICE, "%d of %u", device, settings.devices);
    the_device = device;
    return OK;
}
EXPORT int API(DeviceReset)(void) { SYNCHRONISED; the_sticky = last_error = OK; return OK; }
EXPORT int API(SetDeviceFlags)(unsigned flags) { (void)flags; return OK; }
EXPORT int API(GetDeviceFlags)(unsigned *into) { *into = 0; return OK; }
EXPORT int API(DeviceSetCacheConfig)(int config) { (void)config; return OK; }
EXPORT int API(DeviceGetCacheConfig)(int *into) { *into = 0; return OK; }
EXPORT int API(DeviceSetSharedMemConfig)(int config) { (void)config; return OK; }
EXPORT int API(DeviceGetSharedMemConfig)(int *into) { *into = 1; return OK; }
EXPORT int API(FuncSetCacheConfig)(const void *function, int config) { (void)function, (void)config; return OK; }
EXPORT int API(FuncSetSharedMemConfig)(const void *function, int config) { (void)function, (void)config; return OK; }

static size_t limits[8] = {1024, 1 << 20, 8 << 20, 2, 2048, 128, 0, 0};
EXPORT int API(DeviceSetLimit)(int which, size_t value) {
    BEGIN;
    if (which < 0 || which > 7) return fail(NAME(DeviceSetLimit), INVALID_VALUE, NULL);
    limits[which] = value;
    if (which == 2) memory_heap()->limit = value < 1 << 30 ? value : 1 << 30;
    return OK;
}
EXPORT int API(DeviceGetLimit)(size_t *into, int which) {
    BEGIN;
    if (which < 0 || which > 7) return fail(NAME(DeviceGetLimit), INVALID_VALUE, NULL);
    *into = limits[which];
    return OK;
}
EXPORT int API(DeviceCanAccessPeer)(int *into, int device, int peer) { *into = device != peer; return OK; }
static int peers[64][64];
EXPORT int API(DeviceEnablePeerAccess)(int peer, unsigned flags) {
    (void)flags;
    BEGIN;
    if (peer < 0 || peer >= (int)settings.devices || peer == the_device) return fail(NAME(DeviceEnablePeerAccess), INVALID_DEVICE, NULL);
    if (peers[the_device & 63][peer & 63]) return PEER_ENABLED;
    peers[the_device & 63][peer & 63] = 1;
    return OK;
}
EXPORT int API(DeviceDisablePeerAccess)(int peer) {
    BEGIN;
    if (peer < 0 || peer >= (int)settings.devices || !peers[the_device & 63][peer & 63]) return PEER_NOT_ENABLED;
    peers[the_device & 63][peer & 63] = 0;
    return OK;
}
EXPORT int API(MemPrefetchAsync)(const void *at, size_t bytes) { (void)at, (void)bytes; BEGIN; return the_sticky; }
EXPORT int API(MemAdvise)(const void *at, size_t bytes) { (void)at, (void)bytes; BEGIN; return the_sticky; }
EXPORT int API(DeviceGetDefaultMemPool)(void **into, int device) { (void)device; *into = (void *)1; return OK; }
EXPORT int API(DeviceGetMemPool)(void **into, int device) { (void)device; *into = (void *)1; return OK; }
EXPORT int API(MemPoolSetAttribute)(void *pool, int which, void *value) { (void)pool, (void)which, (void)value; return OK; }
EXPORT int API(MemPoolTrimTo)(void *pool, size_t bytes) { (void)pool, (void)bytes; return OK; }
#ifdef SIDE_CUDA
EXPORT int cudaProfilerStart(void) { return OK; }
EXPORT int cudaProfilerStop(void) { return OK; }
#else
EXPORT int hipProfilerStart(void) { BEGIN; return fail("hipProfilerStart", NOT_SUPPORTED, "ROCm does not implement it"); }
EXPORT int hipProfilerStop(void) { BEGIN; return fail("hipProfilerStop", NOT_SUPPORTED, "ROCm does not implement it"); }
#endif
EXPORT int API(IpcGetMemHandle)(void *into, void *at) { (void)into, (void)at; BEGIN; return refuse(NAME(IpcGetMemHandle), "memory of another process"); }

typedef struct Pointed {
    int sort, device;
    void *device_pointer, *host_pointer;
} Pointed;
#if defined SIDE_CUDA
#define DEVICE_SORT 2
#define HOST_SORT 1
#define MANAGED_SORT 3
#else
#define DEVICE_SORT pointer_device
#define HOST_SORT pointer_host
#define MANAGED_SORT 3
#endif
EXPORT int API(PointerGetAttributes)(Pointed *into, const void *at) {
    BEGIN;
    const Allocation *row = memory_find(at);
    memset(into, 0, sizeof *into);
    if (!row || row->state == ALLOCATION_FREED) {
        into->sort = 0, into->device = -2, into->host_pointer = (void *)at;
        return LANES == 64 ? fail(NAME(PointerGetAttributes), INVALID_VALUE, "%p is no pointer of the device", at) : OK;
    }
    const Detail *detail = memory_detail(row);
    *into = (Pointed){detail->sort == SORT_DEVICE || detail->sort == SORT_SYMBOL ? DEVICE_SORT : detail->sort == SORT_MANAGED ? MANAGED_SORT : HOST_SORT,
                      (int)detail->device, (void *)at, detail->sort == SORT_DEVICE || detail->sort == SORT_SYMBOL ? NULL : (void *)at};
    return OK;
}

/* ---- properties --------------------------------------------------------------------------------------------- */

typedef struct Value {
    const char *name;
    long long number;
} Value;

/* An A100 and an MI300X as far as programs ask; what depends on the machine is asked for below. */
static const Value values[] = {
    {"warpSize", LANES}, {"maxThreadsPerBlock", 1024}, {"memPitch", INT32_MAX}, {"maxPitch", INT32_MAX}, {"totalConstMem", 65536},
    {"totalConstantMemory", 65536}, {"textureAlignment", 512}, {"texturePitchAlignment", 32}, {"surfaceAlignment", 512},
    {"deviceOverlap", 1}, {"gpuOverlap", 1}, {"canMapHostMemory", 1}, {"concurrentKernels", 1}, {"ECCEnabled", 1}, {"eccEnabled", 1},
    {"unifiedAddressing", 1}, {"managedMemory", 1}, {"concurrentManagedAccess", 1}, {"cooperativeLaunch", 1},
    {"streamPrioritiesSupported", 1}, {"globalL1CacheSupported", 1}, {"localL1CacheSupported", 1}, {"hostRegisterSupported", 1},
    {"pageableMemoryAccess", 0}, {"directManagedMemAccessFromHost", 0}, {"memoryPoolsSupported", 1}, {"computePreemptionSupported", 1},
    {"hostNativeAtomicSupported", 0}, {"isMultiGpuBoard", 0}, {"singleToDoublePrecisionPerfRatio", 2}, {"reservedSharedMemPerBlock", 1024},
    {"asyncEngineCount", 2}, {"canUseHostPointerForRegisteredMem", 1}, {"virtualMemoryManagementSupported", 0},
    {"maxTexture1D", 131072}, {"maxTexture1DLinear", 1 << 28}, {"maxBlockDimX", 1024}, {"maxBlockDimY", 1024}, {"maxTexture1DWidth", 131072},
    {"pciBusID", 1}, {"pciBusId", 1}, {"pciDeviceID", 0}, {"pciDeviceId", 0}, {"tccDriver", 1}, {"maxGridDimX", INT32_MAX},
    {"maxThreadsPerMultiProcessor", 2048}, {"maxThreadsPerMultiprocessor", 2048}, {"maxBlocksPerMultiProcessor", 32},
    {"maxBlocksPerMultiprocessor", 32}, {"regsPerBlock", 65536}, {"maxRegistersPerBlock", 65536}, {"regsPerMultiprocessor", 65536},
    {"maxRegistersPerMultiprocessor", 65536}, {"maxSharedMemPerBlock", 64 << 10},
#if LANES == 64
    {"clockInstructionRate", 100000}, {"wallClockRate", 100000}, {"isLargeBar", 0}, {"cooperativeMultiDeviceLaunch", 0},
    {"arch", 0x7ffff}, {"imageSupport", 0},
#endif
}, of_nvidia[] = {
    {"sharedMemPerBlock", 48 << 10}, {"maxSharedMemoryPerBlock", 48 << 10},
    {"sharedMemPerMultiprocessor", 164 << 10}, {"maxSharedMemoryPerMultiprocessor", 164 << 10}, {"sharedMemPerBlockOptin", 163 << 10},
    {"maxSharedMemoryPerBlockOptin", 163 << 10}, {"clockRate", 1410000}, {"memoryClockRate", 1215000}, {"memoryBusWidth", 5120},
    {"globalMemoryBusWidth", 5120}, {"l2CacheSize", 40 << 20}, {"maxBlockDimZ", 64}, {"maxGridDimY", 65535}, {"maxGridDimZ", 65535},
    {"persistingL2CacheMaxSize", 30 << 20}, {NULL, 0},
}, of_amd[] = {
    {"sharedMemPerBlock", 64 << 10}, {"maxSharedMemoryPerBlock", 64 << 10}, {"maxSharedMemoryPerMultiProcessor", 64 << 10},
    {"sharedMemPerMultiprocessor", 64 << 10}, {"maxSharedMemoryPerMultiprocessor", 64 << 10}, {"sharedMemPerBlockOptin", 64 << 10},
    {"maxSharedMemoryPerBlockOptin", 64 << 10}, {"clockRate", 2100000}, {"memoryClockRate", 1300000}, {"memoryBusWidth", 8192},
    {"globalMemoryBusWidth", 8192}, {"l2CacheSize", 4 << 20}, {"maxBlockDimZ", 1024}, {"maxGridDimY", 65536}, {"maxGridDimZ", 65536}, {"major", 9}, {"computeCapabilityMajor", 9}, {"minor", 4},
    {"computeCapabilityMinor", 4}, {NULL, 0},
};

/* What the program is told of its GPU: in a comparison the original is told once what the port is. */
static int is_told_of_amd(void) {
    return LANES == 64 || settings.as_the_port;
}

long long property(const char *name) {
    for (const Value *value = is_told_of_amd() ? of_amd : of_nvidia; value->name; value++)
        if (!strcasecmp(value->name, name)) return value->number;
    uint32_t capability = modules_capability();
    if (!strcasecmp(name, "major") || !strcasecmp(name, "computeCapabilityMajor")) return capability / 10;
    if (!strcasecmp(name, "minor") || !strcasecmp(name, "computeCapabilityMinor")) return capability % 10;
    if (!strcasecmp(name, "multiProcessorCount")) return settings.multiprocessors;
    if (!strcasecmp(name, "totalGlobalMem")) return (long long)memory_total();
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        if (!strcasecmp(values[i].name, name)) return values[i].number;
    return 0;
}

#if LANES == 32
/* What CUDA 13 has no members for: programs that are older find them where it has reserved room (wrapper_removed.py). */
static const char *const removed[] = {
    "clockRate", "deviceOverlap", "kernelExecTimeoutEnabled", "computeMode", "maxTexture1DLinear", "memoryClockRate",
    "singleToDoublePrecisionPerfRatio", "cooperativeMultiDeviceLaunch",
};

static void write_removed(uint8_t *into, const Field *fields, size_t count) {
    const Field *room = NULL;
    for (size_t i = 0; i < count; i++) {
        if (!strcmp(fields[i].name, "clockRate")) return;
        if (!strcmp(fields[i].name, "reserved") && fields[i].size >= 4 * sizeof removed / sizeof *removed) room = &fields[i];
    }
    for (size_t i = 0; room && i < sizeof removed / sizeof *removed; i++)
        memcpy(into + room->offset + 4 * i, &(int){(int)property(removed[i])}, 4);
}
#endif

static void write_field(uint8_t *at, const char *name, size_t size, size_t one) {
    const int threads[] = {1024, 1024, (int)property("maxBlockDimZ")};
    const int grid[] = {INT32_MAX, (int)property("maxGridDimY"), (int)property("maxGridDimZ")};
    if (!strcmp(name, "name")) snprintf((char *)at, size, "porter virtual %s", LANES == 32 ? "NVIDIA GPU" : "MI300X");
    else if (!strcmp(name, "gcnArchName")) snprintf((char *)at, size, "gfx942:sramecc+:xnack-");
    else if (!strcmp(name, "maxThreadsDim")) memcpy(at, threads, sizeof threads);
    else if (!strcmp(name, "maxGridSize")) memcpy(at, grid, sizeof grid);
    else if (!strcmp(name, "gcnArch")) memcpy(at, &(int){942}, 4);
    else {
        long long number = property(name);
        memcpy(at, &number, size == one && size <= 8 ? size : 0);
    }
}

int write_properties(uint8_t *into, const Field *fields, size_t count, size_t size) {
    memset(into, 0, size);
    for (size_t i = 0; i < count; i++) write_field(into + fields[i].offset, fields[i].name, fields[i].size, fields[i].one);
#if LANES == 32
    write_removed(into, fields, count);
#endif
    return OK;
}

static const Value attributes[] = {
#define ATTRIBUTE(number, name) {#name, number},
    ATTRIBUTES
#undef ATTRIBUTE
};

int attribute(const char *call, int *into, int which, int device) {
    if (device < 0 || device >= (int)settings.devices) return fail(call, INVALID_DEVICE, "%d", device);
    for (size_t i = 0; i < sizeof attributes / sizeof *attributes; i++) {
        if (attributes[i].number != which) continue;
        *into = (int)property(attributes[i].name);
        return OK;
    }
    return fail(call, INVALID_VALUE, "attribute %d", which);
}

/* ---- launches ----------------------------------------------------------------------------------------------- */

typedef struct Configuration {
    Dim grid, block;
    size_t shared;
    void *stream;
} Configuration;
static __thread Configuration pushed[16];
static __thread uint32_t depth;

unsigned push_configuration(Dim grid, Dim block, size_t shared, void *stream) {
    if (depth < 16) pushed[depth++] = (Configuration){grid, block, shared, stream};
    return 0;
}
int pop_configuration(Dim *grid, Dim *block, size_t *shared, void **stream) {
    if (!depth) return INVALID_CONFIGURATION;
    Configuration *c = &pushed[--depth];
    *grid = c->grid, *block = c->block, *shared = c->shared, *stream = c->stream;
    return OK;
}

/* The kernel behind a host function; a kernel that cannot be translated ends the process. */
Function *function_of(const char *call, const void *host, int *status) {
    Function *f = function_find(host);
    *status = OK;
    if (!f) return *status = fail(call, INVALID_FUNCTION, "%p is no kernel of this program", host), NULL;
    if (!f->kernel) f->kernel = module_kernel(f->module, f->name);
    if (!f->kernel) unsupported_kernel(f->name, f->module->reason);
    return f;
}

int launch_function(const char *call, const void *host, Dim grid, Dim block, void **arguments, size_t shared, void *stream, int cooperative) {
    int status;
    if (the_sticky) return the_sticky;
    Function *f = function_of(call, host, &status);
    if (!f) return status;
    if (cooperative && (uint64_t)grid.x * grid.y * grid.z > resident_blocks(f, block, shared)) return fail(call, TOO_LARGE, "%s: %u x %u x %u blocks", f->kernel->shown, grid.x, grid.y, grid.z);
    Request r = {f->kernel, grid, block, arguments, NULL, 0, shared, cooperative, f->dynamic_limit};
    if (queue_keeps(stream)) return queue_launch(stream, &r);
    status = launch(&r);
    if (status) return fail(call, status, "%s, grid (%u, %u, %u), block (%u, %u, %u), %zu bytes of dynamic shared memory", f->kernel->shown, grid.x, grid.y, grid.z, block.x, block.y, block.z, shared);
    return OK;
}

/* Arguments in a row, as they lie in the kernel's own; what is missing at the end is zero. */
int launch_packed(const char *call, Function *f, Dim grid, Dim block, const void *packed, size_t bytes, size_t shared, void *stream, int cooperative) {
    uint8_t *room = calloc(1, f->kernel->argument_bytes + 8);
    void **each = calloc(f->kernel->parameter_count + 1, sizeof *each);
    uint32_t count = 0;
    memcpy(room, packed, bytes < f->kernel->argument_bytes ? bytes : f->kernel->argument_bytes);
    for (uint32_t i = 0; i < f->kernel->parameter_count; i++)
        if (!f->kernel->parameters[i].hidden[0]) each[count++] = room + f->kernel->parameters[i].offset;
    int status = launch_function(call, f->host, grid, block, each, shared, stream, cooperative);
    free(each);
    free(room);
    return status;
}

static uint64_t per_unit(const Function *f, uint64_t threads, size_t shared) {
    if (!threads || threads > f->kernel->max_threads) return 0;
    uint64_t waves = (threads + LANES - 1) / LANES * LANES, most = 2048 / waves, used_shared = f->kernel->shared + shared;
    if (most > 32) most = 32;
    if (used_shared && (LANES == 32 ? 164u << 10 : 64u << 10) / used_shared < most) most = (LANES == 32 ? 164u << 10 : 64u << 10) / used_shared;
    return most;
}
uint64_t resident_blocks(const Function *f, Dim block, size_t shared) {
    return per_unit(f, (uint64_t)block.x * block.y * block.z, shared) * settings.multiprocessors;
}

int potential_block(const char *call, int *grid, int *block, const void *host, size_t (*dynamic)(int), size_t shared, int limit) {
    int status, best = 0;
    Function *f = function_of(call, host, &status);
    if (!f) return status;
    int most = (int)f->kernel->max_threads;
    if (limit > 0 && limit < most) most = limit;
    for (int threads = most > LANES ? most / LANES * LANES : most; threads > 0; threads -= LANES) {
        int blocks = (int)resident_blocks(f, (Dim){(unsigned)threads, 1, 1}, dynamic ? dynamic(threads) : shared);
        if (blocks * threads > best) best = blocks * threads, *grid = blocks, *block = threads;
    }
    return best ? OK : fail(call, INVALID_VALUE, "no block fits");
}

static int occupancy(const char *call, int *into, const void *host, int threads, size_t shared) {
    int status;
    Function *f = function_of(call, host, &status);
    if (!f) return status;
    *into = (int)per_unit(f, (uint64_t)threads, shared);
    return OK;
}
EXPORT int API(OccupancyMaxActiveBlocksPerMultiprocessor)(int *into, const void *host, int threads, size_t shared) { BEGIN; return occupancy(NAME(OccupancyMaxActiveBlocksPerMultiprocessor), into, host, threads, shared); }
EXPORT int API(OccupancyMaxActiveBlocksPerMultiprocessorWithFlags)(int *into, const void *host, int threads, size_t shared, unsigned flags) { (void)flags; BEGIN; return occupancy(NAME(OccupancyMaxActiveBlocksPerMultiprocessorWithFlags), into, host, threads, shared); }
EXPORT int API(FuncSetAttribute)(const void *host, int which, int value) {
    int status;
    BEGIN;
    Function *f = function_of(NAME(FuncSetAttribute), host, &status);
    if (!f) return status;
    if (which == 8) {
        if (value < 0 || f->kernel->shared + (uint32_t)value > (LANES == 32 ? 163u << 10 : 64u << 10)) return fail(NAME(FuncSetAttribute), INVALID_VALUE, "%d bytes of dynamic shared memory", value);
        f->dynamic_limit = (uint32_t)value;
    }
    return OK;
}
EXPORT int API(LaunchKernel)(const void *host, Dim grid, Dim block, void **arguments, size_t shared, void *s) { BEGIN; return launch_function(NAME(LaunchKernel), host, grid, block, arguments, shared, s, 0); }
EXPORT int API(LaunchCooperativeKernel)(const void *host, Dim grid, Dim block, void **arguments, size_t shared, void *s) { BEGIN; return launch_function(NAME(LaunchCooperativeKernel), host, grid, block, arguments, shared, s, 1); }
