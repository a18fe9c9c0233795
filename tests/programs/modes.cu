#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <unistd.h>
#include <sys/wait.h>
#include <cuda_runtime.h>

__constant__ float factor;
__device__ int counter;

__global__ void scale(const float *from, float *to, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        to[i] = factor * from[i];  // the line of the fault
        atomicAdd(&counter, 1);
    }
}

__global__ void say(int n) {
    if (threadIdx.x == 3) printf("thread %d of %d, %5.2f %s\n", (int)threadIdx.x, n, 0.5 * n, "done");
}

__global__ void deny(int n) { assert(n > 100); }

__global__ void endless(volatile int *flag) {
    while (!*flag) {}
}

__global__ void large() {
    extern __shared__ int room[];
    room[threadIdx.x] = threadIdx.x;
}

__global__ void twice(const int *from, int *to) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned mixed = from[i];
    for (int k = 0; k < 500; k++) mixed = mixed << 7 | mixed >> 25, mixed ^= k;
    for (int k = 499; k >= 0; k--) mixed ^= k, mixed = mixed >> 7 | mixed << 25;
    to[i] = 2 * mixed;
}

__global__ void grow(int *values) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    unsigned mixed = values[i];
    for (int k = 0; k < 500; k++) mixed = mixed << 7 | mixed >> 25, mixed ^= k;
    for (int k = 499; k >= 0; k--) mixed ^= k, mixed = mixed >> 7 | mixed << 25;
    values[i] = mixed + 50;
}

/* Much code, which takes a compiler long to optimise. */
#define STEP(k) mixed = mixed * 1664525u + k, mixed ^= mixed >> 13;
#define STEPS4(k) STEP(k) STEP(k + 1) STEP(k + 2) STEP(k + 3)
#define STEPS16(k) STEPS4(k) STEPS4(k + 4) STEPS4(k + 8) STEPS4(k + 12)
#define STEPS64(k) STEPS16(k) STEPS16(k + 16) STEPS16(k + 32) STEPS16(k + 48)
#define STEPS256(k) STEPS64(k) STEPS64(k + 64) STEPS64(k + 128) STEPS64(k + 192)
__host__ __device__ inline unsigned stirred(unsigned mixed, int n) {
    for (int i = 0; i < n; i++) { STEPS256(i) }
    return mixed;
}
__global__ void stir(unsigned *values, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    values[i] = stirred(i, n);
}

/* Halves of a block that meet at two barriers, one each, as many times: hardware counts who arrives. */
__global__ void meet(int *into) {
    __shared__ int seen[128];
    seen[threadIdx.x] = threadIdx.x;
    if (threadIdx.x < 64) {
        __syncthreads();
        into[threadIdx.x] = seen[threadIdx.x + 64] + 1;
        return;
    }
    __syncthreads();
    into[threadIdx.x] = seen[threadIdx.x - 64] * 3;
}

/* A graph made node by node: ones, scaled by three and moved, read back, counted by the host; then from other numbers. */
static void count_up(void *at) { ++*(int *)at; }
static int nodes() {
    const int n = 256;
    float *from, *to, back[n], three = 3.0f;
    int counted = 0, bad = 0, count = n;
    cudaMalloc(&from, 2 * n * sizeof(float)), cudaMalloc(&to, n * sizeof(float));
    cudaMemset(from + n, 0, n * sizeof(float));
    cudaMemcpyToSymbol(factor, &three, sizeof three);
    cudaGraph_t graph, copied;
    cudaGraphExec_t ready;
    cudaGraphNode_t filled, scaled, read, told;
    cudaGraphCreate(&graph, 0);
    cudaMemsetParams ones = {};
    ones.dst = from, ones.value = 0x3f800000, ones.elementSize = 4, ones.width = n, ones.height = 1;
    cudaGraphAddMemsetNode(&filled, graph, nullptr, 0, &ones);
    void *arguments[] = {&from, &to, &count};
    cudaKernelNodeParams launch = {};
    launch.func = (void *)scale, launch.gridDim = dim3(4), launch.blockDim = dim3(64), launch.kernelParams = arguments;
    cudaGraphAddKernelNode(&scaled, graph, &filled, 1, &launch);
    cudaGraphAddMemcpyNode1D(&read, graph, &scaled, 1, back, to, sizeof back, cudaMemcpyDeviceToHost);
    cudaHostNodeParams host = {};
    host.fn = count_up, host.userData = &counted;
    cudaGraphAddHostNode(&told, graph, &read, 1, &host);
    size_t many = 0;
    cudaGraphGetNodes(graph, nullptr, &many);
    cudaGraphClone(&copied, graph);
    if (many != 4 || counted || cudaGraphInstantiate(&ready, graph, 0)) return 2;
    for (int i = 0; i < 3; i++) cudaGraphLaunch(ready, 0);
    cudaDeviceSynchronize();
    for (int i = 0; i < n; i++) bad += back[i] != 3.0f;
    float *zeros = from + n;
    void *others[] = {&zeros, &to, &count};
    launch.kernelParams = others;
    if (cudaGraphExecKernelNodeSetParams(ready, scaled, &launch)) return 3;
    cudaGraphLaunch(ready, 0), cudaDeviceSynchronize();
    for (int i = 0; i < n; i++) bad += back[i] != 0.0f;
    puts(bad || counted != 4 ? "FAIL" : "PASS");
    return bad != 0;
}

