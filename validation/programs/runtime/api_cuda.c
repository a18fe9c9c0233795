/* What only CUDA's runtime has: registration of nvcc's fat binaries, its launches, its names. */
#define _GNU_SOURCE
#include "api.h"

#include <string.h>

int pointer_device = 2, pointer_host = 1;

/* ---- registration -------------------------------------------------------------------------------------------- */

enum { WRAPPER = 0x466243b1, FAT = 0xba55ed50u };
typedef struct Wrapper {
    uint32_t magic, version;
    const uint8_t *data;
    const void *const *before_link; /* with version 2: what was linked, each with its PTX; null at the end */
} Wrapper;

static size_t fat_size(const uint8_t *data) {
    uint32_t magic;
    uint16_t head;
    uint64_t body;
    memcpy(&magic, data, 4);
    memcpy(&head, data + 6, 2);
    memcpy(&body, data + 8, 8);
    return magic == FAT ? head + body : 0;
}

EXPORT void **__cudaRegisterFatBinary(void *given) {
    BEGIN;
    const Wrapper *w = given;
    const void *blobs[1024];
    size_t sizes[1024];
    uint32_t count = 0;
    if (w->magic != WRAPPER) end_process(END_UNSUPPORTED, "a fat binary of another kind (%#x)", w->magic);
    if (w->version == 2 && w->before_link)
        for (const void *const *p = w->before_link; *p && count < 1023; p++) blobs[count] = *p, sizes[count] = fat_size(*p), count++;
    if (!count) blobs[0] = w->data, sizes[0] = fat_size(w->data), count = 1;
    void **handle = calloc(1, sizeof *handle);
    *handle = module_add(blobs, sizes, count);
    return handle;
}
EXPORT void __cudaRegisterFatBinaryEnd(void **handle) { (void)handle; }
EXPORT void __cudaUnregisterFatBinary(void **handle) { (void)handle; }
EXPORT char __cudaInitModule(void **handle) {
    BEGIN;
    symbols_manage(*handle);
    return 1;
}
EXPORT void __cudaRegisterFunction(void **handle, const char *host, char *function, const char *name, int limit, void *tid, void *bid, Dim *block, Dim *grid, int *size) {
    (void)function, (void)limit, (void)tid, (void)bid, (void)block, (void)grid, (void)size;
    BEGIN;
    function_add(*handle, host, name);
}
EXPORT void __cudaRegisterVar(void **handle, char *host, char *address, const char *name, int external, size_t size, int constant, int global) {
    (void)address, (void)external, (void)constant, (void)global;
    BEGIN;
    symbol_add(*handle, host, name, NULL, size);
}
EXPORT void __cudaRegisterManagedVar(void **handle, void **host, char *address, const char *name, int external, size_t size, int constant, int global) {
    (void)address, (void)external, (void)constant, (void)global;
    BEGIN;
    symbol_add(*handle, host, name, host, size);
    if (module_load(*handle) > 0) symbols_manage(*handle);
}
EXPORT void __cudaRegisterHostVar(void **handle, const char *name, char *host, size_t size) { (void)handle, (void)host, (void)size; BEGIN; refuse("__cudaRegisterHostVar", name); }
EXPORT void __cudaRegisterTexture(void **handle, const void *host, const void **address, const char *name, int dimensions, int normalised, int external) {
    (void)handle, (void)host, (void)address, (void)dimensions, (void)normalised, (void)external;
    BEGIN;
    refuse("__cudaRegisterTexture (texture references)", name);
}
EXPORT void __cudaRegisterSurface(void **handle, const void *host, const void **address, const char *name, int dimensions, int external) {
    (void)handle, (void)host, (void)address, (void)dimensions, (void)external;
    BEGIN;
    refuse("__cudaRegisterSurface (surface references)", name);
}

/* ---- launches ------------------------------------------------------------------------------------------------ */

EXPORT unsigned __cudaPushCallConfiguration(Dim grid, Dim block, size_t shared, void *stream) { return push_configuration(grid, block, shared, stream); }
EXPORT int __cudaPopCallConfiguration(Dim *grid, Dim *block, size_t *shared, void *stream) { return pop_configuration(grid, block, shared, stream); }
/* Handles of kernels are the host functions themselves. */
EXPORT int __cudaGetKernel(const void **into, const void *host) { *into = host; return OK; }
EXPORT int cudaGetKernel(const void **into, const void *host) { *into = host; return OK; }
EXPORT int cudaGetFuncBySymbol(const void **into, const void *host) { *into = host; return OK; }
EXPORT int __cudaLaunchKernel(const void *host, Dim grid, Dim block, void **arguments, size_t shared, void *s) { BEGIN; return launch_function("cudaLaunchKernel", host, grid, block, arguments, shared, s, 0); }
EXPORT int __cudaLaunchKernel_ptsz(const void *host, Dim grid, Dim block, void **arguments, size_t shared, void *s) { BEGIN; return launch_function("cudaLaunchKernel", host, grid, block, arguments, shared, s, 0); }

