#include <hip/hip_runtime.h>
#include "porter/warp32.hpp"
#define LANE __builtin_amdgcn_workitem_id_x()
extern "C" __global__ void leader(int* counter, int* p) {
  int base;
  if (porter::lane_id() == 0) base = atomicAdd(counter, 32);
  base = porter::shfl_sync(0xffffffff, base, 0);
  p[LANE] = base;
}
