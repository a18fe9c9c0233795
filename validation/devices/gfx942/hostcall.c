/* What the device libraries ask of the host: hostcalls (printf, memory), and the heap behind malloc and free.
 *
 * A hostcall goes through a buffer, as on the hardware: the wave takes a packet off the free stack, fills it, puts it
 * on the ready stack, interrupts, and spins until the packet is answered. Here the interrupt itself answers. */
#include "lanes.h"

#include <pthread.h>

enum { SERVICE_PRINTF = 2, SERVICE_DEVICE_MEMORY = 3 };
enum { MESSAGE_PRINTF = 1 };                /* printed.py */
enum { MESSAGE_BEGIN = 1, MESSAGE_ID = 8 }; /* descriptor of a printf fragment: flag, first bit of the number */
enum { SLAB = 2 << 20, PAGE = 4096 };       /* what the libraries' allocator expects of its memory */

typedef struct HostcallBuffer { /* filled in by hostcall.py */
    uint64_t headers, payloads, doorbell, free_stack, ready_stack, index_mask;
} HostcallBuffer;

typedef struct PacketHeader {
    uint64_t next, active;
    uint32_t service, control; /* control: bit 0 while the wave waits */
} PacketHeader;

/* A printf arrives in fragments of up to seven words; the first gets a number that the others carry. */
static uint64_t printf_fragment(Lanes *w, uint32_t site, int lane, uint64_t *words) {
    static uint64_t last;
    if (words[0] & MESSAGE_BEGIN)
        words[0] = (words[0] & 0xff) | __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED) << MESSAGE_ID;
    core_message(&w->core, MESSAGE_PRINTF, site, (uint32_t)lane, words, 64);
    return words[0] & ~(uint64_t)MESSAGE_BEGIN;
}

static int answer(Lanes *w, uint32_t site, PacketHeader *packet, uint64_t (*slots)[8]) {
    for (uint64_t left = packet->active; left; left &= left - 1) {
        int lane = __builtin_ctzll(left);
        uint64_t *words = slots[lane];
        if (packet->service == SERVICE_PRINTF) {
            words[0] = printf_fragment(w, site, lane, words);
        } else if (packet->service == SERVICE_DEVICE_MEMORY) {
            if (words[0]) core_heap_free(&w->core, words[0]);
            words[0] = words[0] ? 0 : core_heap_allocate(&w->core, words[1], words[1] == SLAB ? SLAB : PAGE);
        } else {
            core_fault(&w->core, FAULT_UNSUPPORTED, site, (uint32_t)lane, packet->service, 0);
            return 1;
        }
        words[1] = 0;
    }
    return 0;
}

static pthread_mutex_t service_lock = PTHREAD_MUTEX_INITIALIZER;

int gfx_interrupt(Lanes *w, uint32_t site, uint64_t address) {
    HostcallBuffer *buffer = (HostcallBuffer *)address;
    int failed = 0;
    pthread_mutex_lock(&service_lock);
    uint64_t ready = __atomic_exchange_n(&buffer->ready_stack, 0, __ATOMIC_ACQ_REL);
    while (ready && !failed) {
        uint64_t index = ready & buffer->index_mask;
        PacketHeader *packet = (PacketHeader *)buffer->headers + index;
        ready = packet->next;
        failed = answer(w, site, packet, (uint64_t(*)[8])buffer->payloads + 64 * index);
        __atomic_and_fetch(&packet->control, ~1u, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&service_lock);
    return failed;
}

/* ---- functions called in place of the libraries': argument and result in VGPRs 0 and 1 ---------------- */

static uint64_t argument(Lanes *w, int lane) { return w->core.rows[lane] | (uint64_t)w->core.rows[64 + lane] << 32; }

static int poisoned_argument(Lanes *w, uint32_t site) {
    if (!w->core.row_poison) return 0;
    return gfx_poison(w, site, (w->core.row_poison[0] | w->core.row_poison[1]) & w->exec);
}

/* void *malloc(size_t) */
int gfx_malloc(Lanes *w, uint32_t site) {
    if (poisoned_argument(w, site)) return 1;
    for (uint64_t left = w->exec; left; left &= left - 1) {
        int lane = __builtin_ctzll(left);
        uint64_t address = core_heap_allocate(&w->core, argument(w, lane), 16);
        w->core.rows[lane] = (uint32_t)address;
        w->core.rows[64 + lane] = (uint32_t)(address >> 32);
    }
    return 0;
}

/* void free(void *) */
int gfx_free(Lanes *w, uint32_t site) {
    if (poisoned_argument(w, site)) return 1;
    for (uint64_t left = w->exec; left; left &= left - 1) {
        int lane = __builtin_ctzll(left);
        uint64_t address = argument(w, lane);
        if (!address || core_heap_free(&w->core, address)) continue;
        core_fault(&w->core, FAULT_BAD_FREE, site, (uint32_t)lane, address, 0);
        return 1;
    }
    return 0;
}
