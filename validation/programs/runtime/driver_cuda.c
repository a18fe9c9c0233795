/* CUDA's driver API (libcuda.so.1 is a name of this library): contexts are devices, functions are those of the runtime. */
#define _GNU_SOURCE
#include "api.h"

#include <dlfcn.h>
#include <string.h>

typedef unsigned long long Address;
#define CALL(name, result, arguments) EXPORT result name arguments;
#include "../names/cuda-driver.h"
#undef CALL

int cudaSetDevice(int);
int cudaGetDevice(int *);
int cudaGetDeviceCount(int *);
int cudaDeviceSynchronize(void);
int cudaDeviceReset(void);
int cudaDeviceSetLimit(int, size_t);
int cudaDeviceGetLimit(size_t *, int);
int cudaDeviceCanAccessPeer(int *, int, int);
int cudaDeviceEnablePeerAccess(int, unsigned);
int cudaDeviceDisablePeerAccess(int);
int cudaDeviceGetStreamPriorityRange(int *, int *);
int cudaMalloc(void **, size_t);
int cudaMallocAsync(void **, size_t, void *);
int cudaMallocManaged(void **, size_t, unsigned);
int cudaMallocPitch(void **, size_t *, size_t, size_t);
int cudaMallocHost(void **, size_t);
int cudaHostAlloc(void **, size_t, unsigned);
int cudaHostRegister(void *, size_t, unsigned);
int cudaHostUnregister(void *);
int cudaHostGetDevicePointer(void **, void *, unsigned);
int cudaHostGetFlags(unsigned *, void *);
int cudaFree(void *);
int cudaFreeAsync(void *, void *);
int cudaFreeHost(void *);
int cudaMemGetInfo(size_t *, size_t *);
int cudaMemcpyAsync(void *, const void *, size_t, int, void *);
int cudaMemset2D(void *, size_t, int, size_t, size_t);
int cudaMemset2DAsync(void *, size_t, int, size_t, size_t, void *);
int cudaStreamCreateWithPriority(void **, unsigned, int);
int cudaStreamDestroy(void *);
int cudaStreamSynchronize(void *);
int cudaStreamQuery(void *);
int cudaStreamWaitEvent(void *, void *, unsigned);
int cudaStreamGetFlags(void *, unsigned *);
int cudaStreamGetPriority(void *, int *);
int cudaStreamAddCallback(void *, void (*)(void *, int, void *), void *, unsigned);
int cudaLaunchHostFunc(void *, void (*)(void *), void *);
int cudaEventCreateWithFlags(void **, unsigned);
int cudaEventDestroy(void *);
int cudaEventRecord(void *, void *);
int cudaEventSynchronize(void *);
int cudaEventQuery(void *);
int cudaEventElapsedTime(float *, void *, void *);
int cudaFuncSetAttribute(const void *, int, int);
int cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *, const void *, int, size_t);

enum { NOT_FOUND_FILE = 301, TO_DEVICE = 1, TO_HOST = 2, WITHIN = 3, EITHER = 4 };
#define AT(address) ((void *)(uintptr_t)(address))

/* ---- errors and devices -------------------------------------------------------------------------------------- */

