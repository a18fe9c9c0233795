/* One launch: arguments where the kernel looks for them, the run, and what came of it. */
#define _GNU_SOURCE
#include "host.h"

#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

int core_run(Launch *);
void core_forget_messages(Launch *);

enum { QUANTUM = 1000000, SMALL = 16384, ARGUMENT_ROOM = 64 << 10 };
static const double better_after[BEST] = {0.1, 0.4}; /* seconds in code of a level before a kernel is worth the next */
#define ENDLESS 2000000000000ull

/* ---- arguments ------------------------------------------------------------------------------------------- */

typedef struct Places {
    uint64_t arguments, packet, workspace, books, hostcall;
} Places;

static Places places;

static uint64_t own(size_t bytes, uint32_t state, const char *name) {
    void *made = memory_allocate(bytes, SORT_OWN, state, name);
    if (!made) end_process(END_BROKEN, "no device memory for %s", name);
    return (uint64_t)made;
}

#if defined SIDE_HIP
enum { PACKETS = 64, PAYLOADS = 4096, PAYLOAD_BYTES = 64 * 64, BOOKS_BYTES = 256 << 10, SHARED_APERTURE_HIGH = 0x10000, PRIVATE_APERTURE_HIGH = 0x20000 };

/* All packets on the free stack, a doorbell that interrupts: what hostcall.py places for one launch. */
static void reset_hostcall(uint64_t base) {
    uint64_t *buffer = (uint64_t *)base;
    uint64_t signal = base + 64, mailbox = base + 128, headers = base + 256;
    memset(buffer, 0, PAYLOADS);
    buffer[0] = headers;
    buffer[1] = base + PAYLOADS;
    buffer[2] = signal;
    buffer[3] = (PACKETS - 1) | PACKETS;
    buffer[5] = PACKETS - 1;
    uint64_t *doorbell = (uint64_t *)signal;
    doorbell[0] = 1;
    doorbell[2] = mailbox;
    doorbell[3] = 1;
    struct Header {
        uint64_t next, active;
        uint32_t service, control;
    } *header = (struct Header *)headers;
    for (uint64_t i = 1; i < PACKETS; i++) header[i].next = (i - 1) | PACKETS;
}

static uint64_t hidden_value(const Request *r, const char *kind) {
    const char *name = strncmp(kind, "hidden_", 7) ? kind : kind + 7;
    const uint32_t grid[3] = {r->grid.x, r->grid.y, r->grid.z}, block[3] = {r->block.x, r->block.y, r->block.z};
    size_t length = strlen(name);
    uint32_t axis = length ? (uint32_t)(name[length - 1] - 'x') : 3;
    if (!strncmp(name, "block_count_", 12) && axis < 3) return grid[axis];
    if (!strncmp(name, "group_size_", 11) && axis < 3) return block[axis];
    if (!strcmp(name, "grid_dims")) return grid[2] * block[2] > 1 ? 3 : grid[1] * block[1] > 1 ? 2 : 1;
    if (!strcmp(name, "shared_base")) return SHARED_APERTURE_HIGH;
    if (!strcmp(name, "private_base")) return PRIVATE_APERTURE_HIGH;
    if (!strcmp(name, "hostcall_buffer")) return places.hostcall;
    if (!strcmp(name, "heap_v1")) return r->kernel->uses_heap ? places.books : 0;
    if (!strcmp(name, "dynamic_lds_size")) return r->shared;
    return 0;
}

static void write_packet(const Request *r, uint32_t shared) { /* hsa_kernel_dispatch_packet_t */
    struct {
        uint16_t header, setup, group[3], spare;
        uint32_t grid[3], private_bytes, group_bytes;
        uint64_t code, arguments, spare2, signal;
    } packet = {0, 3, {(uint16_t)r->block.x, (uint16_t)r->block.y, (uint16_t)r->block.z}, 0,
                {r->grid.x * r->block.x, r->grid.y * r->block.y, r->grid.z * r->block.z},
                r->kernel->private_segment, shared, 0, places.arguments, 0, 0};
    memcpy((void *)places.packet, &packet, 64);
}
#endif

