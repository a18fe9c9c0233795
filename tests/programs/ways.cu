// Ways in which programs use a device, and ways in which they end; the same file is a library that it can load.
#include <cooperative_groups.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <string>
#include <thread>
#include <vector>

static void check(int status, const char *what) {
    if (status) std::printf("status %d: %s\n", status, what), std::exit(1);
}
#define OK(call) check((int)(call), #call)
static int said(int bad) { return std::puts(bad ? "FAIL" : "PASS"), bad != 0; }

__global__ void add(int *at, int n, int more) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) at[i] += more;
}
__global__ void around(const int *from, int *to, int n) { // every block reads what others wrote
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    to[i] = from[i] + 1;
    cooperative_groups::this_grid().sync();
    int next = to[(i + blockDim.x) % n];
    cooperative_groups::this_grid().sync();
    to[i] = next;
}
struct Node {
    Node *next;
    int value;
};
__global__ void chain(Node **lists, int n) { // lists on the device's own heap
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < n; k++) {
        Node *made = (Node *)malloc(sizeof(Node));
        if (!made) return;
        made->next = lists[i], made->value = i + k;
        lists[i] = made;
    }
}
__global__ void unchain(Node **lists, int *sums) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (Node *node = lists[i], *next; node; node = next) next = node->next, sums[i] += node->value, free(node);
}
__global__ void race(int *at) { at[0] = threadIdx.x + blockIdx.x; }
__global__ void unset(int *to) {
    __shared__ int room[32];
    if (threadIdx.x < 8) room[threadIdx.x] = threadIdx.x;
    __syncthreads();
    to[threadIdx.x] = room[threadIdx.x] > 3 ? 1 : 2;
}

