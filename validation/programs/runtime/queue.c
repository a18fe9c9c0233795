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
    static uint64_t asked;
    List *list = &queue_of(stream)->list;
    Op *made = calloc(1, sizeof *made);
    made->act = act;
    made->number = asked++;
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
static int keep_call(void *stream, enum Act act, void (*call)(void *), void *data) {
    Op *op = add(stream, act);
    op->call = call, op->to = data;
    return OK;
}
int queue_call(void *stream, void (*call)(void *), void *data) { return keep_call(stream, CALL, call, data); }
int queue_call_back(void *stream, void (*call)(void *), void *data) { return keep_call(stream, CALL_BACK, call, data); }
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
    case CALL_BACK: return call_back(op->call, op->to), OK;
    case LAUNCH: {
        int status = launch(&op->request);
        return status ? fail(NAME(LaunchKernel), status, "%s, in a queue", op->request.kernel->shown) : OK;
    }
    }
    return OK;
}

static int is_null(const void *stream) { return (uint64_t)stream < 2; }

/* The null stream goes on when the blocking ones have done what came before, and they after it. */
static int is_ordered(const Pending *a, const Pending *b) {
    return (is_null(a->stream) && stream_blocks(b->stream)) || (is_null(b->stream) && stream_blocks(a->stream));
}

static int is_waiting(const Pending *p) { return p->list.first && !p->capturing; }

/* What has to be done before a stream's first operation: the earliest of those, or that stream itself. */
static Pending *before(Pending *p) {
    Pending *earliest = p;
    for (Pending *q = pending; q; q = q->next)
        if (is_waiting(q) && is_ordered(p, q) && q->list.first->number < earliest->list.first->number) earliest = q;
    return earliest == p ? p : before(earliest);
}

static void perform_first(Pending *p) {
    Op *op = p->list.first;
    p->list.first = op->next;
    queue_perform(op);
    if (op->act == LAUNCH) free((void *)op->request.packed);
    free(op);
}

static uint32_t drawn(void) {
    static uint64_t state;
    state = (state + settings.delay) * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(state >> 33);
}

/* Everything that waits, stream after stream, the seed says which first; each stream in its own order. */
void queue_drain(void) {
    if (!settings.delay) return;
    for (;;) {
        uint32_t count = 0, chosen;
        for (const Pending *p = pending; p; p = p->next) count += is_waiting(p);
        if (!count) return;
        chosen = drawn() % count;
        for (Pending *p = pending; p; p = p->next) {
            if (!is_waiting(p) || chosen--) continue;
            perform_first(before(p));
            break;
        }
    }
}

/* What one stream waits for: nothing else has to be done then, and every second time nothing else is. */
void queue_drain_of(void *stream) {
    if (!settings.delay) return;
    if (is_null(stream) || drawn() & 1) {
        queue_drain();
        return;
    }
    for (Pending *p = queue_of(stream); is_waiting(p);) perform_first(before(p));
}

static Pending *of_null(void) {
    for (Pending *p = pending; p; p = p->next)
        if (is_waiting(p) && stream_blocks(p->stream)) return p;
    return NULL;
}

/* What a copy that blocks waits for: the null stream, and the blocking ones with it. Every second time nothing else is
 * done, for streams that do not block wait for nobody. */
void queue_drain_null(void) {
    if (!settings.delay) return;
    if (drawn() & 1) {
        queue_drain();
        return;
    }
    for (Pending *p = of_null(); p; p = of_null()) perform_first(before(p));
}

/* When the program ends: what is still kept is dropped, as a GPU may drop it. */
void queue_dropped(void) {
    uint32_t count = 0;
    for (const Pending *p = pending; p; p = p->next)
        for (const Op *op = p->capturing ? NULL : p->list.first; op; op = op->next) count++;
    if (count) note("the program ended while streams held %u operations, which were dropped: nothing waited for them", count);
}
