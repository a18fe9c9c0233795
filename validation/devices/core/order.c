/* Who knows of whose accesses: locks and flags within a block, and races in global memory (CHECK_GLOBAL).
 *
 * Waves of a block are ordered by barriers (the block's epoch), and between two barriers by what they do to words
 * atomically: a wave publishes what it did before its last fence with an atomic (or volatile) write to a word, and a wave
 * that reads this word atomically knows of it from then on. Each wave counts its own publications; `known` says up to
 * which count each wave knows every other (vector clocks). The second layer leaves the fence out.
 *
 * Between blocks the same is done with one clock for the launch: a block that reads a word learns everything that was
 * published before that word was written last. That finds too few races rather than too many. */
#include "runtime.h"

#include <stdlib.h>

enum { WAVES = 32, MANY_WAVES = 63, LAST_FENCE = 0xffff };
#define MANY_BLOCKS UINT32_MAX

/* ---- entries by address --------------------------------------------------------------------------------- */

typedef struct Table {
    void *entries; /* open addressing; each begins with its address, 0: free */
    uint32_t count, capacity;
} Table;

static void *entry_at(Table *table, size_t size, uint64_t address, uint32_t first, int make) {
    if (make && 2 * (table->count + 1) > table->capacity) {
        Table grown = {.capacity = table->capacity ? 2 * table->capacity : first};
        grown.entries = calloc(grown.capacity, size);
        if (!grown.entries) return NULL;
        for (uint32_t i = 0; i < table->capacity; i++) {
            const uint64_t *old = (const uint64_t *)((const char *)table->entries + i * size);
            if (*old) memcpy(entry_at(&grown, size, *old, first, 1), old, size);
        }
        free(table->entries);
        *table = grown;
    }
    if (!table->capacity) return NULL;
    uint32_t at = (uint32_t)(address * 0x9e3779b97f4a7c15ull >> 32);
    for (;; at++) {
        uint64_t *entry = (uint64_t *)((char *)table->entries + (at & (table->capacity - 1)) * size);
        if (*entry == address) return entry;
        if (*entry) continue;
        if (!make) return NULL;
        table->count++;
        *entry = address;
        return entry;
    }
}

/* ---- words that order waves of a block ------------------------------------------------------------------ */

enum { STRICT, LOOSE, LAYERS };

typedef struct Word {
    uint64_t address;
    uint32_t signals; /* a lock's own word (compared and swapped), or one written atomically behind a fence */
    uint32_t clock[LAYERS][WAVES];
} Word;

typedef struct Order {
    uint32_t epoch;
    uint32_t known[LAYERS][WAVES][WAVES], fenced[WAVES][WAVES], time[WAVES];
    Table words;
} Order;

static Order *order_of(Block *block, int make) {
    Order *o = block->order;
    if (!o && make) {
        o = block->order = calloc(1, sizeof *o);
        if (o) o->epoch = block->epoch - 1;
    }
    if (o && o->epoch != block->epoch) {
        if (!make) return NULL;
        Table words = o->words;
        memset(o, 0, sizeof *o);
        if (words.entries) memset(words.entries, 0, words.capacity * sizeof(Word));
        o->words.entries = words.entries;
        o->words.capacity = words.capacity;
        o->epoch = block->epoch;
    }
    return o;
}

static Word *word_at(Order *o, uint64_t address, int make) {
    return entry_at(&o->words, sizeof(Word), address, 16, make);
}

void core_order_free(Block *block) {
    if (block->order) free(block->order->words.entries);
    free(block->order);
    free(block->read_times);
    block->order = NULL;
    block->read_times = NULL;
}

static void learn(uint32_t *known, const uint32_t *clock) {
    for (int i = 0; i < WAVES; i++) known[i] = clock[i] > known[i] ? clock[i] : known[i];
}

static void publish(Order *o, uint32_t me, uint32_t *into, const uint32_t *known) {
    learn(into, known);
    into[me] = o->time[me] + 1;
}

