// texture_host.hpp over a HIP runtime of malloc and memcpy: prints what arrays and descriptions hold.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <hip/hip_runtime_api.h>

static int alive = 0;
extern "C" hipError_t hipMalloc(void** place, size_t bytes) {
  *place = std::malloc(bytes);
  std::memset(*place, 0xee, bytes);
  ++alive;
  return hipSuccess;
}
extern "C" hipError_t hipFree(void* place) {
  alive -= place != nullptr;
  std::free(place);
  return hipSuccess;
}
extern "C" hipError_t hipMemcpy(void* to, const void* from, size_t bytes, hipMemcpyKind) {
  std::memcpy(to, from, bytes);
  return hipSuccess;
}
extern "C" hipError_t hipMemcpy2D(
    void* to, size_t row, const void* from, size_t pitch, size_t width, size_t height, hipMemcpyKind) {
  for (size_t y = 0; y < height; ++y)
    std::memcpy(static_cast<char*>(to) + y * row, static_cast<const char*>(from) + y * pitch, width);
  return width <= row && width <= pitch ? hipSuccess : hipErrorInvalidValue;
}
extern "C" hipError_t hipMemcpy2DAsync(void* to, size_t row, const void* from, size_t pitch, size_t width, size_t height,
    hipMemcpyKind kind, hipStream_t) {
  return hipMemcpy2D(to, row, from, pitch, width, height, kind);
}
extern "C" hipError_t hipMemcpy3D(const hipMemcpy3DParms* p) {
  if (p->srcArray != nullptr || p->dstArray != nullptr) return hipErrorNotSupported;
  for (size_t z = 0; z < p->extent.depth; ++z)
    for (size_t y = 0; y < p->extent.height; ++y) {
      char* to = static_cast<char*>(p->dstPtr.ptr) + p->dstPos.x +
                 p->dstPtr.pitch * (y + p->dstPos.y + p->dstPtr.ysize * (z + p->dstPos.z));
      const char* from = static_cast<const char*>(p->srcPtr.ptr) + p->srcPos.x +
                         p->srcPtr.pitch * (y + p->srcPos.y + p->srcPtr.ysize * (z + p->srcPos.z));
      std::memcpy(to, from, p->extent.width);
    }
  return hipSuccess;
}
extern "C" hipError_t hipMemcpy3DAsync(const hipMemcpy3DParms* p, hipStream_t) { return hipMemcpy3D(p); }

#include "porter/texture_host.hpp"

static void shown(const char* name, const void* data, size_t bytes) {
  std::printf("%s ", name);
  for (size_t i = 0; i < bytes; ++i) std::printf("%02x", static_cast<const unsigned char*>(data)[i]);
  std::printf("\n");
}
static void must(hipError_t status, int line) {
  if (status == hipSuccess) return;
  std::printf("failed line %d: %d\n", line, static_cast<int>(status));
  std::exit(1);
}
#define MUST(call) must(call, __LINE__)
#define REFUSED(call) std::printf("refused %d\n", (call) != hipSuccess)

/// The texels of an array, read back.
static void texels(const char* name, hipArray_t array, size_t bytes_of_a_row, size_t rows) {
  std::vector<char> back(bytes_of_a_row * rows);
  MUST(porter::hipMemcpy2DFromArray(
      back.data(), bytes_of_a_row, array, 0, 0, bytes_of_a_row, rows, hipMemcpyDeviceToHost));
  shown(name, back.data(), back.size());
}

static hipChannelFormatDesc format(int x, int y, int z, int w, hipChannelFormatKind kind) {
  hipChannelFormatDesc made;
  made.x = x, made.y = y, made.z = z, made.w = w, made.f = kind;
  return made;
}

/// The description without its address, and the address as a distance from the memory.
static void described(const char* name, hipResourceDesc const& resource, hipTextureDesc const& reading, const void* base) {
  porter::texture_object object = 0;
  MUST(porter::hipCreateTextureObject(&object, &resource, &reading, nullptr));
  porter::detail::TextureDescriptor found;
  std::memcpy(&found, reinterpret_cast<void*>(object), sizeof found);
  if (base != nullptr && found.data != reinterpret_cast<unsigned long long>(base)) std::printf("another address\n");
  found.data = 4096;
  shown(name, &found, sizeof found);
  hipResourceDesc back;
  MUST(porter::hipGetTextureObjectResourceDesc(&back, object));
  if (std::memcmp(&back, &resource, sizeof back) != 0) std::printf("another resource\n");
  MUST(porter::hipDestroyTextureObject(object));
}

