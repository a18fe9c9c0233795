"""What a texture or surface object of a port points to: `TextureDescriptor` of porter/texture_types.hpp."""

from __future__ import annotations

import struct

from porter.validation.devices.core.image import ImageArgument

LAYOUT = "<3Q2I3I3II2f3I3f4f4x"
_MAGIC = 0x7E87
_KINDS = {"u": 0, "i": 1, "f": 3}
_HALF = 2


def describe(image: ImageArgument, texels: int) -> bytes:
    """The bytes that the port's host functions would write."""
    dtype, sampling, sizes = image.texels.dtype, image.sampling, image.sizes
    kind = _HALF if dtype.str[1:] == "f2" else _KINDS[dtype.kind]
    row = sizes[0] * sampling.channels * dtype.itemsize
    fractions = sampling.fractions and dtype.kind in "ui"
    span = float((1 << (8 * dtype.itemsize - (dtype.kind == "i"))) - 1) if fractions else 0.0
    scale = tuple(float(size) if sampling.normalized else 1.0 for size in sizes)
    head = (texels, row, row * sizes[1], _MAGIC, image.layers)
    shape = (*sizes, sampling.channels, dtype.itemsize, kind, int(sampling.linear))
    border = (0.0, 0.0, 0.0, 0.0)
    return struct.pack(LAYOUT, *head, *shape, span, 1.0 / span if span else 0.0, *sampling.modes, *scale, *border)
