// Every warp function, called by the lanes of one branch at a time. A thread whose branch is -1 has exited.
#include <hip/hip_fp16.h>

#include "porter/warp32.hpp"

#define THREAD __builtin_amdgcn_workitem_id_x()
#define PLACE(size) (__builtin_amdgcn_workgroup_id_x() * (size) + THREAD)

struct Odd { unsigned char bytes[7]; };
struct Pair { double sum; int count; };

// The same call site for all branches, or one call site each.
#define ONE_SITE(call) \
  { \
    for (int b = 0; b < 3; ++b) { \
      if (branch[i] == b) out[i] = call; \
    } \
  }
#define OWN_SITES(call) \
  { \
    if (branch[i] == 0) \
      out[i] = call; \
    else if (branch[i] == 1) \
      out[i] = call; \
    else \
      out[i] = call; \
  }

#define SHUFFLES(name, T, R) \
  extern "C" __global__ void shuffle_##name(const T* v, const int* k, const unsigned* mask, const int* branch, \
                                            int size, int op, int width, R* out) { \
    int const i = PLACE(size); \
    if (branch[i] < 0) return; \
    if (op == 0) ONE_SITE(porter::shfl_sync(mask[i], v[i], k[i], width)) \
    if (op == 1) ONE_SITE(porter::shfl_up_sync(mask[i], v[i], k[i], width)) \
    if (op == 2) ONE_SITE(porter::shfl_down_sync(mask[i], v[i], k[i], width)) \
    if (op == 3) ONE_SITE(porter::shfl_xor_sync(mask[i], v[i], k[i], width)) \
    if (op == 4) OWN_SITES(porter::shfl(v[i], k[i], width)) \
    if (op == 5) OWN_SITES(porter::shfl_up(v[i], k[i], width)) \
    if (op == 6) OWN_SITES(porter::shfl_down(v[i], k[i], width)) \
    if (op == 7) OWN_SITES(porter::shfl_xor(v[i], k[i], width)) \
  }
SHUFFLES(i32, int, int)
SHUFFLES(u32, unsigned, unsigned)
SHUFFLES(i64, long long, long long)
SHUFFLES(u64, unsigned long, unsigned long)
SHUFFLES(f32, float, float)
SHUFFLES(f64, double, double)
SHUFFLES(i8, signed char, int)
SHUFFLES(u16, unsigned short, int)
SHUFFLES(f16, __half, __half)
SHUFFLES(f16x2, __half2, __half2)
SHUFFLES(odd, Odd, Odd)
SHUFFLES(pair, Pair, Pair)

// Constant lane numbers, which take other instructions: row k of `out` is lane number k.
template <int width> struct Constants {
  template <int k> static __device__ void run(float v, float* out, int n, int i) {
    out[k * n + i] = porter::shfl_sync(~0u, v, k, width);
    out[(32 + k) * n + i] = porter::shfl_up_sync(~0u, v, k, width);
    out[(64 + k) * n + i] = porter::shfl_down_sync(~0u, v, k, width);
    out[(96 + k) * n + i] = porter::shfl_xor_sync(~0u, v, k, width);
    if constexpr (k < 31) run<k + 1>(v, out, n, i);
  }
};
#define CONSTANTS(width) \
  extern "C" __global__ void constant_##width(const float* v, int size, int n, float* out) { \
    int const i = PLACE(size); \
    Constants<width>::run<0>(v[i], out, n, i); \
  }
CONSTANTS(2)
CONSTANTS(4)
CONSTANTS(8)
CONSTANTS(16)
CONSTANTS(32)

extern "C" __global__ void votes(const int* p, const unsigned* mask, const int* branch, int size, int n,
                                 unsigned* out) {
  int const i = PLACE(size);
  if (branch[i] < 0) return;
  for (int b = 0; b < 3; ++b) {
    if (branch[i] != b) continue;
    unsigned const m = mask[i];
    out[0 * n + i] = porter::ballot(p[i]);
    out[1 * n + i] = porter::any(p[i]);
    out[2 * n + i] = porter::all(p[i]);
    out[3 * n + i] = porter::activemask();
    out[4 * n + i] = porter::ballot_sync(m, p[i]);
    out[5 * n + i] = porter::any_sync(m, p[i]);
    out[6 * n + i] = porter::all_sync(m, p[i]);
    out[7 * n + i] = porter::uni_sync(m, p[i]);
  }
}