static void start_places(const Kernel *k) {
    if (!places.arguments) {
        places.arguments = own(ARGUMENT_ROOM, ALLOCATION_READ_ONLY, "kernel arguments");
        places.packet = own(64, ALLOCATION_READ_ONLY, "dispatch packet");
        places.workspace = own(64, ALLOCATION_LIVE, "grid workspace");
    }
    memset((void *)places.workspace, 0, 64);
#if defined SIDE_HIP
    if (!k->uses_heap) return;
    if (!places.books) {
        (void)memory_heap();
        places.books = own(BOOKS_BYTES, ALLOCATION_LIVE, "allocator of the device libraries");
        places.hostcall = own(PAYLOADS + PACKETS * PAYLOAD_BYTES, ALLOCATION_LIVE, "hostcall buffer");
    }
    reset_hostcall(places.hostcall);
#else
    (void)k;
#endif
}

static int place_arguments(const Request *r) {
    const Kernel *k = r->kernel;
    uint8_t *into = (uint8_t *)places.arguments;
    uint32_t given = 0;
    if (k->argument_bytes + 64 > ARGUMENT_ROOM) return INVALID_VALUE;
    memset(into, 0, k->argument_bytes + 64);
    if (r->packed) memcpy(into, r->packed, r->packed_bytes < k->argument_bytes ? r->packed_bytes : k->argument_bytes);
    for (uint32_t i = 0; i < k->parameter_count; i++) {
        const Parameter *p = &k->parameters[i];
        if (!p->hidden[0]) {
            if (r->packed) continue;
            if (!r->arguments || !r->arguments[given]) return INVALID_VALUE;
            memcpy(into + p->offset, r->arguments[given++], p->size);
            continue;
        }
#if defined SIDE_HIP
        uint64_t value = hidden_value(r, p->hidden);
        memcpy(into + p->offset, &value, p->size < 8 ? p->size : 8);
#endif
    }
    /* Loads may be widened past the end of the segment. */
    memory_find((void *)places.arguments)->end = places.arguments + k->argument_bytes + 64;
    return OK;
}

static void place_symbols(Kernel *k) {
    for (uint32_t i = 0; i < k->symbol_count; i++) {
        const char *name = k->symbol_names[i];
        if (!strcmp(name, "dispatch packet") || !strcmp(name, "queue")) k->symbols[i] = places.packet;
        else if (!strcmp(name, "hostcall buffer")) k->symbols[i] = places.hostcall;
        else if (!strcmp(name, "heap")) k->symbols[i] = places.books;
        else if (!strcmp(name, "grid workspace")) k->symbols[i] = places.workspace;
    }
}

/* ---- what is refused ------------------------------------------------------------------------------------- */

static int refused(const Request *r) {
    const Kernel *k = r->kernel;
    uint64_t threads = (uint64_t)r->block.x * r->block.y * r->block.z;
    uint64_t shared = k->shared + r->shared;
    if (!threads || !r->grid.x || !r->grid.y || !r->grid.z) return INVALID_CONFIGURATION;
    if (threads > 1024 || r->block.z > (LANES == 32 ? 64 : 1024)) return INVALID_CONFIGURATION;
    if (threads > k->max_threads) return LANES == 32 ? OUT_OF_RESOURCES : LAUNCH_FAILED;
    if (LANES == 32 && (r->grid.x > INT32_MAX || r->grid.y > 65535 || r->grid.z > 65535)) return INVALID_CONFIGURATION;
    if (LANES == 64 && (uint64_t)r->grid.x * r->block.x > UINT32_MAX) return INVALID_CONFIGURATION;
    if (LANES == 32 && shared > (48 << 10) && r->shared > r->dynamic_limit) return INVALID_VALUE;
    if (shared > (LANES == 32 ? 227 << 10 : 64 << 10)) return LANES == 32 ? INVALID_VALUE : OUT_OF_RESOURCES;
    return OK;
}

/* ---- faults ---------------------------------------------------------------------------------------------- */

