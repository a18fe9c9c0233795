#include "porter/memory.hpp"

struct Three { float a, b, c; };

// Each load once, each store once; out gets what was stored.
#define COPIES(name, T) \
  extern "C" __global__ void copy_##name(const T* in, T* out, int n) { \
    int const i = __builtin_amdgcn_workitem_id_x(); \
    porter::stwb(out + i, porter::ldca(in + i)); \
    porter::stcs(out + n + i, porter::ldcs(in + i)); \
    porter::stcg(out + 2 * n + i, porter::ldcg(in + i)); \
    porter::stwt(out + 3 * n + i, porter::ldcv(in + i)); \
    out[4 * n + i] = porter::ldlu(in + i); \
    out[5 * n + i] = porter::ldg(in + i); \
  }
COPIES(char, char)
COPIES(short2, short2)
COPIES(float, float)
COPIES(double, double)
COPIES(three, Three)
COPIES(int4, int4)
COPIES(double2, double2)

extern "C" __global__ void constants(float* p, short* q) {
  porter::stcs(p, 1);
  porter::stcg(q, 2);
}

extern "C" __global__ void spaces(int* global, unsigned* out) {
  __shared__ int shared[4];
  int local[4] = {global[0], global[1], global[2], global[3]};
  int* const any[3] = {shared + 1, local + 1, global + 1};
  for (int i = 0; i < 3; ++i) {
    out[i] = porter::isShared(any[i]) * 100 + porter::isLocal(any[i]) * 10 + porter::isGlobal(any[i]);
    *any[i] = i + 7;
  }
  size_t const in_shared = porter::cvta_generic_to_shared(shared + 1);
  size_t const in_local = porter::cvta_generic_to_local(local + 1);
  size_t const in_global = porter::cvta_generic_to_global(global + 1);
  out[3] = porter::cvta_generic_to_shared(shared + 3) - in_shared;
  out[4] = *(int*)porter::cvta_shared_to_generic(in_shared);
  out[5] = *(int*)porter::cvta_local_to_generic(in_local);
  out[6] = *(int*)porter::cvta_global_to_generic(in_global);
  out[7] = (in_shared | in_local) >> 32 == 0;
}

extern "C" __global__ void streamed(const int4* in, int4* out) {
  out[__builtin_amdgcn_workitem_id_x()] = porter::ldcs(in + __builtin_amdgcn_workitem_id_x());
}
