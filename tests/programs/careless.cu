// Programs that are wrong in ways that a GPU may let pass, and their near misses: one mode each.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>

#define N 256

__managed__ int shared_count;

__global__ void fill(int *to, int value) { to[blockIdx.x * blockDim.x + threadIdx.x] = value; }
__global__ void add(int *to, int value) { to[blockIdx.x * blockDim.x + threadIdx.x] += value; }  // the line of the addition
__global__ void count(int *to) { atomicAdd(to, 1); }
__global__ void exchange(int *to) { atomicExch(to + threadIdx.x, (int)threadIdx.x); }
__global__ void copy(const int *from, int *to) { to[threadIdx.x] = from[threadIdx.x]; }
__global__ void count_shared() { atomicAdd(&shared_count, 1); }

/* Blocks that have no order. */
__global__ void block_sum(int *to) {
    if (!threadIdx.x) *to += blockIdx.x;  // the line of the sum
}
__global__ void block_store(int *to) {
    if (!threadIdx.x) *to = blockIdx.x;
}
__global__ void block_flag(int *to) {
    if (!threadIdx.x) *to = 7;
}
__global__ void block_bytes(char *to) {
    if (!threadIdx.x) to[blockIdx.x] = (char)blockIdx.x;
}
__global__ void block_own(int *to) {
    if (!threadIdx.x) to[blockIdx.x] += blockIdx.x;
}
__device__ unsigned int arrived;
__global__ void last_block(int *parts, int *to) {
    __shared__ bool last;
    if (!threadIdx.x) {
        parts[blockIdx.x] = blockIdx.x;
        __threadfence();
        last = atomicAdd(&arrived, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (!last || threadIdx.x) return;
    __threadfence();
    int sum = 0;
    for (unsigned i = 0; i < gridDim.x; i++) sum += ((volatile int *)parts)[i];
    *to = sum;
}
__device__ int lock;
__global__ void locked(int *to) {
    if (threadIdx.x) return;
    while (atomicCAS(&lock, 0, 1)) {}
    __threadfence();
    *to += blockIdx.x;
    __threadfence();
    atomicExch(&lock, 0);
}

/* Tiles in turns, each after the one before it: block 0 waits for the last block, which a GPU has alive beside it. */
__global__ void in_turns(volatile int *done, int tiles) {
    for (int i = blockIdx.x; i < tiles; i += gridDim.x) {
        if (!threadIdx.x) {
            while (i && done[i - 1] == 0) {}
            __threadfence();
            done[i] = i ? done[i - 1] + 1 : 1;
        }
        __syncthreads();
    }
}

/* A barrier of the whole grid by a counter, read as no loop that waits is known by: every block is needed, again and again. */
__device__ void everywhere(int *arrived, int rounds) {
    __syncthreads();
    if (!threadIdx.x) {
        __threadfence();
        atomicAdd(arrived, 1);
        while (__ldcg(arrived) < rounds * (int)gridDim.x) {}
    }
    __syncthreads();
}
__global__ void together(int *arrived, int *sums) {
    if (!threadIdx.x) sums[blockIdx.x] = blockIdx.x;
    everywhere(arrived, 1);
    int other = __ldcg(sums + (blockIdx.x + 1) % gridDim.x);
    everywhere(arrived, 2);
    if (!threadIdx.x) sums[blockIdx.x] += other;
}

/* With barriers in every round: block 0 waits for what the last block writes. */
__global__ void in_rounds(volatile int *done) {
    __shared__ int there;
    int seen;
    do {
        if (!threadIdx.x) {
            if (blockIdx.x == gridDim.x - 1) done[0] = 100;
            there = done[0];
        }
        __syncthreads();
        seen = there;
        __syncthreads();
    } while (!seen);
}

/* Objects that one kernel makes in the device's heap, and others use. */
struct Shape {
    int side;
    __device__ explicit Shape(int given) : side(given) {}
    __device__ virtual int area() const { return side * side; }
};
struct Cube : Shape {
    __device__ explicit Cube(int given) : Shape(given) {}
    __device__ int area() const override { return 6 * side * side; }
};
__device__ Shape *shapes[2];
__global__ void make_shapes() { shapes[0] = new Shape(3), shapes[1] = new Cube(2); }
__global__ void grow_shapes(int by) { shapes[threadIdx.x]->side += by; }
__global__ void measure(int *to) { to[threadIdx.x] = shapes[threadIdx.x]->area(); }
__global__ void drop_shapes() { delete shapes[0], delete shapes[1]; }

/* Blocks of the device's heap that hold what nothing wrote, all of it or a half. */
__global__ void sum_of_heap(int *to, int all) {
    int *block = (int *)malloc(N * sizeof(int)), sum = 0;
    for (int i = 0; i < (all ? N : N / 2); i++) block[i] = i;
    for (int i = 0; i < N; i++) sum += block[i];
    *to = sum, free(block);
}
__global__ void part_of_heap(int *to) {
    int *block = (int *)malloc(N * sizeof(int));
    block[7] = 7, *to = block[7], free(block);
}

static int *device(int cleared) {
    int *made;
    if (cudaMalloc(&made, N * sizeof(int))) exit(9);
    if (cleared) cudaMemset(made, 0, N * sizeof(int));
    return made;
}

static int heap() {
    int *areas = device(1), seen[2];
    make_shapes<<<1, 1>>>();
    for (int i = 0; i < 4; i++) grow_shapes<<<1, 2>>>(1);
    measure<<<1, 2>>>(areas), drop_shapes<<<1, 1>>>();
    cudaMemcpy(seen, areas, sizeof seen, cudaMemcpyDeviceToHost);
    return seen[0] == 49 && seen[1] == 216;
}

static void set(void *at) { *(int *)at += 1; }

static int *managed(size_t count) {
    int *made;
    if (cudaMallocManaged(&made, count * sizeof(int))) exit(9);
    return made;
}

/* Managed memory that the host wrote (`-1`, a part of it, and by a system call), a copy, a fill or a kernel. */
static int managed_written() {
    int *by_host = managed(N), *by_copy = managed(N), *by_fill = managed(N), *by_kernel = managed(N), *by_call = managed(N), *to = device(1), seen[N];
    for (int i = 0; i < N / 2; i++) by_host[i] = -1;
    cudaMemcpy(to, by_host, N / 2 * sizeof(int), cudaMemcpyDefault), cudaMemcpy(by_copy, to, N * sizeof(int), cudaMemcpyDefault);
    cudaMemset(by_fill, 0xff, N * sizeof(int));
    fill<<<1, N>>>(by_kernel, 1);
    FILE *zero = fopen("/dev/zero", "r");
    if (!zero || fread(by_call, sizeof(int), N, zero) != N) return 0;
    fclose(zero);
    add<<<1, N / 2>>>(by_host, 1), add<<<1, N>>>(by_copy, 1), add<<<1, N>>>(by_fill, 1), add<<<1, N>>>(by_kernel, 1), add<<<1, N>>>(by_call, 1);
    cudaMemcpy(seen, by_host, N / 2 * sizeof(int), cudaMemcpyDefault);
    return !seen[1] && !by_copy[1] && !by_fill[1] && by_kernel[1] == 2 && by_call[1] == 1;
}

/* What a host may do with memory that it shares with the device. */
static int shared() {
    int *managed, *pinned, *own = (int *)calloc(N, sizeof(int)), *all;
    if (cudaMallocManaged(&managed, N * sizeof(int)) || cudaMallocHost(&pinned, N * sizeof(int))) return 9;
    if (cudaHostRegister(own, N * sizeof(int), 0)) return 9;
    memset(managed, 0, N * sizeof(int)), memset(pinned, 0, N * sizeof(int)), shared_count = 5;
    count<<<2, 64>>>(managed), count<<<2, 64>>>(pinned), count<<<2, 64>>>(own), count_shared<<<2, 64>>>();
    cudaLaunchHostFunc(0, set, pinned);
    cudaDeviceSynchronize();
    all = device(1);
    add<<<1, N>>>(all, 3);
    cudaMemcpy(own + 1, all, sizeof(int), cudaMemcpyDeviceToHost);
    return *managed == 128 && *pinned == 129 && *own == 128 && own[1] == 3 && shared_count == 133;
}

/* What was written before it is read, in any way. */
static int written() {
    int *a = device(0), *b = device(0), *c = device(0), *d = device(0), host[N] = {0}, seen[N];
    fill<<<1, N>>>(a, 4), add<<<1, N>>>(a, 1);
    cudaMemcpy(b, a, sizeof host, cudaMemcpyDeviceToDevice), add<<<1, N>>>(b, 1);
    cudaMemcpy(c, host, sizeof host, cudaMemcpyHostToDevice), add<<<1, N>>>(c, 6);
    exchange<<<1, N>>>(d), copy<<<1, N>>>(d, a);
    cudaMemcpy(seen, b, sizeof seen, cudaMemcpyDeviceToHost);
    int bad = seen[N - 1] != 6;
    cudaMemcpy(seen, c, sizeof seen, cudaMemcpyDeviceToHost);
    bad += seen[N - 1] != 6;
    cudaMemcpy(seen, a, sizeof seen, cudaMemcpyDeviceToHost);
    cudaFree(a);
    return !bad && seen[N - 1] == N - 1;
}

int main(int count_of, char **words) {
    const char *mode = count_of > 1 ? words[1] : "";
    int *made = device(strcmp(mode, "accumulate") && strcmp(mode, "half") && strcmp(mode, "moved")), seen[N] = {0}, good = 1;
#define MODE(name) else if (!strcmp(mode, #name))
    if (!strcmp(mode, "shared")) good = shared();
    MODE(written) good = written();
    MODE(heap) good = heap();
    MODE(turns) {
        in_turns<<<8, 64>>>(made, 100);
        cudaMemcpy(seen, made, sizeof seen, cudaMemcpyDeviceToHost), good = seen[99] == 100;
    }
    MODE(together) {
        int blocks = 200;
        cudaMemset(made, 0, 4);
        together<<<blocks, 64>>>(made, made + 1);
        cudaMemcpy(seen, made + blocks, sizeof(int), cudaMemcpyDeviceToHost), good = seen[0] == blocks - 1;
    }
    MODE(rounds) {
        in_rounds<<<12, 128>>>(made);
        cudaMemcpy(seen, made, sizeof seen, cudaMemcpyDeviceToHost), good = seen[0] == 100;
    }
    MODE(read) { fill<<<1, N>>>(made, 5), cudaDeviceSynchronize(), good = made[3] == 5; }
    MODE(write) { memcpy(made, seen, sizeof seen), fill<<<1, N>>>(made, 5); }
    MODE(callback) { cudaLaunchHostFunc(0, set, made), fill<<<1, N>>>(made, 5); }
    MODE(accumulate) add<<<1, N>>>(made, 1);
    MODE(moved) { int *to = device(0); cudaMemcpy(to, made, sizeof seen, cudaMemcpyDeviceToDevice), add<<<1, N>>>(to, 1); }
    MODE(half) { fill<<<1, N / 2>>>(made, 1), cudaMemcpy(seen, made, sizeof seen, cudaMemcpyDeviceToHost); }
    MODE(heap_sum) sum_of_heap<<<1, 1>>>(made, 0);
    MODE(heap_all) sum_of_heap<<<1, 1>>>(made, 1);
    MODE(heap_part) part_of_heap<<<1, 1>>>(made);
    MODE(managed_sum) add<<<1, N>>>(managed(N), 1);
    MODE(managed_far) { int *far = managed(1 << 20); far[0] = 1, count<<<1, 1>>>(far), count<<<1, 1>>>(far + (1 << 19)); }
    MODE(managed_moved) { int *to = device(0); cudaMemcpy(to, managed(N), sizeof seen, cudaMemcpyDefault), add<<<1, N>>>(to, 1); }
    MODE(managed_written) good = managed_written();
    MODE(sum) block_sum<<<4, 64>>>(made);
    MODE(store) block_store<<<4, 64>>>(made);
    MODE(flag) block_flag<<<4, 64>>>(made);
    MODE(bytes) block_bytes<<<4, 64>>>((char *)made);
    MODE(own) block_own<<<4, 64>>>(made);
    MODE(atomic) count<<<4, 64>>>(made);
    MODE(last) last_block<<<4, 64>>>(made + 1, made);
    MODE(lock) locked<<<4, 64>>>(made);
    else return 9;
    good = good && !cudaDeviceSynchronize();
    puts(good ? "PASS" : "FAIL");
    return !good;
}
