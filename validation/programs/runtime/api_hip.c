/* What only HIP's runtime has: registration of clang's bundles, its launches, its names, modules. */
#define _GNU_SOURCE
#include "api.h"

#include <string.h>

#if VERSION >= 6
int pointer_device = 2, pointer_host = 1;
#else
int pointer_device = 1, pointer_host = 0;
#endif

/* ---- registration -------------------------------------------------------------------------------------------- */

enum { WRAPPER = 0x48495046 };
typedef struct Wrapper {
    uint32_t magic, version;
    const uint8_t *data, *unused;
} Wrapper;

/* Of a bundle, plain or compressed, or of a code object. */
static size_t image_size(const uint8_t *data) {
    static const char plain[] = "__CLANG_OFFLOAD_BUNDLE__";
    if (!memcmp(data, plain, 24)) {
        uint64_t count, most = 0;
        const uint8_t *at = data + 32;
        memcpy(&count, data + 24, 8);
        for (uint64_t i = 0; i < count; i++) {
            uint64_t entry[3];
            memcpy(entry, at, sizeof entry);
            at += 24 + entry[2];
            if (entry[0] + entry[1] > most) most = entry[0] + entry[1];
        }
        return most > (size_t)(at - data) ? most : (size_t)(at - data);
    }
    if (!memcmp(data, "CCOB", 4)) {
        uint16_t version;
        uint64_t wide;
        uint32_t size;
        memcpy(&version, data + 4, 2);
        memcpy(&size, data + 8, 4);
        memcpy(&wide, data + 8, 8);
        return version >= 3 ? wide : version == 2 ? size : 0;
    }
    if (!memcmp(data, "\x7f" "ELF", 4)) { /* its section headers come last */
        uint64_t sections;
        uint16_t size, count;
        memcpy(&sections, data + 40, 8);
        memcpy(&size, data + 58, 2);
        memcpy(&count, data + 60, 2);
        return sections + (size_t)size * count;
    }
    return 0;
}

Module *add_image(const void *data) {
    size_t size = image_size(data);
    if (!size) end_process(END_UNSUPPORTED, "GPU code of another kind than bundles and code objects");
    return module_add(&data, &size, 1);
}

EXPORT void **__hipRegisterFatBinary(const void *given) {
    BEGIN;
    const Wrapper *w = given;
    if (w->magic != WRAPPER) end_process(END_UNSUPPORTED, "a fat binary of another kind (%#x)", w->magic);
    void **handle = calloc(1, sizeof *handle);
    *handle = add_image(w->data);
    return handle;
}
EXPORT void __hipUnregisterFatBinary(void **handle) { (void)handle; }
EXPORT void __hipRegisterFunction(void **handle, const void *host, char *function, const char *name, unsigned limit, void *tid, void *bid, Dim *block, Dim *grid, int *size) {
    (void)function, (void)limit, (void)tid, (void)bid, (void)block, (void)grid, (void)size;
    BEGIN;
    function_add(*handle, host, name);
}
EXPORT void __hipRegisterVar(void **handle, void *host, char *host_name, const char *name, int external, size_t size, int constant, int global) {
    (void)host_name, (void)external, (void)constant, (void)global;
    BEGIN;
    symbol_add(*handle, host, name, NULL, size);
}
/* The device's variable holds the address of the memory, and so does the host's. */
EXPORT void __hipRegisterManagedVar(void **handle, void **host, const void *initial, const char *name, size_t size, unsigned align) {
    (void)align;
    BEGIN;
    *host = memory_allocate(size, SORT_MANAGED, ALLOCATION_LIVE, name);
    if (!*host) end_process(END_BROKEN, "no device memory for %s", name);
    memcpy(*host, initial, size);
    symbol_add(*handle, host, name, NULL, size);
    Variable *found = module_load(*handle) > 0 ? module_variable(*handle, name) : NULL;
    if (found) memcpy((void *)found->address, host, 8);
}
EXPORT void __hipRegisterTexture(void **handle, void *host, char *a, const char *name, int b, int c, int d) {
    (void)handle, (void)host, (void)a, (void)b, (void)c, (void)d;
    BEGIN;
    refuse("__hipRegisterTexture (texture references)", name);
}
EXPORT void __hipRegisterSurface(void **handle, void *host, char *a, const char *name, int b, int c) {
    (void)handle, (void)host, (void)a, (void)b, (void)c;
    BEGIN;
    refuse("__hipRegisterSurface (surface references)", name);
}

