/* The caches between the lanes and memory, driven by the addresses of a launch: one L1 per CU, one L2 per XCD, and one
 * last-level cache. Blocks go to XCDs in turn, and to the CUs of an XCD in turn. One host thread runs such a launch. */

#include <stdlib.h>
#include <string.h>

#include "runtime.h"

enum { LINE_BITS = 7, QUAD_LANES = 4, ROW_LANES = 16 };

/* Least recently used, by set. An entry is what tells lines of a set apart, plus one, above the marks of what was
 * written; 0: free. */
typedef struct Cache {
    void *room;
    uint32_t *entries; /* in the room, a common set in a line of the host's cache */
    uint32_t sets, ways, bits; /* bits: sets as a power of two; 0: they are none */
} Cache;

enum { COMMON_WAYS = 16 };
enum { DIRTY_BITS = 2, DIRTY = 3 };              /* halves of a line that were written */
enum { OWNER_BITS = 3, OWNER = 7 << DIRTY_BITS }; /* the last level alone: the XCD that asked last */

typedef struct Hot { /* atomics of a line, by lane; count 0: free */
    uint64_t line, count;
} Hot;

struct Caches {
    const CacheShape *shape;
    Cache *l1, *l2, last;
    CacheTotals totals;
    Hot *hot;
    uint64_t hot_room, hot_used;
};

static int cache_make(Cache *cache, uint32_t sets, uint32_t ways) {
    cache->sets = sets, cache->ways = ways;
    cache->bits = sets && !(sets & (sets - 1)) ? (uint32_t)__builtin_ctz(sets) : 0;
    if (!sets) return 1;
    cache->room = calloc((size_t)sets * ways * sizeof *cache->entries + 64, 1); /* not touched: it costs nothing before it is used */
    cache->entries = (uint32_t *)(((uintptr_t)cache->room + 63) / 64 * 64);
    return cache->room != NULL;
}

static uint64_t set_of(const Cache *cache, uint64_t line) {
    return cache->bits ? line & (cache->sets - 1) : line % cache->sets;
}

static inline uint32_t way_of(const uint32_t *entries, uint32_t ways, uint32_t tag, uint32_t bits) { /* ways: not there */
    uint32_t found = ways;
    for (uint32_t way = 0; way < ways; way++) found = entries[way] >> bits == tag ? way : found;
    return found;
}

/* The entry of a line if it is there, else 0; afterwards it is, as the set's most recent, with `marks` (and what was
 * written before) in its lowest `bits`. What had to go, and was dirty, is returned. A cache without sets is none:
 * everything goes through it. */
static inline __attribute__((always_inline)) uint32_t cache_enter(
    Cache *cache, uint64_t line, uint32_t marks, uint64_t *gone, uint8_t *gone_dirty, const uint32_t bits) {
    if (!cache->sets) {
        *gone = line, *gone_dirty = marks & DIRTY;
        return 0;
    }
    uint64_t set = set_of(cache, line);
    uint32_t tag = (uint32_t)(cache->bits ? line >> cache->bits : line / cache->sets) + 1, ways = cache->ways;
    uint32_t *entries = cache->entries + set * ways;
    tag &= UINT32_MAX >> bits;
    *gone_dirty = 0;
    if (entries[0] >> bits == tag) {
        uint32_t before = entries[0];
        entries[0] = tag << bits | marks | (before & DIRTY);
        return before;
    }
    uint32_t way = ways == COMMON_WAYS ? way_of(entries, COMMON_WAYS, tag, bits) : way_of(entries, ways, tag, bits); /* the first is vector code */
    uint32_t hit = way < ways, moved = hit ? way : ways - 1, last = entries[moved];
    if (moved == COMMON_WAYS - 1) memmove(entries + 1, entries, (COMMON_WAYS - 1) * sizeof *entries);
    else memmove(entries + 1, entries, moved * sizeof *entries);
    entries[0] = tag << bits | marks | (hit ? last & DIRTY : 0);
    if (hit) return last;
    if (last) *gone = (uint64_t)((last >> bits) - 1) * cache->sets + set, *gone_dirty = last & DIRTY;
    return 0;
}

/* Whether a line is in an L1 or L2; afterwards it is. */
static int cache_touch(Cache *cache, uint64_t line, uint8_t dirty, uint64_t *gone, uint8_t *gone_dirty) {
    return cache_enter(cache, line, dirty, gone, gone_dirty, DIRTY_BITS) != 0;
}

