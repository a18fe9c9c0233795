#include <hip/hip_runtime.h>
#include "porter/warp32.hpp"
struct Pair { double sum; int count; };
struct Odd { char bytes[7]; };
enum Color { red, green };
template <class T> __device__ T shuffles(unsigned m, T v, int k) {
  T r = porter::shfl_sync(m, v, k);
  r = porter::shfl_up_sync(m, r, 1); r = porter::shfl_down_sync(m, r, k, 16); r = porter::shfl_xor_sync(m, r, 8);
  r = porter::shfl(r, 3); r = porter::shfl_up(r, k, 8); r = porter::shfl_down(r, 2); r = porter::shfl_xor(r, k, 4);
  return r;
}
template <class T> __global__ void shuffle(T* p, unsigned m, int k) { p[threadIdx.x] = shuffles(m, p[threadIdx.x], k); }
template <class T> __global__ void match(T* p, unsigned* o, unsigned m) {
  int all; o[0] = porter::match_any_sync(m, p[0]); o[1] = porter::match_all_sync(m, p[0], &all); o[2] = all;
}
template <class T> __global__ void reduce(T* p, unsigned m) {
  p[0] = porter::reduce_add_sync(m, p[0]); p[0] = porter::reduce_min_sync(m, p[0]);
  p[0] = porter::reduce_max_sync(m, p[0]);
}
__global__ void rest(unsigned* p, unsigned m) {
  __shared__ int shared[porter::warpSize];
  shared[threadIdx.x % porter::warpSize] = m;
  porter::syncwarp(); porter::syncwarp(m);
  p[0] = porter::reduce_and_sync(m, p[0]); p[1] = porter::reduce_or_sync(m, p[0]);
  p[2] = porter::reduce_xor_sync(m, p[0]); p[3] = porter::ballot(p[0]); p[4] = porter::any(p[0]);
  p[5] = porter::all(p[0]); p[6] = porter::ballot_sync(m, p[0]); p[7] = porter::any_sync(m, p[0]);
  p[8] = porter::all_sync(m, p[0]); p[9] = porter::uni_sync(m, p[0]); p[10] = porter::activemask();
  p[11] = porter::lane_id(); p[12] = porter::warp_id(); p[13] = porter::warp_count();
  p[14] = porter::lanemask_eq(); p[15] = porter::lanemask_lt(); p[16] = porter::lanemask_le();
  p[17] = porter::lanemask_gt(); p[18] = porter::lanemask_ge(); p[19] = shared[0];
  p[20] = p[20] < 32 ? min(porter::warpSize, int(p[20])) : 0;
}
#define EACH(what) template __global__ void what
EACH(shuffle)(int*, unsigned, int); EACH(shuffle)(unsigned*, unsigned, int); EACH(shuffle)(long*, unsigned, int);
EACH(shuffle)(unsigned long*, unsigned, int); EACH(shuffle)(long long*, unsigned, int);
EACH(shuffle)(unsigned long long*, unsigned, int); EACH(shuffle)(float*, unsigned, int);
EACH(shuffle)(double*, unsigned, int); EACH(shuffle)(bool*, unsigned, int); EACH(shuffle)(char*, unsigned, int);
EACH(shuffle)(signed char*, unsigned, int); EACH(shuffle)(unsigned char*, unsigned, int);
EACH(shuffle)(short*, unsigned, int); EACH(shuffle)(unsigned short*, unsigned, int);
EACH(shuffle)(Pair*, unsigned, int); EACH(shuffle)(Odd*, unsigned, int); EACH(shuffle)(float2*, unsigned, int);
EACH(shuffle)(int4*, unsigned, int); EACH(shuffle)(Color*, unsigned, int); EACH(shuffle)(int**, unsigned, int);
EACH(match)(int*, unsigned*, unsigned); EACH(match)(unsigned*, unsigned*, unsigned);
EACH(match)(long*, unsigned*, unsigned); EACH(match)(unsigned long*, unsigned*, unsigned);
EACH(match)(long long*, unsigned*, unsigned); EACH(match)(unsigned long long*, unsigned*, unsigned);
EACH(match)(float*, unsigned*, unsigned); EACH(match)(double*, unsigned*, unsigned);
EACH(reduce)(int*, unsigned); EACH(reduce)(unsigned*, unsigned);
template <class A, class B> struct same; template <class A> struct same<A, A> { enum { yes = 1 }; };
#define RETURNS(type, call) static_assert(same<type, decltype(call)>::yes, "")
__device__ void result_types() {
  RETURNS(int, porter::shfl_sync(~0u, short(1), 0)); RETURNS(int, porter::shfl_xor_sync(~0u, true, 1));
  RETURNS(unsigned, porter::shfl_down_sync(~0u, 1u, 1)); RETURNS(float, porter::shfl_up_sync(~0u, 1.0f, 1));
  RETURNS(long, porter::shfl(1l, 1)); RETURNS(unsigned, porter::ballot_sync(~0u, 1));
  RETURNS(unsigned, porter::activemask()); RETURNS(int, porter::any_sync(~0u, 1));
  RETURNS(int, porter::reduce_add_sync(~0u, 1)); RETURNS(unsigned, porter::reduce_add_sync(~0u, 1u));
}
int blocks() { return (1000 + porter::warpSize - 1) / porter::warpSize; }
