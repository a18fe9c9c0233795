/* What every virtual device shares: waves, blocks, launches, memory, faults, counters.
 *
 * Compiled once per lane count: -DLANES=64 (gfx942) or -DLANES=32 (ptx). A device embeds `struct Wave` as the
 * first member of its own wave, and provides two functions: `init` (registers at kernel entry) and `step`
 * (run until something of enum WaveEvent happens; `wave->pc` says where to go on).
 * The structures up to the line "not seen by Python" are mirrored in core/abi.py. */
#ifndef PORTER_RUNTIME_H
#define PORTER_RUNTIME_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#ifndef LANES
#error "compile with -DLANES=32 or -DLANES=64"
#endif

/* Both lane counts may be loaded in one process. */
#define CORE_JOIN_(name, lanes) name##_##lanes
#define CORE_JOIN(name, lanes) CORE_JOIN_(name, lanes)
#define core_fault CORE_JOIN(core_fault, LANES)
#define core_fault_pair CORE_JOIN(core_fault_pair, LANES)
#define core_barrier CORE_JOIN(core_barrier, LANES)
#define core_arrive CORE_JOIN(core_arrive, LANES)
#define core_global CORE_JOIN(core_global, LANES)
#define core_shared CORE_JOIN(core_shared, LANES)
#define core_scalar CORE_JOIN(core_scalar, LANES)
#define core_heap_allocate CORE_JOIN(core_heap_allocate, LANES)
#define core_heap_free CORE_JOIN(core_heap_free, LANES)
#define core_heap_find CORE_JOIN(core_heap_find, LANES)
#define core_meet CORE_JOIN(core_meet, LANES)
#define core_message CORE_JOIN(core_message, LANES)
#define core_note CORE_JOIN(core_note, LANES)
#define core_find CORE_JOIN(core_find, LANES)
#define core_fence CORE_JOIN(core_fence, LANES)
#define core_time CORE_JOIN(core_time, LANES)
#define core_knows CORE_JOIN(core_knows, LANES)
#define core_signals CORE_JOIN(core_signals, LANES)
#define core_order_shared CORE_JOIN(core_order_shared, LANES)
#define core_order_free CORE_JOIN(core_order_free, LANES)
#define core_races_start CORE_JOIN(core_races_start, LANES)
#define core_caches_start CORE_JOIN(core_caches_start, LANES)
#define core_caches_end CORE_JOIN(core_caches_end, LANES)
#define core_caches_access CORE_JOIN(core_caches_access, LANES)
#define core_caches_private CORE_JOIN(core_caches_private, LANES)
#define core_races_forget CORE_JOIN(core_races_forget, LANES)
#define core_races_end CORE_JOIN(core_races_end, LANES)
#define core_global_races CORE_JOIN(core_global_races, LANES)
#define core_settle CORE_JOIN(core_settle, LANES)
#define core_settle_shared CORE_JOIN(core_settle_shared, LANES)

#define LIKELY(x) __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)
#define ALIGNED __attribute__((aligned(64)))

enum WaveEvent { WAVE_DONE, WAVE_BARRIER, WAVE_GRID_BARRIER, WAVE_YIELD, WAVE_FAULT };
enum { GO = 100 }; /* within a turn: go on at `pc`, maybe in another piece of the kernel */

enum FaultKind {
    FAULT_NONE,
    FAULT_OUT_OF_BOUNDS,
    FAULT_FREED,
    FAULT_READ_ONLY,
    FAULT_MISALIGNED,
    FAULT_SHARED_OUT_OF_BOUNDS,
    FAULT_PRIVATE_OUT_OF_BOUNDS,
    FAULT_UNINITIALISED,
    FAULT_RACE,
    FAULT_DIVERGENT_BARRIER,
    FAULT_BARRIER_MISMATCH,
    FAULT_BARRIER_MISSED,
    FAULT_BUDGET,
    FAULT_TRAP,
    FAULT_BAD_JUMP,
    FAULT_UNSUPPORTED,
    FAULT_DEADLOCK,
    FAULT_ASSERT,
    FAULT_BAD_FREE,
    FAULT_SYNC_MASK,
    FAULT_SYNC_MISSED,
    FAULT_WARP_RACE,
    FAULT_NO_FENCE,
    FAULT_GLOBAL_RACE,
};

enum AllocationState { ALLOCATION_LIVE, ALLOCATION_FREED, ALLOCATION_READ_ONLY, ALLOCATION_HEAP };

