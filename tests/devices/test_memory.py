"""Addresses of the virtual devices: how far allocations lie from each other, and what is said of an address."""

from __future__ import annotations

import itertools

from porter.validation.devices.core.memory import RED_ZONE, Memory


def test_an_access_far_after_an_allocation_is_told_as_one_after_it() -> None:
    memory = Memory()
    first, second = (memory.allocate(4096, f"argument {n}", is_argument=True) for n in range(2))
    assert memory.describe(first.end + (1 << 20)) == f"{1 << 20} bytes after the end of argument 0 (4096 bytes)"
    assert memory.describe(second.base - 4) == "4 bytes before argument 1 (4096 bytes)"
    memory.release(0)
    assert memory.allocate(4096, "argument 0").base == first.base
    assert memory.allocate(4, "buffer").base < first.end + 2 * RED_ZONE  # programs keep many


def test_allocations_come_closer_where_addresses_run_out() -> None:
    memory = Memory(1 << 28)
    blocks = [memory.allocate(1 << 10, f"argument {n}", is_argument=True) for n in range(200)]
    gaps = [after.base - before.end for before, after in itertools.pairwise(blocks)]
    assert min(gaps) >= RED_ZONE and gaps[0] > 2 * gaps[-1]