int cuGetErrorString(int status, const char **into) { return *into = status_text(status), OK; }
int cuGetErrorName(int status, const char **into) {
    static const struct {
        int status;
        const char *name;
    } names[] = {
        {OK, "CUDA_SUCCESS"}, {INVALID_VALUE, "CUDA_ERROR_INVALID_VALUE"}, {OUT_OF_MEMORY, "CUDA_ERROR_OUT_OF_MEMORY"},
        {INVALID_DEVICE, "CUDA_ERROR_INVALID_DEVICE"}, {NO_IMAGE, "CUDA_ERROR_NO_BINARY_FOR_GPU"}, {NOT_FOUND_FILE, "CUDA_ERROR_FILE_NOT_FOUND"},
        {BAD_HANDLE, "CUDA_ERROR_INVALID_HANDLE"}, {NOT_FOUND, "CUDA_ERROR_NOT_FOUND"}, {NOT_READY, "CUDA_ERROR_NOT_READY"},
        {ILLEGAL_ADDRESS, "CUDA_ERROR_ILLEGAL_ADDRESS"}, {OUT_OF_RESOURCES, "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"},
        {ASSERTED, "CUDA_ERROR_ASSERT"}, {LAUNCH_FAILED, "CUDA_ERROR_LAUNCH_FAILED"}, {NOT_SUPPORTED, "CUDA_ERROR_NOT_SUPPORTED"},
    };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].status == status) return *into = names[i].name, OK;
    return *into = "CUDA_ERROR_UNKNOWN", OK;
}

int cuInit(unsigned flags) { (void)flags; BEGIN; return OK; }
int cuDriverGetVersion(int *into) { return *into = 13000, OK; }
int cuDeviceGetCount(int *into) { return cudaGetDeviceCount(into); }
int cuDeviceGet(int *into, int ordinal) {
    BEGIN;
    if (ordinal < 0 || ordinal >= (int)settings.devices) return fail("cuDeviceGet", INVALID_DEVICE, "%d of %u", ordinal, settings.devices);
    return *into = ordinal, OK;
}
int cuDeviceGetName(char *into, int size, int device) { (void)device; return snprintf(into, (size_t)size, "porter virtual NVIDIA GPU"), OK; }
int cuDeviceTotalMem_v2(size_t *into, int device) { (void)device; BEGIN; return *into = memory_total(), OK; }
int cuDeviceGetAttribute(int *into, int which, int device) { BEGIN; return attribute("cuDeviceGetAttribute", into, which, device); }
int cuDeviceComputeCapability(int *major, int *minor, int device) {
    int status = cuDeviceGetAttribute(major, 75, device);
    return status ? status : cuDeviceGetAttribute(minor, 76, device);
}
int cuDeviceGetPCIBusId(char *into, int size, int device) { return snprintf(into, (size_t)size, "0000:%02x:00.0", device + 1), OK; }
int cuDeviceCanAccessPeer(int *into, int device, int peer) { return cudaDeviceCanAccessPeer(into, device, peer); }

/* ---- contexts: number of the device and one ------------------------------------------------------------------- */

static void *context_of(int device) { return AT(device + 1); }
static int make_current(void *context) { return context ? cudaSetDevice((int)(uintptr_t)context - 1) : OK; }
static void *current(void) {
    int device = 0;
    cudaGetDevice(&device);
    return context_of(device);
}
static int open_context(void **into, int device) { return *into = context_of(device), make_current(*into); }
EXPORT int cuCtxCreate(void **into, unsigned flags, int device) { (void)flags; return open_context(into, device); }
EXPORT int cuCtxCreate_v2(void **into, unsigned flags, int device) { (void)flags; return open_context(into, device); }
EXPORT int cuCtxCreate_v3(void **into, void *affinity, int count, unsigned flags, int device) { (void)affinity, (void)count, (void)flags; return open_context(into, device); }
int cuCtxCreate_v4(void **into, void *parameters, unsigned flags, int device) { (void)parameters, (void)flags; return open_context(into, device); }
int cuCtxDestroy_v2(void *context) { (void)context; SYNCHRONISED; return sticky(); }
int cuCtxSetCurrent(void *context) { return make_current(context); }
int cuCtxGetCurrent(void **into) { return *into = current(), OK; }
int cuCtxPushCurrent_v2(void *context) { return make_current(context); }
int cuCtxPopCurrent_v2(void **into) { return into ? (*into = current(), OK) : OK; }
int cuCtxGetDevice(int *into) { return cudaGetDevice(into); }
int cuCtxSynchronize(void) { return cudaDeviceSynchronize(); }
int cuCtxGetApiVersion(void *context, unsigned *into) { (void)context; return *into = 13000, OK; }
int cuCtxGetFlags(unsigned *into) { return *into = 0, OK; }
int cuCtxSetCacheConfig(int config) { (void)config; return OK; }
int cuCtxSetSharedMemConfig(int config) { (void)config; return OK; }
int cuCtxSetLimit(int which, size_t value) { return cudaDeviceSetLimit(which, value); }
int cuCtxGetLimit(size_t *into, int which) { return cudaDeviceGetLimit(into, which); }
int cuCtxGetStreamPriorityRange(int *least, int *greatest) { return cudaDeviceGetStreamPriorityRange(least, greatest); }
int cuCtxEnablePeerAccess(void *peer, unsigned flags) { return cudaDeviceEnablePeerAccess((int)(uintptr_t)peer - 1, flags); }
int cuCtxDisablePeerAccess(void *peer) { return cudaDeviceDisablePeerAccess((int)(uintptr_t)peer - 1); }
int cuDevicePrimaryCtxRetain(void **into, int device) { return *into = context_of(device), OK; }
int cuDevicePrimaryCtxRelease_v2(int device) { (void)device; return OK; }
int cuDevicePrimaryCtxSetFlags_v2(int device, unsigned flags) { (void)device, (void)flags; return OK; }
int cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active) { (void)device; return *flags = 0, *active = 1, OK; }
int cuDevicePrimaryCtxReset_v2(int device) { (void)device; return cudaDeviceReset(); }

