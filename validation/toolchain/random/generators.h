/* One generator of random numbers for both sides of a comparison, under cuRAND's and under hipRAND's names.
 *
 * The two vendors' generators give other numbers for the same seed, so that nothing tells whether the rest of a port is
 * right. Compiled with these, original and port draw the same. The numbers are neither vendor's: they are made by mixing
 * a key (seed, sequence) with a position, so that to skip is to add. States have cuRAND's members, sizes and tags.
 * Sobol's sequences follow from their direction vectors. Not here: MTGP32, discrete distributions.
 *
 * RANDOM(rest): a name of the side. */

#if defined(__HIP__) || defined(__HIPCC__)
#define PORTER_DRAWS static inline __device__ __attribute__((always_inline, unused))
#else
#define PORTER_DRAWS static __forceinline__ __device__
#endif

typedef unsigned int porter_u32;
typedef unsigned long long porter_u64;

#define PORTER_NORMALS \
    int boxmuller_flag; \
    int boxmuller_flag_double; \
    float boxmuller_extra; \
    double boxmuller_extra_double;

struct RANDOM(StateXORWOW) {
    porter_u32 d, v[5];
    PORTER_NORMALS
};
struct RANDOM(StatePhilox4_32_10) {
    uint4 ctr, output;
    uint2 key;
    porter_u32 STATE;
    PORTER_NORMALS
};
struct RANDOM(StateMRG32k3a) {
    porter_u32 s1[3], s2[3];
    PORTER_NORMALS
};
typedef struct RANDOM(StateXORWOW) RANDOM(StateXORWOW_t), RANDOM(State_t), RANDOM(State);
typedef struct RANDOM(StatePhilox4_32_10) RANDOM(StatePhilox4_32_10_t);
typedef struct RANDOM(StateMRG32k3a) RANDOM(StateMRG32k3a_t);

struct porter_place {
    porter_u64 key, position;
};

PORTER_DRAWS porter_u64 porter_whole(porter_u32 low, porter_u32 high) { return (porter_u64)high << 32 | low; }

PORTER_DRAWS porter_place porter_load(const RANDOM(StateXORWOW_t) * s) {
    return {porter_whole(s->v[0], s->v[1]), porter_whole(s->d, s->v[2])};
}
PORTER_DRAWS void porter_store(RANDOM(StateXORWOW_t) * s, porter_place to) {
    s->v[0] = (porter_u32)to.key, s->v[1] = (porter_u32)(to.key >> 32);
    s->d = (porter_u32)to.position, s->v[2] = (porter_u32)(to.position >> 32);
}
PORTER_DRAWS void porter_clear(RANDOM(StateXORWOW_t) * s) { s->v[3] = s->v[4] = 0; }

PORTER_DRAWS porter_place porter_load(const RANDOM(StatePhilox4_32_10_t) * s) {
    return {porter_whole(s->key.x, s->key.y), porter_whole(s->ctr.x, s->ctr.y)};
}
PORTER_DRAWS void porter_store(RANDOM(StatePhilox4_32_10_t) * s, porter_place to) {
    s->key.x = (porter_u32)to.key, s->key.y = (porter_u32)(to.key >> 32);
    s->ctr.x = (porter_u32)to.position, s->ctr.y = (porter_u32)(to.position >> 32);
}
PORTER_DRAWS void porter_clear(RANDOM(StatePhilox4_32_10_t) * s) {
    s->ctr.z = s->ctr.w = s->STATE = 0;
    s->output.x = s->output.y = s->output.z = s->output.w = 0;
}

PORTER_DRAWS porter_place porter_load(const RANDOM(StateMRG32k3a_t) * s) {
    return {porter_whole(s->s1[0], s->s1[1]), porter_whole(s->s2[0], s->s2[1])};
}
PORTER_DRAWS void porter_store(RANDOM(StateMRG32k3a_t) * s, porter_place to) {
    s->s1[0] = (porter_u32)to.key, s->s1[1] = (porter_u32)(to.key >> 32);
    s->s2[0] = (porter_u32)to.position, s->s2[1] = (porter_u32)(to.position >> 32);
}
PORTER_DRAWS void porter_clear(RANDOM(StateMRG32k3a_t) * s) { s->s1[2] = s->s2[2] = 0; }

