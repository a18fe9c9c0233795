"""Device memory: one reserved range of addresses, allocations in it with wide red zones between."""

from __future__ import annotations

import bisect
import ctypes
import functools
import mmap
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
from porter.validation.devices.core import abi
from porter.validation.devices.core.result import Array

ALIGN = 256
RED_ZONE = 64 * 1024
WIDE, SHARE = 64 << 20, 64
"""Addresses after an argument of a launch, and no more of what is left than one part in so many: an access far after
one is told as such."""
RESERVED = 64 << 30
HEAP_SPAN = 1 << 30  # addresses the heap may use up: none is handed out twice
HEAP_LIMIT = 256 << 20  # bytes alive at a time
HEAP_BLOCKS = 1 << 20


class OutOfDeviceMemory(Exception):
    """The reserved range is used up."""


def _reserve(wanted: int) -> tuple[mmap.mmap, int]:
    """A range of addresses without pages behind it; smaller where the system allows no more."""
    no_reserve = 0x4000 if sys.platform == "linux" else 0
    while True:
        try:
            flags = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | no_reserve
            return mmap.mmap(-1, wanted, flags=flags), wanted
        except OSError:
            if wanted <= 1 << 28:
                raise
            wanted //= 4


@dataclass
class Block:
    """One allocation; device addresses are host addresses inside the reserved range."""

    base: int
    size: int
    name: str
    state: int = abi.LIVE

    @property
    def end(self) -> int:
        """First address after it."""
        return self.base + self.size


class Memory:
    """Allocates upwards; what was freed stays known, so that a late access is told apart."""

    def __init__(self, reserved: int = RESERVED) -> None:
        self._map, reserved = _reserve(reserved)
        self._origin = ctypes.addressof(ctypes.c_char.from_buffer(self._map))
        self._next = self._origin + RED_ZONE
        self._end = self._origin + reserved
        self.blocks: list[Block] = []

    def allocate(
        self, size: int, name: str, state: int = abi.LIVE, skew: int = 0, *, is_argument: bool = False
    ) -> Block:
        """A new allocation, zero or stale bytes in it; `skew`: so many bytes past an aligned address."""
        base = (self._next + ALIGN - 1) // ALIGN * ALIGN + skew
        if base + size + RED_ZONE > self._end:
            raise OutOfDeviceMemory(f"{size} bytes for {name}")
        far = min(WIDE, (self._end - base - size) // SHARE) if is_argument else RED_ZONE
        self._next = base + size + max(RED_ZONE, far)
        block = Block(base, size, name, state)
        self.blocks.append(block)
        return block

    def reserve(self, size: int) -> int:
        """Addresses for `place`, page-aligned, red zones around them."""
        base = (self._next + 4095) // 4096 * 4096
        if base + size + RED_ZONE > self._end:
            raise OutOfDeviceMemory(f"{size} bytes")
        self._next = base + size + RED_ZONE
        return base

    def place(self, base: int, size: int, name: str, state: int) -> Block:
        """An allocation inside a reserved range; in the order of addresses."""
        block = Block(base, size, name, state)
        self.blocks.append(block)
        return block

    @functools.cached_property
    def heap(self) -> abi.Heap:
        """What device-side malloc draws from; made when first wanted, before the launch's own allocations."""
        block = self.allocate(HEAP_SPAN, "device heap", abi.HEAP)
        self._heap_rows = (abi.Allocation * HEAP_BLOCKS)()
        rows = ctypes.cast(self._heap_rows, ctypes.POINTER(abi.Allocation))
        return abi.Heap(block.end, block.base, HEAP_LIMIT, 0, 0, rows, 0, HEAP_BLOCKS)

    def mark(self) -> int:
        """A point to release to."""
        return len(self.blocks)

    def release(self, mark: int) -> None:
        """Forget everything allocated since the mark."""
        if mark < len(self.blocks):
            self._next = self.blocks[mark].base
            del self.blocks[mark:]

    def write(self, address: int, data: bytes | Array) -> None:
        """Copy bytes to the device."""
        if isinstance(data, bytes):
            ctypes.memmove(address, data, len(data))
        elif data.nbytes:
            source = np.ascontiguousarray(data)
            ctypes.memmove(address, source.ctypes.data, source.nbytes)

    def read(self, address: int, size: int) -> bytes:
        """Copy bytes from the device."""
        return ctypes.string_at(address, size)

    def read_array(self, address: int, like: Array) -> Array:
        """Copy an array of that shape and dtype from the device."""
        out = np.empty(like.shape, like.dtype)
        if out.nbytes:
            ctypes.memmove(out.ctypes.data, address, out.nbytes)
        return out

    def read_string(self, address: int) -> bytes:
        """The text at an address, without its final zero; nothing outside the allocation is read."""
        for block in self.blocks:
            if block.base <= address < block.end:
                return ctypes.string_at(address, block.end - address).split(b"\0")[0]
        return b"?"

    def table(self) -> ctypes.Array[abi.Allocation]:
        """The allocation table for the C side, sorted by base."""
        rows = [abi.Allocation(b.base, b.end, b.state, i) for i, b in enumerate(self.blocks)]
        return (abi.Allocation * max(len(rows), 1))(*rows)

    def describe(self, address: int) -> str | None:
        """The allocation nearest to an address, in words."""
        if not self.blocks:
            return None
        near = min(self.blocks, key=lambda b: max(b.base - address, address - b.end + 1, 0))
        if near.state == abi.HEAP and near.base <= address < near.end and self.heap.count:
            near = self._heap_block(address)
        kind = "freed " if near.state == abi.FREED else ""
        if address < near.base:
            where = f"{near.base - address} bytes before"
        elif address >= near.end:
            where = f"{address - near.end} bytes after the end of"
        else:
            where = f"{address - near.base} bytes into"
        return f"{where} {kind}{near.name} ({near.size} bytes)"

    def _heap_block(self, address: int) -> Block:
        rows = self.heap.rows
        index = bisect.bisect_right(range(self.heap.count), address, key=lambda i: int(rows[i].base)) - 1
        row = rows[max(index, 0)]
        return Block(row.base, row.end - row.base, "block from malloc in a kernel", row.state)


class DeviceBuffer:
    """Memory that outlives a launch, as hipMalloc gives it."""

    def __init__(self, memory: Memory, array: Array, name: str) -> None:
        self._memory = memory
        self._like = np.empty(array.shape, array.dtype)
        self._block = memory.allocate(array.nbytes, name)
        memory.write(self._block.base, array)

    @property
    def address(self) -> int:
        """Device address."""
        return self._block.base

    def read(self) -> Array:
        """A copy of its present contents."""
        return self._memory.read_array(self._block.base, self._like)

    def write(self, array: Array) -> None:
        """Overwrite the contents."""
        if array.nbytes > self._block.size:
            raise ValueError(f"{array.nbytes} bytes into a buffer of {self._block.size}")
        self._memory.write(self._block.base, array)

    def free(self) -> None:
        """As hipFree: later accesses are faults."""
        self._block.state = abi.FREED


@dataclass(frozen=True)
class Pointer:
    """A device address inside a buffer, to pass as an argument."""

    buffer: DeviceBuffer
    offset: int = 0

    @property
    def address(self) -> int:
        """Device address."""
        return self.buffer.address + self.offset


Argument = Any  # numpy array, DeviceBuffer, Pointer, numpy scalar, int, float, bytes
