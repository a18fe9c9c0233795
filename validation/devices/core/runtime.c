/* Scheduler, barriers, faults and the slow halves of memory checking. */
#define _GNU_SOURCE
#include "runtime.h"

#include <fenv.h>
#include <pthread.h>
#include <stdlib.h>

/* ---- faults ---------------------------------------------------------------------------------------- */

static pthread_mutex_t fault_lock = PTHREAD_MUTEX_INITIALIZER;

static void record(FaultRecord *into, const Wave *w, enum FaultKind kind, uint32_t site, uint32_t lane,
                   uint64_t address, uint64_t bytes) {
    pthread_mutex_lock(&fault_lock);
    if (into->kind == FAULT_NONE) {
        into->site = site;
        into->other_site = UINT32_MAX;
        into->wave = w->index;
        into->other_wave = UINT32_MAX;
        into->lane = lane;
        into->allocation = UINT32_MAX;
        memcpy(into->block, w->block->id, sizeof into->block);
        into->address = address;
        into->bytes = bytes;
        into->other_lane = LANES;
        __atomic_store_n(&into->kind, (uint32_t)kind, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&fault_lock);
}

void core_note(FaultRecord *into, const Wave *w, enum FaultKind kind, uint32_t site, uint32_t lane, uint64_t address,
               uint64_t bytes) {
    record(into, w, kind, site, lane, address, bytes);
}

enum WaveEvent core_fault(Wave *w, enum FaultKind kind, uint32_t site, uint32_t lane, uint64_t address,
                          uint64_t bytes) {
    record(&w->launch->fault, w, kind, site, lane, address, bytes);
    return WAVE_FAULT;
}

void core_fault_pair(Wave *w, enum FaultKind kind, uint32_t site, uint32_t lane, uint64_t address,
                     uint64_t bytes, uint32_t other_wave, uint32_t other_site) {
    FaultRecord *fault = &w->launch->fault;
    record(fault, w, kind, site, lane, address, bytes);
    pthread_mutex_lock(&fault_lock);
    if (fault->site == site && fault->wave == w->index && fault->other_wave == UINT32_MAX) {
        fault->other_wave = other_wave;
        fault->other_site = other_site;
    }
    pthread_mutex_unlock(&fault_lock);
}

static int failed(const Launch *launch) { return __atomic_load_n(&launch->fault.kind, __ATOMIC_ACQUIRE) != FAULT_NONE; }

/* ---- global memory --------------------------------------------------------------------------------- */

/* the last allocation that starts at or below the address */
static const Allocation *find(const Launch *launch, uint64_t address) {
    uint32_t low = 0, high = launch->allocation_count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (launch->allocations[middle].base <= address) low = middle + 1;
        else high = middle;
    }
    const Allocation *found = low ? &launch->allocations[low - 1] : NULL;
    return found && found->state == ALLOCATION_HEAP ? core_heap_find(launch, address) : found;
}

const Allocation *core_find(const Launch *launch, uint64_t address) { return find(launch, address); }

static enum FaultKind judge(const Allocation *found, uint64_t address, uint64_t bytes, int write) {
    if (!found || address < found->base || address + bytes > found->end) return FAULT_OUT_OF_BOUNDS;
    if (found->state == ALLOCATION_FREED) return FAULT_FREED;
    if (found->state == ALLOCATION_READ_ONLY && write) return FAULT_READ_ONLY;
    return FAULT_NONE;
}

/* As far as the allocation goes: gfx942 has no atomics of two bytes, so that one is made of the aligned word around them, which the
 * hardware lets touch what lies behind an allocation's end. */
static uint64_t judged_bytes(const Wave *w, const Allocation *found, uint64_t address, uint64_t bytes) {
    int word = LANES == 64 && bytes == 4 && !(address & 3) && w->manner & (MANNER_STRONG | MANNER_ATOMIC);
    return word && found && address >= found->base && address < found->end && found->end - address < 4 ? found->end - address : bytes;
}

static int reject(Wave *w, enum FaultKind kind, uint32_t site, uint32_t lane, uint64_t address, uint64_t bytes) {
    const Allocation *near = find(w->launch, address);
    core_fault(w, kind, site, lane, address, bytes);
    pthread_mutex_lock(&fault_lock);
    FaultRecord *fault = &w->launch->fault;
    if (near && fault->address == address && fault->site == site && fault->wave == w->index) fault->allocation = near->id;
    pthread_mutex_unlock(&fault_lock);
    return 1;
}

static uint32_t required_alignment(const Launch *launch, uint32_t align) {
    if (launch->alignment == ALIGN_NATURAL) return align;
    if (launch->alignment == ALIGN_DWORD) return align < 4 ? 1 : 4;
    return 1;
}

/* distinct 128-byte lines touched by the active lanes */
static uint32_t count_lines(uint64_t active, const uint64_t *address, uint32_t bytes, uint64_t low, uint64_t high) {
    uint64_t first = low >> 7;
    if (((high + bytes - 1) >> 7) - first < 64) {
        uint64_t seen = 0;
        for (int lane = 0; lane < LANES; lane++)
            seen |= 1ull << ((address[lane] >> 7) - first) | 1ull << (((address[lane] + bytes - 1) >> 7) - first);
        return (uint32_t)__builtin_popcountll(seen);
    }
    uint64_t table[256];
    uint32_t count = 0;
    memset(table, 0xff, sizeof table);
    for (int lane = 0; lane < LANES; lane++) {
        if (!(active >> lane & 1)) continue;
        for (uint64_t line = address[lane] >> 7; line <= (address[lane] + bytes - 1) >> 7; line++) {
            uint32_t slot = (uint32_t)(line * 0x9e3779b97f4a7c15ull >> 56);
            while (table[slot] != UINT64_MAX && table[slot] != line) slot = (slot + 1) & 255;
            if (table[slot] != line) table[slot] = line, count++;
        }
    }
    return count;
}

static void count_access(Wave *w, uint32_t site, uint64_t active, uint32_t bytes, uint32_t lines, uint32_t conflicts) {
    SiteCount *count = &w->worker->sites[site];
    uint32_t lanes = (uint32_t)__builtin_popcountll(active);
    count->requests++;
    count->lanes += lanes;
    count->bytes += (uint64_t)lanes * bytes;
    count->lines += lines;
    count->conflicts += conflicts;
}

