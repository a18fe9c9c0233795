// Every function of texture_host.hpp, called as CUDA code calls it.
#include <hip/hip_runtime.h>
#include "porter/texture.hpp"
#include "porter/texture_host.hpp"

hipError_t use(hipStream_t stream, void* memory) {
  hipArray_t array = nullptr, other = nullptr;
  hipChannelFormatDesc format = hipCreateChannelDesc<uchar4>();
  hipExtent extent = make_hipExtent(4, 3, 2);
  unsigned flags = 0;
  hipError_t status = porter::hipMallocArray(&array, &format, 4);
  status = porter::hipMallocArray(&other, &format, 4, 3, hipArraySurfaceLoadStore);
  status = porter::hipMalloc3DArray(&array, &format, extent);
  status = porter::hipMalloc3DArray(&array, &format, extent, hipArrayLayered);
  status = porter::hipArrayGetInfo(&format, &extent, &flags, array);
  status = porter::hipGetChannelDesc(&format, array);
  status = porter::hipMemcpy2DToArray(array, 0, 0, memory, 16, 16, 3, hipMemcpyHostToDevice);
  status = porter::hipMemcpy2DToArrayAsync(array, 0, 0, memory, 16, 16, 3, hipMemcpyHostToDevice, stream);
  status = porter::hipMemcpy2DFromArray(memory, 16, array, 0, 0, 16, 3, hipMemcpyDeviceToHost);
  status = porter::hipMemcpy2DFromArrayAsync(memory, 16, array, 0, 0, 16, 3, hipMemcpyDeviceToHost, stream);
  status = porter::hipMemcpy2DArrayToArray(array, 0, 0, other, 0, 0, 16, 3);
  status = porter::hipMemcpyToArray(array, 0, 0, memory, 48, hipMemcpyHostToDevice);
  status = porter::hipMemcpyToArrayAsync(array, 0, 0, memory, 48, hipMemcpyHostToDevice, stream);
  status = porter::hipMemcpyFromArray(memory, array, 0, 0, 48, hipMemcpyDeviceToHost);
  status = porter::hipMemcpyFromArrayAsync(memory, array, 0, 0, 48, hipMemcpyDeviceToHost);
  hipMemcpy3DParms copy = {};
  copy.srcPtr = make_hipPitchedPtr(memory, 16, 4, 3);
  copy.dstArray = array;
  copy.extent = make_hipExtent(4, 3, 2);
  copy.kind = hipMemcpyHostToDevice;
  status = porter::hipMemcpy3D(&copy);
  status = porter::hipMemcpy3DAsync(&copy, stream);
  hipResourceDesc resource = {};
  hipTextureDesc reading = {};
  resource.resType = hipResourceTypeArray;
  resource.res.array.array = array;
  porter::texture_object texture = 0;
  porter::surface_object surface = 0;
  status = porter::hipCreateTextureObject(&texture, &resource, &reading, NULL);
  status = porter::hipGetTextureObjectResourceDesc(&resource, texture);
  status = porter::hipGetTextureObjectTextureDesc(&reading, texture);
  status = porter::hipCreateSurfaceObject(&surface, &resource);
  status = porter::hipGetSurfaceObjectResourceDesc(&resource, surface);
  status = porter::hipDestroySurfaceObject(surface);
  status = porter::hipDestroyTextureObject(texture);
  status = porter::hipFreeArray(array);
  return status;
}
