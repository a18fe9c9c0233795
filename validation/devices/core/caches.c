/* The caches between the lanes and memory, driven by the addresses of a launch: one L1 per CU, one L2 per XCD, and one
 * last-level cache. Blocks go to XCDs in turn, and to the CUs of an XCD in turn. One host thread runs such a launch. */

#include <stdlib.h>
#include <string.h>

#include "runtime.h"

enum { LINE_BITS = 7, HALF_BITS = 6, QUAD_LANES = 4, ROW_LANES = 16 };

typedef struct Cache { /* least recently used, by set; tags are line numbers plus one, 0: free */
    uint64_t *tags;
    uint8_t *dirty; /* a bit per half line */
    uint32_t sets, ways;
} Cache;

struct Caches {
    const CacheShape *shape;
    Cache *l1, *l2, last;
    CacheTotals totals;
};

static int cache_make(Cache *cache, uint32_t sets, uint32_t ways) {
    cache->sets = sets, cache->ways = ways;
    cache->tags = calloc((size_t)sets * ways, sizeof *cache->tags);
    cache->dirty = calloc((size_t)sets * ways, 1);
    return cache->tags && cache->dirty;
}

static void cache_free(Cache *cache) {
    free(cache->tags);
    free(cache->dirty);
}

/* Whether a line is there; afterwards it is, as the set's most recent. What had to go, and was dirty, is returned. */
static int cache_touch(Cache *cache, uint64_t line, uint8_t dirty, uint64_t *gone, uint8_t *gone_dirty) {
    uint64_t *tags = cache->tags + line % cache->sets * cache->ways;
    uint8_t *marks = cache->dirty + line % cache->sets * cache->ways;
    uint32_t way = 0;
    while (way < cache->ways && tags[way] != line + 1) way++;
    int hit = way < cache->ways;
    *gone_dirty = 0;
    if (!hit) {
        way = cache->ways - 1;
        *gone = tags[way] - 1, *gone_dirty = tags[way] ? marks[way] : 0;
        marks[way] = 0;
    }
    dirty |= marks[way];
    memmove(tags + 1, tags, way * sizeof *tags);
    memmove(marks + 1, marks, way);
    tags[0] = line + 1, marks[0] = dirty;
    return hit;
}

Caches *core_caches_start(const CacheShape *shape) {
    Caches *caches = calloc(1, sizeof *caches);
    if (!caches) return NULL;
    caches->shape = shape;
    caches->l1 = calloc((size_t)shape->xcds * shape->cus_per_xcd, sizeof *caches->l1);
    caches->l2 = calloc(shape->xcds, sizeof *caches->l2);
    int made = caches->l1 && caches->l2 && cache_make(&caches->last, shape->last_sets, shape->last_ways);
    for (uint32_t i = 0; made && i < shape->xcds; i++) made = cache_make(&caches->l2[i], shape->l2_sets, shape->l2_ways);
    for (uint32_t i = 0; made && i < shape->xcds * shape->cus_per_xcd; i++)
        made = cache_make(&caches->l1[i], shape->l1_sets, shape->l1_ways);
    if (made) return caches;
    core_caches_end(caches, NULL);
    return NULL;
}

/* At the end of a kernel every L2 writes back what is dirty. */
void core_caches_end(Caches *caches, CacheTotals *totals) {
    if (!caches) return;
    for (uint32_t i = 0; caches->l2 && i < caches->shape->xcds; i++) {
        Cache *l2 = &caches->l2[i];
        for (size_t k = 0; l2->dirty && k < (size_t)l2->sets * l2->ways; k++)
            caches->totals.written_back += (uint64_t)__builtin_popcount(l2->dirty[k]);
        cache_free(l2);
    }
    for (uint32_t i = 0; caches->l1 && i < caches->shape->xcds * caches->shape->cus_per_xcd; i++) cache_free(&caches->l1[i]);
    cache_free(&caches->last);
    if (totals) *totals = caches->totals;
    free(caches->l1);
    free(caches->l2);
    free(caches);
}

