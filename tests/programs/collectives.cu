// What the stand-ins for NCCL and RCCL answer between four devices: results as lines, for the test to compare with NumPy.
#include <cuda_runtime.h>
#include <nccl.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <unistd.h>
#include <vector>

enum { RANKS = 4, COUNT = 600, SMALL = 5 };

static void check(int status, const char *what) {
    if (status) std::printf("status %d: %s\n", status, what), std::exit(1);
}
#define OK(call) check((int)(call), #call)

__global__ void fill(unsigned char *at, int bytes, unsigned rank) { // any bit may be set
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= bytes) return;
    unsigned x = (i + 1) * 2654435761u ^ (rank + 1) * 40503u;
    x ^= x >> 15, x *= 2246822519u, x ^= x >> 13;
    at[i] = (unsigned char)x;
}
__global__ void pairs(unsigned char *at, int shift) { // every byte beside every other
    unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    at[i] = (unsigned char)(i >> shift);
}
__global__ void number(int *at, int count, int rank) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) at[i] = 100 * rank + i;
}
__global__ void add(int *at, int count, int more) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) at[i] += more;
}

static void print(const char *name, const void *at, size_t bytes) {
    std::vector<unsigned char> host(bytes);
    OK(cudaMemcpy(host.data(), at, bytes, cudaMemcpyDeviceToHost));
    std::printf("%s:", name);
    for (unsigned char byte : host) std::printf("%02x", byte);
    std::printf("\n");
}
static void print_numbers(const char *name, int rank, const int *at, int count) {
    std::vector<int> host(count);
    OK(cudaMemcpy(host.data(), at, count * sizeof(int), cudaMemcpyDeviceToHost));
    std::printf("%s %d:", name, rank);
    for (int value : host) std::printf(" %d", value);
    std::printf("\n");
}

static ncclComm_t comms[RANKS];
static cudaStream_t streams[RANKS];
static int *in[RANKS], *out[RANKS];

static void numbered(int count, int room) {
    for (int rank = 0; rank < RANKS; rank++) {
        OK(cudaSetDevice(rank));
        OK(cudaStreamCreate(&streams[rank]));
        OK(cudaMalloc(&in[rank], count * sizeof(int))), OK(cudaMalloc(&out[rank], room * sizeof(int)));
        OK(cudaMemset(out[rank], 0, room * sizeof(int)));
        number<<<1, 64, 0, streams[rank]>>>(in[rank], count, rank);
    }
}
#define TOGETHER(call) \
    do { \
        OK(ncclGroupStart()); \
        for (int rank = 0; rank < RANKS; rank++) OK(call); \
        OK(ncclGroupEnd()); \
    } while (0)
static void show(const char *name, int count) {
    for (int rank = 0; rank < RANKS; rank++) OK(cudaSetDevice(rank)), OK(cudaStreamSynchronize(streams[rank])), print_numbers(name, rank, out[rank], count), OK(cudaMemset(out[rank], 0, count * sizeof(int)));
}

static void reductions() {
    static const int bytes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2};
    unsigned char *from[RANKS], *to[RANKS];
    for (int rank = 0; rank < RANKS; rank++) {
        OK(cudaSetDevice(rank));
        OK(cudaMalloc(&from[rank], 65536)), OK(cudaMalloc(&to[rank], 65536));
        fill<<<75, 64>>>(from[rank], 8 * COUNT, rank);
    }
    for (int type = 0; type < 10; type++)
        for (int op = 0; op < 5; op++) {
            char name[40];
            TOGETHER(ncclAllReduce(from[rank], to[rank], COUNT, (ncclDataType_t)type, (ncclRedOp_t)op, comms[rank], 0));
            for (int rank = 0; rank < RANKS; rank += RANKS - 1) std::snprintf(name, sizeof name, "%d %d %d", type, op, rank), print(name, to[rank], COUNT * bytes[type]);
        }
    for (int rank = 0; rank < RANKS; rank++) { // sums of every two numbers of eight bits
        OK(cudaMemset(from[rank], 0, 65536));
        if (rank < 2) pairs<<<256, 256>>>(from[rank], 8 * rank);
    }
    for (int type = 10; type < 12; type++) {
        TOGETHER(ncclAllReduce(from[rank], to[rank], 65536, (ncclDataType_t)type, ncclSum, comms[rank], 0));
        print(type == 10 ? "e4m3" : "e5m2", to[2], 65536);
    }
}

