/* Loads, stores, atomics and copies of a warp. */
#include "lanes.h"

#define EACH(left, lane, lanes) \
    for (uint32_t left = (lanes), lane; left && (lane = (uint32_t)__builtin_ctz(left), 1); left &= left - 1)

/* ---- local memory: lane-private, interleaved by dword ------------------------------------------------ */

static uint8_t *private_byte(const Warp *w, uint64_t offset, uint32_t lane) {
    return w->core.private_base + (offset / 4 * LANES + lane) * 4 + offset % 4;
}

static int private_bounds(Warp *w, uint32_t site, uint32_t active, const uint64_t *offset, uint32_t bytes) {
    uint64_t limit = w->core.launch->private_bytes;
    EACH(left, l, active) {
        if (LIKELY(offset[l] <= limit && offset[l] + bytes <= limit)) continue;
        core_fault(&w->core, FAULT_PRIVATE_OUT_OF_BOUNDS, site, l, offset[l], bytes);
        return 1;
    }
    return 0;
}

static void private_move(Warp *w, uint64_t offset, uint32_t lane, void *data, uint32_t bytes, int write) {
    uint8_t *to = data;
    for (uint32_t i = 0; i < bytes; ) {
        uint32_t part = 4 - (offset + i) % 4;
        if (part > bytes - i) part = bytes - i;
        uint8_t *at = private_byte(w, offset + i, lane);
        if (write) memcpy(at, to + i, part);
        else memcpy(to + i, at, part);
        i += part;
    }
}

static uint32_t private_bad(const Warp *w, uint32_t active, const uint64_t *offset, uint32_t bytes) {
    uint32_t bad = 0;
    if (!w->core.private_poison) return 0;
    EACH(left, l, active)
        for (uint64_t d = offset[l] / 4; d <= (offset[l] + bytes - 1) / 4; d++)
            bad |= (uint32_t)w->core.private_poison[d] & 1u << l;
    return bad;
}

static void private_wrote(Warp *w, uint32_t active, const uint64_t *offset, uint32_t bytes, uint32_t bad) {
    if (!w->core.private_poison) return;
    EACH(left, l, active)
        for (uint64_t d = offset[l] / 4; d <= (offset[l] + bytes - 1) / 4; d++) {
            uint64_t bit = 1ull << l;
            w->core.private_poison[d] = bad >> l & 1 ? w->core.private_poison[d] | bit : w->core.private_poison[d] & ~bit;
        }
}

/* ---- rows -------------------------------------------------------------------------------------------- */

static void mask_row(const Warp *w, uint32_t active, uint32_t *mask) {
    if (active == w->mask_of) memcpy(mask, w->mask, sizeof w->mask);
    else expand_mask(active, mask);
}

static uint64_t widen(uint64_t value, uint32_t bytes, int is_signed) {
    uint32_t shift = 64 - 8 * bytes;
    return is_signed ? (uint64_t)((int64_t)(value << shift) >> shift) : value;
}

static void put(void *row, uint32_t lane, uint64_t value, int wide) {
    if (wide) ((uint64_t *)row)[lane] = value;
    else ((uint32_t *)row)[lane] = (uint32_t)value;
}

static int contiguous(const uint64_t *address, uint32_t bytes) {
    uint64_t off = 0;
    for (uint64_t l = 0; l < LANES; l++) off |= address[l] ^ (address[0] + bytes * l);
    return off == 0;
}

/* A row of consecutive elements: of a known length, so that no function is called. */
static void copy_row(void *to, const void *from, int wide) {
    if (wide) memcpy(to, from, 8 * LANES);
    else memcpy(to, from, 4 * LANES);
}

/* Every address is safe to read. */
static void read_rows(Warp *w, uint32_t active, const uint64_t *address, uint32_t bytes, int is_signed, uint32_t count,
                      void *const *into, int wide) {
    uint32_t mask[LANES] ALIGNED;
    if (active == UINT32_MAX && count == 1 && bytes == (wide ? 8 : 4) && contiguous(address, bytes)) {
        copy_row(into[0], (const void *)address[0], wide);
        return;
    }
    mask_row(w, active, mask);
    for (uint32_t k = 0; k < count; k++) {
        if (!into[k]) continue;
        if (bytes == 4 && !wide) {
            uint32_t *to = into[k];
            for (int l = 0; l < LANES; l++) {
                uint32_t value;
                memcpy(&value, (const uint8_t *)address[l] + 4 * k, 4);
                to[l] = mask[l] ? value : to[l];
            }
        } else if (bytes == 8) {
            uint64_t *to = into[k];
            for (int l = 0; l < LANES; l++) {
                uint64_t value;
                memcpy(&value, (const uint8_t *)address[l] + 8 * k, 8);
                to[l] = mask[l] ? value : to[l];
            }
        } else {
            EACH(left, l, active) {
                uint64_t value = 0;
                memcpy(&value, (const uint8_t *)address[l] + bytes * k, bytes);
                value = widen(value, bytes, is_signed);
                /* a 16-bit register keeps 16 bits */
                put(into[k], l, wide ? value : bytes < 4 && wide == 0 && is_signed > 1 ? value & 0xffff : value, wide);
            }
        }
    }
}