/* Launches that repeat what is known already, and launches that only look like it. */
static int repeat() {
    const int n = 64 * 256, bytes = n * sizeof(int);
    int *from, *to, *seen, bad = 0;
    if (cudaMallocManaged(&from, bytes) || cudaMalloc(&to, bytes) || cudaMallocHost(&seen, bytes)) return 2;
    cudaMemset(to, 0, bytes);
    for (int i = 0; i < n; i++) from[i] = i;
    for (int k = 0; k < 10; k++) twice<<<64, 256>>>(from, to);
    cudaMemcpy(seen, to, bytes, cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++) bad += seen[i] != 2 * i;
    from[n - 1] = 7;  // by the host, in its own memory
    twice<<<64, 256>>>(from, to);
    cudaMemcpy(seen, to, bytes, cudaMemcpyDeviceToHost);
    bad += seen[n - 1] != 14;
    for (int k = 0; k < 3; k++) grow<<<64, 256>>>(to);
    cudaMemcpy(seen, to, bytes, cudaMemcpyDeviceToHost);
    for (int i = 0; i < n - 1; i++) bad += seen[i] != 2 * i + 150;
    for (int k = 0; k < 4; k++) {
        cudaMemset(to, 0, bytes);
        grow<<<64, 256>>>(to);
    }
    cudaMemcpy(seen, to, bytes, cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++) bad += seen[i] != 50;
    puts(bad ? "FAIL" : "PASS");
    return bad != 0;
}

static int run(int n, int launched) {
    float *from, *to, *host = (float *)malloc(n * sizeof(float)), two = 2.0f;
    int count = 0, bad = 0;
    for (int i = 0; i < n; i++) host[i] = i;
    if (cudaMalloc(&from, n * sizeof(float)) || cudaMalloc(&to, n * sizeof(float))) return 2;
    cudaMemcpy(from, host, n * sizeof(float), cudaMemcpyHostToDevice);
    cudaMemcpyToSymbol(factor, &two, sizeof two);
    scale<<<(launched + 255) / 256, 256>>>(from, to, launched);
    cudaError_t status = cudaDeviceSynchronize();
    if (status != cudaSuccess) return printf("%s\n", cudaGetErrorString(status)), 3;
    cudaMemcpy(host, to, n * sizeof(float), cudaMemcpyDeviceToHost);
    cudaMemcpyFromSymbol(&count, counter, sizeof count);
    for (int i = 0; i < n; i++) bad += host[i] != 2.0f * i;
    cudaFree(from);
    cudaFree(to);
    printf("%d numbers, %d counted: %s\n", n, count, bad ? "FAIL" : "PASS");
    return bad != 0;
}