static int inside(const Allocation *hit, uint64_t low, uint64_t end, int write) {
    return hit && low >= hit->base && end <= hit->end && end > low && hit->state != ALLOCATION_FREED &&
           !(write && hit->state == ALLOCATION_READ_ONLY);
}

/* Notes who writes to the watched bytes; the last one stays. One host thread runs such a launch. */
static void watch(Wave *w, uint32_t site, uint64_t active, const uint64_t *address, uint32_t bytes) {
    Launch *launch = w->launch;
    for (uint32_t lane = 0; lane < LANES; lane++) {
        if (!(active >> lane & 1) || address[lane] >= launch->watch_end || address[lane] + bytes <= launch->watch_base)
            continue;
        launch->writer.kind = FAULT_NONE;
        record(&launch->writer, w, FAULT_READ_ONLY, site, lane, address[lane], bytes);
    }
}

/* Not aligned to its dwords: gfx942 does it, CUDA would not. What the runtime itself laid out does not count. */
static void note_misaligned(Wave *w, uint32_t site, uint32_t lane, uint64_t address, uint64_t bytes) {
    Launch *launch = w->launch;
    if (__atomic_load_n(&launch->note.kind, __ATOMIC_RELAXED) != FAULT_NONE) return;
    const Allocation *found = find(launch, address);
    if (found && found->state == ALLOCATION_READ_ONLY && launch->arguments >= found->base && launch->arguments < found->end)
        return;
    record(&launch->note, w, FAULT_MISALIGNED, site, lane, address, bytes);
}

/* ---- device memory that nothing wrote: a byte of state for each, which stores of other threads leave alone -------- */

uint64_t core_unwritten(Wave *w, uint32_t site, uint64_t active, const uint64_t *address, uint32_t bytes) {
    Launch *launch = w->launch;
    uint64_t found = 0;
    if (LIKELY(!(launch->flags & CHECK_UNWRITTEN))) return 0;
    for (uint64_t left = active; left; left &= left - 1) {
        uint64_t lane = first_lane(left), at = address[lane];
        if (at < launch->unwritten_base || at + bytes > launch->unwritten_end) continue;
        const uint8_t *state = launch->unwritten + (at - launch->unwritten_base);
        for (uint32_t i = 0; i < bytes; i++) found |= (uint64_t)(state[i] != 0) << lane;
    }
    if (found) {
        uint32_t lane = (uint32_t)first_lane(found);
        record(&launch->unwritten_read, w, FAULT_UNINITIALISED, site, lane, address[lane], bytes);
    }
    return found;
}

static void is_written(const Launch *launch, uint64_t address, uint32_t bytes) {
    if (address < launch->unwritten_base || address + bytes > launch->unwritten_end) return;
    memset(launch->unwritten + (address - launch->unwritten_base), 0, bytes);
}

int core_global(Wave *w, uint32_t site, uint64_t active, uint64_t *address, uint32_t bytes, uint32_t align, int write) {
    uint32_t mask[LANES] ALIGNED;
    uint64_t safe = address[first_lane(active)], low = UINT64_MAX, high = 0, bits = 0;
    expand_mask(active, mask);
    for (int lane = 0; lane < LANES; lane++) {
        uint64_t a = mask[lane] ? address[lane] : safe;
        address[lane] = a;
        low = a < low ? a : low;
        high = a > high ? a : high;
        bits |= a;
    }
    uint32_t wanted = required_alignment(w->launch, align);
    if (UNLIKELY(bits & (wanted - 1))) {
        for (uint32_t lane = 0; lane < LANES; lane++)
            if (active >> lane & 1 && address[lane] & (wanted - 1)) {
                if (w->launch->alignment == ALIGN_NATURAL)
                    return reject(w, FAULT_MISALIGNED, site, lane, address[lane], bytes);
                note_misaligned(w, site, lane, address[lane], bytes);
                break;
            }
    }
    if (UNLIKELY(active & w->missed)) {
        core_fault(w, FAULT_DIVERGENT_BARRIER, w->missed_site, (uint32_t)first_lane(active & w->missed), 0, 0);
        return 1;
    }
    const Allocation **hit = &w->worker->hit[site];
    if (UNLIKELY(!inside(*hit, low, high + bytes, write))) {
        for (uint32_t lane = 0; lane < LANES; lane++) {
            if (!(active >> lane & 1)) continue;
            if (!inside(*hit, address[lane], address[lane] + bytes, write)) *hit = find(w->launch, address[lane]);
            enum FaultKind kind = judge(*hit, address[lane], judged_bytes(w, *hit, address[lane], bytes), write);
            if (kind != FAULT_NONE) return reject(w, kind, site, lane, address[lane], bytes);
        }
    }
    if (w->launch->flags & COUNT_MEMORY)
        count_access(w, site, active, bytes, count_lines(active, address, bytes, low, high), 0);
    if (UNLIKELY(w->launch->flags & COUNT_CACHES)) core_caches_access(w, site, active, address, bytes, write);
    if (UNLIKELY(write && w->launch->flags & WATCH)) watch(w, site, active, address, bytes);
    if (UNLIKELY(w->launch->flags & CHECK_GLOBAL)) core_global_races(w, site, active, address, bytes, write);
    if (UNLIKELY(write && w->launch->flags & CHECK_UNWRITTEN))
        for (uint64_t left = active; left; left &= left - 1) is_written(w->launch, address[first_lane(left)], bytes);
    return 0;
}

int core_scalar(Wave *w, uint32_t site, uint64_t address, uint32_t bytes, int write) {
    const Allocation **hit = &w->worker->hit[site];
    if (!LIKELY(inside(*hit, address, address + bytes, write))) {
        *hit = find(w->launch, address);
        enum FaultKind kind = judge(*hit, address, bytes, write);
        if (kind != FAULT_NONE) return reject(w, kind, site, (uint32_t)first_lane(w->live), address, bytes);
    }
    if (UNLIKELY(w->launch->flags & CHECK_GLOBAL && (*hit)->state == ALLOCATION_LIVE)) {
        uint64_t all[LANES];
        for (int lane = 0; lane < LANES; lane++) all[lane] = address;
        core_global_races(w, site, 1ull << first_lane(w->live), all, bytes, write);
    }
    if (UNLIKELY(write && w->launch->flags & CHECK_UNWRITTEN)) is_written(w->launch, address, bytes);
    return 0;
}

