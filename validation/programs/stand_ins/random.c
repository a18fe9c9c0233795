/* The host's calls of cuRAND and hipRAND. Every pseudo-random generator is Philox 4x32 with ten rounds, in its natural
 * order, whichever was asked for: the distributions are right, the numbers are not the vendor's. Quasi-random ones are
 * Sobol's, with the direction numbers of Joe and Kuo. */
#include "library.h"

#include <sys/mman.h>
#include <time.h>

#ifdef SIDE_CUDA
#define RANDOM(name) JOIN(curand, name)
enum { FIRST = 100 };
#else
#define RANDOM(name) JOIN(hiprand, name)
enum { FIRST = 400 };
#endif
enum { QUASI = FIRST + 100, SCRAMBLED_32 = QUASI + 2, SOBOL_64, SCRAMBLED_64 };
#define DEFINE(name) EXPORT int RANDOM(name)
enum { OK = 0, NOT_INITIALIZED = 101, ALLOCATION_FAILED = 102, TYPE_ERROR = 103, OUT_OF_RANGE = 104, LENGTH_NOT_MULTIPLE = 105, LAUNCH_FAILURE = 201, INTERNAL_ERROR = 999 };
enum { MOST_DIMENSIONS = 10 };

typedef struct Generator {
    int type, is_host, is_quasi, order;
    uint32_t dimensions;
    uint64_t seed, position; /* in words of 32 bits, or in points */
    void *stream;
} Generator;

static const struct {
    uint32_t degree, polynomial, first[5];
} joe_kuo[MOST_DIMENSIONS] = {
    {0}, {1, 0, {1}}, {2, 1, {1, 3}}, {3, 1, {1, 3, 1}}, {3, 2, {1, 1, 1}}, {4, 1, {1, 1, 3, 3}},
    {4, 4, {1, 3, 5, 13}}, {5, 2, {1, 1, 5, 5, 17}}, {5, 4, {1, 1, 5, 5, 5}}, {5, 7, {1, 1, 7, 11, 19}},
};

static void directions(uint32_t dimension, int bits, uint64_t *into) {
    uint32_t s = joe_kuo[dimension].degree, a = joe_kuo[dimension].polynomial;
    for (int i = 0; i < bits; i++) {
        uint64_t m = 1;
        if (s && i < (int)s) m = joe_kuo[dimension].first[i];
        into[i] = m << (bits - 1 - i);
        if (!s || i < (int)s) continue;
        into[i] = into[i - s] ^ into[i - s] >> s;
        for (uint32_t k = 1; k < s; k++)
            if (a >> (s - 1 - k) & 1) into[i] ^= into[i - k];
    }
}
static uint64_t sobol(uint64_t point, const uint64_t *direction, int bits) {
    uint64_t gray = point ^ point >> 1, value = 0;
    for (int i = 0; i < bits && gray >> i; i++)
        if (gray >> i & 1) value ^= direction[i];
    return value;
}

static void philox(uint64_t counter, uint64_t seed, uint32_t *v) {
    uint32_t k0 = (uint32_t)seed, k1 = (uint32_t)(seed >> 32);
    v[0] = (uint32_t)counter, v[1] = (uint32_t)(counter >> 32), v[2] = v[3] = 0;
    for (int round = 0; round < 10; round++, k0 += 0x9E3779B9u, k1 += 0xBB67AE85u) {
        uint64_t p = (uint64_t)0xD2511F53u * v[0], q = (uint64_t)0xCD9E8D57u * v[2];
        uint32_t next[] = {(uint32_t)(q >> 32) ^ v[1] ^ k0, (uint32_t)q, (uint32_t)(p >> 32) ^ v[3] ^ k1, (uint32_t)p};
        memcpy(v, next, sizeof next);
    }
}

/* ---- generators ------------------------------------------------------------------------------------------------- */

