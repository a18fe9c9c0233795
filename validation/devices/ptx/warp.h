/* A warp of 32 threads that may go different ways: paths, frames, meeting points. */
#ifndef PORTER_PTX_WARP_H
#define PORTER_PTX_WARP_H

#include "runtime.h"

#define PATHS 33 /* every lane alone, and one more while they are moved about */
#define FRAMES 512
#define DEPTH_LIMIT 4095u
#define KEY(depth, pc) ((DEPTH_LIMIT - (depth)) << 20 | (pc))
#define NOWHERE 0xfffffu
#define SPIN_LIMIT 64 /* rounds of a loop that may wait before others get their turn */
#define SLICE 4096    /* instructions of such a turn */

#define SHARED_APERTURE 0x0001000000000000ull
#define PRIVATE_APERTURE 0x0002000000000000ull
#define APERTURE_MASK 0xffff000000000000ull
#define CODE_BASE 0x0003000000000000ull /* addresses of functions */

/* What ptx_* functions that move lanes answer; everything else is an enum WaveEvent. */
enum { NEXT = GO + 1 };

enum PathState { PATH_READY, PATH_SYNC, PATH_ALIGNED, PATH_BARRIER };

typedef struct Path { /* lanes that are at one place */
    uint32_t key, lanes, state, site, frame, next, stamp;
} Path;

typedef struct Frame { /* a call whose lanes have not all come back */
    uint32_t parent, depth, lanes, return_pc, base;
} Frame;

typedef struct Warp {
    Wave core;
    uint32_t active, mask_of; /* mask_of: the lanes that `mask` shows */
    uint32_t alive, threshold, spins, path_count, stamp;
    int64_t limit; /* quantum at which a turn given to a waiting path ends */
    uint32_t frame, depth, base, frames_used; /* base: of the function's own local memory */
    uint32_t results, result_bad, deposit_bad, result_true; /* by lane */
    uint32_t choice_bad; /* by lane: what says which lane a shuffle reads */
    uint32_t parity, brought, true_lanes;
    uint64_t barrier_value[2];
    uint32_t mask[LANES] ALIGNED;
    uint32_t tid[3][LANES] ALIGNED;
    uint32_t lane_id[LANES] ALIGNED;
    uint32_t kind[LANES] ALIGNED, named[LANES] ALIGNED, b[LANES] ALIGNED, c[LANES] ALIGNED;
    uint64_t a[LANES] ALIGNED, result[LANES] ALIGNED;
    Path paths[PATHS];
    Frame frames[FRAMES];
    Meetings meetings;
} Warp;

static inline void show_mask(Warp *w) {
    if (UNLIKELY(w->mask_of != w->active)) {
        expand_mask(w->active, w->mask);
        w->mask_of = w->active;
    }
}

/* ---- paths ------------------------------------------------------------------------------------------ */

void ptx_start(Warp *w);
void ptx_park(Warp *w, uint32_t pc, uint32_t lanes, enum PathState state, uint32_t site, uint32_t next);
int ptx_next(Warp *w);               /* the lanes to go on with: GO, or what the wave has come to */
int ptx_pause(Warp *w, uint32_t pc, uint32_t site); /* at a block: others are first, or the turn is over */
int ptx_spin(Warp *w, uint32_t pc);  /* a loop that may wait for lanes that are not running */
int ptx_exit(Warp *w, uint32_t lanes);
int ptx_call(Warp *w, uint32_t site, uint32_t return_pc, uint32_t callee, uint32_t frame_bytes);
int ptx_return(Warp *w);

/* ---- meeting points --------------------------------------------------------------------------------- */

enum SyncKind {
    SYNC_WARP, SYNC_SHFL_UP, SYNC_SHFL_DOWN, SYNC_SHFL_BFLY, SYNC_SHFL_IDX, SYNC_ALL, SYNC_ANY, SYNC_UNI, SYNC_BALLOT,
    SYNC_MATCH_ANY, SYNC_MATCH_ALL, SYNC_ADD, SYNC_MIN_U, SYNC_MAX_U, SYNC_MIN_S, SYNC_MAX_S, SYNC_AND, SYNC_OR,
    SYNC_XOR, SYNC_ELECT
};
int ptx_sync(Warp *w, uint32_t site, uint32_t pc, uint32_t kind, uint32_t bad, uint32_t choice_bad);
int ptx_aligned(Warp *w, uint32_t site, uint32_t pc);

enum BarrierReduction { BARRIER_PLAIN, BARRIER_AND, BARRIER_OR, BARRIER_POPC };
int ptx_barrier(Warp *w, uint32_t site, uint32_t pc, uint32_t next, int aligned);
void ptx_barrier_value(Warp *w, uint32_t truth);
uint32_t ptx_barrier_result(Warp *w, int reduction);

/* ---- memory ----------------------------------------------------------------------------------------- */

enum Space { SPACE_GENERIC, SPACE_GLOBAL, SPACE_SHARED, SPACE_LOCAL };
enum Action { AT_ADD, AT_MIN, AT_MAX, AT_INC, AT_DEC, AT_AND, AT_OR, AT_XOR, AT_EXCH, AT_CAS };
enum Type { T_U16, T_U32, T_S32, T_U64, T_S64, T_F16, T_BF16, T_F16X2, T_BF16X2, T_F32, T_F64, T_F32_FTZ };

