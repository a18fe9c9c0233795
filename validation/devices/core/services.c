/* What a kernel asks of the host: memory from the device heap, and messages (printed text) to keep in order. */
#include "runtime.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* ---- device heap ------------------------------------------------------------------------------------ */

static pthread_mutex_t heap_lock = PTHREAD_MUTEX_INITIALIZER;

enum { HEAP_GAP = 256 }; /* a red zone behind every block */

/* A block holds what nothing wrote, as one that was free before does on a GPU. */
static void is_fresh(const Launch *launch, uint64_t address, uint64_t bytes) {
    if (!(launch->flags & CHECK_UNWRITTEN) || address < launch->unwritten_base || address + bytes > launch->unwritten_end) return;
    memset(launch->unwritten + (address - launch->unwritten_base), 1, bytes);
    memset((void *)address, 0xff, bytes);
}

/* Never hands out the same address twice, so that a late access is known for what it is. 0: nothing left. */
uint64_t core_heap_allocate(Wave *w, uint64_t bytes, uint64_t align) {
    Heap *heap = w->launch->heap;
    uint64_t address = 0;
    if (!heap || !bytes) return 0;
    pthread_mutex_lock(&heap_lock);
    uint64_t base = (heap->next + align - 1) / align * align;
    int fits = bytes <= heap->limit && heap->live + bytes <= heap->limit && base + bytes + HEAP_GAP <= heap->end;
    if (fits && heap->count < heap->capacity) {
        Allocation *row = &heap->rows[heap->count];
        address = base;
        *row = (Allocation){address, address + bytes, ALLOCATION_LIVE, heap->count};
        heap->next = address + bytes + HEAP_GAP;
        heap->live += bytes;
        __atomic_store_n(&heap->count, heap->count + 1, __ATOMIC_RELEASE);
    } else {
        heap->refused++;
    }
    pthread_mutex_unlock(&heap_lock);
    if (address) is_fresh(w->launch, address, bytes);
    return address;
}

/* False when the address is no live block of the heap. */
int core_heap_free(Wave *w, uint64_t address) {
    Heap *heap = w->launch->heap;
    Allocation *row = (Allocation *)core_heap_find(w->launch, address);
    int known = 0;
    if (!row || row->base != address) return 0;
    pthread_mutex_lock(&heap_lock);
    known = row->state == ALLOCATION_LIVE;
    if (known) heap->live -= row->end - row->base;
    __atomic_store_n(&row->state, ALLOCATION_FREED, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&heap_lock);
    return known;
}

/* The last heap block that starts at or below the address. */
const Allocation *core_heap_find(const Launch *launch, uint64_t address) {
    const Heap *heap = launch->heap;
    if (!heap) return NULL;
    uint32_t low = 0, high = __atomic_load_n(&heap->count, __ATOMIC_ACQUIRE);
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (heap->rows[middle].base <= address) low = middle + 1;
        else high = middle;
    }
    return low ? &heap->rows[low - 1] : NULL;
}

/* ---- messages --------------------------------------------------------------------------------------- */

static pthread_mutex_t message_lock = PTHREAD_MUTEX_INITIALIZER;

enum { MESSAGE_LIMIT = 64 << 20 };

/* Appends a message; beyond the limit (or without memory) it is counted and dropped. */
void core_message(Wave *w, uint32_t kind, uint32_t site, uint32_t lane, const void *data, uint32_t bytes) {
    Launch *launch = w->launch;
    uint64_t size = sizeof(MessageHead) + ((uint64_t)bytes + 7) / 8 * 8;
    pthread_mutex_lock(&message_lock);
    if (launch->message_bytes + size > launch->message_room && launch->message_room < MESSAGE_LIMIT) {
        uint64_t room = launch->message_room ? 2 * launch->message_room : 1 << 16;
        while (room < launch->message_bytes + size) room *= 2;
        uint8_t *grown = room <= MESSAGE_LIMIT ? realloc(launch->messages, room) : NULL;
        if (grown) launch->messages = grown, launch->message_room = room;
    }
    if (launch->message_bytes + size <= launch->message_room) {
        MessageHead head = {bytes, kind, site, lane, w->index, {w->block->id[0], w->block->id[1], w->block->id[2]}};
        uint8_t *at = launch->messages + launch->message_bytes;
        memcpy(at, &head, sizeof head);
        memset(at + size - 8, 0, bytes ? 8 : 0);
        memcpy(at + sizeof head, data, bytes);
        launch->message_bytes += size;
    } else {
        launch->messages_lost++;
    }
    pthread_mutex_unlock(&message_lock);
}

void core_forget_messages(Launch *launch) {
    free(launch->messages);
    launch->messages = NULL;
}
