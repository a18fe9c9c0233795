/* NCCL and RCCL between the devices of one process. A call waits until every rank that it needs has made its own; the
 * last one moves the data, on the host. Calls of a group wait together, at its end. A rank that cannot come any more is
 * told, and ends the program. */
#define _GNU_SOURCE
typedef struct By128 {
    char bytes[128];
} UniqueId;
#include "reductions.h"

#include <dirent.h>
#include <sys/syscall.h>
#include <time.h>

#ifdef SIDE_CUDA
#define RUNTIME(name) JOIN(cuda, name)
enum { VERSION = 22707 };
#else
#define RUNTIME(name) JOIN(hip, name)
enum { VERSION = 21803 };
#endif
int RUNTIME(GetDevice)(int *);
int RUNTIME(GetDeviceCount)(int *);
int RUNTIME(Malloc)(void **, size_t);
int RUNTIME(Free)(void *);

#define DEFINE(name) EXPORT int JOIN(nccl, name)
enum Status { OK = 0, UNHANDLED = 1, SYSTEM = 2, INTERNAL = 3, INVALID_ARGUMENT = 4, INVALID_USAGE = 5, REMOTE = 6 };
enum { COMM = 0x4d4d4f43, MOST_RANKS = 1024, MOST_SCALES = 64, PATIENCE = 10, TICKS = 4 };

enum Act { ALL_REDUCE, REDUCE, REDUCE_SCATTER, ALL_GATHER, BROADCAST, GATHER, SCATTER, ALL_TO_ALL, SPLIT, SEND, RECEIVE, INITIALISE };

typedef struct Comm Comm;
typedef struct Op {
    enum Act kind;
    const char *call;
    const void *send;
    void *receive;
    size_t count;
    int type, how, peer; /* peer: the root, the other end, or of a split the colour */
    int key;
    Comm *comm, *made;
    void *stream;
    int done, status;
    char why[400];
    struct Op *next, *then; /* in a list of its communicator; of its group */
} Op;
typedef struct List {
    Op *first, **last;
} List;
typedef struct Clique {
    struct Clique *next;
    UniqueId id;
    int count, arrived;
    Comm **members; /* by rank; null: not yet, or gone */
} Clique;
struct Comm {
    uint32_t magic;
    int rank, device, scale_count;
    Clique *clique;
    List collectives, sends, receives;
    struct {
        int type;
        const void *on_device; /* null: the value is kept */
        Tile value;
    } *scales;
    char error[400];
};
typedef struct Waiter {
    pid_t thread;
    const Op *op;
    struct Waiter *next;
} Waiter;

static pthread_mutex_t cliques_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static Clique *cliques;
static Waiter *waiters;
static __thread int depth, group_status;
static __thread List group;
static __thread Op *last_of_group;
static __thread char thread_error[400];

static void append(List *list, Op *op) {
    if (!list->first) list->last = &list->first;
    *list->last = op;
    list->last = &op->next;
    op->next = NULL;
}
static Op *taken(List *list, Op *op) { /* out of the list */
    Op **place = &list->first;
    while (*place != op) place = &(*place)->next;
    *place = op->next;
    if (list->last == &op->next) list->last = place;
    return op;
}

static int told(const char *call, enum Status status, const char *format, ...) {
    va_list values;
    va_start(values, format);
    vsnprintf(thread_error, sizeof thread_error, format, values);
    va_end(values);
    porter_fails(call, thread_error);
    return status;
}
static int is_comm(const Comm *comm) { return comm && comm->magic == COMM; }

/* ---- what a matched call does ------------------------------------------------------------------------------------- */

