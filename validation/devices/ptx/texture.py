"""Texture objects: an image in device memory and a description of how it is read (struct Texture in warp.h)."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from porter.validation.devices.core.image import FORMATS, ImageArgument

_MAGIC = 0x7E87


@dataclass(frozen=True)
class Texture:
    """A texture object; pass `handle` where a kernel takes cudaTextureObject_t."""

    handle: int


def describe(image: ImageArgument, texels: int) -> bytes:
    """The description of texels at an address."""
    dtype, sampling = image.texels.dtype, image.sampling
    fractions = sampling.fractions or dtype.kind == "f"
    numbers = (_MAGIC, *image.sizes, image.layers, sampling.channels, FORMATS.index(dtype.str[1:]))
    flags = (sampling.linear, sampling.normalized, fractions)
    return struct.pack("<Q14I", texels, *numbers, *map(int, flags), *sampling.modes, 0)