static void moves() {
    numbered(RANKS * SMALL, RANKS * SMALL);
    TOGETHER(ncclReduce(in[rank], rank == 2 ? out[rank] : nullptr, SMALL, ncclInt, ncclSum, 2, comms[rank], streams[rank])); show("reduce", SMALL);
    TOGETHER(ncclReduceScatter(in[rank], out[rank], SMALL, ncclInt, ncclMax, comms[rank], streams[rank])); show("reduce scatter", SMALL);
    TOGETHER(ncclAllGather(in[rank], out[rank], SMALL, ncclInt, comms[rank], streams[rank])); show("all gather", RANKS * SMALL);
    TOGETHER(ncclBroadcast(in[rank], out[rank], SMALL, ncclInt, 3, comms[rank], streams[rank])); show("broadcast", SMALL);
    OK(ncclGroupStart());
    for (int rank = 0; rank < RANKS; rank++) { // to the right, and more to the left
        OK(ncclSend(in[rank], SMALL, ncclInt, (rank + 1) % RANKS, comms[rank], streams[rank]));
        OK(ncclSend(in[rank] + SMALL, 2, ncclInt, (rank + RANKS - 1) % RANKS, comms[rank], streams[rank]));
        OK(ncclRecv(out[rank] + SMALL, 2, ncclInt, (rank + 1) % RANKS, comms[rank], streams[rank]));
        OK(ncclRecv(out[rank], SMALL, ncclInt, (rank + RANKS - 1) % RANKS, comms[rank], streams[rank]));
    }
    OK(ncclGroupEnd()); show("ring", SMALL + 2);
    TOGETHER(ncclReduceScatter(in[rank], in[rank] + rank * SMALL, SMALL, ncclInt, ncclSum, comms[rank], streams[rank]));
    TOGETHER(ncclAllGather(in[rank] + rank * SMALL, in[rank], SMALL, ncclInt, comms[rank], streams[rank]));
    for (int rank = 0; rank < RANKS; rank++) print_numbers("in place", rank, in[rank], RANKS * SMALL);
    float weight[RANKS] = {0.5f, 2, 1, -1}, *at[RANKS];
    ncclRedOp_t ops[RANKS];
    for (int rank = 0; rank < RANKS; rank++) {
        OK(cudaMalloc(&at[rank], sizeof(float))), OK(cudaMemcpy(at[rank], &weight[rank], sizeof(float), cudaMemcpyHostToDevice));
        OK(ncclRedOpCreatePreMulSum(&ops[rank], rank % 2 ? (void *)at[rank] : &weight[rank], ncclFloat, rank % 2 ? ncclScalarDevice : ncclScalarHostImmediate, comms[rank]));
    }
    TOGETHER(ncclAllReduce(at[rank], at[rank], 1, ncclFloat, ops[rank], comms[rank], streams[rank]));
    float got;
    OK(cudaMemcpy(&got, at[3], sizeof got, cudaMemcpyDeviceToHost)), std::printf("scaled: %g\n", got);
    for (int rank = 0; rank < RANKS; rank++) OK(ncclRedOpDestroy(ops[rank], comms[rank]));
}

static ncclUniqueId id;
static int wrong;

