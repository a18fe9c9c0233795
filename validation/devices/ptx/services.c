/* What a kernel asks of the host: printed text, assertions, memory. */
#include "warp.h"

enum { MESSAGE_PRINT, MESSAGE_ASSERT, PRINT_LIMIT = 1024 };

static int is_one_of(char c, const char *set) { return c && strchr(set, c) != NULL; }

/* Size of the values that a format takes; they lie at multiples of their own size. */
static uint32_t values_size(const char *format, const char *end) {
    uint32_t size = 0;
    for (const char *p = format; p < end && *p; p++) {
        uint32_t wide = 0;
        if (*p != '%') continue;
        for (p++; p < end && is_one_of(*p, "-+ #0'123456789.*hlLjztq"); p++) {
            if (*p == '*') size = (size + 3) / 4 * 4 + 4;
            wide |= is_one_of(*p, "lLjztq");
        }
        if (p >= end || !*p) break;
        if (*p == '%') continue;
        if (is_one_of(*p, "aAeEfFgGspn")) wide = 1;
        size = wide ? (size + 7) / 8 * 8 + 8 : (size + 3) / 4 * 4 + 4;
        if (size > PRINT_LIMIT) return PRINT_LIMIT;
    }
    return size;
}

int ptx_print(Warp *w, uint32_t site, uint32_t lanes, const uint64_t *format, const uint64_t *values) {
    for (uint32_t left = lanes; left; left &= left - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(left);
        uint8_t data[8 + PRINT_LIMIT];
        if (core_scalar(&w->core, site, format[l], 1, 0)) return 1;
        const Allocation *found = w->core.worker->hit[site];
        uint32_t size = values_size((const char *)format[l], (const char *)found->end);
        memcpy(data, &format[l], 8);
        if (size && ptx_read(w, site, l, values[l], data + 8, size)) return 1;
        core_message(&w->core, MESSAGE_PRINT, site, l, data, 8 + size);
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