/* ---- modules: fat binaries, PTX, and what our linker made of several ------------------------------------------- */

enum { FAT = 0xba55ed50u, LINKED = 0x4b4e4c50 };
typedef struct Linked { /* what cuLinkComplete gives */
    uint32_t magic, count;
    void *blobs[64];
    size_t sizes[64];
} Linked;

static size_t image_size(const void *image) { /* of PTX with its zero; 0: of another kind */
    const char *text = image;
    uint32_t magic;
    uint16_t head;
    uint64_t body;
    memcpy(&magic, image, 4);
    if (magic == FAT) {
        memcpy(&head, text + 6, 2);
        memcpy(&body, text + 8, 8);
        return head + body;
    }
    return strncmp(text, "\x7f" "ELF", 4) && strstr(text, ".version") ? strlen(text) + 1 : 0;
}
static int add_module(const char *call, void **into, const void *image) {
    const Linked *linked = image;
    size_t size;
    Module *m;
    if (linked->magic == LINKED) m = module_add((const void *const *)linked->blobs, linked->sizes, linked->count);
    else if ((size = image_size(image))) {
        void *kept = malloc(size); /* the program may free its own after the call */
        m = module_add((const void *const[]){memcpy(kept, image, size)}, &size, 1);
    } else return fail(call, NO_IMAGE, "machine code, or nothing known: only PTX and fat binaries that hold it can be loaded");
    if (module_load(m) < 0) return fail(call, NO_IMAGE, "%s", m->reason);
    return *into = m, OK;
}
int cuModuleLoadData(void **into, const void *image) { BEGIN; return add_module("cuModuleLoadData", into, image); }
int cuModuleLoadDataEx(void **into, const void *image, unsigned count, int *options, void **values) { (void)count, (void)options, (void)values; BEGIN; return add_module("cuModuleLoadDataEx", into, image); }
int cuModuleLoadFatBinary(void **into, const void *image) { BEGIN; return add_module("cuModuleLoadFatBinary", into, image); }
int cuModuleLoad(void **into, const char *path) {
    size_t size;
    BEGIN;
    void *data = read_whole(path, &size);
    return data ? add_module("cuModuleLoad", into, data) : fail("cuModuleLoad", NOT_FOUND_FILE, "%s", path);
}
int cuModuleUnload(void *module) { (void)module; SYNCHRONISED; return OK; }
int cuModuleGetLoadingMode(int *into) { return *into = 1, OK; }

