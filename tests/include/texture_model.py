"""CUDA's texture fetching as the programming guide has it, in numpy: float64 sums over float32 coordinates."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import numpy.typing as npt
from porter.validation.devices.core.image import ImageArgument

Array = npt.NDArray[Any]


def values(image: ImageArgument) -> Array:
    """Texels as (layers or depth, height, width, 4) numbers."""
    raw = image.texels
    numbers = raw.astype(np.float64)
    if image.sampling.fractions and raw.dtype.kind in "ui":
        numbers = np.maximum((raw.astype(np.float32) / np.float32(np.iinfo(raw.dtype).max)), np.float32(-1)).astype(
            float
        )
    width, height, depth = image.sizes
    numbers = numbers.reshape(image.layers * depth, height, width, image.sampling.channels)
    return np.concatenate([numbers, np.zeros((*numbers.shape[:3], 4 - image.sampling.channels))], axis=3)


def sampled(image: ImageArgument, at: Array, dimensions: int) -> tuple[Array, Array]:
    """What a sample may be: the value, and how far off rounding can take it; (n, 4) each."""
    sampling = image.sampling
    low, part = [], []
    for d in range(dimensions):
        x = _in_texels(at[:, d], image.sizes[d], _mode(image, d), sampling.normalized, sampling.linear)
        low.append(np.floor(x).astype(np.int64))
        part.append(np.rint((x - np.floor(x)).astype(np.float64) * 256) / 256)
    if not sampling.linear:
        exact = _texel(image, at, low)
        return exact, np.zeros_like(exact)
    total, size = np.zeros((len(at), 4)), np.zeros((len(at), 4))
    for corner in itertools.product((0, 1), repeat=dimensions):
        weight = _weight(part, corner)[:, None]
        texel = _texel(image, at, [i + c for i, c in zip(low, corner, strict=True)])
        total += weight * texel
        size += weight * np.abs(texel)
    return total, size * 2.0**-20


def _weight(part: list[Array], corner: tuple[int, ...]) -> Array:
    """Of a corner: the product; in two dimensions an H100 rounds the far corner's to 8 bits, and rows and columns still
    add up to their own weights (docs/capture.md)."""
    if len(part) != 2:
        return np.asarray(np.prod([p if c else 1 - p for p, c in zip(part, corner, strict=True)], axis=0))
    far = np.floor(part[0] * part[1] * 256 + 0.5) / 256
    weights = {(1, 1): far, (1, 0): part[0] - far, (0, 1): part[1] - far, (0, 0): 1 - part[0] - part[1] + far}
    return weights[corner[0], corner[1]]


def gathered(image: ImageArgument, at: Array) -> Array:
    """(n, 4 texels, 4 channels): those of a linear filter, from the lower left against the clock."""
    normalized = image.sampling.normalized
    low = [
        np.floor(_in_texels(at[:, d], image.sizes[d], _mode(image, d), normalized, True)).astype(np.int64)
        for d in range(2)
    ]
    corners = ((0, 1), (1, 1), (1, 0), (0, 0))
    return np.stack([_texel(image, at, [low[0] + i, low[1] + j]) for i, j in corners], axis=1)


def _mode(image: ImageArgument, d: int) -> str:
    mode = image.sampling.address[d]
    return "clamp" if mode in ("wrap", "mirror") and not image.sampling.normalized else mode


def _in_texels(x: Array, size: int, mode: str, normalized: bool, linear: bool) -> Array:
    """The coordinate after folding, in texels, less half a texel where there is a filter."""
    with np.errstate(invalid="ignore"):
        if normalized and mode in ("wrap", "mirror"):
            whole = np.floor(x)
            fraction = (x - whole).astype(np.float32)
            x = np.where((mode == "mirror") & (np.mod(whole, 2) == 1), np.float32(1) - fraction, fraction)
        exact = x.astype(np.float64) * (size if normalized else 1) - (0.5 if linear else 0.0)
    placed = np.where(np.isnan(exact), -2.0, np.clip(exact, -2.0, size + 1.0))
    rounded: Array = placed.astype(np.float32)
    return rounded


def _texel(image: ImageArgument, at: Array, index: list[Array]) -> Array:
    data = values(image)
    places, outside = [], np.zeros(len(at), bool)
    for d, i in enumerate(index):
        size, mode = image.sizes[d], _mode(image, d)
        if mode == "border":
            outside |= (i < 0) | (i >= size)
        near = np.where((i >= -size) & (i < 2 * size), np.mod(i, size), i) if mode == "wrap" else i
        places.append(np.clip(near, 0, size - 1))
    x, y, z = (*places, *(np.zeros(len(at), np.int64),) * 3)[:3]
    if image.sampling.layered:
        layer = at[:, 2].astype(np.int64)
        z = np.where((layer < 0) | (layer >= image.layers), image.layers - 1, layer)
    found: Array = data[z, y, x]
    found[outside] = 0
    return found
