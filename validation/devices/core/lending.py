"""Arrays of the caller on a device for one launch: copied there as they lie in memory, views and all, and back.

Views of one memory that overlap stay one memory on the device. What lies between and around the elements of a view is
not copied: a kernel that leaves the view is found out.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from porter.validation.devices.core import abi
from porter.validation.devices.core.memory import ALIGN, Memory


@dataclass(frozen=True)
class Extent:
    """The bytes of the host that an array's elements lie in."""

    low: int
    high: int
    owner: int
    """Where the memory that it is a view of begins."""
    writable: bool
    first: int
    """Address of the first element; with negative strides not the lowest."""


def extent_of(value: Any) -> Extent | None:
    """Where an array or tensor lies; None for what is neither. TypeError for one that a device cannot be given."""
    if isinstance(value, np.ndarray):
        return _of_numpy(value) if value.ndim or value.base is not None else None
    if hasattr(value, "untyped_storage") and hasattr(value, "data_ptr"):
        return _of_torch(value)
    return None


def _of_numpy(array: np.ndarray[Any, Any]) -> Extent:
    if array.dtype.hasobject:
        raise TypeError("an array of Python objects is no kernel argument")
    first = array.ctypes.data
    low, high = _span(first, array.shape, array.strides, array.itemsize)
    root: Any = array
    while isinstance(root.base, np.ndarray):
        root = root.base
    owner = root.ctypes.data if root.ctypes.data <= low else low
    return Extent(low, high, owner, bool(array.flags.writeable), first)


def _of_torch(tensor: Any) -> Extent:
    if not hasattr(tensor, "shape") or not callable(getattr(tensor, "stride", None)):
        raise TypeError(f"a {type(tensor).__name__} is an address without a size: a tensor is taken")
    layout = str(getattr(tensor, "layout", "torch.strided"))  # not all are torch's
    storage = tensor.untyped_storage() if layout == "torch.strided" else tensor
    place = getattr(storage, "device", None)  # tensors themselves may call the CPU "cuda"
    if layout != "torch.strided" or getattr(place, "type", "cpu") != "cpu":
        raise TypeError(f"a {layout} tensor on {place}: dense tensors on the CPU are taken")
    if getattr(tensor, "is_conj", bool)() or getattr(tensor, "is_neg", bool)():
        raise TypeError("a tensor with a pending conjugate or sign: call .resolve_conj().resolve_neg() first")
    width = tensor.element_size()
    first = tensor.data_ptr()
    low, high = _span(first, tuple(tensor.shape), tuple(s * width for s in tensor.stride()), width)
    owner = storage.data_ptr()
    return Extent(low, high, owner if owner <= low else low, True, first)


def _span(first: int, shape: Sequence[int], strides: Sequence[int], width: int) -> tuple[int, int]:
    if 0 in shape:
        return first, first
    steps = [(size - 1) * stride for size, stride in zip(shape, strides, strict=True)]
    return first + sum(s for s in steps if s < 0), first + sum(s for s in steps if s > 0) + width


@dataclass
class _Loan:
    low: int
    high: int
    owner: int
    writable: bool
    names: list[str]
    base: int = 0


class Lending:
    """The arrays among some values, on a device; `arguments` are the values with addresses in their place."""

    def __init__(self, memory: Memory, values: Sequence[Any], names: Sequence[str] = ()) -> None:
        self._memory = memory
        self._mark = memory.mark()
        extents = [extent_of(value) for value in values]
        known = [*names, *(f"argument {index}" for index in range(len(names), len(values)))]
        self._loans = _merged([(e, name) for e, name in zip(extents, known, strict=True) if e is not None])
        for loan in self._loans:
            state = abi.LIVE if loan.writable else abi.READ_ONLY
            size, skew = loan.high - loan.low, (loan.low - loan.owner) % ALIGN
            loan.base = memory.allocate(size, " and ".join(loan.names), state, skew, is_argument=True).base
            ctypes.memmove(loan.base, loan.low, size)
        self.arguments = tuple(
            value if extent is None else self._address(extent) for value, extent in zip(values, extents, strict=True)
        )
        self.is_address = tuple(extent is not None for extent in extents)

    def _address(self, extent: Extent) -> int:
        loan = next(one for one in self._loans if one.low <= extent.low and extent.high <= one.high)
        return loan.base + extent.first - loan.low

    def copy_back(self) -> None:
        """What the kernel left, to the caller's arrays."""
        for loan in self._loans:
            if loan.writable:
                ctypes.memmove(loan.low, loan.base, loan.high - loan.low)

    def release(self) -> None:
        """The device's memory is free again."""
        self._memory.release(self._mark)


def _merged(found: Sequence[tuple[Extent, str]]) -> list[_Loan]:
    """One loan for what overlaps; neighbours that only touch stay apart."""
    loans: list[_Loan] = []
    for extent, name in sorted(found, key=lambda item: (item[0].low, item[0].high)):
        last = loans[-1] if loans else None
        if last is not None and (extent.low < last.high or (extent.low, extent.high) == (last.low, last.high)):
            last.high = max(last.high, extent.high)
            last.writable |= extent.writable
            last.names += [] if name in last.names else [name]
        else:
            loans.append(_Loan(extent.low, extent.high, extent.owner, extent.writable, [name]))
    return loans