static void load_scaled(Tile *tile, const Op *op, size_t at, size_t n) {
    load_tile(tile, op->send, op->type, at, n);
    if (op->how < REDUCTIONS) return;
    Tile by;
    const void *place = op->comm->scales[op->how - REDUCTIONS].on_device;
    if (place) load_tile(&by, place, op->type, 0, 1);
    scale_tile(tile, op->type, place ? &by : &op->comm->scales[op->how - REDUCTIONS].value, n);
}
/* Elements of all ranks from `from` on become one row, which goes to `into` of the ranks that get it. */
static void reduce(Op **ops, int ranks, size_t from, size_t count, int first, int last, size_t into) {
    for (size_t at = 0; at < count; at += TILE) {
        size_t n = count - at < TILE ? count - at : TILE;
        Tile sum, more;
        load_scaled(&sum, ops[0], from + at, n);
        for (int rank = 1; rank < ranks; rank++) load_scaled(&more, ops[rank], from + at, n), combine_tile(&sum, &more, ops[0]->type, ops[0]->how, n);
        if (ops[0]->how == AVG) divide_tile(&sum, ops[0]->type, ranks, n);
        for (int rank = first; rank <= last; rank++) store_tile(&sum, ops[rank]->receive, ops[rank]->type, into + at, n);
    }
}
static void move(Op *to, size_t to_block, const Op *from, size_t from_block) {
    size_t bytes = to->count * type_bytes[to->type];
    memmove((char *)to->receive + to_block * bytes, (const char *)from->send + from_block * bytes, bytes);
}
/* Blocks change places within a rank's memory where both of its operands are one. */
static int all_to_all(Op **ops, int ranks) {
    size_t block = ops[0]->count * type_bytes[ops[0]->type];
    char *kept = malloc(block * (size_t)ranks * (size_t)ranks + 1);
    if (!kept) return SYSTEM;
    for (int rank = 0; rank < ranks; rank++) memcpy(kept + block * (size_t)(rank * ranks), ops[rank]->send, block * (size_t)ranks);
    for (int to = 0; to < ranks; to++)
        for (int from = 0; from < ranks; from++)
            memcpy((char *)ops[to]->receive + block * (size_t)from, kept + block * (size_t)(from * ranks + to), block);
    return free(kept), OK;
}

static Comm *new_comm(Clique *clique, int rank, int device) {
    Comm *made = calloc(1, sizeof *made);
    *made = (Comm){.magic = COMM, .rank = rank, .device = device, .clique = clique};
    return clique->members[rank] = made;
}
static Clique *new_clique(const UniqueId *id, int count) {
    Clique *made = calloc(1, sizeof *made);
    *made = (Clique){cliques, *id, count, 0, calloc((size_t)count, sizeof(Comm *))};
    return cliques = made;
}
static int is_before(const Op *a, const Op *b) { return a->key != b->key ? a->key < b->key : a->comm->rank < b->comm->rank; }
static void split(Op **ops, int ranks) {
    for (int first = 0; first < ranks; first++) {
        int colour = ops[first]->peer, count = 0;
        if (colour < 0 || ops[first]->made) continue;
        for (int rank = 0; rank < ranks; rank++) count += ops[rank]->peer == colour;
        Clique *made = new_clique(&(UniqueId){{0}}, count);
        made->arrived = count;
        for (int rank = 0; rank < ranks; rank++) {
            int place = 0;
            if (ops[rank]->peer != colour) continue;
            for (int other = 0; other < ranks; other++) place += ops[other]->peer == colour && is_before(ops[other], ops[rank]);
            ops[rank]->made = new_comm(made, place, ops[rank]->comm->device);
        }
    }
}

static int perform(Op **ops, int ranks) {
    int root = ops[0]->peer;
    size_t count = ops[0]->count;
    switch (ops[0]->kind) {
    case ALL_REDUCE: reduce(ops, ranks, 0, count, 0, ranks - 1, 0); break;
    case REDUCE: reduce(ops, ranks, 0, count, root, root, 0); break;
    case REDUCE_SCATTER:
        for (int rank = 0; rank < ranks; rank++) reduce(ops, ranks, (size_t)rank * count, count, rank, rank, 0);
        break;
    case ALL_GATHER:
        for (int to = 0; to < ranks; to++)
            for (int from = 0; from < ranks; from++) move(ops[to], (size_t)from, ops[from], 0);
        break;
    case BROADCAST:
        for (int to = 0; to < ranks; to++) move(ops[to], 0, ops[root], 0);
        break;
    case GATHER:
        for (int from = 0; from < ranks; from++) move(ops[root], (size_t)from, ops[from], 0);
        break;
    case SCATTER:
        for (int to = 0; to < ranks; to++) move(ops[to], 0, ops[root], (size_t)to);
        break;
    case ALL_TO_ALL: return all_to_all(ops, ranks);
    case SPLIT: split(ops, ranks); break;
    default: break;
    }
    return OK;
}