/* The same of the last level, for an XCD. */
static uint32_t last_enter(Cache *last, uint64_t line, uint8_t dirty, uint32_t xcd, uint64_t *gone, uint8_t *gone_dirty) {
    uint32_t owner = xcd << DIRTY_BITS & OWNER;
    return cache_enter(last, line, owner | dirty, gone, gone_dirty, DIRTY_BITS + OWNER_BITS);
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
        for (size_t k = 0; l2->room && k < (size_t)l2->sets * l2->ways; k++)
            caches->totals.written_back += (uint64_t)__builtin_popcount(l2->entries[k] & DIRTY);
        free(l2->room);
    }
    for (uint32_t i = 0; caches->l1 && i < caches->shape->xcds * caches->shape->cus_per_xcd; i++) free(caches->l1[i].room);
    free(caches->last.room);
    if (totals) *totals = caches->totals;
    free(caches->l1);
    free(caches->l2);
    free(caches->hot);
    free(caches);
}

static void memory_write(Caches *caches, uint64_t line, uint8_t halves, uint32_t xcd) {
    uint64_t gone;
    uint8_t gone_dirty;
    caches->totals.written_back += (uint64_t)__builtin_popcount(halves);
    last_enter(&caches->last, line, halves, xcd, &gone, &gone_dirty);
    caches->totals.memory_writes += (uint64_t)__builtin_popcount(gone_dirty);
}

static void l2_access(Caches *caches, SiteCount *count, uint32_t xcd, uint64_t line, uint8_t dirty, int needs_line) {
    uint64_t gone;
    uint8_t gone_dirty;
    if (cache_touch(&caches->l2[xcd], line, dirty, &gone, &gone_dirty)) return;
    if (gone_dirty) memory_write(caches, gone, gone_dirty, xcd);
    if (!needs_line) return; /* a write needs none from memory: bytes are masked */
    count->l2_misses++;
    uint32_t before = last_enter(&caches->last, line, 0, xcd, &gone, &gone_dirty);
    if (!before) count->last_misses++;
    else count->other_xcd += (before & OWNER) >> DIRTY_BITS != xcd;
    caches->totals.memory_writes += (uint64_t)__builtin_popcount(gone_dirty);
}

