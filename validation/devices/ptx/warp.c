/* Divergence: lanes that went different ways are paths; the one furthest behind runs. */
#include "warp.h"

static void set_threshold(Warp *w) {
    uint32_t least = UINT32_MAX;
    for (uint32_t i = 0; i < w->path_count; i++)
        if (w->paths[i].state == PATH_READY && w->paths[i].key < least) least = w->paths[i].key;
    w->threshold = w->limit ? UINT32_MAX : least;
}

static uint32_t lanes_in(const Warp *w, enum PathState state) {
    uint32_t lanes = 0;
    for (uint32_t i = 0; i < w->path_count; i++) lanes |= w->paths[i].state == state ? w->paths[i].lanes : 0;
    return lanes;
}

static void remove_path(Warp *w, uint32_t i) { w->paths[i] = w->paths[--w->path_count]; }

static void add_path(Warp *w, Path path) {
    for (uint32_t i = 0; i < w->path_count; i++) {
        Path *p = &w->paths[i];
        if (p->key == path.key && p->frame == path.frame && p->state == path.state) {
            p->lanes |= path.lanes;
            return;
        }
    }
    w->paths[w->path_count++] = path;
}

void ptx_start(Warp *w) {
    const Launch *launch = w->core.launch;
    uint32_t x = launch->block[0], y = launch->block[1];
    memset((char *)w + sizeof(Wave), 0, offsetof(Warp, paths) - sizeof(Wave));
    w->alive = w->active = (uint32_t)w->core.live;
    w->threshold = UINT32_MAX;
    w->mask_of = ~w->active;
    w->meetings.all = w->meetings.some = w->meetings.access = 0;
    w->core.meetings = launch->flags & CHECK_RACES && launch->shared_bytes ? &w->meetings : NULL;
    for (uint32_t l = 0; l < LANES; l++) {
        uint32_t linear = w->core.index * LANES + l;
        w->lane_id[l] = l;
        w->tid[0][l] = linear % x;
        w->tid[1][l] = linear / x % y;
        w->tid[2][l] = linear / x / y;
    }
}

void ptx_park(Warp *w, uint32_t pc, uint32_t lanes, enum PathState state, uint32_t site, uint32_t next) {
    Path path = {KEY(w->depth, pc), lanes, state, site, w->frame, next, w->stamp++};
    if (!lanes) return;
    add_path(w, path);
    if (state == PATH_READY && path.key < w->threshold && !w->limit) w->threshold = path.key;
}

static void resume(Warp *w, uint32_t i) {
    Path path = w->paths[i];
    remove_path(w, i);
    w->active = path.lanes;
    w->core.pc = path.key & NOWHERE;
    w->frame = path.frame;
    w->depth = DEPTH_LIMIT - (path.key >> 20);
    w->base = path.frame ? w->frames[path.frame].base : 0;
    set_threshold(w);
    if (w->threshold <= path.key) w->threshold = path.key + 1; /* another frame's lanes at the same place */
}

static int complete(Warp *w, uint32_t fresh, uint32_t waiting);

/* Lanes that have ended wait for nobody: those that are left are all there are. */
static void meet(Warp *w, uint32_t lanes) { core_meet(&w->core, lanes | ((uint32_t)w->core.live & ~w->alive)); }

/* Every lane waits: is it for each other? */
static int stuck(Warp *w) {
    uint32_t first = 0;
    for (uint32_t i = 1; i < w->path_count; i++)
        if (w->paths[i].state == PATH_SYNC && w->paths[first].state != PATH_SYNC) first = i;
    Path *p = &w->paths[first], *other = NULL;
    uint32_t lane = (uint32_t)__builtin_ctz(p->lanes);
    enum FaultKind kind = p->state == PATH_BARRIER ? FAULT_DIVERGENT_BARRIER : FAULT_SYNC_MISSED;
    uint32_t missing = p->state == PATH_SYNC ? w->named[lane] & w->alive & ~p->lanes : w->alive & ~p->lanes;
    for (uint32_t i = 0; i < w->path_count; i++)
        if (w->paths[i].lanes & missing) other = &w->paths[i];
    core_fault_pair(&w->core, kind, p->site, lane, missing, 0, w->core.index, other ? other->site : UINT32_MAX);
    return WAVE_FAULT;
}