/* ---- shared memory (LDS) --------------------------------------------------------------------------- */

enum { MANY_READERS = 0xffff, BANKS = 32 };
enum { SITE_BITS = 0x3fffffff }; /* beside a site: how the access was made */
#define BY_SIGNAL 0x80000000u /* atomic, or of a word that orders waves */
#define BY_ATOMIC 0x40000000u

/* Lanes of one warp run one after another only where they meet. */
void core_meet(Wave *w, uint64_t lanes) {
    Meetings *m = w->meetings;
    if (!m) return;
    if ((lanes & w->live) == w->live) {
        m->all++;
        return;
    }
    if (m->some != m->all + 1) {
        memset(m->known, 0, sizeof m->known);
        m->some = m->all + 1;
    }
    uint16_t latest[LANES] = {0};
    for (uint64_t left = lanes; left; left &= left - 1) {
        const uint16_t *known = m->known[__builtin_ctzll(left)];
        for (uint32_t i = 0; i < LANES; i++) latest[i] = known[i] > latest[i] ? known[i] : latest[i];
    }
    for (uint64_t left = lanes; left; left &= left - 1) {
        uint32_t lane = (uint32_t)__builtin_ctzll(left);
        memcpy(m->known[lane], latest, sizeof latest);
    }
    for (uint64_t left = lanes; left; left &= left - 1) { /* what each does from now on, the others do not know */
        uint32_t lane = (uint32_t)__builtin_ctzll(left);
        for (uint64_t rest = lanes; rest; rest &= rest - 1) m->known[__builtin_ctzll(rest)][lane] = latest[lane] + 1;
    }
}

static uint16_t time_of(const Meetings *m, uint32_t lane) { return m->some == m->all + 1 ? m->known[lane][lane] : 0; }

/* Whether a lane does not know of what another one of its warp did. */
static int apart(const Meetings *m, uint32_t lane, const Touch *touch) {
    if (touch->lane == lane || touch->meeting != m->all || touch->access == m->access) return 0;
    return m->some != m->all + 1 || m->known[lane][touch->lane] <= touch->time;
}

static void note_hazard(Wave *w, uint32_t site, uint32_t lane, uint64_t offset, uint32_t bytes, const Touch *with,
                        uint32_t with_site) {
    FaultRecord *hazard = &w->launch->hazard;
    if (__atomic_load_n(&hazard->kind, __ATOMIC_RELAXED) != FAULT_NONE) return;
    record(hazard, w, FAULT_WARP_RACE, site, lane, offset, bytes);
    hazard->other_wave = w->index;
    hazard->other_lane = with->lane;
    hazard->other_site = with_site & SITE_BITS;
}

/* Order by an atomic without a fence before it: what the hardware may do, compilers need not keep. */
static int unfenced(Wave *w, uint32_t site, uint32_t lane, uint64_t offset, uint32_t bytes, uint32_t other,
                    uint32_t other_site) {
    FaultRecord *note = &w->launch->no_fence;
    if (__atomic_load_n(&note->kind, __ATOMIC_RELAXED) != FAULT_NONE) return 1;
    record(note, w, FAULT_NO_FENCE, site, lane, offset, bytes);
    note->other_wave = other;
    note->other_site = other_site;
    return 1;
}

/* Whether something orders this wave behind what another one did. */
static int follows(Wave *w, uint32_t site, uint32_t lane, uint64_t offset, uint32_t bytes, uint32_t other, uint32_t time,
                   uint32_t other_site) {
    int knows = core_knows(w, other, time);
    return knows == KNOWS || (knows == KNOWS_UNFENCED && unfenced(w, site, lane, offset, bytes, other, other_site));
}

static uint32_t *read_time(Block *block, uint64_t byte, uint32_t wave) {
    size_t count = (size_t)(block->worker->launch->shared_bytes + 64) * block->wave_count;
    if (!block->read_times) block->read_times = calloc(count, sizeof *block->read_times);
    return block->read_times ? &block->read_times[byte * block->wave_count + wave] : NULL;
}

/* The first wave other than this one whose read of a byte nothing orders before it; UINT32_MAX: none. */
static uint32_t unknown_reader(Wave *w, uint32_t site, uint32_t lane, uint64_t byte, const Shadow *s) {
    if (!w->block->order) return s->reader == MANY_READERS ? UINT32_MAX - 1 : s->reader - 1u;
    for (uint64_t left = s->readers & ~(1ull << w->index); left; left &= left - 1) {
        uint32_t other = (uint32_t)__builtin_ctzll(left);
        const uint32_t *time = read_time(w->block, byte, other);
        if (time && !follows(w, site, lane, byte, 1, other, *time, s->read_site & SITE_BITS)) return other;
    }
    return UINT32_MAX;
}

/* The same value written again is no race: whether it is, is seen when the store is done. A lane is doubted once. */
static int doubt(Wave *w, uint32_t site, uint32_t lane, uint64_t offset, uint32_t bytes, uint32_t other,
                 uint32_t other_site, uint16_t other_lane) {
    Worker *worker = w->worker;
    Doubt *last = worker->doubts ? &worker->doubt[worker->doubts - 1] : NULL;
    if (last && last->lane == lane) {
        if (last->other != w->index || other == w->index) return 0;
        worker->doubts--; /* a race counts for more than a hazard within the wave */
    }
    Doubt d = {offset, site, lane, bytes, other, other_site & SITE_BITS, other_lane, {0}};
    memcpy(d.before, w->block->shared + offset, bytes);
    worker->doubt[worker->doubts++] = d;
    worker->suspicious = 1;
    return 0;
}