/* Lanes served together: 16 of up to 4 bytes, 4 of more; each line that they touch is one access of the L1. */
static uint32_t l1_accesses(uint64_t active, const uint64_t *address, uint32_t bytes) {
    uint32_t group = bytes <= 4 ? ROW_LANES : QUAD_LANES, total = 0;
    for (uint32_t start = 0; start < LANES; start += group) {
        uint64_t seen[2 * ROW_LANES], highest = 0;
        uint32_t count = 0;
        for (uint32_t lane = start; lane < start + group; lane++) {
            if (!(active >> lane & 1)) continue;
            for (uint64_t line = address[lane] >> LINE_BITS; line <= (address[lane] + bytes - 1) >> LINE_BITS; line++) {
                uint32_t at = line > highest ? count : 0; /* most are further on than all before */
                highest = line > highest ? line : highest;
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
    uint16_t table[1024] = {0}; /* number in `found`, plus one */
    uint32_t count = 0;
    for (uint64_t left = active; left; left &= left - 1) {
        uint64_t at = address[__builtin_ctzll(left)];
        for (uint64_t piece = at >> bits; piece <= (at + bytes - 1) >> bits; piece++) {
            if (count && found[count - 1] == piece) continue;
            uint32_t slot = (uint32_t)(piece * 0x9e3779b97f4a7c15ull >> 54);
            while (table[slot] && found[table[slot] - 1] != piece) slot = (slot + 1) & 1023;
            if (table[slot]) continue;
            found[count++] = piece;
            table[slot] = (uint16_t)count;
        }
    }
    return count;
}

static int hot_grow(Caches *caches) {
    uint64_t room = caches->hot_room ? 2 * caches->hot_room : 1024;
    Hot *made = calloc(room, sizeof *made);
    if (!made) return 0;
    for (uint64_t i = 0; i < caches->hot_room; i++) {
        if (!caches->hot[i].count) continue;
        uint64_t slot = caches->hot[i].line * 0x9e3779b97f4a7c15ull >> 20 & (room - 1);
        while (made[slot].count) slot = (slot + 1) & (room - 1);
        made[slot] = caches->hot[i];
    }
    free(caches->hot);
    caches->hot = made, caches->hot_room = room;
    return 1;
}

/* Atomics on one line are done one after the other, whoever asks. */
static void count_atomics(Caches *caches, uint64_t active, const uint64_t *address) {
    for (uint64_t left = active; left; left &= left - 1) {
        uint64_t line = address[__builtin_ctzll(left)] >> LINE_BITS;
        if (4 * (caches->hot_used + 1) > 3 * caches->hot_room && !hot_grow(caches)) return;
        uint64_t slot = line * 0x9e3779b97f4a7c15ull >> 20 & (caches->hot_room - 1);
        while (caches->hot[slot].count && caches->hot[slot].line != line) slot = (slot + 1) & (caches->hot_room - 1);
        Hot *hot = &caches->hot[slot];
        caches->hot_used += !hot->count;
        hot->line = line, hot->count++;
        caches->totals.atomics++;
        if (hot->count > caches->totals.hottest) caches->totals.hottest = hot->count;
    }
}

/* Tags are more than the host's own caches hold: they are asked for together. */
static void prefetch(const Caches *caches, uint32_t xcd, const uint64_t *found, uint32_t count, uint32_t up) {
    const Cache *l2 = &caches->l2[xcd], *last = &caches->last;
    if (count < 8) return;
    for (uint32_t i = 0; i < count; i++) {
        __builtin_prefetch(l2->entries + set_of(l2, found[i] >> up) * l2->ways, 1);
        if (last->sets) __builtin_prefetch(last->entries + set_of(last, found[i] >> up) * last->ways, 1);
    }
}

void core_caches_access(Wave *w, uint32_t site, uint64_t active, const uint64_t *address, uint32_t bytes, int write) {
    Caches *caches = w->worker->caches;
    const CacheShape *shape = caches->shape;
    SiteCount *count = &w->worker->sites[site];
    uint32_t xcd = w->block->linear % shape->xcds;
    uint32_t cu = w->block->linear / shape->xcds % shape->cus_per_xcd;
    uint64_t found[LANES * 4], gone;
    uint8_t gone_dirty;
    count->accesses += l1_accesses(active, address, bytes);
    if (write) {
        int atomic = (w->manner & MANNER_ATOMIC) != 0;
        uint32_t up = shape->line_bits - shape->write_bits, number = pieces(active, address, bytes, shape->write_bits, found);
        count->l2_requests += number;
        prefetch(caches, xcd, found, number, up);
        if (atomic) count_atomics(caches, active, address);
        for (uint32_t i = 0; i < number; i++)
            l2_access(caches, count, xcd, found[i] >> up, (uint8_t)(1 << (found[i] & ((1u << up) - 1))), atomic);
        return;
    }
    uint32_t lines = pieces(active, address, bytes, shape->line_bits, found);
    prefetch(caches, xcd, found, lines, 0);
    for (uint32_t i = 0; i < lines; i++) {
        if (cache_touch(&caches->l1[xcd * shape->cus_per_xcd + cu], found[i], 0, &gone, &gone_dirty)) continue;
        count->l2_requests++;
        l2_access(caches, count, xcd, found[i], 0, 1);
    }
}

enum { WAVES_OF_A_CU = 8 }; /* that spill: they have many registers */

/* Scratch lies in memory, interleaved by dword; a wave's place there is used again by those that come after it. */
void core_caches_private(Wave *w, uint32_t site, uint64_t active, const uint64_t *offset, uint32_t bytes, int write) {
    const CacheShape *shape = w->worker->caches->shape;
    uint64_t base = 1ull << 44, cus = (uint64_t)shape->xcds * shape->cus_per_xcd, address[LANES] = {0};
    uint32_t waves = w->block->wave_count, together = waves < WAVES_OF_A_CU ? WAVES_OF_A_CU / waves : 1;
    uint64_t place = w->block->linear % (cus * together) * waves + w->index;
    base += place * w->launch->private_bytes * LANES;
    SiteCount *count = &w->worker->sites[site];
    count->requests++;
    count->lanes += (uint64_t)__builtin_popcountll(active);
    count->bytes += (uint64_t)__builtin_popcountll(active) * bytes;
    for (uint32_t part = 0; part < bytes; part += 4) { /* each dword of a lane in a row of its own */
        for (uint64_t left = active; left; left &= left - 1) {
            uint64_t lane = (uint64_t)__builtin_ctzll(left);
            address[lane] = base + ((offset[lane] + part) / 4 * LANES + lane) * 4;
        }
        core_caches_access(w, site, active, address, 4, write);
    }
}
