/* What each launch wrote, kept in a file: the two sides of a port are compared launch by launch (trace.py). */
#define _GNU_SOURCE
#include "host.h"

#include <unistd.h>

#define MOST (1ull << 29) /* bytes of a trace */

static FILE *file;
static uint64_t written;
static uint32_t launches;

static int is_traced(const Allocation *row) {
    enum Sort sort = memory_detail(row)->sort;
    return row->state == ALLOCATION_LIVE && sort <= SORT_PINNED;
}

static uint64_t hash_of(const Allocation *row) {
    uint64_t hash = row->end - row->base;
    const uint8_t *data = (const uint8_t *)row->base;
    for (size_t at = 0, size = row->end - row->base; at < size; at += 8) {
        uint64_t word = 0;
        memcpy(&word, data + at, size - at < 8 ? size - at : 8);
        hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
        hash ^= hash >> 32;
    }
    return hash;
}

void trace_before(void) {
    uint32_t count;
    const Allocation *table = memory_table(&count);
    if (!settings.trace) return;
    for (uint32_t i = 0; i < count; i++)
        if (is_traced(&table[i])) memory_detail(&table[i])->hash = hash_of(&table[i]);
}

/* A record: L, launch, length of the name, grid, block, name; then A, sort, number, size, content for what it changed. */
void trace_after(const Request *r) {
    uint32_t count, number = ++launches;
    const Allocation *table = memory_table(&count);
    if (!settings.trace || written > MOST) return;
    if (!file) {
        char path[600];
        snprintf(path, sizeof path, "%s/%s-%d.trace", settings.trace, SIDE, getpid());
        file = fopen(path, "wb");
        if (!file) end_process(END_BROKEN, "%s cannot be written", path);
    }
    uint32_t head[] = {'L', number, (uint32_t)strlen(r->kernel->shown), r->grid.x, r->grid.y, r->grid.z, r->block.x, r->block.y, r->block.z};
    fwrite(head, sizeof head, 1, file);
    fwrite(r->kernel->shown, 1, head[2], file);
    for (uint32_t i = 0; i < count; i++) {
        const Detail *detail = memory_detail(&table[i]);
        if (!is_traced(&table[i]) || hash_of(&table[i]) == detail->hash) continue;
        uint64_t size = table[i].end - table[i].base;
        uint32_t row[] = {'A', detail->sort, detail->number, (uint32_t)size, (uint32_t)(size >> 32)};
        fwrite(row, sizeof row, 1, file);
        fwrite((const void *)table[i].base, 1, size, file);
        written += size;
    }
    fflush(file);
}
