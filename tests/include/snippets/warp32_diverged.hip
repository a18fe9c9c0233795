#include <hip/hip_runtime.h>
#include "porter/warp32.hpp"
#define LANE __builtin_amdgcn_workitem_id_x()
extern "C" __global__ void masks(unsigned* p) {
  unsigned outside = porter::activemask(), inside = 0;
  if (p[LANE] > 5u) inside = porter::activemask();
  p[LANE] = outside ^ inside;
}
extern "C" __global__ void branches(unsigned* p) {
  unsigned v = p[LANE], r;
  if (LANE & 1) r = porter::ballot(v > 3u); else r = porter::ballot(v > 3u);
  p[LANE] = r;
}
