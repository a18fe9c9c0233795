#include "porter/math.hpp"
#define LANE __builtin_amdgcn_workitem_id_x()
extern "C" __global__ void fused(float* p) { p[LANE] = p[LANE] * p[LANE + 64] + p[LANE]; }
extern "C" __global__ void unfused(float* p) {
  p[LANE] = porter::fadd_rn(porter::fmul_rn(p[LANE], p[LANE + 64]), p[LANE]);
  p[LANE + 99] = porter::fmul_rn(p[LANE + 7], p[LANE + 8]) - p[LANE + 9];
}
extern "C" __global__ void converted(float* p, int* q) { q[LANE] = porter::float2int_rn(p[LANE]); }
extern "C" __global__ void out_of_range(int* q) { q[LANE] = porter::float2int_rz(3e9f); }
extern "C" __global__ void pairs(float2* p) {
  p[0] = porter::fadd2_rn(p[0], p[1]);
  p[1] = porter::fmul2_rz(p[0], p[1]);
  p[2] = porter::ffma2_rd(p[0], p[1], p[2]);
}
extern "C" __global__ void functions(float* p, double* d) {
  porter::sincos(p[0], p + 1, p + 2);
  porter::sincos(d[0], d + 1, d + 2);
  porter::sincospi(p[3], p + 4, p + 5);
  porter::sincospi(d[3], d + 4, d + 5);
  p[6] = porter::fast_tanhf(p[6]);
}
