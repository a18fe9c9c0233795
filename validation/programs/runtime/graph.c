/* Graphs: what a stream captured, or what was made node by node, played in its order. Nodes are made after those that
 * they depend on, so that the order in which they are made is one in which they may run. */
#define _GNU_SOURCE
#include "queue.h"

typedef struct Graph {
    Op *first; /* of a graph that no node was added to; else they are in the queue of a stream that is the graph */
} Graph;

static Op *ops_of(Graph *graph) { return queue_captures(graph) ? queue_of(graph)->list.first : graph->first; }

EXPORT int API(StreamBeginCapture)(void *s, int mode) {
    (void)mode;
    BEGIN;
    queue_drain();
    if (queue_captures(s)) return fail(NAME(StreamBeginCapture), 900 /* capture unsupported */, "it captures already");
    queue_of(s)->capturing = 1;
    return OK;
}
EXPORT int API(StreamEndCapture)(void *s, void **into) {
    BEGIN;
    if (!queue_captures(s)) return fail(NAME(StreamEndCapture), 901 /* capture invalidated */, "nothing is captured");
    Pending *p = queue_of(s);
    Graph *made = calloc(1, sizeof *made);
    made->first = p->list.first;
    p->list.first = NULL;
    p->capturing = 0;
    *into = made;
    return OK;
}
EXPORT int API(StreamIsCapturing)(void *s, int *into) { BEGIN; *into = queue_captures(s); return OK; }
EXPORT int API(GraphInstantiate)(void **into, void *graph) { BEGIN; *into = graph; return OK; }
EXPORT int API(GraphInstantiateWithFlags)(void **into, void *graph) { BEGIN; *into = graph; return OK; }

static int play(Graph *graph) {
    for (const Op *op = ops_of(graph); op; op = op->next) {
        int status = queue_perform(op);
        if (status) return status;
    }
    return sticky();
}
EXPORT int API(GraphLaunch)(void *graph, void *s) {
    (void)s;
    BEGIN;
    queue_drain();
    return play(graph);
}
/* A graph and what was made of it are one: its memory stays. */
EXPORT int API(GraphDestroy)(void *graph) { (void)graph; return OK; }
EXPORT int API(GraphExecDestroy)(void *graph) { (void)graph; return OK; }
EXPORT int API(GraphUpload)(void *graph, void *s) { (void)graph, (void)s; return OK; }

/* ---- graphs made node by node ------------------------------------------------------------------------------------- */

EXPORT int API(GraphCreate)(void **into, unsigned flags) {
    (void)flags;
    BEGIN;
    *into = calloc(1, sizeof(Graph));
    queue_of(*into)->capturing = 1;
    return OK;
}

/* The graph as a stream that captures: what is asked of it becomes a node. */
static void *opened(Graph *graph) {
    Pending *p = queue_of(graph);
    if (p->capturing) return graph;
    p->capturing = 1;
    p->list.first = graph->first;
    for (p->list.last = &p->list.first; *p->list.last; p->list.last = &(*p->list.last)->next) {}
    return graph;
}
static int added(void **node, Graph *graph, int status) {
    Op *op = ops_of(graph);
    while (op && op->next) op = op->next;
    return *node = op, status;
}
#define NODE void **node, void *graph, const void *const *after, size_t count

typedef struct KernelNode {
#ifdef SIDE_CUDA
    const void *kernel;
    Dim grid, block;
    unsigned shared;
    void **arguments, **extra;
#else
    Dim block;
    void **extra;
    const void *kernel;
    Dim grid;
    void **arguments;
    unsigned shared;
#endif
} KernelNode;
EXPORT int API(GraphAddKernelNode)(NODE, const KernelNode *k) {
    BEGIN;
    if (k->extra) return refuse(NAME(GraphAddKernelNode), "packed arguments");
    return added(node, graph, launch_function(NAME(GraphAddKernelNode), k->kernel, k->grid, k->block, k->arguments, k->shared, opened(graph), 0));
}
EXPORT int API(GraphExecKernelNodeSetParams)(void *exec, void *node, const KernelNode *k) {
    (void)exec;
    BEGIN;
    Op *op = node, *next = op->next;
    void *made, *apart = calloc(1, sizeof(Graph)); /* stays, as what it holds is shared */
    int status = API(GraphAddKernelNode)(&made, apart, NULL, 0, k);
    if (!status) *op = *(Op *)made, op->next = next;
    return status;
}
EXPORT int API(GraphAddMemcpyNode1D)(NODE, void *to, const void *from, size_t bytes, int way) {
    BEGIN;
    return added(node, graph, queue_copy(opened(graph), to, from, bytes, way));
}
typedef struct HostNode {
    void (*call)(void *);
    void *data;
} HostNode;
EXPORT int API(GraphAddHostNode)(NODE, const HostNode *host) {
    BEGIN;
    return added(node, graph, queue_call_back(opened(graph), host->call, host->data));
}
static void nothing(void *unused) { (void)unused; }
EXPORT int API(GraphAddEmptyNode)(NODE) {
    BEGIN;
    return added(node, graph, queue_call(opened(graph), nothing, NULL));
}
static void play_child(void *child) { play(child); }
EXPORT int API(GraphAddChildGraphNode)(NODE, void *child) {
    BEGIN;
    return added(node, graph, queue_call(opened(graph), play_child, child));
}