/* A handle is the address of this, and the runtime finds the kernel by it as by a host function. */
typedef struct Handle {
    Module *module;
    const char *name;
    Dim block; /* of the calls of old programs */
    unsigned shared;
    uint8_t arguments[4096];
    unsigned bytes;
} Handle;

int cuModuleGetFunction(void **into, void *module, const char *name) {
    BEGIN;
    Module *m = module;
    for (uint32_t i = 0; i < m->name_count; i++) {
        if (strcmp(m->names[i], name)) continue;
        Handle *made = calloc(1, sizeof *made);
        *made = (Handle){.module = m, .name = m->names[i], .block = {1, 1, 1}};
        function_add(m, made, made->name);
        return *into = made, OK;
    }
    return fail("cuModuleGetFunction", NOT_FOUND, "%s", name);
}
int cuModuleGetGlobal_v2(Address *into, size_t *size, void *module, const char *name) {
    BEGIN;
    Variable *found = module_variable(module, name);
    if (!found) return fail("cuModuleGetGlobal", NOT_FOUND, "%s", name);
    if (into) *into = found->address;
    if (size) *size = found->size;
    return OK;
}
int cuFuncGetModule(void **into, void *function) { return *into = ((Handle *)function)->module, OK; }
int cuFuncGetName(const char **into, void *function) { return *into = ((Handle *)function)->name, OK; }
int cuFuncSetAttribute(void *function, int which, int value) { return cudaFuncSetAttribute(function, which, value); }
int cuFuncSetCacheConfig(void *function, int config) { (void)function, (void)config; return OK; }
int cuFuncSetSharedMemConfig(void *function, int config) { (void)function, (void)config; return OK; }
int cuFuncGetAttribute(int *into, int which, void *function) {
    int status;
    BEGIN;
    Function *f = function_of("cuFuncGetAttribute", function, &status);
    if (!f) return status;
    const int values[] = {(int)f->kernel->max_threads, (int)f->kernel->shared, 0, (int)f->kernel->private_bytes, 32,
                          (int)modules_capability(), (int)modules_capability(), 0, (int)(f->dynamic_limit ? f->dynamic_limit : 48 << 10)};
    if (which < 0 || which >= (int)(sizeof values / sizeof *values)) return refuse("cuFuncGetAttribute", "an attribute of clusters");
    return *into = values[which], OK;
}

typedef struct Link {
    Linked made;
} Link;
int cuLinkCreate_v2(unsigned count, int *options, void **values, void **into) {
    (void)count, (void)options, (void)values;
    Link *made = calloc(1, sizeof *made);
    made->made.magic = LINKED;
    return *into = made, OK;
}
static int add_to(const char *call, Link *link, const void *data, size_t size) {
    Linked *l = &link->made;
    void *kept = calloc(1, size + 32);
    memcpy(kept, data, size);
    size_t whole = image_size(kept);
    if (!whole || l->count == 64) return fail(call, NO_IMAGE, "machine code, an archive or nothing known: only PTX can be linked");
    l->blobs[l->count] = kept, l->sizes[l->count++] = whole;
    return OK;
}
int cuLinkAddData_v2(void *link, int kind, void *data, size_t size, const char *name, unsigned count, int *options, void **values) {
    (void)kind, (void)name, (void)count, (void)options, (void)values;
    BEGIN;
    return add_to("cuLinkAddData", link, data, size);
}
int cuLinkAddFile_v2(void *link, int kind, const char *path, unsigned count, int *options, void **values) {
    (void)kind, (void)count, (void)options, (void)values;
    size_t size;
    BEGIN;
    void *data = read_whole(path, &size);
    return data ? add_to("cuLinkAddFile", link, data, size) : fail("cuLinkAddFile", NOT_FOUND_FILE, "%s", path);
}
int cuLinkComplete(void *link, void **into, size_t *size) { return *into = &((Link *)link)->made, size ? (*size = sizeof(Linked), OK) : OK; }
int cuLinkDestroy(void *link) { (void)link; return OK; }

