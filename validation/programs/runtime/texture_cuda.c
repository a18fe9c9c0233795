/* CUDA's arrays, texture and surface objects: texels row after row in device memory, and a description that the device
   reads (struct Texture in ptx/warp.h). An array is a record of ours on the host. */
#define _GNU_SOURCE
#include "api.h"
#include "warp.h"

#include <string.h>

enum { ARRAY = 0xa55a7e87, LAYERED = 1, CUBEMAP = 4, SPARSE = 0x40 };
enum { FROM_ARRAY, FROM_MIPMAP, FROM_LINEAR, FROM_PITCHED };
enum { KIND_SIGNED, KIND_UNSIGNED, KIND_FLOAT };
enum { WRAP, CLAMP, MIRROR, BORDER };
enum { BAD_FORMAT = 20, WIDENED = 64 /* loads of a description may be */ };

typedef struct Format {
    int bits[4], kind;
} Format;
typedef struct Array {
    uint32_t magic, flags;
    Format format;
    Extent extent; /* as it was asked for: 0 where there is no such dimension */
    char *data;
    size_t texel;
} Array;
typedef struct Resource {
    int kind;
    union {
        Array *array;
        struct {
            void *at;
            Format format;
            size_t bytes;
        } linear;
        struct {
            void *at;
            Format format;
            size_t width, height, pitch;
        } pitched;
        int reserved[32];
    };
} Resource;
typedef struct Reading {
    int mode[3], filter, fractions, srgb;
    float border[4];
    int normalised;
    unsigned anisotropy;
    int mip_filter;
    float mip_bias, mip_least, mip_most;
    int exact, seamless;
} Reading;
typedef struct Object { /* what a handle leads to: the device reads the first part */
    Texture texture;
    Resource resource;
    Reading reading;
    char widened[WIDENED];
} Object;

static size_t at_least_one(size_t n) { return n ? n : 1; }
static size_t texel_size(const Format *f) { return (size_t)(f->bits[0] + f->bits[1] + f->bits[2] + f->bits[3]) / 8; }
static size_t row_size(const Array *a) { return a->extent.width * a->texel; }
static size_t rows_of(const Array *a) { return at_least_one(a->extent.height); }
static size_t size_of(const Array *a) { return row_size(a) * rows_of(a) * at_least_one(a->extent.depth); }
static const Array *known(const Array *a) { return a && a->magic == ARRAY ? a : NULL; }

/* 1, 2 or 4 channels of one size that there is; a description of what they are. */
static int describe_format(const Format *f, Texture *t) {
    uint32_t channels = 0;
    while (channels < 4 && f->bits[channels]) channels++;
    for (uint32_t c = 0; c < 4; c++)
        if (f->bits[c] != (c < channels ? f->bits[0] : 0)) return BAD_FORMAT;
    if (channels != 1 && channels != 2 && channels != 4) return BAD_FORMAT;
    static const struct {
        int bits, kind;
        enum TexelKind texel;
    } kinds[] = {{32, KIND_FLOAT, TEXEL_F32},    {16, KIND_FLOAT, TEXEL_F16},   {8, KIND_UNSIGNED, TEXEL_U8},    {8, KIND_SIGNED, TEXEL_S8},
                 {16, KIND_UNSIGNED, TEXEL_U16}, {16, KIND_SIGNED, TEXEL_S16},  {32, KIND_UNSIGNED, TEXEL_U32},  {32, KIND_SIGNED, TEXEL_S32}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        if (kinds[i].bits != f->bits[0] || kinds[i].kind != f->kind) continue;
        t->channels = channels;
        t->kind = kinds[i].texel;
        return OK;
    }
    return BAD_FORMAT;
}

static void describe_size(Texture *t, size_t width, size_t height, size_t depth, size_t layers) {
    t->width = (uint32_t)width;
    t->height = (uint32_t)at_least_one(height);
    t->depth = (uint32_t)at_least_one(depth);
    t->layers = (uint32_t)at_least_one(layers);
}

/* ---- arrays -------------------------------------------------------------------------------------------------- */

