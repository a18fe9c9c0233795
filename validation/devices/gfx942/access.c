/* Loads, stores, atomics and lane exchanges of gfx942, over whole waves. */
#include "lanes.h"

static const uint8_t width_bytes[] = {1, 1, 2, 2, 4, 8, 12, 16, 1, 1, 1, 1, 2, 2};
static const uint8_t width_align[] = {1, 1, 2, 2, 4, 8, 4, 16, 1, 1, 1, 1, 2, 2};

uint32_t gfx_width_bytes(int width) { return width_bytes[width]; }

static inline uint32_t *row_of(Lanes *w, uint32_t row) { return w->core.rows + (size_t)row * 64; }

/* ---- poison: which lanes of a register hold nothing the kernel wrote -------------------------------- */

static void poison_rows(Lanes *w, uint32_t row, uint32_t count, uint64_t bad) {
    if (!w->core.row_poison) return;
    for (uint32_t i = 0; i < count; i++)
        w->core.row_poison[row + i] = (w->core.row_poison[row + i] & ~w->exec) | (bad & w->exec);
}
static uint64_t poison_of(const Lanes *w, uint32_t row, uint32_t count) {
    uint64_t bad = 0;
    if (!w->core.row_poison) return 0;
    for (uint32_t i = 0; i < count; i++) bad |= w->core.row_poison[row + i];
    return bad & w->exec;
}
int gfx_poison(Lanes *w, uint32_t site, uint64_t lanes) {
    if (!lanes) return 0;
    core_fault(&w->core, FAULT_UNINITIALISED, site, (uint32_t)first_lane(lanes), 0, 0);
    return 1;
}

/* ---- moving data between host addresses and rows ---------------------------------------------------- */

static void read_lanes(Lanes *w, int width, const uint64_t *from, uint32_t row) {
    uint32_t *to = row_of(w, row);
    const uint32_t *mask = w->mask;
    switch (width) {
#define EACH(expression)                                                     \
    for (int l = 0; l < 64; l++) {                                           \
        const uint8_t *p = (const uint8_t *)from[l];                         \
        uint32_t value = expression;                                         \
        to[l] = mask[l] ? value : to[l];                                     \
    }                                                                        \
    break;
#define HALF(p) (p[0] | (uint32_t)p[1] << 8)
    case W_U8: EACH(p[0])
    case W_I8: EACH((uint32_t)(int8_t)p[0])
    case W_U16: EACH(HALF(p))
    case W_I16: EACH((uint32_t)(int16_t)HALF(p))
    case W_U8_LO: EACH((to[l] & 0xffff0000u) | p[0])
    case W_U8_HI: EACH((to[l] & 0xffffu) | (uint32_t)p[0] << 16)
    case W_I8_LO: EACH((to[l] & 0xffff0000u) | (uint16_t)(int8_t)p[0])
    case W_I8_HI: EACH((to[l] & 0xffffu) | (uint32_t)(int8_t)p[0] << 16)
    case W_16_LO: EACH((to[l] & 0xffff0000u) | HALF(p))
    case W_16_HI: EACH((to[l] & 0xffffu) | HALF(p) << 16)
#undef EACH
    default: {
        uint32_t words = width_bytes[width] / 4;
        for (int l = 0; l < 64; l++) {
            uint32_t value[4];
            const uint8_t *p = (const uint8_t *)from[l];
            for (uint32_t k = 0; k < words; k++) memcpy(&value[k], p + 4 * k, 4);
            for (uint32_t k = 0; k < words; k++) to[64 * k + l] = mask[l] ? value[k] : to[64 * k + l];
        }
    }
    }
}

static int is_contiguous(const Lanes *w, const uint64_t *address, uint64_t *base) {
    uint64_t first = first_lane(w->exec), off = 0;
    *base = address[first] - 4 * first;
    for (int l = 0; l < 64; l++) off |= w->mask[l] ? address[l] ^ (*base + 4 * (uint64_t)l) : 0;
    return off == 0;
}

static void read_dwords(Lanes *w, const uint64_t *from, uint32_t row) {
    uint32_t *to = row_of(w, row);
    const uint32_t *mask = w->mask;
    uint64_t base;
    if (w->exec == UINT64_MAX && is_contiguous(w, from, &base)) {
        memcpy(to, (const void *)base, 256);
        return;
    }
    for (int l = 0; l < 64; l++) {
        uint32_t value;
        memcpy(&value, (const void *)from[l], 4);
        to[l] = mask[l] ? value : to[l];
    }
}

static void write_lanes(Lanes *w, int width, const uint64_t *to, uint32_t row) {
    const uint32_t *from = row_of(w, row);
    uint64_t base;
    if (width == W_32 && w->exec == UINT64_MAX && is_contiguous(w, to, &base)) {
        memcpy((void *)base, from, 256);
        return;
    }
    uint32_t bytes = width_bytes[width], shift = width == W_U8_HI || width == W_16_HI ? 16 : 0;
    for (uint64_t left = w->exec; left; left &= left - 1) {
        int l = __builtin_ctzll(left);
        uint32_t value[4] = {from[l] >> shift};
        if (bytes == 4) {
            memcpy((void *)to[l], value, 4);
            continue;
        }
        for (uint32_t k = 1; k < bytes / 4; k++) value[k] = from[64 * k + l];
        memcpy((void *)to[l], value, bytes);
    }
}

