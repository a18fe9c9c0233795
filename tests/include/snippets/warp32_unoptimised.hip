#include "porter/warp32.hpp"

extern "C" __global__ void some(const unsigned* v, unsigned* out) {
  unsigned const i = __builtin_amdgcn_workitem_id_x(), x = v[i];
  out[i] = porter::shfl_xor_sync(0xffffffff, x, 1);
  out[64 + i] = porter::ballot_sync(0xffffffff, x & 1);
  if (x & 1) out[128 + i] = porter::match_any_sync(0xffffffff, x & 6);
}