int core_settle_shared(Wave *w) {
    Worker *worker = w->worker;
    uint32_t count = worker->doubts;
    worker->doubts = 0;
    for (uint32_t i = 0; i < count; i++) {
        const Doubt *d = &worker->doubt[i];
        if (!memcmp(d->before, w->block->shared + d->offset, d->bytes)) continue;
        if (d->other != w->index) {
            core_fault_pair(w, FAULT_RACE, d->site, d->lane, d->offset, d->bytes, d->other, d->other_site);
            return 1;
        }
        const Touch with = {.lane = d->other_lane};
        note_hazard(w, d->site, d->lane, d->offset, d->bytes, &with, d->other_site);
    }
    return 0;
}

static int collides(Wave *w, uint32_t site, uint32_t lane, uint64_t offset, uint32_t bytes, int plain_store,
                    uint32_t other, uint32_t other_site) {
    if (plain_store) return doubt(w, site, lane, offset, bytes, other, other_site, LANES);
    core_fault_pair(w, FAULT_RACE, site, lane, offset, bytes, other, other_site & SITE_BITS);
    return 1;
}

static int races(Wave *w, uint32_t site, uint32_t lane, uint64_t offset, uint32_t bytes, int write, int atomic,
                 int signal) {
    Block *block = w->block;
    uint16_t me = (uint16_t)(w->index + 1);
    const uint32_t now = core_time(w);
    /* machine code does not show what may stand before a volatile: a fence within a block is no instruction */
    const int unclear = LANES == 64 && w->manner & MANNER_STRONG, plain_store = write && !atomic && bytes <= sizeof w->worker->doubt[0].before;
    const uint32_t bit = 1u << (w->index & 31);
    for (uint64_t i = offset; i < offset + bytes; i++) {
        Shadow *s = &block->shadow[i];
        int current = s->write_epoch == block->epoch, doubtful = 0;
        int written = current && (write ? s->writers & ~bit : !(s->writers & bit));
        uint32_t writer = s->writer != me || !written ? s->writer - 1u : (uint32_t)__builtin_ctz(s->writers & ~bit);
        int read = s->read_epoch == block->epoch && s->reader != me;
        if (written && !(signal && s->write_site & BY_SIGNAL) &&
            !follows(w, site, lane, offset, bytes, writer, s->write_time, s->write_site & SITE_BITS) &&
            !(unclear && s->write_site & BY_ATOMIC) &&
            !(unclear && s->write_site & BY_SIGNAL &&
              unfenced(w, site, lane, offset, bytes, writer, s->write_site & SITE_BITS))) {
            if (collides(w, site, lane, offset, bytes, plain_store, writer, s->write_site)) return 1;
            doubtful = 1;
        }
        int alone = write && read && !atomic && !(signal && s->read_site & BY_SIGNAL);
        uint32_t other = alone ? unknown_reader(w, site, lane, i, s) : UINT32_MAX;
        if (other != UINT32_MAX && !(unclear && s->read_site & BY_SIGNAL &&
                                     unfenced(w, site, lane, offset, bytes, w->index, s->read_site & SITE_BITS))) {
            if (other == UINT32_MAX - 1) other = UINT32_MAX;
            if (collides(w, site, lane, offset, bytes, plain_store, other, s->read_site)) return 1;
        }
        const Meetings *m = w->meetings;
        int mine = m && current && s->writer == me;
        int seen = m && s->read_epoch == block->epoch && s->reader == me;
        if (mine && apart(m, lane, &s->written) && !(atomic && s->write_site & BY_ATOMIC)) {
            if (plain_store) doubt(w, site, lane, offset, bytes, w->index, s->write_site, s->written.lane);
            else note_hazard(w, site, lane, offset, bytes, &s->written, s->write_site);
        }
        if (plain_store && seen && apart(m, lane, &s->read))
            doubt(w, site, lane, offset, bytes, w->index, s->read_site, s->read.lane);
        if (m && write) s->written = (Touch){m->all, m->access, time_of(m, lane), (uint16_t)lane};
        if (m && !write && !(seen && apart(m, lane, &s->read)))
            s->read = (Touch){m->all, m->access, time_of(m, lane), (uint16_t)lane};
        if (write) {
            s->writers = (doubtful ? s->writers : 0) | bit;
            s->write_epoch = block->epoch;
            s->writer = me;
            s->write_site = site | (signal || unclear ? BY_SIGNAL : 0) | (atomic ? BY_ATOMIC : 0);
            s->write_time = now;
        } else {
            s->reader = s->read_epoch == block->epoch && s->reader != me ? MANY_READERS : me;
            uint32_t how = signal || w->manner & MANNER_STRONG ? BY_SIGNAL : 0;
            if (s->read_epoch == block->epoch) how &= s->read_site;
            s->readers = (s->read_epoch == block->epoch ? s->readers : 0) | 1u << (w->index & 31);
            if (block->order || block->read_times) {
                uint32_t *time = read_time(block, i, w->index);
                if (time) *time = now;
            }
            s->read_epoch = block->epoch;
            s->read_site = site | how;
        }
    }
    return 0;
}

/* Which lanes the LDS serves together, a group of `size` from `start`: neighbours, but for reads of 16 bytes. */
static uint64_t served(uint32_t start, uint32_t size, int wide_read) {
    static const uint64_t groups[] = {0xf0000full, 0xf00f0ull, 0xf0000f00ull, 0xf00f000ull};
    if (!wide_read || LANES != 64) return (size == 64 ? UINT64_MAX : (1ull << size) - 1) << start;
    return groups[start / 8 % 4] << (start / 32 * 32);
}

/* Extra passes: of the lanes served together (32 words a cycle), the most that want different words of one bank. An
 * atomic is done for each lane by itself. */
