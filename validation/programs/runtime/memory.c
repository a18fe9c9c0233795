/* Device memory: one reserved range of addresses, allocations in it with red zones between; a row for each. */
#define _GNU_SOURCE
#include "host.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ALIGN = 512, RED_ZONE = 64 << 10, KEPT_FREED = 1 << 16, LARGE = 1 << 20, PAGE = 4096 };
#define HEAP_SPAN (1ull << 30)
#define HEAP_ROWS (1u << 20)

const char *const sort_names[] = {"device memory", "managed memory", "pinned host memory", "registered host memory",
                                  "symbol", "runtime"};

/* The range has two parts: what the device alone may touch, and what it shares with the host. */
typedef struct Part {
    uint64_t base, next, end;
} Part;

static Part closed, open_part;
static uint64_t origin, end, used, heap_limit = 256ull << 20;
static uint8_t *unwritten; /* of every byte of the range, whether nothing wrote it; null: not followed */
static int pages = -1; /* the kernel's account of this process's pages */
static int key = -1; /* of the processor's protection keys; -1: it has none, or the program keeps no memory from the host */
static Allocation *table;
static Detail *details;
static uint32_t *spare, spare_count; /* ids that can be used again */
static uint32_t count, room, freed, ids, numbers[6];

void memory_start(void) {
    uint64_t bytes = 1ull << 40;
    void *made = MAP_FAILED;
    for (; bytes >= 1ull << 28; bytes /= 4) {
        made = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (made != MAP_FAILED) break;
    }
    if (made == MAP_FAILED) end_process(END_BROKEN, "no address space for device memory");
    origin = (uint64_t)made;
    end = origin + bytes;
    closed = (Part){origin, origin + RED_ZONE, origin + bytes / 4 * 3};
    open_part = (Part){closed.end, closed.end + RED_ZONE, end};
    if (settings.poison) {
        unwritten = mmap(NULL, end - origin, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (unwritten == MAP_FAILED) end_process(END_BROKEN, "no address space to follow what is written to device memory");
        pages = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
        if (pages < 0) note("/proc/self/pagemap cannot be read: what nothing wrote to managed memory is not followed");
        else madvise((void *)open_part.base, open_part.end - open_part.base, MADV_NOHUGEPAGE); /* else one byte touches 2 MiB */
    }
    if (!settings.guard) return;
    key = pkey_alloc(0, 0);
    if (key >= 0 && pkey_mprotect((void *)closed.base, closed.end - closed.base, PROT_READ | PROT_WRITE, key)) pkey_free(key), key = -1;
    if (key < 0) note("this processor has no protection keys: host code that touches device memory is not looked for");
}

/* ---- who may touch device memory: a thread while it is in a call of the runtime -------------------------- */

void memory_allow(int allowed) {
    if (key >= 0) pkey_set(key, allowed ? 0 : PKEY_DISABLE_ACCESS);
}

static void open_pages(uint64_t first, uint64_t last) {
    first = first / 4096 * 4096;
    if (key >= 0) pkey_mprotect((void *)first, (last - first + 4095) / 4096 * 4096, PROT_READ | PROT_WRITE, 0);
}

void memory_open(void) {
    open_pages(closed.base, closed.end);
    key = -1;
}

void memory_share(const Allocation *row) { open_pages(row->base, row->end); }
int memory_is_closed(const void *at) { return key >= 0 && (uint64_t)at >= closed.base && (uint64_t)at < closed.end; }

static Part *part_of(enum Sort sort) { return sort == SORT_MANAGED || sort == SORT_PINNED ? &open_part : &closed; }

uint64_t memory_total(void) {
    struct sysinfo info;
    if (settings.device_memory) return settings.device_memory;
    if (sysinfo(&info)) return 8ull << 30;
    uint64_t half = (uint64_t)info.totalram * info.mem_unit / 2;
    return half < 80ull << 30 ? half : 80ull << 30;
}

uint64_t memory_used(void) { return used; }
int memory_is_ours(const void *at) { return (uint64_t)at >= origin && (uint64_t)at < end; }
Detail *memory_detail(const Allocation *row) { return &details[row->id]; }

const Allocation *memory_table(uint32_t *rows) {
    *rows = count;
    return table;
}

/* how many rows start at or below an address */
static uint32_t rank(uint64_t address) {
    uint32_t low = 0, high = count;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (table[middle].base <= address) low = middle + 1;
        else high = middle;
    }
    return low;
}

Allocation *memory_find(const void *at) {
    uint64_t address = (uint64_t)at;
    uint32_t place = rank(address);
    if (!place) return NULL;
    Allocation *row = &table[place - 1];
    return address < row->end || (address == row->base && row->base == row->end) ? row : NULL;
}

static uint32_t new_id(void) {
    if (spare_count) return spare[--spare_count];
    return ids++;
}

static void drop_rows(int (*gone)(const Allocation *, uint32_t *left), uint32_t left) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (table[i].state == ALLOCATION_FREED && gone(&table[i], &left)) spare[spare_count++] = table[i].id, freed--;
        else table[kept++] = table[i];
    }
    count = kept;
}