/* ---- launches -------------------------------------------------------------------------------------------------- */

enum { EXTRA_BUFFER = 1, EXTRA_SIZE = 2 };
static int run(const char *call, void *function, Dim grid, Dim block, unsigned shared, void *stream, void **arguments, void **extra, int cooperative) {
    int status;
    BEGIN;
    if (!extra) return launch_function(call, function, grid, block, arguments, shared, stream, cooperative);
    if (sticky()) return sticky();
    Function *f = function_of(call, function, &status);
    if (!f) return status;
    const uint8_t *packed = NULL;
    size_t bytes = 0;
    for (; *extra; extra += 2) {
        if ((uintptr_t)extra[0] == EXTRA_BUFFER) packed = extra[1];
        if ((uintptr_t)extra[0] == EXTRA_SIZE) bytes = *(size_t *)extra[1];
    }
    if (!packed) return fail(call, INVALID_VALUE, "no buffer with arguments");
    return launch_packed(call, f, grid, block, packed, bytes, shared, stream, cooperative);
}
int cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, void *s, void **arguments, void **extra) {
    return run("cuLaunchKernel", f, (Dim){gx, gy, gz}, (Dim){bx, by, bz}, shared, s, arguments, extra, 0);
}
int cuLaunchCooperativeKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, void *s, void **arguments) {
    return run("cuLaunchCooperativeKernel", f, (Dim){gx, gy, gz}, (Dim){bx, by, bz}, shared, s, arguments, NULL, 1);
}
/* As programs before CUDA 4 launch. */
int cuFuncSetBlockShape(void *f, int x, int y, int z) { return ((Handle *)f)->block = (Dim){(unsigned)x, (unsigned)y, (unsigned)z}, OK; }
int cuFuncSetSharedSize(void *f, unsigned bytes) { return ((Handle *)f)->shared = bytes, OK; }
int cuParamSetSize(void *f, unsigned bytes) { return ((Handle *)f)->bytes = bytes, OK; }
int cuParamSetv(void *f, int offset, void *from, unsigned bytes) {
    if (offset < 0 || (size_t)offset + bytes > sizeof((Handle *)f)->arguments) return INVALID_VALUE;
    return memcpy(((Handle *)f)->arguments + offset, from, bytes), OK;
}
int cuParamSeti(void *f, int offset, unsigned value) { return cuParamSetv(f, offset, &value, sizeof value); }
int cuParamSetf(void *f, int offset, float value) { return cuParamSetv(f, offset, &value, sizeof value); }
int cuLaunchGridAsync(void *function, int width, int height, void *s) {
    Handle *h = function;
    size_t bytes = h->bytes;
    void *extra[] = {AT(EXTRA_BUFFER), h->arguments, AT(EXTRA_SIZE), &bytes, NULL};
    return run("cuLaunchGrid", function, (Dim){(unsigned)width, (unsigned)height, 1}, h->block, h->shared, s, NULL, extra, 0);
}
int cuLaunchGrid(void *function, int width, int height) { return cuLaunchGridAsync(function, width, height, NULL); }
int cuLaunch(void *function) { return cuLaunchGridAsync(function, 1, 1, NULL); }
int cuLaunchHostFunc(void *s, void *call, void *data) {
    void (*function)(void *);
    memcpy(&function, &call, sizeof function);
    return cudaLaunchHostFunc(s, function, data);
}
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int *into, void *f, int threads, size_t shared) { return cudaOccupancyMaxActiveBlocksPerMultiprocessor(into, f, threads, shared); }
int cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *into, void *f, int threads, size_t shared, unsigned flags) { (void)flags; return cudaOccupancyMaxActiveBlocksPerMultiprocessor(into, f, threads, shared); }
int cuOccupancyMaxPotentialBlockSizeWithFlags(int *grid, int *block, void *function, void *shared_of, size_t shared, int limit, unsigned flags) {
    size_t (*dynamic)(int);
    (void)flags;
    BEGIN;
    memcpy(&dynamic, &shared_of, sizeof dynamic);
    return potential_block("cuOccupancyMaxPotentialBlockSize", grid, block, function, dynamic, shared, limit);
}
int cuOccupancyMaxPotentialBlockSize(int *grid, int *block, void *f, void *shared_of, size_t shared, int limit) { return cuOccupancyMaxPotentialBlockSizeWithFlags(grid, block, f, shared_of, shared, limit, 0); }

