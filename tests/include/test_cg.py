"""cooperative_groups.hpp: compiled everywhere, executed on the virtual gfx942, against groups kept as Python lists."""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from porter.validation.devices.core.result import Ran
from porter.validation.devices.gfx942 import Module

from tests.include import hip, virtual

Array = npt.NDArray[Any]
Fold = Callable[[int, int], int]


@pytest.mark.slow
def test_compiles_everywhere(tmp_path: Path) -> None:
    hip.check_everywhere(hip.snippet("cg_device"), tmp_path)


@pytest.fixture(scope="module")
def module() -> Module:
    return virtual.load("cg_device")


def _launch(module: Module, kernel: str, grid: Any, block: Any, *arguments: Any) -> Ran:
    done = module.launch(kernel, grid, block, arguments)
    assert isinstance(done, Ran), f"{kernel}: {done}"
    return done


@pytest.mark.parametrize("size", [32, 64, 256])
def test_sum_of_a_block_through_the_general_group(module: Module, size: int) -> None:
    values = np.random.default_rng(size).integers(-1000, 1000, (3, size), np.int32)
    done = _launch(module, "block_sum", 3, size, values, np.zeros(3, np.int32))
    np.testing.assert_array_equal(done.output(1), values.sum(1))


def _bits(members: list[int], holds: Callable[[int], bool]) -> int:
    return sum(1 << rank for rank, member in enumerate(members) if holds(member))


def _scan(values: list[int], fold: Fold, exclusive: bool = False) -> list[int]:
    sums = [functools.reduce(fold, values[: k + 1]) for k in range(len(values))]
    return [0, *sums[:-1]] if exclusive else sums


def _group_facts(v: list[int], rank: int) -> list[int]:
    """Votes and matches of a group, in its own numbering, as its member `rank` sees them."""
    same = len({x & 16 for x in v}) == 1
    return [
        _bits(v, lambda x: x & 1 == 1),
        any(x & 4 for x in v),
        all(x & 3 for x in v),
        _bits(v, lambda x: x & 3 == v[rank] & 3),
        ((1 << len(v)) - 1) * same,
        same,
    ]