static int create(void **into, int type, int is_host) {
    int is_scrambled = type == SCRAMBLED_32 || type == SCRAMBLED_64;
    if (type < FIRST || type > SCRAMBLED_64) return TYPE_ERROR;
    if (is_scrambled) return porter_refuses(TEXT(RANDOM(CreateGenerator)), "scrambled Sobol"), TYPE_ERROR;
    Generator *made = calloc(1, sizeof *made);
    if (!made) return ALLOCATION_FAILED;
    *made = (Generator){.type = type, .is_host = is_host, .is_quasi = type >= QUASI, .dimensions = 1};
    if (!made->is_quasi) porter_notes(LIBRARY ": random numbers are those of Philox 4x32-10 whatever generator is asked for, not the vendor's sequence");
    *into = made;
    return OK;
}
DEFINE(CreateGenerator)(void **into, int type) { return create(into, type, 0); }
DEFINE(CreateGeneratorHost)(void **into, int type) { return create(into, type, 1); }
DEFINE(DestroyGenerator)(void *generator) { return generator ? free(generator), OK : NOT_INITIALIZED; }
DEFINE(SetStream)(void *generator, void *stream) { return generator ? ((Generator *)generator)->stream = stream, OK : NOT_INITIALIZED; }
DEFINE(SetPseudoRandomGeneratorSeed)(void *generator, unsigned long long seed) {
    Generator *g = generator;
    if (!g) return NOT_INITIALIZED;
    if (g->is_quasi) return TYPE_ERROR;
    g->seed = seed, g->position = 0;
    return OK;
}
DEFINE(SetGeneratorOffset)(void *generator, unsigned long long offset) { return generator ? ((Generator *)generator)->position = offset, OK : NOT_INITIALIZED; }
DEFINE(SetQuasiRandomGeneratorDimensions)(void *generator, unsigned count) {
    Generator *g = generator;
    if (!g) return NOT_INITIALIZED;
    if (!g->is_quasi) return TYPE_ERROR;
    if (!count) return OUT_OF_RANGE;
    if (count > MOST_DIMENSIONS) return porter_refuses(TEXT(RANDOM(SetQuasiRandomGeneratorDimensions)), "more than 10 dimensions"), INTERNAL_ERROR;
    g->dimensions = count;
    return OK;
}
DEFINE(GenerateSeeds)(void *generator) { return generator ? OK : NOT_INITIALIZED; }
DEFINE(GetVersion)(int *into) { return *into = 10400, OK; }
#ifdef SIDE_CUDA
DEFINE(SetGeneratorOrdering)(void *generator, int order) { return generator ? ((Generator *)generator)->order = order, OK : NOT_INITIALIZED; }
#endif

/* ---- numbers ---------------------------------------------------------------------------------------------------- */

enum Form { WORDS, LONGS, UNIFORM, UNIFORM_D, NORMAL, NORMAL_D, LOG_NORMAL, LOG_NORMAL_D, POISSON };
static const size_t form_bytes[] = {4, 8, 4, 8, 4, 8, 4, 8, 4};

typedef struct Source { /* words one after the other, a block kept */
    uint64_t seed, at, block;
    uint32_t words[4];
    int has_block;
} Source;

static uint32_t word(Source *s) {
    if (!s->has_block || s->block != s->at / 4) s->block = s->at / 4, s->has_block = 1, philox(s->block, s->seed, s->words);
    return s->words[s->at++ % 4];
}
static double unit32(uint32_t x) { return (x + 0.5) * 0x1p-32; }
static double unit64(uint64_t x) { return ((x >> 11) + 0.5) * 0x1p-53; }
static double unit(Source *s, int doubles) {
    if (!doubles) return unit32(word(s));
    uint64_t low = word(s);
    return unit64(low | (uint64_t)word(s) << 32);
}

static double quantile(double p) { /* of the normal distribution, by Newton's steps, none longer than 1 */
    double x = 0;
    for (int i = 0; i < 60; i++) {
        double error = 0.5 * erfc(-x * M_SQRT1_2) - p, slope = 0.3989422804014327 * exp(-0.5 * x * x), step = error / slope;
        if (!(fabs(step) < 1)) step = step > 0 ? 1 : -1;
        x -= step;
        if (fabs(step) < 1e-15 * (1 + fabs(x))) break;
    }
    return x;
}
static uint32_t poisson(Source *s, double rate) { /* many small ones make a large one */
    uint32_t count = 0;
    while (rate > 0) {
        double part = rate > 16 ? 16 : rate, product = 1, limit = exp(-part);
        while ((product *= unit(s, 1)) > limit) count++;
        rate -= part;
    }
    return count;
}

static void put(void *into, enum Form form, uint64_t i, double value) {
    if (form_bytes[form] == 8) ((double *)into)[i] = value;
    else ((float *)into)[i] = (float)value;
}

static void pseudo(Generator *g, enum Form form, void *into, uint64_t n, double mean, double deviation) {
    Source s = {.seed = g->seed, .at = g->position};
    int doubles = form_bytes[form] == 8;
    for (uint64_t i = 0; i < n; i++) {
        uint64_t low;
        switch (form) {
        case WORDS: ((uint32_t *)into)[i] = word(&s); break;
        case LONGS: low = word(&s), ((uint64_t *)into)[i] = low | (uint64_t)word(&s) << 32; break;
        case POISSON: ((uint32_t *)into)[i] = poisson(&s, mean); break;
        case UNIFORM: case UNIFORM_D: put(into, form, i, unit(&s, doubles)); break;
        default: {
            double length = sqrt(-2 * log(unit(&s, doubles))), angle = 2 * M_PI * unit(&s, doubles), pair[] = {length * sin(angle), length * cos(angle)};
            for (uint64_t k = 0; k < 2 && i + k < n; k++) {
                double value = mean + deviation * pair[k];
                put(into, form, i + k, form >= LOG_NORMAL ? exp(value) : value);
            }
            i++;
        }
        }
    }
    g->position = s.at;
}