static const char *const kinds[] = {
    "none", "out-of-bounds", "freed", "read-only", "misaligned", "shared-out-of-bounds", "private-out-of-bounds",
    "uninitialised", "race", "divergent-barrier", "barrier-mismatch", "barrier-missed", "budget", "trap", "bad-jump",
    "unsupported", "deadlock", "assert", "bad-free", "sync-mask", "sync-missed", "warp-race", "no-fence", "global-race",
};
static const char *const sentences[] = { /* as core/result.py */
    "", "access outside every allocation", "access to freed memory", "write to constant memory", "misaligned access",
    "access outside shared memory (LDS)", "access outside the thread's private memory (scratch)",
    "an uninitialised value reaches a result", "data race in shared memory (LDS): two waves, no barrier between",
    "barrier reached by some lanes of a wave only", "waves of a block wait at different barriers",
    "a wave ended while others wait at a barrier", "instruction budget exceeded (endless loop?)",
    "trap (abort or __builtin_trap in the kernel)", "jump to an address that is no function",
    "reached something the device does not support", "no wave can go on", "assertion failed",
    "free of what is no block of the device heap", "a lane calls a warp function with a mask that does not name it",
    "a lane named in the mask of a warp function never arrives",
    "hazard in shared memory: two lanes of a warp, one of them writing, no __syncwarp between",
    "hazard in shared memory: an atomic or volatile between two waves, no __threadfence_block seen",
    "hazard in global memory: two waves, one of them writing, nothing orders them",
};

static const char two_stores[] = "data race in global memory: two blocks store different values, nothing orders them";
static int is_block_race(const FaultRecord *f) { return f->kind == FAULT_GLOBAL_RACE && f->weight == TWO_STORES; }

static void where_text(const Kernel *k, uint32_t site, char *text, size_t size) {
    if (site >= k->site_count) return (void)(text[0] = 0);
    const SiteText *s = &k->site_texts[site];
    if (s->file) snprintf(text, size, "%s:%u: %s", s->file, s->line, s->text);
    else snprintf(text, size, "assembly line %u: %s", s->assembly, s->text);
}

static void fault_text(const Kernel *k, const FaultRecord *f, char *text, size_t size) {
    char where[600], near[400] = "";
    where_text(k, f->site, where, sizeof where);
    int global = f->kind == FAULT_OUT_OF_BOUNDS || f->kind == FAULT_FREED || f->kind == FAULT_READ_ONLY || f->kind == FAULT_GLOBAL_RACE;
    if (global) memory_describe(f->address, near, sizeof near);
    int at = snprintf(text, size, "%s: %s, block (%u, %u, %u), wave %u, lane %u%s%s", is_block_race(f) ? two_stores : sentences[f->kind], k->shown, f->block[0],
                      f->block[1], f->block[2], f->wave, f->lane, where[0] ? " at " : "", where);
    if (at < 0 || (size_t)at >= size) return;
    if (f->bytes) at += snprintf(text + at, size - (size_t)at, "; %llu bytes at %#llx", (unsigned long long)f->bytes, (unsigned long long)f->address);
    if (near[0] && (size_t)at < size) at += snprintf(text + at, size - (size_t)at, "; %s", near);
    if (f->other_site != UINT32_MAX && (size_t)at < size) {
        char other[80] = "";
        where_text(k, f->other_site, where, sizeof where);
        if (f->kind == FAULT_GLOBAL_RACE) {
            if (f->other_block[0] == UINT32_MAX) snprintf(other, sizeof other, "several blocks, ");
            else snprintf(other, sizeof other, "block (%u, %u, %u), ", f->other_block[0], f->other_block[1], f->other_block[2]);
        }
        if (f->other_wave == UINT32_MAX) snprintf(text + at, size - (size_t)at, "; with %sat %s", other, where);
        else snprintf(text + at, size - (size_t)at, "; with %swave %u at %s", other, f->other_wave, where);
    }
}

/* Where a value came from that nothing wrote. */
static void add_read(const Kernel *k, const FaultRecord *read, char *text, size_t size) {
    char where[600], near[400];
    if (read->kind == FAULT_NONE) return;
    where_text(k, read->site, where, sizeof where);
    memory_describe(read->address, near, sizeof near);
    size_t at = strlen(text);
    snprintf(text + at, size - at, "; the first read of what nothing wrote: at %s; %llu bytes at %#llx; %s", where, (unsigned long long)read->bytes,
             (unsigned long long)read->address, near);
}