/* All lanes alive wait at barriers of the block, at different places. */
static int arrive_apart(Warp *w) {
    uint32_t site = w->paths[0].site;
    for (uint32_t i = 0; i < w->path_count; i++) {
        Path *p = &w->paths[i];
        p->state = PATH_READY;
        p->key = (p->key & ~NOWHERE) | p->next;
    }
    w->core.pc = NOWHERE;
    w->active = 0;
    w->threshold = UINT32_MAX;
    return (int)core_barrier(&w->core, site, w->alive);
}

int ptx_next(Warp *w) {
    for (;;) {
        uint32_t best = w->path_count;
        w->limit = 0;
        for (uint32_t i = 0; i < w->path_count; i++)
            if (w->paths[i].state == PATH_READY && (best == w->path_count || w->paths[i].key < w->paths[best].key)) best = i;
        if (best < w->path_count) {
            resume(w, best);
            return GO;
        }
        if (!w->alive) return WAVE_DONE;
        uint32_t waiting = lanes_in(w, PATH_SYNC);
        if (waiting && complete(w, 0, waiting)) continue;
        for (uint32_t i = 0; i < w->path_count; i++) {
            Path *p = &w->paths[i];
            if ((p->state == PATH_ALIGNED || p->state == PATH_BARRIER) && p->lanes == w->alive) {
                p->state = PATH_READY; /* the others have ended */
                best = i;
            }
        }
        if (best < w->path_count) continue;
        if (lanes_in(w, PATH_BARRIER) == w->alive) {
            int apart = 1;
            for (uint32_t i = 0; i < w->path_count; i++) apart &= w->paths[i].next != NOWHERE;
            if (apart) return arrive_apart(w);
        }
        return stuck(w);
    }
}

int ptx_pause(Warp *w, uint32_t pc, uint32_t site) {
    if (w->core.quantum <= 0) {
        w->core.pc = pc;
        w->core.barrier_site = site;
        w->limit = 0;
        set_threshold(w);
        return WAVE_YIELD;
    }
    ptx_park(w, pc, w->active, PATH_READY, 0, 0);
    return ptx_next(w);
}

int ptx_spin(Warp *w, uint32_t pc) {
    uint32_t oldest = w->path_count;
    w->spins = 0;
    for (uint32_t i = 0; i < w->path_count; i++)
        if (w->paths[i].state == PATH_READY && (oldest == w->path_count || w->paths[i].stamp < w->paths[oldest].stamp))
            oldest = i;
    if (oldest == w->path_count) { /* only other warps can help */
        w->core.pc = pc;
        return WAVE_YIELD;
    }
    Path chosen = w->paths[oldest];
    ptx_park(w, pc, w->active, PATH_READY, 0, 0);
    for (uint32_t i = 0; i < w->path_count; i++) {
        if (w->paths[i].key == chosen.key && w->paths[i].frame == chosen.frame && w->paths[i].state == PATH_READY) {
            int64_t limit = w->core.quantum - SLICE;
            w->limit = limit > 0 ? limit : 1;
            resume(w, i);
            w->threshold = UINT32_MAX;
            return GO;
        }
    }
    return ptx_next(w);
}

int ptx_exit(Warp *w, uint32_t lanes) {
    w->alive &= ~lanes;
    for (uint32_t f = w->frame; f; f = w->frames[f].parent) w->frames[f].lanes &= ~lanes;
    w->active &= ~lanes;
    return NEXT;
}

/* ---- calls ------------------------------------------------------------------------------------------ */