/* ---- scratch: lane-private memory, interleaved by dword --------------------------------------------- */

static uint8_t *private_byte(const Lanes *w, uint64_t offset, int lane) {
    return w->core.private_base + (offset / 4 * 64 + (uint64_t)lane) * 4 + offset % 4;
}

static int private_bounds(Lanes *w, uint32_t site, const uint64_t *offset, uint32_t bytes, int write) {
    uint64_t limit = w->core.launch->private_bytes;
    for (uint64_t left = w->exec; left; left &= left - 1) {
        int l = __builtin_ctzll(left);
        if (UNLIKELY(offset[l] + bytes > limit)) {
            core_fault(&w->core, FAULT_PRIVATE_OUT_OF_BOUNDS, site, (uint32_t)l, offset[l], bytes);
            return 1;
        }
    }
    if (UNLIKELY(w->core.launch->flags & COUNT_CACHES)) core_caches_private(&w->core, site, w->exec, offset, bytes, write);
    return 0;
}

static int is_uniform(const Lanes *w, const uint64_t *offset) {
    uint64_t first = offset[first_lane(w->exec)], off = first & 3;
    for (int l = 0; l < 64; l++) off |= w->mask[l] ? offset[l] ^ first : 0;
    return off == 0;
}

static void private_poison_load(Lanes *w, const uint64_t *offset, uint32_t bytes, uint32_t row, uint32_t words) {
    uint64_t bad = 0;
    if (!w->core.row_poison) return;
    for (uint64_t left = w->exec; left; left &= left - 1) {
        int l = __builtin_ctzll(left);
        for (uint64_t d = offset[l] / 4; d <= (offset[l] + bytes - 1) / 4; d++) bad |= w->core.private_poison[d] & 1ull << l;
    }
    poison_rows(w, row, words, bad);
}

static void private_poison_store(Lanes *w, const uint64_t *offset, uint32_t bytes, uint64_t bad) {
    if (!w->core.row_poison) return;
    for (uint64_t left = w->exec; left; left &= left - 1) {
        int l = __builtin_ctzll(left);
        for (uint64_t d = offset[l] / 4; d <= (offset[l] + bytes - 1) / 4; d++) {
            uint64_t *word = &w->core.private_poison[d];
            *word = (*word & ~(1ull << l)) | (bad & 1ull << l);
        }
    }
}

static int private_load(Lanes *w, uint32_t site, int width, uint64_t *offset, uint32_t row) {
    uint32_t bytes = width_bytes[width], words = bytes / 4;
    for (int l = 0; l < 64; l++) offset[l] = (uint32_t)offset[l];
    if (private_bounds(w, site, offset, bytes, 0)) return 1;
    private_poison_load(w, offset, bytes, row, words ? words : 1);
    if (words && is_uniform(w, offset)) {
        uint64_t at = offset[first_lane(w->exec)];
        for (uint32_t k = 0; k < words; k++) {
            uint32_t *to = row_of(w, row + k), *from = (uint32_t *)private_byte(w, at + 4 * k, 0);
            for (int l = 0; l < 64; l++) to[l] = w->mask[l] ? from[l] : to[l];
        }
        return 0;
    }
    uint8_t staged[64][16];
    for (int l = 0; l < 64; l++)
        for (uint32_t i = 0; i < bytes && w->mask[l]; i++) staged[l][i] = *private_byte(w, offset[l] + i, l);
    uint64_t from[64];
    for (int l = 0; l < 64; l++) from[l] = (uint64_t)staged[l];
    read_lanes(w, width, from, row);
    return 0;
}

static int private_store(Lanes *w, uint32_t site, int width, uint64_t *offset, uint32_t row) {
    uint32_t bytes = width_bytes[width], words = bytes / 4;
    for (int l = 0; l < 64; l++) offset[l] = (uint32_t)offset[l];
    if (private_bounds(w, site, offset, bytes, 1)) return 1;
    private_poison_store(w, offset, bytes, poison_of(w, row, words ? words : 1));
    if (words && is_uniform(w, offset)) {
        uint64_t at = offset[first_lane(w->exec)];
        for (uint32_t k = 0; k < words; k++) {
            uint32_t *from = row_of(w, row + k), *to = (uint32_t *)private_byte(w, at + 4 * k, 0);
            for (int l = 0; l < 64; l++) to[l] = w->mask[l] ? from[l] : to[l];
        }
        return 0;
    }
    uint8_t staged[64][16];
    uint64_t to[64];
    for (int l = 0; l < 64; l++) to[l] = (uint64_t)staged[l];
    write_lanes(w, width == W_32 ? W_32 : width, to, row);
    for (uint64_t left = w->exec; left; left &= left - 1) {
        int l = __builtin_ctzll(left);
        for (uint32_t i = 0; i < bytes; i++) *private_byte(w, offset[l] + i, l) = staged[l][i];
    }
    return 0;
}

