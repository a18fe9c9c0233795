"""What each launch wrote on the two sides, compared: the first launch after which memory differs (trace.c)."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

import numpy as np
from numpy.typing import NDArray
from porter.validation.programs.output import Tolerance

_SORTS = ("device memory", "managed memory", "pinned host memory")
_LAUNCH, _ROW = struct.Struct("<9I"), struct.Struct("<3IQ")


@dataclass(frozen=True)
class Written:
    """One launch, and the allocations that it changed."""

    number: int
    kernel: str
    grid: tuple[int, ...]
    block: tuple[int, ...]
    memory: dict[tuple[int, int], bytes]
    """By sort and number."""


@dataclass(frozen=True)
class FirstDifference:
    """Where the two sides part."""

    launch: int
    kernel: str
    what: str

    def __str__(self) -> str:
        return f"memory differs first after launch {self.launch}, {self.kernel}: {self.what}"


def launches(path: Path) -> Iterator[Written]:
    """The records of a file; one that was cut off ends them."""
    with path.open("rb") as file:
        head = file.read(_LAUNCH.size)
        while len(head) == _LAUNCH.size:
            _, number, length, *sizes = _LAUNCH.unpack(head)
            name = file.read(length).decode("utf-8", "replace")
            memory, head = _rows(file)
            yield Written(number, name, tuple(sizes[:3]), tuple(sizes[3:]), memory)


def _rows(file: BinaryIO) -> tuple[dict[tuple[int, int], bytes], bytes]:
    memory: dict[tuple[int, int], bytes] = {}
    while (start := file.read(_ROW.size)).startswith(b"A\0\0\0") and len(start) == _ROW.size:
        _, sort, number, size = _ROW.unpack(start)
        memory[sort, number] = file.read(size)
    return memory, start + file.read(_LAUNCH.size - len(start))


def first_difference(original: Path, port: Path, tolerance: Tolerance) -> FirstDifference | None:
    """The first launch after which what it wrote differs, of the first process of each folder."""
    files = [min(folder.glob("*.trace"), default=None) for folder in (original, port)]
    if files[0] is None or files[1] is None:
        return None
    for one, other in zip(launches(files[0]), launches(files[1]), strict=False):
        if one.kernel.split("(")[0] != other.kernel.split("(")[0]:
            return FirstDifference(one.number, one.kernel, f"the port launches {other.kernel}")
        if (one.grid, one.block) != (other.grid, other.block):
            return FirstDifference(
                one.number, one.kernel, f"grid and block {one.grid}, {one.block} and {other.grid}, {other.block}"
            )
        for key in sorted(one.memory.keys() | other.memory.keys()):
            said = _differs(one.memory.get(key), other.memory.get(key), tolerance)
            if said is not None:
                return FirstDifference(one.number, one.kernel, f"{_SORTS[key[0]]} {key[1]}, {said}")
    return None


def _differs(first: bytes | None, second: bytes | None, tolerance: Tolerance) -> str | None:
    """In words; None when the bytes are the same, or the same numbers of some type."""
    if first is None or second is None:
        return f"which only the {'port' if first is None else 'original'} changes"
    if len(first) != len(second):
        return f"of {len(first)} and {len(second)} bytes"
    if first == second:
        return None
    found: list[tuple[int, str]] = []
    for kind in ("<f4", "<f8", "<f2"):
        size = np.dtype(kind).itemsize
        if len(first) % size:
            continue
        left, right = np.frombuffer(first, kind), np.frombuffer(second, kind)
        wrong = _wrong(left, right, tolerance)
        if not len(wrong):
            return None
        at = int(wrong[0])
        found.append((at * size, f"element {at} of {len(left)} as {kind[1:]}: {left[at]!s} and {right[at]!s}"))
    at = next(i for i, (a, b) in enumerate(zip(first, second, strict=True)) if a != b) // 4 * 4
    values = [int.from_bytes(data[at : at + 4], "little", signed=True) for data in (first, second)]
    small = all(abs(value) < 1 << 24 for value in values)
    return f"element {at // 4} as i4: {values[0]} and {values[1]}" if small or not found else found[0][1]


def _wrong(left: NDArray[np.floating], right: NDArray[np.floating], tolerance: Tolerance) -> NDArray[np.intp]:
    """Places where two arrays differ by more than the tolerance, or in their bits where they are no normal numbers."""
    with np.errstate(all="ignore"):
        bits = [array.view(f"<u{array.dtype.itemsize}") for array in (left, right)]
        wide = [array.astype(np.float64) for array in (left, right)]
        allowed = np.maximum(tolerance.absolute, tolerance.relative * np.maximum(np.abs(wide[0]), np.abs(wide[1])))
        tiny = np.finfo(left.dtype).tiny
        normal = [np.isfinite(array) & ((np.abs(array) >= tiny) | (array == 0)) for array in (left, right)]
        near = normal[0] & normal[1] & (np.abs(wide[0] - wide[1]) <= allowed)
        nans = np.isnan(left) & np.isnan(right)
        result: NDArray[np.intp] = np.flatnonzero(~((bits[0] == bits[1]) | near | nans))
    return result
