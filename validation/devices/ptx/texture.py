"""Texture objects: an image in device memory and a description of how it is read (struct Texture in warp.h)."""

from __future__ import annotations

import struct
from dataclasses import dataclass

import numpy as np
from porter.validation.devices.core import abi
from porter.validation.devices.core.memory import Memory
from porter.validation.devices.core.result import Array

_MAGIC = 0x7E87
_KINDS = {"f4": 0, "f2": 1, "u1": 2, "i1": 3, "u2": 4, "i2": 5, "u4": 6, "i4": 7}
_MODES = {"wrap": 0, "clamp": 1, "mirror": 2, "border": 3}


@dataclass(frozen=True)
class Texture:
    """A texture object; pass `handle` where a kernel takes cudaTextureObject_t."""

    handle: int


def describe(
    memory: Memory,
    array: Array,
    channels: int,
    layered: bool,
    linear: bool,
    normalised: bool,
    values_normalised: bool,
    mode: str | tuple[str, ...],
) -> Texture:
    """Copy the image and write its description."""
    shape = array.shape[:-1] if channels > 1 else array.shape
    layers = shape[0] if layered else 1
    sizes = [*reversed(shape[1:] if layered else shape), 1, 1, 1][:3]
    modes = [_MODES[m] for m in ((mode,) * 3 if isinstance(mode, str) else (*mode, "clamp", "clamp")[:3])]
    kind = _KINDS[array.dtype.str[1:]]
    image = memory.allocate(array.nbytes, "texture", abi.READ_ONLY)
    memory.write(image.base, np.ascontiguousarray(array))
    flags = (int(linear), int(normalised), int(values_normalised or array.dtype.kind == "f"))
    text = struct.pack("<Q13I", image.base, _MAGIC, *sizes, layers, channels, kind, *flags, *modes)
    block = memory.allocate(len(text) + 4, "texture object", abi.READ_ONLY)
    memory.write(block.base, text)
    return Texture(block.base)