def _tile_facts(v: list[int], rank: int, size: int, index: int, count: int) -> list[int]:
    moves = [v[1], v[rank - 1] if rank else v[0], v[rank + 2] if rank + 2 < size else v[rank], v[rank ^ size // 2]]
    folds: list[Fold] = [operator.add, min, max, operator.and_, operator.or_, operator.xor]
    scans = [_scan(v, operator.add), _scan(v, operator.add, True), _scan(v, max), _scan(v, operator.or_, True)]
    return [
        *(rank, index, count, size),
        *_group_facts(v, rank),
        *moves,
        *(functools.reduce(fold, v) for fold in folds),
        *(scan[rank] for scan in scans),
        v[0] * 3,
    ]


def _unsigned(rows: list[list[int]]) -> Array:
    words: Array = np.array([[x & 0xFFFFFFFF for x in row] for row in rows], np.uint32).T
    return words


@pytest.mark.parametrize("block", [64, 128, 96])
@pytest.mark.parametrize("size", [4, 16, 32])
def test_tiles(module: Module, size: int, block: int) -> None:
    values = np.random.default_rng(size).integers(-50, 50, 2 * block, np.int32)
    values[:size] = 16 | 5
    rows = []
    for thread in range(2 * block):
        first = thread // size * size
        tile = values[first : first + size].tolist()
        rows.append(_tile_facts(tile, thread - first, size, thread % block // size, -(-block // size)))
    expected = _unsigned(rows)
    out = np.zeros(expected.shape, np.uint32)
    done = _launch(module, f"tile_{size}", 2, block, values, out, 2 * block)
    np.testing.assert_array_equal(done.output(1), expected)


def test_floats_are_added_in_the_order_of_cuda(module: Module) -> None:
    rng = np.random.default_rng(1)
    values = (rng.normal(size=128) * 10.0 ** rng.uniform(-3, 3, 128)).astype(np.float32)
    warps = values.reshape(-1, 32)
    lanes = np.arange(32)
    sums, scan = warps.copy(), warps.copy()
    for distance in (16, 8, 4, 2, 1):
        sums = sums + sums[:, lanes ^ distance]
    for distance in (1, 2, 4, 8, 16):
        moved = scan.copy()
        moved[:, distance:] = scan[:, distance:] + scan[:, :-distance]
        scan = moved
    before = np.concatenate([np.zeros((4, 1), np.float32), scan[:, :-1]], axis=1)
    done = _launch(module, "float_sums", 2, 64, values, np.zeros((4, 128), np.float32), 128).output(1)
    np.testing.assert_array_equal(done[:3], np.array([sums, scan, before]).reshape(3, 128))
    np.testing.assert_allclose(done[3], warps.astype(np.float64).sum(1).repeat(32), rtol=1e-6)


def _partition(v: list[int], key: Callable[[int], int]) -> dict[int, list[int]]:
    """Places in the group by label, in the order in which the labels first appear."""
    parts: dict[int, list[int]] = {}
    for place, value in enumerate(v):
        parts.setdefault(key(value), []).append(place)
    return parts


def _coalesced_facts(v: list[int], rank: int) -> list[int]:
    size, mine = len(v), v[rank]
    votes = _group_facts(v, rank)
    votes[1], votes[2] = any(x & 8 for x in v), all(x & 7 for x in v)
    votes[4:] = (((1 << size) - 1) * (len({x & 64 for x in v}) == 1), len({x & 64 for x in v}) == 1)
    sums = _scan(v, operator.add)
    moves = [v[0], v[-1], v[rank - 1] if rank else mine, v[rank + 2] if rank + 2 < size else mine]
    odd = _partition(v, lambda x: x & 1)
    half = odd[mine & 1]
    labels = _partition(v, lambda x: x & 6)
    label = labels[mine & 6]
    binary = [len(half), half.index(rank), (mine & 1) if len(odd) == 2 else 0, len(odd)]
    labelled = [len(label), label.index(rank), list(labels).index(mine & 6), len(labels), sum(v[p] for p in label)]
    pair = min(2, size - rank // 2 * 2)
    pairs = [pair, rank % 2, rank // 2, -(-size // 2)]
    folded = [sums[-1], sums[rank], sums[rank] - mine]
    return [size, rank, *votes, *moves, *folded, *binary, *labelled, *pairs, v[0] + 1000]


@pytest.mark.parametrize("block", [64, 96])
@pytest.mark.parametrize("seed", range(4))
def test_coalesced_groups(module: Module, block: int, seed: int) -> None:
    values = np.random.default_rng(seed).integers(0, 100, 3 * block, np.int32)
    if seed == 0:
        values[:64] = values[:64] * 3 + 1  # all lanes of two warps
    if seed == 1:
        values[:32] = 6 * values[:32]
        values[5] = 7  # one lane alone
    rows = [[0] * 29 for _ in values]
    for start in range(0, 3 * block, block):
        for first in range(start, start + block, 32):
            places = [i for i in range(first, min(first + 32, start + block)) if values[i] % 3]
            group = values[places].tolist()
            for rank, place in enumerate(places):
                rows[place] = _coalesced_facts(group, rank)
    expected = _unsigned(rows)
    done = _launch(module, "coalesced", 3, block, values, np.zeros(expected.shape, np.uint32), 3 * block)
    np.testing.assert_array_equal(done.output(1), expected)


def test_asynchronous_copies(module: Module) -> None:
    values = np.arange(256, dtype=np.float32)
    text = np.frombuffer(bytes(range(1, 60)), np.int8)
    done = _launch(module, "copies", 1, 64, values, np.zeros(320, np.float32), text, np.zeros(64, np.int8), 41)
    np.testing.assert_array_equal(done.output(1)[:256], values[::-1])
    np.testing.assert_array_equal(done.output(1)[256:], np.tile(values[:32], 2)[np.arange(64) ^ 1])
    np.testing.assert_array_equal(done.output(3)[:42], [*text[1:42], 0])


def test_places_in_the_grid(module: Module) -> None:
    grid, block = (3, 2, 2), (4, 5, 6)
    count = 12 * 120
    out = _launch(module, "places", grid, block, np.zeros((count, 9), np.uint64)).output(0)
    for number, facts in enumerate(out.tolist()):
        of_block, thread = divmod(number, 120)
        y = of_block // 3 % 2 * 5 + thread // 4 % 5
        assert facts == [count, 12, of_block, 3, y, 12, thread % 4, 5, thread]


def test_structs_and_small_integers(module: Module) -> None:
    pixels = np.random.default_rng(2).random((64, 3), np.float32)
    shorts = np.arange(-32, 44, dtype=np.int16)
    done = _launch(module, "other_types", 1, 64, pixels, shorts, 0)
    lanes = np.arange(64)
    np.testing.assert_array_equal(done.output(0), pixels[lanes // 8 * 8 + lanes % 8 // 4])
    moved = np.where(lanes % 32 < 31, shorts[:64] + 1, shorts[:64])
    tiles = [16 + first // 8 % 4 for first in (0, 16, 32, 48)]
    np.testing.assert_array_equal(done.output(1)[:68], [*moved, *tiles])
    np.testing.assert_array_equal(done.output(1)[72:74], [9, 9])