static void memory_write(Caches *caches, uint64_t line, uint8_t halves) {
    uint64_t gone;
    uint8_t gone_dirty;
    caches->totals.written_back += (uint64_t)__builtin_popcount(halves);
    cache_touch(&caches->last, line, halves, &gone, &gone_dirty);
    caches->totals.memory_writes += (uint64_t)__builtin_popcount(gone_dirty);
}

static void l2_access(Caches *caches, SiteCount *count, uint32_t xcd, uint64_t line, uint8_t dirty) {
    uint64_t gone;
    uint8_t gone_dirty;
    if (cache_touch(&caches->l2[xcd], line, dirty, &gone, &gone_dirty)) return;
    if (gone_dirty) memory_write(caches, gone, gone_dirty);
    if (dirty) return; /* a write needs no line from memory: bytes are masked */
    count->l2_misses++;
    if (!cache_touch(&caches->last, line, 0, &gone, &gone_dirty)) count->last_misses++;
    caches->totals.memory_writes += (uint64_t)__builtin_popcount(gone_dirty);
}

/* Lanes served together: 16 of up to 4 bytes, 4 of more; each line that they touch is one access of the L1. */
static uint32_t l1_accesses(uint64_t active, const uint64_t *address, uint32_t bytes) {
    uint32_t group = bytes <= 4 ? ROW_LANES : QUAD_LANES, total = 0;
    for (uint32_t start = 0; start < LANES; start += group) {
        uint64_t seen[2 * ROW_LANES];
        uint32_t count = 0;
        for (uint32_t lane = start; lane < start + group; lane++) {
            if (!(active >> lane & 1)) continue;
            for (uint64_t line = address[lane] >> LINE_BITS; line <= (address[lane] + bytes - 1) >> LINE_BITS; line++) {
                uint32_t at = 0;
                while (at < count && seen[at] != line) at++;
                if (at == count && count < 2 * ROW_LANES) seen[count++] = line;
            }
        }
        total += count;
    }
    return total;
}

/* Distinct pieces of `1 << bits` bytes that the active lanes touch, in the order of the lanes. */
static uint32_t pieces(uint64_t active, const uint64_t *address, uint32_t bytes, uint32_t bits, uint64_t *found) {
    uint64_t table[1024];
    uint32_t count = 0;
    memset(table, 0xff, sizeof table);
    for (uint32_t lane = 0; lane < LANES; lane++) {
        if (!(active >> lane & 1)) continue;
        for (uint64_t piece = address[lane] >> bits; piece <= (address[lane] + bytes - 1) >> bits; piece++) {
            if (count && found[count - 1] == piece) continue;
            uint32_t slot = (uint32_t)(piece * 0x9e3779b97f4a7c15ull >> 54);
            while (table[slot] != UINT64_MAX && table[slot] != piece) slot = (slot + 1) & 1023;
            if (table[slot] == piece) continue;
            table[slot] = piece;
            found[count++] = piece;
        }
    }
    return count;
}

void core_caches_access(Wave *w, uint32_t site, uint64_t active, const uint64_t *address, uint32_t bytes, int write) {
    Caches *caches = w->worker->caches;
    SiteCount *count = &w->worker->sites[site];
    uint32_t xcd = w->block->linear % caches->shape->xcds;
    uint32_t cu = w->block->linear / caches->shape->xcds % caches->shape->cus_per_xcd;
    uint64_t found[LANES * 4], gone;
    uint8_t gone_dirty;
    count->accesses += l1_accesses(active, address, bytes);
    if (write) {
        uint32_t halves = pieces(active, address, bytes, HALF_BITS, found);
        count->l2_requests += halves;
        for (uint32_t i = 0; i < halves; i++) l2_access(caches, count, xcd, found[i] >> 1, (uint8_t)(1 << (found[i] & 1)));
        return;
    }
    uint32_t lines = pieces(active, address, bytes, LINE_BITS, found);
    for (uint32_t i = 0; i < lines; i++) {
        if (cache_touch(&caches->l1[xcd * caches->shape->cus_per_xcd + cu], found[i], 0, &gone, &gone_dirty)) continue;
        count->l2_requests++;
        l2_access(caches, count, xcd, found[i], 0);
    }
}