static int make_array(const char *call, Array **into, const Format *format, Extent extent, unsigned flags) {
    Texture unused = {0};
    if (!into || !format || !extent.width) return fail(call, INVALID_VALUE, "no place, no format or no texels");
    if (flags & (CUBEMAP | SPARSE)) return refuse(call, flags & CUBEMAP ? "a cube map" : "a sparse array");
    if (describe_format(format, &unused)) return fail(call, BAD_FORMAT, "channels of %d, %d, %d and %d bits", format->bits[0], format->bits[1], format->bits[2], format->bits[3]);
    Array *made = calloc(1, sizeof *made);
    *made = (Array){ARRAY, flags, *format, extent, NULL, texel_size(format)};
    made->data = memory_allocate(size_of(made), SORT_DEVICE, ALLOCATION_LIVE, NULL);
    if (!made->data) {
        size_t bytes = size_of(made);
        free(made);
        return fail(call, OUT_OF_MEMORY, "an array of %zu bytes", bytes);
    }
    *into = made;
    return sticky();
}
EXPORT int cudaMallocArray(Array **into, const Format *format, size_t width, size_t height, unsigned flags) {
    BEGIN;
    return make_array("cudaMallocArray", into, format, (Extent){width, height, 0}, flags);
}
EXPORT int cudaMalloc3DArray(Array **into, const Format *format, Extent extent, unsigned flags) {
    BEGIN;
    return make_array("cudaMalloc3DArray", into, format, extent, flags);
}
EXPORT int cudaFreeArray(Array *a) {
    SYNCHRONISED;
    if (!a) return sticky();
    if (!known(a)) return fail("cudaFreeArray", INVALID_VALUE, "%p is no array", (void *)a);
    a->magic = 0; /* the record stays: a second call has to see it */
    return memory_release(a->data, SORT_DEVICE);
}
EXPORT int cudaArrayGetInfo(Format *format, Extent *extent, unsigned *flags, const Array *a) {
    BEGIN;
    if (!known(a)) return fail("cudaArrayGetInfo", INVALID_VALUE, "%p is no array", (const void *)a);
    if (format) *format = a->format;
    if (extent) *extent = a->extent;
    if (flags) *flags = a->flags;
    return sticky();
}
EXPORT int cudaGetChannelDesc(Format *format, const Array *a) { return cudaArrayGetInfo(format, NULL, NULL, a); }
EXPORT Format cudaCreateChannelDesc(int x, int y, int z, int w, int kind) { return (Format){{x, y, z, w}, kind}; }

/* ---- copies -------------------------------------------------------------------------------------------------- */

/* One side of a copy: where it begins, how far its rows and slices are from each other. */
typedef struct Place {
    char *at;
    size_t pitch, slice;
} Place;

static int lies_in(size_t from, size_t count, size_t size) { return from <= size && count <= size - from; }

/* A part of an array, x in bytes; zero in `at` where it is none, or does not lie inside. */
static Place part(const Array *a, Position from, Extent part) {
    if (!known(a) || !lies_in(from.x, part.width, row_size(a)) || !lies_in(from.y, part.height, rows_of(a)) || !lies_in(from.z, part.depth, at_least_one(a->extent.depth)))
        return (Place){0};
    size_t slice = row_size(a) * rows_of(a);
    return (Place){a->data + from.z * slice + from.y * row_size(a) + from.x, row_size(a), slice};
}
static int copy_places(const char *call, Place to, Place from, Extent size, int way) {
    if (!to.at || !from.at) return fail(call, INVALID_VALUE, "no array, or %zu bytes, %zu rows, %zu slices that do not lie inside of it", size.width, size.height, size.depth);
    if (size.width > to.pitch || size.width > from.pitch) return fail(call, 12, "a row of %zu bytes, pitches %zu and %zu", size.width, to.pitch, from.pitch);
    for (size_t z = 0; z < size.depth; z++)
        for (size_t y = 0; y < size.height; y++) {
            int status = copy(call, to.at + z * to.slice + y * to.pitch, from.at + z * from.slice + y * from.pitch, size.width, way);
            if (status) return status;
        }
    return sticky();
}
static int to_array(const char *call, Array *a, size_t x, size_t y, const void *from, size_t pitch, size_t width, size_t height, int way) {
    Extent size = {width, height, 1};
    return copy_places(call, part(a, (Position){x, y, 0}, size), (Place){(char *)from, pitch, 0}, size, way);
}
static int from_array(const char *call, void *to, size_t pitch, const Array *a, size_t x, size_t y, size_t width, size_t height, int way) {
    Extent size = {width, height, 1};
    return copy_places(call, (Place){to, pitch, 0}, part(a, (Position){x, y, 0}, size), size, way);
}
/* So many bytes, over the ends of rows. */
static char *stretch(const Array *a, size_t x, size_t y, size_t bytes) {
    int inside = known(a) && x <= row_size(a) && y <= rows_of(a) && lies_in(y * row_size(a) + x, bytes, row_size(a) * rows_of(a));
    return inside ? a->data + y * row_size(a) + x : NULL;
}
static int waits_not(const char *call, void *s) { return queue_captures(s) ? refuse(call, "in a stream that captures") : OK; }

