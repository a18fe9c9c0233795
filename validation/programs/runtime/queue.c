/* Work that is kept for later: what a stream captures into a graph, and, where it was asked for, what waits until
 * something synchronises. A program that forgets to wait sees old memory then, as it may on hardware. */
#define _GNU_SOURCE
#include "queue.h"

static Pending *pending;

Pending *queue_of(void *stream) {
    for (Pending *p = pending; p; p = p->next)
        if (p->stream == stream) return p;
    Pending *made = calloc(1, sizeof *made);
    *made = (Pending){pending, stream, {NULL, NULL}, 0};
    return pending = made;
}

int queue_captures(void *stream) {
    for (const Pending *p = pending; p; p = p->next)
        if (p->stream == stream) return p->capturing;
    return 0;
}

/* Whether work of a stream is to be kept; with a seed, work of the null stream too. */
int queue_keeps(void *stream) { return settings.delay || queue_captures(stream); }

static Op *add(void *stream, enum Act act) {
    List *list = &queue_of(stream)->list;
    Op *made = calloc(1, sizeof *made);
    made->act = act;
    if (!list->first) list->last = &list->first;
    *list->last = made;
    list->last = &made->next;
    return made;
}

int queue_copy(void *stream, void *to, const void *from, size_t bytes, int way) {
    Op *op = add(stream, COPY);
    op->to = to, op->from = from, op->bytes = bytes, op->value = way;
    return OK;
}
int queue_set(void *stream, void *to, int value, size_t bytes) {
    Op *op = add(stream, SET);
    op->to = to, op->value = value, op->bytes = bytes;
    return OK;
}
int queue_call(void *stream, void (*call)(void *), void *data) {
    Op *op = add(stream, CALL);
    op->call = call, op->to = data;
    return OK;
}
/* The arguments are taken when the kernel is launched, not when it runs. */
int queue_launch(void *stream, const Request *r) {
    Op *op = add(stream, LAUNCH);
    const Kernel *k = r->kernel;
    uint8_t *packed = calloc(1, k->argument_bytes + 8);
    uint32_t given = 0;
    for (uint32_t i = 0; i < k->parameter_count; i++)
        if (!k->parameters[i].hidden[0]) memcpy(packed + k->parameters[i].offset, r->arguments[given++], k->parameters[i].size);
    op->request = *r;
    op->request.arguments = NULL;
    op->request.packed = packed;
    op->request.packed_bytes = k->argument_bytes;
    return OK;
}

int queue_perform(const Op *op) {
    switch (op->act) {
    case COPY: return copy("a copy in a queue", op->to, op->from, op->bytes, op->value);
    case SET: return set_memory("a fill in a queue", op->to, op->value, op->bytes);
    case CALL: return op->call(op->to), OK;
    case LAUNCH: {
        int status = launch(&op->request);
        return status ? fail(NAME(LaunchKernel), status, "%s, in a queue", op->request.kernel->shown) : OK;
    }
    }
    return OK;
}

/* Everything that waits, stream after stream, the seed says which first; each stream in its own order. */
void queue_drain(void) {
    static uint64_t state;
    if (!settings.delay) return;
    for (;;) {
        uint32_t count = 0, chosen;
        for (const Pending *p = pending; p; p = p->next) count += p->list.first && !p->capturing;
        if (!count) return;
        state = (state + settings.delay) * 6364136223846793005ull + 1442695040888963407ull;
        chosen = (uint32_t)(state >> 33) % count;
        for (Pending *p = pending; p; p = p->next) {
            if (!p->list.first || p->capturing || chosen--) continue;
            Op *op = p->list.first;
            p->list.first = op->next;
            queue_perform(op);
            if (op->act == LAUNCH) free((void *)op->request.packed);
            free(op);
            break;
        }
    }
}

/* When the program ends: what is still kept is dropped, as a GPU may drop it. */
void queue_dropped(void) {
    uint32_t count = 0;
    for (const Pending *p = pending; p; p = p->next)
        for (const Op *op = p->capturing ? NULL : p->list.first; op; op = op->next) count++;
    if (count) note("the program ended while streams held %u operations, which were dropped: nothing waited for them", count);
}
