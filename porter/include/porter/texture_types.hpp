// What a texture or surface object of the port stands for. CDNA 3 has no image units: an object is the address of this
// description in device memory, and the functions of texture.hpp read memory as it says.
// SPDX-License-Identifier: Apache-2.0
#ifndef PORTER_TEXTURE_TYPES_HPP
#define PORTER_TEXTURE_TYPES_HPP

namespace porter {

/// As in CUDA, 64 bits; HIP's own handle is a pointer, and stands for nothing on a device without image units.
typedef unsigned long long texture_object;
typedef unsigned long long surface_object;

namespace detail {

enum TexelKind { texel_unsigned, texel_signed, texel_half, texel_float };
enum AddressMode { address_wrap, address_clamp, address_mirror, address_border };

struct TextureDescriptor {
  unsigned long long data, row, slice;  // an address; bytes from row to row, and from slice or layer to the next
  unsigned magic, layers;
  unsigned size[3];                       // texels; 1 where there is no such dimension
  unsigned channels, channel_bytes, kind;
  unsigned linear;                        // the filter
  float range, inverse;                   // what an integer is divided by where it is read as a fraction, or 0
  unsigned mode[3];                       // wrap and mirror with normalized coordinates only
  float scale[3];                         // texels in a unit of a coordinate: 1, or the size for normalized ones
  float border[4];
};

enum : unsigned { texture_magic = 0x7e87u };

}  // namespace detail
}  // namespace porter

#endif  // PORTER_TEXTURE_TYPES_HPP