static void write_rows(uint32_t active, const uint64_t *address, uint32_t bytes, uint32_t count, void *const *from,
                       int wide) {
    if (active == UINT32_MAX && count == 1 && bytes == (wide ? 8 : 4) && contiguous(address, bytes)) {
        copy_row((void *)address[0], from[0], wide);
        return;
    }
    for (uint32_t k = 0; k < count; k++) {
        if (bytes == 4 && !wide) {
            EACH(left, l, active) memcpy((uint8_t *)address[l] + 4 * k, &((uint32_t *)from[k])[l], 4);
        } else if (wide) {
            EACH(left, l, active) memcpy((uint8_t *)address[l] + bytes * k, &((uint64_t *)from[k])[l], bytes);
        } else {
            EACH(left, l, active) memcpy((uint8_t *)address[l] + bytes * k, &((uint32_t *)from[k])[l], bytes);
        }
    }
}

/* ---- spaces ------------------------------------------------------------------------------------------ */

typedef struct Split {
    uint32_t global, shared, local;
} Split;

/* Which lanes address what; shared and local addresses become offsets. */
static Split split(uint32_t active, int space, uint64_t *address) {
    Split s = {0, 0, 0};
    if (space == SPACE_GLOBAL) s.global = active;
    else if (space == SPACE_SHARED) s.shared = active;
    else if (space == SPACE_LOCAL) s.local = active;
    else {
        EACH(left, l, active) {
            uint64_t window = address[l] & APERTURE_MASK;
            if (window == SHARED_APERTURE) s.shared |= 1u << l;
            else if (window == PRIVATE_APERTURE) s.local |= 1u << l;
            else s.global |= 1u << l;
            if (window == SHARED_APERTURE || window == PRIVATE_APERTURE) address[l] &= ~APERTURE_MASK;
        }
    }
    return s;
}

/* A full warp on consecutive elements of the allocation that this instruction met last: nothing more to check. */
static int is_stream(const Warp *w, uint32_t site, uint32_t active, int space, const uint64_t *address, uint32_t bytes,
                     int write) {
    const Launch *launch = w->core.launch;
    const Allocation *hit = w->core.worker->hit[site];
    if (active != UINT32_MAX || space != SPACE_GLOBAL || !hit || launch->flags & (COUNT_MEMORY | WATCH | CHECK_GLOBAL | CHECK_UNWRITTEN) || w->core.missed)
        return 0;
    if (address[0] & (bytes - 1) || address[0] < hit->base || address[0] + (uint64_t)bytes * LANES > hit->end) return 0;
    if (hit->state == ALLOCATION_FREED || (write && hit->state != ALLOCATION_LIVE)) return 0;
    return contiguous(address, bytes);
}

int ptx_load(Warp *w, uint32_t site, uint32_t active, int space, uint64_t *address, uint32_t bytes, int is_signed,
             uint32_t count, void *const *into, int wide, uint32_t *bad) {
    uint32_t total = bytes * count;
    if (count == 1 && into[0] && bytes == (wide ? 8 : 4) && is_stream(w, site, active, space, address, bytes, 0)) {
        copy_row(into[0], (const void *)address[0], wide);
        if (bad) *bad = 0;
        return 0;
    }
    uint64_t copy[LANES] ALIGNED, poisoned = 0;
    Split s = split(active, space, address);
    if (s.global) {
        memcpy(copy, address, sizeof copy);
        if (core_global(&w->core, site, s.global, copy, total, total, 0)) return 1;
        poisoned |= core_unwritten(&w->core, site, s.global, copy, total);
        read_rows(w, s.global, copy, bytes, is_signed, count, into, wide);
    }
    if (s.shared) {
        memcpy(copy, address, sizeof copy);
        if (core_shared(&w->core, site, s.shared, copy, total, total, 0, 0, &poisoned)) return 1;
        read_rows(w, s.shared, copy, bytes, is_signed, count, into, wide);
    }
    if (s.local) {
        if (private_bounds(w, site, s.local, address, total)) return 1;
        poisoned |= private_bad(w, s.local, address, total);
        EACH(left, l, s.local)
            for (uint32_t k = 0; k < count; k++) {
                uint64_t value = 0;
                if (!into[k]) continue;
                private_move(w, address[l] + bytes * k, l, &value, bytes, 0);
                value = widen(value, bytes, is_signed);
                put(into[k], l, bytes < 4 && wide == 0 && is_signed > 1 ? value & 0xffff : value, wide);
            }
    }
    if (bad) *bad = (*bad & ~active) | (uint32_t)poisoned;
    return 0;
}

