/* A gfx942 wave: 64 lanes, vector registers as rows of 64 words, scalar registers, EXEC and friends. */
#ifndef PORTER_GFX942_WAVE_H
#define PORTER_GFX942_WAVE_H

#include "runtime.h"

#define SGPRS 128 /* 0-101, 102-103 FLAT_SCRATCH, 104-105 XNACK_MASK, 106-107 VCC */

typedef struct Lanes {
    Wave core;
    uint64_t exec, mask_of; /* mask_of: the EXEC that `mask` shows */
    uint32_t m0, scc, mode, scc_poison;
    uint32_t s[SGPRS] ALIGNED;
    uint32_t s_poison[SGPRS]; /* a bit per bit */
    uint32_t mask[64] ALIGNED;
    uint32_t v[][64] ALIGNED;
} Lanes;

#define SHARED_APERTURE 0x0001000000000000ull /* what src_shared_base and src_private_base give */
#define PRIVATE_APERTURE 0x0002000000000000ull

typedef uint64_t pair_t __attribute__((may_alias, aligned(4)));

#define V(row) w->v[row]
#define S(i) w->s[i]
#define S64(i) (*(pair_t *)&w->s[i])
#define P(row) w->core.row_poison[row]
#define PS(i) w->s_poison[i]
#define PS64(i) (*(pair_t *)&w->s_poison[i])
#define SYMBOL(i) w->core.launch->symbols[i]
#define SEGMENT(i) (w->core.segments[i].runs++, w->core.segments[i].lanes += (uint64_t)__builtin_popcountll(w->exec))
#define FAULTED WAVE_FAULT

static inline void show_mask(Lanes *w) {
    if (UNLIKELY(w->mask_of != w->exec)) {
        expand_mask(w->exec, w->mask);
        w->mask_of = w->exec;
    }
}

enum Space { SPACE_GLOBAL, SPACE_SHARED, SPACE_PRIVATE, SPACE_FLAT };

/* How a load widens and where a store reads: see memory.py. */
enum Width { W_U8, W_I8, W_U16, W_I16, W_32, W_64, W_96, W_128, W_U8_LO, W_U8_HI, W_I8_LO, W_I8_HI, W_16_LO, W_16_HI };

enum Atomic {
    AT_SWAP, AT_CMPSWAP, AT_ADD, AT_SUB, AT_RSUB, AT_SMIN, AT_UMIN, AT_SMAX, AT_UMAX, AT_AND, AT_OR, AT_XOR, AT_INC,
    AT_DEC, AT_MSKOR, AT_FADD, AT_FMIN, AT_FMAX, AT_PK_F16, AT_PK_BF16, AT_FCMPSWAP, AT_WRAP, AT_CONDXCHG
};

/* Where the lanes' addresses come from: a base for all, plus a register (pair) of each lane. */
enum AddressMode { ADDRESS_UNIFORM, ADDRESS_ROW, ADDRESS_PAIR, ADDRESS_WRAPPED /* sum in 32 bits: LDS */, ADDRESS_THREADS /* a dword each */ };
typedef struct Address {
    uint32_t mode, row;
    uint64_t base;
} Address;

/* All return nonzero when a fault was recorded. Rows name registers; a result of -1 is dropped. */
int gfx_load(Lanes *w, uint32_t site, int space, int width, Address at, uint32_t row);
int gfx_load_pair(Lanes *w, uint32_t site, int width, Address first, Address second, uint32_t row);
int gfx_store(Lanes *w, uint32_t site, int space, int width, Address at, uint32_t row);
int gfx_atomic(Lanes *w, uint32_t site, int space, int op, int wide, Address at, uint32_t data, uint32_t other,
               int32_t result);
int gfx_exchange_pair(Lanes *w, uint32_t site, int wide, Address first, Address second, uint32_t data, uint32_t other,
                      uint32_t result);
int gfx_append(Lanes *w, uint32_t site, uint32_t offset, int consume, uint32_t row);
int gfx_scalar_store(Lanes *w, uint32_t site, uint64_t address, uint32_t words, uint32_t from);
int gfx_scalar_atomic(Lanes *w, uint32_t site, int op, int wide, uint64_t address, uint32_t data, int returns);
int gfx_scalar_load(Lanes *w, uint32_t site, uint64_t address, uint32_t words, uint32_t into);
void gfx_permute(Lanes *w, int backward, uint32_t address, uint32_t data, uint32_t offset, uint32_t into);
void gfx_swizzle(Lanes *w, uint32_t data, uint32_t offset, uint32_t into);
uint64_t gfx_dpp(Lanes *w, uint32_t control, int zero_fill, uint32_t row_mask, uint32_t bank_mask, const uint32_t *from,
                 uint32_t *to);

enum Element { MX_F64, MX_F32, MX_XF32, MX_I32, MX_F16, MX_BF16, MX_I8, MX_FP8, MX_BF8 };
typedef struct MatrixShape {
    int m, n, k, blocks, a, b, result, cbsz, abid, blgp;
} MatrixShape;
void gfx_matrix(Lanes *w, const MatrixShape *shape, uint32_t to, uint32_t a, uint32_t b, int32_t c, uint64_t constant);

/* Through a buffer resource: first SGPR of the resource, scalar and immediate offset, rows of offset and index or -1. */
typedef struct BufferAddress {
    uint32_t resource, scalar, offset;
    int32_t offset_row, index_row;
} BufferAddress;
int gfx_scalar_buffer_load(Lanes *w, uint32_t site, uint32_t resource, uint32_t offset, uint32_t words, uint32_t into);
int gfx_buffer(Lanes *w, uint32_t site, int store, int width, BufferAddress at, uint32_t row);
int gfx_buffer_atomic(Lanes *w, uint32_t site, int op, int wide, BufferAddress at, uint32_t data, uint32_t other,
                      int32_t result);

/* One access with the addresses at hand (they are overwritten). */
int gfx_load_at(Lanes *w, uint32_t site, int space, int width, uint64_t *address, uint32_t row);
int gfx_store_at(Lanes *w, uint32_t site, int space, int width, uint64_t *address, uint32_t row);
int gfx_atomic_at(Lanes *w, uint32_t site, int space, int op, int wide, uint64_t *address, uint32_t data,
                  uint32_t other, int32_t result);
uint32_t gfx_width_bytes(int width);

int gfx_set_mode(Lanes *w, uint32_t site, uint32_t offset, uint32_t width, uint32_t value);
void gfx_round(uint32_t mode);

int gfx_interrupt(Lanes *w, uint32_t site, uint64_t buffer);
int gfx_malloc(Lanes *w, uint32_t site);
int gfx_free(Lanes *w, uint32_t site);
int gfx_poison(Lanes *w, uint32_t site, uint64_t lanes);
#endif