static int some_gone(const Allocation *row, uint32_t *left) {
    (void)row;
    return *left ? (*left)--, 1 : 0;
}

void memory_place(uint64_t base, size_t bytes, enum Sort sort, uint32_t state, const char *name) {
    if (freed > KEPT_FREED) drop_rows(some_gone, KEPT_FREED / 2);
    if (count == room) {
        room = room ? 2 * room : 256;
        table = realloc(table, room * sizeof *table);
        details = realloc(details, room * sizeof *details);
        spare = realloc(spare, room * sizeof *spare);
        if (!table || !details || !spare) end_process(END_BROKEN, "no host memory for the table of allocations");
    }
    uint32_t place = rank(base), id = new_id();
    memmove(&table[place + 1], &table[place], (count - place) * sizeof *table);
    table[place] = (Allocation){base, base + bytes, state, id};
    details[id] = (Detail){.sort = sort, .number = ++numbers[sort], .name = name};
    count++;
}

uint64_t memory_reserve(size_t bytes) {
    uint64_t base = (closed.next + 4095) / 4096 * 4096;
    if (bytes > closed.end - base || base + bytes + RED_ZONE > closed.end) return 0;
    closed.next = base + bytes + RED_ZONE;
    return base;
}

/* The range is used up: the first gap between what is alive that is large enough. */
static uint64_t gap(const Part *part, size_t bytes) {
    drop_rows(some_gone, UINT32_MAX);
    uint64_t last = part->base;
    for (uint32_t i = 0; i < count; i++) {
        if (table[i].base < part->base || table[i].base >= part->end) continue;
        uint64_t base = (last + RED_ZONE + ALIGN - 1) / ALIGN * ALIGN;
        if (base + bytes + RED_ZONE <= table[i].base) return base;
        last = table[i].end;
    }
    return 0;
}

void *memory_allocate(size_t bytes, enum Sort sort, uint32_t state, const char *name) {
    int counted = sort == SORT_DEVICE || sort == SORT_MANAGED;
    Part *part = part_of(sort);
    if (bytes > part->end - part->base || (counted && used + bytes > memory_total())) return NULL;
    uint64_t base = (part->next + ALIGN - 1) / ALIGN * ALIGN;
    if (base + bytes + RED_ZONE <= part->end) part->next = base + bytes + RED_ZONE;
    else base = gap(part, bytes);
    if (!base) return NULL;
    memory_place(base, bytes, sort, state, name);
    memory_wrote((void *)base, bytes); /* whatever was there before */
    if (counted) used += bytes;
    return (void *)base;
}

int memory_release(void *at, enum Sort sort) {
    Allocation *row = memory_find(at);
    if (!row || row->base != (uint64_t)at || row->state != ALLOCATION_LIVE) return INVALID_VALUE;
    enum Sort own = details[row->id].sort;
    if (own != sort && !(sort == SORT_DEVICE && own == SORT_MANAGED)) return INVALID_VALUE;
    row->state = ALLOCATION_FREED;
    freed++;
    size_t bytes = row->end - row->base;
    if (own == SORT_DEVICE || own == SORT_MANAGED) used -= bytes;
    if (bytes >= LARGE) {
        uint64_t first = (row->base + 4095) / 4096 * 4096, last = row->end / 4096 * 4096;
        madvise((void *)first, last - first, MADV_DONTNEED);
    }
    return OK;
}

/* ---- what nothing wrote -------------------------------------------------------------------------------------- */

static uint8_t *state_of(const void *at) { return unwritten && memory_is_ours(at) ? unwritten + ((uint64_t)at - origin) : NULL; }

static void *page_of(uint64_t at) { return (void *)(at / PAGE * PAGE); }

/* Fresh memory: not zero, which a GPU's is not either once some was freed. Managed memory is the host's, too, whose
 * stores nobody sees; but a page that nobody touched is none that it wrote. */
void memory_fresh(void *at, size_t bytes, enum Sort sort) {
    uint8_t *state = state_of(at);
    if (!state || (sort != SORT_DEVICE && (sort != SORT_MANAGED || pages < 0))) return;
    memset(state, 1, bytes);
    if (sort == SORT_DEVICE) memset(at, 0xff, bytes);
    else madvise(page_of((uint64_t)at), (uint64_t)at + bytes - (uint64_t)page_of((uint64_t)at), MADV_DONTNEED);
}

/* Pages of managed memory that somebody touched count as written, whole. */
static void touched(const Allocation *row) {
    if (pages < 0 || row->state != ALLOCATION_LIVE || details[row->id].sort != SORT_MANAGED) return;
    if (!memchr(unwritten + (row->base - origin), 1, row->end - row->base)) return;
    uint64_t entries[512], first = row->base / PAGE, last = (row->end + PAGE - 1) / PAGE;
    for (uint64_t page = first; page < last;) {
        uint64_t wanted = last - page < 512 ? last - page : 512;
        ssize_t got = pread(pages, entries, wanted * sizeof *entries, (off_t)(page * sizeof *entries));
        if (got <= 0) { /* nobody knows: all of it counts as written */
            memset(unwritten + (row->base - origin), 0, row->end - row->base);
            return;
        }
        for (uint64_t i = 0; i < (uint64_t)got / sizeof *entries; i++, page++) {
            uint64_t from = page * PAGE < row->base ? row->base : page * PAGE, to = (page + 1) * PAGE < row->end ? (page + 1) * PAGE : row->end;
            if (entries[i] >> 62) memset(unwritten + (from - origin), 0, to - from); /* in memory, or swapped out */
        }
    }
}