/* ---- who meets whom ----------------------------------------------------------------------------------------------- */

static const char *how_name(int how) { return reduction_names[how < REDUCTIONS ? how : REDUCTIONS]; }
static void describe(const Op *op, char *text, size_t room) {
    int at = snprintf(text, room, "rank %d: %s", op->comm->rank, op->call);
    if (op->kind == SPLIT) return;
    at += snprintf(text + at, room - (size_t)at, " of %zu %s", op->count, type_names[op->type]);
    if (op->kind <= REDUCE_SCATTER) at += snprintf(text + at, room - (size_t)at, ", %s", how_name(op->how));
    if (op->kind == REDUCE || op->kind == BROADCAST || op->kind == GATHER || op->kind == SCATTER) snprintf(text + at, room - (size_t)at, ", root %d", op->peer);
}
static int is_like(const Op *a, const Op *b) {
    if (a->kind != b->kind || (a->kind != SPLIT && (a->count != b->count || a->type != b->type))) return 0;
    if (a->kind <= REDUCE_SCATTER && (a->how < REDUCTIONS ? a->how : REDUCTIONS) != (b->how < REDUCTIONS ? b->how : REDUCTIONS)) return 0;
    int rooted = a->kind == REDUCE || a->kind == BROADCAST || a->kind == GATHER || a->kind == SCATTER;
    return !rooted || a->peer == b->peer;
}
static void finish(Op **ops, int count, int status, const char *why) {
    for (int i = 0; i < count; i++) {
        ops[i]->status = status;
        if (why) snprintf(ops[i]->why, sizeof ops[i]->why, "%s", why);
        ops[i]->done = 1;
    }
}
/* A rank whose own arguments were wrong, or that asks for something else: all of them hear of it. */
static int do_not_fit(Op **ops, int count, char *why, size_t room) {
    char one[200], other[200];
    for (int i = 0; i < count; i++)
        if (ops[i]->status) return snprintf(why, room, "rank %d: %.300s", ops[i]->comm->rank, ops[i]->why), ops[i]->status;
    for (int i = 1; i < count; i++) {
        if (is_like(ops[0], ops[i])) continue;
        describe(ops[0], one, sizeof one), describe(ops[i], other, sizeof other);
        return snprintf(why, room, "%s; %s", one, other), INVALID_ARGUMENT;
    }
    return OK;
}
static int meet_collective(Clique *clique) {
    Op *ops[MOST_RANKS];
    char why[400];
    for (int rank = 0; rank < clique->count; rank++)
        if (!clique->members[rank] || !(ops[rank] = clique->members[rank]->collectives.first)) return 0;
    for (int rank = 0; rank < clique->count; rank++) taken(&clique->members[rank]->collectives, ops[rank]);
    int status = do_not_fit(ops, clique->count, why, sizeof why);
    if (status) finish(ops, clique->count, status, why);
    else finish(ops, clique->count, perform(ops, clique->count), NULL);
    return 1;
}
static int meet_send(Comm *comm) {
    for (Op *send = comm->sends.first; send; send = send->next) {
        Comm *other = comm->clique->members[send->peer];
        Op *receive = other ? other->receives.first : NULL;
        char why[400] = "";
        while (receive && receive->peer != comm->rank) receive = receive->next;
        if (!receive) continue;
        Op *both[] = {taken(&comm->sends, send), taken(&other->receives, receive)};
        int status = send->status ? send->status : receive->status;
        if (status) snprintf(why, sizeof why, "rank %d: %.300s", send->status ? comm->rank : other->rank, send->status ? send->why : receive->why);
        else if (send->count != receive->count || send->type != receive->type)
            status = INVALID_ARGUMENT, snprintf(why, sizeof why, "rank %d sends %zu %s to rank %d, which receives %zu %s", comm->rank, send->count,
                                                type_names[send->type], other->rank, receive->count, type_names[receive->type]);
        else move(receive, 0, send, 0);
        finish(both, 2, status, status ? why : NULL);
        return 1;
    }
    return 0;
}
static void meet(Clique *clique) {
    int some = 1;
    while (some) {
        some = meet_collective(clique);
        for (int rank = 0; rank < clique->count; rank++) some |= clique->members[rank] && meet_send(clique->members[rank]);
    }
}

