/* The host side of a virtual device inside a program: what libcudart and libamdhip64 stand for.
 *
 * One library holds the device's runtime (core, and the *.c of one device) and these files, compiled with -DSIDE_CUDA
 * (32 lanes) or -DSIDE_HIP (64). Everything runs at once and in order under one lock; device addresses are host
 * addresses inside one reserved range. */
#ifndef PORTER_HOST_H
#define PORTER_HOST_H

#include "runtime.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#if defined SIDE_CUDA
#define API(name) cuda##name
#define SIDE "cuda"
#elif defined SIDE_HIP
#define API(name) hip##name
#define SIDE "hip"
#else
#error "compile with -DSIDE_CUDA or -DSIDE_HIP"
#endif
#define EXPORT __attribute__((visibility("default")))

/* Both vendors number these alike. */
enum Status {
    OK = 0, INVALID_VALUE = 1, OUT_OF_MEMORY = 2, INVALID_CONFIGURATION = 9, INVALID_SYMBOL = 13,
    INVALID_DIRECTION = 21, INVALID_FUNCTION = 98, INVALID_DEVICE = 101, NO_IMAGE = 209, CONTEXT_IN_USE = 216, BAD_HANDLE = 400,
    NOT_FOUND = 500, NOT_READY = 600, ILLEGAL_ADDRESS = 700, OUT_OF_RESOURCES = 701, PEER_ENABLED = 704,
    PEER_NOT_ENABLED = 705, ASSERTED = 710, REGISTERED = 712, NOT_REGISTERED = 713, LAUNCH_FAILED = 719,
    TOO_LARGE = 720, NOT_SUPPORTED = 801, UNKNOWN = 999,
};

/* How the process ends when the device, and not the program, says so; `porter run` knows them (run.py). */
enum Ending { END_FAULT = 120, END_UNSUPPORTED = 121, END_TOO_LONG = 124, END_BROKEN = 125 };

typedef struct Dim {
    uint32_t x, y, z;
} Dim;

/* ---- digest.c ---- */

void digest_of(const void *content, size_t size, char *text); /* SHA-256, 64 digits and a zero */

/* ---- memory.c ---- */

enum Sort { SORT_DEVICE, SORT_MANAGED, SORT_PINNED, SORT_REGISTERED, SORT_SYMBOL, SORT_OWN };
typedef struct Detail { /* by Allocation.id */
    enum Sort sort;
    uint32_t number, device, flags, told; /* number: of its sort, counted from 1 */
    const char *name;
    size_t pitch;
    uint64_t hash; /* of the content before a launch that is traced */
} Detail;

extern const char *const sort_names[];
void memory_start(void);
uint64_t memory_total(void);
uint64_t memory_used(void);
void *memory_allocate(size_t bytes, enum Sort, uint32_t state, const char *name); /* null: nothing left */
uint64_t memory_reserve(size_t bytes);
void memory_place(uint64_t base, size_t bytes, enum Sort, uint32_t state, const char *name);
int memory_release(void *, enum Sort); /* status */
int memory_register(void *, size_t bytes);
int memory_unregister(void *);
Allocation *memory_find(const void *); /* the allocation around an address, freed ones too */
Detail *memory_detail(const Allocation *);
const Allocation *memory_table(uint32_t *count);
Heap *memory_heap(void);
Heap *memory_heap_made(void);
void memory_describe(uint64_t address, char *text, size_t room);
int memory_is_ours(const void *); /* inside the reserved range */
int memory_is_closed(const void *); /* the host may not touch it */
void memory_allow(int allowed);     /* this thread may, for now */
void memory_open(void);             /* everybody may, from now on */
void memory_share(const Allocation *);
void memory_fresh(void *, size_t bytes, enum Sort); /* these do something where it is followed what nothing wrote */
void memory_wrote(const void *, size_t bytes);
void memory_moved(const void *to, const void *from, size_t bytes);
void memory_shown(const char *call, const void *from, size_t bytes);
void memory_follow(Launch *);

/* ---- module.c ---- */

typedef struct Parameter {
    uint32_t offset, size;
    char hidden[32]; /* value kind of an implicit argument; empty for those a caller passes */
} Parameter;

typedef struct SiteText {
    const char *text, *file; /* null: no line information */
    uint32_t line, assembly;
} SiteText;

typedef struct Kernel {
    struct Kernel *next;
    const char *name, *shown;
    void *init, *step, *library;
    uint32_t wave_bytes, level, lanes, shared, private_bytes, max_threads, uses_heap;
    uint32_t segment_count, site_count, argument_bytes, parameter_count, symbol_count, private_segment;
    uint32_t *site_lines, *weights; /* weights, by segment: vector instructions in it */
    SiteText *site_texts;
    Parameter *parameters;
    uint64_t *symbols;
    char **symbol_names;
    SiteCount *sites;
    SegmentCount *segments;
    uint64_t *divergence;
    uint64_t launches, lane_instructions, blocks, known, recorded; /* known: launches that did not have to run */
    double seconds;
    int registers;
    uint32_t asked_for; /* the level of code */
    double better_since;  /* seconds that it had run when it got the code that it has */
    struct Module *module;
    char path[512];
} Kernel;

