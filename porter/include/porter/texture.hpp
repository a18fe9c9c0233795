// CUDA's texture and surface functions on plain memory, for GPUs without image units (gfx942); they work on any GPU.
//
// What CUDA documents is kept: address modes, texel centres, and the linear filter with 8 bits of fraction in its weights.
// The documentation leaves open: NaN as a coordinate is the lowest one; a texel with weight 0 does not count, even if it is
// no number; products are added with fused multiply-adds, corner by corner. There is no texture cache: filtering costs
// arithmetic and loads. SPDX-License-Identifier: Apache-2.0
#ifndef PORTER_TEXTURE_HPP
#define PORTER_TEXTURE_HPP

#include "texture_types.hpp"

#if defined(__HIP__) || defined(__HIPCC__)

#include <hip/hip_runtime.h>

#define PORTER_TEXTURE template <class T> __device__ inline __attribute__((always_inline))
#define PORTER_TEXEL_CODE __device__ inline __attribute__((always_inline))

namespace porter {
namespace detail {

// No kernel changes a description: constant memory lets the compiler keep it in scalar registers.
typedef __attribute__((address_space(4))) TextureDescriptor const* TexturePointer;
#define PORTER_GLOBAL __attribute__((address_space(1)))

PORTER_TEXEL_CODE TexturePointer described(texture_object object) { return (TexturePointer)object; }

/// What a texel type is made of.
template <class T> struct TexelParts;
template <class Part, int parts> struct TexelOf {
  typedef Part part;
  static constexpr int count = parts;
};
#define PORTER_TEXEL(type, vector)                                 \
  template <> struct TexelParts<type> : TexelOf<type, 1> {};       \
  template <> struct TexelParts<vector##1> : TexelOf<type, 1> {};  \
  template <> struct TexelParts<vector##2> : TexelOf<type, 2> {};  \
  template <> struct TexelParts<vector##4> : TexelOf<type, 4> {}
PORTER_TEXEL(char, char);
PORTER_TEXEL(unsigned char, uchar);
PORTER_TEXEL(short, short);
PORTER_TEXEL(unsigned short, ushort);
PORTER_TEXEL(int, int);
PORTER_TEXEL(unsigned int, uint);
PORTER_TEXEL(float, float);
#undef PORTER_TEXEL
template <> struct TexelParts<signed char> : TexelOf<signed char, 1> {};

template <class Part, int count> struct Texel {
  Part part[count];
};

PORTER_TEXEL_CODE float float_of(unsigned bits) { return __builtin_bit_cast(float, bits); }
PORTER_TEXEL_CODE unsigned bits_of(float value) { return __builtin_bit_cast(unsigned, value); }

/// value / range, correctly rounded, for every 8 and 16 bit integer and its range.
PORTER_TEXEL_CODE float fraction(float value, float range, float inverse) {
  float const near = value * inverse;
  return __builtin_fmaf(__builtin_fmaf(-near, range, value), inverse, near);
}

template <unsigned bytes> struct TexelWord;
template <> struct TexelWord<1> { typedef unsigned char __attribute__((may_alias)) type; };
template <> struct TexelWord<2> { typedef unsigned short __attribute__((may_alias)) type; };
template <> struct TexelWord<4> { typedef unsigned __attribute__((may_alias)) type; };
template <> struct TexelWord<8> { typedef unsigned __attribute__((ext_vector_type(2), may_alias)) type; };
template <> struct TexelWord<16> { typedef unsigned __attribute__((ext_vector_type(4), may_alias)) type; };

template <class Word> PORTER_TEXEL_CODE Word word_at(unsigned long long address) {
  return *(PORTER_GLOBAL Word const*)address;
}

/// One channel of so many bytes: its 32 bits as the hardware returns them, or the fraction that it stands for.
PORTER_TEXEL_CODE unsigned channel_of(unsigned raw, unsigned bytes, unsigned kind, float range, float inverse) {
  if (bytes == 4u) return raw;
  if (kind == texel_half) return bits_of((float)__builtin_bit_cast(_Float16, (unsigned short)raw));
  raw = bytes == 2u ? raw & 0xffffu : raw & 0xffu;
  if (kind == texel_signed) raw = (unsigned)(bytes == 2u ? (int)(short)raw : (int)(signed char)raw);
  if (range == 0.0f) return raw;
  float const value = kind == texel_signed ? (float)(int)raw : (float)raw;
  return bits_of(__builtin_fmaxf(fraction(value, range, inverse), -1.0f));
}

/// The first words of a texel; it lies at a multiple of its size.
template <int count> PORTER_TEXEL_CODE void texel_words(unsigned long long address, unsigned bytes, unsigned (&words)[count]) {
  if (bytes == 1u) {
    words[0] = word_at<unsigned char>(address);
  } else if (bytes == 2u) {
    words[0] = word_at<unsigned short>(address);
  } else if (count == 1 || bytes == 4u) {
    words[0] = word_at<unsigned>(address);
  } else {
    typedef typename TexelWord<8>::type Two;
    Two const first = word_at<Two>(address);
    words[0] = first.x;
    if (count > 1) words[1] = first.y;
    if (count > 2 && bytes == 16u) {
      Two const second = word_at<Two>(address + 8u);
      words[2] = second.x;
      words[3] = second.y;
    }
  }
}

template <class Part> struct PartOf {
  static PORTER_TEXEL_CODE Part from(unsigned bits) { return (Part)bits; }
  static PORTER_TEXEL_CODE Part border(float value) { return (Part)value; }
  static constexpr bool is_float = false;
};
template <> struct PartOf<float> {
  static PORTER_TEXEL_CODE float from(unsigned bits) { return float_of(bits); }
  static PORTER_TEXEL_CODE float border(float value) { return value; }
  static constexpr bool is_float = true;
};

/// A texel inside the image.
template <class Part, int count, bool plain>
PORTER_TEXEL_CODE Texel<Part, count> texel_at(TexturePointer d, int x, int y, int z) {
  Texel<Part, count> made;
  unsigned long long const start = d->data + (unsigned)z * d->slice + (unsigned)y * d->row;
  if (plain) {
    typedef typename TexelWord<sizeof(made)>::type Word;
    Word const word = word_at<Word>(start + (unsigned long long)(unsigned)x * sizeof(made));
    __builtin_memcpy(&made, &word, sizeof(made));
    return made;
  }
  unsigned const channels = d->channels, bytes = d->channel_bytes, kind = d->kind;
  float const range = PartOf<Part>::is_float ? d->range : 0.0f, inverse = d->inverse;
  unsigned words[count] = {};
  texel_words<count>(start + (unsigned long long)(unsigned)x * (bytes * channels), bytes * channels, words);
#pragma unroll
  for (int c = 0; c < count; ++c) {
    unsigned const one = words[0] >> 8 * c, two = words[c / 2] >> 16 * (c % 2);
    unsigned const raw = bytes == 1u ? one : bytes == 2u ? two : words[c];
    made.part[c] = (unsigned)c < channels ? PartOf<Part>::from(channel_of(raw, bytes, kind, range, inverse)) : Part();
  }
  return made;
}

/// A coordinate in texels, from which the filter starts; never far outside the image.
PORTER_TEXEL_CODE float texel_coordinate(TexturePointer d, int dimension, float x, bool linear) {
  unsigned const mode = d->mode[dimension];
  if (mode == address_wrap || mode == address_mirror) {
    float const whole = __builtin_floorf(x), half = whole * 0.5f;
    x -= whole;
    if (mode == address_mirror && half != __builtin_floorf(half)) x = 1.0f - x;
  }
  x = __builtin_fmaf(x, d->scale[dimension], linear ? -0.5f : 0.0f);
  return __builtin_fminf(__builtin_fmaxf(x, -2.0f), (float)d->size[dimension] + 1.0f);
}

/// The texel that an index means; `outside` where it is the border.
PORTER_TEXEL_CODE int texel_index(TexturePointer d, int dimension, int i, bool& outside) {
  int const size = (int)d->size[dimension], around = d->mode[dimension] == address_wrap ? size : 0;
  outside = outside | ((d->mode[dimension] == address_border) & ((unsigned)i >= (unsigned)size));
  i += i < 0 ? around : i >= size ? -around : 0;
  return min(max(i, 0), size - 1);
}

/// The texel at indices that may lie outside of the image.
template <class Part, int count, bool plain>
PORTER_TEXEL_CODE Texel<Part, count> texel_near(TexturePointer d, int dimensions, int x, int y, int z, unsigned layer) {
  bool outside = false;
  x = texel_index(d, 0, x, outside);
  if (dimensions > 1) y = texel_index(d, 1, y, outside);
  z = dimensions > 2 ? texel_index(d, 2, z, outside) : (int)layer;
  Texel<Part, count> made = texel_at<Part, count, plain>(d, x, y, z);
  for (int c = 0; c < count; ++c) made.part[c] = outside ? PartOf<Part>::border(d->border[c]) : made.part[c];
  return made;
}

/// The weight of a corner whose places along the axes are `i` and `j`: an H100 rounds that of the far one to 8 bits, and
/// the others make up for it.
PORTER_TEXEL_CODE float texel_weight(int i, int j, float a, float b) {
  float const far = __builtin_floorf(a * b * 256.0f + 0.5f) / 256.0f;
  return i ? (j ? far : a - far) : (j ? b - far : 1.0f - a - b + far);
}

/// The weighted sum of the 2, 4 or 8 texels around a place.
template <class Part, int count, bool plain>
PORTER_TEXEL_CODE Texel<Part, count> texel_filtered(
    TexturePointer d, int dimensions, int x, int y, int z, float a, float b, float c, unsigned layer) {
  float sum[count] = {};
#pragma unroll plain ? 8 : 1
  for (int corner = 0; corner < 1 << dimensions; ++corner) {
    int const i = corner & 1, j = corner >> 1 & 1, k = corner >> 2;
    float weight = dimensions == 2 ? texel_weight(i, j, a, b) : i ? a : 1.0f - a;
    if (dimensions > 2) weight *= (j ? b : 1.0f - b) * (k ? c : 1.0f - c);
    Texel<float, count> const texel = texel_near<float, count, plain>(d, dimensions, x + i, y + j, z + k, layer);
    for (int n = 0; n < count; ++n) sum[n] = weight == 0.0f ? sum[n] : __builtin_fmaf(weight, texel.part[n], sum[n]);
  }
  Texel<Part, count> made;
  for (int n = 0; n < count; ++n) made.part[n] = PartOf<Part>::from(bits_of(sum[n]));
  return made;
}

template <class Part, int count, bool plain>
PORTER_TEXEL_CODE Texel<Part, count> texel_sampled(
    TexturePointer d, int dimensions, float x, float y, float z, unsigned layer) {
  bool const linear = PartOf<Part>::is_float && d->linear != 0u;
  layer = layer < d->layers ? layer : d->layers - 1u;
  x = texel_coordinate(d, 0, x, linear);
  if (dimensions > 1) y = texel_coordinate(d, 1, y, linear);
  if (dimensions > 2) z = texel_coordinate(d, 2, z, linear);
  float const left = __builtin_floorf(x), top = __builtin_floorf(y), front = __builtin_floorf(z);
  if (!linear) return texel_near<Part, count, plain>(d, dimensions, (int)left, (int)top, (int)front, layer);
  float const a = __builtin_rintf((x - left) * 256.0f) / 256.0f;
  float const b = __builtin_rintf((y - top) * 256.0f) / 256.0f;
  float const c = __builtin_rintf((z - front) * 256.0f) / 256.0f;
  return texel_filtered<Part, count, plain>(d, dimensions, (int)left, (int)top, (int)front, a, b, c, layer);
}

template <class T> PORTER_TEXEL_CODE T texel_as(Texel<typename TexelParts<T>::part, TexelParts<T>::count> const& texel) {
  static_assert(sizeof(T) == sizeof(texel), "the parts of a texel lie side by side");
  T made;
  __builtin_memcpy(&made, &texel, sizeof(T));
  return made;
}

/// Whether texels lie in memory as they are wanted: the case worth its own code.
template <class T> PORTER_TEXEL_CODE bool is_plain(TexturePointer d) {
  typedef TexelParts<T> Parts;
  typedef typename Parts::part Part;
  return d->channels == Parts::count && d->channel_bytes == sizeof(Part) && d->range == 0.0f && d->kind != texel_half;
}

PORTER_TEXTURE T sampled(texture_object object, int dimensions, float x, float y, float z, int layer) {
  typedef typename TexelParts<T>::part Part;
  constexpr int count = TexelParts<T>::count;
  TexturePointer const d = described(object);
  if (is_plain<T>(d)) return texel_as<T>(texel_sampled<Part, count, true>(d, dimensions, x, y, z, (unsigned)layer));
  return texel_as<T>(texel_sampled<Part, count, false>(d, dimensions, x, y, z, (unsigned)layer));
}

/// One texel of linear memory; 0 outside.
PORTER_TEXTURE T fetched(texture_object object, int x) {
  typedef typename TexelParts<T>::part Part;
  constexpr int count = TexelParts<T>::count;
  TexturePointer const d = described(object);
  if ((unsigned)x >= d->size[0]) return texel_as<T>(Texel<Part, count>());
  if (is_plain<T>(d)) return texel_as<T>(texel_at<Part, count, true>(d, x, 0, 0));
  return texel_as<T>(texel_at<Part, count, false>(d, x, 0, 0));
}

/// One component of the four texels that the linear filter would use, from the lower left against the clock.
template <class Four> PORTER_TEXEL_CODE Four gathered(texture_object object, float x, float y, int component) {
  typedef typename TexelParts<Four>::part Part;
  TexturePointer const d = described(object);
  int const i = (int)__builtin_floorf(texel_coordinate(d, 0, x, true));
  int const j = (int)__builtin_floorf(texel_coordinate(d, 1, y, true));
  Texel<Part, 4> made;
#pragma unroll
  for (int n = 0; n < 4; ++n) {
    int const right = n == 1 || n == 2, down = n < 2;
    Texel<Part, 4> const texel = texel_near<Part, 4, false>(d, 2, i + right, j + down, 0, 0u);
    made.part[n] = component == 0 ? texel.part[0] : component == 1 ? texel.part[1] : component == 2 ? texel.part[2] : texel.part[3];
  }
  return texel_as<Four>(made);
}
template <class T> struct FourOf {
  typedef T type;
};
template <> struct FourOf<char> { typedef char4 type; };
template <> struct FourOf<signed char> { typedef char4 type; };
template <> struct FourOf<unsigned char> { typedef uchar4 type; };
template <> struct FourOf<short> { typedef short4 type; };
template <> struct FourOf<unsigned short> { typedef ushort4 type; };
template <> struct FourOf<int> { typedef int4 type; };
template <> struct FourOf<unsigned int> { typedef uint4 type; };
template <> struct FourOf<float> { typedef float4 type; };

}  // namespace detail

// `tex2D<float>(object, x, y)` and `tex2D(&value, object, x, y)`. Levels and gradients choose among mip levels: there is one.
#define PORTER_TEXTURE_FUNCTION(name, parameters, arguments)                                                \
  PORTER_TEXTURE T name(texture_object object, PORTER_LIST parameters) { return detail::sampled<T> arguments; } \
  PORTER_TEXTURE void name(T* value, texture_object object, PORTER_LIST parameters) { *value = detail::sampled<T> arguments; }
#define PORTER_LIST(...) __VA_ARGS__

PORTER_TEXTURE T tex1Dfetch(texture_object object, int x) { return detail::fetched<T>(object, x); }
PORTER_TEXTURE void tex1Dfetch(T* value, texture_object object, int x) { *value = detail::fetched<T>(object, x); }

PORTER_TEXTURE_FUNCTION(tex1D, (float x), (object, 1, x, 0.0f, 0.0f, 0))
PORTER_TEXTURE_FUNCTION(tex2D, (float x, float y), (object, 2, x, y, 0.0f, 0))
PORTER_TEXTURE_FUNCTION(tex3D, (float x, float y, float z), (object, 3, x, y, z, 0))
PORTER_TEXTURE_FUNCTION(tex1DLayered, (float x, int layer), (object, 1, x, 0.0f, 0.0f, layer))
PORTER_TEXTURE_FUNCTION(tex2DLayered, (float x, float y, int layer), (object, 2, x, y, 0.0f, layer))
PORTER_TEXTURE_FUNCTION(tex1DLod, (float x, float), (object, 1, x, 0.0f, 0.0f, 0))
PORTER_TEXTURE_FUNCTION(tex2DLod, (float x, float y, float), (object, 2, x, y, 0.0f, 0))
PORTER_TEXTURE_FUNCTION(tex3DLod, (float x, float y, float z, float), (object, 3, x, y, z, 0))
PORTER_TEXTURE_FUNCTION(tex1DLayeredLod, (float x, int layer, float), (object, 1, x, 0.0f, 0.0f, layer))
PORTER_TEXTURE_FUNCTION(tex2DLayeredLod, (float x, float y, int layer, float), (object, 2, x, y, 0.0f, layer))
PORTER_TEXTURE_FUNCTION(tex1DGrad, (float x, float, float), (object, 1, x, 0.0f, 0.0f, 0))
PORTER_TEXTURE_FUNCTION(tex2DGrad, (float x, float y, float2, float2), (object, 2, x, y, 0.0f, 0))
PORTER_TEXTURE_FUNCTION(tex3DGrad, (float x, float y, float z, float4, float4), (object, 3, x, y, z, 0))
PORTER_TEXTURE_FUNCTION(tex1DLayeredGrad, (float x, int layer, float, float), (object, 1, x, 0.0f, 0.0f, layer))
PORTER_TEXTURE_FUNCTION(tex2DLayeredGrad, (float x, float y, int layer, float2, float2), (object, 2, x, y, 0.0f, layer))

PORTER_TEXTURE T tex2Dgather(texture_object object, float x, float y, int component = 0) {
  return detail::gathered<T>(object, x, y, component);
}
PORTER_TEXTURE void tex2Dgather(T* value, texture_object object, float x, float y, int component = 0) {
  *value = detail::gathered<T>(object, x, y, component);
}

namespace detail {

/// The address of a place on a surface, x in bytes; 0 where nothing is to be read or written.
PORTER_TEXEL_CODE unsigned long long surface_place(
    surface_object object, int dimensions, int x, int y, int z, bool layered, unsigned bytes, hipSurfaceBoundaryMode mode) {
  TexturePointer const d = described(object);
  int const last = (int)(d->size[0] * d->channels * d->channel_bytes - bytes);
  int const bottom = dimensions > 1 ? (int)d->size[1] - 1 : 0;
  int const back = layered ? (int)d->layers - 1 : dimensions > 2 ? (int)d->size[2] - 1 : 0;
  bool const inside = x >= 0 && x <= last && y >= 0 && y <= bottom && z >= 0 && z <= back;
  if (!inside && mode == hipBoundaryModeTrap) __builtin_trap();
  if (!inside && mode == hipBoundaryModeZero) return 0ull;
  x = x < 0 ? 0 : x > last ? last : x;
  y = y < 0 ? 0 : y > bottom ? bottom : y;
  z = z < 0 ? 0 : z > back ? back : z;
  return d->data + (unsigned)z * d->slice + (unsigned)y * d->row + (unsigned)x;
}

PORTER_TEXTURE T surface_read(unsigned long long address) {
  typename TexelWord<sizeof(T)>::type word = {};
  if (address != 0ull) word = *(PORTER_GLOBAL typename TexelWord<sizeof(T)>::type const*)address;
  T made;
  __builtin_memcpy(&made, &word, sizeof(T));
  return made;
}
PORTER_TEXTURE void surface_write(unsigned long long address, T const& value) {
  typename TexelWord<sizeof(T)>::type word;
  __builtin_memcpy(&word, &value, sizeof(T));
  if (address != 0ull) *(PORTER_GLOBAL typename TexelWord<sizeof(T)>::type*)address = word;
}

}  // namespace detail

// `surf2Dread<T>(object, x, y)`, `surf2Dread(&value, object, x, y)`, `surf2Dwrite(value, object, x, y)`; x counts bytes.
#define PORTER_SURFACE_FUNCTION(name, parameters, dimensions, x, y, z, layered)                                            \
  PORTER_TEXTURE T name##read(                                                                                             \
      surface_object object, PORTER_LIST parameters, hipSurfaceBoundaryMode mode = hipBoundaryModeTrap) {                  \
    return detail::surface_read<T>(detail::surface_place(object, dimensions, x, y, z, layered, sizeof(T), mode));          \
  }                                                                                                                        \
  PORTER_TEXTURE void name##read(                                                                                          \
      T* value, surface_object object, PORTER_LIST parameters, hipSurfaceBoundaryMode mode = hipBoundaryModeTrap) {        \
    *value = detail::surface_read<T>(detail::surface_place(object, dimensions, x, y, z, layered, sizeof(T), mode));        \
  }                                                                                                                        \
  PORTER_TEXTURE void name##write(                                                                                         \
      T value, surface_object object, PORTER_LIST parameters, hipSurfaceBoundaryMode mode = hipBoundaryModeTrap) {         \
    detail::surface_write(detail::surface_place(object, dimensions, x, y, z, layered, sizeof(T), mode), value);            \
  }

PORTER_SURFACE_FUNCTION(surf1D, (int x), 1, x, 0, 0, false)
PORTER_SURFACE_FUNCTION(surf2D, (int x, int y), 2, x, y, 0, false)
PORTER_SURFACE_FUNCTION(surf3D, (int x, int y, int z), 3, x, y, z, false)
PORTER_SURFACE_FUNCTION(surf1DLayered, (int x, int layer), 1, x, 0, layer, true)
PORTER_SURFACE_FUNCTION(surf2DLayered, (int x, int y, int layer), 2, x, y, layer, true)

}  // namespace porter

#undef PORTER_SURFACE_FUNCTION
#undef PORTER_TEXTURE_FUNCTION
#undef PORTER_LIST
#undef PORTER_GLOBAL
#undef PORTER_TEXEL_CODE
#undef PORTER_TEXTURE

#endif
#endif  // PORTER_TEXTURE_HPP
