#include <hip/hip_runtime.h>
#include "porter/warp32.hpp"
#define LANE __builtin_amdgcn_workitem_id_x()
extern "C" __global__ void plain_ballot(unsigned* p) { p[LANE] = (unsigned)__ballot(p[LANE]); }
extern "C" __global__ void ours_ballot(unsigned* p) { p[LANE] = porter::ballot_sync(0xffffffff, p[LANE]); }
extern "C" __global__ void lanes(unsigned* p) { p[LANE] = porter::lane_id(); }