/* ---- memory ----------------------------------------------------------------------------------------------------- */

static int as_address(Address *into, void *made, int status) { return *into = (uintptr_t)made, status; }
#define ALLOCATED(call) void *made = NULL; int status = call; return as_address(into, made, status)
int cuMemAlloc_v2(Address *into, size_t bytes) {
    if (!bytes) {
        BEGIN;
        return fail("cuMemAlloc", INVALID_VALUE, "no bytes");
    }
    ALLOCATED(cudaMalloc(&made, bytes));
}
int cuMemAllocAsync(Address *into, size_t bytes, void *s) { ALLOCATED(cudaMallocAsync(&made, bytes, s)); }
int cuMemAllocManaged(Address *into, size_t bytes, unsigned flags) { ALLOCATED(cudaMallocManaged(&made, bytes, flags)); }
int cuMemAllocPitch_v2(Address *into, size_t *pitch, size_t width, size_t height, unsigned element) { (void)element; ALLOCATED(cudaMallocPitch(&made, pitch, width, height)); }
int cuMemHostGetDevicePointer_v2(Address *into, void *at, unsigned flags) { ALLOCATED(cudaHostGetDevicePointer(&made, at, flags)); }
int cuMemAllocHost_v2(void **into, size_t bytes) { return cudaMallocHost(into, bytes); }
int cuMemHostAlloc(void **into, size_t bytes, unsigned flags) { return cudaHostAlloc(into, bytes, flags); }
int cuMemHostGetFlags(unsigned *into, void *at) { return cudaHostGetFlags(into, at); }
int cuMemHostRegister_v2(void *at, size_t bytes, unsigned flags) { return cudaHostRegister(at, bytes, flags); }
int cuMemHostUnregister(void *at) { return cudaHostUnregister(at); }
int cuMemFree_v2(Address at) { return cudaFree(AT(at)); }
int cuMemFreeAsync(Address at, void *s) { return cudaFreeAsync(AT(at), s); }
int cuMemFreeHost(void *at) { return cudaFreeHost(at); }
int cuMemGetInfo_v2(size_t *left, size_t *total) { return cudaMemGetInfo(left, total); }
int cuMemGetAddressRange_v2(Address *base, size_t *size, Address at) {
    BEGIN;
    const Allocation *row = memory_find(AT(at));
    if (!row) return fail("cuMemGetAddressRange", NOT_FOUND, NULL);
    if (base) *base = row->base;
    if (size) *size = row->end - row->base;
    return OK;
}
int cuMemcpy(Address to, Address from, size_t bytes) { IN_NULL_STREAM; return copy("cuMemcpy", AT(to), AT(from), bytes, EITHER); }
int cuMemcpyHtoD_v2(Address to, const void *from, size_t bytes) { IN_NULL_STREAM; return copy("cuMemcpyHtoD", AT(to), from, bytes, TO_DEVICE); }
int cuMemcpyDtoH_v2(void *to, Address from, size_t bytes) { IN_NULL_STREAM; return copy("cuMemcpyDtoH", to, AT(from), bytes, TO_HOST); }
int cuMemcpyDtoD_v2(Address to, Address from, size_t bytes) { IN_NULL_STREAM; return copy("cuMemcpyDtoD", AT(to), AT(from), bytes, WITHIN); }
int cuMemcpyAsync(Address to, Address from, size_t bytes, void *s) { return cudaMemcpyAsync(AT(to), AT(from), bytes, EITHER, s); }
int cuMemcpyHtoDAsync_v2(Address to, const void *from, size_t bytes, void *s) { return cudaMemcpyAsync(AT(to), from, bytes, TO_DEVICE, s); }
int cuMemcpyDtoHAsync_v2(void *to, Address from, size_t bytes, void *s) { return cudaMemcpyAsync(to, AT(from), bytes, TO_HOST, s); }
int cuMemcpyDtoDAsync_v2(Address to, Address from, size_t bytes, void *s) { return cudaMemcpyAsync(AT(to), AT(from), bytes, WITHIN, s); }
int cuMemcpyPeer(Address to, void *a, Address from, void *b, size_t bytes) { (void)a, (void)b; return cuMemcpyDtoD_v2(to, from, bytes); }

