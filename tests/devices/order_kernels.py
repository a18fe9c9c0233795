"""Kernels whose waves and blocks are ordered by locks, flags and fences; and the same with something missing."""

LOCAL = r"""
#define K extern "C" __global__ void
template <bool FENCE_IN, bool FENCE_OUT> __device__ void add(int* lock, int* value) {
  while (atomicCAS(lock, 0, 1) != 0) {}
  if (FENCE_IN) __threadfence_block();
  *value += 1;
  if (FENCE_OUT) __threadfence_block();
  atomicExch(lock, 0);
}
#define FIRST (threadIdx.x % 64 == 0)
#define BEGIN __shared__ int lock, other, value; if (threadIdx.x == 0) lock = other = value = 0; __syncthreads();
#define END __syncthreads(); if (threadIdx.x == 0) out[blockIdx.x] = value;
K locked(int* out) { BEGIN if (FIRST) add<true, true>(&lock, &value); END }
K unfenced(int* out) { BEGIN if (FIRST) add<false, false>(&lock, &value); END }
K one_side(int* out) { BEGIN if (threadIdx.x == 64) value = 7; else if (FIRST) add<true, true>(&lock, &value); END }
K two_locks(int* out) { BEGIN if (FIRST) add<true, true>(threadIdx.x == 64 ? &other : &lock, &value); END }
K volatile_unlock(int* out) { BEGIN
  if (FIRST) {
    while (atomicCAS(&lock, 0, 1) != 0) {}
    __threadfence_block(); value += 1; __threadfence_block();
    *(volatile int*)&lock = 0;
  } END }
K flag(int* out) {
  __shared__ int ready, data;
  if (threadIdx.x == 0) ready = 0;
  __syncthreads();
  if (threadIdx.x == 0) { data = 4; __threadfence_block(); *(volatile int*)&ready = 1; }
  if (threadIdx.x == 64) { while (*(volatile int*)&ready == 0) {} __threadfence_block(); out[blockIdx.x] = data; } }
template <bool FENCE> __device__ void count(int* out) {
  __shared__ int done, part[4];
  if (threadIdx.x == 0) done = 0;
  __syncthreads();
  if (FIRST) {
    part[threadIdx.x / 64] = 1;
    if (FENCE) __threadfence_block();
    if (atomicAdd(&done, 1) == 3) out[blockIdx.x] = part[0] + part[1] + part[2] + part[3];
  } }
K counted(int* out) { count<true>(out); }
K counted_unfenced(int* out) { count<false>(out); }
K same_value(int* out) {  // every wave stores what the others do, and may read it
  __shared__ int s[64];
  s[threadIdx.x % 64] = threadIdx.x % 64;
  int mine = *(volatile int*)&s[threadIdx.x % 64];
  __syncthreads();
  if (threadIdx.x == 4) out[blockIdx.x] = s[4] + mine - 4; }
K other_value(int* out) {
  __shared__ int s[64];
  s[threadIdx.x % 64] = threadIdx.x / 128;
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = s[0]; }
K same_then_other(int* out) {
  __shared__ int s[64];
  s[threadIdx.x % 64] = 1;
  *(volatile int*)&s[threadIdx.x % 64] = threadIdx.x / 64;
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = s[0]; }
K same_value_read(int* out) {  // a wave that wrote nothing reads
  __shared__ int s[64];
  if (threadIdx.x < 64) s[threadIdx.x] = 0;
  __syncthreads();
  if (threadIdx.x < 128) s[threadIdx.x % 64] = 4;
  if (threadIdx.x >= 192) out[blockIdx.x] = s[threadIdx.x % 64]; }
K volatile_without(int* out) {
  __shared__ volatile int s[256];
  s[threadIdx.x] = 2; s[threadIdx.x ^ 64] += 1;
  __syncthreads();
  if (threadIdx.x == 0) out[blockIdx.x] = s[0]; }
"""

GLOBAL = r"""
#define K extern "C" __global__ void
#define I (blockIdx.x * blockDim.x + threadIdx.x)
#define N (gridDim.x * blockDim.x)
__device__ unsigned ticket;
K apart(int* out, int* a) { out[I] = a[I] + 1; }
K same_value(int* out, int* a) { out[0] = 7; if (a[I] == 0) out[1] = 3; }
K atomics(int* out, int* a) { atomicAdd(out, 1); atomicMax(out + 1, (int)I); }
K in_block(int* out, int* a) { a[I] = I; __syncthreads(); out[I] = a[I ^ 64]; }
K bytes(int* out, int* a) { ((unsigned char*)out)[blockIdx.x + gridDim.x * threadIdx.x] = blockIdx.x; }
template <bool EACH, bool ONE> __device__ void last(int* out, int* a) {
  __shared__ bool is_last;
  a[I] = I;
  if (EACH) __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) { if (ONE) __threadfence(); is_last = atomicAdd(&ticket, 1) % gridDim.x == gridDim.x - 1; }
  __syncthreads();
  if (is_last) for (int i = threadIdx.x; i < N; i += blockDim.x) out[i] = a[i] + 1;
}
K last_block(int* out, int* a) { last<true, false>(out, a); }
K last_block_one_fence(int* out, int* a) { last<false, true>(out, a); }
K last_block_unfenced(int* out, int* a) { last<false, false>(out, a); }
__device__ void add(int* lock, int* out) {
  while (atomicCAS(lock, 0, 1) != 0) {}
  __threadfence(); out[0] += 1; __threadfence();
  atomicExch(lock, 0);
}
K locked(int* out, int* a) { if (threadIdx.x == 0) add(a, out); }
K two_locks(int* out, int* a) { if (threadIdx.x == 0) add(a + blockIdx.x % 2, out); }
K one_side(int* out, int* a) { if (threadIdx.x == 0) { if (blockIdx.x == 3) out[0] = 9; else add(a, out); } }
K chain(int* out, int* a) {
  volatile int* turn = a;
  if (threadIdx.x == 0) {
    while (*turn != blockIdx.x) {}
    __threadfence(); out[0] += blockIdx.x; __threadfence();
    *turn = blockIdx.x + 1;
  } }
K neighbour(int* out, int* a) { a[I] = I; out[I] = a[(I + 256) % N]; }
K no_barrier(int* out, int* a) { a[I] = I; out[I] = a[I ^ 64]; }
K set_and_add(int* out, int* a) { if (I == 0) out[0] = 5; if (threadIdx.x == 0) atomicAdd(out, 1); }
K increment(int* out, int* a) { if (threadIdx.x == 0) out[0] += 1; }
K in_place(int* out, int* a) { out[I] = out[(I + 1) % N] + 1; }
"""

LOCAL_SILENT = ("locked", "volatile_unlock", "flag", "counted", "same_value")
LOCAL_RACES = ("one_side", "two_locks", "other_value", "same_value_read")
GLOBAL_SILENT = ("apart", "same_value", "atomics", "in_block", "bytes", "last_block", "last_block_one_fence", "locked")
GLOBAL_RACES = (
    "last_block_unfenced", "two_locks", "one_side", "neighbour", "no_barrier", "set_and_add", "increment", "in_place",
)  # fmt: skip
