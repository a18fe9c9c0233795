"""Arrays passed otherwise than by their address: PyTorch's accessors and TensorInfo by value, pointers into memory."""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from porter.validation.devices.core.result import Array

_MOST = 25
"""Dimensions of a TensorInfo."""


@dataclass(frozen=True)
class ViewArgument:
    """A kernel's argument: the elements, and what follows their address in the struct."""

    array: Array
    tail: bytes = b""
    start: int = 0
    """Bytes from the beginning of the memory to the first element."""

    def word(self, address: int) -> bytes:
        """The struct, once the elements have an address."""
        return struct.pack("<Q", address + self.start) + self.tail


def _accessor(code: str, sizes: Sequence[int], strides: Sequence[int]) -> bytes:
    """PackedTensorAccessor: sizes, then strides."""
    return struct.pack(f"<{2 * len(sizes)}{code}", *sizes, *strides)


def _tensor_info(code: str, sizes: Sequence[int], strides: Sequence[int]) -> bytes:
    """at::cuda::detail::TensorInfo: room for 25 of each, then how many there are."""
    rest = [0] * (_MOST - len(sizes))
    return struct.pack(f"<{2 * _MOST}{code}i4x", *sizes, *rest, *strides, *rest, len(sizes))


_LAYOUTS: Mapping[str, tuple[Callable[[str, Sequence[int], Sequence[int]], bytes], str]] = {
    "accessor32": (_accessor, "i"),
    "accessor64": (_accessor, "q"),
    "tensor_info32": (_tensor_info, "i"),
    "tensor_info64": (_tensor_info, "q"),
}
VIEWS = tuple(_LAYOUTS)
"""As a case names them."""


def view_of(kind: str, array: Array, sizes: Sequence[int], strides: Sequence[int], start: int = 0) -> ViewArgument:
    """The argument; raises ValueError when it has more dimensions than there is room for."""
    if not 1 <= len(sizes) <= _MOST:
        raise ValueError(f"{kind} of {len(sizes)} dimensions")
    layout, code = _LAYOUTS[kind]
    return ViewArgument(array, layout(code, sizes, strides), start)
