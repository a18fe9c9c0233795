"""What goes between a real device and its child process."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray
from porter.validation.cases.links import Link

GUARD = 256
"""Bytes before and after every array; keeps the alignment that allocations have."""
PATTERN = 0xA7

Dimensions = tuple[int, int, int]


@dataclass(frozen=True)
class LaunchRequest:
    """One launch; arrays are copied."""

    values: tuple[Any, ...]
    grid: Dimensions
    block: Dimensions
    shared: int
    cooperative: bool
    constants: tuple[tuple[str, NDArray[Any]], ...] = ()
    links: tuple[Link, ...] = ()


@dataclass(frozen=True)
class TimeRequest:
    """Many launches over the same memory, timed by device events."""

    launch: LaunchRequest
    warmup: int
    repeats: int
    flush_bytes: int


@dataclass(frozen=True)
class Properties:
    """What the runtime says of the device."""

    name: str
    architecture: str
    lanes: int
    units: int
    clock_khz: int
    memory_clock_khz: int
    memory_bus_bits: int
    driver: int
    runtime: int
    memory: int
    cache: int


@dataclass(frozen=True)
class Loaded:
    """A module is there: sizes of the parameters and whether each is a pointer, names of its variables."""

    parameters: tuple[tuple[int, bool], ...]
    symbols: tuple[str, ...]


@dataclass(frozen=True)
class Ran:
    """The launch ended: arrays after it, and host seconds of launch and synchronisation."""

    outputs: tuple[NDArray[Any] | None, ...]
    seconds: float


@dataclass(frozen=True)
class Timed:
    """Milliseconds of each launch, and the device."""

    milliseconds: tuple[float, ...]
    properties: Properties


@dataclass(frozen=True)
class Outside:
    """Something was written next to an argument: `before` or `after` it."""

    argument: int
    side: str


@dataclass(frozen=True)
class Failed:
    """The runtime's error: `cudaErrorIllegalAddress (700): ...`."""

    text: str


@dataclass(frozen=True)
class Refused:
    """Not launched, and why."""

    reason: str


Outcome = Ran | Timed | Outside | Failed | Refused