enum LaunchFlag { CHECK_RACES = 1, COUNT_MEMORY = 2, COOPERATIVE = 4, CHECK_POISON = 8, INTERLEAVE = 16, ALLOW_EXITED = 32, WATCH = 64, CHECK_GLOBAL = 128, ROUND_UP = 256, ROUND_DOWN = 512, COUNT_ARRIVALS = 1024, COUNT_CACHES = 4096, CHECK_UNWRITTEN = 8192, MORE_BLOCKS = 16384 };

enum Alignment { ALIGN_NONE, ALIGN_DWORD, ALIGN_NATURAL };

struct Wave;
struct Launch;

typedef struct Allocation {
    uint64_t base, end; /* half open */
    uint32_t state, id;
} Allocation;

/* Of a race in global memory: an atomic or volatile is part of it, none is, or it is two plain stores of two blocks: one value stays. */
enum Weight { SOME_STRONG, ALL_PLAIN, TWO_STORES };

typedef struct FaultRecord {
    uint32_t kind, site, other_site, wave, other_wave, lane;
    uint32_t block[3], allocation;
    uint64_t address, bytes;
    uint64_t other_lane; /* of the same wave; LANES: not known */
    uint32_t other_block[3], weight; /* of a race in global memory; UINT32_MAX: several */
} FaultRecord;

typedef struct SiteCount { /* memory instructions only */
    uint64_t requests, lanes, lines, bytes, conflicts;
    uint64_t accesses, l2_requests, l2_misses, last_misses; /* with COUNT_CACHES: of a line; writes to the L2 of a piece */
    uint64_t other_xcd; /* of the misses of an L2 what the last level has because another XCD asked for it last */
} SiteCount;

typedef struct CacheShape { /* last_sets 0: no such level. Bytes of a line, and of a piece that is written: powers of two */
    uint32_t xcds, cus_per_xcd, l1_sets, l1_ways, l2_sets, l2_ways, last_sets, last_ways, line_bits, write_bits;
} CacheShape;

typedef struct CacheTotals { /* pieces: from an L2 to the last level, from there to memory; atomics by lane, on one line at most */
    uint64_t written_back, memory_writes, atomics, hottest;
} CacheTotals;

typedef struct SegmentCount { /* a run of instructions under one EXEC */
    uint64_t runs, lanes;
} SegmentCount;

typedef struct Heap { /* what device-side malloc gives out; lives as long as the device */
    uint64_t end, next, limit, live, refused;
    Allocation *rows; /* sorted by base: addresses only grow */
    uint32_t count, capacity;
} Heap;

typedef struct MessageHead { /* followed by the bytes, padded to 8 */
    uint32_t bytes, kind, site, lane, wave, block[3];
} MessageHead;

typedef struct Launch {
    uint32_t grid[3], block[3];
    uint32_t shared_bytes, private_bytes, threads, flags;
    uint32_t alignment, resident;
    uint64_t seed, budget, quantum;
    uint32_t allocation_count, site_count, segment_count, wave_bytes;
    const Allocation *allocations; /* sorted by base */
    const uint64_t *symbols;       /* addresses of module symbols, by the translator's index */
    uint64_t arguments;            /* device address of the kernel argument segment */
    const uint32_t *site_lines;    /* by site: a number per source line, to tell barriers apart */
    void *init, *step;             /* functions wave_init and wave_step of the kernel */
    SiteCount *sites;
    SegmentCount *segments;
    uint64_t *divergence; /* by site: branches that split a wave */
    FaultRecord fault;
    FaultRecord note; /* something odd, not wrong: kind FAULT_NONE when there is none */
    Heap *heap;       /* null: malloc in a kernel gives null */
    uint8_t *messages;
    uint64_t message_bytes, message_room, messages_lost;
    uint64_t watch_base, watch_end; /* with WATCH: whose last writer is wanted */
    FaultRecord writer;
    FaultRecord hazard; /* the first race within a wave */
    FaultRecord global_hazard; /* the first race in global memory */
    FaultRecord no_fence; /* the first order without a fence */
    const CacheShape *cache_shape; /* with COUNT_CACHES */
    CacheTotals cache_totals;
    uint64_t block_limit, block_stride; /* a sample: so many blocks, the first of every so many chunks; 0: all */
    uint8_t *unwritten; /* with CHECK_UNWRITTEN: of every byte between the two addresses, whether nothing wrote it */
    uint64_t unwritten_base, unwritten_end;
    FaultRecord unwritten_read; /* the first that met such a byte */
} Launch;