/* ---- one access, any space --------------------------------------------------------------------------- */

/* Checks a global or LDS access of the lanes in w->exec, and turns addresses into host addresses. */
static int resolve(Lanes *w, uint32_t site, int space, uint64_t *address, uint32_t bytes, uint32_t align, int write,
                   int atomic, uint64_t *bad) {
    *bad = 0;
    if (space == SPACE_SHARED) return core_shared(&w->core, site, w->exec, address, bytes, align, write, atomic, bad);
    return core_global(&w->core, site, w->exec, address, bytes, align, write);
}

static uint64_t aperture_lanes(const Lanes *w, const uint64_t *address, uint64_t aperture) {
    uint64_t found = 0;
    for (int l = 0; l < 64; l++) found |= (uint64_t)(address[l] >> 32 == aperture >> 32) << l;
    return found & w->exec;
}

/* A flat access is up to three accesses, each with its own lanes. */
typedef int (*part_access)(Lanes *, uint32_t, int, int, uint64_t *, uint32_t, int, int32_t);
static int split_flat(Lanes *w, uint32_t site, int a, uint64_t *address, uint32_t row, int b, int32_t c,
                      part_access access) {
    uint64_t all = w->exec, shared = aperture_lanes(w, address, SHARED_APERTURE);
    uint64_t private = aperture_lanes(w, address, PRIVATE_APERTURE), part[3] = {all & ~shared & ~private, shared, private};
    static const int space[3] = {SPACE_GLOBAL, SPACE_SHARED, SPACE_PRIVATE};
    int failed = 0;
    for (int i = 0; i < 3 && !failed; i++) {
        uint64_t copy[64];
        if (!part[i]) continue;
        for (int l = 0; l < 64; l++) copy[l] = i ? (uint32_t)address[l] : address[l];
        w->exec = part[i];
        show_mask(w);
        failed = access(w, site, space[i], a, copy, row, b, c);
    }
    w->exec = all;
    return failed;
}

static int load_part(Lanes *w, uint32_t site, int space, int width, uint64_t *address, uint32_t row, int b, int32_t c) {
    (void)b, (void)c;
    return gfx_load_at(w, site, space, width, address, row);
}
static int store_part(Lanes *w, uint32_t site, int space, int width, uint64_t *address, uint32_t row, int b, int32_t c) {
    (void)b, (void)c;
    return gfx_store_at(w, site, space, width, address, row);
}
static int atomic_part(Lanes *w, uint32_t site, int space, int op, uint64_t *address, uint32_t row, int b, int32_t result) {
    return gfx_atomic_at(w, site, space, op, b & 1, address, row, (uint32_t)b >> 1, result);
}

static uint64_t unwritten_at(Lanes *w, uint32_t site, const uint64_t *address, uint32_t offset, uint32_t bytes) {
    uint64_t at[64];
    for (int l = 0; l < 64; l++) at[l] = address[l] + offset;
    return core_unwritten(&w->core, site, w->exec, at, bytes);
}

int gfx_load_at(Lanes *w, uint32_t site, int space, int width, uint64_t *address, uint32_t row) {
    uint64_t bad;
    uint32_t bytes = width_bytes[width], words = bytes / 4;
    if (!w->exec) return 0;
    show_mask(w);
    if (space == SPACE_FLAT) return split_flat(w, site, width, address, row, 0, 0, load_part);
    if (space == SPACE_PRIVATE) return private_load(w, site, width, address, row);
    if (resolve(w, site, space, address, bytes, width_align[width], 0, 0, &bad)) return 1;
    int followed = space == SPACE_GLOBAL && w->core.launch->flags & CHECK_UNWRITTEN;
    uint64_t unwritten[4] = {0};
    for (uint32_t k = 0; followed && k < (words ? words : 1); k++) /* registers of one load may be needed or not */
        unwritten[k] = unwritten_at(w, site, address, 4 * k, words ? 4 : bytes);
    if (width == W_32) read_dwords(w, address, row);
    else read_lanes(w, width, address, row);
    poison_rows(w, row, words ? words : 1, bad);
    for (uint32_t k = 0; followed && k < (words ? words : 1); k++) poison_rows(w, row + k, 1, bad | unwritten[k]);
    return 0;
}