static void copy_later(void *asked) { copy_3d("a copy in a graph", asked); }
EXPORT int API(GraphAddMemcpyNode)(NODE, const Copy3D *asked) {
    BEGIN;
    return added(node, graph, queue_call(opened(graph), copy_later, memcpy(malloc(sizeof *asked), asked, sizeof *asked)));
}
typedef struct Fill {
    uint8_t *to;
#ifdef SIDE_CUDA
    size_t pitch;
    unsigned value, one;
    size_t width, height;
#else
    unsigned one;
    size_t height, pitch;
    unsigned value;
    size_t width;
#endif
} Fill;
static void fill_later(void *asked) {
    const Fill *f = asked;
    for (size_t y = 0; y < f->height; y++)
        for (size_t x = 0; x < f->width; x++) {
            uint8_t *at = f->to + y * f->pitch + x * f->one;
            if (!x && reaches("a fill in a graph", at, f->width * f->one, 1)) return;
            memcpy(at, &f->value, f->one);
            memory_wrote(at, f->one);
        }
}
EXPORT int API(GraphAddMemsetNode)(NODE, const Fill *asked) {
    BEGIN;
    if (asked->one != 1 && asked->one != 2 && asked->one != 4) return fail(NAME(GraphAddMemsetNode), INVALID_VALUE, "elements of %u bytes", asked->one);
    return added(node, graph, queue_call(opened(graph), fill_later, memcpy(malloc(sizeof *asked), asked, sizeof *asked)));
}

static size_t place_of(Graph *graph, const void *node) {
    size_t place = 0;
    for (const Op *op = ops_of(graph); op && op != node; op = op->next) place++;
    return place;
}
EXPORT int API(GraphAddDependencies)(void *graph, const void *const *from, const void *const *to, size_t count) {
    BEGIN;
    for (size_t i = 0; i < count; i++)
        if (place_of(graph, from[i]) >= place_of(graph, to[i])) return refuse(NAME(GraphAddDependencies), "on a node that was made later");
    return OK;
}
EXPORT int API(GraphGetNodes)(void *graph, void **nodes, size_t *count) {
    size_t i = 0;
    BEGIN;
    for (Op *op = ops_of(graph); op; op = op->next, i++)
        if (nodes && i < *count) nodes[i] = op;
    if (!nodes || i < *count) *count = i;
    return OK;
}
EXPORT int API(GraphClone)(void **into, void *graph) {
    BEGIN;
    Graph *made = calloc(1, sizeof *made);
    Op **last = &made->first;
    for (const Op *op = ops_of(graph); op; op = op->next) {
        *last = memcpy(malloc(sizeof *op), op, sizeof *op);
        last = &(*last)->next;
    }
    *last = NULL;
    return *into = made, OK;
}
EXPORT int API(GraphExecUpdate)(void *exec, void *graph, void *node, int *result) {
    BEGIN;
    Graph *to = exec;
    Op *ops = ops_of(graph);
    if (queue_captures(to)) queue_of(to)->list.first = ops;
    else to->first = ops;
#if defined SIDE_CUDA && VERSION >= 12
    (void)result;
    *(int *)node = 0; /* of a structure that begins with the result */
#else
    if (node) *(void **)node = NULL;
    *result = 0;
#endif
    return OK;
}