/* ---- waiting, and what never comes ----------------------------------------------------------------------------------- */

static int is_waiter(pid_t thread) { /* or one of the runtime's own */
    if (thread == porter_own_thread()) return 1;
    for (const Waiter *w = waiters; w; w = w->next)
        if (w->thread == thread) return 1;
    return 0;
}
/* Time that the threads which do not wait here have run, in ns; `others`: how many they are, `runs`: one of them does. */
static uint64_t time_of_others(int *others, int *runs) {
    uint64_t sum = 0;
    DIR *folder = opendir("/proc/self/task");
    *others = *runs = 0;
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        char path[80], text[400] = "", *end;
        unsigned long long ran = 0;
        if (entry->d_name[0] == '.' || is_waiter((pid_t)atoi(entry->d_name))) continue;
        ++*others;
        snprintf(path, sizeof path, "/proc/self/task/%.20s/schedstat", entry->d_name);
        FILE *file = fopen(path, "r");
        if (file && fscanf(file, "%llu", &ran) == 1) sum += ran;
        if (file) fclose(file);
        snprintf(path, sizeof path, "/proc/self/task/%.20s/stat", entry->d_name);
        if (!(file = fopen(path, "r"))) continue;
        text[fread(text, 1, sizeof text - 1, file)] = 0;
        fclose(file);
        if ((end = strrchr(text, ')')) && strchr("RD", end[2])) *runs = 1;
    }
    if (folder) closedir(folder);
    return sum;
}
static void missing_ranks(const Op *op, char *text, size_t room) {
    const Clique *clique = op->comm->clique;
    int at = 0, some = 0;
    for (int rank = 0; rank < clique->count && at < (int)room - 20; rank++) {
        const Comm *member = clique->members[rank];
        if (op->kind == INITIALISE ? member != NULL : member && member->collectives.first) continue;
        at += snprintf(text + at, room - (size_t)at, "%s%d", some++ ? ", " : "", rank);
    }
}
static void end_waiting(const Op *op, int others) {
    char who[200] = "", what[300], why[900];
    if (op->kind == SEND || op->kind == RECEIVE) snprintf(what, sizeof what, "rank %d, which does not %s", op->peer, op->kind == SEND ? "receive" : "send");
    else missing_ranks(op, who, sizeof who), snprintf(what, sizeof what, "%s %s, which %s not come", strchr(who, ',') ? "ranks" : "rank", who, strchr(who, ',') ? "do" : "does");
    snprintf(why, sizeof why, "deadlock: %s of rank %d of %d waits for %s: %s", op->call, op->comm->rank, op->comm->clique->count, what,
             others ? "every other thread of the program waits for something, too"
                    : "no other thread is there to call for them (several ranks of one thread want ncclGroupStart and ncclGroupEnd)");
    porter_ends(op->call, why);
}
static int is_done(const Op *op) { return op->done || (op->kind == INITIALISE && op->comm->clique->arrived == op->comm->clique->count); }
/* Called and left with the lock. */
static void wait_for(const Op *op) {
    Waiter me = {(pid_t)syscall(SYS_gettid), op, waiters};
    uint64_t before = 0;
    int quiet = 0, alone = 0;
    waiters = &me;
    while (!is_done(op)) {
        struct timespec until;
        int others, runs;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 1000000000 / TICKS;
        if (until.tv_nsec >= 1000000000) until.tv_sec++, until.tv_nsec -= 1000000000;
        if (!pthread_cond_timedwait(&changed, &cliques_lock, &until) || is_done(op)) {
            quiet = alone = 0;
            continue;
        }
        uint64_t now = time_of_others(&others, &runs);
        int still = now == before && !runs && !porter_works();
        before = now;
        quiet = still ? quiet + 1 : 0;
        alone = others ? 0 : alone + 1;
        if (alone < TICKS && quiet < PATIENCE * TICKS) continue;
        pthread_mutex_unlock(&cliques_lock);
        end_waiting(op, others);
    }
    for (Waiter **w = &waiters; *w; w = &(*w)->next)
        if (*w == &me) {
            *w = me.next;
            break;
        }
}