static int faulted(const Request *r, Launch *l, const char *assertion) {
    char text[2000];
    const Kernel *k = r->kernel;
    FaultRecord *f = &l->fault;
    if (f->kind == FAULT_TRAP && assertion[0]) f->kind = FAULT_ASSERT;
    fault_text(k, f, text, sizeof text);
    if (f->kind == FAULT_UNINITIALISED) add_read(k, &l->unwritten_read, text, sizeof text);
    if (assertion[0]) snprintf(text + strlen(text), sizeof text - strlen(text), "; %s", assertion);
    const SiteText *s = f->site < k->site_count ? &k->site_texts[f->site] : NULL;
    fault_happened(kinds[f->kind], k->shown, text, s ? s->file : NULL, s ? s->line : 0, f->block, f->wave * LANES + f->lane);
    fflush(stdout);
    fprintf(stderr, "porter: %s\n", text);
    if (settings.stop_at_fault || f->kind == FAULT_UNSUPPORTED)
        end_process(f->kind == FAULT_UNSUPPORTED ? END_UNSUPPORTED : f->kind == FAULT_BUDGET ? END_TOO_LONG : END_FAULT, NULL);
    int status = f->kind == FAULT_ASSERT ? ASSERTED : f->kind <= FAULT_READ_ONLY ? ILLEGAL_ADDRESS : LAUNCH_FAILED;
    set_sticky(status);
    return OK; /* the launch itself was accepted: the next call says what came of it */
}

/* What `--races` found between blocks is wrong, but the program goes on: its values are there, and more may be found. */
static void block_race(const Kernel *k, const FaultRecord *f) {
    char text[2000];
    const SiteText *s = f->site < k->site_count ? &k->site_texts[f->site] : NULL;
    fault_text(k, f, text, sizeof text);
    fault_happened("block-race", k->shown, text, s ? s->file : NULL, s ? s->line : 0, f->block, f->wave * LANES + f->lane);
    fprintf(stderr, "porter: %s\n", text);
}

static void noted(const Kernel *k, const Launch *l) {
    const FaultRecord *all[] = {&l->note, &l->hazard, &l->no_fence, &l->global_hazard};
    char text[2000];
    for (int i = 0; i < 4; i++) {
        if (all[i]->kind == FAULT_NONE) continue;
        if (is_block_race(all[i])) {
            block_race(k, all[i]);
            continue;
        }
        fault_text(k, all[i], text, sizeof text);
        note("%s", text);
    }
    if (l->messages_lost) note("%s: too much printed, %llu messages dropped", k->shown, (unsigned long long)l->messages_lost);
}

/* ---- the run --------------------------------------------------------------------------------------------- */

/* One thread looks every tenth of a second whether quick code runs for long, and puts optimised code in its place. */
static struct {
    pthread_mutex_t lock;
    Launch *launch;
    Kernel *kernel;
    double since;
    pid_t process;
} running = {.lock = PTHREAD_MUTEX_INITIALIZER};

static pid_t watcher;
int watching_thread(void) { return __atomic_load_n(&watcher, __ATOMIC_ACQUIRE); }

static void *watching(void *unused) {
    (void)unused;
    __atomic_store_n(&watcher, (pid_t)syscall(SYS_gettid), __ATOMIC_RELEASE);
    for (;;) {
        nanosleep(&(struct timespec){0, 100000000}, NULL);
        pthread_mutex_lock(&running.lock);
        Kernel *k = running.launch ? running.kernel : NULL;
        double ran = k ? k->seconds + seconds_now() - running.since : 0;
        if (k && k->level < BEST && ran - k->better_since > better_after[k->level] && kernel_better(k)) {
            k->better_since = ran;
            __atomic_store_n(&running.launch->step, k->step, __ATOMIC_RELEASE);
        }
        pthread_mutex_unlock(&running.lock);
    }
    return NULL;
}

static void watch_for(Kernel *k, Launch *l) {
    pthread_t thread;
    pthread_mutex_lock(&running.lock);
    if (l && k->level < BEST && running.process != getpid() && !pthread_create(&thread, NULL, watching, NULL)) {
        pthread_detach(thread);
        running.process = getpid();
    }
    running.launch = l;
    running.kernel = k;
    running.since = l ? seconds_now() : 0;
    if (l) l->step = k->step;
    pthread_mutex_unlock(&running.lock);
}