/* The finaliser of splitmix64 (Steele, Lea and Flood, 2014). */
PORTER_DRAWS porter_u64 porter_mix(porter_u64 z) {
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
}

#define PORTER_SEQUENCE 0x9e3779b97f4a7c15ULL
#define PORTER_SUBSEQUENCE 0xd1342543de82ef95ULL

template <class State>
PORTER_DRAWS porter_u64 porter_next(State *s) {
    porter_place at = porter_load(s);
    at.position++;
    porter_store(s, at);
    return porter_mix(porter_mix(at.position * PORTER_SEQUENCE) + at.key);
}

template <class State>
PORTER_DRAWS void porter_skip(porter_u64 n, porter_u64 sequences, State *s) {
    porter_place at = porter_load(s);
    at.position += n;
    at.key += sequences;
    porter_store(s, at);
}

PORTER_DRAWS float porter_uniform(porter_u32 x) { return x * 2.3283064e-10f + 2.3283064e-10f / 2.0f; }
PORTER_DRAWS double porter_uniform(porter_u64 x) {
    return (x >> 11) * 1.1102230246251565e-16 + 1.1102230246251565e-16 / 2.0;
}

template <class State>
PORTER_DRAWS float porter_draw(State *s, float) {
    return porter_uniform((porter_u32)(porter_next(s) >> 32));
}
template <class State>
PORTER_DRAWS double porter_draw(State *s, double) {
    return porter_uniform(porter_next(s));
}

/* Box and Muller's two normals of two uniforms. */
template <class State>
PORTER_DRAWS float2 porter_pair(State *s, float kind) {
    float r = sqrtf(-2.0f * logf(porter_draw(s, kind))), sine, cosine;
    sincosf(6.2831855f * porter_draw(s, kind), &sine, &cosine);
    return make_float2(r * sine, r * cosine);
}
template <class State>
PORTER_DRAWS double2 porter_pair(State *s, double kind) {
    double r = sqrt(-2.0 * log(porter_draw(s, kind))), sine, cosine;
    sincos(6.283185307179586 * porter_draw(s, kind), &sine, &cosine);
    return make_double2(r * sine, r * cosine);
}

/* Up to 4000 exact, as a sum of small ones by Knuth's products; beyond by a normal, as the vendors do. */
template <class State>
PORTER_DRAWS porter_u32 porter_poisson(State *s, double lambda) {
    porter_u32 count = 0;
    if (lambda > 4000.0) {
        double near = lambda + sqrt(lambda) * porter_pair(s, 0.0).x + 0.5;
        return near > 0.0 ? (porter_u32)near : 0;
    }
    for (double rest = lambda; rest > 0.0; rest -= 16.0) {
        double limit = exp(-(rest < 16.0 ? rest : 16.0)), product = porter_draw(s, 0.0);
        for (; product > limit; product *= porter_draw(s, 0.0)) count++;
    }
    return count;
}