/* A word is read or written atomically, by an atomic or as a volatile. The tag tells shared memory from global. */
static void order_word(Wave *w, uint64_t tag, int write) {
    uint32_t manner = w->manner, me = w->index;
    int swaps = manner & (MANNER_SWAPS | MANNER_STRONG);
    Order *o = order_of(w->block, 1);
    if (!o) return;
    Word *word = word_at(o, tag, write || manner & MANNER_SWAPS);
    if (!word) return;
    if (manner & MANNER_COMPARES || (write && !(manner & MANNER_FENCED) && o->fenced[me][me])) word->signals = 1;
    if (!write || manner & MANNER_RETURNS) {
        learn(o->known[STRICT][me], word->clock[STRICT]);
        if (swaps) learn(o->known[LOOSE][me], word->clock[LOOSE]);
        learn(o->known[LOOSE][me], word->clock[STRICT]);
    }
    if (!write) return;
    if (manner & MANNER_FENCED) publish(o, me, o->fenced[me], o->known[STRICT][me]);
    learn(word->clock[STRICT], o->fenced[me]);
    if (swaps) publish(o, me, word->clock[LOOSE], o->known[LOOSE][me]);
    o->time[me]++;
}

uint32_t core_time(const Wave *w) {
    const Order *o = w->block->order;
    return o && o->epoch == w->block->epoch ? o->time[w->index] : 0;
}

int core_knows(const Wave *w, uint32_t other, uint32_t time) {
    const Order *o = w->block->order;
    if (!o || o->epoch != w->block->epoch) return KNOWS_NOT;
    if (o->known[STRICT][w->index][other] > time) return KNOWS;
    return o->known[LOOSE][w->index][other] > time ? KNOWS_UNFENCED : KNOWS_NOT;
}

int core_signals(const Wave *w, uint64_t offset, int write) {
    Order *o = w->block->order;
    if (!o || o->epoch != w->block->epoch) return 0;
    if (write && w->manner == MANNER_STRONG && o->fenced[w->index][w->index]) return 1;
    const Word *word = word_at(o, offset | SHARED_WORD, 0);
    return word && word->signals;
}

void core_order_shared(Wave *w, uint64_t active, const uint64_t *offset, int write) {
    for (uint64_t left = active; left; left &= left - 1)
        order_word(w, offset[__builtin_ctzll(left)] | SHARED_WORD, write);
}

/* ---- races in global memory ----------------------------------------------------------------------------- */

typedef struct Access { /* of one block; 0: none */
    uint32_t block, epoch; /* numbered from 1; of MANY_BLOCKS: the clock at the last read */
    uint64_t site : 24, bytes : 4, strong : 1, wave : 6, fence : 16;
} Access;

typedef struct Cell { /* of four bytes */
    Access written, read;
} Cell;

typedef struct History { /* what a block published */
    uint32_t fences, published, room, touched;
    uint64_t acquired, *times; /* by number of fences: when it was published */
} History;

typedef struct Flag { /* a word of global memory that blocks publish by: the last to do so, and the last other one */
    uint64_t address, time, earlier_time;
    uint32_t block, earlier;
} Flag;

typedef struct Suspect { /* a conflict that is none if the memory stays the same */
    Wave *wave;
    uint64_t address;
    uint32_t before, site, lane, weight;
    Access with;
} Suspect;


enum { SUSPECTS = 64 };
#define SHADOW_LIMIT (1ull << 30)

typedef struct Races {
    Cell **cells; /* by allocation */
    History **blocks;
    Table flags;
    uint32_t suspects;
    uint64_t clock, shadowed;
    Suspect suspect[SUSPECTS];
} Races;

static uint64_t blocks_of(const Launch *l) { return (uint64_t)l->grid[0] * l->grid[1] * l->grid[2]; }

Races *core_races_start(const Launch *launch) {
    Races *r = calloc(1, sizeof *r);
    if (!r) return NULL;
    r->cells = calloc(launch->allocation_count + 1, sizeof *r->cells);
    r->blocks = calloc(blocks_of(launch) + 1, sizeof *r->blocks);
    if (r->cells && r->blocks) return r;
    free(r->cells);
    free(r->blocks);
    free(r);
    return NULL;
}

/* Everything so far is known to everybody. */
void core_races_forget(Races *r, const Launch *launch) {
    for (uint32_t i = 0; r && i < launch->allocation_count; i++) {
        free(r->cells[i]);
        r->cells[i] = NULL;
    }
    if (r) r->shadowed = 0;
}

void core_races_end(Races *r, const Launch *launch) {
    if (!r) return;
    core_races_forget(r, launch);
    for (uint64_t i = 0; i < blocks_of(launch); i++) {
        if (r->blocks[i]) free(r->blocks[i]->times);
        free(r->blocks[i]);
    }
    free(r->cells);
    free(r->blocks);
    free(r->flags.entries);
    free(r);
}