void memory_wrote(const void *at, size_t bytes) {
    uint8_t *state = state_of(at);
    if (state) memset(state, 0, bytes);
}

void memory_moved(const void *to, const void *from, size_t bytes) {
    uint8_t *into = state_of(to), *out = state_of(from);
    const Allocation *row = out ? memory_find(from) : NULL;
    if (row) touched(row);
    if (into && out) memmove(into, out, bytes);
    else if (into) memset(into, 0, bytes);
}

/* The bytes of a copy to the host that nothing wrote are told once for an allocation. */
void memory_shown(const char *call, const void *from, size_t bytes) {
    const uint8_t *state = state_of(from);
    const Allocation *row = state ? memory_find(from) : NULL;
    if (row) touched(row);
    const uint8_t *first = row ? memchr(state, 1, bytes) : NULL;
    char near[400];
    size_t sum = 0;
    if (!first || memory_detail(row)->told) return;
    memory_detail(row)->told = 1;
    for (size_t i = 0; i < bytes; i++) sum += state[i];
    memory_describe((uint64_t)from + (uint64_t)(first - state), near, sizeof near);
    note("%s: %zu of %zu bytes were never written; the first: %s", call, sum, bytes, near);
}

void memory_follow(Launch *l) {
    if (!unwritten) return;
    for (uint32_t i = 0; i < count; i++) touched(&table[i]);
    l->flags |= CHECK_UNWRITTEN;
    l->unwritten = unwritten;
    l->unwritten_base = origin;
    l->unwritten_end = end;
}

int memory_register(void *at, size_t bytes) {
    uint32_t place = rank((uint64_t)at + bytes - 1);
    if (!at || !bytes) return INVALID_VALUE;
    if (place && table[place - 1].end > (uint64_t)at) return REGISTERED;
    memory_place((uint64_t)at, bytes, SORT_REGISTERED, ALLOCATION_LIVE, NULL);
    return OK;
}

int memory_unregister(void *at) {
    Allocation *row = memory_find(at);
    if (!row || row->base != (uint64_t)at || details[row->id].sort != SORT_REGISTERED) return NOT_REGISTERED;
    spare[spare_count++] = row->id;
    memmove(row, row + 1, (size_t)(table + count - row - 1) * sizeof *row);
    count--;
    return OK;
}

/* ---- the heap behind malloc in kernels ---------------------------------------------------------------- */

static Heap the_heap;

Heap *memory_heap(void) {
    if (!the_heap.rows) {
        void *base = memory_allocate(HEAP_SPAN, SORT_OWN, ALLOCATION_HEAP, "device heap");
        the_heap.rows = mmap(NULL, HEAP_ROWS * sizeof(Allocation), PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (!base || the_heap.rows == MAP_FAILED) end_process(END_BROKEN, "no address space for the device heap");
        the_heap.next = (uint64_t)base;
        the_heap.end = the_heap.next + HEAP_SPAN;
        the_heap.limit = heap_limit;
        the_heap.capacity = HEAP_ROWS;
    }
    return &the_heap;
}

/* Kernels that allocate nothing may use what others did; null: nobody did. */
Heap *memory_heap_made(void) { return the_heap.count ? &the_heap : NULL; }

/* ---- in words ------------------------------------------------------------------------------------------- */

static const Allocation *nearest(uint64_t address) {
    uint32_t place = rank(address);
    const Allocation *below = place ? &table[place - 1] : NULL, *above = place < count ? &table[place] : NULL;
    if (!below || (address < below->end)) return below ? below : above;
    return above && above->base - address < address - below->end + 1 ? above : below;
}

void memory_describe(uint64_t address, char *text, size_t size) {
    const Allocation *near = count ? nearest(address) : NULL;
    text[0] = 0;
    if (!near) return;
    const Detail *detail = &details[near->id];
    char name[300];
    if (detail->name) snprintf(name, sizeof name, "%s", detail->name);
    else snprintf(name, sizeof name, "%s %u", sort_names[detail->sort], detail->number);
    const char *freed_word = near->state == ALLOCATION_FREED ? "freed " : "";
    unsigned long long bytes = near->end - near->base;
    if (address < near->base)
        snprintf(text, size, "%llu bytes before %s%s (%llu bytes)", (unsigned long long)(near->base - address), freed_word, name, bytes);
    else if (address >= near->end)
        snprintf(text, size, "%llu bytes after the end of %s%s (%llu bytes)", (unsigned long long)(address - near->end), freed_word, name, bytes);
    else
        snprintf(text, size, "%llu bytes into %s%s (%llu bytes)", (unsigned long long)(address - near->base), freed_word, name, bytes);
}