static uint32_t count_conflicts(uint64_t active, const uint64_t *offset, uint32_t bytes, int write, int atomic) {
    uint32_t extra = 0, size = bytes <= 4 ? 32 : bytes <= 8 ? 16 : 8;
    uint32_t words = (bytes + 3) / 4;
    uint64_t base = offset[first_lane(active)] - first_lane(active) * bytes, apart = bytes & 3;
    for (uint64_t lane = 0; lane < LANES; lane++) apart |= active >> lane & 1 ? offset[lane] ^ (base + lane * bytes) : 0;
    if (!apart && !atomic) return 0; /* neighbours on neighbours: no two in one bank */
    for (uint32_t start = 0; start < LANES; start += size) {
        uint32_t seen[BANKS][32], depth[BANKS] = {0}, worst = 0;
        for (uint64_t left = active & served(start, size, bytes > 8 && !write); left; left &= left - 1) {
            uint32_t lane = (uint32_t)__builtin_ctzll(left);
            for (uint32_t k = 0; k < words; k++) {
                uint32_t word = (uint32_t)(offset[lane] >> 2) + k, bank = word % BANKS, i = 0;
                while (!atomic && i < depth[bank] && seen[bank][i] != word) i++;
                if (!atomic && i < depth[bank]) continue;
                seen[bank][depth[bank]++] = word;
                worst = depth[bank] > worst ? depth[bank] : worst;
            }
        }
        extra += worst ? worst - 1 : 0;
    }
    return extra;
}

/* The lanes that would read a byte of LDS that nobody wrote; a byte of state for each, 1 when it was written. */
static uint64_t unwritten_lanes(const uint8_t *state, const uint64_t *address, uint32_t bytes) {
    uint32_t bad[LANES] ALIGNED;
    uint64_t found = 0;
    if (bytes % 4) {
        for (uint32_t lane = 0; lane < LANES; lane++)
            for (uint32_t i = 0; i < bytes; i++) found |= (uint64_t)!state[address[lane] + i] << lane;
        return found;
    }
    for (uint32_t part = 0; part < bytes; part += 4) {
        for (int lane = 0; lane < LANES; lane++) {
            uint32_t word;
            memcpy(&word, state + address[lane] + part, 4);
            bad[lane] = word == 0x01010101u ? 0 : ~0u;
        }
        found |= pack_mask(bad);
    }
    return found;
}

static void note_written(uint8_t *state, uint64_t active, const uint64_t *address, uint32_t bytes) {
    static const uint8_t ones[16] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    for (uint64_t left = active; left; left &= left - 1) {
        uint8_t *at = state + address[__builtin_ctzll(left)];
        if (bytes == 4) memcpy(at, ones, 4);
        else if (bytes == 8) memcpy(at, ones, 8);
        else if (bytes == 16) memcpy(at, ones, 16);
        else memset(at, 1, bytes);
    }
}

int core_shared(Wave *w, uint32_t site, uint64_t active, uint64_t *address, uint32_t bytes, uint32_t align, int write,
                int atomic, uint64_t *poisoned) {
    Launch *launch = w->launch;
    Block *block = w->block;
    uint32_t mask[LANES] ALIGNED;
    uint64_t safe = address[first_lane(active)], high = 0, bits = 0, limit = launch->shared_bytes;
    expand_mask(active, mask);
    for (int lane = 0; lane < LANES; lane++) {
        uint64_t a = mask[lane] ? address[lane] : safe;
        address[lane] = a;
        high = a > high ? a : high;
        bits |= a;
    }
    uint32_t wanted = required_alignment(launch, align);
    if (UNLIKELY(high + bytes > limit || bits & (wanted - 1))) {
        for (uint32_t lane = 0; lane < LANES; lane++) {
            if (!(active >> lane & 1)) continue;
            if (address[lane] + bytes > limit)
                return core_fault(w, FAULT_SHARED_OUT_OF_BOUNDS, site, lane, address[lane], bytes), 1;
            if (!(address[lane] & (wanted - 1))) continue;
            if (launch->alignment == ALIGN_NATURAL)
                return core_fault(w, FAULT_MISALIGNED, site, lane, address[lane], bytes), 1;
            note_misaligned(w, site, lane, address[lane], bytes);
        }
    }
    if (UNLIKELY(active & w->missed)) {
        core_fault(w, FAULT_DIVERGENT_BARRIER, w->missed_site, (uint32_t)first_lane(active & w->missed), 0, 0);
        return 1;
    }
    if (launch->flags & COUNT_MEMORY) count_access(w, site, active, bytes, 0, count_conflicts(active, address, bytes, write, atomic));
    if (launch->flags & CHECK_RACES) {
        if (w->meetings) w->meetings->access++;
        if (LANES == 64 && w->manner) w->manner |= MANNER_FENCED; /* a wave's LDS accesses are done in order */
        for (uint32_t lane = 0; lane < LANES; lane++) {
            if (!(active >> lane & 1)) continue;
            int signal = atomic || ((w->manner || LANES == 64) && core_signals(w, address[lane], write));
            if (LANES == 64 && signal && !w->manner) { /* ds_ instructions do not say what is volatile */
                w->manner = MANNER_STRONG | MANNER_FENCED;
                core_order_shared(w, 1ull << lane, address, write);
                w->manner = 0;
            }
            if (races(w, site, lane, address[lane], bytes, write, atomic, signal)) return 1;
        }
        if (w->manner) core_order_shared(w, active, address, write);
    }
    if (launch->flags & CHECK_POISON) {
        uint64_t bad = 0;
        if (!write || atomic) bad = unwritten_lanes(block->initialised, address, bytes) & active;
        else note_written(block->initialised, active, address, bytes);
        if (poisoned) *poisoned = bad;
    } else if (poisoned) {
        *poisoned = 0;
    }
    for (int lane = 0; lane < LANES; lane++) address[lane] += (uint64_t)block->shared;
    return 0;
}

/* ---- barriers -------------------------------------------------------------------------------------- */

enum WaveEvent core_barrier(Wave *w, uint32_t site, uint64_t active) {
    if (active & w->missed)
        return core_fault(w, FAULT_DIVERGENT_BARRIER, w->missed_site, (uint32_t)first_lane(active & w->missed), 0, 0);
    uint64_t absent = w->live & ~active;
    if (absent) {
        w->missed |= absent;
        w->missed_site = site;
    }
    w->barrier_site = site;
    return WAVE_BARRIER;
}

/* ---- scheduling ------------------------------------------------------------------------------------ */

static uint64_t random_next(uint64_t *state) { /* splitmix64 */
    uint64_t z = *state += 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}

