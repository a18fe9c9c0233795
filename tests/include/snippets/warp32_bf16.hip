#include <hip/hip_runtime.h>
#include "porter/warp32.hpp"
#include <hip/hip_bf16.h>
__global__ void bf16_shuffles(__hip_bfloat16* p, __hip_bfloat162* q, int k) {
  *p = porter::shfl_xor_sync(~0u, *p, 1); *p = porter::shfl_sync(~0u, *p, k);
  *q = porter::shfl_xor_sync(~0u, *q, 1); *q = porter::shfl_up_sync(~0u, *q, 2);
}
