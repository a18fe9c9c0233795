#include <hip/hip_fp16.h>
#include <hip/hip_runtime.h>
#include "porter/warp32.hpp"
__global__ void half_shuffles(__half* p, __half2* q, int k) {
  *p = porter::shfl_xor_sync(~0u, *p, 1); *p = porter::shfl_sync(~0u, *p, k); *p = porter::shfl_down_sync(~0u, *p, 16);
  *q = porter::shfl_xor_sync(~0u, *q, 1); *q = porter::shfl_sync(~0u, *q, k); *q = porter::shfl_up_sync(~0u, *q, 2);
}