static uint32_t threads_for(const Request *r) {
    uint64_t lanes = (uint64_t)r->grid.x * r->grid.y * r->grid.z * r->block.x * r->block.y * r->block.z;
    if (r->cooperative || settings.schedule || settings.races || settings.profile || lanes < SMALL) return 1;
    return settings.threads;
}

static uint64_t counted(const Kernel *k) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < k->segment_count; i++) sum += k->segments[i].lanes * k->weights[i];
    return sum;
}

static void fill(Launch *l, const Request *r) {
    Kernel *k = r->kernel;
    uint64_t blocks = (uint64_t)r->grid.x * r->grid.y * r->grid.z;
    memset(l, 0, sizeof *l);
    memcpy(l->grid, &r->grid, sizeof l->grid);
    memcpy(l->block, &r->block, sizeof l->block);
    l->shared_bytes = k->shared + (uint32_t)r->shared;
    l->private_bytes = k->private_bytes;
    l->threads = threads_for(r);
    l->flags = ALLOW_EXITED | COUNT_ARRIVALS | MORE_BLOCKS | (settings.races ? CHECK_RACES | CHECK_GLOBAL : 0u) | (settings.poison ? CHECK_POISON : 0u) |
               (settings.schedule ? INTERLEAVE : 0u) | (r->cooperative ? COOPERATIVE : 0u);
    l->alignment = LANES == 32 ? ALIGN_NATURAL : ALIGN_DWORD;
    l->resident = r->cooperative ? (uint32_t)blocks : settings.schedule ? 4 : 1;
    l->seed = settings.schedule;
    l->budget = ENDLESS;
    l->quantum = QUANTUM;
    l->allocations = memory_table(&l->allocation_count);
    l->symbols = k->symbols;
    l->arguments = places.arguments;
    l->site_count = k->site_count;
    l->segment_count = k->segment_count;
    l->wave_bytes = k->wave_bytes;
    l->site_lines = k->site_lines;
    l->init = k->init;
    l->step = k->step;
    l->sites = k->sites;
    l->segments = k->segments;
    l->divergence = k->divergence;
    l->heap = k->uses_heap ? memory_heap() : memory_heap_made();
    memory_follow(l);
}

/* Nothing was printed or noted: there is nothing but memory to put back. */
static int is_quiet(const Launch *l) {
    return !l->message_bytes && !l->messages_lost && !l->note.kind && !l->hazard.kind && !l->no_fence.kind && !l->global_hazard.kind;
}

static int was_known(const Request *r) {
    r->kernel->launches++;
    r->kernel->known++;
    r->kernel->blocks += (uint64_t)r->grid.x * r->grid.y * r->grid.z;
    report_launch(0, 0, 1);
    return OK;
}

int launch(const Request *r) {
    Kernel *k = r->kernel;
    Launch l;
    char assertion[1200];
    int status = refused(r);
    if (status) return status;
    start_places(k);
    status = place_arguments(r);
    if (status) return status;
    place_symbols(k);
    if (k->uses_heap) (void)memory_heap();
    if (known_before(r, (const void *)places.arguments)) return was_known(r);
    fill(&l, r);
#if defined SIDE_HIP
    write_packet(r, l.shared_bytes);
#endif
    profile_before(r, &l);
    uint64_t before = counted(k);
    trace_before();
    watch_for(k, &l);
    double start = seconds_now();
    report_running(k->shown);
    status = core_run(&l);
    report_running(NULL);
    double seconds = seconds_now() - start;
    watch_for(k, NULL);
    if (status) end_process(END_BROKEN, "not enough host memory for a launch of %s", k->shown);
    int quiet = is_quiet(&l);
    if (l.message_bytes) report_printed();
    print_messages(&l, assertion, sizeof assertion);
    core_forget_messages(&l);
    k->launches++;
    k->blocks += (uint64_t)r->grid.x * r->grid.y * r->grid.z;
    k->seconds += seconds;
    uint64_t done = counted(k) - before;
    k->lane_instructions += done;
    report_launch(done, seconds, 0);
    if (l.fault.kind) return faulted(r, &l, assertion);
    noted(k, &l);
    if (quiet) known_after(r);
    profile_after(r, &l);
    trace_after(r);
    return OK;
}