typedef struct LaunchAttribute {
    int id;
    char pad[4];
    union {
        char bytes[64];
        int number;
    } value;
} LaunchAttribute;
typedef struct LaunchConfig {
    Dim grid, block;
    size_t shared;
    void *stream;
    LaunchAttribute *attributes;
    unsigned count;
} LaunchConfig;
enum { COOPERATIVE_LAUNCH = 2, CLUSTER = 4 };

EXPORT int cudaLaunchKernelExC(const LaunchConfig *config, const void *host, void **arguments) {
    int cooperative = 0;
    BEGIN;
    for (unsigned i = 0; i < config->count; i++) {
        const LaunchAttribute *a = &config->attributes[i];
        if (a->id == COOPERATIVE_LAUNCH) cooperative = a->value.number;
        if (a->id == CLUSTER && memcmp(a->value.bytes, (unsigned[]){1, 1, 1}, 12)) return fail("cudaLaunchKernelExC", refuse("cudaLaunchKernelExC", "clusters of blocks"), NULL);
    }
    return launch_function("cudaLaunchKernelExC", host, config->grid, config->block, arguments, config->shared, config->stream, cooperative);
}

typedef struct FunctionAttributes {
    size_t shared, constant, local;
    int threads, registers, ptx, binary, cache, dynamic, carveout, rest[6];
} FunctionAttributes;

EXPORT int cudaFuncGetAttributes(FunctionAttributes *into, const void *host) {
    int status;
    BEGIN;
    Function *f = function_of("cudaFuncGetAttributes", host, &status);
    if (!f) return status;
    /* as much as version 11 has; what later versions add is a cluster's */
    memset(into, 0, 56);
    into->shared = f->kernel->shared, into->local = f->kernel->private_bytes;
    into->threads = (int)f->kernel->max_threads, into->registers = 32;
    into->ptx = into->binary = (int)modules_capability();
    into->dynamic = (int)(f->dynamic_limit ? f->dynamic_limit : 48 << 10);
    return OK;
}

/* ---- devices ------------------------------------------------------------------------------------------------- */

static const Field fields[] = {PROPERTIES};
#undef SIZE
#define SIZE(bytes) + bytes
#undef FIELD
#define FIELD(...)
enum { PROPERTY_BYTES = PROPERTIES };

static int properties(uint8_t *into, int device) {
    if (device < 0 || device >= (int)settings.devices) return fail("cudaGetDeviceProperties", INVALID_DEVICE, "%d", device);
    return write_properties(into, fields, sizeof fields / sizeof *fields, PROPERTY_BYTES);
}
EXPORT int cudaGetDeviceProperties(uint8_t *into, int device) { BEGIN; return properties(into, device); }
EXPORT int cudaGetDeviceProperties_v2(uint8_t *into, int device) { BEGIN; return properties(into, device); }
EXPORT int cudaDeviceGetAttribute(int *into, int which, int device) { BEGIN; return attribute("cudaDeviceGetAttribute", into, which, device); }
EXPORT int cudaChooseDevice(int *into, const void *wanted) { (void)wanted; *into = 0; return OK; }
EXPORT int cudaRuntimeGetVersion(int *into) { *into = VERSION * 1000; return OK; }
EXPORT int cudaDriverGetVersion(int *into) { *into = 13000; return OK; }
EXPORT int cudaDeviceGetPCIBusId(char *into, int size, int device) { snprintf(into, (size_t)size, "0000:%02x:00.0", device + 1); return OK; }
EXPORT int cudaInitDevice(int device, unsigned a, unsigned b) { (void)device, (void)a, (void)b; return OK; }
EXPORT int cudaOccupancyAvailableDynamicSMemPerBlock(size_t *into, const void *host, int blocks, int threads) { (void)host, (void)blocks, (void)threads; *into = 48 << 10; return OK; }

/* Names that old programs use. */
int cudaDeviceSynchronize(void);
int cudaDeviceReset(void);
EXPORT int cudaThreadSynchronize(void) { return cudaDeviceSynchronize(); }
EXPORT int cudaThreadExit(void) { return cudaDeviceReset(); }
int cudaEventElapsedTime(float *, void *, void *);
EXPORT int cudaEventElapsedTime_v2(float *into, void *first, void *second) { return cudaEventElapsedTime(into, first, second); }
EXPORT int cudaMemPrefetchAsync_v2(const void *at, size_t bytes) { (void)at, (void)bytes; return sticky(); }
EXPORT int cudaMemAdvise_v2(const void *at, size_t bytes) { (void)at, (void)bytes; return sticky(); }
EXPORT int cudaStreamGetCaptureInfo(void *s, int *status) { (void)s; *status = 0; return OK; }
EXPORT int cudaStreamGetCaptureInfo_v2(void *s, int *status) { (void)s; *status = 0; return OK; }
EXPORT int cudaStreamGetCaptureInfo_v3(void *s, int *status) { (void)s; *status = 0; return OK; }