int gfx_store_at(Lanes *w, uint32_t site, int space, int width, uint64_t *address, uint32_t row) {
    uint64_t bad;
    uint32_t bytes = width_bytes[width], words = bytes / 4;
    if (!w->exec) return 0;
    show_mask(w);
    if (space == SPACE_FLAT) return split_flat(w, site, width, address, row, 0, 0, store_part);
    if (space == SPACE_PRIVATE) return private_store(w, site, width, address, row);
    uint64_t poison = poison_of(w, row, words ? words : 1);
    if (space == SPACE_GLOBAL && gfx_poison(w, site, poison)) return 1;
    uint64_t plain[64];
    if (poison) memcpy(plain, address, sizeof plain);
    if (resolve(w, site, space, address, bytes, width_align[width], 1, 0, &bad)) return 1;
    write_lanes(w, width, address, row);
    if (UNLIKELY(w->core.worker->suspicious) && core_settle(&w->core)) return 1;
    for (uint64_t left = poison; left; left &= left - 1) /* LDS keeps the poison of what is stored */
        memset(w->core.block->initialised + (uint32_t)plain[__builtin_ctzll(left)], 0, bytes);
    return 0;
}

/* ---- atomics ----------------------------------------------------------------------------------------- */

static uint32_t bf16_from_f32(float a) {
    uint32_t x = f32_bits(a);
    if (a != a) return x >> 16 | 0x40;
    return (x + 0x7fff + (x >> 16 & 1)) >> 16;
}

static uint64_t combine32(int op, uint32_t old, uint32_t data, uint32_t other) {
    switch (op) {
    case AT_SWAP: return data;
    case AT_ADD: return old + data;
    case AT_SUB: return old - data;
    case AT_RSUB: return data - old;
    case AT_SMIN: return (int32_t)data < (int32_t)old ? data : old;
    case AT_UMIN: return data < old ? data : old;
    case AT_SMAX: return (int32_t)data > (int32_t)old ? data : old;
    case AT_UMAX: return data > old ? data : old;
    case AT_AND: return old & data;
    case AT_OR: return old | data;
    case AT_XOR: return old ^ data;
    case AT_INC: return old >= data ? 0 : old + 1;
    case AT_DEC: return old == 0 || old > data ? data : old - 1;
    case AT_MSKOR: return (old & ~data) | other;
    case AT_FADD: return f32_bits(bits_f32(old) + bits_f32(data));
    case AT_FMIN: return f32_bits(min_f32(bits_f32(old), bits_f32(data)));
    case AT_FMAX: return f32_bits(max_f32(bits_f32(old), bits_f32(data)));
    case AT_WRAP: return old >= data ? old - data : old + other;
    case AT_PK_F16:
        return f16_pattern(f16_value(old) + f16_value(data)) | f16_pattern(f16_value(old >> 16) + f16_value(data >> 16)) << 16;
    case AT_PK_BF16:
        return bf16_from_f32(bits_f32(old << 16) + bits_f32(data << 16)) |
               bf16_from_f32(bits_f32(old & 0xffff0000u) + bits_f32(data & 0xffff0000u)) << 16;
    default: return old;
    }
}

static uint64_t combine64(int op, uint64_t old, uint64_t data, uint64_t other) {
    switch (op) {
    case AT_SWAP: return data;
    case AT_ADD: return old + data;
    case AT_SUB: return old - data;
    case AT_RSUB: return data - old;
    case AT_SMIN: return (int64_t)data < (int64_t)old ? data : old;
    case AT_UMIN: return data < old ? data : old;
    case AT_SMAX: return (int64_t)data > (int64_t)old ? data : old;
    case AT_UMAX: return data > old ? data : old;
    case AT_AND: return old & data;
    case AT_OR: return old | data;
    case AT_XOR: return old ^ data;
    case AT_INC: return old >= data ? 0 : old + 1;
    case AT_DEC: return old == 0 || old > data ? data : old - 1;
    case AT_MSKOR: return (old & ~data) | other;
    case AT_FADD: return f64_bits(bits_f64(old) + bits_f64(data));
    case AT_FMIN: return f64_bits(min_f64(bits_f64(old), bits_f64(data)));
    case AT_FMAX: return f64_bits(max_f64(bits_f64(old), bits_f64(data)));
    case AT_CONDXCHG: { /* each half on its own, where its highest bit is set; the bit is not stored */
        uint64_t low = data >> 31 & 1 ? data & 0x7fffffff : old & 0xffffffff;
        uint64_t high = data >> 63 ? data >> 32 & 0x7fffffff : old >> 32;
        return low | high << 32;
    }
    default: return old;
    }
}