#define PORTER_GENERATOR(State) \
    PORTER_DRAWS void RANDOM(_init)(porter_u64 seed, porter_u64 sequence, porter_u64 offset, State *s) { \
        porter_clear(s); \
        porter_store(s, porter_place{porter_mix(seed + PORTER_SEQUENCE) + sequence * PORTER_SEQUENCE, offset}); \
        s->boxmuller_flag = s->boxmuller_flag_double = 0; \
        s->boxmuller_extra = 0.0f; \
        s->boxmuller_extra_double = 0.0; \
    } \
    PORTER_DRAWS void skipahead(porter_u64 n, State *s) { porter_skip(n, 0, s); } \
    PORTER_DRAWS void skipahead_sequence(porter_u64 n, State *s) { porter_skip(0, n * PORTER_SEQUENCE, s); } \
    PORTER_DRAWS void skipahead_subsequence(porter_u64 n, State *s) { porter_skip(0, n * PORTER_SUBSEQUENCE, s); } \
    PORTER_DRAWS porter_u32 RANDOM()(State *s) { return (porter_u32)(porter_next(s) >> 32); } \
    PORTER_DRAWS float RANDOM(_uniform)(State *s) { return porter_draw(s, 0.0f); } \
    PORTER_DRAWS double RANDOM(_uniform_double)(State *s) { return porter_draw(s, 0.0); } \
    PORTER_DRAWS float2 RANDOM(_normal2)(State *s) { return porter_pair(s, 0.0f); } \
    PORTER_DRAWS double2 RANDOM(_normal2_double)(State *s) { return porter_pair(s, 0.0); } \
    PORTER_DRAWS float RANDOM(_normal)(State *s) { \
        if (s->boxmuller_flag) { \
            s->boxmuller_flag = 0; \
            return s->boxmuller_extra; \
        } \
        float2 two = porter_pair(s, 0.0f); \
        s->boxmuller_flag = 1; \
        s->boxmuller_extra = two.y; \
        return two.x; \
    } \
    PORTER_DRAWS double RANDOM(_normal_double)(State *s) { \
        if (s->boxmuller_flag_double) { \
            s->boxmuller_flag_double = 0; \
            return s->boxmuller_extra_double; \
        } \
        double2 two = porter_pair(s, 0.0); \
        s->boxmuller_flag_double = 1; \
        s->boxmuller_extra_double = two.y; \
        return two.x; \
    } \
    PORTER_DRAWS float2 RANDOM(_log_normal2)(State *s, float mean, float stddev) { \
        float2 two = porter_pair(s, 0.0f); \
        return make_float2(expf(mean + stddev * two.x), expf(mean + stddev * two.y)); \
    } \
    PORTER_DRAWS double2 RANDOM(_log_normal2_double)(State *s, double mean, double stddev) { \
        double2 two = porter_pair(s, 0.0); \
        return make_double2(exp(mean + stddev * two.x), exp(mean + stddev * two.y)); \
    } \
    PORTER_DRAWS porter_u32 RANDOM(_poisson)(State *s, double lambda) { return porter_poisson(s, lambda); } \
    PORTER_LOG_NORMAL(State)

#define PORTER_LOG_NORMAL(State) \
    PORTER_DRAWS float RANDOM(_log_normal)(State *s, float mean, float stddev) { \
        return expf(mean + stddev * RANDOM(_normal)(s)); \
    } \
    PORTER_DRAWS double RANDOM(_log_normal_double)(State *s, double mean, double stddev) { \
        return exp(mean + stddev * RANDOM(_normal_double)(s)); \
    }

PORTER_GENERATOR(RANDOM(StateXORWOW_t))
PORTER_GENERATOR(RANDOM(StatePhilox4_32_10_t))
PORTER_GENERATOR(RANDOM(StateMRG32k3a_t))

/* Groups of four, and doubles by twos, have Philox's state alone. */
PORTER_DRAWS uint4 RANDOM(4)(RANDOM(StatePhilox4_32_10_t) * s) {
    porter_u32 a = RANDOM()(s), b = RANDOM()(s), c = RANDOM()(s);
    return make_uint4(a, b, c, RANDOM()(s));
}
PORTER_DRAWS float4 RANDOM(_uniform4)(RANDOM(StatePhilox4_32_10_t) * s) {
    uint4 x = RANDOM(4)(s);
    return make_float4(porter_uniform(x.x), porter_uniform(x.y), porter_uniform(x.z), porter_uniform(x.w));
}
PORTER_DRAWS double2 RANDOM(_uniform2_double)(RANDOM(StatePhilox4_32_10_t) * s) {
    double x = porter_draw(s, 0.0);
    return make_double2(x, porter_draw(s, 0.0));
}
PORTER_DRAWS double4 RANDOM(_uniform4_double)(RANDOM(StatePhilox4_32_10_t) * s) {
    double2 x = RANDOM(_uniform2_double)(s), y = RANDOM(_uniform2_double)(s);
    return double4{x.x, x.y, y.x, y.y};
}
PORTER_DRAWS float4 RANDOM(_normal4)(RANDOM(StatePhilox4_32_10_t) * s) {
    float2 x = porter_pair(s, 0.0f), y = porter_pair(s, 0.0f);
    return make_float4(x.x, x.y, y.x, y.y);
}
PORTER_DRAWS double4 RANDOM(_normal4_double)(RANDOM(StatePhilox4_32_10_t) * s) {
    double2 x = porter_pair(s, 0.0), y = porter_pair(s, 0.0);
    return double4{x.x, x.y, y.x, y.y};
}
PORTER_DRAWS float4 RANDOM(_log_normal4)(RANDOM(StatePhilox4_32_10_t) * s, float mean, float stddev) {
    float2 x = RANDOM(_log_normal2)(s, mean, stddev), y = RANDOM(_log_normal2)(s, mean, stddev);
    return make_float4(x.x, x.y, y.x, y.y);
}
PORTER_DRAWS double4 RANDOM(_log_normal4_double)(RANDOM(StatePhilox4_32_10_t) * s, double mean, double stddev) {
    double2 x = RANDOM(_log_normal2_double)(s, mean, stddev), y = RANDOM(_log_normal2_double)(s, mean, stddev);
    return double4{x.x, x.y, y.x, y.y};
}
PORTER_DRAWS uint4 RANDOM(_poisson4)(RANDOM(StatePhilox4_32_10_t) * s, double lambda) {
    porter_u32 a = porter_poisson(s, lambda), b = porter_poisson(s, lambda), c = porter_poisson(s, lambda);
    return make_uint4(a, b, c, porter_poisson(s, lambda));
}