EXPORT int cudaMemcpy2DToArray(Array *a, size_t x, size_t y, const void *from, size_t pitch, size_t width, size_t height, int way) {
    SYNCHRONISED;
    return to_array("cudaMemcpy2DToArray", a, x, y, from, pitch, width, height, way);
}
EXPORT int cudaMemcpy2DToArrayAsync(Array *a, size_t x, size_t y, const void *from, size_t pitch, size_t width, size_t height, int way, void *s) {
    SYNCHRONISED;
    int status = waits_not("cudaMemcpy2DToArrayAsync", s);
    return status ? status : to_array("cudaMemcpy2DToArrayAsync", a, x, y, from, pitch, width, height, way);
}
EXPORT int cudaMemcpy2DFromArray(void *to, size_t pitch, const Array *a, size_t x, size_t y, size_t width, size_t height, int way) {
    SYNCHRONISED;
    return from_array("cudaMemcpy2DFromArray", to, pitch, a, x, y, width, height, way);
}
EXPORT int cudaMemcpy2DFromArrayAsync(void *to, size_t pitch, const Array *a, size_t x, size_t y, size_t width, size_t height, int way, void *s) {
    SYNCHRONISED;
    int status = waits_not("cudaMemcpy2DFromArrayAsync", s);
    return status ? status : from_array("cudaMemcpy2DFromArrayAsync", to, pitch, a, x, y, width, height, way);
}
EXPORT int cudaMemcpy2DArrayToArray(Array *to, size_t x, size_t y, const Array *from, size_t fx, size_t fy, size_t width, size_t height, int way) {
    SYNCHRONISED;
    Extent size = {width, height, 1};
    return copy_places("cudaMemcpy2DArrayToArray", part(to, (Position){x, y, 0}, size), part(from, (Position){fx, fy, 0}, size), size, way);
}
EXPORT int cudaMemcpyToArray(Array *a, size_t x, size_t y, const void *from, size_t bytes, int way) {
    SYNCHRONISED;
    return copy("cudaMemcpyToArray", stretch(a, x, y, bytes), from, bytes, way);
}
EXPORT int cudaMemcpyToArrayAsync(Array *a, size_t x, size_t y, const void *from, size_t bytes, int way, void *s) {
    SYNCHRONISED;
    int status = waits_not("cudaMemcpyToArrayAsync", s);
    return status ? status : copy("cudaMemcpyToArrayAsync", stretch(a, x, y, bytes), from, bytes, way);
}
EXPORT int cudaMemcpyFromArray(void *to, const Array *a, size_t x, size_t y, size_t bytes, int way) {
    SYNCHRONISED;
    return copy("cudaMemcpyFromArray", to, stretch(a, x, y, bytes), bytes, way);
}
EXPORT int cudaMemcpyFromArrayAsync(void *to, const Array *a, size_t x, size_t y, size_t bytes, int way, void *s) {
    SYNCHRONISED;
    int status = waits_not("cudaMemcpyFromArrayAsync", s);
    return status ? status : copy("cudaMemcpyFromArrayAsync", to, stretch(a, x, y, bytes), bytes, way);
}
EXPORT int cudaMemcpyArrayToArray(Array *to, size_t x, size_t y, const Array *from, size_t fx, size_t fy, size_t bytes, int way) {
    SYNCHRONISED;
    return copy("cudaMemcpyArrayToArray", stretch(to, x, y, bytes), stretch(from, fx, fy, bytes), bytes, way);
}

