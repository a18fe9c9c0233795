// Typical errors of ports, one mode each: nvcc compiles the original, and what `PORT` marks is the port that is wrong.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <sys/time.h>
#include <unistd.h>
#ifdef __HIP__
#include <hip/hip_runtime.h>
#define PORT 1
#define call(name) hip##name
#define host_malloc(p, n) hipHostMalloc(p, n, 0)
#else
#include <cuda_runtime.h>
#define PORT 0
#define call(name) cuda##name
#define host_malloc(p, n) cudaMallocHost(p, n)
#endif

#define N 256

#if PORT
#define ballot(p) __ballot(p)
#define shuffle(v, from) __shfl(v, from)
#define shuffle_down(v, by) __shfl_down(v, by)
#define active() __ballot(1)
#define warp_barrier()
#define shuffle_among(m, v, from) __shfl(v, from)
#else
#define ballot(p) __ballot_sync(~0u, p)
#define shuffle(v, from) __shfl_sync(~0u, v, from)
#define shuffle_down(v, by) __shfl_down_sync(~0u, v, by)
#define active() __activemask()
#define warp_barrier() __syncwarp()
#define shuffle_among(m, v, from) __shfl_sync(m, v, from)
#endif

/* A ballot's 64 bits in 32. */
__global__ void ballot_in_int(int *to) {
    unsigned mask = ballot(threadIdx.x % 3 == 0);
    if (threadIdx.x % 32 == 0) to[threadIdx.x / 32] = __popc(mask);
}
/* A broadcast that crosses the halves. */
__global__ void shuffle_width(int *to) { to[threadIdx.x] = shuffle((int)threadIdx.x, 5); }
/* An exchange between lanes that nothing orders. */
__global__ void no_warp_barrier(int *to) {
    __shared__ int s[N];
    s[threadIdx.x] = threadIdx.x * 3;
    warp_barrier();
    to[threadIdx.x] = s[threadIdx.x ^ 1];
}
/* A slot for each lane, and 32 of them. */
__global__ void lane_slots(int *to) {
    __shared__ int slots[32], after[32];
    unsigned lane = threadIdx.x % warpSize;
    if (threadIdx.x < 32) after[threadIdx.x] = 1000 + threadIdx.x;
    __syncthreads();
    if (threadIdx.x < (unsigned)warpSize) slots[lane] = lane;
    __syncthreads();
    if (threadIdx.x < 32) to[threadIdx.x] = slots[threadIdx.x] + after[threadIdx.x];
}
/* Places by the lanes that are active, whose mask is an int. */
__global__ void aggregated(int *to, int *count) {
    if (threadIdx.x % 5 > 2) return;
    int mask = active(), lane = threadIdx.x % warpSize, leader = __ffs(mask) - 1, base = 0;
    if (lane == leader) base = atomicAdd(count, __popc(mask));
    base = shuffle_among(mask, base, leader);
    to[base + __popc(mask & ((1 << lane) - 1))] = 1;
}
/* Lanes of a mask one by one, found in 32 of its bits. */
__global__ void walk(int *to) {
    int sum = 0;
    for (auto mask = ballot(threadIdx.x % 7 == 0); mask; mask &= mask - 1) sum += __ffs((int)mask);
    to[threadIdx.x] = sum;
}
/* A tree that begins with 16, over a wavefront. */
__global__ void half_tree(int *to) {
    int v = threadIdx.x;
    for (int by = 16; by; by /= 2) v += shuffle_down(v, by);
    if (threadIdx.x % warpSize == 0) to[threadIdx.x / 32] = v, to[threadIdx.x / 32 + warpSize / 64] = v;
}
/* A counter of 16 bits. */
__device__ void add_short(unsigned short *at) {
#if PORT
    *at = *at + 1;
#else
    unsigned *word = (unsigned *)((size_t)at & ~(size_t)2), shift = ((size_t)at & 2) * 8, old = *word, seen;
    do {
        seen = old;
        old = atomicCAS(word, seen, (seen & ~(0xffffu << shift)) | (((seen >> shift) + 1 & 0xffffu) << shift));
    } while (old != seen);
#endif
}
__global__ void short_counters(unsigned short *to) { add_short(to + threadIdx.x % 2); }
/* Waves that nothing orders, in the order that favours them. */
__global__ void no_block_barrier(int *to) {
    __shared__ int s[N];
    s[threadIdx.x] = threadIdx.x * 3;
#if !PORT
    __syncthreads();
#endif
    if (threadIdx.x >= N / 2) to[threadIdx.x] = s[threadIdx.x - N / 2];
}
/* Near miss: the last 64 of a tree without a barrier, in one wavefront. */
__global__ void tail(int *to) {
    __shared__ volatile int s[N];
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    for (unsigned by = N / 2; by >= (PORT ? 64 : 1); by /= 2) {
        if (threadIdx.x < by) s[threadIdx.x] += s[threadIdx.x + by];
        __syncthreads();
    }
    if (PORT && threadIdx.x < 64)
        for (unsigned by = 32; by; by /= 2) s[threadIdx.x] += s[threadIdx.x + by];
    if (!threadIdx.x) to[0] = s[0];
}
__global__ void __launch_bounds__(256) bounded(int *to) { to[blockIdx.x * blockDim.x + threadIdx.x] = threadIdx.x; }
extern __shared__ int dynamic[];
__global__ void large_lds(int *to) {
    dynamic[threadIdx.x * 64] = threadIdx.x;
    __syncthreads();
    to[threadIdx.x] = dynamic[(N - 1 - threadIdx.x) * 64];
}
/* Near miss: numbers of eight bytes at an odd place, which gfx942 reads. */
__global__ void odd_places(double *to, int bytes) {
    char *space = (char *)dynamic;
    double *numbers = (double *)(space + (PORT ? bytes : (bytes + 7) / 8 * 8));
    numbers[threadIdx.x] = threadIdx.x;
    __syncthreads();
    to[threadIdx.x] = numbers[N - 1 - threadIdx.x];
}
__constant__ int first_table[N];
__constant__ int second_table[N];
__global__ void tables(int *to) { to[threadIdx.x] = first_table[threadIdx.x] * 2 + second_table[threadIdx.x]; }
__global__ void fill(int *to, int value) { to[threadIdx.x] = value + threadIdx.x; }
__global__ void sum(const int *from, int *to) { to[threadIdx.x] = from[threadIdx.x] + 1; }
/* Near miss: a wait by the clock. */
__global__ void waits(int *to) {
    long long begin = clock64();
    int turns = 0;
    while (clock64() - begin < 1000) turns++;
    to[threadIdx.x] = PORT ? turns > 0 : 1;
}
/* A total that every block adds to without an atomic. */
__global__ void block_total(int *to) {
    __shared__ int s;
    if (!threadIdx.x) s = 0;
    __syncthreads();
    atomicAdd(&s, (int)threadIdx.x);
    __syncthreads();
    if (threadIdx.x) return;
#if PORT
    *to += s;
#else
    atomicAdd(to, s);
#endif
}
/* A sum in memory that nobody cleared. */
__global__ void accumulate(int *to) { to[threadIdx.x] += threadIdx.x; }