/* ---- launches ------------------------------------------------------------------------------------------------ */

EXPORT int __hipPushCallConfiguration(Dim grid, Dim block, size_t shared, void *stream) { return (int)push_configuration(grid, block, shared, stream); }
EXPORT int __hipPopCallConfiguration(Dim *grid, Dim *block, size_t *shared, void **stream) { return pop_configuration(grid, block, shared, stream); }
EXPORT int hipExtLaunchKernel(const void *host, Dim grid, Dim block, void **arguments, size_t shared, void *s, void *start, void *stop, int flags) {
    (void)start, (void)stop, (void)flags;
    BEGIN;
    return launch_function("hipExtLaunchKernel", host, grid, block, arguments, shared, s, 0);
}

typedef struct FunctionAttributes {
    int binary, cache;
    size_t constant, local;
    int dynamic, threads, registers, carveout, ptx;
    size_t shared;
} FunctionAttributes;

EXPORT int hipFuncGetAttributes(FunctionAttributes *into, const void *host) {
    int status;
    BEGIN;
    Function *f = function_of("hipFuncGetAttributes", host, &status);
    if (!f) return status;
    *into = (FunctionAttributes){.binary = 94, .local = f->kernel->private_segment, .dynamic = (64 << 10) - (int)f->kernel->shared,
                                 .threads = (int)f->kernel->max_threads, .registers = 64, .ptx = 94, .shared = f->kernel->shared};
    return OK;
}

/* ---- memory -------------------------------------------------------------------------------------------------- */

int hipHostAlloc(void **, size_t, unsigned);
int hipFreeHost(void *);
int hipMalloc(void **, size_t);
int hipMemset(void *, int, size_t);
EXPORT int hipHostMalloc(void **into, size_t bytes, unsigned flags) { return hipHostAlloc(into, bytes, flags); }
EXPORT int hipHostFree(void *at) { return hipFreeHost(at); }
EXPORT int hipMemAllocHost(void **into, size_t bytes) { return hipHostAlloc(into, bytes, 0); }
EXPORT int hipExtMallocWithFlags(void **into, size_t bytes, unsigned flags) { (void)flags; return hipMalloc(into, bytes); }
EXPORT int hipMemcpyWithStream(void *to, const void *from, size_t bytes, int way, void *s) { (void)s; BEGIN; return copy("hipMemcpyWithStream", to, from, bytes, way); }
EXPORT int hipMemcpyHtoD(void *to, void *from, size_t bytes) { IN_NULL_STREAM; return copy("hipMemcpyHtoD", to, from, bytes, 1); }
EXPORT int hipMemcpyDtoH(void *to, void *from, size_t bytes) { IN_NULL_STREAM; return copy("hipMemcpyDtoH", to, from, bytes, 2); }
EXPORT int hipMemcpyDtoD(void *to, void *from, size_t bytes) { BEGIN; return copy("hipMemcpyDtoD", to, from, bytes, 3); }
EXPORT int hipMemcpyHtoDAsync(void *to, void *from, size_t bytes, void *s) { (void)s; BEGIN; return copy("hipMemcpyHtoDAsync", to, from, bytes, 1); }
EXPORT int hipMemcpyDtoHAsync(void *to, void *from, size_t bytes, void *s) { (void)s; BEGIN; return copy("hipMemcpyDtoHAsync", to, from, bytes, 2); }
EXPORT int hipMemcpyDtoDAsync(void *to, void *from, size_t bytes, void *s) { (void)s; BEGIN; return copy("hipMemcpyDtoDAsync", to, from, bytes, 3); }
static int fill(const char *call, void *to, uint64_t value, size_t size, size_t count) {
    const Allocation *row = memory_find(to);
    if (!row || row->state == ALLOCATION_FREED || (uint64_t)to + size * count > row->end) return fail(call, INVALID_VALUE, "%zu bytes at %p", size * count, to);
    for (size_t i = 0; i < count; i++) memcpy((char *)to + i * size, &value, size);
    memory_wrote(to, size * count);
    return sticky();
}
EXPORT int hipMemsetD8(void *to, unsigned char value, size_t count) { BEGIN; return fill("hipMemsetD8", to, value, 1, count); }
EXPORT int hipMemsetD16(void *to, unsigned short value, size_t count) { BEGIN; return fill("hipMemsetD16", to, value, 2, count); }
EXPORT int hipMemsetD32(void *to, int value, size_t count) { BEGIN; return fill("hipMemsetD32", to, (uint32_t)value, 4, count); }
EXPORT int hipMemsetD8Async(void *to, unsigned char value, size_t count, void *s) { (void)s; BEGIN; return fill("hipMemsetD8Async", to, value, 1, count); }
EXPORT int hipMemsetD16Async(void *to, unsigned short value, size_t count, void *s) { (void)s; BEGIN; return fill("hipMemsetD16Async", to, value, 2, count); }
EXPORT int hipMemsetD32Async(void *to, int value, size_t count, void *s) { (void)s; BEGIN; return fill("hipMemsetD32Async", to, (uint32_t)value, 4, count); }