static void join(int rank) {
    OK(cudaSetDevice(rank));
    OK(cudaStreamCreate(&streams[rank]));
    OK(ncclCommInitRank(&comms[rank], RANKS, id, rank));
}
static void steps(int rank) { // kernels and sums in turns, in one stream, waited for once
    int *at, host[SMALL], count, mine, device, one = 0;
    join(rank);
    OK(ncclCommCount(comms[rank], &count)), OK(ncclCommUserRank(comms[rank], &mine)), OK(ncclCommCuDevice(comms[rank], &device));
    if (count != RANKS || mine != rank || device != rank) __atomic_add_fetch(&wrong, 1, __ATOMIC_SEQ_CST);
    OK(cudaMalloc(&at, sizeof host));
    number<<<1, 64, 0, streams[rank]>>>(at, SMALL, rank);
    for (int step = 0; step < 6; step++) {
        OK(ncclAllReduce(at, at, SMALL, ncclInt32, ncclSum, comms[rank], streams[rank]));
        add<<<1, 64, 0, streams[rank]>>>(at, SMALL, rank + step);
    }
    OK(cudaMemcpyAsync(host, at, sizeof host, cudaMemcpyDeviceToHost, streams[rank]));
    OK(cudaStreamSynchronize(streams[rank]));
    for (int i = 0; i < SMALL; i++) {
        long value[RANKS];
        for (int r = 0; r < RANKS; r++) value[r] = 100 * r + i;
        for (int step = 0; step < 6; step++) {
            long sum = value[0] + value[1] + value[2] + value[3];
            for (int r = 0; r < RANKS; r++) value[r] = sum + r + step;
        }
        if (value[rank] != host[i]) __atomic_add_fetch(&wrong, 1, __ATOMIC_SEQ_CST);
    }
    ncclComm_t half;
    int together;
    OK(ncclCommSplit(comms[rank], rank % 2, -rank, &half, nullptr)); // the higher rank first
    OK(ncclCommUserRank(half, &mine)), OK(ncclCommCount(half, &together));
    if (together != 2 || mine != (rank < 2)) __atomic_add_fetch(&wrong, 1, __ATOMIC_SEQ_CST);
    OK(cudaMemcpy(at, &rank, sizeof rank, cudaMemcpyHostToDevice));
    OK(ncclAllReduce(at, at, 1, ncclInt32, ncclSum, half, streams[rank]));
    OK(cudaMemcpy(&one, at, sizeof one, cudaMemcpyDeviceToHost));
    if (one != (rank % 2 ? 4 : 2)) __atomic_add_fetch(&wrong, 1, __ATOMIC_SEQ_CST);
    OK(ncclCommDestroy(half)), OK(ncclCommDestroy(comms[rank])), OK(cudaFree(at));
}
static void late(int rank) { // the last rank does not come
    int *at;
    join(rank);
    OK(cudaMalloc(&at, 64));
    if (rank == RANKS - 1) {
        for (;;) pause();
    }
    OK(ncclAllReduce(at, at, 16, ncclInt, ncclSum, comms[rank], streams[rank]));
}
static void busy(int rank) { // the last rank comes after a while of work of its own
    int *at;
    join(rank);
    OK(cudaMalloc(&at, 64));
    number<<<1, 64, 0, streams[rank]>>>(at, 16, rank);
    if (rank == RANKS - 1)
        for (clock_t until = clock() + 2 * CLOCKS_PER_SEC; clock() < until;) {}
    OK(ncclAllReduce(at, at, 16, ncclInt, ncclSum, comms[rank], streams[rank]));
}
static void threads(void (*run)(int)) {
    std::vector<std::thread> all;
    OK(ncclGetUniqueId(&id));
    for (int rank = 0; rank < RANKS; rank++) all.emplace_back(run, rank);
    for (auto &one : all) one.join();
    std::puts(wrong ? "FAIL" : "PASS");
}

int main(int argc, char **argv) {
    const char *mode = argc > 1 ? argv[1] : "";
    std::setvbuf(stdout, nullptr, _IOFBF, 1 << 16);
    if (!std::strcmp(mode, "steps")) return threads(steps), wrong;
    if (!std::strcmp(mode, "late")) return threads(late), wrong;
    if (!std::strcmp(mode, "busy")) return threads(busy), wrong;
    int status = ncclCommInitAll(comms, RANKS, nullptr);
    if (!std::strcmp(mode, "few")) return numbered(1, 1), std::printf("status %d: %s\n", status, ncclGetErrorString((ncclResult_t)status)), 0;
    OK(status);
    if (!std::strcmp(mode, "reductions")) reductions();
    if (!std::strcmp(mode, "moves")) moves();
    if (!std::strcmp(mode, "alone")) { // without a group: the first call waits for the others
        numbered(SMALL, SMALL);
        for (int rank = 0; rank < RANKS; rank++) OK(ncclAllReduce(in[rank], out[rank], SMALL, ncclInt, ncclSum, comms[rank], streams[rank]));
    }
    if (!std::strcmp(mode, "unlike") || !std::strcmp(mode, "beyond") || !std::strcmp(mode, "uneven")) {
        numbered(SMALL, SMALL);
        OK(ncclGroupStart());
        for (int rank = 0; rank < RANKS; rank++) {
            int more = rank == 1 && mode[0] != 'b', beyond = rank == 1 && mode[0] == 'b' ? 3 : 0;
            if (mode[1] == 'n' && mode[2] == 'e') {
                if (rank == 0) OK(ncclSend(in[rank], 3, ncclInt, 1, comms[rank], streams[rank]));
                if (rank == 1) OK(ncclRecv(out[rank], 4, ncclInt, 0, comms[rank], streams[rank]));
            } else {
                OK(ncclAllReduce(in[rank] + beyond, out[rank], 3 + more, ncclInt, ncclSum, comms[rank], streams[rank]));
            }
        }
        std::printf("status %d\n", (int)ncclGroupEnd());
    }
    for (int rank = 0; rank < RANKS; rank++) OK(ncclCommDestroy(comms[rank]));
    return 0;
}