#define MATCHES(name, T) \
  extern "C" __global__ void match_##name(const T* v, const unsigned* mask, const int* branch, int size, int n, \
                                          unsigned* out) { \
    int const i = PLACE(size); \
    if (branch[i] < 0) return; \
    for (int b = 0; b < 3; ++b) { \
      if (branch[i] != b) continue; \
      int all = 7; \
      out[0 * n + i] = porter::match_any_sync(mask[i], v[i]); \
      out[1 * n + i] = porter::match_all_sync(mask[i], v[i], &all); \
      out[2 * n + i] = all; \
    } \
  }
MATCHES(i32, int)
MATCHES(u64, unsigned long long)
MATCHES(f32, float)
MATCHES(f64, double)

#define REDUCTIONS(name, T) \
  extern "C" __global__ void reduce_##name(const T* v, const unsigned* mask, const int* branch, int size, int n, \
                                           T* out) { \
    int const i = PLACE(size); \
    if (branch[i] < 0) return; \
    for (int b = 0; b < 3; ++b) { \
      if (branch[i] != b) continue; \
      out[0 * n + i] = porter::reduce_add_sync(mask[i], v[i]); \
      out[1 * n + i] = porter::reduce_min_sync(mask[i], v[i]); \
      out[2 * n + i] = porter::reduce_max_sync(mask[i], v[i]); \
      out[3 * n + i] = porter::reduce_and_sync(mask[i], (unsigned)v[i]); \
      out[4 * n + i] = porter::reduce_or_sync(mask[i], (unsigned)v[i]); \
      out[5 * n + i] = porter::reduce_xor_sync(mask[i], (unsigned)v[i]); \
    } \
  }
REDUCTIONS(i32, int)
REDUCTIONS(u32, unsigned)

extern "C" __global__ void places(unsigned* out) {
  unsigned const x = threadIdx.x, y = threadIdx.y, z = threadIdx.z;
  unsigned const i = (z * blockDim.y + y) * blockDim.x + x, n = blockDim.x * blockDim.y * blockDim.z;
  out[0 * n + i] = porter::lane_id();
  out[1 * n + i] = porter::warp_id();
  out[2 * n + i] = porter::warp_count();
  if (i % 3 == 1) return;  // the masks of the lane do not depend on who is active
  out[3 * n + i] = porter::lanemask_eq();
  out[4 * n + i] = porter::lanemask_lt();
  out[5 * n + i] = porter::lanemask_le();
  out[6 * n + i] = porter::lanemask_gt();
  out[7 * n + i] = porter::lanemask_ge();
}

// Lanes exchange through shared memory without a barrier, as warp-synchronous code does.
extern "C" __global__ void exchange(const int* v, int size, int* out) {
  __shared__ int s[128];
  int const t = THREAD, i = PLACE(size), warp = t & ~31;
  s[t] = v[i];
  porter::syncwarp();
  for (int step = 16; step > 0; step /= 2) {
    if ((t & 31) < step) s[t] += s[t + step];
    porter::syncwarp(0xffffffff);
  }
  int const total = s[warp];
  porter::syncwarp();
  s[t] = total + (t & 31);
  porter::syncwarp();
  out[i] = s[t ^ 31];
}

// A loop whose trip count differs between the lanes: each pass counts the lanes that are still in it.
extern "C" __global__ void shrinking(const int* trips, int size, unsigned* out) {
  int const i = PLACE(size);
  unsigned sum = 0;
  for (int t = 0; t < trips[i]; ++t) sum = sum * 3 + porter::ballot_sync(0xffffffff, trips[i] & 1);
  out[i] = sum;
}

// Only the leader has the value.
extern "C" __global__ void aggregated(const int* wanted, int size, int* counter, int* out) {
  int const i = PLACE(size);
  out[i] = -1;
  if (!wanted[i]) return;
  unsigned const active = porter::activemask();
  int base, leader = __ffs((int)active) - 1;
  if ((int)porter::lane_id() == leader) base = atomicAdd(counter, (int)__popc(active));
  base = porter::shfl_sync(active, base, leader);
  out[i] = base + (int)__popc(active & porter::lanemask_lt());
}