static int *made, *other, seen[4 * N];

static void show(int count) {
    call(Memcpy)(seen, made, sizeof(int) * count, call(MemcpyDeviceToHost));
    for (int i = 0; i < count; i++) printf("%d%c", seen[i], i % 16 == 15 || i + 1 == count ? '\n' : ' ');
}

/* How long something takes, in units of 0.4 s, and nothing that says so. */
static int by_chrono() {
    auto begin = std::chrono::steady_clock::now();
    usleep(PORT ? 1200000 : 400000);
    return (int)(std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() / 0.4 + 0.5);
}
static int by_day() {
    timeval begin, end;
    gettimeofday(&begin, 0), usleep(PORT ? 1200000 : 400000), gettimeofday(&end, 0);
    return (int)((end.tv_sec - begin.tv_sec + 1e-6 * (end.tv_usec - begin.tv_usec)) / 0.4 + 0.5);
}
static int by_event() {
    call(Event_t) begin, end;
    float milliseconds;
    call(EventCreate)(&begin), call(EventCreate)(&end), call(EventRecord)(begin, 0);
    usleep(PORT ? 1200000 : 400000);
    call(EventRecord)(end, 0), call(EventSynchronize)(end), call(EventElapsedTime)(&milliseconds, begin, end);
    return (int)(milliseconds / 400 + 0.5f);
}