static int cooperative() {
    enum { BLOCKS = 4, THREADS = 64, N = BLOCKS * THREADS };
    int *from, *to, host[N], n = N, bad = 0, most = 0, units = 0;
    for (int i = 0; i < N; i++) host[i] = 3 * i;
    OK(cudaMalloc(&from, sizeof host)), OK(cudaMalloc(&to, sizeof host));
    OK(cudaMemcpy(from, host, sizeof host, cudaMemcpyHostToDevice));
    void *arguments[] = {&from, &to, &n};
    OK(cudaLaunchCooperativeKernel((void *)around, dim3(BLOCKS), dim3(THREADS), arguments, 0, 0));
    OK(cudaMemcpy(host, to, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++) bad += host[i] != 3 * ((i + THREADS) % N) + 1;
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&most, around, THREADS, 0));
    OK(cudaDeviceGetAttribute(&units, cudaDevAttrMultiProcessorCount, 0));
    bad += cudaLaunchCooperativeKernel((void *)around, dim3(most * units + 1), dim3(THREADS), arguments, 0, 0) == cudaSuccess;
    return said(bad);
}
static int heap() {
    enum { N = 128, LONG = 20 };
    Node **lists;
    int *sums, host[N], bad = 0;
    OK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 4 << 20));
    OK(cudaMalloc(&lists, N * sizeof *lists)), OK(cudaMalloc(&sums, sizeof host));
    OK(cudaMemset(lists, 0, N * sizeof *lists)), OK(cudaMemset(sums, 0, sizeof host));
    chain<<<2, N / 2>>>(lists, LONG);
    unchain<<<2, N / 2>>>(lists, sums);
    OK(cudaMemcpy(host, sums, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++) bad += host[i] != LONG * i + LONG * (LONG - 1) / 2;
    return said(bad);
}
static int peers() {
    enum { N = 100 };
    int *here, *there, host[N] = {}, able = 0, count = 0, bad = 0;
    OK(cudaGetDeviceCount(&count));
    if (count < 2) return std::puts("one device"), 1;
    OK(cudaDeviceCanAccessPeer(&able, 0, 1));
    OK(cudaSetDevice(1)), OK(cudaMalloc(&there, sizeof host)), OK(cudaMemset(there, 0, sizeof host));
    add<<<1, 128>>>(there, N, 5);
    OK(cudaSetDevice(0)), OK(cudaMalloc(&here, sizeof host));
    OK(cudaDeviceEnablePeerAccess(1, 0));
    bad += !able || cudaDeviceEnablePeerAccess(1, 0) != cudaErrorPeerAccessAlreadyEnabled;
    (void)cudaGetLastError();
    OK(cudaMemcpyPeer(here, 0, there, 1, sizeof host));
    add<<<1, 128>>>(there, N, 2); // the other's memory, from this device
    OK(cudaMemcpyPeerAsync(here, 0, there, 1, sizeof host / 2, 0));
    OK(cudaMemcpy(host, here, sizeof host, cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++) bad += host[i] != (i < N / 2 ? 7 : 5);
    cudaPointerAttributes what;
    OK(cudaPointerGetAttributes(&what, there));
    bad += what.device != 1;
    OK(cudaDeviceDisablePeerAccess(1));
    return said(bad);
}
static int mapped() {
    enum { N = 100 };
    int *pinned, *seen, *own = (int *)std::calloc(N, sizeof(int)), bad = 0;
    OK(cudaHostAlloc(&pinned, N * sizeof(int), cudaHostAllocMapped)), OK(cudaHostGetDevicePointer(&seen, pinned, 0));
    for (int i = 0; i < N; i++) pinned[i] = i;
    add<<<1, 128>>>(seen, N, 1);
    OK(cudaHostRegister(own, N * sizeof(int), cudaHostRegisterMapped)), OK(cudaHostGetDevicePointer(&seen, own, 0));
    add<<<1, 128>>>(seen, N, 2);
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < N; i++) bad += pinned[i] != i + 1 || own[i] != 2;
    OK(cudaHostUnregister(own)), OK(cudaFreeHost(pinned)), std::free(own);
    return said(bad);
}
static int threads() { // that launch at once, each in its stream
    enum { THREADS = 6, TIMES = 40, N = 200 };
    int *all, host[THREADS][N], bad = 0;
    OK(cudaMalloc(&all, sizeof host)), OK(cudaMemset(all, 0, sizeof host));
    std::vector<std::thread> made;
    for (int t = 0; t < THREADS; t++)
        made.emplace_back([=] {
            cudaStream_t stream;
            OK(cudaStreamCreate(&stream));
            for (int k = 0; k < TIMES; k++) add<<<2, 128, 0, stream>>>(all + t * N, N, t + k);
            OK(cudaStreamSynchronize(stream)), OK(cudaStreamDestroy(stream));
        });
    for (auto &one : made) one.join();
    OK(cudaMemcpy(host, all, sizeof host, cudaMemcpyDeviceToHost));
    for (int t = 0; t < THREADS; t++)
        for (int value : host[t]) bad += value != TIMES * t + TIMES * (TIMES - 1) / 2;
    return said(bad);
}
extern "C" int in_a_library(int n) {
    int *at, host[64], bad = 0;
    OK(cudaMalloc(&at, sizeof host)), OK(cudaMemset(at, 0, sizeof host));
    add<<<1, 64>>>(at, 64, n);
    OK(cudaMemcpy(host, at, sizeof host, cudaMemcpyDeviceToHost)), OK(cudaFree(at));
    for (int value : host) bad += value != n;
    return bad;
}
static int loaded(const char *path) { // twice, as a module that is unloaded has to be forgotten
    int bad = 0;
    for (int turn = 0; turn < 2; turn++) {
        void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (!library) return std::puts(dlerror()), 1;
        bad += ((int (*)(int))dlsym(library, "in_a_library"))(7 + turn);
        dlclose(library);
    }
    return said(bad);
}

int main(int argc, char **argv) {
    std::string mode = argc > 1 ? argv[1] : "";
    int *at;
    if (mode == "cooperative") return cooperative();
    if (mode == "heap") return heap();
    if (mode == "peers") return peers();
    if (mode == "mapped") return mapped();
    if (mode == "threads") return threads();
    if (mode == "loaded") return loaded(argv[2]);
    OK(cudaMalloc(&at, 4096)), OK(cudaMemset(at, 0, 4096));
    if (mode == "queued") { // the program ends before anything waits
        cudaStream_t stream;
        OK(cudaStreamCreate(&stream));
        for (int k = 0; k < 3; k++) add<<<1, 64, 0, stream>>>(at, 64, k);
        std::exit(0);
    }
    if (mode == "race") race<<<2, 64>>>(at), OK(cudaDeviceSynchronize());
    if (mode == "unset") unset<<<1, 32>>>(at), OK(cudaDeviceSynchronize());
    if (mode == "corrupt") { // its own heap
        add<<<1, 64>>>(at, 64, 1);
        char *small = (char *)std::malloc(24), *other = (char *)std::malloc(24);
        for (volatile char *p = small; p < small + 64; p++) *p = 0x55;
        std::free(other), std::free(small);
        std::abort();
    }
    if (mode == "left") { // a child that outlives it
        add<<<1, 64>>>(at, 64, 1);
        return std::system("sleep 600 & echo $!");
    }
    return 0;
}
