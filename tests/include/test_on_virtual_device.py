"""warp32.hpp as clang compiles it for gfx942, executed lane by lane, against CUDA's functions on 32 lanes."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from porter.validation.devices.core.launch import Options
from porter.validation.devices.core.result import Ran
from porter.validation.devices.gfx942 import Module

from tests.include import virtual, warps
from tests.include.warps import Blocks, Ints

Array = npt.NDArray[Any]
SIZES = (32, 64, 96, 128, 33)
KINDS = ("idx", "up", "down", "xor")
TYPES: dict[str, tuple[Any, Any]] = {
    "i32": (np.int32, np.int32),
    "u32": (np.uint32, np.uint32),
    "i64": (np.int64, np.int64),
    "u64": (np.uint64, np.uint64),
    "f32": (np.uint32, np.uint32),  # as bits: any NaN must come through
    "f64": (np.uint64, np.uint64),
    "i8": (np.int8, np.int32),
    "u16": (np.uint16, np.int32),
    "f16": (np.uint16, np.uint16),
    "f16x2": (np.uint32, np.uint32),
    "odd": (np.dtype("V7"), np.dtype("V7")),
    "pair": (np.dtype("V16"), np.dtype("V16")),
}


@pytest.fixture(scope="module", params=["-O3", "-O1"])
def module(request: pytest.FixtureRequest) -> Module:
    return virtual.load("warp32_device", request.param, "-Wno-sometimes-uninitialized")


def _launch(module: Module, kernel: str, blocks: int, size: int | tuple[int, ...], *arguments: Any) -> Ran:
    # Structs of 7 bytes are read two bytes at a time from odd addresses, which the hardware's unaligned mode allows;
    # and some shuffles read lanes that are not active, whose results are undefined and not looked at.
    options = Options(alignment="none", uninitialised=False)
    done = module.launch(kernel, blocks, size, arguments, options=options)
    assert isinstance(done, Ran), f"{kernel}: {done}"
    return done


def _random(seed: int, count: int, dtype: Any) -> Array:
    dtype = np.dtype(dtype)
    values: Array = np.frombuffer(np.random.default_rng(seed).bytes(count * dtype.itemsize), dtype).copy()
    return values


def _words(values: Ints) -> Array:
    return values.astype(np.uint32)


@pytest.mark.parametrize("name", TYPES)
def test_shuffles(module: Module, name: str) -> None:
    stored, returned = TYPES[name]
    for seed, width in enumerate((32, 16, 8, 4, 2, 32)):
        size = SIZES[seed % len(SIZES)]
        blocks = warps.random_blocks(seed, size)
        count = len(blocks.branch)
        values = _random(seed, count, stored)
        if name == "pair":
            values.view(np.uint8).reshape(-1, 16)[:, 12:] = 0  # padding, which assignment does not copy
        for op in range(8):
            numbers = np.random.default_rng(op).integers(-40 if op % 4 in (0, 3) else 0, 70, count)
            if seed % 2 and op % 4:
                numbers = numbers % (width + 1)
            done = _launch(
                *(module, f"shuffle_{name}", count // size, size, values, numbers.astype(np.int32)),
                *(_words(blocks.mask), blocks.branch.astype(np.int32), size, op, width, np.zeros(count, returned)),
            )
            source, defined = warps.shuffled(blocks, KINDS[op % 4], numbers, width)
            expected = values[source].astype(returned)
            assert defined.sum() > count // 8
            np.testing.assert_array_equal(done.output(7)[defined], expected[defined], f"{KINDS[op % 4]} width {width}")


@pytest.mark.parametrize("width", [2, 4, 8, 16, 32])
def test_constant_lane_numbers(module: Module, width: int) -> None:
    blocks = Blocks(64, np.zeros(128, np.int64), np.full(128, 0xFFFFFFFF))
    values = np.arange(128, dtype=np.float32)
    out = np.zeros((128, 128), np.float32)
    done = _launch(module, f"constant_{width}", 2, 64, values, 64, 128, out)
    for kind, rows in zip(KINDS, done.output(3).reshape(4, 32, 128), strict=True):
        for number, row in enumerate(rows):
            source, defined = warps.shuffled(blocks, kind, np.full(128, number), width)
            assert defined.all()
            np.testing.assert_array_equal(row, values[source], f"{kind} {number} width {width}")


@pytest.mark.parametrize("size", SIZES)
def test_votes(module: Module, size: int) -> None:
    blocks = warps.random_blocks(100 + size, size)
    count = len(blocks.branch)
    chance = np.random.default_rng(size).choice([0.0, 0.5, 1.0], count // size).repeat(size)
    predicate = (np.random.default_rng(size + 1).random(count) < chance).astype(np.int32) * 6
    out = np.zeros((8, count), np.uint32)
    branch = blocks.branch.astype(np.int32)
    rows = _launch(module, "votes", count // size, size, predicate, _words(blocks.mask), branch, size, count, out)

    def true(group: list[int]) -> list[int]:
        return [thread for thread in group if predicate[thread]]

    def ballot(group: list[int]) -> int:
        return warps.bits(blocks, true(group))

    def any_(group: list[int]) -> int:
        return bool(true(group))

    def all_(group: list[int]) -> int:
        return len(true(group)) == len(group)

    def uniform(group: list[int]) -> int:
        return len(true(group)) in (0, len(group))

    def active(group: list[int]) -> int:
        return warps.bits(blocks, group)

    unmasked = [warps.each_group(blocks, f, masked=False) for f in (ballot, any_, all_, active)]
    masked = [warps.each_group(blocks, f) for f in (ballot, any_, all_, uniform)]
    np.testing.assert_array_equal(rows.output(5), _words(np.array(unmasked + masked)))


MATCH_VALUES: dict[str, Array] = {
    "i32": np.array([0, -1, 5, 1 << 30], np.int32),
    "u64": np.array([1, 1 << 32, (1 << 32) + 1, 1 << 63], np.uint64),
    "f32": np.array([0.0, -0.0, np.nan, 1.5], np.float32),
    "f64": np.array([0.0, -0.0, np.nan, 1.5], np.float64),
}


@pytest.mark.parametrize("distinct", [1, 2, 4])
@pytest.mark.parametrize("name", MATCH_VALUES)
def test_matches(module: Module, name: str, distinct: int) -> None:
    for size in (64, 96):
        blocks = warps.random_blocks(200 + size + distinct, size)
        count = len(blocks.branch)
        values = np.random.default_rng(distinct).choice(MATCH_VALUES[name][:distinct], count)
        raw = values.view(f"u{values.itemsize}")
        out = np.zeros((3, count), np.uint32)
        branch = blocks.branch.astype(np.int32)
        done = _launch(
            module, f"match_{name}", count // size, size, values, _words(blocks.mask), branch, size, count, out
        )
        expected = np.zeros((3, count), np.int64)
        for lanes in blocks.together():
            for thread in lanes.values():
                group = warps.members(lanes, int(blocks.mask[thread]))
                peers = [other for other in group if raw[other] == raw[thread]]
                same = len(peers) == len(group)
                expected[:, thread] = warps.bits(blocks, peers), same * warps.bits(blocks, group), same
        np.testing.assert_array_equal(done.output(5), _words(expected))


def test_match_of_64_different_values(module: Module) -> None:
    blocks = Blocks(64, np.zeros(64, np.int64), np.full(64, 0xFFFFFFFF))
    values, out = np.arange(64, dtype=np.int32) % 40, np.zeros((3, 64), np.uint32)
    branch = blocks.branch.astype(np.int32)
    done = _launch(module, "match_i32", 1, 64, values, _words(blocks.mask), branch, 64, 64, out)
    np.testing.assert_array_equal(done.output(5)[0], np.uint32(1) << np.arange(64, dtype=np.uint32) % 32)


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("name", ["i32", "u32"])
def test_reductions(module: Module, name: str, size: int) -> None:
    dtype = np.int32 if name == "i32" else np.uint32
    blocks = warps.random_blocks(300 + size, size)
    count = len(blocks.branch)
    values = _random(size, count, dtype)
    branch = blocks.branch.astype(np.int32)
    out = np.zeros((6, count), dtype)
    done = _launch(module, f"reduce_{name}", count // size, size, values, _words(blocks.mask), branch, size, count, out)
    plain = [int(value) for value in values]
    folds: list[Callable[[int, int], int]] = [operator.add, min, max, operator.and_, operator.or_, operator.xor]
    expected = [
        warps.each_group(blocks, lambda group, f=f: functools.reduce(f, (plain[t] for t in group)))  # type: ignore[misc]
        for f in folds
    ]
    np.testing.assert_array_equal(done.output(5).astype(np.uint32), _words(np.array(expected)))


@pytest.mark.parametrize("block", [(64,), (128,), (8, 4, 3), (5, 7, 2), (33,)])
def test_places(module: Module, block: tuple[int, ...]) -> None:
    count = int(np.prod(block))
    thread = np.arange(count)
    lane = thread % 32
    out = _launch(module, "places", 1, block, np.zeros((8, count), np.uint32)).output(0)
    expected = [lane, thread // 32, np.full(count, -(-count // 32)), 1 << lane, (1 << lane) - 1, (2 << lane) - 1]
    expected += [0xFFFFFFFF & ~((2 << lane) - 1), 0xFFFFFFFF & ~((1 << lane) - 1)]
    keep = thread % 3 != 1
    np.testing.assert_array_equal(out[:3], np.array(expected[:3]))
    np.testing.assert_array_equal(out[3:, keep], np.array(expected[3:])[:, keep])


def test_exchange_through_shared_memory(module: Module) -> None:
    values = np.arange(256, dtype=np.int32) ** 2
    done = _launch(module, "exchange", 2, 128, values, 128, np.zeros(256, np.int32))
    totals = values.reshape(-1, 32).sum(1).repeat(32)
    np.testing.assert_array_equal(done.output(2), totals + 31 - np.arange(256) % 32)


def test_votes_in_a_loop_that_lanes_leave(module: Module) -> None:
    trips = np.random.default_rng(5).integers(0, 9, 128)
    done = _launch(module, "shrinking", 2, 64, trips.astype(np.int32), 64, np.zeros(128, np.uint32))
    expected = np.zeros(128, np.uint64)
    for start in range(0, 128, 32):
        warp = trips[start : start + 32]
        for turn in range(9):
            inside = warp > turn
            ballot = sum(1 << lane for lane in range(32) if inside[lane] and warp[lane] & 1)
            part = expected[start : start + 32]
            part[inside] = (part[inside] * np.uint64(3) + np.uint64(ballot)) % np.uint64(1 << 32)
    np.testing.assert_array_equal(done.output(2), expected.astype(np.uint32))


def test_aggregated_atomics_hand_out_each_number_once(module: Module) -> None:
    wanted = (np.random.default_rng(6).random(256) < 0.6).astype(np.int32)
    out = np.zeros(256, np.int32)
    done = _launch(module, "aggregated", 4, 64, wanted, 64, np.zeros(1, np.int32), out)
    numbers = done.output(3)
    assert done.output(2)[0] == wanted.sum()
    assert sorted(numbers[wanted == 1].tolist()) == list(range(int(wanted.sum())))
    assert (numbers[wanted == 0] == -1).all()
    for start in range(0, 256, 32):
        warp = numbers[start : start + 32]
        assert (np.diff(warp[warp >= 0]) == 1).all(), "the lanes of a warp get neighbouring numbers"


def test_unoptimised_code() -> None:
    """Nothing of the header relies on the optimiser to be right."""
    values = _random(7, 64, np.uint32)
    out = np.zeros((3, 64), np.uint32)
    done = _launch(virtual.load("warp32_unoptimised", "-O0"), "some", 1, 64, values, out)
    lanes = np.arange(64)
    odd, half = values & 1 == 1, lanes // 32
    ballots = [sum(1 << lane % 32 for lane in lanes if half[lane] == h and odd[lane]) for h in (0, 1)]
    peers = [
        sum(1 << b % 32 for b in lanes if half[a] == half[b] and odd[a] and odd[b] and not (values[a] ^ values[b]) & 6)
        for a in lanes
    ]
    np.testing.assert_array_equal(done.output(1), np.array([values[lanes ^ 1], np.array(ballots)[half], peers]))
