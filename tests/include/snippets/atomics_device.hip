#include "porter/atomics.hpp"

#define LANE __builtin_amdgcn_workitem_id_x()

extern "C" __global__ void counted(int* i, unsigned* u, unsigned long long* l, float* f, double* d, long long* s) {
  int const t = LANE;
  porter::atomicAdd_block(i, t);
  porter::atomicSub_block(i + 1, t);
  porter::atomicMin_block(i + 2, -t);
  porter::atomicMax_block(i + 3, t);
  porter::atomicExch_block(i + 4, 5);
  porter::atomicAdd_block(u, 1);
  porter::atomicAnd_block(u + 1, ~(1u << t % 32));
  porter::atomicOr_block(u + 2, 1u << t % 32);
  porter::atomicXor_block(u + 3, t);
  porter::atomicInc_block(u + 4, 9);
  porter::atomicDec_block(u + 5, 9);
  porter::atomicInc_system(u + 6, 6);
  porter::atomicDec_system(u + 7, 6);
  while (true) {
    unsigned const old = u[8];
    if (porter::atomicCAS_block(u + 8, old, old + 3) == old) break;
  }
  porter::atomicAdd_block(l, 1ull << 40);
  porter::atomicAdd_block(f, 0.5f);
  porter::atomicAdd_block(d, 0.25);
  porter::atomicAnd(s, ~(1ll << t));
  porter::atomicOr(s + 1, 1ll << t);
  porter::atomicXor(s + 2, (long long)t << 32);
  porter::atomicMin(s + 3, -((long long)t << 33));
  porter::atomicMax(s + 4, (long long)t << 33);
  porter::atomicMax_system(s + 5, (long long)t << 34);
}

// Each lane adds to one of two neighbouring 16-bit numbers.
extern "C" __global__ void halfwords(unsigned short* p) {
  unsigned short* const mine = p + LANE % 4;
  unsigned short old = *(volatile unsigned short*)mine;
  for (;;) {
    unsigned short const seen = porter::atomicCAS(mine, old, (unsigned short)(old + LANE));
    if (seen == old) break;
    old = seen;
  }
}

extern "C" __global__ void vectors(float2* p, float4* q, float* plain, int* integer) {
  float const x = LANE;
  porter::atomicAdd(p, make_float2(x, 1));
  porter::atomicAdd(q, make_float4(x, 1, 2, 3));
  porter::atomicAdd(plain, 2);
  porter::atomicAdd(integer, 2);
  porter::atomicCAS(integer + 1, 0, 4);
  porter::atomicMin(integer + 2, -4);
  porter::atomicOr(integer + 3, 4);
}

extern "C" __global__ void old_values(int* p, int* out) {
  out[LANE] = porter::atomicAdd_block(p, 1);
  out[64 + LANE] = porter::atomicExch_block(p + 1, (int)LANE);
}
