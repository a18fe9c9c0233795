/* What a kernel asks of the host: printed text, assertions, memory. */
#include "warp.h"

enum { MESSAGE_PRINT, MESSAGE_ASSERT, PRINT_LIMIT = 1024, TEXT_LIMIT = 1 << 16 };

static int is_one_of(char c, const char *set) { return c && strchr(set, c) != NULL; }

typedef struct Text { /* a value that is the address of a string: where among the values it lies, how much of it is printed */
    uint32_t at, most, most_at; /* most_at: where the value lies that tells `most`; UINT32_MAX: the format does */
} Text;

/* Size of the values that a format takes; they lie at multiples of their own size. */
static uint32_t values_size(const char *format, const char *end, Text *texts, uint32_t *count) {
    uint32_t size = 0;
    for (const char *p = format; p < end && *p; p++) {
        Text text = {0, TEXT_LIMIT, UINT32_MAX};
        uint32_t wide = 0, precise = 0;
        if (*p != '%') continue;
        for (p++; p < end && is_one_of(*p, "-+ #0'123456789.*hlLjztq"); p++) {
            if (*p == '.') precise = 1, text.most = 0;
            else if (*p == '*') {
                size = (size + 3) / 4 * 4 + 4;
                if (precise) text.most_at = size - 4;
            } else if (precise && *p >= '0' && *p <= '9' && text.most < TEXT_LIMIT) text.most = 10 * text.most + (uint32_t)(*p - '0');
            wide |= is_one_of(*p, "lLjztq");
        }
        if (p >= end || !*p) break;
        if (*p == '%') continue;
        if (is_one_of(*p, "aAeEfFgGspn")) wide = 1;
        size = wide ? (size + 7) / 8 * 8 + 8 : (size + 3) / 4 * 4 + 4;
        if (size > PRINT_LIMIT) return PRINT_LIMIT;
        text.at = size - 8;
        if (*p == 's') texts[(*count)++] = text;
    }
    return size;
}

/* A character, wherever it lies: local arrays are printed, too. */
static int character(Warp *w, uint32_t site, uint32_t lane, uint64_t address, uint8_t *into) {
    uint64_t offset = address & ~APERTURE_MASK;
    if ((address & APERTURE_MASK) != SHARED_APERTURE) return ptx_read(w, site, lane, address, into, 1);
    if (offset >= w->core.launch->shared_bytes) return ptx_read(w, site, lane, address, into, 1); /* a fault */
    *into = w->core.block->shared[offset];
    return 0;
}

/* What is printed of a string, copied when printf is called, as a GPU does: it may be another one when the host looks. */
static int copy_text(Warp *w, uint32_t site, uint32_t lane, uint8_t *data, uint32_t *used, const Text *text) {
    uint64_t address, place = *used - 8;
    uint32_t most = text->most;
    memcpy(&address, data + 8 + text->at, 8);
    memcpy(data + 8 + text->at, &place, 8);
    if (text->most_at != UINT32_MAX) memcpy(&most, data + 8 + text->most_at, 4);
    if (most > TEXT_LIMIT) most = TEXT_LIMIT; /* a negative one is none */
    if (!address) memcpy(data + *used, "(null)", 7), *used += 7;
    for (uint32_t i = 0; address && i <= most; i++) {
        uint8_t *to = &data[(*used)++];
        *to = 0;
        if (i < most && character(w, site, lane, address + i, to)) return 1;
        if (!*to) break;
    }
    return 0;
}

int ptx_print(Warp *w, uint32_t site, uint32_t lanes, const uint64_t *format, const uint64_t *values) {
    for (uint32_t left = lanes; left; left &= left - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(left), count = 0;
        uint8_t data[8 + PRINT_LIMIT];
        Text texts[PRINT_LIMIT / 8];
        if (core_scalar(&w->core, site, format[l], 1, 0)) return 1;
        const Allocation *found = w->core.worker->hit[site];
        uint32_t size = values_size((const char *)format[l], (const char *)found->end, texts, &count), used = 8 + size;
        memcpy(data, &format[l], 8);
        if (size && ptx_read(w, site, l, values[l], data + 8, size)) return 1;
        uint8_t *all = count ? malloc(used + (size_t)count * (TEXT_LIMIT + 8)) : NULL;
        if (all) memcpy(all, data, used);
        int status = 0;
        for (uint32_t i = 0; all && i < count && !status; i++) status = copy_text(w, site, l, all, &used, &texts[i]);
        if (!status) core_message(&w->core, MESSAGE_PRINT, site, l, all ? all : data, used);
        free(all);
        if (status) return 1;
    }
    return 0;
}

int ptx_assert(Warp *w, uint32_t site, uint32_t lanes, const uint64_t *text, const uint64_t *file, const uint32_t *line,
               const uint64_t *function) {
    uint32_t l = (uint32_t)__builtin_ctz(lanes);
    uint64_t data[4] = {text[l], file[l], line[l], function[l]};
    core_message(&w->core, MESSAGE_ASSERT, site, l, data, sizeof data);
    core_fault(&w->core, FAULT_ASSERT, site, l, 0, 0);
    return 1;
}

void ptx_allocate(Warp *w, uint32_t lanes, const uint64_t *bytes, uint64_t *into) {
    for (uint32_t left = lanes; left; left &= left - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(left);
        into[l] = core_heap_allocate(&w->core, bytes[l], 16);
    }
}

int ptx_release(Warp *w, uint32_t site, uint32_t lanes, const uint64_t *address) {
    for (uint32_t left = lanes; left; left &= left - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(left);
        if (!address[l] || core_heap_free(&w->core, address[l])) continue;
        core_fault(&w->core, FAULT_BAD_FREE, site, l, address[l], 0);
        return 1;
    }
    return 0;
}