/* ---- not seen by Python ------------------------------------------------------------------------- */

typedef void (*wave_entry)(struct Wave *);
typedef enum WaveEvent (*wave_turn)(struct Wave *);

typedef struct Touch { /* a lane's access, as the lanes of its own wave have to be ordered against it */
    uint32_t meeting, access;
    uint16_t time, lane;
} Touch;

typedef struct Shadow { /* LDS race detector, one per byte */
    uint32_t write_epoch, read_epoch, write_site, read_site, readers, writers; /* a bit per wave */
    uint32_t write_time;
    uint16_t writer, reader;
    Touch written, read;
} Shadow;

typedef struct Doubt { /* a store to LDS that is no race if it leaves the bytes as they are */
    uint64_t offset;
    uint32_t site, lane, bytes, other, other_site; /* the other wave; the same one: other_lane tells */
    uint16_t other_lane;
    uint8_t before[16];
} Doubt;

typedef struct Worker { /* one per host thread */
    Launch *launch;
    const Allocation **hit; /* by site: the allocation found last */
    SiteCount *sites;
    SegmentCount *segments;
    uint64_t *divergence;
    uint64_t random;
    uint32_t alive; /* blocks that it has begun and not ended, at most: they share a turn's length */
    struct Races *races; /* with CHECK_GLOBAL */
    struct Caches *caches; /* with COUNT_CACHES */
    uint32_t suspicious;  /* after a store: core_settle */
    uint32_t doubts;      /* of the store at hand, one a lane */
    Doubt doubt[LANES];
} Worker;

enum { NAMED_BARRIERS = 16 };

typedef struct Block {
    Worker *worker;
    uint32_t id[3], linear, wave_count, live_waves, epoch;
    uint8_t *shared, *initialised; /* one byte of state per byte of LDS */
    Shadow *shadow;
    struct Order *order;  /* between waves, since the last barrier; null until there was a reason */
    uint32_t *read_times; /* with an order: per byte and wave */
    uint8_t *waves;
    uint32_t waiting, grid_waiting;
    uint32_t yields; /* turns that waves had used up since the last barrier */
    uint32_t meetings; /* barriers that opened since the block began or got another one beside it */
    uint32_t named, arrived[NAMED_BARRIERS]; /* a named barrier was used; threads that do not wait for it */
} Block;

typedef struct Wave {
    Launch *launch;
    Worker *worker;
    Block *block;
    SegmentCount *segments;
    uint32_t index, pc, event, barrier_site, barrier_id, barrier_count;
    int64_t budget, quantum;
    uint64_t live;   /* lanes that exist in this wave */
    uint64_t missed; /* lanes that were off at a barrier: they must not come back */
    uint32_t missed_site;
    uint32_t manner; /* of the access at hand: enum Manner */
    uint32_t *rows;        /* vector registers: LANES words a row */
    uint64_t *row_poison;  /* a bit per lane and row; null when not checked */
    uint8_t *private_base; /* LANES x private_bytes, interleaved by dword */
    uint64_t *private_poison; /* a word per dword row */
    struct Meetings *meetings; /* where lanes of a wave need each other's word for what is done; else null */
} Wave;

/* Which lanes know of each other: two that never met since may not touch the same bytes, one of them writing. */
typedef struct Meetings {
    uint32_t all;     /* meetings of all lanes so far: they order everything */
    uint32_t some;    /* of which meeting the times below are; others are zero */
    uint32_t access;  /* instructions that touched shared memory */
    uint16_t known[LANES][LANES]; /* by lane: the time of every other lane when they met last, directly or not */
} Meetings;
void core_meet(Wave *, uint64_t lanes);