int ptx_call(Warp *w, uint32_t site, uint32_t return_pc, uint32_t callee, uint32_t frame_bytes) {
    uint32_t f = 1;
    while (f <= w->frames_used && w->frames[f].lanes) f++;
    if (f > w->frames_used) w->frames_used = f;
    if (f >= FRAMES || w->depth + 1 >= DEPTH_LIMIT) {
        core_fault(&w->core, FAULT_PRIVATE_OUT_OF_BOUNDS, site, (uint32_t)__builtin_ctz(w->active), w->base, 0);
        return WAVE_FAULT;
    }
    w->frames[f] = (Frame){w->frame, w->depth + 1, w->active, return_pc, w->base + frame_bytes};
    w->frame = f;
    w->depth++;
    w->base += frame_bytes;
    w->core.pc = callee;
    set_threshold(w);
    return GO;
}

int ptx_return(Warp *w) {
    Frame *f = &w->frames[w->frame];
    f->lanes &= ~w->active;
    w->core.pc = f->return_pc;
    w->frame = f->parent;
    w->depth = f->depth - 1;
    w->base = w->frame ? w->frames[w->frame].base : 0;
    return GO;
}

/* ---- meeting points --------------------------------------------------------------------------------- */

static uint32_t shuffle_source(const Warp *w, uint32_t kind, uint32_t l, int *inside) {
    uint32_t b = w->b[l] & 31, c = w->c[l] & 31, segment = w->c[l] >> 8 & 31;
    int32_t highest = (int32_t)((l & segment) | (c & ~segment)), lowest = (int32_t)(l & segment), j;
    switch (kind) {
    case SYNC_SHFL_UP: j = (int32_t)l - (int32_t)b; *inside = j >= highest; break;
    case SYNC_SHFL_DOWN: j = (int32_t)(l + b); *inside = j <= highest; break;
    case SYNC_SHFL_BFLY: j = (int32_t)(l ^ b); *inside = j <= highest; break;
    default: j = lowest | (int32_t)(b & ~segment); *inside = j <= highest; break;
    }
    return *inside ? (uint32_t)j & 31 : l;
}

static void shuffle(Warp *w, uint32_t kind, uint32_t group) {
    for (uint32_t left = group; left; left &= left - 1) {
        uint32_t l = (uint32_t)__builtin_ctz(left), bit = 1u << l;
        int inside;
        uint32_t from = shuffle_source(w, kind, l, &inside);
        int present = group >> from & 1;
        w->result[l] = present ? w->a[from] : w->a[l];
        w->result_true = inside ? w->result_true | bit : w->result_true & ~bit;
        if (!present || w->deposit_bad >> from & 1 || w->choice_bad & bit) w->result_bad |= bit;
    }
}

static void give(Warp *w, uint32_t group, uint64_t value, int truth) {
    for (uint32_t left = group; left; left &= left - 1) w->result[__builtin_ctz(left)] = value;
    w->result_true = truth ? w->result_true | group : w->result_true & ~group;
    if (w->deposit_bad & group) w->result_bad |= group;
}

static void match(Warp *w, uint32_t kind, uint32_t group) {
    uint32_t first = (uint32_t)__builtin_ctz(group);
    int same = 1;
    for (uint32_t left = group; left; left &= left - 1) same &= w->a[__builtin_ctz(left)] == w->a[first];
    if (kind == SYNC_MATCH_ALL) {
        give(w, group, same ? group : 0, same);
        return;
    }
    give(w, group, 0, 1);
    for (uint32_t left = group; left; left &= left - 1)
        for (uint32_t other = group; other; other &= other - 1)
            if (w->a[__builtin_ctz(left)] == w->a[__builtin_ctz(other)])
                w->result[__builtin_ctz(left)] |= 1u << __builtin_ctz(other);
}