static int fill(const char *call, Address to, uint32_t value, size_t size, size_t count) {
    int status = sticky() ? sticky() : reaches(call, AT(to), size * count, 1);
    for (size_t i = 0; !status && i < count; i++) memcpy((char *)AT(to) + i * size, &value, size);
    if (!status) memory_wrote(AT(to), size * count);
    return status;
}
int cuMemsetD8_v2(Address to, unsigned char value, size_t count) { IN_NULL_STREAM; return fill("cuMemsetD8", to, value, 1, count); }
int cuMemsetD16_v2(Address to, unsigned short value, size_t count) { IN_NULL_STREAM; return fill("cuMemsetD16", to, value, 2, count); }
int cuMemsetD32_v2(Address to, unsigned value, size_t count) { IN_NULL_STREAM; return fill("cuMemsetD32", to, value, 4, count); }
int cuMemsetD8Async(Address to, unsigned char value, size_t count, void *s) { (void)s; SYNCHRONISED; return fill("cuMemsetD8Async", to, value, 1, count); }
int cuMemsetD16Async(Address to, unsigned short value, size_t count, void *s) { (void)s; SYNCHRONISED; return fill("cuMemsetD16Async", to, value, 2, count); }
int cuMemsetD32Async(Address to, unsigned value, size_t count, void *s) { (void)s; SYNCHRONISED; return fill("cuMemsetD32Async", to, value, 4, count); }
int cuMemsetD2D8_v2(Address to, size_t pitch, unsigned char value, size_t width, size_t height) { return cudaMemset2D(AT(to), pitch, value, width, height); }
int cuMemsetD2D8Async(Address to, size_t pitch, unsigned char value, size_t width, size_t height, void *s) { return cudaMemset2DAsync(AT(to), pitch, value, width, height, s); }

enum { HOST = 1, DEVICE = 2, ARRAY = 3, UNIFIED = 4 };
typedef struct Copy2D {
    size_t from_x, from_y;
    int from_kind;
    const void *from_host;
    Address from_device;
    void *from_array;
    size_t from_pitch, to_x, to_y;
    int to_kind;
    void *to_host;
    Address to_device;
    void *to_array;
    size_t to_pitch, width, height;
} Copy2D;
static int copy_rectangle(const char *call, const Copy2D *c) {
    if (c->from_kind == ARRAY || c->to_kind == ARRAY) return fail(call, refuse(call, "arrays"), NULL);
    const char *from = c->from_kind == HOST ? c->from_host : AT(c->from_device);
    char *to = c->to_kind == HOST ? c->to_host : AT(c->to_device);
    size_t from_pitch = c->from_pitch ? c->from_pitch : c->width, to_pitch = c->to_pitch ? c->to_pitch : c->width;
    for (size_t row = 0; row < c->height; row++) {
        int status = copy(call, to + (c->to_y + row) * to_pitch + c->to_x, from + (c->from_y + row) * from_pitch + c->from_x, c->width, EITHER);
        if (status) return status;
    }
    return sticky();
}
int cuMemcpy2D_v2(const void *given) { IN_NULL_STREAM; return copy_rectangle("cuMemcpy2D", given); }
int cuMemcpy2DUnaligned_v2(const void *given) { IN_NULL_STREAM; return copy_rectangle("cuMemcpy2DUnaligned", given); }
int cuMemcpy2DAsync_v2(const void *given, void *s) { (void)s; SYNCHRONISED; return copy_rectangle("cuMemcpy2DAsync", given); }