/* ---- groups --------------------------------------------------------------------------------------------------------- */

static uint64_t blocks_sent(const Op *op) {
    uint64_t ranks = (uint64_t)op->comm->clique->count;
    return op->kind == REDUCE_SCATTER || op->kind == ALL_TO_ALL || op->kind == SCATTER ? ranks : 1;
}
static uint64_t blocks_received(const Op *op) {
    uint64_t ranks = (uint64_t)op->comm->clique->count;
    return op->kind == ALL_GATHER || op->kind == ALL_TO_ALL || op->kind == GATHER ? ranks : 1;
}
static int sends(const Op *op) {
    int is_root = op->comm->rank == op->peer;
    if (op->kind == RECEIVE || op->kind == INITIALISE || op->kind == SPLIT) return 0;
    return (op->kind != BROADCAST && op->kind != SCATTER) || is_root;
}
static int receives(const Op *op) {
    int is_root = op->comm->rank == op->peer;
    if (op->kind == SEND || op->kind == INITIALISE || op->kind == SPLIT) return 0;
    return (op->kind != REDUCE && op->kind != GATHER) || is_root;
}
/* What the streams were asked for before has happened then, and the operands are memory of the device. */
static void begin(Op *op) {
    uint64_t bytes = op->count * type_bytes[op->type];
    if (op->kind != SPLIT && op->kind != INITIALISE && porter_answers(LIBRARY, op->call, op->stream)) {
        op->status = INVALID_USAGE, snprintf(op->why, sizeof op->why, "in a stream that captures");
        return;
    }
    const char *bad = sends(op) && porter_reaches(op->call, op->send, bytes * blocks_sent(op)) ? "what it sends" : NULL;
    if (!bad && receives(op) && porter_reaches(op->call, op->receive, bytes * blocks_received(op))) bad = "what it receives into";
    if (bad) op->status = INVALID_ARGUMENT, snprintf(op->why, sizeof op->why, "%s is no memory of the device of that size", bad);
}
/* All of them at once, freed with it; the first status that is not OK. */
static int run_all(List ops) {
    int status = OK;
    for (Op *op = ops.first; op; op = op->then) begin(op);
    pthread_mutex_lock(&cliques_lock);
    for (Op *op = ops.first; op; op = op->then)
        if (op->kind != INITIALISE) append(op->kind == SEND ? &op->comm->sends : op->kind == RECEIVE ? &op->comm->receives : &op->comm->collectives, op);
    for (Op *op = ops.first; op; op = op->then) meet(op->comm->clique);
    pthread_cond_broadcast(&changed);
    for (Op *op = ops.first; op; op = op->then) wait_for(op);
    pthread_mutex_unlock(&cliques_lock);
    for (Op *op = ops.first, *then; op; op = then) {
        then = op->then;
        if (op->kind == SPLIT && !op->status) *(Comm **)op->receive = op->made;
        if (op->status) snprintf(op->comm->error, sizeof op->comm->error, "%s", op->why), told(op->call, op->status, "%s", op->why);
        if (!status) status = op->status;
        free(op);
    }
    return status;
}
static int issue(Op op) {
    Op *made = malloc(sizeof *made);
    if (!made) return SYSTEM;
    *made = op;
    if (!depth) return run_all((List){made, NULL});
    if (group.first) last_of_group->then = made;
    else group.first = made;
    last_of_group = made;
    return OK;
}
static int refused(int status) { /* nothing of a group is begun then */
    if (depth && !group_status) group_status = status;
    return status;
}
DEFINE(GroupStart)(void) { return depth++, OK; }
DEFINE(GroupEnd)(void) {
    if (!depth) return told("ncclGroupEnd", INVALID_USAGE, "without ncclGroupStart");
    if (--depth) return OK;
    List ops = group;
    int status = group_status;
    group = (List){NULL, NULL}, group_status = OK;
    if (!status) return run_all(ops);
    for (Op *op = ops.first, *then; op; op = then) then = op->then, free(op);
    return status;
}

