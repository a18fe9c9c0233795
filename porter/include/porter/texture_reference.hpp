// Texture and surface references (`texture<float, 2> t;`, bound by the host, up to CUDA 11) on plain memory, as texture.hpp
// reads it.
//
// `PORTER_TEXTURE_REFERENCE(name, T, dimensions, mode);` makes two variables: what kernels read, in constant memory, and `name`,
// which holds on the host what a program sets before it binds. Binding writes the former, in the order of the null stream: a
// kernel in a stream that does not wait for that one must be done before. SPDX-License-Identifier: Apache-2.0
#ifndef PORTER_TEXTURE_REFERENCE_HPP
#define PORTER_TEXTURE_REFERENCE_HPP

#if defined(__HIP__) || defined(__HIPCC__)

#include <hip/hip_runtime.h>

#include "texture.hpp"
#include "texture_host.hpp"

namespace porter {

typedef detail::TextureDescriptor texture_descriptor;

/// What the host knows of a texture reference: CUDA's members, and where kernels look.
struct texture_reference : textureReference {
  void const* place;
  hipTextureReadMode mode;
};

template <class T, int kind, hipTextureReadMode read, texture_descriptor* descriptor>
struct texture_variable : texture_reference {
#if !defined(__HIP_DEVICE_COMPILE__)
  texture_variable() : texture_reference() {
    for (int k = 0; k < 3; ++k) addressMode[k] = hipAddressModeClamp;
    filterMode = hipFilterModePoint;
    channelDesc = hipCreateChannelDesc<T>();
    place = descriptor;
    mode = read;
  }
#endif
};

/// The same for a surface reference.
struct surface_reference {
  void const* place;
};
template <texture_descriptor* descriptor> struct surface_variable : surface_reference {
#if !defined(__HIP_DEVICE_COMPILE__)
  surface_variable() { place = descriptor; }
#endif
};

namespace detail {

template <class T, hipTextureReadMode read> struct TexelRead {
  typedef T type;
};
#define PORTER_FRACTION(part, vector)                                                                    \
  template <> struct TexelRead<part, hipReadModeNormalizedFloat> { typedef float type; };                       \
  template <> struct TexelRead<vector##1, hipReadModeNormalizedFloat> { typedef float1 type; };          \
  template <> struct TexelRead<vector##2, hipReadModeNormalizedFloat> { typedef float2 type; };          \
  template <> struct TexelRead<vector##4, hipReadModeNormalizedFloat> { typedef float4 type; };
PORTER_FRACTION(unsigned char, uchar)
PORTER_FRACTION(char, char)
PORTER_FRACTION(unsigned short, ushort)
PORTER_FRACTION(short, short)
#undef PORTER_FRACTION
template <> struct TexelRead<signed char, hipReadModeNormalizedFloat> { typedef float type; };

inline hipError_t write_descriptor(
    void const* place, hipResourceDesc const& resource, hipTextureDesc const& reading) {
  TextureBlock block;
  hipError_t const status = describe(&resource, &reading, nullptr, block);
  if (status != hipSuccess) return status;
  return ::hipMemcpyToSymbol(place, &block.descriptor, sizeof(TextureDescriptor), 0, hipMemcpyHostToDevice);
}

inline hipError_t bind(texture_reference const& reference, hipResourceDesc const& resource) {
  hipTextureDesc reading = hipTextureDesc();
  for (int k = 0; k < 3; ++k) reading.addressMode[k] = reference.addressMode[k];
  reading.filterMode = reference.filterMode;
  reading.readMode = reference.mode;
  reading.sRGB = reference.sRGB;
  reading.normalizedCoords = reference.normalized;
  return write_descriptor(reference.place, resource, reading);
}

}  // namespace detail

// ---- binding ---------------------------------------------------------------------------------------------------------

inline hipError_t hipBindTexture(size_t* offset, texture_reference const* reference, void const* memory,
    hipChannelFormatDesc const* format, size_t size = 0xffffffffu) {
  hipResourceDesc resource = hipResourceDesc();
  resource.resType = hipResourceTypeLinear;
  resource.res.linear.devPtr = const_cast<void*>(memory);
  resource.res.linear.desc = *format;
  size_t const most = (static_cast<size_t>(1) << 27) * detail::texel_bytes(*format);  // CUDA's limit, if none is given
  resource.res.linear.sizeInBytes = size < most ? size : most;
  if (offset != nullptr) *offset = 0;
  return detail::bind(*reference, resource);
}
inline hipError_t hipBindTexture(size_t* offset, texture_reference const& reference, void const* memory,
    hipChannelFormatDesc const& format, size_t size = 0xffffffffu) {
  return porter::hipBindTexture(offset, &reference, memory, &format, size);
}
inline hipError_t hipBindTexture(
    size_t* offset, texture_reference const& reference, void const* memory, size_t size = 0xffffffffu) {
  return porter::hipBindTexture(offset, &reference, memory, &reference.channelDesc, size);
}

inline hipError_t hipBindTexture2D(size_t* offset, texture_reference const* reference, void const* memory,
    hipChannelFormatDesc const* format, size_t width, size_t height, size_t pitch) {
  hipResourceDesc resource = hipResourceDesc();
  resource.resType = hipResourceTypePitch2D;
  resource.res.pitch2D.devPtr = const_cast<void*>(memory);
  resource.res.pitch2D.desc = *format;
  resource.res.pitch2D.width = width;
  resource.res.pitch2D.height = height;
  resource.res.pitch2D.pitchInBytes = pitch;
  if (offset != nullptr) *offset = 0;
  return detail::bind(*reference, resource);
}
inline hipError_t hipBindTexture2D(size_t* offset, texture_reference const& reference, void const* memory,
    hipChannelFormatDesc const& format, size_t width, size_t height, size_t pitch) {
  return porter::hipBindTexture2D(offset, &reference, memory, &format, width, height, pitch);
}
inline hipError_t hipBindTexture2D(size_t* offset, texture_reference const& reference, void const* memory, size_t width,
    size_t height, size_t pitch) {
  return porter::hipBindTexture2D(offset, &reference, memory, &reference.channelDesc, width, height, pitch);
}

inline hipError_t hipBindTextureToArray(
    texture_reference const* reference, hipArray_const_t array, hipChannelFormatDesc const* = nullptr) {
  hipResourceDesc resource = hipResourceDesc();
  resource.resType = hipResourceTypeArray;
  resource.res.array.array = const_cast<hipArray_t>(array);
  return detail::bind(*reference, resource);
}
inline hipError_t hipBindTextureToArray(
    texture_reference const& reference, hipArray_const_t array, hipChannelFormatDesc const&) {
  return porter::hipBindTextureToArray(&reference, array);
}
inline hipError_t hipBindTextureToArray(texture_reference const& reference, hipArray_const_t array) {
  return porter::hipBindTextureToArray(&reference, array);
}

inline hipError_t hipBindSurfaceToArray(
    surface_reference const* reference, hipArray_const_t array, hipChannelFormatDesc const* = nullptr) {
  hipResourceDesc resource = hipResourceDesc();
  resource.resType = hipResourceTypeArray;
  resource.res.array.array = const_cast<hipArray_t>(array);
  return detail::write_descriptor(reference->place, resource, hipTextureDesc());
}
inline hipError_t hipBindSurfaceToArray(
    surface_reference const& reference, hipArray_const_t array, hipChannelFormatDesc const&) {
  return porter::hipBindSurfaceToArray(&reference, array);
}
inline hipError_t hipBindSurfaceToArray(surface_reference const& reference, hipArray_const_t array) {
  return porter::hipBindSurfaceToArray(&reference, array);
}

inline hipError_t hipUnbindTexture(texture_reference const*) { return hipSuccess; }
inline hipError_t hipUnbindTexture(texture_reference const&) { return hipSuccess; }
inline hipError_t hipGetTextureAlignmentOffset(size_t* offset, texture_reference const*) {
  *offset = 0;
  return hipSuccess;
}
inline hipError_t hipGetTextureAlignmentOffset(size_t* offset, texture_reference const& reference) {
  return porter::hipGetTextureAlignmentOffset(offset, &reference);
}

// ---- kernels ---------------------------------------------------------------------------------------------------------

#define PORTER_LIST(...) __VA_ARGS__
#define PORTER_REFERENCE_FUNCTION(name, parameters, arguments)                                                   \
  template <class T, int kind, hipTextureReadMode read, texture_descriptor* descriptor>                          \
  __device__ inline __attribute__((always_inline)) typename detail::TexelRead<T, read>::type name(               \
      texture_variable<T, kind, read, descriptor> const&, PORTER_LIST parameters) {                              \
    return name<typename detail::TexelRead<T, read>::type>(                                                      \
        (texture_object)descriptor, PORTER_LIST arguments);                                                      \
  }

PORTER_REFERENCE_FUNCTION(tex1Dfetch, (int x), (x))
PORTER_REFERENCE_FUNCTION(tex1D, (float x), (x))
PORTER_REFERENCE_FUNCTION(tex2D, (float x, float y), (x, y))
PORTER_REFERENCE_FUNCTION(tex3D, (float x, float y, float z), (x, y, z))
PORTER_REFERENCE_FUNCTION(tex1DLayered, (float x, int layer), (x, layer))
PORTER_REFERENCE_FUNCTION(tex2DLayered, (float x, float y, int layer), (x, y, layer))
PORTER_REFERENCE_FUNCTION(tex1DLod, (float x, float level), (x, level))
PORTER_REFERENCE_FUNCTION(tex2DLod, (float x, float y, float level), (x, y, level))
PORTER_REFERENCE_FUNCTION(tex3DLod, (float x, float y, float z, float level), (x, y, z, level))

#define PORTER_SURFACE_FUNCTION(name, parameters, arguments)                                                         \
  template <class T, texture_descriptor* descriptor>                                                                 \
  __device__ inline __attribute__((always_inline)) T name##read(surface_variable<descriptor> const&,                 \
      PORTER_LIST parameters, hipSurfaceBoundaryMode mode = hipBoundaryModeTrap) {                                   \
    return name##read<T>((surface_object)descriptor, PORTER_LIST arguments, mode);                                   \
  }                                                                                                                  \
  template <class T, texture_descriptor* descriptor>                                                                 \
  __device__ inline __attribute__((always_inline)) void name##read(T* value, surface_variable<descriptor> const&,    \
      PORTER_LIST parameters, hipSurfaceBoundaryMode mode = hipBoundaryModeTrap) {                                   \
    *value = name##read<T>((surface_object)descriptor, PORTER_LIST arguments, mode);                                 \
  }                                                                                                                  \
  template <class T, texture_descriptor* descriptor>                                                                 \
  __device__ inline __attribute__((always_inline)) void name##write(T value, surface_variable<descriptor> const&,    \
      PORTER_LIST parameters, hipSurfaceBoundaryMode mode = hipBoundaryModeTrap) {                                   \
    name##write(value, (surface_object)descriptor, PORTER_LIST arguments, mode);                                     \
  }