static Wave *wave_at(const Block *block, uint32_t index) {
    return (Wave *)(block->waves + (size_t)index * block->worker->launch->wave_bytes);
}

static uint32_t block_threads(const Launch *launch) { return launch->block[0] * launch->block[1] * launch->block[2]; }
static uint64_t block_total(const Launch *launch) {
    return (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
}

static uint64_t blocks_to_run(const Launch *launch) {
    return launch->block_limit ? launch->block_limit : block_total(launch);
}

static size_t rounded(size_t bytes) { return (bytes + 63) / 64 * 64; }

static int block_allocate(Block *block, Worker *worker) {
    Launch *launch = worker->launch;
    memset(block, 0, sizeof *block);
    block->worker = worker;
    block->wave_count = (block_threads(launch) + LANES - 1) / LANES;
    block->waves = aligned_alloc(64, rounded((size_t)block->wave_count * launch->wave_bytes));
    block->shared = aligned_alloc(64, rounded((size_t)launch->shared_bytes + 64));
    if (!block->waves || !block->shared) return 1;
    memset(block->shared, 0xcd, launch->shared_bytes);
    if (launch->flags & CHECK_POISON) block->initialised = calloc(launch->shared_bytes + 64, 1);
    if (launch->flags & CHECK_RACES) block->shadow = calloc(launch->shared_bytes + 64, sizeof(Shadow));
    size_t private_bytes = (size_t)launch->private_bytes * LANES;
    for (uint32_t i = 0; i < block->wave_count; i++) {
        Wave *w = wave_at(block, i);
        memset(w, 0, sizeof *w);
        w->private_base = private_bytes ? aligned_alloc(64, rounded(private_bytes)) : NULL;
        if (private_bytes && !w->private_base) return 1;
        if (private_bytes && launch->flags & CHECK_POISON) w->private_poison = malloc(rounded(launch->private_bytes * 2));
    }
    return 0;
}

static void block_free(Block *block) {
    for (uint32_t i = 0; block->waves && i < block->wave_count; i++) {
        free(wave_at(block, i)->private_base);
        free(wave_at(block, i)->private_poison);
    }
    free(block->waves);
    free(block->shared);
    free(block->initialised);
    free(block->shadow);
    core_order_free(block);
}

static void block_start(Block *block, uint64_t linear) {
    Launch *launch = block->worker->launch;
    block->linear = (uint32_t)linear;
    block->id[0] = (uint32_t)(linear % launch->grid[0]);
    block->id[1] = (uint32_t)(linear / launch->grid[0] % launch->grid[1]);
    block->id[2] = (uint32_t)(linear / launch->grid[0] / launch->grid[1]);
    block->live_waves = block->wave_count;
    block->waiting = block->grid_waiting = block->named = block->yields = block->meetings = 0;
    memset(block->arrived, 0, sizeof block->arrived);
    block->epoch++;
    if (block->initialised) memset(block->initialised, 0, launch->shared_bytes);
    uint32_t threads = block_threads(launch);
    for (uint32_t i = 0; i < block->wave_count; i++) {
        Wave *w = wave_at(block, i);
        uint8_t *private_base = w->private_base;
        uint64_t *private_poison = w->private_poison;
        uint32_t lanes = threads - i * LANES < LANES ? threads - i * LANES : LANES;
        memset(w, 0, sizeof *w);
        w->private_base = private_base;
        w->private_poison = private_poison;
        if (private_poison) memset(private_poison, 0xff, (size_t)launch->private_bytes * 2);
        w->launch = launch;
        w->worker = block->worker;
        w->block = block;
        w->segments = block->worker->segments;
        w->index = i;
        w->event = WAVE_YIELD;
        w->budget = (int64_t)launch->budget;
        w->live = lanes == 64 ? UINT64_MAX : (1ull << lanes) - 1;
        ((wave_entry)launch->init)(w);
    }
}

/* ---- named barriers: a number, and how many threads it waits for (0: all there are) --------------------- */

void core_arrive(Wave *w, uint32_t id, uint32_t threads) {
    w->block->arrived[id % NAMED_BARRIERS] += threads;
    w->block->named = 1;
}

/* Opens every named barrier that has its threads; how many waves go on. */
static uint32_t open_named(Block *block) {
    uint32_t opened = 0;
    for (uint32_t id = 0; id < NAMED_BARRIERS; id++) {
        uint32_t here = block->arrived[id], wanted = 0;
        for (uint32_t i = 0; i < block->wave_count; i++) {
            const Wave *w = wave_at(block, i);
            if (w->event != WAVE_BARRIER || w->barrier_id != id) continue;
            here += LANES;
            wanted = w->barrier_count ? w->barrier_count : block->wave_count * LANES;
        }
        if (!wanted || here < wanted) continue;
        for (uint32_t i = 0; i < block->wave_count; i++) {
            Wave *w = wave_at(block, i);
            if (w->event != WAVE_BARRIER || w->barrier_id != id) continue;
            w->event = WAVE_YIELD;
            opened++;
        }
        block->arrived[id] = 0;
    }
    block->waiting -= opened;
    block->epoch += opened != 0;
    return opened;
}

/* Every wave has finished or waits: either the barrier opens, or something is wrong. */
static int barrier_opens(Block *block) {
    Wave *first = NULL, *done = NULL;
    for (uint32_t i = 0; i < block->wave_count; i++) {
        Wave *w = wave_at(block, i);
        if (w->event == WAVE_DONE) done = w;
        if (w->event != WAVE_BARRIER) continue;
        if (w->barrier_id || w->barrier_count) {
            core_fault(w, FAULT_DEADLOCK, w->barrier_site, (uint32_t)first_lane(w->live), 0, 0);
            return 0;
        }
        if (!first) first = w;
        const uint32_t *line = first->launch->site_lines;
        if (line[w->barrier_site] != line[first->barrier_site]) {
            if (first->launch->flags & COUNT_ARRIVALS) { /* as both vendors' hardware */
                record(&first->launch->note, w, FAULT_BARRIER_MISMATCH, w->barrier_site, (uint32_t)first_lane(w->live), 0, 0);
                continue;
            }
            core_fault_pair(w, FAULT_BARRIER_MISMATCH, w->barrier_site, (uint32_t)first_lane(w->live), 0, 0,
                            first->index, first->barrier_site);
            return 0;
        }
    }
    if (done && !(first->launch->flags & ALLOW_EXITED)) {
        core_fault_pair(first, FAULT_BARRIER_MISSED, first->barrier_site, (uint32_t)first_lane(first->live), 0, 0,
                        done->index, UINT32_MAX);
        return 0;
    }
    for (uint32_t i = 0; i < block->wave_count; i++) {
        Wave *w = wave_at(block, i);
        if (w->event == WAVE_BARRIER) w->event = WAVE_YIELD;
    }
    block->waiting = block->yields = 0;
    block->meetings++;
    block->epoch++;
    return 1;
}

/* Blocks that are alive together share what one has alone, so that a barrier over the whole grid, which its blocks reach one by
 * one and wait at in a loop, costs about the same for any number of them. */
enum { SHORTEST_TURN = 2048 };

static int64_t turn_length(Worker *worker) {
    Launch *launch = worker->launch;
    if (!(launch->flags & INTERLEAVE)) {
        uint64_t share = launch->quantum / (worker->alive ? worker->alive : 1);
        return (int64_t)(share > SHORTEST_TURN ? share : launch->quantum < SHORTEST_TURN ? launch->quantum : SHORTEST_TURN);
    }
    return (int64_t)(random_next(&worker->random) % 64) + 1;
}

/* Runs one wave until it waits, ends or has had its turn. False when the launch failed. */
static int turn(Block *block, Wave *w) {
    int64_t length = turn_length(block->worker);
    w->quantum = length;
    enum WaveEvent event = ((wave_turn)w->launch->step)(w);
    w->event = event;
    w->budget -= length - w->quantum;
    if (event == WAVE_FAULT) return 0;
    if (event == WAVE_YIELD && w->budget < 0) {
        core_fault(w, FAULT_BUDGET, w->barrier_site, (uint32_t)first_lane(w->live), 0, 0);
        return 0;
    }
    if (event == WAVE_DONE) {
        block->live_waves--;
        if (w->missed && w->launch->note.kind == FAULT_NONE)
            record(&w->launch->note, w, FAULT_DIVERGENT_BARRIER, w->missed_site, (uint32_t)first_lane(w->missed), 0, 0);
    }
    block->yields += event == WAVE_YIELD;
    block->waiting += event == WAVE_BARRIER;
    block->named |= event == WAVE_BARRIER && (w->barrier_id || w->barrier_count);
    block->grid_waiting += event == WAVE_GRID_BARRIER;
    return 1;
}

/* One pass over the block's waves; false when the launch failed. */
static int block_pass(Block *block) {
    uint32_t offset = 0;
    if (block->worker->launch->flags & INTERLEAVE) offset = (uint32_t)random_next(&block->worker->random);
    for (uint32_t i = 0; i < block->wave_count; i++) {
        Wave *w = wave_at(block, (uint32_t)(((uint64_t)i + offset) % block->wave_count));
        if (w->event == WAVE_YIELD && !turn(block, w)) return 0;
    }
    if (block->waiting && block->named && open_named(block)) return 1;
    if (block->waiting && block->waiting == block->live_waves) return barrier_opens(block);
    return !failed(block->worker->launch);
}

enum { CHUNK = 64 };

/* Of a sample neighbours stay neighbours: chunks of blocks, evenly over the grid. */
static uint64_t sampled(const Launch *launch, uint64_t i) {
    return launch->block_limit ? i / CHUNK * CHUNK * launch->block_stride + i % CHUNK : i;
}

static uint64_t shuffled(const Launch *launch, uint64_t i, uint64_t total) {
    if (!(launch->flags & INTERLEAVE) || launch->flags & COOPERATIVE) return i;
    uint64_t stride = launch->seed % total | 1; /* a permutation when coprime to the total */
    for (uint64_t a = stride, b = total; b; ) {
        uint64_t r = a % b;
        a = b, b = r;
        if (!b && a != 1) return i;
    }
    return (i * stride + launch->seed) % total;
}

/* A grid barrier may be reached by one wave for its block, while the others wait for it at a block barrier. */
static int at_grid(const Block *block) {
    return block->grid_waiting && block->grid_waiting + block->waiting == block->live_waves;
}

/* The next block of the grid, in a place that has its memory; 0: there is none. */
static int start_next(Block *block, uint64_t *next, uint64_t total) {
    const Launch *launch = block->worker->launch;
    uint64_t mine = __atomic_fetch_add(next, 1, __ATOMIC_RELAXED);
    if (mine >= total) return 0;
    block_start(block, sampled(launch, shuffled(launch, mine, total)));
    return 1;
}

/* Waves that had so many turns, and neither ended nor met at a barrier, or that met so often, may wait for a block that has not begun,
 * which a GPU would have alive beside theirs: where, besides, no block ended for as many passes over all. */
enum { PATIENCE = 4, MOST_MEETINGS = 1 << 14, FEWEST_MEETINGS = 64, MOST_MORE = 1024 };

typedef struct Residents { /* blocks of a worker that are alive together: one, some when interleaving, all when cooperative */
    Block *first, *more;   /* more where they run for long; waves point to their block, so that neither moves */
    uint32_t room, alive, is_full, calm; /* calm: passes since a block ended, or more were begun */
} Residents;

static Block *resident(const Residents *r, uint32_t i) { return i < r->room ? &r->first[i] : &r->more[i - r->room]; }

/* One more block, if there is one left, and memory for it. */
static void start_more(Residents *r, Worker *worker, uint64_t *next, uint64_t total) {
    uint32_t place = r->alive;
    if (r->is_full || place < r->room || place - r->room >= MOST_MORE || __atomic_load_n(next, __ATOMIC_RELAXED) >= total) return;
    if (!r->more) r->more = calloc(MOST_MORE, sizeof *r->more);
    r->is_full = !r->more || block_allocate(resident(r, place), worker);
    if (r->is_full) return;
    r->alive += (uint32_t)start_next(resident(r, place), next, total);
}

/* Whether its waves may wait for a block that has not begun. */
static int may_wait(const Block *block, const Residents *r) {
    const Launch *launch = block->worker->launch;
    uint32_t patience = launch->flags & INTERLEAVE ? PATIENCE << 15 : PATIENCE, meetings = MOST_MEETINGS / r->alive;
    return block->yields > patience || block->meetings > (meetings > FEWEST_MEETINGS ? meetings : FEWEST_MEETINGS);
}

static int run_resident(Worker *worker, Residents *r, uint64_t *next, uint64_t total) {
    Launch *launch = worker->launch;
    while (r->alive < r->room && start_next(&r->first[r->alive], next, total)) r->alive++;
    uint32_t running = r->alive;
    while (running) {
        uint32_t at_grid_barrier = 0, before = r->alive;
        int waits = launch->flags & MORE_BLOCKS && r->calm >= PATIENCE, ended = 0;
        running = 0;
        worker->alive = r->alive;
        for (uint32_t i = 0; i < before; i++) {
            Block *block = resident(r, i);
            if (!block->live_waves) continue;
            if (!block_pass(block)) return 0;
            if (waits && block->live_waves && may_wait(block, r)) {
                block->yields = block->meetings = 0;
                start_more(r, worker, next, total);
            }
            if (!block->live_waves) ended = 1, (void)start_next(block, next, total);
            running += block->live_waves != 0;
            at_grid_barrier += at_grid(block);
        }
        r->calm = ended || r->alive != before ? 0 : r->calm + 1;
        running += r->alive - before;
        if (running && at_grid_barrier == running) {
            core_races_forget(worker->races, launch);
            for (uint32_t i = 0; i < r->alive; i++) {
                Block *block = resident(r, i);
                block->grid_waiting = 0;
                block->epoch++;
                for (uint32_t k = 0; k < block->wave_count; k++)
                    if (wave_at(block, k)->event == WAVE_GRID_BARRIER) wave_at(block, k)->event = WAVE_YIELD;
            }
        }
    }
    return 1;
}

typedef struct Task {
    Worker worker;
    uint64_t *next;
    int out_of_memory;
    pthread_t thread;
} Task;

static void *work(void *argument) {
    Task *task = argument;
    Launch *launch = task->worker.launch;
    uint64_t total = blocks_to_run(launch);
    uint32_t room = launch->resident < total ? launch->resident : (uint32_t)total;
    Residents r = {calloc(room, sizeof(Block)), NULL, room, 0, 0, 0};
    task->out_of_memory = !r.first;
    for (uint32_t i = 0; r.first && i < room; i++) task->out_of_memory |= block_allocate(&r.first[i], &task->worker);
    if (!task->out_of_memory) run_resident(&task->worker, &r, task->next, total);
    for (uint32_t i = 0; r.first && i < room; i++) block_free(&r.first[i]);
    for (uint32_t i = 0; r.more && i < MOST_MORE; i++) block_free(&r.more[i]);
    free(r.first);
    free(r.more);
    return NULL;
}

static int task_allocate(Task *task, Launch *launch, uint64_t *next, uint32_t index) {
    Worker *worker = &task->worker;
    task->next = next;
    worker->launch = launch;
    worker->random = launch->seed * 0x2545f4914f6cdd1dull + index;
    worker->hit = calloc(launch->site_count + 1, sizeof *worker->hit);
    worker->sites = calloc(launch->site_count + 1, sizeof *worker->sites);
    worker->segments = calloc(launch->segment_count + 1, sizeof *worker->segments);
    worker->divergence = calloc(launch->site_count + 1, sizeof *worker->divergence);
    if (launch->flags & CHECK_GLOBAL && !index) worker->races = core_races_start(launch);
    if (launch->flags & COUNT_CACHES) worker->caches = core_caches_start(launch->cache_shape);
    if (launch->flags & COUNT_CACHES && !worker->caches) return 1;
    return !worker->hit || !worker->sites || !worker->segments || !worker->divergence;
}

static void add_words(uint64_t *into, const uint64_t *from, size_t bytes) {
    for (size_t i = 0; i < bytes / sizeof *into; i++) into[i] += from[i];
}

static void task_merge(Task *task) {
    Worker *worker = &task->worker;
    Launch *launch = worker->launch;
    if (worker->sites) add_words((uint64_t *)launch->sites, (uint64_t *)worker->sites, launch->site_count * sizeof(SiteCount));
    if (worker->segments)
        add_words((uint64_t *)launch->segments, (uint64_t *)worker->segments, launch->segment_count * sizeof(SegmentCount));
    if (worker->divergence) add_words(launch->divergence, worker->divergence, launch->site_count * sizeof(uint64_t));
    free(worker->hit);
    free(worker->sites);
    free(worker->segments);
    free(worker->divergence);
    core_races_end(worker->races, launch);
    core_caches_end(worker->caches, &launch->cache_totals);
}

/* 0: ran, or a fault is recorded in the launch; 1: no memory on the host. */
int core_run(Launch *launch) {
    uint64_t next = 0, total = blocks_to_run(launch);
    uint32_t threads = launch->threads < total ? launch->threads : (uint32_t)total;
    int status = 0, rounding = fegetround();
    if (!threads) return 0;
    Task *tasks = calloc(threads, sizeof *tasks);
    if (!tasks) return 1;
    for (uint32_t i = 0; i < threads; i++) status |= task_allocate(&tasks[i], launch, &next, i);
    uint32_t started = 0;
    if (launch->flags & (ROUND_UP | ROUND_DOWN)) fesetround(launch->flags & ROUND_UP ? FE_UPWARD : FE_DOWNWARD);
    if (!status) {
        for (uint32_t i = 1; i < threads; i++, started++)
            if (pthread_create(&tasks[i].thread, NULL, work, &tasks[i])) break;
        work(&tasks[0]);
        for (uint32_t i = 1; i <= started; i++) pthread_join(tasks[i].thread, NULL);
    }
    fesetround(rounding);
    for (uint32_t i = 0; i < threads; i++) {
        status |= tasks[i].out_of_memory;
        task_merge(&tasks[i]);
    }
    free(tasks);
    return status;
}