/* Addresses are overwritten. `into` has a row per element; rows of 64 bits where `wide` says so. */
int ptx_load(Warp *w, uint32_t site, uint32_t active, int space, uint64_t *address, uint32_t bytes, int is_signed,
             uint32_t count, void *const *into, int wide, uint32_t *bad);
int ptx_store(Warp *w, uint32_t site, uint32_t active, int space, uint64_t *address, uint32_t bytes, uint32_t count,
              void *const *from, int wide, uint32_t bad);
int ptx_atomic(Warp *w, uint32_t site, uint32_t active, int space, int action, int type, uint64_t *address,
               const void *b, const void *c, void *into, uint32_t *bad);
int ptx_copy(Warp *w, uint32_t site, uint32_t active, uint64_t *to, uint64_t *from, uint32_t bytes, const uint32_t *size);
int ptx_read(Warp *w, uint32_t site, uint32_t lane, uint64_t address, void *into, uint32_t bytes);

/* ---- matrices ---------------------------------------------------------------------------------------- */

enum Element { MX_F64, MX_F32, MX_TF32, MX_S32, MX_F16, MX_BF16, MX_S8, MX_U8, MX_E4M3, MX_E5M2 };
typedef struct MatrixShape { /* ordered: the layout of wmma */
    int m, n, k, a, b, c, d, registers_a, registers_b, registers_c, registers_d, ordered, finite;
} MatrixShape;
void ptx_matrix(const MatrixShape *s, const void *const *a, const void *const *b, const void *const *c, void *const *d,
                const uint32_t *bad_a, const uint32_t *bad_b, const uint32_t *bad_c, uint32_t *bad_d);
enum WordProduct { BITS_XOR, BITS_AND, NIBBLES };
typedef struct WordShape { /* elements of 1 or 4 bits: whole words of them */
    int m, registers_b, product, signed_a, signed_b, finite;
} WordShape;
void ptx_matrix_words(const WordShape *s, const void *const *a, const void *const *b, const void *const *c, void *const *d,
                      const uint32_t *bad_a, const uint32_t *bad_b, const uint32_t *bad_c, uint32_t *bad_d, uint32_t count);
int ptx_matrix_load(Warp *w, uint32_t site, const MatrixShape *s, int which, int space, int by_column,
                    const uint64_t *base, const uint32_t *stride, void *const *into, uint32_t *bad);
int ptx_matrix_store(Warp *w, uint32_t site, const MatrixShape *s, int space, int by_column, const uint64_t *base,
                     const uint32_t *stride, const void *const *from, const uint32_t *bad);
int ptx_load_rows(Warp *w, uint32_t site, int space, const uint64_t *address, int count, int transposed,
                  void *const *into, uint32_t *bad);
int ptx_store_rows(Warp *w, uint32_t site, int space, const uint64_t *address, int count, int transposed,
                   const void *const *from, const uint32_t *bad);

/* ---- textures (mirrored in texture.py) ---------------------------------------------------------------- */

#define TEXTURE_MAGIC 0x7e87u
enum TexelKind { TEXEL_F32, TEXEL_F16, TEXEL_U8, TEXEL_S8, TEXEL_U16, TEXEL_S16, TEXEL_U32, TEXEL_S32 };
typedef struct Texture {
    uint64_t data;
    uint32_t magic, width, height, depth, layers, channels, kind, linear, normalised, values_normalised, mode[3];
    uint32_t pitch; /* bytes from row to row; 0: rows follow each other */
} Texture;
int ptx_texture(Warp *w, uint32_t site, uint32_t active, int dimensions, int integral, int as_float,
                const uint64_t *object, const uint32_t *layer, const uint32_t *const *coordinates, uint32_t *const *into);
int ptx_gather(Warp *w, uint32_t site, uint32_t active, int component, int as_float, const uint64_t *object,
               const uint32_t *const *coordinates, uint32_t *const *into);
enum SurfaceBoundary { SURFACE_ZERO, SURFACE_CLAMP, SURFACE_TRAP };
int ptx_surface(Warp *w, uint32_t site, uint32_t active, int dimensions, int boundary, uint32_t bytes,
                const uint64_t *object, const uint32_t *layer, const uint32_t *const *coordinates, uint64_t *address,
                uint32_t *inside);

/* ---- functions that the device provides -------------------------------------------------------------- */

int ptx_print(Warp *w, uint32_t site, uint32_t lanes, const uint64_t *format, const uint64_t *values);
int ptx_assert(Warp *w, uint32_t site, uint32_t lanes, const uint64_t *text, const uint64_t *file, const uint32_t *line,
               const uint64_t *function);
void ptx_allocate(Warp *w, uint32_t lanes, const uint64_t *bytes, uint64_t *into);
int ptx_release(Warp *w, uint32_t site, uint32_t lanes, const uint64_t *address);

/* ---- faults ------------------------------------------------------------------------------------------ */

int ptx_poison(Warp *w, uint32_t site, uint32_t lanes);
int ptx_trap(Warp *w, uint32_t site, int kind, uint64_t detail);
#endif