/* ---- communicators -------------------------------------------------------------------------------------------------- */

static const char unique_head[] = "porter";
DEFINE(GetUniqueId)(void *into) {
    static int made;
    char text[sizeof(UniqueId)] = "";
    snprintf(text, sizeof text, "%s %d %d", unique_head, (int)getpid(), __atomic_add_fetch(&made, 1, __ATOMIC_RELAXED));
    return memcpy(into, text, sizeof text), OK;
}
static int process_of(const UniqueId *id) { return strncmp(id->bytes, unique_head, sizeof unique_head - 1) ? -1 : atoi(id->bytes + sizeof unique_head); }

/* With the lock: the rank's communicator, or why there is none. */
static Comm *entered(const char *call, const UniqueId *id, int count, int rank, int device) {
    Clique *clique = cliques;
    while (clique && memcmp(&clique->id, id, sizeof *id)) clique = clique->next;
    if (clique && clique->count != count) return told(call, INVALID_ARGUMENT, "rank %d says %d ranks, another said %d", rank, count, clique->count), NULL;
    if (clique && clique->members[rank]) return told(call, INVALID_USAGE, "rank %d came twice", rank), NULL;
    for (int other = 0; clique && other < count; other++)
        if (clique->members[other] && clique->members[other]->device == device)
            return told(call, INVALID_USAGE, "ranks %d and %d have one device, %d (porter run --devices, cudaSetDevice)", other, rank, device), NULL;
    if (!clique) clique = new_clique(id, count);
    clique->arrived++;
    return new_comm(clique, rank, device);
}
static int initialise(const char *call, void **into, int count, const UniqueId *id, int rank, int device) {
    if (!into || count < 1 || count > MOST_RANKS || rank < 0 || rank >= count) return refused(told(call, INVALID_ARGUMENT, "rank %d of %d", rank, count));
    if (process_of(id) < 0) return refused(told(call, INVALID_ARGUMENT, "the id is not one of ncclGetUniqueId"));
    if (process_of(id) != getpid()) return refused((porter_refuses(call, "between processes"), INVALID_USAGE));
    pthread_mutex_lock(&cliques_lock);
    Comm *made = entered(call, id, count, rank, device);
    pthread_mutex_unlock(&cliques_lock);
    if (!made) return refused(INVALID_USAGE);
    *into = made;
    return issue((Op){.kind = INITIALISE, .call = call, .comm = made});
}
DEFINE(CommInitRank)(void **into, int count, UniqueId id, int rank) {
    int device = 0;
    RUNTIME(GetDevice)(&device);
    return initialise("ncclCommInitRank", into, count, &id, rank, device);
}
DEFINE(CommInitRankConfig)(void **into, int count, UniqueId id, int rank, void *how) {
    int device = 0;
    (void)how; /* a call that does not have to wait may */
    RUNTIME(GetDevice)(&device);
    return initialise("ncclCommInitRankConfig", into, count, &id, rank, device);
}
DEFINE(CommInitAll)(void **into, int count, const int *devices) {
    const char *call = "ncclCommInitAll";
    int there = 0, status = OK, ended;
    UniqueId id;
    RUNTIME(GetDeviceCount)(&there);
    if (!into || count < 1 || count > MOST_RANKS) return refused(told(call, INVALID_ARGUMENT, "%d ranks", count));
    for (int rank = 0; rank < count; rank++) {
        int device = devices ? devices[rank] : rank;
        if (device < 0 || device >= there) return refused(told(call, UNHANDLED, "device %d of %d: porter run --devices %d", device, there, count));
    }
    ncclGetUniqueId(&id);
    ncclGroupStart();
    for (int rank = 0; rank < count && !status; rank++) status = initialise(call, into + rank, count, &id, rank, devices ? devices[rank] : rank);
    ended = ncclGroupEnd();
    return status ? status : ended;
}
DEFINE(CommSplit)(void *given, int colour, int key, void **into, void *how) {
    Comm *comm = given;
    (void)how;
    if (!is_comm(comm) || !into) return refused(told("ncclCommSplit", INVALID_ARGUMENT, "no communicator"));
    *into = NULL;
    return issue((Op){.kind = SPLIT, .call = "ncclCommSplit", .comm = comm, .peer = colour, .key = key, .receive = into});
}
static int leave(const char *call, Comm *comm) {
    if (!is_comm(comm)) return told(call, INVALID_ARGUMENT, "no communicator");
    pthread_mutex_lock(&cliques_lock);
    Clique *clique = comm->clique, **place = &cliques;
    clique->members[comm->rank] = NULL;
    comm->magic = 0;
    int left = clique->count - clique->arrived; /* ranks that never came may come yet */
    for (int rank = 0; rank < clique->count; rank++) left += clique->members[rank] != NULL;
    if (!left) {
        while (*place != clique) place = &(*place)->next;
        *place = clique->next;
        free(clique->members), free(clique);
    }
    pthread_mutex_unlock(&cliques_lock);
    return free(comm->scales), free(comm), OK;
}
DEFINE(CommDestroy)(void *comm) { return comm ? leave("ncclCommDestroy", comm) : OK; }
DEFINE(CommAbort)(void *comm) { return comm ? leave("ncclCommAbort", comm) : OK; }
DEFINE(CommFinalize)(void *comm) { return is_comm(comm) ? OK : told("ncclCommFinalize", INVALID_ARGUMENT, "no communicator"); }
DEFINE(CommGetAsyncError)(void *comm, int *into) { return is_comm(comm) ? *into = OK, OK : INVALID_ARGUMENT; }
DEFINE(CommCount)(void *const comm, int *into) { return is_comm(comm) ? *into = ((Comm *)comm)->clique->count, OK : INVALID_ARGUMENT; }
DEFINE(CommCuDevice)(void *const comm, int *into) { return is_comm(comm) ? *into = ((Comm *)comm)->device, OK : INVALID_ARGUMENT; }
DEFINE(CommUserRank)(void *const comm, int *into) { return is_comm(comm) ? *into = ((Comm *)comm)->rank, OK : INVALID_ARGUMENT; }
EXPORT const char *ncclGetErrorString(int status) {
    static const char *const texts[] = {"no error", "unhandled device error", "unhandled system error", "internal error", "invalid argument", "invalid usage", "remote process exited or there was a network error", "in progress"};
    return status >= 0 && status < (int)(sizeof texts / sizeof *texts) ? texts[status] : "unknown result code";
}
EXPORT const char *ncclGetLastError(void *comm) { return is_comm(comm) && ((Comm *)comm)->error[0] ? ((Comm *)comm)->error : thread_error; }
EXPORT void ncclResetDebugInit(void) {}
DEFINE(GetVersion)(int *into) { return into ? *into = VERSION, OK : INVALID_ARGUMENT; }
DEFINE(MemAlloc)(void **into, size_t bytes) { return RUNTIME(Malloc)(into, bytes) ? UNHANDLED : OK; }
DEFINE(MemFree)(void *at) { return RUNTIME(Free)(at) ? UNHANDLED : OK; }
DEFINE(CommRegister)(void *const comm, void *at, size_t bytes, void **into) {
    if (!is_comm(comm) || porter_reaches("ncclCommRegister", at, bytes)) return INVALID_ARGUMENT;
    return *into = at, OK;
}
DEFINE(CommDeregister)(void *const comm, void *handle) { return (void)handle, is_comm(comm) ? OK : INVALID_ARGUMENT; }

