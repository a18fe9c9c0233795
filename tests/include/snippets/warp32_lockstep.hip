#include <hip/hip_runtime.h>
#include "porter/warp32.hpp"
#define LANE __builtin_amdgcn_workitem_id_x()
extern "C" __global__ void tail(int* p) {
  __shared__ int s[64];
  int t = LANE;
  s[t] = p[t]; SYNC;
  if (t < 32) { s[t] += s[t + 32]; SYNC; s[t] += s[t + 16]; SYNC; s[t] += s[t + 8]; SYNC; s[t] += s[t + 4]; SYNC; }
  p[t] = s[t];
}
