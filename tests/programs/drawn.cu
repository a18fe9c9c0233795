// Random numbers of device code: each call that cuRAND and hipRAND both have, and a program whose output hangs on them.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <curand_kernel.h>

template <class State>
__device__ void pseudo(State *s, double *to) {
    curand_init(1234ULL, threadIdx.x, 5ULL, s);
    to[0] = curand(s);
    to[1] = curand_uniform(s);
    to[2] = curand_uniform_double(s);
    to[3] = curand_normal(s);
    to[4] = curand_normal(s);
    to[5] = curand_normal_double(s);
    float2 two = curand_normal2(s);
    to[6] = two.x + 3.0 * two.y;
    double2 pair = curand_normal2_double(s);
    to[7] = pair.x + 3.0 * pair.y;
    to[8] = curand_log_normal(s, 0.5f, 0.25f);
    to[9] = curand_log_normal_double(s, 0.5, 0.25);
    to[10] = curand_log_normal2(s, 0.5f, 0.25f).y;
    to[11] = curand_log_normal2_double(s, 0.5, 0.25).x;
    to[12] = curand_poisson(s, 3.5);
    to[13] = curand_poisson(s, 900.0);
    to[14] = curand_poisson(s, 5000.0);
    skipahead(17ULL, s);
    to[15] = curand_uniform(s);
    skipahead_sequence(2ULL, s);
    to[16] = curand_uniform(s);
}

__device__ void quads(curandStatePhilox4_32_10_t *s, double *to) {
    uint4 whole = curand4(s);
    to[0] = whole.x ^ whole.y ^ whole.z ^ whole.w;
    float4 u = curand_uniform4(s);
    to[1] = u.x + 2 * u.y + 4 * u.z + 8 * u.w;
    double2 d = curand_uniform2_double(s);
    to[2] = d.x + 2 * d.y;
    float4 n = curand_normal4(s);
    to[3] = n.x + 2 * n.y + 4 * n.z + 8 * n.w;
    float4 l = curand_log_normal4(s, 0.0f, 0.5f);
    to[4] = l.x + 2 * l.y + 4 * l.z + 8 * l.w;
    uint4 p = curand_poisson4(s, 7.0);
    to[5] = p.x + 2 * p.y + 4 * p.z + 8 * p.w;
}

template <class State, class Word>
__device__ void quasi(State *s, Word *vectors, double *to) {
    curand_init(vectors, threadIdx.x, s);
    to[0] = curand(s);
    to[1] = curand_uniform(s);
    to[2] = curand_uniform_double(s);
    to[3] = curand_normal(s);
    to[4] = curand_normal_double(s);
    to[5] = curand_log_normal(s, 0.0f, 1.0f);
    skipahead(9u, s);
    to[6] = curand_uniform(s);
}

__global__ void every(double *out) {
    double *to = out + threadIdx.x * 71;
    curandState_t state;
    pseudo(&state, to);
    curandStatePhilox4_32_10_t philox;
    pseudo(&philox, to + 17);
    quads(&philox, to + 34);
    curandStateMRG32k3a_t mrg;
    pseudo(&mrg, to + 40);
    unsigned int vectors[32];
    for (int i = 0; i < 32; i++) vectors[i] = 1u << (31 - i) | (i ? 1u << (31 - i / 2) : 0);
    curandStateSobol32_t sobol;
    quasi(&sobol, vectors, to + 57);
    unsigned long long longer[64];
    for (int i = 0; i < 64; i++) longer[i] = 1ULL << (63 - i) | (i ? 1ULL << (63 - i / 2) : 0);
    curandStateSobol64_t sobol64;
    quasi(&sobol64, longer, to + 64);
}

// The share of darts within a quarter of a circle, by warps of 32: `wrong` loses the upper half of a wavefront.
__global__ void darts(unsigned *hits, int throws, int wrong) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    curandState s;
    curand_init(42, i, 0, &s);
    unsigned within = 0;
    for (int k = 0; k < throws; k++) {
        float x = curand_uniform(&s), y = curand_uniform(&s);
        within += x * x + y * y <= 1.0f;
    }
    if (!(wrong && (threadIdx.x & 63) > 31)) atomicAdd(hits, within);
}

__global__ void spread(float *out) {
    int i = threadIdx.x;
    curandStatePhilox4_32_10_t s;
    curand_init(7, i, 0, &s);
    double sum = 0, squares = 0;
    for (int k = 0; k < 1000; k++) {
        double n = curand_normal(&s);
        sum += n;
        squares += n * n;
    }
    out[i] = (float)(sum / 1000);
    out[64 + i] = (float)(squares / 1000);
}

int main(int argc, char **argv) {
    int mode = argc > 1 ? atoi(argv[1]) : 0;
    if (mode == 0) {
        double *out;
        cudaMallocManaged(&out, 64 * 71 * sizeof(double));
        every<<<1, 64>>>(out);
        cudaDeviceSynchronize();
        for (int i = 0; i < 64 * 71; i++) printf("%d.%d %.6g\n", i / 71, i % 71, out[i]);
    } else if (mode == 3) {
        float *out, sum = 0, squares = 0;
        cudaMallocManaged(&out, 128 * sizeof(float));
        spread<<<1, 64>>>(out);
        cudaDeviceSynchronize();
        for (int i = 0; i < 64; i++) sum += out[i] / 64, squares += out[64 + i] / 64;
        printf("%d %d\n", sum > -0.02f && sum < 0.02f, squares > 0.97f && squares < 1.03f);
    } else {
        unsigned *hits;
        cudaMallocManaged(&hits, sizeof *hits);
        *hits = 0;
        int wrong = mode == 2;
#ifdef __HIP_PLATFORM_AMD__
        darts<<<4, 256>>>(hits, 50, wrong);
#else
        darts<<<4, 256>>>(hits, 50, 0 * wrong);
#endif
        cudaDeviceSynchronize();
        printf("pi is about %.4f\n", 4.0 * *hits / (4 * 256 * 50));
    }
    return 0;
}