PORTER_SURFACE_FUNCTION(surf1D, (int x), (x))
PORTER_SURFACE_FUNCTION(surf2D, (int x, int y), (x, y))
PORTER_SURFACE_FUNCTION(surf3D, (int x, int y, int z), (x, y, z))
PORTER_SURFACE_FUNCTION(surf1DLayered, (int x, int layer), (x, layer))
PORTER_SURFACE_FUNCTION(surf2DLayered, (int x, int y, int layer), (x, y, layer))

#undef PORTER_SURFACE_FUNCTION
#undef PORTER_REFERENCE_FUNCTION
#undef PORTER_LIST

template <texture_descriptor* descriptor, class T, int kind = hipTextureType1D,
          hipTextureReadMode read = hipReadModeElementType>
using texture_with_defaults = texture_variable<T, kind, read, descriptor>;

}  // namespace porter

// The variable itself is the device's where the device's code is made: both sides name it.
#if defined(__HIP_DEVICE_COMPILE__)
#define PORTER_TEXTURE_SIDE static __device__
#else
#define PORTER_TEXTURE_SIDE static
#endif
#define PORTER_TEXTURE_REFERENCE(name, ...)                             \
  static __constant__ porter::texture_descriptor porter_texture_##name; \
  PORTER_TEXTURE_SIDE porter::texture_with_defaults<&porter_texture_##name, __VA_ARGS__> name
#define PORTER_SURFACE_REFERENCE(name, ...)                             \
  static __constant__ porter::texture_descriptor porter_texture_##name; \
  PORTER_TEXTURE_SIDE porter::surface_variable<&porter_texture_##name> name

#endif
#endif  // PORTER_TEXTURE_REFERENCE_HPP