/* ---- streams and events -------------------------------------------------------------------------------------------- */

int cuStreamCreate(void **into, unsigned flags) { return cudaStreamCreateWithPriority(into, flags, 0); }
int cuStreamCreateWithPriority(void **into, unsigned flags, int priority) { return cudaStreamCreateWithPriority(into, flags, priority); }
int cuStreamDestroy_v2(void *s) { return cudaStreamDestroy(s); }
int cuStreamSynchronize(void *s) { return cudaStreamSynchronize(s); }
int cuStreamQuery(void *s) { return cudaStreamQuery(s); }
int cuStreamWaitEvent(void *s, void *event, unsigned flags) { return cudaStreamWaitEvent(s, event, flags); }
int cuStreamGetFlags(void *s, unsigned *into) { return cudaStreamGetFlags(s, into); }
int cuStreamGetPriority(void *s, int *into) { return cudaStreamGetPriority(s, into); }
int cuStreamGetCtx(void *s, void **into) { (void)s; return *into = current(), OK; }
int cuStreamAddCallback(void *s, void *call, void *data, unsigned flags) {
    void (*function)(void *, int, void *);
    memcpy(&function, &call, sizeof function);
    return cudaStreamAddCallback(s, function, data, flags);
}
int cuEventCreate(void **into, unsigned flags) { return cudaEventCreateWithFlags(into, flags); }
int cuEventDestroy_v2(void *e) { return cudaEventDestroy(e); }
int cuEventRecord(void *e, void *s) { return cudaEventRecord(e, s); }
int cuEventSynchronize(void *e) { return cudaEventSynchronize(e); }
int cuEventQuery(void *e) { return cudaEventQuery(e); }
int cuEventElapsedTime_v2(float *into, void *first, void *second) { return cudaEventElapsedTime(into, first, second); }
EXPORT int cuEventElapsedTime(float *into, void *first, void *second) { return cudaEventElapsedTime(into, first, second); }

/* ---- entries by name ------------------------------------------------------------------------------------------------ */

static int entry(const char *name, int version, void **into) { /* the form that a version of the driver has */
    static void *self;
    char text[200];
    Dl_info here;
    if (!self && dladdr((void *)cuInit, &here)) self = dlopen(here.dli_fname, RTLD_NOW | RTLD_NOLOAD);
    for (int form = version < 13000 ? 2 : 4; form > 1; form--) {
        snprintf(text, sizeof text, "%s_v%d", name, form);
        if ((*into = dlsym(self, text))) return OK;
    }
    *into = dlsym(self, name);
    return *into ? OK : NOT_FOUND;
}
EXPORT int cuGetProcAddress(const char *name, void **into, int version, unsigned long flags) { (void)flags; return entry(name, version, into); }
int cuGetProcAddress_v2(const char *name, void **into, int version, unsigned long flags, int *found) {
    int status = entry(name, version, into);
    (void)flags;
    if (found) *found = status ? 1 : 0;
    return status;
}
EXPORT int cudaGetDriverEntryPoint(const char *name, void **into, unsigned long long flags, int *found) { (void)flags; return cuGetProcAddress_v2(name, into, VERSION * 1000, 0, found), OK; }
EXPORT int cudaGetDriverEntryPointByVersion(const char *name, void **into, unsigned version, unsigned long long flags, int *found) { (void)flags; return cuGetProcAddress_v2(name, into, (int)version, 0, found), OK; }