static void unwritten(Warp *w, uint32_t lanes, const uint64_t *address, uint32_t bytes) {
    if (!w->core.block->initialised) return;
    EACH(left, l, lanes) memset(w->core.block->initialised + address[l], 0, bytes);
}

int ptx_store(Warp *w, uint32_t site, uint32_t active, int space, uint64_t *address, uint32_t bytes, uint32_t count,
              void *const *from, int wide, uint32_t bad) {
    uint32_t total = bytes * count;
    uint64_t copy[LANES] ALIGNED;
    if (!bad && count == 1 && bytes == (wide ? 8 : 4) && is_stream(w, site, active, space, address, bytes, 1)) {
        copy_row((void *)address[0], from[0], wide);
        return 0;
    }
    Split s = split(active, space, address);
    if (s.global) {
        if (UNLIKELY(bad & s.global)) return ptx_poison(w, site, bad & s.global);
        memcpy(copy, address, sizeof copy);
        if (core_global(&w->core, site, s.global, copy, total, total, 1)) return 1;
        write_rows(s.global, copy, bytes, count, from, wide);
        if (UNLIKELY(w->core.worker->suspicious) && core_settle(&w->core)) return 1;
    }
    if (s.shared) {
        memcpy(copy, address, sizeof copy);
        if (core_shared(&w->core, site, s.shared, copy, total, total, 1, 0, NULL)) return 1;
        write_rows(s.shared, copy, bytes, count, from, wide);
        if (UNLIKELY(w->core.worker->suspicious) && core_settle(&w->core)) return 1;
        if (UNLIKELY(bad & s.shared)) unwritten(w, bad & s.shared, address, total);
    }
    if (s.local) {
        if (private_bounds(w, site, s.local, address, total)) return 1;
        EACH(left, l, s.local)
            for (uint32_t k = 0; k < count; k++) {
                void *at = wide ? (void *)&((uint64_t *)from[k])[l] : (void *)&((uint32_t *)from[k])[l];
                private_move(w, address[l] + bytes * k, l, at, bytes, 1);
            }
        private_wrote(w, s.local, address, total, bad);
    }
    return 0;
}

/* ---- atomics ----------------------------------------------------------------------------------------- */

static uint64_t smaller(int type, uint64_t x, uint64_t y, int max) {
    switch (type) {
    case T_S32: return ((int32_t)x < (int32_t)y) != max ? x : y;
    case T_S64: return ((int64_t)x < (int64_t)y) != max ? x : y;
    case T_F16: return max ? max_f16((uint32_t)x, (uint32_t)y) : min_f16((uint32_t)x, (uint32_t)y);
    case T_BF16: return max ? max_bf16((uint32_t)x, (uint32_t)y) : min_bf16((uint32_t)x, (uint32_t)y);
    case T_F16X2: return max ? PACKED(max_f16, (uint32_t)x, (uint32_t)y) : PACKED(min_f16, (uint32_t)x, (uint32_t)y);
    case T_BF16X2: return max ? PACKED(max_bf16, (uint32_t)x, (uint32_t)y) : PACKED(min_bf16, (uint32_t)x, (uint32_t)y);
    case T_F32: return u32(max ? max_f32(f32((uint32_t)x), f32((uint32_t)y)) : min_f32(f32((uint32_t)x), f32((uint32_t)y)));
    default: return (x < y) != max ? x : y;
    }
}

static uint64_t sum(int type, uint64_t x, uint64_t y) {
    uint32_t a = (uint32_t)x, b = (uint32_t)y;
    switch (type) {
    case T_F16: return add_f16(a, b);
    case T_BF16: return add_bf16(a, b);
    case T_F16X2: return PACKED(add_f16, a, b);
    case T_BF16X2: return PACKED(add_bf16, a, b);
    case T_F32: return u32(f32(a) + f32(b));
    case T_F32_FTZ: return u32(ftz(ftz(f32(a)) + ftz(f32(b))));
    case T_F64: return u64(f64(x) + f64(y));
    default: return x + y;
    }
}

static uint64_t acted(int action, int type, uint64_t old, uint64_t b, uint64_t c) {
    switch (action) {
    case AT_ADD: return sum(type, old, b);
    case AT_MIN: return smaller(type, old, b, 0);
    case AT_MAX: return smaller(type, old, b, 1);
    case AT_INC: return (uint32_t)old >= (uint32_t)b ? 0 : old + 1;
    case AT_DEC: return !(uint32_t)old || (uint32_t)old > (uint32_t)b ? b : old - 1;
    case AT_AND: return old & b;
    case AT_OR: return old | b;
    case AT_XOR: return old ^ b;
    case AT_EXCH: return b;
    default: return old == b ? c : old;
    }
}