static void quasi(Generator *g, enum Form form, void *into, uint64_t n, double mean, double deviation) {
    uint64_t direction[64], points = n / g->dimensions;
    int bits = g->type == SOBOL_64 ? 64 : 32;
    for (uint32_t d = 0; d < g->dimensions; d++) {
        directions(d, bits, direction);
        for (uint64_t i = 0; i < points; i++) {
            uint64_t value = sobol(g->position + i, direction, bits), at = d * points + i;
            double u = bits == 64 ? unit64(value) : unit32((uint32_t)value);
            if (form == WORDS) ((uint32_t *)into)[at] = (uint32_t)value;
            else if (form == LONGS) ((uint64_t *)into)[at] = value;
            else if (form == UNIFORM || form == UNIFORM_D) put(into, form, at, u);
            else put(into, form, at, form >= LOG_NORMAL ? exp(mean + deviation * quantile(u)) : mean + deviation * quantile(u));
        }
    }
    g->position += points;
}

static int generate(const char *call, void *generator, enum Form form, void *into, size_t n, double mean, double deviation) {
    Generator *g = generator;
    if (!g) return NOT_INITIALIZED;
    if (g->is_quasi && form == POISSON) return porter_refuses(call, "of a quasi-random generator"), TYPE_ERROR;
    if (g->is_quasi && n % g->dimensions) return LENGTH_NOT_MULTIPLE;
    if (!g->is_quasi && form >= NORMAL && form <= LOG_NORMAL_D && n % 2) return LENGTH_NOT_MULTIPLE;
    if (porter_answers(LIBRARY, call, g->stream)) return INTERNAL_ERROR;
    if (!g->is_host && porter_reaches(call, into, n * form_bytes[form])) return LAUNCH_FAILURE;
    (g->is_quasi ? quasi : pseudo)(g, form, into, n, mean, deviation);
    return OK;
}
#define PLAIN(name, form, type) \
    DEFINE(name)(void *g, type *into, size_t n) { return generate(TEXT(RANDOM(name)), g, form, into, n, 0, 1); }
#define SCALED(name, form, type) \
    DEFINE(name)(void *g, type *into, size_t n, type mean, type deviation) { return generate(TEXT(RANDOM(name)), g, form, into, n, mean, deviation); }
PLAIN(Generate, WORDS, unsigned)
PLAIN(GenerateLongLong, LONGS, unsigned long long)
PLAIN(GenerateUniform, UNIFORM, float)
PLAIN(GenerateUniformDouble, UNIFORM_D, double)
SCALED(GenerateNormal, NORMAL, float)
SCALED(GenerateNormalDouble, NORMAL_D, double)
SCALED(GenerateLogNormal, LOG_NORMAL, float)
SCALED(GenerateLogNormalDouble, LOG_NORMAL_D, double)
DEFINE(GeneratePoisson)(void *g, unsigned *into, size_t n, double rate) { return generate(TEXT(RANDOM(GeneratePoisson)), g, POISSON, into, n, rate, 0); }

/* ---- direction vectors: as many as there are, and no memory after them --------------------------------------------- */

static void *table(int bits) {
    size_t row = (size_t)bits * (bits / 8), page = 4096, bytes = (row * MOST_DIMENSIONS + page - 1) / page * page;
    char *room = mmap(NULL, bytes + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), *made;
    if (room == MAP_FAILED || mprotect(room + bytes, page, PROT_NONE)) return NULL;
    made = room + bytes - row * MOST_DIMENSIONS;
    for (uint32_t d = 0; d < MOST_DIMENSIONS; d++) {
        uint64_t direction[64];
        directions(d, bits, direction);
        for (int i = 0; i < bits; i++)
            if (bits == 64) ((uint64_t *)made)[d * 64 + i] = direction[i];
            else ((uint32_t *)made)[d * 32 + i] = (uint32_t)direction[i];
    }
    return made;
}
static int give_table(const char *call, void **into, int which, int bits) {
    static void *made[2];
    if (which != (bits == 64 ? 103 : 101)) return porter_refuses(call, "scrambled Sobol"), OUT_OF_RANGE;
    if (porter_answers(LIBRARY, call, NULL)) return INTERNAL_ERROR;
    porter_notes(LIBRARY ": direction vectors of 10 dimensions");
    if (!made[bits == 64]) made[bits == 64] = table(bits);
    *into = made[bits == 64];
    return *into ? OK : ALLOCATION_FAILED;
}
DEFINE(GetDirectionVectors32)(unsigned ***into, int which) { return give_table(TEXT(RANDOM(GetDirectionVectors32)), (void **)into, which, 32); }
DEFINE(GetDirectionVectors64)(unsigned long long ***into, int which) { return give_table(TEXT(RANDOM(GetDirectionVectors64)), (void **)into, which, 64); }
