"""Structs that are passed by value: where their members lie, and the bytes they come to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from porter.validation.cases.case import ADDRESS, Argument, Case, Symbols

if TYPE_CHECKING:
    import numpy as np


@dataclass(frozen=True)
class StructArgument:
    """A kernel's argument: bytes, and the places in them where the addresses of other values of the launch go."""

    data: bytes
    addresses: tuple[tuple[int, int], ...] = ()
    """Byte, and which of the launch's values."""

    def word(self, at: dict[int, int]) -> bytes:
        """The struct, once those values have addresses."""
        made = bytearray(self.data)
        for byte, index in self.addresses:
            made[byte : byte + 8] = at[index].to_bytes(8, "little")
        return bytes(made)


@dataclass(frozen=True)
class Behind:
    """A value of a launch that no parameter is: an array that a struct points to."""

    array: np.ndarray[tuple[int, ...], np.dtype[np.generic]]
    start: int = 0
    """Bytes from the beginning of the memory to the first element."""


def struct_layout(argument: Argument) -> tuple[tuple[int, ...], int]:
    """The byte of each member, and the bytes of the whole; raises ValueError where members overlap."""
    from porter.validation.cases import dtypes

    places: list[int] = []
    end, widest = 0, 1
    for member in argument.fields:
        width = 8 if member.dtype == ADDRESS else dtypes.storage(member.dtype).itemsize
        at = -(-end // width) * width if member.at is None else member.at
        if at < end:
            raise ValueError(f"fields: a {member.dtype} at byte {at} overlaps what is before it")
        places.append(at)
        end, widest = at + width, max(widest, width)
    size = -(-end // widest) * widest if argument.size is None else argument.size
    if size < end:
        raise ValueError(f"fields take {end} bytes, the struct has {size}")
    return tuple(places), size


def struct_value(case: Case, argument: Argument, symbols: Symbols) -> bytes | StructArgument:
    """A struct laid out as C does, the addresses in it left open; raises CaseError."""
    import numpy as np
    from porter.validation.cases import dtypes

    places, size = struct_layout(argument)
    made = bytearray(size)
    addresses: list[tuple[int, int]] = []
    for member, at in zip(argument.fields, places, strict=True):
        if member.dtype == ADDRESS:
            addresses.append((at, case.launched.index(member.array)))
            continue
        value = case.number(member.value, symbols, "arguments")
        kind = dtypes.storage(member.dtype)
        packed = (
            dtypes.from_float64(np.array(float(value)), member.dtype)
            if dtypes.is_float(member.dtype)
            else np.array(int(value)).astype(kind)
        )
        made[at : at + kind.itemsize] = packed.tobytes()
    return StructArgument(bytes(made), tuple(addresses)) if addresses else bytes(made)