/* With an array on a side, widths are counted in its texels there. */
int copy_3d_arrays(const char *call, const Copy3D *c) {
    const Array *to = c->to_array, *from = c->from_array, *either = to ? to : from;
    if (!known(either) || (to && from && (!known(from) || to->texel != from->texel))) return fail(call, INVALID_VALUE, "no array, or texels of two sizes");
    Extent size = {c->extent.width * either->texel, c->extent.height, c->extent.depth};
    Position to_at = {c->to_at.x * (to ? to->texel : 1), c->to_at.y, c->to_at.z};
    Position from_at = {c->from_at.x * (from ? from->texel : 1), c->from_at.y, c->from_at.z};
    size_t to_slice = c->to.pitch * c->to.height, from_slice = c->from.pitch * c->from.height;
    Place into = to ? part(to, to_at, size) : (Place){(char *)c->to.at + to_at.z * to_slice + to_at.y * c->to.pitch + to_at.x, c->to.pitch, to_slice};
    Place out = from ? part(from, from_at, size) : (Place){(char *)c->from.at + from_at.z * from_slice + from_at.y * c->from.pitch + from_at.x, c->from.pitch, from_slice};
    return copy_places(call, into, out, size, c->way);
}

/* ---- objects ------------------------------------------------------------------------------------------------- */

/* A description may go on after the memory's end, as CUDA allows; the device looks at each texel that is read. */
static int begins_in_memory(const char *call, uint64_t at, size_t bytes) {
    const Allocation *row = memory_find((void *)at);
    int status = reaches(call, (void *)at, 1, 1);
    if (!status && bytes > row->end - at) note("%s: %zu bytes are described, the memory has %zu", call, bytes, (size_t)(row->end - at));
    return status;
}
static int describe_resource(const char *call, const Resource *r, Texture *t) {
    t->magic = TEXTURE_MAGIC;
    if (r->kind == FROM_ARRAY) {
        const Array *a = known(r->array);
        if (!a) return fail(call, INVALID_VALUE, "%p is no array", (const void *)r->array);
        int layered = a->flags & LAYERED;
        describe_size(t, a->extent.width, a->extent.height, layered ? 0 : a->extent.depth, layered ? a->extent.depth : 0);
        t->data = (uint64_t)a->data;
        return describe_format(&a->format, t);
    }
    if (r->kind == FROM_MIPMAP) return refuse(call, "mip levels");
    const Format *format = r->kind == FROM_LINEAR ? &r->linear.format : &r->pitched.format;
    int status = describe_format(format, t);
    if (status) return fail(call, status, "channels of %d, %d, %d and %d bits", format->bits[0], format->bits[1], format->bits[2], format->bits[3]);
    size_t bytes = r->linear.bytes;
    if (r->kind == FROM_LINEAR) {
        describe_size(t, bytes / texel_size(format), 0, 0, 0);
        t->data = (uint64_t)r->linear.at;
    } else {
        size_t row = r->pitched.width * texel_size(format);
        if (r->pitched.pitch < row || r->pitched.pitch > UINT32_MAX) return fail(call, INVALID_VALUE, "rows of %zu bytes, a pitch of %zu", row, r->pitched.pitch);
        describe_size(t, r->pitched.width, r->pitched.height, 0, 0);
        t->data = (uint64_t)r->pitched.at;
        t->pitch = (uint32_t)r->pitched.pitch;
        bytes = (t->height - 1) * r->pitched.pitch + row;
    }
    if (!t->data || !t->width) return fail(call, INVALID_VALUE, "no memory, or no texels");
    return begins_in_memory(call, t->data, bytes);
}

