/* What of HIP corresponds to CUDA's driver API: contexts, modules and the kernels in them. */
#define _GNU_SOURCE
#include "api.h"

#include <string.h>

Module *add_image(const void *);
int hipSetDevice(int);
int hipGetDevice(int *);
int hipDeviceSynchronize(void);
int hipDeviceReset(void);
int hipDeviceEnablePeerAccess(int, unsigned);
int hipDeviceDisablePeerAccess(int);
int hipMallocPitch(void **, size_t *, size_t, size_t);
int hipOccupancyMaxActiveBlocksPerMultiprocessor(int *, const void *, int, size_t);

/* ---- contexts: number of the device and one ------------------------------------------------------------------- */

static void *context_of(int device) { return (void *)(uintptr_t)(device + 1); }
static int make_current(void *context) { return context ? hipSetDevice((int)(uintptr_t)context - 1) : OK; }
static void *current(void) {
    int device = 0;
    hipGetDevice(&device);
    return context_of(device);
}
EXPORT int hipCtxCreate(void **into, unsigned flags, int device) { (void)flags; return *into = context_of(device), make_current(*into); }
EXPORT int hipCtxDestroy(void *context) { (void)context; SYNCHRONISED; return sticky(); }
EXPORT int hipCtxSetCurrent(void *context) { return make_current(context); }
EXPORT int hipCtxGetCurrent(void **into) { return *into = current(), OK; }
EXPORT int hipCtxPushCurrent(void *context) { return make_current(context); }
EXPORT int hipCtxPopCurrent(void **into) { return into ? (*into = current(), OK) : OK; }
EXPORT int hipCtxGetDevice(int *into) { return hipGetDevice(into); }
/* ROCm has these as stubs: a program that checks them ends there. */
#define STUB(name, arguments) EXPORT int name arguments { BEGIN; return fail(#name, NOT_SUPPORTED, "ROCm does not implement it"); }
STUB(hipCtxSynchronize, (void))
STUB(hipCtxGetFlags, (unsigned *into __attribute__((unused))))
STUB(hipCtxGetApiVersion, (void *context __attribute__((unused)), int *into __attribute__((unused))))
STUB(hipCtxGetCacheConfig, (int *into __attribute__((unused))))
STUB(hipCtxSetCacheConfig, (int config __attribute__((unused))))
STUB(hipCtxSetSharedMemConfig, (int config __attribute__((unused))))
EXPORT int hipCtxEnablePeerAccess(void *peer, unsigned flags) { return hipDeviceEnablePeerAccess((int)(uintptr_t)peer - 1, flags); }
EXPORT int hipCtxDisablePeerAccess(void *peer) { return hipDeviceDisablePeerAccess((int)(uintptr_t)peer - 1); }
EXPORT int hipDevicePrimaryCtxRetain(void **into, int device) { return *into = context_of(device), OK; }
EXPORT int hipDevicePrimaryCtxRelease(int device) { (void)device; return OK; }
EXPORT int hipDevicePrimaryCtxSetFlags(int device, unsigned flags) { (void)device, (void)flags; BEGIN; return fail("hipDevicePrimaryCtxSetFlags", CONTEXT_IN_USE, "ROCm always says so"); }
EXPORT int hipDevicePrimaryCtxGetState(int device, unsigned *flags, int *active) { (void)device; return *flags = 0, *active = 1, OK; }
EXPORT int hipDevicePrimaryCtxReset(int device) { (void)device; return hipDeviceReset(); }

/* ---- modules ------------------------------------------------------------------------------------------------- */