static History *history(Races *r, uint32_t block) {
    if (!r->blocks[block]) r->blocks[block] = calloc(1, sizeof(History));
    return r->blocks[block];
}

static Flag *flag_at(Races *r, uint64_t address, int make) {
    return entry_at(&r->flags, sizeof(Flag), address, 64, make);
}

void core_fence(Wave *w, int device) {
    Races *r = w->worker->races;
    uint32_t me = w->index;
    if (w->launch->flags & CHECK_RACES && w->block->wave_count > 1) {
        Order *o = order_of(w->block, 1);
        if (o) {
            publish(o, me, o->fenced[me], o->known[STRICT][me]);
            o->time[me]++;
        }
    }
    if (!r || !device) return;
    History *h = history(r, w->block->linear);
    if (!h || !h->touched || h->fences == LAST_FENCE) return;
    h->fences++;
    h->touched = 0;
}

static void acquire(Races *r, History *h, uint32_t me, uint64_t address) {
    const Flag *flag = flag_at(r, address, 0);
    if (!flag) return;
    uint64_t time = flag->block != me + 1 ? flag->time : flag->earlier_time;
    if (time > h->acquired) h->acquired = time;
}

static void release(Races *r, History *h, uint32_t me, uint64_t address) {
    if (!h->fences && !h->acquired) return;
    r->clock++;
    if (h->fences > h->room) {
        uint32_t room = 2 * h->fences + 8;
        uint64_t *times = realloc(h->times, room * sizeof *times);
        if (!times) return;
        h->times = times;
        h->room = room;
    }
    while (h->published < h->fences) h->times[h->published++] = r->clock;
    Flag *flag = flag_at(r, address, 1);
    if (!flag) return;
    if (flag->block != me + 1) {
        flag->earlier = flag->block;
        flag->earlier_time = flag->time;
    }
    flag->block = me + 1;
    flag->time = r->clock;
}

/* Whether a wave knows of an access. */
static int ordered(const Wave *w, const Races *r, const History *h, const Access *a) {
    if (a->block == MANY_BLOCKS) return h->acquired > a->epoch;
    if (a->block == w->block->linear + 1) {
        if (a->epoch != w->block->epoch || a->wave == w->index) return 1;
        const Order *o = w->block->order;
        if (!o || o->epoch != a->epoch) return 0;
        return a->wave == MANY_WAVES || o->known[LOOSE][w->index][a->wave] || o->known[STRICT][w->index][a->wave];
    }
    const History *other = r->blocks[a->block - 1];
    return a->fence == LAST_FENCE || (other && a->fence < other->published && other->times[a->fence] <= h->acquired);
}

/* The first one is told, unless one that counts for more comes later. */
static int is_news(const Launch *launch, uint32_t weight) {
    return launch->global_hazard.kind == FAULT_NONE || weight > launch->global_hazard.weight;
}

static void tell(const Suspect *s) {
    const Launch *launch = s->wave->launch;
    FaultRecord *into = &s->wave->launch->global_hazard;
    if (!is_news(launch, s->weight)) return;
    into->kind = FAULT_NONE;
    core_note(into, s->wave, FAULT_GLOBAL_RACE, s->site, s->lane, s->address, 4);
    uint32_t other = s->with.block == MANY_BLOCKS ? UINT32_MAX : s->with.block - 1;
    into->weight = s->weight;
    into->other_site = s->with.site;
    into->other_wave = s->with.wave == MANY_WAVES || other == UINT32_MAX ? UINT32_MAX : s->with.wave;
    into->other_block[0] = other == UINT32_MAX ? other : other % launch->grid[0];
    into->other_block[1] = other / launch->grid[0] % launch->grid[1];
    into->other_block[2] = other / launch->grid[0] / launch->grid[1];
}

int core_settle(Wave *w) {
    Races *r = w->worker->races;
    w->worker->suspicious = 0;
    for (uint32_t i = 0; r && i < r->suspects; i++) {
        uint32_t now;
        memcpy(&now, (const void *)r->suspect[i].address, 4);
        if (now != r->suspect[i].before) tell(&r->suspect[i]);
    }
    if (r) r->suspects = 0;
    return core_settle_shared(w);
}