static int describe_reading(const char *call, const Reading *how, int is_linear_memory, Texture *t) {
    int is_float = t->kind == TEXEL_F32 || t->kind == TEXEL_F16, is_wide = t->kind == TEXEL_U32 || t->kind == TEXEL_S32;
    if (how->srgb) return refuse(call, "sRGB");
    if (how->fractions && is_wide) return fail(call, INVALID_VALUE, "integers of 32 bits as fractions");
    if (how->filter && !is_float && !how->fractions) return fail(call, INVALID_VALUE, "a linear filter over integers");
    t->linear = (uint32_t)how->filter;
    t->normalised = how->normalised != 0;
    t->values_normalised = is_float || how->fractions;
    for (int d = 0; d < 3; d++) {
        int folds = how->mode[d] == WRAP || how->mode[d] == MIRROR;
        t->mode[d] = is_linear_memory || (folds && !how->normalised) ? CLAMP : (uint32_t)how->mode[d];
        if (t->mode[d] == BORDER && (how->border[0] || how->border[1] || how->border[2] || how->border[3])) return refuse(call, "a border that is not zero");
    }
    return OK;
}

static int place_object(const char *call, uint64_t *into, const Object *object) {
    void *at = memory_allocate(sizeof *object, SORT_DEVICE, ALLOCATION_LIVE, NULL);
    if (!at) return fail(call, OUT_OF_MEMORY, "a texture object");
    memcpy(at, object, sizeof *object);
    *into = (uint64_t)at;
    return sticky();
}

EXPORT int cudaCreateTextureObject(uint64_t *into, const Resource *resource, const Reading *how, const int *view) {
    static const char call[] = "cudaCreateTextureObject";
    BEGIN;
    if (!into || !resource || !how) return fail(call, INVALID_VALUE, "a null pointer");
    if (view && *view) return refuse(call, "a resource view");
    Object object = {.resource = *resource, .reading = *how};
    int status = describe_resource(call, resource, &object.texture);
    if (!status) status = describe_reading(call, how, resource->kind == FROM_LINEAR, &object.texture);
    return status ? status : place_object(call, into, &object);
}
EXPORT int cudaCreateSurfaceObject(uint64_t *into, const Resource *resource) {
    static const char call[] = "cudaCreateSurfaceObject";
    BEGIN;
    if (!into || !resource) return fail(call, INVALID_VALUE, "a null pointer");
    if (resource->kind != FROM_ARRAY) return fail(call, INVALID_VALUE, "a surface is an array's");
    Object object = {.resource = *resource};
    int status = describe_resource(call, resource, &object.texture);
    return status ? status : place_object(call, into, &object);
}

static Object *object_of(const char *call, uint64_t handle, int *status) {
    const Allocation *row = memory_find((void *)handle);
    Object *object = (Object *)handle;
    int is_one = row && row->base == handle && row->state == ALLOCATION_LIVE && row->end - row->base == sizeof *object && object->texture.magic == TEXTURE_MAGIC;
    *status = is_one ? sticky() : fail(call, INVALID_VALUE, "%#llx is no object", (unsigned long long)handle);
    return is_one ? object : NULL;
}
static int destroy(const char *call, uint64_t handle) {
    int status;
    if (!handle) return sticky();
    return object_of(call, handle, &status) ? memory_release((void *)handle, SORT_DEVICE) : status;
}
EXPORT int cudaDestroyTextureObject(uint64_t handle) { SYNCHRONISED; return destroy("cudaDestroyTextureObject", handle); }
EXPORT int cudaDestroySurfaceObject(uint64_t handle) { SYNCHRONISED; return destroy("cudaDestroySurfaceObject", handle); }
static int resource_of(const char *call, Resource *into, uint64_t handle) {
    int status;
    const Object *object = object_of(call, handle, &status);
    if (object) memcpy(into, &object->resource, sizeof *into);
    return status;
}
EXPORT int cudaGetTextureObjectResourceDesc(Resource *into, uint64_t handle) { BEGIN; return resource_of("cudaGetTextureObjectResourceDesc", into, handle); }
EXPORT int cudaGetSurfaceObjectResourceDesc(Resource *into, uint64_t handle) { BEGIN; return resource_of("cudaGetSurfaceObjectResourceDesc", into, handle); }
EXPORT int cudaGetTextureObjectTextureDesc(Reading *into, uint64_t handle) {
    int status;
    BEGIN;
    const Object *object = object_of("cudaGetTextureObjectTextureDesc", handle, &status);
    if (object) *into = object->reading;
    return status;
}