typedef struct Format { /* of texels; ports have arrays of their own */
    int x, y, z, w, kind;
} Format;
EXPORT Format hipCreateChannelDesc(int x, int y, int z, int w, int kind) { return (Format){x, y, z, w, kind}; }

/* ---- devices ------------------------------------------------------------------------------------------------- */

static const Field fields[] = {PROPERTIES};
#undef SIZE
#define SIZE(bytes) + bytes
#undef FIELD
#define FIELD(...)
enum { PROPERTY_BYTES = PROPERTIES };

static int properties(uint8_t *into, int device) {
    if (device < 0 || device >= (int)settings.devices) return fail("hipGetDeviceProperties", INVALID_DEVICE, "%d", device);
    return write_properties(into, fields, sizeof fields / sizeof *fields, PROPERTY_BYTES);
}
#if VERSION >= 6
EXPORT int hipGetDevicePropertiesR0600(uint8_t *into, int device) { BEGIN; return properties(into, device); }
#else
EXPORT int hipGetDeviceProperties(uint8_t *into, int device) { BEGIN; return properties(into, device); }
#endif
EXPORT int hipDeviceGetAttribute(int *into, int which, int device) { BEGIN; return attribute("hipDeviceGetAttribute", into, which, device); }
int hipStreamGetDevice(void *, int *);
EXPORT int hipGetStreamDeviceId(void *s) { int device = -1; return hipStreamGetDevice(s, &device) ? -1 : device; }
EXPORT int hipInit(unsigned flags) { (void)flags; BEGIN; return OK; }
EXPORT int hipDeviceGet(int *into, int ordinal) { *into = ordinal; return OK; }
EXPORT int hipDeviceGetName(char *into, int size, int device) { (void)device; snprintf(into, (size_t)size, "porter virtual MI300X"); return OK; }
EXPORT int hipDeviceTotalMem(size_t *into, int device) { (void)device; BEGIN; *into = memory_total(); return OK; }
EXPORT int hipDeviceComputeCapability(int *major, int *minor, int device) { (void)device; *major = 9, *minor = 4; return OK; }
EXPORT int hipDeviceGetPCIBusId(char *into, int size, int device) { snprintf(into, (size_t)size, "0000:%02x:00.0", device + 1); return OK; }
EXPORT int hipRuntimeGetVersion(int *into) { *into = VERSION * 10000000; return OK; }
EXPORT int hipDriverGetVersion(int *into) { *into = VERSION * 10000000; return OK; }
