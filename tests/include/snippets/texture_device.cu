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
KERNEL(level_float, float, tex2DLod<float>(t, x, y, 1.0f) + tex2DGrad<float>(t, y, x, make_float2(z, z), make_float2(x, y)))
KERNEL(gather_float4, float4, tex2Dgather<float4>(t, x, y, 1))
KERNEL(gather_int4, int4, tex2Dgather<int4>(t, x, y))
KERNEL(fetch_float, float, tex1Dfetch<float>(t, (int)x))
KERNEL(fetch_uchar2, uchar2, tex1Dfetch<uchar2>(t, (int)x))

extern "C" __global__ void by_pointer(cudaTextureObject_t t, const float *at, float *out, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) tex2D(&out[i], t, at[3 * i], at[3 * i + 1]);
}

// Moves one element, `from` to `to` (x counts bytes), on surfaces of two and three dimensions and of layers.
#define MOVE(name, type, READ, WRITE)                                                                                \
  extern "C" __global__ void name(cudaSurfaceObject_t s, cudaSurfaceObject_t d, const int *from, const int *to, int n) { \
    int i = blockIdx.x * blockDim.x + threadIdx.x;                                                                   \
    if (i >= n) return;                                                                                              \
    int x = from[3 * i], y = from[3 * i + 1], z = from[3 * i + 2], u = to[3 * i], v = to[3 * i + 1], w = to[3 * i + 2]; \
    (void)y, (void)z, (void)v, (void)w;                                                                              \
    type value = READ;                                                                                               \
    WRITE;                                                                                                           \
  }

MOVE(move_plane, float, surf2Dread<float>(s, x, y, cudaBoundaryModeZero), surf2Dwrite(value, d, u, v, cudaBoundaryModeZero))
MOVE(move_clamped, uchar4, surf2Dread<uchar4>(s, x, y, cudaBoundaryModeClamp), surf2Dwrite(value, d, u, v, cudaBoundaryModeClamp))
MOVE(move_volume, short2, surf3Dread<short2>(s, x, y, z, cudaBoundaryModeZero), surf3Dwrite(value, d, u, v, w, cudaBoundaryModeZero))
MOVE(move_layers, unsigned char, surf2DLayeredread<unsigned char>(s, x, y, z, cudaBoundaryModeClamp),
     surf2DLayeredwrite(value, d, u, v, w, cudaBoundaryModeClamp))
MOVE(move_line, float4, surf1Dread<float4>(s, x, cudaBoundaryModeZero), surf1Dwrite(value, d, u, cudaBoundaryModeZero))
MOVE(move_trapped, float, surf2Dread<float>(s, x, y), surf2Dwrite(value, d, u, v))

extern "C" __global__ void read_by_pointer(cudaSurfaceObject_t s, float *out, int n) {
  int i = threadIdx.x;
  if (i < n) surf2Dread(&out[i], s, i * (int)sizeof(float), 0);
}