static uint32_t reduce_pair(uint32_t kind, uint32_t x, uint32_t y) {
    switch (kind) {
    case SYNC_ADD: return x + y;
    case SYNC_MIN_U: return x < y ? x : y;
    case SYNC_MAX_U: return x > y ? x : y;
    case SYNC_MIN_S: return (int32_t)x < (int32_t)y ? x : y;
    case SYNC_MAX_S: return (int32_t)x > (int32_t)y ? x : y;
    case SYNC_AND: return x & y;
    case SYNC_OR: return x | y;
    default: return x ^ y;
    }
}

static void exchange(Warp *w, uint32_t kind, uint32_t group) {
    uint32_t first = (uint32_t)__builtin_ctz(group), votes = 0;
    w->result_bad &= ~group;
    meet(w, group);
    if (kind == SYNC_WARP) return;
    if (kind <= SYNC_SHFL_IDX) {
        shuffle(w, kind, group);
        return;
    }
    for (uint32_t left = group; left; left &= left - 1) votes |= (uint32_t)(w->a[__builtin_ctz(left)] != 0) << __builtin_ctz(left);
    switch (kind) {
    case SYNC_ALL: give(w, group, votes == group, votes == group); return;
    case SYNC_ANY: give(w, group, votes != 0, votes != 0); return;
    case SYNC_UNI: give(w, group, votes == group || !votes, votes == group || !votes); return;
    case SYNC_BALLOT: give(w, group, votes, 1); return;
    case SYNC_MATCH_ANY:
    case SYNC_MATCH_ALL: match(w, kind, group); return;
    case SYNC_ELECT:
        give(w, group, first, 0);
        w->result_true |= 1u << first;
        return;
    }
    uint32_t total = (uint32_t)w->a[first];
    for (uint32_t left = group & (group - 1); left; left &= left - 1)
        total = reduce_pair(kind, total, (uint32_t)w->a[__builtin_ctz(left)]);
    give(w, group, total, 1);
}

/* Lanes that wait for a meeting go on at the place where they wait. */
static void wake(Warp *w, uint32_t lanes) {
    for (uint32_t i = 0; i < w->path_count; ) {
        Path path = w->paths[i];
        if (path.state != PATH_SYNC || !(path.lanes & lanes)) {
            i++;
            continue;
        }
        w->paths[i].lanes &= ~lanes;
        if (!w->paths[i].lanes) remove_path(w, i);
        path.lanes &= lanes;
        path.state = PATH_READY;
        add_path(w, path);
        i = 0;
    }
    set_threshold(w);
}

/* Lets every group whose named lanes are all here go on; which lanes that are. */
static int complete(Warp *w, uint32_t fresh, uint32_t waiting) {
    uint32_t here = fresh | waiting, done = 0;
    for (uint32_t left = here; left; ) {
        uint32_t l = (uint32_t)__builtin_ctz(left), same = 0;
        for (uint32_t rest = left; rest; rest &= rest - 1) {
            uint32_t other = (uint32_t)__builtin_ctz(rest);
            same |= (uint32_t)(w->named[other] == w->named[l] && w->kind[other] == w->kind[l]) << other;
        }
        if (!(w->named[l] & w->alive & ~same)) {
            exchange(w, w->kind[l], same);
            done |= same;
        }
        left &= ~same;
    }
    w->results |= done;
    if (done & waiting) wake(w, done & waiting);
    return (int)done;
}

/* Lanes parked here join those that have arrived. */
static uint32_t absorb(Warp *w, uint32_t key, enum PathState state) {
    for (uint32_t i = 0; i < w->path_count; i++) {
        Path path = w->paths[i];
        if (path.key == key && path.state == state && path.frame == w->frame) {
            remove_path(w, i);
            set_threshold(w);
            return path.lanes;
        }
    }
    return 0;
}

static int named_apart(const Warp *w, uint32_t lanes) { /* lanes that are named alike and are all there are */
    uint32_t first = w->named[__builtin_ctz(lanes)];
    for (uint32_t left = lanes; left; left &= left - 1)
        if (w->named[__builtin_ctz(left)] != first) return 1;
    return (first & w->alive) != lanes;
}

