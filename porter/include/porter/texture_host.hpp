// CUDA's host functions for arrays, texture objects and surface objects, on plain device memory: HIP's own return
// hipErrorNotSupported on GPUs without image units (gfx942). An array is a small record on the host with its texels, row
// after row, in device memory; `hipArray_t` points to the record. Mip levels, cube maps, sRGB, resource views and arrays
// that HIP itself made are refused with an error. SPDX-License-Identifier: Apache-2.0
#ifndef PORTER_TEXTURE_HOST_HPP
#define PORTER_TEXTURE_HOST_HPP

#if !defined(__HIPCC_RTC__)

#include <hip/hip_runtime_api.h>

#include "texture_types.hpp"

namespace porter {
namespace detail {

struct Array {
  unsigned magic;
  unsigned flags;
  hipChannelFormatDesc format;
  hipExtent extent;  // as it was asked for: 0 where there is no such dimension
  char* data;
  size_t row, slice;
};

enum : unsigned { array_magic = 0xa55a7e87u };

inline Array const* array_of(hipArray_const_t array) {
  Array const* const known = reinterpret_cast<Array const*>(array);
  return known != nullptr && known->magic == array_magic ? known : nullptr;
}

inline size_t at_least_one(size_t n) { return n != 0 ? n : 1; }
inline size_t texel_bytes(hipChannelFormatDesc const& f) { return static_cast<size_t>(f.x + f.y + f.z + f.w) / 8; }
inline size_t row_bytes(Array const& array) { return array.extent.width * texel_bytes(array.format); }
inline size_t row_count(Array const& array) { return at_least_one(array.extent.height); }
inline size_t slice_count(Array const& array) { return at_least_one(array.extent.depth); }

/// 1, 2 or 4 channels of one size that there is; what the kernel needs to know of them.
inline bool describe_format(hipChannelFormatDesc const& f, hipTextureReadMode mode, TextureDescriptor& d) {
  int const sizes[4] = {f.x, f.y, f.z, f.w};
  unsigned channels = 0;
  while (channels < 4 && sizes[channels] != 0) ++channels;
  for (unsigned c = 0; c < 4; ++c)
    if (sizes[c] != (c < channels ? f.x : 0)) return false;
  if ((channels != 1 && channels != 2 && channels != 4) || (f.x != 8 && f.x != 16 && f.x != 32)) return false;
  bool const is_float = f.f == hipChannelFormatKindFloat, is_signed = f.f == hipChannelFormatKindSigned;
  if (!is_float && !is_signed && f.f != hipChannelFormatKindUnsigned) return false;
  if (is_float && f.x == 8) return false;
  d.channels = channels;
  d.channel_bytes = static_cast<unsigned>(f.x) / 8;
  d.kind = is_float ? (f.x == 16 ? texel_half : texel_float) : is_signed ? texel_signed : texel_unsigned;
  d.range = 0.0f;
  if (mode == hipReadModeNormalizedFloat && !is_float) {
    if (f.x == 32) return false;
    d.range = static_cast<float>((1u << (f.x - (is_signed ? 1 : 0))) - 1u);
  }
  d.inverse = d.range != 0.0f ? 1.0f / d.range : 0.0f;
  return true;
}

inline void describe_size(size_t width, size_t height, size_t depth, size_t layers, TextureDescriptor& d) {
  d.size[0] = static_cast<unsigned>(width);
  d.size[1] = static_cast<unsigned>(at_least_one(height));
  d.size[2] = static_cast<unsigned>(at_least_one(depth));
  d.layers = static_cast<unsigned>(at_least_one(layers));
}

inline hipError_t describe_resource(hipResourceDesc const& resource, hipTextureReadMode mode, TextureDescriptor& d) {
  d.magic = texture_magic;
  if (resource.resType == hipResourceTypeArray) {
    Array const* const array = array_of(resource.res.array.array);
    if (array == nullptr) return hipErrorInvalidValue;
    if (!describe_format(array->format, mode, d)) return hipErrorInvalidValue;
    bool const layered = (array->flags & hipArrayLayered) != 0;
    hipExtent const& extent = array->extent;
    describe_size(extent.width, extent.height, layered ? 0 : extent.depth, layered ? extent.depth : 0, d);
    d.data = reinterpret_cast<unsigned long long>(array->data);
    d.row = array->row;
    d.slice = array->slice;
    return hipSuccess;
  }
  if (resource.resType == hipResourceTypeLinear) {
    if (!describe_format(resource.res.linear.desc, mode, d)) return hipErrorInvalidValue;
    size_t const texels = resource.res.linear.sizeInBytes / texel_bytes(resource.res.linear.desc);
    if (texels >= 1u << 31) return hipErrorInvalidValue;
    describe_size(texels, 0, 0, 0, d);
    d.data = reinterpret_cast<unsigned long long>(resource.res.linear.devPtr);
    d.row = d.slice = resource.res.linear.sizeInBytes;
    return d.data != 0 && texels != 0 ? hipSuccess : hipErrorInvalidValue;
  }
  if (resource.resType == hipResourceTypePitch2D) {
    if (!describe_format(resource.res.pitch2D.desc, mode, d)) return hipErrorInvalidValue;
    describe_size(resource.res.pitch2D.width, resource.res.pitch2D.height, 0, 0, d);
    d.data = reinterpret_cast<unsigned long long>(resource.res.pitch2D.devPtr);
    d.row = resource.res.pitch2D.pitchInBytes;
    d.slice = d.row * d.size[1];
    return d.data != 0 && d.size[0] != 0 ? hipSuccess : hipErrorInvalidValue;
  }
  return hipErrorNotSupported;  // mip levels
}

inline hipError_t describe_reading(hipTextureDesc const& how, bool is_linear_memory, TextureDescriptor& d) {
  d.linear = how.filterMode == hipFilterModeLinear;
  if (how.sRGB != 0 && d.range == 255.0f) return hipErrorNotSupported;
  if (d.linear != 0 && d.range == 0.0f && d.kind != texel_float && d.kind != texel_half) return hipErrorInvalidValue;
  for (int k = 0; k < 3; ++k) {
    bool const folds = how.addressMode[k] == hipAddressModeWrap || how.addressMode[k] == hipAddressModeMirror;
    bool const is_clamped = is_linear_memory || (folds && how.normalizedCoords == 0);  // as CUDA documents it
    d.mode[k] = is_clamped ? static_cast<unsigned>(address_clamp) : static_cast<unsigned>(how.addressMode[k]);
    d.scale[k] = how.normalizedCoords != 0 ? static_cast<float>(d.size[k]) : 1.0f;
  }
  for (int c = 0; c < 4; ++c) d.border[c] = how.borderColor[c];
  return hipSuccess;
}

/// What an object's address leads to: the description that kernels read, and what the host asked for.
struct TextureBlock {
  TextureDescriptor descriptor;
  hipResourceDesc resource;
  hipTextureDesc reading;
};

inline hipError_t describe(
    hipResourceDesc const* resource, hipTextureDesc const* reading, hipResourceViewDesc const* view, TextureBlock& block) {
  if (resource == nullptr || reading == nullptr) return hipErrorInvalidValue;
  if (view != nullptr && view->format != hipResViewFormatNone) return hipErrorNotSupported;
  block = TextureBlock();
  block.resource = *resource;
  block.reading = *reading;
  hipError_t const status = describe_resource(*resource, reading->readMode, block.descriptor);
  return status != hipSuccess
             ? status
             : describe_reading(*reading, resource->resType == hipResourceTypeLinear, block.descriptor);
}

inline hipError_t place_block(unsigned long long* object, TextureBlock const& block) {
  void* place = nullptr;
  hipError_t status = hipMalloc(&place, sizeof(TextureBlock));
  if (status != hipSuccess) return status;
  status = ::hipMemcpy(place, &block, sizeof(TextureBlock), hipMemcpyHostToDevice);
  if (status != hipSuccess) {
    static_cast<void>(hipFree(place));
    return status;
  }
  *object = reinterpret_cast<unsigned long long>(place);
  return hipSuccess;
}

inline hipError_t read_block(unsigned long long object, TextureBlock& block) {
  if (object == 0) return hipErrorInvalidValue;
  hipError_t const status =
      ::hipMemcpy(&block, reinterpret_cast<void const*>(object), sizeof(TextureBlock), hipMemcpyDeviceToHost);
  return status == hipSuccess && block.descriptor.magic != texture_magic ? hipErrorInvalidValue : status;
}

/// A part of an array, from `x` bytes and `y` rows on; null where it does not fit.
inline char* part_of(hipArray_const_t array, size_t x, size_t y, size_t width, size_t height) {
  Array const* const known = array_of(array);
  if (known == nullptr || x + width > row_bytes(*known) || y + height > row_count(*known)) return nullptr;
  return known->data + y * known->row + x;
}

/// Calls `copy(place in the array, offset in the other memory, bytes of a row, rows)` for up to three rectangles: the rest
/// of a row, whole rows, and the start of the last one.
template <class Copy>
hipError_t in_rectangles(hipArray_const_t array, size_t x, size_t y, size_t count, Copy copy) {
  Array const* const known = array_of(array);
  if (known == nullptr) return hipErrorInvalidValue;
  size_t const width = row_bytes(*known);
  if (x >= width || y * width + x + count > width * row_count(*known)) return hipErrorInvalidValue;
  size_t done = 0;
  while (done < count) {
    size_t const left = count - done, rows = x == 0 && left >= width ? left / width : 1;
    size_t const bytes = left < width - x ? left : width - x;
    hipError_t const status = copy(known->data + y * known->row + x, known->row, done, bytes, rows);
    if (status != hipSuccess) return status;
    done += bytes * rows;
    y += rows;
    x = 0;
  }
  return hipSuccess;
}

}  // namespace detail

// ---- arrays ----------------------------------------------------------------------------------------------------------

inline hipError_t hipMalloc3DArray(
    hipArray_t* array, hipChannelFormatDesc const* format, hipExtent extent, unsigned int flags = hipArrayDefault) {
  detail::TextureDescriptor checked = detail::TextureDescriptor();
  if (array == nullptr || format == nullptr || extent.width == 0) return hipErrorInvalidValue;
  if (!detail::describe_format(*format, hipReadModeElementType, checked)) return hipErrorInvalidValue;
  if ((flags & hipArrayCubemap) != 0) return hipErrorNotSupported;
  detail::Array made = detail::Array();
  made.magic = detail::array_magic;
  made.flags = flags;
  made.format = *format;
  made.extent = extent;
  made.row = (detail::row_bytes(made) + 127) / 128 * 128;
  made.slice = made.row * detail::row_count(made);
  void* data = nullptr;
  hipError_t const status = hipMalloc(&data, made.slice * detail::slice_count(made));
  if (status != hipSuccess) return status;
  made.data = static_cast<char*>(data);
  *array = reinterpret_cast<hipArray_t>(new detail::Array(made));
  return hipSuccess;
}

inline hipError_t hipMallocArray(hipArray_t* array, hipChannelFormatDesc const* format, size_t width, size_t height = 0,
    unsigned int flags = hipArrayDefault) {
  hipExtent extent;
  extent.width = width;
  extent.height = height;
  extent.depth = 0;
  return porter::hipMalloc3DArray(array, format, extent, flags);
}

inline hipError_t hipFreeArray(hipArray_t array) {
  if (array == nullptr) return hipSuccess;
  detail::Array* const known = reinterpret_cast<detail::Array*>(array);
  if (known->magic != detail::array_magic) return hipErrorInvalidValue;
  hipError_t const status = hipFree(known->data);
  known->magic = 0;
  delete known;
  return status;
}

inline hipError_t hipArrayGetInfo(
    hipChannelFormatDesc* format, hipExtent* extent, unsigned int* flags, hipArray_const_t array) {
  detail::Array const* const known = detail::array_of(array);
  if (known == nullptr) return hipErrorInvalidValue;
  if (format != nullptr) *format = known->format;
  if (extent != nullptr) *extent = known->extent;
  if (flags != nullptr) *flags = known->flags;
  return hipSuccess;
}

inline hipError_t hipGetChannelDesc(hipChannelFormatDesc* format, hipArray_const_t array) {
  return porter::hipArrayGetInfo(format, nullptr, nullptr, array);
}

// ---- copies ----------------------------------------------------------------------------------------------------------

inline hipError_t hipMemcpy2DToArrayAsync(hipArray_t array, size_t x, size_t y, void const* from, size_t pitch, size_t width,
    size_t height, hipMemcpyKind kind, hipStream_t stream = nullptr) {
  char* const to = detail::part_of(array, x, y, width, height);
  if (to == nullptr) return hipErrorInvalidValue;
  return ::hipMemcpy2DAsync(to, detail::array_of(array)->row, from, pitch, width, height, kind, stream);
}
inline hipError_t hipMemcpy2DToArray(hipArray_t array, size_t x, size_t y, void const* from, size_t pitch, size_t width,
    size_t height, hipMemcpyKind kind) {
  char* const to = detail::part_of(array, x, y, width, height);
  if (to == nullptr) return hipErrorInvalidValue;
  return ::hipMemcpy2D(to, detail::array_of(array)->row, from, pitch, width, height, kind);
}
inline hipError_t hipMemcpy2DFromArrayAsync(void* to, size_t pitch, hipArray_const_t array, size_t x, size_t y, size_t width,
    size_t height, hipMemcpyKind kind, hipStream_t stream = nullptr) {
  char const* const from = detail::part_of(array, x, y, width, height);
  if (from == nullptr) return hipErrorInvalidValue;
  return ::hipMemcpy2DAsync(to, pitch, from, detail::array_of(array)->row, width, height, kind, stream);
}
inline hipError_t hipMemcpy2DFromArray(void* to, size_t pitch, hipArray_const_t array, size_t x, size_t y, size_t width,
    size_t height, hipMemcpyKind kind) {
  char const* const from = detail::part_of(array, x, y, width, height);
  if (from == nullptr) return hipErrorInvalidValue;
  return ::hipMemcpy2D(to, pitch, from, detail::array_of(array)->row, width, height, kind);
}
inline hipError_t hipMemcpy2DArrayToArray(hipArray_t target, size_t target_x, size_t target_y, hipArray_const_t source,
    size_t x, size_t y, size_t width, size_t height, hipMemcpyKind kind = hipMemcpyDeviceToDevice) {
  char* const to = detail::part_of(target, target_x, target_y, width, height);
  char const* const from = detail::part_of(source, x, y, width, height);
  if (to == nullptr || from == nullptr) return hipErrorInvalidValue;
  return ::hipMemcpy2D(
      to, detail::array_of(target)->row, from, detail::array_of(source)->row, width, height, kind);
}

inline hipError_t hipMemcpyToArrayAsync(hipArray_t array, size_t x, size_t y, void const* from, size_t count,
    hipMemcpyKind kind, hipStream_t stream = nullptr) {
  char const* const source = static_cast<char const*>(from);
  return detail::in_rectangles(array, x, y, count, [=](char* to, size_t row, size_t done, size_t bytes, size_t rows) {
    return ::hipMemcpy2DAsync(to, row, source + done, bytes, bytes, rows, kind, stream);
  });
}
inline hipError_t hipMemcpyToArray(
    hipArray_t array, size_t x, size_t y, void const* from, size_t count, hipMemcpyKind kind) {
  char const* const source = static_cast<char const*>(from);
  return detail::in_rectangles(array, x, y, count, [=](char* to, size_t row, size_t done, size_t bytes, size_t rows) {
    return ::hipMemcpy2D(to, row, source + done, bytes, bytes, rows, kind);
  });
}
inline hipError_t hipMemcpyFromArrayAsync(void* to, hipArray_const_t array, size_t x, size_t y, size_t count,
    hipMemcpyKind kind, hipStream_t stream = nullptr) {
  char* const target = static_cast<char*>(to);
  return detail::in_rectangles(array, x, y, count, [=](char* from, size_t row, size_t done, size_t bytes, size_t rows) {
    return ::hipMemcpy2DAsync(target + done, bytes, from, row, bytes, rows, kind, stream);
  });
}
inline hipError_t hipMemcpyFromArray(
    void* to, hipArray_const_t array, size_t x, size_t y, size_t count, hipMemcpyKind kind) {
  char* const target = static_cast<char*>(to);
  return detail::in_rectangles(array, x, y, count, [=](char* from, size_t row, size_t done, size_t bytes, size_t rows) {
    return ::hipMemcpy2D(target + done, bytes, from, row, bytes, rows, kind);
  });
}

namespace detail {

/// Puts the memory of an array in its place; positions and the extent then count bytes in a row.
inline bool resolve(hipArray_t& array, hipPos& position, hipPitchedPtr& memory, hipExtent const& extent) {
  if (array == nullptr) return true;
  Array const* const known = array_of(array);
  if (known == nullptr) return false;
  size_t const bytes = texel_bytes(known->format);
  if (position.x + extent.width > known->extent.width || position.y + extent.height > row_count(*known) ||
      position.z + extent.depth > slice_count(*known))
    return false;
  position.x *= bytes;
  memory.ptr = known->data;
  memory.pitch = known->row;
  memory.xsize = row_bytes(*known);
  memory.ysize = row_count(*known);
  array = nullptr;
  return true;
}

/// The same copy between pitched memory; false where an array is not ours, or does not hold the part.
inline bool without_arrays(hipMemcpy3DParms& p) {
  Array const* const known = array_of(p.srcArray != nullptr ? p.srcArray : p.dstArray);
  size_t const bytes = known != nullptr ? texel_bytes(known->format) : 1;
  hipExtent const extent = p.extent;
  bool const fits = resolve(p.srcArray, p.srcPos, p.srcPtr, extent) && resolve(p.dstArray, p.dstPos, p.dstPtr, extent);
  p.extent.width *= bytes;
  return fits;
}

}  // namespace detail

inline hipError_t hipMemcpy3DAsync(hipMemcpy3DParms const* parameters, hipStream_t stream = nullptr) {
  if (parameters == nullptr) return hipErrorInvalidValue;
  hipMemcpy3DParms plain = *parameters;
  return detail::without_arrays(plain) ? ::hipMemcpy3DAsync(&plain, stream) : hipErrorInvalidValue;
}
inline hipError_t hipMemcpy3D(hipMemcpy3DParms const* parameters) {
  if (parameters == nullptr) return hipErrorInvalidValue;
  hipMemcpy3DParms plain = *parameters;
  return detail::without_arrays(plain) ? ::hipMemcpy3D(&plain) : hipErrorInvalidValue;
}

// ---- objects ---------------------------------------------------------------------------------------------------------

inline hipError_t hipCreateTextureObject(texture_object* object, hipResourceDesc const* resource,
    hipTextureDesc const* reading, hipResourceViewDesc const* view) {
  detail::TextureBlock block;
  hipError_t const status = object == nullptr ? hipErrorInvalidValue : detail::describe(resource, reading, view, block);
  return status != hipSuccess ? status : detail::place_block(object, block);
}

inline hipError_t hipDestroyTextureObject(texture_object object) { return hipFree(reinterpret_cast<void*>(object)); }

inline hipError_t hipGetTextureObjectResourceDesc(hipResourceDesc* resource, texture_object object) {
  detail::TextureBlock block;
  hipError_t const status = resource == nullptr ? hipErrorInvalidValue : detail::read_block(object, block);
  if (status == hipSuccess) *resource = block.resource;
  return status;
}

inline hipError_t hipGetTextureObjectTextureDesc(hipTextureDesc* reading, texture_object object) {
  detail::TextureBlock block;
  hipError_t const status = reading == nullptr ? hipErrorInvalidValue : detail::read_block(object, block);
  if (status == hipSuccess) *reading = block.reading;
  return status;
}

inline hipError_t hipCreateSurfaceObject(surface_object* object, hipResourceDesc const* resource) {
  hipTextureDesc const reading = hipTextureDesc();
  if (resource == nullptr || resource->resType != hipResourceTypeArray) return hipErrorInvalidValue;
  return porter::hipCreateTextureObject(object, resource, &reading, nullptr);
}

inline hipError_t hipDestroySurfaceObject(surface_object object) { return hipFree(reinterpret_cast<void*>(object)); }

inline hipError_t hipGetSurfaceObjectResourceDesc(hipResourceDesc* resource, surface_object object) {
  return porter::hipGetTextureObjectResourceDesc(resource, object);
}

}  // namespace porter

#endif
#endif  // PORTER_TEXTURE_HOST_HPP
