// Streams that wait for each other by what the runtime promises, and streams that should and do not.
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>

__global__ void set(int *p, int v) { p[threadIdx.x] = v; }
__global__ void add(int *p, const int *q) { p[threadIdx.x] += q[threadIdx.x]; }

int main(int, char **words) {
    const char *mode = words[1];
    int *p, *q, h[32] = {};
    cudaMalloc(&p, 128), cudaMalloc(&q, 128);
    cudaStream_t blocking, other;
    cudaStreamCreate(&blocking), cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking);
    cudaStream_t last = blocking;
    if (!strcmp(mode, "null")) { // the null stream is between the two of the blocking one
        set<<<1, 32, 0, blocking>>>(q, 7);
        set<<<1, 32>>>(p, 1);
        add<<<1, 32, 0, blocking>>>(p, q);
    }
    if (!strcmp(mode, "event")) {
        cudaEvent_t done;
        cudaEventCreate(&done);
        set<<<1, 32, 0, other>>>(p, 8);
        cudaEventRecord(done, other), cudaStreamWaitEvent(blocking, done, 0);
    }
    if (!strcmp(mode, "unordered")) set<<<1, 32, 0, other>>>(p, 8); // nothing makes the copy wait for it
    if (!strcmp(mode, "not null")) set<<<1, 32>>>(p, 8), last = other;
    if (!strcmp(mode, "blocking copy")) set<<<1, 32, 0, blocking>>>(p, 8); // which a copy that names no stream waits for
    if (!strcmp(mode, "other copy")) set<<<1, 32, 0, other>>>(p, 8);         // and this one not
    if (strstr(mode, "copy")) cudaMemcpy(h, p, 128, cudaMemcpyDeviceToHost);
    else cudaMemcpyAsync(h, p, 128, cudaMemcpyDeviceToHost, last), cudaStreamSynchronize(last);
    std::puts(h[3] == 8 ? "PASS" : "FAIL");
    return cudaDeviceSynchronize();
}