static const uint8_t type_bytes[] = {2, 4, 4, 8, 8, 2, 2, 4, 4, 4, 8, 4};

#define SWAP(T)                                                                                              \
    {                                                                                                        \
        T seen = __atomic_load_n((T *)at, __ATOMIC_RELAXED);                                                 \
        while (!__atomic_compare_exchange_n((T *)at, &seen, (T)acted(action, type, seen, b, c), 0, __ATOMIC_SEQ_CST, \
                                            __ATOMIC_RELAXED)) {}                                            \
        return seen;                                                                                         \
    }
static uint64_t act(uint8_t *at, int action, int type, uint64_t b, uint64_t c) {
    switch (type_bytes[type]) {
    case 2: SWAP(uint16_t)
    case 4: SWAP(uint32_t)
    default: SWAP(uint64_t)
    }
}

int ptx_atomic(Warp *w, uint32_t site, uint32_t active, int space, int action, int type, uint64_t *address,
               const void *b, const void *c, void *into, uint32_t *bad) {
    uint32_t bytes = type_bytes[type], part;
    uint64_t copy[LANES] ALIGNED, poisoned = 0;
    Split s = split(active, space, address);
    if (s.local) return ptx_trap(w, site, FAULT_OUT_OF_BOUNDS, 0), 1;
    core_meet(&w->core, w->core.live); /* it may be a lock's: what came before is not held against what follows */
    w->core.manner = MANNER_ATOMIC | (into ? MANNER_RETURNS : 0) | (action >= AT_EXCH ? MANNER_SWAPS : 0) |
                     (action == AT_CAS ? MANNER_COMPARES : 0);
    for (int round = 0; round < 2; round++) {
        part = round ? s.shared : s.global;
        if (!part) continue;
        memcpy(copy, address, sizeof copy);
        if (!round && (into || action != AT_EXCH)) poisoned = core_unwritten(&w->core, site, part, copy, bytes);
        if (round ? core_shared(&w->core, site, part, copy, bytes, bytes, 1, 1, &poisoned)
                  : core_global(&w->core, site, part, copy, bytes, bytes, 1))
            return 1;
        if (UNLIKELY(poisoned)) return ptx_poison(w, site, (uint32_t)poisoned);
        int held = !round && type == T_F32 && action == AT_ADD ? T_F32_FTZ : type; /* global memory keeps no subnormals */
        EACH(left, l, part) {
            uint64_t x = bytes == 8 ? ((const uint64_t *)b)[l] : ((const uint32_t *)b)[l];
            uint64_t y = !c ? 0 : bytes == 8 ? ((const uint64_t *)c)[l] : ((const uint32_t *)c)[l];
            uint64_t old = act((uint8_t *)copy[l], action, held, x, y);
            if (into) put(into, l, old, bytes == 8);
        }
    }
    w->core.manner = 0;
    if (bad) *bad &= ~active;
    return 0;
}

/* cp.async: done at once, which every later wait allows. */
int ptx_copy(Warp *w, uint32_t site, uint32_t active, uint64_t *to, uint64_t *from, uint32_t bytes, const uint32_t *size) {
    uint64_t target[LANES] ALIGNED, source[LANES] ALIGNED;
    uint8_t data[LANES][16];
    memset(data, 0, sizeof data);
    EACH(left, l, active) {
        uint32_t wanted = size ? size[l] < bytes ? size[l] : bytes : bytes;
        if (!wanted) continue;
        for (int k = 0; k < LANES; k++) source[k] = from[l];
        if (core_global(&w->core, site, 1u << l, source, wanted, bytes, 0)) return 1;
        memcpy(data[l], (const void *)source[l], wanted);
    }
    memcpy(target, to, sizeof target);
    if (core_shared(&w->core, site, active, target, bytes, bytes, 1, 0, NULL)) return 1;
    EACH(left, l, active) memcpy((void *)target[l], data[l], bytes);
    return UNLIKELY(w->core.worker->suspicious) ? core_settle(&w->core) : 0;
}

/* Bytes at a generic address of one lane. */
int ptx_read(Warp *w, uint32_t site, uint32_t lane, uint64_t address, void *into, uint32_t bytes) {
    uint64_t offset[LANES];
    if ((address & APERTURE_MASK) != PRIVATE_APERTURE) {
        if (core_scalar(&w->core, site, address, bytes, 0)) return 1;
        memcpy(into, (const void *)address, bytes);
        return 0;
    }
    offset[lane] = address & ~APERTURE_MASK;
    if (private_bounds(w, site, 1u << lane, offset, bytes)) return 1;
    private_move(w, offset[lane], lane, into, bytes, 0);
    return 0;
}