/* Order between waves and blocks (order.c). `manner` says in which way memory is accessed: 0 is plain. */
enum Manner {
    MANNER_STRONG = 1,   /* volatile, or an atomic load or store */
    MANNER_ATOMIC = 2,   /* read and written in one */
    MANNER_RETURNS = 4,  /* and the old value is used */
    MANNER_SWAPS = 8,    /* exchange, compare and swap: as locks do */
    MANNER_COMPARES = 16,
    MANNER_FENCED = 32,  /* in order with everything before, without a fence */
};
enum Knowledge { KNOWS_NOT, KNOWS_UNFENCED, KNOWS };
#define SHARED_WORD (1ull << 62)
void core_fence(Wave *, int device);
uint32_t core_time(const Wave *);
int core_knows(const Wave *, uint32_t other, uint32_t time);
int core_signals(const Wave *, uint64_t offset, int write);
void core_order_shared(Wave *, uint64_t active, const uint64_t *offset, int write);
void core_order_free(Block *);
typedef struct Caches Caches;
Caches *core_caches_start(const CacheShape *);
void core_caches_end(Caches *, CacheTotals *); /* null: nobody wants to know */
void core_caches_access(Wave *, uint32_t site, uint64_t active, const uint64_t *address, uint32_t bytes, int write);
void core_caches_private(Wave *, uint32_t site, uint64_t active, const uint64_t *offset, uint32_t bytes, int write);
struct Races *core_races_start(const Launch *);
void core_races_forget(struct Races *, const Launch *);
void core_races_end(struct Races *, const Launch *);
void core_global_races(Wave *, uint32_t site, uint64_t active, const uint64_t *address, uint32_t bytes, int write);
int core_settle(Wave *); /* nonzero when it was a race in LDS */
int core_settle_shared(Wave *);
void core_note(FaultRecord *, const Wave *, enum FaultKind, uint32_t site, uint32_t lane, uint64_t address, uint64_t bytes);
const Allocation *core_find(const Launch *, uint64_t address);

enum WaveEvent core_fault(Wave *, enum FaultKind, uint32_t site, uint32_t lane, uint64_t address, uint64_t bytes);
void core_fault_pair(Wave *, enum FaultKind, uint32_t site, uint32_t lane, uint64_t address, uint64_t bytes,
                     uint32_t other_wave, uint32_t other_site);
enum WaveEvent core_barrier(Wave *, uint32_t site, uint64_t active);
void core_arrive(Wave *, uint32_t id, uint32_t threads); /* at a named barrier, without waiting */
int core_run(Launch *);

/* Validates one access of every lane in `active` (not empty). On success address[] holds host addresses that
 * are safe to use for every lane: lanes that are off get the address of the first active one. */
int core_global(Wave *, uint32_t site, uint64_t active, uint64_t *address, uint32_t bytes, uint32_t align, int write);
int core_shared(Wave *, uint32_t site, uint64_t active, uint64_t *address, uint32_t bytes, uint32_t align, int write,
                int atomic, uint64_t *poisoned);
int core_scalar(Wave *, uint32_t site, uint64_t address, uint32_t bytes, int write);
/* The lanes that would read a byte of device memory that nothing wrote (CHECK_UNWRITTEN). */
uint64_t core_unwritten(Wave *, uint32_t site, uint64_t active, const uint64_t *address, uint32_t bytes);

/* The device heap, and messages to the host (services.c). */
uint64_t core_heap_allocate(Wave *, uint64_t bytes, uint64_t align);
int core_heap_free(Wave *, uint64_t address);
const Allocation *core_heap_find(const Launch *, uint64_t address);
void core_message(Wave *, uint32_t kind, uint32_t site, uint32_t lane, const void *data, uint32_t bytes);

/* Address helpers for the devices. */
static inline uint64_t first_lane(uint64_t active) { return (uint64_t)__builtin_ctzll(active); }

typedef uint32_t words16 __attribute__((vector_size(64), aligned(64)));
typedef int32_t ints16 __attribute__((vector_size(64), aligned(64)));

/* bits -> one word per lane, all ones or zero */
static inline void expand_mask(uint64_t bits, uint32_t *out) {
    static const words16 bit = {1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768};
    for (int i = 0; i < LANES / 16; i++) {
        uint32_t part = (uint32_t)(bits >> (16 * i)) & 0xffff;
        words16 spread = {part, part, part, part, part, part, part, part, part, part, part, part, part, part, part, part};
        ((words16 *)out)[i] = (words16)((spread & bit) != 0);
    }
}

/* one word per lane, all ones or zero -> bits */
static inline uint64_t pack_mask(const uint32_t *in) {
    uint64_t bits = 0;
#if defined(__AVX512DQ__)
    typedef int v16si __attribute__((vector_size(64)));
    for (int i = 0; i < LANES / 16; i++)
        bits |= (uint64_t)(uint16_t)__builtin_ia32_cvtd2mask512((v16si)((const words16 *)in)[i]) << (16 * i);
#else
    for (int i = 0; i < LANES; i++) bits |= (uint64_t)(in[i] & 1) << i;
#endif
    return bits;
}

#endif
