"""Times and what they mean: median and spread, achieved bandwidth and rate against the device's ceilings. Pure."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from porter.validation.devices.core.result import Array
from porter.validation.harness.messages import Properties

_NVIDIA_LANES = {70: 64, 72: 64, 75: 64, 80: 64, 86: 128, 87: 128, 89: 128, 90: 128, 100: 128, 103: 128, 120: 128}
"""FP32 lanes of one multiprocessor by compute capability."""
_AMD_RATE = {"gfx906": 128, "gfx908": 128, "gfx90a": 256, "gfx942": 256, "gfx950": 256}
"""FP32 operations per clock of one compute unit, packed."""
_AMD_BANDWIDTH = {"gfx942": 5.3e12, "gfx90a": 3.2e12}
"""Published, in bytes per second: the runtime's memory clock is not that of the data."""


@dataclass(frozen=True)
class Measured:
    """Times of one launch on one device, and what it computed before and after them."""

    milliseconds: tuple[float, ...]
    properties: Properties
    before: tuple[Array | None, ...]
    after: tuple[Array | None, ...]


@dataclass(frozen=True)
class Spread:
    """A sample of times, in seconds."""

    median: float
    low: float
    """First quartile."""
    high: float
    """Third quartile."""
    least: float
    count: int

    @property
    def relative(self) -> float:
        """Distance of the quartiles over the median."""
        return (self.high - self.low) / self.median if self.median else 0.0


@dataclass(frozen=True)
class Ceilings:
    """What the device can do at most; None where nobody says."""

    bytes_per_second: float | None
    operations_per_second: float | None
    source: str


@dataclass(frozen=True)
class Achieved:
    """Rates of one kernel at its median time, and their part of the ceilings."""

    bytes_per_second: float | None
    operations_per_second: float | None
    of_bandwidth: float | None
    of_rate: float | None


def spread(milliseconds: Sequence[float]) -> Spread:
    """Median and quartiles of times in milliseconds; ValueError for none."""
    seconds = sorted(one / 1000 for one in milliseconds)
    if not seconds:
        raise ValueError("no times")
    low, median, high = (seconds * 3)[:3] if len(seconds) == 1 else statistics.quantiles(seconds, method="inclusive")
    return Spread(median, low, high, seconds[0], len(seconds))


def ceilings(properties: Properties) -> Ceilings:
    """Peak bandwidth and FP32 rate from what the runtime says of the device."""
    base = properties.architecture.partition(":")[0]
    clock = properties.clock_khz * 1e3
    if base.startswith("gfx"):
        per_clock = _AMD_RATE.get(base)
        rate = per_clock * properties.units * clock if per_clock and clock else None
        return Ceilings(_AMD_BANDWIDTH.get(base), rate, "published bandwidth; units, clock and packed FP32 rate")
    # Data moves at both edges of the memory clock.
    bandwidth = 2 * properties.memory_clock_khz * 1e3 * properties.memory_bus_bits / 8
    number = base.removeprefix("sm_")
    lanes = _NVIDIA_LANES.get(int(number)) if number.isdigit() else None
    rate = 2.0 * lanes * properties.units * clock if lanes and clock else None
    return Ceilings(bandwidth or None, rate, "memory clock and bus width; multiprocessors, clock and FP32 lanes")


def achieved(seconds: float, moved: float | None, operations: float | None, limits: Ceilings) -> Achieved:
    """Bytes and operations of one launch over its time."""

    def rate(amount: float | None) -> float | None:
        return amount / seconds if amount is not None and seconds > 0 else None

    def part(value: float | None, most: float | None) -> float | None:
        return value / most if value is not None and most else None

    bandwidth, speed = rate(moved), rate(operations)
    of_bandwidth = part(bandwidth, limits.bytes_per_second)
    return Achieved(bandwidth, speed, of_bandwidth, part(speed, limits.operations_per_second))
