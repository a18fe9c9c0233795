/* MUBUF: addresses through a buffer resource in four SGPRs (9.1, "Vector Memory Buffer Instructions").
 *
 * Two kinds occur: the scratch of gfx90a (swizzled, with the lane added), and plain buffers, where accesses outside
 * num_records give 0 and write nothing. */
#include "lanes.h"

enum { ADD_TID = 1 << 23 };

typedef struct Resource {
    uint64_t base;
    uint32_t stride, records, flags;
} Resource;

static Resource resource_of(const Lanes *w, uint32_t first) {
    const uint32_t *s = &w->s[first];
    return (Resource){s[0] | (uint64_t)(s[1] & 0xffff) << 32, s[1] >> 16 & 0x3fff, s[2], s[3]};
}

/* The lanes inside the buffer, and their addresses, `extra` bytes on. */
static uint64_t lanes_inside(Lanes *w, BufferAddress at, Resource r, uint32_t extra, uint32_t bytes, uint64_t *address) {
    uint64_t inside = 0;
    for (int l = 0; l < 64; l++) {
        uint64_t index = at.index_row < 0 ? 0 : w->core.rows[64 * at.index_row + l];
        uint64_t offset = (uint64_t)at.offset + extra + (at.offset_row < 0 ? 0 : w->core.rows[64 * at.offset_row + l]);
        int ok = r.stride ? index < r.records && (at.index_row < 0 ? offset + bytes <= (uint64_t)r.records * r.stride : 1)
                          : offset + at.scalar + bytes <= r.records;
        address[l] = r.base + at.scalar + index * r.stride + offset;
        inside |= (uint64_t)ok << l;
    }
    return inside & w->exec;
}

static int poisoned_address(Lanes *w, uint32_t site, BufferAddress at) {
    uint64_t bad = 0;
    if (!w->core.row_poison) return 0;
    for (uint32_t i = 0; i < 4; i++) bad |= w->s_poison[at.resource + i] ? w->exec : 0;
    if (at.index_row >= 0) bad |= w->core.row_poison[at.index_row];
    if (at.offset_row >= 0) bad |= w->core.row_poison[at.offset_row];
    return gfx_poison(w, site, bad & w->exec);
}

static Address scratch_address(BufferAddress at) {
    uint64_t base = at.offset + (at.scalar >> 6); /* the scalar offset counts bytes of all 64 lanes */
    if (at.offset_row < 0) return (Address){ADDRESS_UNIFORM, 0, base};
    return (Address){ADDRESS_ROW, (uint32_t)at.offset_row, base};
}

/* One access of up to 32 bits a lane, of the lanes inside; a load gives the others 0. */
static int partly(Lanes *w, uint32_t site, int store, int width, uint64_t inside, uint64_t *address, uint32_t row) {
    uint64_t all = w->exec;
    if (!store && all & ~inside) {
        w->exec = all & ~inside;
        show_mask(w);
        for (int l = 0; l < 64; l++)
            if (w->mask[l]) w->core.rows[64 * row + l] = 0;
        if (w->core.row_poison) w->core.row_poison[row] &= ~w->exec;
    }
    w->exec = inside;
    int failed = inside ? (store ? gfx_store_at(w, site, SPACE_GLOBAL, width, address, row)
                                 : gfx_load_at(w, site, SPACE_GLOBAL, width, address, row))
                        : 0;
    w->exec = all;
    return failed;
}

int gfx_buffer(Lanes *w, uint32_t site, int store, int width, BufferAddress at, uint32_t row) {
    Resource r = resource_of(w, at.resource);
    uint64_t address[4][64] ALIGNED, inside[4];
    uint32_t words = width == W_128 ? 4 : width == W_96 ? 3 : width == W_64 ? 2 : 1;
    uint32_t bytes = words > 1 ? 4 : gfx_width_bytes(width);
    if (!w->exec) return 0;
    if (poisoned_address(w, site, at)) return 1;
    if (r.flags & ADD_TID)
        return store ? gfx_store(w, site, SPACE_PRIVATE, width, scratch_address(at), row)
                     : gfx_load(w, site, SPACE_PRIVATE, width, scratch_address(at), row);
    /* all addresses before the first load: its result may be one of their registers */
    for (uint32_t k = 0; k < words; k++) inside[k] = lanes_inside(w, at, r, 4 * k, bytes, address[k]);
    for (uint32_t k = 0; k < words; k++)
        if (partly(w, site, store, words > 1 ? W_32 : width, inside[k], address[k], row + k)) return 1;
    return 0;
}

int gfx_buffer_atomic(Lanes *w, uint32_t site, int op, int wide, BufferAddress at, uint32_t data, uint32_t other,
                      int32_t result) {
    Resource r = resource_of(w, at.resource);
    uint64_t address[64] ALIGNED, all = w->exec;
    if (!w->exec) return 0;
    if (poisoned_address(w, site, at)) return 1;
    w->exec = lanes_inside(w, at, r, 0, wide ? 8 : 4, address);
    int failed = w->exec ? gfx_atomic_at(w, site, SPACE_GLOBAL, op, wide, address, data, other, result) : 0;
    w->exec = all;
    return failed;
}

/* S_BUFFER_LOAD_DWORD and its kin: dwords beyond the buffer are 0 (stride counts records, as for vector accesses) */
int gfx_scalar_buffer_load(Lanes *w, uint32_t site, uint32_t resource, uint32_t offset, uint32_t words, uint32_t into) {
    Resource r = resource_of(w, resource);
    uint64_t size = r.stride ? (uint64_t)r.stride * r.records : r.records;
    uint32_t value[16] = {0};
    offset &= ~3u;
    for (uint32_t k = 0; k < words; k++) {
        uint64_t at = (uint64_t)offset + 4 * k;
        if (at + 4 > size) continue;
        if (core_scalar(&w->core, site, r.base + at, 4, 0)) return 1;
        memcpy(&value[k], (const void *)(r.base + at), 4);
    }
    memcpy(&w->s[into], value, 4 * words);
    memset(&w->s_poison[into], 0, 4 * words);
    return 0;
}