typedef struct Variable {
    const char *name;
    uint64_t address;
    size_t size;
} Variable;

typedef struct Module {
    struct Module *next;
    const void **blobs; /* as registered; several when it was linked from several */
    size_t *sizes;
    uint32_t blob_count, capability;
    char key[40];
    int loaded;     /* 1: yes, -1: cannot be */
    int is_written; /* for the helper */
    int unloaded;
    char *reason;
    Kernel *kernels;
    Variable *variables;
    uint32_t variable_count;
    char **names; /* of the kernels in it */
    uint32_t name_count;
} Module;

typedef struct Function { /* what the program knows a kernel by */
    const void *host;
    const char *name;
    Module *module;
    Kernel *kernel;
    uint32_t dynamic_limit;
} Function;

char *read_whole(const char *path, size_t *size);                        /* null, or to be freed */
char *read_sealed(const char *path);                                     /* of what the helper wrote */
char *line_of(char *text, const char *key);
int has_digest(const char *content, size_t size, const char *wanted);
char *ask_helper(const char *what, const char *key, const char *rest);   /* null: done; else why not */
Module *module_add(const void *const *blobs, const size_t *sizes, uint32_t count);
int module_load(Module *);
Variable *module_variable(Module *, const char *name);
Kernel *module_kernel(Module *, const char *name); /* null: see module->reason */
enum { BEST = 2 }; /* level of code: how the compiler optimises it */
int kernel_better(Kernel *);
Function *function_add(Module *, const void *host, const char *name);
Function *function_find(const void *host);
void symbol_add(Module *, const void *host, const char *name, void **managed, size_t size);
int symbol_find(const void *host, uint64_t *address, size_t *size); /* status */
void symbols_manage(Module *);
uint32_t modules_capability(void);
void forget_launches(void);
const Kernel *kernels_next(const Kernel *); /* walks over all that were loaded */
const char *shown_name(const char *mangled);

/* ---- launch.c ---- */

typedef struct Request {
    Kernel *kernel;
    Dim grid, block;
    void **arguments;      /* one pointer each, or */
    const void *packed;    /* all in a row */
    size_t packed_bytes, shared;
    int cooperative;
    uint32_t dynamic_limit;
} Request;
int launch(const Request *); /* status */
int watching_thread(void);   /* the runtime's own, that looks at a launch from time to time; 0: none */

/* ---- known.c ---- */

int known_before(const Request *, const void *arguments); /* 1: memory is as the launch leaves it */
void known_after(const Request *);

/* ---- trace.c ---- */

void trace_before(void);
void trace_after(const Request *);

/* ---- profile.c ---- */

void profile_before(const Request *, Launch *);
void profile_after(const Request *, const Launch *);

/* ---- printed.c ---- */

void print_messages(const Launch *, char *assertion, size_t room);

/* ---- report.c ---- */

extern struct Settings {
    const char *folder, *python, *report, *trace, *profile;
    uint32_t threads, schedule, races, poison, guard, stop_at_fault, capability, devices, delay, every, multiprocessors, as_the_port;
    uint64_t budget, device_memory;
} settings;
void report_start(void);
void note(const char *format, ...);             /* once per text, kept for the report */
int refuse(const char *name, const char *what); /* a call that is not implemented: kept, and NOT_SUPPORTED */
void unsupported_kernel(const char *name, const char *reason);
void fault_happened(const char *kind, const char *kernel, const char *text, const char *file, uint32_t line, const uint32_t *block,
                    uint32_t lane);
_Noreturn void end_process(enum Ending, const char *format, ...);
int failed_call(const char *call, int status, const char *why); /* keeps and gives back the status */
void report_running(const char *kernel); /* null: none */
void report_launch(uint64_t lane_instructions, double seconds, int known);
void report_printed(void);
void stand_in(const char *library, const char *name);

/* ---- state of the calls (api.c) ---- */

extern pthread_mutex_t the_lock;
void ready(void); /* first call of all */
double seconds_now(void);
#define LOCKED __attribute__((cleanup(unlock_), unused)) int locked_ = lock_()
int lock_(void);
void unlock_(int *);
void lend(int given);                            /* device memory stays open to this thread until its next call */
void call_back(void (*call)(void *), void *data); /* the program's own code */
int fail(const char *call, int status, const char *format, ...);
int sticky(void);
void set_sticky(int status);
void keep_error(int status);
const char *status_name(int);
const char *status_text(int);
#endif