/* ---- operators of a program's own ------------------------------------------------------------------------------------- */

DEFINE(RedOpCreatePreMulSum)(int *into, void *scalar, int type, int where, void *given) {
    const char *call = "ncclRedOpCreatePreMulSum";
    Comm *comm = given;
    if (!is_comm(comm) || !into || !scalar || type < 0 || type >= TYPES) return told(call, INVALID_ARGUMENT, "type %d", type);
    if (comm->scale_count == MOST_SCALES) return porter_refuses(call, "more than 64 of one communicator"), INTERNAL;
    if (!comm->scales && !(comm->scales = calloc(MOST_SCALES, sizeof *comm->scales))) return SYSTEM;
    if (!where && porter_reaches(call, scalar, type_bytes[type])) return INVALID_ARGUMENT;
    comm->scales[comm->scale_count].type = type;
    if (where) load_tile(&comm->scales[comm->scale_count].value, scalar, (enum Type)type, 0, 1);
    else comm->scales[comm->scale_count].on_device = scalar;
    return *into = REDUCTIONS + comm->scale_count++, OK;
}
DEFINE(RedOpDestroy)(int op, void *comm) {
    return is_comm(comm) && op >= REDUCTIONS && op < REDUCTIONS + ((Comm *)comm)->scale_count ? OK : told("ncclRedOpDestroy", INVALID_ARGUMENT, "operator %d", op);
}