int main() {
  unsigned char bytes[64];
  for (int i = 0; i < 64; ++i) bytes[i] = static_cast<unsigned char>(i + 1);
  hipChannelFormatDesc const pixel = format(8, 8, 0, 0, hipChannelFormatKindUnsigned);
  hipChannelFormatDesc const real = format(32, 0, 0, 0, hipChannelFormatKindFloat);

  hipArray_t plane = nullptr, other = nullptr, volume = nullptr, layers = nullptr;
  MUST(porter::hipMallocArray(&plane, &pixel, 5, 3));  // rows of 10 bytes
  MUST(porter::hipMallocArray(&other, &pixel, 5, 3));
  MUST(porter::hipMemcpy2DToArray(plane, 0, 0, bytes, 12, 10, 3, hipMemcpyHostToDevice));
  texels("rows", plane, 10, 3);
  MUST(porter::hipMemcpyToArray(plane, 4, 0, bytes + 30, 20, hipMemcpyHostToDevice));  // 6 of row 0, row 1, 4 of row 2
  texels("spilled", plane, 10, 3);
  MUST(porter::hipMemcpy2DArrayToArray(other, 0, 0, plane, 2, 1, 8, 2, hipMemcpyDeviceToDevice));
  unsigned char back[64] = {};
  MUST(porter::hipMemcpyFromArray(back, other, 0, 0, 8, hipMemcpyDeviceToHost));
  shown("moved", back, 8);
  REFUSED(porter::hipMemcpy2DToArray(plane, 2, 0, bytes, 10, 10, 1, hipMemcpyHostToDevice));
  REFUSED(porter::hipMemcpy2DToArray(plane, 0, 1, bytes, 10, 10, 3, hipMemcpyHostToDevice));
  REFUSED(porter::hipMemcpyToArray(plane, 4, 2, bytes, 7, hipMemcpyHostToDevice));

  hipExtent extent = {3, 2, 4};
  MUST(porter::hipMalloc3DArray(&volume, &pixel, extent));
  hipMemcpy3DParms copy = {};
  copy.srcPtr.ptr = bytes, copy.srcPtr.pitch = 6, copy.srcPtr.xsize = 6, copy.srcPtr.ysize = 2;
  copy.dstArray = volume;
  copy.extent = extent;
  copy.kind = hipMemcpyHostToDevice;
  MUST(porter::hipMemcpy3D(&copy));
  hipMemcpy3DParms part = {};  // texels 1 and 2 of row 1 in slices 2 and 3
  part.srcArray = volume;
  part.srcPos.x = 1, part.srcPos.y = 1, part.srcPos.z = 2;
  part.dstPtr.ptr = back, part.dstPtr.pitch = 4, part.dstPtr.xsize = 4, part.dstPtr.ysize = 1;
  part.extent.width = 2, part.extent.height = 1, part.extent.depth = 2;
  part.kind = hipMemcpyDeviceToHost;
  MUST(porter::hipMemcpy3D(&part));
  shown("part", back, 8);
  part.srcPos.z = 3;
  REFUSED(porter::hipMemcpy3D(&part));

  MUST(porter::hipMalloc3DArray(&layers, &real, extent, hipArrayLayered));
  hipChannelFormatDesc found;
  unsigned flags = 0;
  MUST(porter::hipArrayGetInfo(&found, &extent, &flags, layers));
  std::printf("info %d %d %zu %zu %zu %u\n", found.x, static_cast<int>(found.f), extent.width, extent.height, extent.depth, flags);

  hipResourceDesc resource;
  std::memset(&resource, 0, sizeof resource);
  hipTextureDesc reading;
  std::memset(&reading, 0, sizeof reading);
  resource.resType = hipResourceTypeLinear;
  resource.res.linear.devPtr = bytes;
  resource.res.linear.desc = real;
  resource.res.linear.sizeInBytes = 64;
  reading.addressMode[0] = hipAddressModeBorder;
  described("linear", resource, reading, bytes);
  resource.res.linear.desc = format(16, 0, 0, 0, hipChannelFormatKindSigned);
  reading.filterMode = hipFilterModeLinear;
  porter::texture_object none = 0;
  REFUSED(porter::hipCreateTextureObject(&none, &resource, &reading, nullptr));
  reading.readMode = hipReadModeNormalizedFloat;
  described("fractions", resource, reading, bytes);
  resource.res.linear.desc = format(8, 8, 8, 0, hipChannelFormatKindUnsigned);
  REFUSED(porter::hipCreateTextureObject(&none, &resource, &reading, nullptr));

  std::memset(&resource, 0, sizeof resource);
  resource.resType = hipResourceTypeArray;
  resource.res.array.array = volume;
  reading.normalizedCoords = 1;
  reading.addressMode[0] = hipAddressModeWrap;
  reading.addressMode[1] = hipAddressModeMirror;
  reading.addressMode[2] = hipAddressModeBorder;
  reading.borderColor[1] = 0.5f;
  described("volume", resource, reading, nullptr);
  reading.normalizedCoords = 0;
  reading.sRGB = 1;
  REFUSED(porter::hipCreateTextureObject(&none, &resource, &reading, nullptr));
  reading.sRGB = 0;
  resource.res.array.array = layers;
  reading.readMode = hipReadModeElementType;
  described("layers", resource, reading, nullptr);
  int foreign[16] = {};
  resource.res.array.array = reinterpret_cast<hipArray_t>(foreign);
  REFUSED(porter::hipCreateTextureObject(&none, &resource, &reading, nullptr));
  REFUSED(porter::hipFreeArray(reinterpret_cast<hipArray_t>(foreign)));

  for (hipArray_t array : {plane, other, volume, layers}) MUST(porter::hipFreeArray(array));
  std::printf("alive %d\n", alive);
}