static int load_module(void **into, const void *data) {
    Module *m = add_image(data);
    if (module_load(m) < 0) return fail("hipModuleLoadData", NO_IMAGE, "%s", m->reason);
    *into = m;
    return OK;
}
EXPORT int hipModuleLoadData(void **into, const void *data) { BEGIN; return load_module(into, data); }
EXPORT int hipModuleLoadDataEx(void **into, const void *data, unsigned count, void *options, void **values) { (void)count, (void)options, (void)values; BEGIN; return load_module(into, data); }
EXPORT int hipModuleLoad(void **into, const char *path) {
    BEGIN;
    FILE *file = fopen(path, "rb");
    if (!file) return fail("hipModuleLoad", 301, "%s", path);
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    void *data = malloc((size_t)size);
    rewind(file);
    size_t got = fread(data, 1, (size_t)size, file);
    fclose(file);
    return got == (size_t)size ? load_module(into, data) : fail("hipModuleLoad", 301, "%s", path);
}
EXPORT int hipModuleUnload(void *module) { (void)module; SYNCHRONISED; return OK; }
/* A handle is the address of a copy of the name, and the runtime finds the kernel by it as by a host function. */
EXPORT int hipModuleGetFunction(void **into, void *module, const char *name) {
    BEGIN;
    Module *m = module;
    for (uint32_t i = 0; i < m->name_count; i++) {
        if (strcmp(m->names[i], name)) continue;
        *into = strdup(name);
        function_add(m, *into, m->names[i]);
        return OK;
    }
    return fail("hipModuleGetFunction", NOT_FOUND, "%s", name);
}
EXPORT int hipModuleGetGlobal(void **into, size_t *size, void *module, const char *name) {
    BEGIN;
    Variable *found = module_variable(module, name);
    if (!found) return fail("hipModuleGetGlobal", NOT_FOUND, "%s", name);
    if (into) *into = (void *)found->address;
    if (size) *size = found->size;
    return OK;
}
EXPORT int hipFuncGetAttribute(int *into, int which, void *function) {
    int status;
    BEGIN;
    Function *f = function_of("hipFuncGetAttribute", function, &status);
    if (!f) return status;
    const int values[] = {(int)f->kernel->max_threads, (int)f->kernel->shared, 0, (int)f->kernel->private_segment, 64, 94, 94, 0, 64 << 10};
    if (which < 0 || which >= (int)(sizeof values / sizeof *values)) return refuse("hipFuncGetAttribute", "an attribute of clusters");
    return *into = values[which], OK;
}
enum { EXTRA_END = 3, EXTRA_BUFFER = 1, EXTRA_SIZE = 2 };
static int run(const char *call, void *function, Dim grid, Dim block, unsigned shared, void *s, void **arguments, void **extra, int cooperative) {
    int status;
    BEGIN;
    if (!extra) return launch_function(call, function, grid, block, arguments, shared, s, cooperative);
    if (sticky()) return sticky();
    Function *f = function_of(call, function, &status);
    if (!f) return status;
    const uint8_t *packed = NULL;
    size_t bytes = 0;
    for (; (uintptr_t)*extra != EXTRA_END; extra += 2) {
        if ((uintptr_t)extra[0] == EXTRA_BUFFER) packed = extra[1];
        if ((uintptr_t)extra[0] == EXTRA_SIZE) bytes = *(size_t *)extra[1];
    }
    if (!packed) return fail(call, INVALID_VALUE, "no buffer with arguments");
    return launch_packed(call, f, grid, block, packed, bytes, shared, s, cooperative);
}
EXPORT int hipModuleLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, void *s, void **arguments, void **extra) {
    return run("hipModuleLaunchKernel", f, (Dim){gx, gy, gz}, (Dim){bx, by, bz}, shared, s, arguments, extra, 0);
}
EXPORT int hipModuleLaunchCooperativeKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, void *s, void **arguments) {
    return run("hipModuleLaunchCooperativeKernel", f, (Dim){gx, gy, gz}, (Dim){bx, by, bz}, shared, s, arguments, NULL, 1);
}
EXPORT int hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int *into, void *f, int threads, size_t shared) { return hipOccupancyMaxActiveBlocksPerMultiprocessor(into, f, threads, shared); }
EXPORT int hipModuleOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *into, void *f, int threads, size_t shared, unsigned flags) { (void)flags; return hipOccupancyMaxActiveBlocksPerMultiprocessor(into, f, threads, shared); }
EXPORT int hipModuleOccupancyMaxPotentialBlockSize(int *grid, int *block, void *f, size_t shared, int limit) { BEGIN; return potential_block("hipModuleOccupancyMaxPotentialBlockSize", grid, block, f, NULL, shared, limit); }
EXPORT int hipModuleOccupancyMaxPotentialBlockSizeWithFlags(int *grid, int *block, void *f, size_t shared, int limit, unsigned flags) { (void)flags; return hipModuleOccupancyMaxPotentialBlockSize(grid, block, f, shared, limit); }
EXPORT int hipOccupancyMaxPotentialBlockSize(int *grid, int *block, const void *f, size_t shared, int limit) { BEGIN; return potential_block("hipOccupancyMaxPotentialBlockSize", grid, block, f, NULL, shared, limit); }

/* ---- memory ----------------------------------------------------------------------------------------------------- */

EXPORT int hipMemAllocPitch(void **into, size_t *pitch, size_t width, size_t height, unsigned element) { (void)element; return hipMallocPitch(into, pitch, width, height); }
EXPORT int hipMemGetAddressRange(void **base, size_t *size, void *at) {
    BEGIN;
    const Allocation *row = memory_find(at);
    if (!row) return fail("hipMemGetAddressRange", NOT_FOUND, NULL);
    if (base) *base = (void *)row->base;
    if (size) *size = row->end - row->base;
    return OK;
}
