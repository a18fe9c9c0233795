/* Texture objects: the handle is the address of a description in device memory. */
#include "lanes.h"

enum { MODE_WRAP, MODE_CLAMP, MODE_MIRROR, MODE_BORDER };

static float texel_value(const uint8_t *at, const Texture *t, uint32_t channel, uint32_t *bits) {
    static const uint8_t sizes[] = {4, 2, 1, 1, 2, 2, 4, 4};
    uint32_t raw = 0;
    memcpy(&raw, at + channel * sizes[t->kind], sizes[t->kind]);
    switch (t->kind) {
    case TEXEL_F32: *bits = raw; return f32(raw);
    case TEXEL_F16: *bits = u32(f16(raw)); return f16(raw);
    case TEXEL_U8: *bits = raw; return (float)raw / 255.0f;
    case TEXEL_S8: *bits = (uint32_t)(int8_t)raw; return fmaxf((float)(int8_t)raw / 127.0f, -1.0f);
    case TEXEL_U16: *bits = raw; return (float)raw / 65535.0f;
    case TEXEL_S16: *bits = (uint32_t)(int16_t)raw; return fmaxf((float)(int16_t)raw / 32767.0f, -1.0f);
    default: *bits = raw; return (float)raw;
    }
}

static uint32_t texel_bytes(const Texture *t) {
    static const uint8_t sizes[] = {4, 2, 1, 1, 2, 2, 4, 4};
    return sizes[t->kind] * t->channels;
}

/* An index inside the image, or -1 for the border. */
static int64_t place(int64_t i, uint32_t size, uint32_t mode) {
    int64_t n = size;
    if (i >= 0 && i < n) return i;
    if (mode == MODE_BORDER) return -1;
    if (mode == MODE_WRAP && i >= -n && i < 2 * n) return i < 0 ? i + n : i - n;
    return i < 0 ? 0 : n - 1;
}

/* Where the filter begins: CUDA folds normalised coordinates, scales them, and looks half a texel to the left. NaN is the
   lowest coordinate; nothing is far outside of the image. */
static float filter_start(float x, const Texture *t, uint32_t size, uint32_t mode, int linear) {
    if (t->normalised && (mode == MODE_WRAP || mode == MODE_MIRROR)) {
        float whole = floorf(x), half = whole * 0.5f;
        x -= whole;
        if (mode == MODE_MIRROR && half != floorf(half)) x = 1.0f - x;
    }
    x = fmaf(x, t->normalised ? (float)size : 1.0f, linear ? -0.5f : 0.0f);
    return fminf(fmaxf(x, -2.0f), (float)size + 1.0f);
}

typedef struct Texel {
    float value[4];
    uint32_t bits[4];
} Texel;

static int fetch(Warp *w, uint32_t site, uint32_t lane, const Texture *t, const int64_t *at, uint32_t layer, Texel *into) {
    const uint32_t sizes[3] = {t->width, t->height, t->depth};
    int64_t index[3];
    memset(into, 0, sizeof *into);
    for (int d = 0; d < 3; d++) {
        index[d] = place(at[d], sizes[d], t->mode[d]);
        if (index[d] < 0) return 0;
    }
    uint64_t row = ((uint64_t)index[2] + layer) * t->height + (uint64_t)index[1], bytes = texel_bytes(t);
    uint64_t address = t->data + row * (t->pitch ? t->pitch : t->width * bytes) + (uint64_t)index[0] * bytes;
    (void)lane;
    if (core_scalar(&w->core, site, address, texel_bytes(t), 0)) return 1;
    for (uint32_t c = 0; c < t->channels; c++) into->value[c] = texel_value((const uint8_t *)address, t, c, &into->bits[c]);
    return 0;
}

/* A corner's weight. In two dimensions an H100 rounds that of the far corner to 8 bits, and the others make up for it. */
static float weight_of(int corner, int dimensions, const float *part) {
    if (dimensions == 2) {
        float far = floorf(part[0] * part[1] * 256.0f + 0.5f) / 256.0f;
        const float weights[4] = {1 - part[0] - part[1] + far, part[0] - far, part[1] - far, far};
        return weights[corner];
    }
    float weight = corner & 1 ? part[0] : 1 - part[0];
    if (dimensions > 2) weight *= (corner & 2 ? part[1] : 1 - part[1]) * (corner & 4 ? part[2] : 1 - part[2]);
    return weight;
}

static int sample(Warp *w, uint32_t site, uint32_t lane, const Texture *t, int dimensions, const float *at, uint32_t layer,
                  Texel *into) {
    const uint32_t sizes[3] = {t->width, t->height, t->depth};
    int64_t low[3] = {0, 0, 0};
    float part[3] = {0, 0, 0};
    for (int d = 0; d < dimensions; d++) {
        float x = filter_start(at[d], t, sizes[d], t->mode[d], (int)t->linear);
        low[d] = (int64_t)floorf(x);
        part[d] = t->linear ? rintf((x - floorf(x)) * 256.0f) / 256.0f : 0.0f; /* 8 bits of fraction */
    }
    if (!t->linear) return fetch(w, site, lane, t, low, layer, into);
    memset(into, 0, sizeof *into);
    for (int corner = 0; corner < 1 << dimensions; corner++) {
        int64_t here[3] = {low[0], low[1], low[2]};
        float weight = weight_of(corner, dimensions, part);
        Texel texel;
        for (int d = 0; d < dimensions; d++) here[d] += corner >> d & 1;
        if (weight == 0) continue;
        if (fetch(w, site, lane, t, here, layer, &texel)) return 1;
        for (int c = 0; c < 4; c++) into->value[c] = fmaf(weight, texel.value[c], into->value[c]);
    }
    for (int c = 0; c < 4; c++) into->bits[c] = u32(into->value[c]);
    return 0;
}