int ptx_sync(Warp *w, uint32_t site, uint32_t pc, uint32_t kind, uint32_t bad, uint32_t choice_bad) {
    uint32_t ready = w->active & w->results, fresh = w->active & ~ready;
    if (fresh) {
        w->deposit_bad = (w->deposit_bad & ~fresh) | (bad & fresh);
        w->choice_bad = (w->choice_bad & ~fresh) | (choice_bad & fresh);
        for (uint32_t left = fresh; left; left &= left - 1) {
            uint32_t l = (uint32_t)__builtin_ctz(left);
            w->kind[l] = kind;
            if (w->named[l] >> l & 1) continue;
            core_fault(&w->core, FAULT_SYNC_MASK, site, l, w->named[l], 0);
            return WAVE_FAULT;
        }
        if (LIKELY(!w->path_count && !ready && !named_apart(w, fresh))) {
            exchange(w, kind, fresh);
            return GO;
        }
        uint32_t done = (uint32_t)complete(w, fresh, lanes_in(w, PATH_SYNC));
        ptx_park(w, pc, fresh & ~done, PATH_SYNC, site, 0);
        ready |= done & fresh;
        if (ready) ready |= absorb(w, KEY(w->depth, pc), PATH_READY);
    }
    if (!ready) return NEXT;
    w->results &= ~ready;
    w->active = ready;
    return GO;
}

int ptx_aligned(Warp *w, uint32_t site, uint32_t pc) {
    uint32_t lanes = w->active | absorb(w, KEY(w->depth, pc), PATH_ALIGNED);
    if (lanes == w->alive) {
        meet(w, lanes);
        w->active = lanes;
        return GO;
    }
    ptx_park(w, pc, lanes, PATH_ALIGNED, site, 0);
    return NEXT;
}

int ptx_barrier(Warp *w, uint32_t site, uint32_t pc, uint32_t next, int aligned) {
    uint32_t lanes = w->active | absorb(w, KEY(w->depth, pc), PATH_BARRIER);
    if (lanes == w->alive) {
        w->active = lanes;
        w->core.pc = next;
        return (int)core_barrier(&w->core, site, lanes);
    }
    ptx_park(w, pc, lanes, PATH_BARRIER, site, aligned ? NOWHERE : next);
    return NEXT;
}

/* bar.red: what each warp's lanes brought; two of them, because a warp may be one barrier ahead. */
void ptx_barrier_value(Warp *w, uint32_t truth) {
    w->true_lanes = (w->true_lanes & ~w->active) | (truth & w->active);
    w->barrier_value[w->parity & 1] = w->true_lanes | (uint64_t)w->alive << 32;
    w->brought = w->parity + 1;
}

uint32_t ptx_barrier_result(Warp *w, int reduction) {
    const Block *block = w->core.block;
    uint32_t all = 1, any = 0, count = 0, round = w->parity++;
    for (uint32_t i = 0; i < block->wave_count; i++) {
        const Warp *other = (const Warp *)(block->waves + (size_t)i * w->core.launch->wave_bytes);
        uint64_t value = other->brought > round ? other->barrier_value[round & 1] : 0; /* true lanes; lanes there are */
        all &= (uint32_t)value == (uint32_t)(value >> 32);
        any |= (uint32_t)value != 0;
        count += (uint32_t)__builtin_popcount((uint32_t)value);
    }
    return reduction == BARRIER_AND ? all : reduction == BARRIER_OR ? any : count;
}

int ptx_poison(Warp *w, uint32_t site, uint32_t lanes) {
    core_fault(&w->core, FAULT_UNINITIALISED, site, (uint32_t)__builtin_ctz(lanes), 0, 0);
    return 1;
}

int ptx_trap(Warp *w, uint32_t site, int kind, uint64_t detail) {
    core_fault(&w->core, (enum FaultKind)kind, site, w->active ? (uint32_t)__builtin_ctz(w->active) : 0, detail, 0);
    return WAVE_FAULT;
}
