"""The element types of arguments: numpy storage, poison, and the values they stand for."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
FLOATS = ("float16", "bfloat16", "float32", "float64")
_POISON = {
    "float16": (0x7EA5, 0xFE5A),
    "bfloat16": (0x7FE5, 0xFFDA),
    "float32": (0x7FC0A5A5, 0xFFC05A5A),
    "float64": (0x7FF8A5A5A5A5A5A5, 0xFFF85A5A5A5A5A5A),
}
"""NaNs that no arithmetic makes: a kernel that reads what nothing wrote shows it."""


def storage(dtype: str) -> np.dtype[Any]:
    """The numpy type with the same bytes; bfloat16 is kept as uint16."""
    return np.dtype(np.uint16 if dtype == "bfloat16" else dtype)


def is_float(dtype: str) -> bool:
    """Whether it is a floating-point type."""
    return dtype in FLOATS


def _bits(dtype: str) -> np.dtype[Any]:
    return np.dtype(f"uint{8 * storage(dtype).itemsize}")


def poison(dtype: str, which: int) -> Array:
    """The value, as a 0-d array of the storage type, that stands for `nothing was written here`; there are two."""
    if dtype in _POISON:
        pattern = _POISON[dtype][which % 2]
    else:
        byte = (0xA5, 0x5A)[which % 2]
        pattern = int.from_bytes(bytes([byte]) * storage(dtype).itemsize, "little")
    return np.array(pattern, _bits(dtype)).view(storage(dtype))


def poisoned(shape: tuple[int, ...], dtype: str, which: int) -> Array:
    """An array that nothing has been written to."""
    array: Array = np.empty(shape, storage(dtype))
    bits(array)[...] = bits(poison(dtype, which))
    return array


def is_poison(array: Array, dtype: str, which: int) -> NDArray[np.bool_]:
    """Where the array is still as `poisoned` made it."""
    return np.asarray(bits(array) == bits(poison(dtype, which)))


def bits(array: Array) -> Array:
    """The same bytes as unsigned integers."""
    return array.view(np.dtype(f"uint{8 * array.dtype.itemsize}"))


def to_float64(array: Array, dtype: str) -> NDArray[np.float64]:
    """The values as float64."""
    if dtype == "bfloat16":
        return (array.astype(np.uint32) << 16).view(np.float32).astype(np.float64)
    with np.errstate(invalid="ignore"):  # signalling NaNs
        return array.astype(np.float64)


def from_float64(values: NDArray[np.float64], dtype: str) -> Array:
    """The nearest values of the type, in its storage."""
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        if dtype == "bfloat16":
            return _to_bfloat16(np.asarray(values, np.float64))
        return np.asarray(values).astype(storage(dtype))


def _to_bfloat16(values: NDArray[np.float64]) -> Array:
    """Round to odd in float32 first, so that the second rounding is to nearest even of the float64."""
    single = values.astype(np.float32)
    word = single.view(np.uint32)
    back = single.astype(np.float64)
    inexact = (back != values) & np.isfinite(values) & np.isfinite(back)
    too_far = inexact & (np.abs(back) > np.abs(values))
    word = np.where(too_far, word - 1, word)
    word = np.where(inexact, word | 1, word).astype(np.uint32)
    rounded = (word + np.uint32(0x7FFF) + ((word >> 16) & 1)) >> 16
    nan = np.isnan(values)
    result: Array = np.where(nan, np.uint32(0x7FC0), rounded).astype(np.uint16)
    return result


def ordered(array: Array, dtype: str) -> NDArray[np.int64]:
    """Floats as integers in their order, so that differences count units in the last place."""
    width = storage(dtype).itemsize * 8
    word = bits(array).astype(np.uint64)
    sign = np.uint64(1 << (width - 1))
    magnitude = (word & ~sign).astype(np.int64)
    signed: NDArray[np.int64] = np.where(word & sign != 0, -magnitude, magnitude)
    return signed