/* Sobol's sequences by Gray codes, and normals by the inverse of their distribution: one number of one. */
PORTER_DRAWS int porter_lowest_zero(porter_u32 i) { return i == ~0u ? 0 : __ffs((int)~i) - 1; }
PORTER_DRAWS int porter_lowest_zero(porter_u64 i) { return i == ~0ULL ? 0 : __ffsll((long long)~i) - 1; }

#define PORTER_QUASI(Name, Word, Bits) \
    struct RANDOM(Name) { \
        Word i, x, c; \
        Word direction_vectors[Bits]; \
    }; \
    typedef struct RANDOM(Name) RANDOM(Name##_t); \
    PORTER_DRAWS void porter_walk(Word to, RANDOM(Name) * s) { \
        s->i = to; \
        s->x = s->c; \
        for (int bit = 0; bit < Bits; bit++) \
            if ((to ^ to >> 1) >> bit & 1) s->x ^= s->direction_vectors[bit]; \
    } \
    PORTER_DRAWS void porter_begin(const Word *vectors, Word scramble, Word offset, RANDOM(Name) * s) { \
        for (int bit = 0; bit < Bits; bit++) s->direction_vectors[bit] = vectors[bit]; \
        s->c = scramble; \
        porter_walk(offset, s); \
    } \
    PORTER_DRAWS void skipahead(porter_u64 n, RANDOM(Name) * s) { porter_walk((Word)(s->i + n), s); } \
    PORTER_DRAWS Word RANDOM()(RANDOM(Name) * s) { \
        Word x = s->x; \
        s->x ^= s->direction_vectors[porter_lowest_zero(s->i)]; \
        s->i++; \
        return x; \
    } \
    PORTER_DRAWS float RANDOM(_uniform)(RANDOM(Name) * s) { \
        return porter_uniform((porter_u32)(RANDOM()(s) >> (Bits - 32))); \
    } \
    PORTER_DRAWS double RANDOM(_uniform_double)(RANDOM(Name) * s) { \
        return porter_uniform((porter_u64)RANDOM()(s) << (64 - Bits)); \
    } \
    PORTER_DRAWS float RANDOM(_normal)(RANDOM(Name) * s) { return normcdfinvf(RANDOM(_uniform)(s)); } \
    PORTER_DRAWS double RANDOM(_normal_double)(RANDOM(Name) * s) { return normcdfinv(RANDOM(_uniform_double)(s)); } \
    PORTER_LOG_NORMAL(RANDOM(Name))

#define PORTER_SOBOL(Name, Word, Bits) \
    PORTER_QUASI(Name, Word, Bits) \
    PORTER_DRAWS void RANDOM(_init)(const Word *vectors, porter_u64 offset, RANDOM(Name) * s) { \
        porter_begin(vectors, 0, (Word)offset, s); \
    }
#define PORTER_SCRAMBLED(Name, Word, Bits) \
    PORTER_QUASI(Name, Word, Bits) \
    PORTER_DRAWS void RANDOM(_init)(const Word *vectors, Word scramble, porter_u64 offset, RANDOM(Name) * s) { \
        porter_begin(vectors, scramble, (Word)offset, s); \
    }

PORTER_SOBOL(StateSobol32, porter_u32, 32)
PORTER_SOBOL(StateSobol64, porter_u64, 64)
PORTER_SCRAMBLED(StateScrambledSobol32, porter_u32, 32)
PORTER_SCRAMBLED(StateScrambledSobol64, porter_u64, 64)