int main(int argc, char **argv) {
    const char *mode = argc > 1 ? argv[1] : "";
    if (call(Malloc)((void **)&made, 4 * N * sizeof(int)) || call(Malloc)((void **)&other, 4 * N * sizeof(int))) return 2;
    if (strcmp(mode, "accumulate") || !PORT) call(Memset)(made, 0, 4 * N * sizeof(int));
    call(Memset)(other, 0, 4 * N * sizeof(int));
    if (!strcmp(mode, "none")) return 3;
#define MODE(name) else if (!strcmp(mode, #name))
    MODE(ballot_in_int) ballot_in_int<<<1, N>>>(made);
    MODE(shuffle_width) shuffle_width<<<1, N>>>(made);
    MODE(no_warp_barrier) no_warp_barrier<<<1, N>>>(made);
    MODE(lane_slots) lane_slots<<<1, N>>>(made);
    MODE(aggregated) aggregated<<<1, N>>>(made, other);
    MODE(walk) walk<<<1, N>>>(made);
    MODE(half_tree) half_tree<<<1, N>>>(made);
    MODE(short_counters) short_counters<<<1, N>>>((unsigned short *)made);
    MODE(no_block_barrier) no_block_barrier<<<1, N>>>(made);
    MODE(tail) tail<<<1, N>>>(made);
    MODE(bounded) bounded<<<1, PORT ? 1024 : 256>>>(made);
    MODE(large_lds) {
#if !PORT
        cudaFuncSetAttribute(large_lds, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 * N * 4);
        large_lds<<<1, N, 64 * N * 4>>>(made);
#else
        large_lds<<<1, N, 96 * N * 4>>>(made);
#endif
    }
    MODE(odd_places) {
        odd_places<<<1, N, 8 * N + 64>>>((double *)made, 13);
    }
    MODE(tables) {
        for (int i = 0; i < N; i++) seen[i] = i;
        call(MemcpyToSymbol)(first_table, seen, sizeof(int) * N);
#if PORT
        call(MemcpyToSymbol)(first_table, seen, sizeof(int) * N);
#else
        call(MemcpyToSymbol)(second_table, seen, sizeof(int) * N);
#endif
        tables<<<1, N>>>(made);
    }
    MODE(two_streams) {
        call(Stream_t) first, second;
        call(StreamCreateWithFlags)(&first, call(StreamNonBlocking));
        call(StreamCreateWithFlags)(&second, call(StreamNonBlocking));
        fill<<<1, N, 0, first>>>(other, 7);
        if (!PORT) call(StreamSynchronize)(first);
        sum<<<1, N, 0, second>>>(other, made);
        call(DeviceSynchronize)();
    }
    MODE(no_wait) {
        call(Stream_t) stream;
        static int *pinned;
        host_malloc((void **)&pinned, sizeof(int) * N);
        call(StreamCreateWithFlags)(&stream, call(StreamNonBlocking));
        fill<<<1, N, 0, stream>>>(other, 7);
        call(MemcpyAsync)(pinned, other, sizeof(int) * N, call(MemcpyDeviceToHost), stream);
        if (!PORT) call(StreamSynchronize)(stream);
        call(Memcpy)(made, pinned, sizeof(int) * N, call(MemcpyHostToDevice));
    }
    MODE(waits) waits<<<1, N>>>(made);
    MODE(chrono) fill<<<1, N>>>(made, 1), printf("N %d, %d\n", N, by_chrono());
    MODE(day) fill<<<1, N>>>(made, 1), printf("N %d, %d\n", N, by_day());
    MODE(event) fill<<<1, N>>>(made, 1), printf("N %d, %d\n", N, by_event());
    MODE(beside) fill<<<1, N>>>(made, 1), printf("N %d, %d\n", N + PORT, by_chrono());
    MODE(block_total) block_total<<<8, N>>>(made);
    MODE(accumulate) accumulate<<<1, N>>>(made);
    else return 3;
    if (call(DeviceSynchronize)() != call(Success)) return 4;
    show(N);
    return 0;
}