int main(int argc, char **argv) {
    const char *mode = argc > 1 ? argv[1] : "pass";
    int n = argc > 2 ? atoi(argv[2]) : 1000;
    if (!strcmp(mode, "pass")) return run(n, n);
    if (!strcmp(mode, "fault")) return run(n, n + 100);
    if (!strcmp(mode, "repeat")) return repeat();
    if (!strcmp(mode, "nothing")) return 0;
    if (!strcmp(mode, "crash")) {
        scale<<<1, 32>>>(nullptr, nullptr, 0);
        *(volatile int *)nullptr = 1;
    }
    if (!strcmp(mode, "wrong")) return run(n, n / 2);
    if (!strcmp(mode, "short")) return run(n, n - 1);
    if (!strcmp(mode, "say")) say<<<1, 32>>>(n);
    if (!strcmp(mode, "endless")) {
        int *flag;
        cudaMalloc(&flag, sizeof *flag);
        cudaMemset(flag, 0, sizeof *flag);
        endless<<<1, 32>>>(flag);
    }
    if (!strcmp(mode, "stir")) {
        unsigned *values, back[64 * 64], bad = 0;
        cudaMalloc(&values, sizeof back);
        stir<<<64, 64>>>(values, n);
        cudaMemcpy(back, values, sizeof back, cudaMemcpyDeviceToHost);
        for (unsigned i = 0; i < 64 * 64; i++) bad += back[i] != stirred(i, n);
        return puts(bad ? "FAIL" : "PASS"), bad != 0;
    }
    if (!strcmp(mode, "meet")) {
        int *into, back[128], bad = 0;
        cudaMalloc(&into, sizeof back);
        meet<<<1, 128>>>(into);
        cudaMemcpy(back, into, sizeof back, cudaMemcpyDeviceToHost);
        for (int i = 0; i < 128; i++) bad += back[i] != (i < 64 ? i + 65 : 3 * (i - 64));
        return puts(bad ? "FAIL" : "PASS"), bad;
    }
    if (!strcmp(mode, "deny")) deny<<<2, 32>>>(n);
    if (!strcmp(mode, "ignored")) {
        run(n, n);
        cudaMemcpy((void *)16, &n, sizeof n, cudaMemcpyHostToDevice);
        return 0;
    }
    if (!strcmp(mode, "configuration")) scale<<<1, 4096>>>(nullptr, nullptr, 0);
    if (!strcmp(mode, "shared")) large<<<1, 32, 300000>>>();
    if (!strcmp(mode, "freed")) {
        float *gone;
        cudaMalloc(&gone, 4096);
        cudaFree(gone);
        scale<<<1, 32>>>(gone, gone, 32);
    }
    if (!strcmp(mode, "fork")) {
        pid_t child = fork();
        int status = run(n, n);
        if (child == 0) _exit(status);
        waitpid(child, &status, 0);
        return status;
    }
    if (!strcmp(mode, "unwaited") || !strcmp(mode, "waited") || !strcmp(mode, "graph")) {
        float *numbers, *host, two = 2.0f;
        cudaStream_t stream;
        cudaStreamCreate(&stream);
        cudaMalloc(&numbers, n * sizeof(float));
        cudaMallocHost(&host, n * sizeof(float));
        for (int i = 0; i < n; i++) host[i] = i;
        cudaMemcpyToSymbol(factor, &two, sizeof two);
        cudaGraph_t graph;
        cudaGraphExec_t ready;
        if (!strcmp(mode, "graph")) cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
        cudaMemcpyAsync(numbers, host, n * sizeof(float), cudaMemcpyHostToDevice, stream);
        scale<<<(n + 127) / 128, 128, 0, stream>>>(numbers, numbers, n);
        cudaMemcpyAsync(host, numbers, n * sizeof(float), cudaMemcpyDeviceToHost, stream);
        float wanted = 2.0f;
        if (!strcmp(mode, "graph")) {
            cudaStreamEndCapture(stream, &graph);
            cudaGraphInstantiate(&ready, graph, 0);
            if (host[n - 1] != n - 1) return puts("it ran while it was captured"), 1;
            for (int i = 0; i < 3; i++) cudaGraphLaunch(ready, stream);
            wanted = 8.0f;
        }
        if (strcmp(mode, "unwaited")) cudaStreamSynchronize(stream);
        int bad = 0;
        for (int i = 0; i < n; i++) bad += host[i] != wanted * i;
        puts(bad ? "FAIL" : "PASS");
        cudaDeviceSynchronize();
        return bad != 0;
    }
    if (!strcmp(mode, "nodes")) return nodes();
    if (!strcmp(mode, "occupancy")) {
        int grid = 0, block = 0;
        cudaError_t status = cudaOccupancyMaxPotentialBlockSize(&grid, &block, scale, 0, 128);
        printf("block of %d\n", block);
        if (status != cudaSuccess || grid < 1 || block != 128) return 1;
        return run(n, n);
    }
    if (!strcmp(mode, "managed")) {
        float *numbers;
        cudaEvent_t start, stop;
        cudaStream_t stream;
        float two = 2.0f, ms = -1;
        cudaStreamCreate(&stream);
        cudaEventCreate(&start);
        cudaEventCreate(&stop);
        cudaMallocManaged(&numbers, n * sizeof(float));
        for (int i = 0; i < n; i++) numbers[i] = i;
        cudaMemcpyToSymbol(factor, &two, sizeof two);
        cudaEventRecord(start, stream);
        scale<<<(n + 127) / 128, 128, 0, stream>>>(numbers, numbers, n);
        cudaEventRecord(stop, stream);
        cudaEventSynchronize(stop);
        cudaEventElapsedTime(&ms, start, stop);
        int bad = ms < 0;
        for (int i = 0; i < n; i++) bad += numbers[i] != 2.0f * i;
        cudaDeviceProp properties;
        cudaGetDeviceProperties(&properties, 0);
        printf("Time %f ms, %d threads at most: %s\n", ms, properties.maxThreadsPerBlock, bad ? "FAIL" : "PASS");
        return bad != 0;
    }
    cudaDeviceSynchronize();
    return 0;
}