/* ---- communication ------------------------------------------------------------------------------------------------------ */

static int asks(Op op) {
    const Comm *comm = op.comm;
    int ranks = is_comm(comm) ? comm->clique->count : 0;
    if (!ranks) return refused(told(op.call, INVALID_ARGUMENT, "no communicator"));
    if (op.type < 0 || op.type >= TYPES) return refused(told(op.call, INVALID_ARGUMENT, "data type %d", op.type));
    if (op.peer < 0 || op.peer >= ranks) return refused(told(op.call, INVALID_ARGUMENT, "rank %d of %d", op.peer, ranks));
    if (op.how < 0 || op.how >= REDUCTIONS + comm->scale_count) return refused(told(op.call, INVALID_ARGUMENT, "operator %d", op.how));
    if (op.how >= REDUCTIONS && comm->scales[op.how - REDUCTIONS].type != op.type) return refused(told(op.call, INVALID_ARGUMENT, "an operator of another type"));
    return op.count || op.kind == SEND || op.kind == RECEIVE ? issue(op) : OK;
}
#define ASKS(k, name, ...) asks((Op){.kind = k, .call = "nccl" #name, .count = count, .type = type, .comm = comm, .stream = stream, __VA_ARGS__})
DEFINE(AllReduce)(const void *send, void *receive, size_t count, int type, int how, void *comm, void *stream) { return ASKS(ALL_REDUCE, AllReduce, .send = send, .receive = receive, .how = how); }
DEFINE(Reduce)(const void *send, void *receive, size_t count, int type, int how, int root, void *comm, void *stream) { return ASKS(REDUCE, Reduce, .send = send, .receive = receive, .how = how, .peer = root); }
DEFINE(ReduceScatter)(const void *send, void *receive, size_t count, int type, int how, void *comm, void *stream) { return ASKS(REDUCE_SCATTER, ReduceScatter, .send = send, .receive = receive, .how = how); }
DEFINE(AllGather)(const void *send, void *receive, size_t count, int type, void *comm, void *stream) { return ASKS(ALL_GATHER, AllGather, .send = send, .receive = receive); }
DEFINE(Broadcast)(const void *send, void *receive, size_t count, int type, int root, void *comm, void *stream) { return ASKS(BROADCAST, Broadcast, .send = send, .receive = receive, .peer = root); }
DEFINE(Bcast)(void *at, size_t count, int type, int root, void *comm, void *stream) { return ASKS(BROADCAST, Bcast, .send = at, .receive = at, .peer = root); }
DEFINE(Send)(const void *send, size_t count, int type, int peer, void *comm, void *stream) { return ASKS(SEND, Send, .send = send, .peer = peer); }
DEFINE(Recv)(void *receive, size_t count, int type, int peer, void *comm, void *stream) { return ASKS(RECEIVE, Recv, .receive = receive, .peer = peer); }
#ifdef SIDE_HIP
DEFINE(Gather)(const void *send, void *receive, size_t count, int type, int root, void *comm, void *stream) { return ASKS(GATHER, Gather, .send = send, .receive = receive, .peer = root); }
DEFINE(Scatter)(const void *send, void *receive, size_t count, int type, int root, void *comm, void *stream) { return ASKS(SCATTER, Scatter, .send = send, .receive = receive, .peer = root); }
DEFINE(AllToAll)(const void *send, void *receive, size_t count, int type, void *comm, void *stream) { return ASKS(ALL_TO_ALL, AllToAll, .send = send, .receive = receive); }
#endif
