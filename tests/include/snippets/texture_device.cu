// Kernels over textures and surfaces, as CUDA writes them; the tests port them. `at` holds three coordinates per thread.
#include <cuda_runtime.h>

#define KERNEL(name, type, ...)                                                                     \
  extern "C" __global__ void name(cudaTextureObject_t t, const float *at, type *out, int n) {       \
    int i = blockIdx.x * blockDim.x + threadIdx.x;                                                  \
    if (i >= n) return;                                                                             \
    float x = at[3 * i], y = at[3 * i + 1], z = at[3 * i + 2];                                      \
    (void)y, (void)z;                                                                               \
    out[i] = __VA_ARGS__;                                                                           \
  }

KERNEL(line_float2, float2, tex1D<float2>(t, x))
KERNEL(plane_float, float, tex2D<float>(t, x, y))
KERNEL(plane_float4, float4, tex2D<float4>(t, x, y))
KERNEL(plane_uchar4, uchar4, tex2D<uchar4>(t, x, y))
KERNEL(plane_short2, short2, tex2D<short2>(t, x, y))
KERNEL(plane_int, int, tex2D<int>(t, x, y))
KERNEL(volume_float, float, tex3D<float>(t, x, y, z))
KERNEL(layers_float, float, tex2DLayered<float>(t, x, y, (int)z))
KERNEL(fetch_float, float, tex1Dfetch<float>(t, (int)x))
KERNEL(fetch_uchar2, uchar2, tex1Dfetch<uchar2>(t, (int)x))

extern "C" __global__ void by_pointer(cudaTextureObject_t t, const float *at, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) tex2D(&out[i], t, at[3 * i], at[3 * i + 1]);
}