/* For cmpswap `data` is the new value and `other` what memory is compared with. */
static uint32_t next32(int op, uint32_t old, uint32_t data, uint32_t other) {
    if (op == AT_CMPSWAP) return old == other ? data : old;
    if (op == AT_FCMPSWAP) return bits_f32(old) == bits_f32(other) ? data : old;
    return (uint32_t)combine32(op, old, data, other);
}
static uint64_t next64(int op, uint64_t old, uint64_t data, uint64_t other) {
    if (op == AT_CMPSWAP) return old == other ? data : old;
    if (op == AT_FCMPSWAP) return bits_f64(old) == bits_f64(other) ? data : old;
    return combine64(op, old, data, other);
}
static uint32_t atomic32(uint64_t at, int op, uint32_t data, uint32_t other, int shared) {
    uint32_t *p = (uint32_t *)at, old = __atomic_load_n(p, __ATOMIC_SEQ_CST);
    for (;;) {
        uint32_t next = next32(op, old, data, other);
        if (shared) return *p = next, old;
        if (__atomic_compare_exchange_n(p, &old, next, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) return old;
    }
}
static uint64_t atomic64(uint64_t at, int op, uint64_t data, uint64_t other, int shared) {
    uint64_t *p = (uint64_t *)at, old = __atomic_load_n(p, __ATOMIC_SEQ_CST);
    for (;;) {
        uint64_t next = next64(op, old, data, other);
        if (shared) return *p = next, old;
        if (__atomic_compare_exchange_n(p, &old, next, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) return old;
    }
}

/* `other` is the row of the second operand of cmpswap (what is compared) and mskor. */
int gfx_atomic_at(Lanes *w, uint32_t site, int space, int op, int wide, uint64_t *address, uint32_t data,
                     uint32_t other, int32_t result) {
    uint64_t bad;
    uint32_t words = wide ? 2 : 1, two = op == AT_CMPSWAP || op == AT_FCMPSWAP || op == AT_MSKOR || op == AT_WRAP;
    if (!w->exec) return 0;
    show_mask(w);
    if (space == SPACE_FLAT) return split_flat(w, site, op, address, data, (int)(other << 1) | wide, result, atomic_part);
    if (space == SPACE_PRIVATE) return core_fault(&w->core, FAULT_UNSUPPORTED, site, (uint32_t)first_lane(w->exec), 0, 0), 1;
    if (gfx_poison(w, site, poison_of(w, data, words) | (two ? poison_of(w, other, words) : 0))) return 1;
    uint32_t align = 4 * words;
    w->core.manner = MANNER_ATOMIC | MANNER_FENCED | (result >= 0 ? MANNER_RETURNS : 0) |
                     (op == AT_SWAP || op == AT_CMPSWAP || op == AT_FCMPSWAP ? MANNER_SWAPS : 0) |
                     (op == AT_CMPSWAP || op == AT_FCMPSWAP ? MANNER_COMPARES : 0);
    if (space == SPACE_GLOBAL && (result >= 0 || op != AT_SWAP) &&
        gfx_poison(w, site, core_unwritten(&w->core, site, w->exec, address, 4 * words)))
        return 1;
    if (resolve(w, site, space, address, 4 * words, align, 1, 1, &bad)) return 1;
    w->core.manner = 0;
    int plain = space == SPACE_SHARED || w->core.launch->threads == 1;
    uint64_t wrong = 0;
    for (uint64_t left = w->exec; left; left &= left - 1) {
        int l = __builtin_ctzll(left);
        if (UNLIKELY(address[l] & (align - 1))) wrong |= 1ull << l;
    }
    if (wrong) {
        core_fault(&w->core, FAULT_MISALIGNED, site, (uint32_t)first_lane(wrong), address[first_lane(wrong)], align);
        return 1;
    }
    for (uint64_t left = w->exec; left; left &= left - 1) {
        int l = __builtin_ctzll(left);
        const uint32_t *d = row_of(w, data) + l, *e = row_of(w, other) + l;
        if (!wide) {
            uint32_t old = atomic32(address[l], op, d[0], two ? e[0] : 0, plain);
            if (result >= 0) row_of(w, (uint32_t)result)[l] = old;
        } else {
            uint64_t value = d[0] | (uint64_t)d[64] << 32, second = two ? e[0] | (uint64_t)e[64] << 32 : 0;
            uint64_t old = atomic64(address[l], op, value, second, plain);
            if (result < 0) continue;
            row_of(w, (uint32_t)result)[l] = (uint32_t)old;
            row_of(w, (uint32_t)result + 1)[l] = (uint32_t)(old >> 32);
        }
    }
    if (result >= 0) poison_rows(w, (uint32_t)result, words, bad);
    return 0;
}

/* ---- what the translation calls ---------------------------------------------------------------------- */

/* Lane addresses from registers; a poisoned address is a fault. Lanes that are off may hold anything. */
static int addresses(Lanes *w, uint32_t site, Address at, uint64_t *address) {
    const uint32_t *low = row_of(w, at.row), *high = low + 64;
    uint64_t base = at.base;
    switch (at.mode) {
    case ADDRESS_UNIFORM:
        for (int l = 0; l < 64; l++) address[l] = base;
        return 0;
    case ADDRESS_PAIR:
        for (int l = 0; l < 64; l++) address[l] = (low[l] | (uint64_t)high[l] << 32) + base;
        return gfx_poison(w, site, poison_of(w, at.row, 2));
    case ADDRESS_THREADS:
        for (uint32_t l = 0; l < 64; l++) address[l] = base + 4 * l;
        return 0;
    case ADDRESS_WRAPPED:
        for (int l = 0; l < 64; l++) address[l] = low[l] + (uint32_t)base;
        return gfx_poison(w, site, poison_of(w, at.row, 1));
    default:
        for (int l = 0; l < 64; l++) address[l] = low[l] + base;
        return gfx_poison(w, site, poison_of(w, at.row, 1));
    }
}

/* Scratch at an offset that is the same in all lanes: whole rows move. */
static int uniform_row(Lanes *w, uint32_t site, Address at, uint32_t bytes, int write, int *failed) {
    uint64_t limit = w->core.launch->private_bytes, offset = (uint32_t)at.base;
    *failed = 0;
    if (at.mode != ADDRESS_UNIFORM || bytes % 4 || offset % 4) return 0;
    if (UNLIKELY(offset + bytes > limit)) {
        core_fault(&w->core, FAULT_PRIVATE_OUT_OF_BOUNDS, site, (uint32_t)first_lane(w->exec), offset, bytes);
        *failed = 1;
    } else if (UNLIKELY(w->core.launch->flags & COUNT_CACHES)) {
        uint64_t all[64];
        for (int l = 0; l < 64; l++) all[l] = offset;
        core_caches_private(&w->core, site, w->exec, all, bytes, write);
    }
    return 1;
}

int gfx_load(Lanes *w, uint32_t site, int space, int width, Address at, uint32_t row) {
    uint64_t address[64] ALIGNED;
    int failed;
    if (!w->exec) return 0;
    show_mask(w);
    if (space == SPACE_PRIVATE && uniform_row(w, site, at, width_bytes[width], 0, &failed)) {
        for (uint32_t k = 0; !failed && k < width_bytes[width] / 4u; k++) {
            uint32_t *to = row_of(w, row + k), *from = (uint32_t *)private_byte(w, (uint32_t)at.base + 4 * k, 0);
            for (int l = 0; l < 64; l++) to[l] = w->mask[l] ? from[l] : to[l];
            if (w->core.row_poison) poison_rows(w, row + k, 1, w->core.private_poison[(uint32_t)at.base / 4 + k]);
        }
        return failed;
    }
    return addresses(w, site, at, address) || gfx_load_at(w, site, space, width, address, row);
}

int gfx_store(Lanes *w, uint32_t site, int space, int width, Address at, uint32_t row) {
    uint64_t address[64] ALIGNED;
    int failed;
    if (!w->exec) return 0;
    show_mask(w);
    if (space == SPACE_PRIVATE && uniform_row(w, site, at, width_bytes[width], 1, &failed)) {
        for (uint32_t k = 0; !failed && k < width_bytes[width] / 4u; k++) {
            uint32_t *from = row_of(w, row + k), *to = (uint32_t *)private_byte(w, (uint32_t)at.base + 4 * k, 0);
            for (int l = 0; l < 64; l++) to[l] = w->mask[l] ? from[l] : to[l];
            if (!w->core.row_poison) continue;
            uint64_t *poison = &w->core.private_poison[(uint32_t)at.base / 4 + k];
            *poison = (*poison & ~w->exec) | poison_of(w, row + k, 1);
        }
        return failed;
    }
    return addresses(w, site, at, address) || gfx_store_at(w, site, space, width, address, row);
}

/* READ2 and its kin: both addresses are taken before anything is written */
int gfx_load_pair(Lanes *w, uint32_t site, int width, Address first, Address second, uint32_t row) {
    uint64_t one[64] ALIGNED, two[64] ALIGNED;
    if (!w->exec) return 0;
    if (addresses(w, site, first, one) || addresses(w, site, second, two)) return 1;
    return gfx_load_at(w, site, SPACE_SHARED, width, one, row) ||
           gfx_load_at(w, site, SPACE_SHARED, width, two, row + width_bytes[width] / 4u);
}

int gfx_atomic(Lanes *w, uint32_t site, int space, int op, int wide, Address at, uint32_t data, uint32_t other,
               int32_t result) {
    uint64_t address[64] ALIGNED;
    if (!w->exec) return 0;
    return addresses(w, site, at, address) || gfx_atomic_at(w, site, space, op, wide, address, data, other, result);
}

/* WRXCHG2 and its kin: both addresses are taken before anything is written */
int gfx_exchange_pair(Lanes *w, uint32_t site, int wide, Address first, Address second, uint32_t data, uint32_t other,
                      uint32_t result) {
    uint64_t one[64] ALIGNED, two[64] ALIGNED;
    if (!w->exec) return 0;
    if (addresses(w, site, first, one) || addresses(w, site, second, two)) return 1;
    return gfx_atomic_at(w, site, SPACE_SHARED, AT_SWAP, wide, one, data, 0, (int32_t)result) ||
           gfx_atomic_at(w, site, SPACE_SHARED, AT_SWAP, wide, two, other, 0, (int32_t)result + 1 + wide);
}

/* DS_APPEND and DS_CONSUME: a counter in LDS moves by the number of lanes that are on; all get what it was */
int gfx_append(Lanes *w, uint32_t site, uint32_t offset, int consume, uint32_t row) {
    uint64_t address[64] ALIGNED, bad;
    uint32_t count = (uint32_t)__builtin_popcountll(w->exec), old;
    if (!w->exec) return 0;
    for (int l = 0; l < 64; l++) address[l] = (w->m0 & 0xffff) + offset;
    w->core.manner = MANNER_ATOMIC | MANNER_FENCED | MANNER_RETURNS;
    if (core_shared(&w->core, site, w->exec & -w->exec, address, 4, 4, 1, 1, &bad)) return 1;
    w->core.manner = 0;
    uint32_t *counter = (uint32_t *)address[first_lane(w->exec)];
    old = *counter;
    *counter = consume ? old - count : old + count;
    show_mask(w);
    for (int l = 0; l < 64; l++) row_of(w, row)[l] = w->mask[l] ? old : row_of(w, row)[l];
    poison_rows(w, row, 1, bad ? UINT64_MAX : 0);
    return 0;
}

int gfx_scalar_store(Lanes *w, uint32_t site, uint64_t address, uint32_t words, uint32_t from) {
    address &= ~3ull;
    for (uint32_t k = 0; k < words; k++)
        if (w->core.row_poison && w->s_poison[from + k]) return gfx_poison(w, site, w->core.live);
    if (core_scalar(&w->core, site, address, 4 * words, 1)) return 1;
    memcpy((void *)address, &w->s[from], 4 * words);
    return 0;
}

int gfx_scalar_atomic(Lanes *w, uint32_t site, int op, int wide, uint64_t address, uint32_t data, int returns) {
    uint32_t words = wide ? 2 : 1, other = data + words, two = op == AT_CMPSWAP;
    address &= ~3ull;
    for (uint32_t k = 0; w->core.row_poison && k < words * (1 + two); k++)
        if (w->s_poison[data + k]) return gfx_poison(w, site, w->core.live);
    w->core.manner = MANNER_ATOMIC | MANNER_FENCED | (returns ? MANNER_RETURNS : 0) | (two ? MANNER_SWAPS | MANNER_COMPARES : 0);
    if (core_scalar(&w->core, site, address, 4 * words, 1)) return 1;
    w->core.manner = 0;
    if (address & (4 * words - 1)) {
        core_fault(&w->core, FAULT_MISALIGNED, site, (uint32_t)first_lane(w->core.live), address, 4 * words);
        return 1;
    }
    uint64_t value = S(data), second = two ? S(other) : 0;
    if (wide) value = S64(data), second = two ? S64(other) : 0;
    uint64_t old = wide ? atomic64(address, op, value, second, 0) : atomic32(address, op, (uint32_t)value, (uint32_t)second, 0);
    if (!returns) return 0;
    S(data) = (uint32_t)old;
    if (wide) S(data + 1) = (uint32_t)(old >> 32);
    return 0;
}

static uint32_t scalar_unwritten(Lanes *w, uint32_t site, uint64_t address) {
    uint64_t lane = first_lane(w->core.live), at[64];
    at[lane] = address;
    return core_unwritten(&w->core, site, 1ull << lane, at, 4) != 0;
}

int gfx_scalar_load(Lanes *w, uint32_t site, uint64_t address, uint32_t words, uint32_t into) {
    address &= ~3ull;
    if (core_scalar(&w->core, site, address, 4 * words, 0)) return 1;
    memcpy(&w->s[into], (const void *)address, 4 * words);
    memset(&w->s_poison[into], 0, 4 * words);
    if (UNLIKELY(w->core.launch->flags & CHECK_UNWRITTEN))
        for (uint32_t k = 0; k < words; k++) w->s_poison[into + k] = scalar_unwritten(w, site, address + 4 * k);
    return 0;
}

/* ---- lane exchanges ---------------------------------------------------------------------------------- */

/* DS_PERMUTE_B32 and DS_BPERMUTE_B32: the lane wraps modulo 64 after the division by 4 */
void gfx_permute(Lanes *w, int backward, uint32_t address, uint32_t data, uint32_t offset, uint32_t into) {
    uint32_t out[64] = {0};
    uint64_t poison = 0;
    const uint32_t *a = row_of(w, address), *d = row_of(w, data);
    uint64_t bad = w->core.row_poison ? w->core.row_poison[data] : 0;
    for (int l = 0; l < 64; l++) {
        uint32_t other = (a[l] + offset) / 4 % 64;
        if (backward) {
            out[l] = w->exec >> other & 1 ? d[other] : 0;
            poison |= (w->exec >> other & bad >> other & 1) << l;
        } else if (w->exec >> l & 1) {
            out[other] = d[l];
            poison = (poison & ~(1ull << other)) | (bad >> l & 1) << other;
        }
    }
    show_mask(w);
    uint32_t *to = row_of(w, into);
    for (int l = 0; l < 64; l++) to[l] = w->mask[l] ? out[l] : to[l];
    if (w->core.row_poison) poison |= w->core.row_poison[address];
    poison_rows(w, into, 1, poison);
}

/* DS_SWIZZLE_B32, 12.13: quad permutation (bit 15) or and/or/xor within 32 lanes; inactive sources give 0 */
void gfx_swizzle(Lanes *w, uint32_t data, uint32_t offset, uint32_t into) {
    uint32_t out[64];
    uint64_t bad = w->core.row_poison ? w->core.row_poison[data] : 0, poison = 0;
    const uint32_t *d = row_of(w, data);
    for (uint32_t l = 0; l < 64; l++) {
        uint32_t within = l & 31, from;
        if (offset >= 0xe000) { /* FFT mode: bit reversal of the low bits */
            uint32_t mask = offset & 31, reversed = bitrev32(within) >> 27, low = (within & mask);
            from = (l & 32) | ((reversed & ~mask & 31) | low);
        } else if (offset >= 0xc000) { /* rotate */
            uint32_t mask = offset & 31, amount = offset >> 5 & 31, left = offset >> 10 & 1;
            uint32_t turned = left ? within - amount : within + amount;
            from = (l & 32) | (within & mask) | (turned & ~mask & 31);
        } else if (offset & 0x8000) {
            from = (l & ~3u) | (offset >> 2 * (l & 3) & 3);
        } else {
            from = (l & 32) | (((within & (offset & 31)) | (offset >> 5 & 31)) ^ (offset >> 10 & 31));
        }
        out[l] = w->exec >> from & 1 ? d[from] : 0;
        poison |= (w->exec >> from & bad >> from & 1) << l;
    }
    show_mask(w);
    uint32_t *to = row_of(w, into);
    for (int l = 0; l < 64; l++) to[l] = w->mask[l] ? out[l] : to[l];
    poison_rows(w, into, 1, poison);
}

/* DPP, 12.16: copies `from` to `to` as the control says; returns the lanes that are written at all.
 * A source lane that is off or outside gives 0 with bound_ctrl (zero_fill), else its reader is not written. */
uint64_t gfx_dpp(Lanes *w, uint32_t control, int zero_fill, uint32_t row_mask, uint32_t bank_mask, const uint32_t *from,
                 uint32_t *to) {
    uint64_t written = 0;
    uint32_t out[64];
    for (int l = 0; l < 64; l++) {
        int row = l & ~15, in_row = l & 15, source = -1;
        uint32_t amount = control & 15;
        if (control <= 0xff) source = (l & ~3) | (int)(control >> 2 * (l & 3) & 3);
        else if (control >= 0x101 && control <= 0x10f) source = in_row + (int)amount < 16 ? l + (int)amount : -1;
        else if (control >= 0x111 && control <= 0x11f) source = in_row - (int)amount >= 0 ? l - (int)amount : -1;
        else if (control >= 0x121 && control <= 0x12f) source = row | ((in_row - (int)amount) & 15);
        else if (control == 0x130) source = l < 63 ? l + 1 : -1;
        else if (control == 0x134) source = (l + 1) & 63;
        else if (control == 0x138) source = l - 1;
        else if (control == 0x13c) source = (l - 1) & 63;
        else if (control == 0x140) source = row | (15 - in_row);
        else if (control == 0x141) source = (l & ~7) | (7 - (l & 7));
        else if (control == 0x142) source = row - 1;
        else if (control == 0x143) source = l >= 32 ? 31 : -1;
        else if (control >= 0x150 && control <= 0x15f) source = row | (int)amount;
        int valid = source >= 0 && (w->exec >> source & 1);
        out[l] = valid ? from[source] : 0;
        int kept = !(row_mask >> (l >> 4) & 1) || !(bank_mask >> (l >> 2 & 3) & 1);
        int skipped = kept || (!valid && !zero_fill);
        written |= (uint64_t)!skipped << l;
    }
    memcpy(to, out, sizeof out);
    return written & w->exec;
}

/* ---- 2/pi ------------------------------------------------------------------------------------------- */

/* The 53 bits after `shift` bits of the fraction 2/pi, as an integer value (V_TRIG_PREOP_F64); it has 1201 bits. */
double gfx_two_over_pi(uint32_t shift) {
    static const uint64_t bits[20] = {
        0xa2f9836e4e441529ull, 0xfc2757d1f534ddc0ull, 0xdb6295993c439041ull, 0xfe5163abdebbc561ull, 0xb7246e3a424dd2e0ull,
        0x06492eea09d1921cull, 0xfe1deb1cb129a73eull, 0xe88235f52ebb4484ull, 0xe99c7026b45f7e41ull, 0x3991d639835339f4ull,
        0x9c845f8bbdf9283bull, 0x1ff897ffde05980full, 0xef2f118b5a0a6d1full, 0x6d367ecf27cb09b7ull, 0x4f463f669e5fea2dull,
        0x7527bac7ebe5f17bull, 0x3d0739f78a5292eaull, 0x6bfb5fb11f8d5d08ull, 0x56033046fc7b0000ull, 0ull};
    uint32_t word = shift / 64, bit = shift % 64;
    if (word >= 19) return 0.0;
    uint64_t high = bits[word] << bit | (bit ? bits[word + 1] >> (64 - bit) : 0);
    return (double)(high >> 11);
}