static const Texture *object_at(Warp *w, uint32_t site, uint32_t lane, uint64_t handle) {
    if (core_scalar(&w->core, site, handle, sizeof(Texture), 0)) return NULL;
    const Texture *t = (const Texture *)handle;
    if (t->magic == TEXTURE_MAGIC) return t;
    core_fault(&w->core, FAULT_OUT_OF_BOUNDS, site, lane, handle, 0);
    return NULL;
}

int ptx_texture(Warp *w, uint32_t site, uint32_t active, int dimensions, int integral, int as_float,
                const uint64_t *object, const uint32_t *layer, const uint32_t *const *coordinates, uint32_t *const *into) {
    for (uint32_t left = active; left; left &= left - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(left);
        float at[3] = {0, 0, 0};
        int64_t whole[3] = {0, 0, 0};
        Texel texel;
        const Texture *t = object_at(w, site, l, object[l]);
        if (!t) return 1;
        for (int d = 0; d < dimensions; d++) {
            at[d] = f32(coordinates[d][l]);
            whole[d] = (int32_t)coordinates[d][l];
        }
        uint32_t n = layer ? layer[l] < t->layers ? layer[l] : t->layers - 1 : 0;
        memset(&texel, 0, sizeof texel);
        int inside = whole[0] >= 0 && whole[0] < t->width; /* tex1Dfetch reads zeros elsewhere, whatever the mode */
        if (integral ? inside && fetch(w, site, l, t, whole, n, &texel) : sample(w, site, l, t, dimensions, at, n, &texel)) return 1;
        for (int c = 0; c < 4; c++)
            if (into[c]) into[c][l] = as_float && t->values_normalised ? u32(texel.value[c]) : texel.bits[c];
    }
    return 0;
}

/* The four texels of the linear filter, from the lower left against the clock. */
int ptx_gather(Warp *w, uint32_t site, uint32_t active, int component, int as_float, const uint64_t *object,
               const uint32_t *const *coordinates, uint32_t *const *into) {
    static const int right[4] = {0, 1, 1, 0}, down[4] = {1, 1, 0, 0};
    for (uint32_t left = active; left; left &= left - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(left);
        const Texture *t = object_at(w, site, l, object[l]);
        if (!t) return 1;
        int64_t x = (int64_t)floorf(filter_start(f32(coordinates[0][l]), t, t->width, t->mode[0], 1));
        int64_t y = (int64_t)floorf(filter_start(f32(coordinates[1][l]), t, t->height, t->mode[1], 1));
        uint32_t found[4];
        for (int n = 0; n < 4; n++) {
            int64_t at[3] = {x + right[n], y + down[n], 0};
            Texel texel;
            if (fetch(w, site, l, t, at, 0, &texel)) return 1;
            found[n] = as_float && t->values_normalised ? u32(texel.value[component]) : texel.bits[component];
        }
        for (int n = 0; n < 4; n++)
            if (into[n]) into[n][l] = found[n];
    }
    return 0;
}

/* Addresses on a surface, x in bytes; `inside` are the lanes that have one. */
int ptx_surface(Warp *w, uint32_t site, uint32_t active, int dimensions, int boundary, uint32_t bytes,
                const uint64_t *object, const uint32_t *layer, const uint32_t *const *coordinates, uint64_t *address,
                uint32_t *inside) {
    *inside = active;
    for (uint32_t left = active; left; left &= left - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(left);
        const Texture *t = object_at(w, site, l, object[l]);
        if (!t) return 1;
        int64_t row = (int64_t)t->width * texel_bytes(t), at[3] = {0, 0, 0};
        const int64_t last[3] = {row - bytes, (int64_t)t->height - 1, (int64_t)(layer ? t->layers : t->depth) - 1};
        for (int d = 0; d < dimensions; d++) at[d] = (int32_t)coordinates[d][l];
        if (layer) at[2] = (int32_t)layer[l];
        for (int d = 0; d < 3; d++) {
            if (at[d] >= 0 && at[d] <= last[d]) continue;
            if (boundary == SURFACE_TRAP) return ptx_trap(w, site, FAULT_TRAP, 0);
            if (boundary == SURFACE_ZERO) *inside &= ~(1u << l);
            at[d] = at[d] < 0 ? 0 : last[d];
        }
        address[l] = t->data + (uint64_t)((at[2] * t->height + at[1]) * row + at[0]);
    }
    return 0;
}