static void suspect(Wave *w, Races *r, uint32_t site, uint32_t lane, uint64_t address, const Access *with, int write, int stores) {
    Suspect s = {w, address, 0, site, lane, w->manner || with->strong ? SOME_STRONG : ALL_PLAIN, *with};
    if (s.weight == ALL_PLAIN && stores && with->block != MANY_BLOCKS && with->block != w->block->linear + 1) s.weight = TWO_STORES;
    if (!is_news(w->launch, s.weight)) return;
    if (!write) {
        tell(&s);
        return;
    }
    if (r->suspects == SUSPECTS) return;
    memcpy(&s.before, (const void *)address, 4);
    r->suspect[r->suspects++] = s;
    w->worker->suspicious = 1;
}

static int conflicts(const Wave *w, const Races *r, const History *h, const Access *a, uint32_t bytes, int strong) {
    return a->block && a->bytes & bytes && !(strong && a->strong) && !ordered(w, r, h, a);
}

static void note_read(const Wave *w, const Races *r, const History *h, Access *a, Access mine) {
    if (a->block == mine.block && a->epoch == mine.epoch) {
        mine.wave = a->wave == mine.wave ? mine.wave : MANY_WAVES;
    } else if (a->block && !ordered(w, r, h, a)) {
        mine.block = MANY_BLOCKS;
        mine.epoch = (uint32_t)r->clock;
    } else {
        *a = mine;
        return;
    }
    mine.bytes |= a->bytes;
    mine.strong &= a->strong;
    *a = mine;
}

static Cell *cells_of(Wave *w, Races *r, const Allocation *found) {
    const Launch *launch = w->launch;
    uint64_t index = (uint64_t)(found - launch->allocations);
    if (found < launch->allocations || index >= launch->allocation_count || found->state != ALLOCATION_LIVE) return NULL;
    if (!r->cells[index]) {
        uint64_t count = (found->end - found->base) / 4 + 2;
        if (r->shadowed + count * sizeof(Cell) > SHADOW_LIMIT) return NULL;
        r->cells[index] = calloc(count, sizeof(Cell));
        r->shadowed += count * sizeof(Cell);
    }
    return r->cells[index];
}

void core_global_races(Wave *w, uint32_t site, uint64_t active, const uint64_t *address, uint32_t bytes, int write) {
    Races *r = w->worker->races;
    uint32_t me = w->block->linear, strong = w->manner != 0;
    History *h = r ? history(r, me) : NULL;
    if (!h) return;
    const Allocation *found = w->worker->hit[site];
    Cell *cells = NULL;
    const Allocation *of = NULL;
    h->touched = 1;
    Access mine = {me + 1, w->block->epoch, site, 0, strong, w->index, h->fences};
    for (uint64_t left = active; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctzll(left);
        uint64_t at = address[lane], end = at + bytes;
        if (strong && (!write || w->manner & MANNER_RETURNS)) acquire(r, h, me, at);
        if (!of || at < of->base || end > of->end) {
            of = found && at >= found->base && end <= found->end ? found : core_find(w->launch, at);
            cells = of ? cells_of(w, r, of) : NULL;
        }
        if (!cells) continue;
        uint64_t base = of->base & ~3ull;
        for (uint64_t word = at & ~3ull; word < end; word += 4) {
            Cell *cell = &cells[(word - base) / 4];
            uint32_t low = word < at ? (uint32_t)(at - word) : 0, high = end - word < 4 ? (uint32_t)(end - word) : 4;
            mine.bytes = (0xfu << low) & ((1u << high) - 1);
            if (conflicts(w, r, h, &cell->written, mine.bytes, (int)strong))
                suspect(w, r, site, lane, word, &cell->written, write && !(w->manner & MANNER_ATOMIC), write);
            if (write && conflicts(w, r, h, &cell->read, mine.bytes, (int)strong))
                suspect(w, r, site, lane, word, &cell->read, !(w->manner & MANNER_ATOMIC), 0);
            if (!write) {
                note_read(w, r, h, &cell->read, mine);
                continue;
            }
            Access before = cell->written;
            cell->written = mine;
            if (before.block != mine.block || before.epoch != mine.epoch) continue;
            cell->written.bytes |= before.bytes;
            if (before.fence == mine.fence) cell->written.strong &= before.strong;
        }
    }
    if (!strong) return;
    if (w->block->wave_count > 1)
        for (uint64_t left = active; left; left &= left - 1)
            if (write || (w->block->order && w->block->order->words.count)) order_word(w, address[__builtin_ctzll(left)], write);
    if (write)
        for (uint64_t left = active; left; left &= left - 1) release(r, h, me, address[__builtin_ctzll(left)]);
}
