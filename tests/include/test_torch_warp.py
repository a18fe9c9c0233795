"""torch_warp.hpp as clang compiles it for gfx942, in blocks of half wavefronts and more, against numpy."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from porter.validation.devices.core.launch import Options
from porter.validation.devices.core.result import Ran
from porter.validation.devices.gfx942 import Module

from tests.include import virtual

SHAPES = [(32, 1), (64, 1), (96, 1), (16, 2), (32, 3), (16, 10), (256, 1), (32, 32)]
BLOCKS = 3


@pytest.fixture(scope="module")
def module() -> Module:
    return virtual.load("torch_warp_device")


def _launch(module: Module, kernel: str, shape: tuple[int, ...], *arguments: npt.NDArray[Any]) -> Ran:
    # A lane above the last one reads its own half's end, as in PyTorch: of a value that nobody uses.
    done = module.launch(kernel, BLOCKS, shape, list(arguments), options=Options(uninitialised=False))
    assert isinstance(done, Ran), f"{kernel}: {done}"
    return done


@pytest.mark.parametrize("shape", SHAPES)
def test_reductions_of_a_block(module: Module, shape: tuple[int, int]) -> None:
    count = shape[0] * shape[1]
    values = np.random.default_rng(count).integers(-100, 100, (BLOCKS, count)).astype(np.float32)
    values[1] -= 500
    done = _launch(module, "blocks", shape, values.reshape(-1), *(np.zeros(BLOCKS, np.float32) for _ in range(4)))
    _, sums, most, combined, flat = done.outputs
    np.testing.assert_array_equal(sums, values.sum(1))
    np.testing.assert_array_equal(most, values.max(1))
    np.testing.assert_array_equal(combined, values.max(1))
    np.testing.assert_array_equal(flat, values.sum(1) if shape[1] == 1 else 0 * sums)


def test_the_greatest_value_may_be_none(module: Module) -> None:
    values = np.ones((BLOCKS, 96), np.float32)
    values[0, 70] = np.nan
    done = _launch(module, "blocks", (96, 1), values.reshape(-1), *(np.zeros(BLOCKS, np.float32) for _ in range(4)))
    assert np.isnan(done.outputs[2][0])
    assert done.outputs[2][1] == 1


@pytest.mark.parametrize("size", [32, 64, 96, 160, 1024])
def test_scans_over_votes(module: Module, size: int) -> None:
    yes = np.random.default_rng(size).integers(0, 2, (BLOCKS, size)).astype(np.int32)
    done = _launch(module, "scans", (size,), yes.reshape(-1), *(np.zeros(BLOCKS * size, np.int32) for _ in range(3)))
    up_to, before, every = (np.asarray(one).reshape(BLOCKS, size) for one in done.outputs[1:])
    np.testing.assert_array_equal(up_to, yes.cumsum(1))
    np.testing.assert_array_equal(before, yes.cumsum(1) - yes)
    np.testing.assert_array_equal(every, np.repeat(yes.sum(1), size).reshape(BLOCKS, size))


def test_lanes_and_masks(module: Module) -> None:
    done = module.launch("lanes", 1, 96, [np.zeros(96 * 6, np.uint32)])
    assert isinstance(done, Ran), str(done)
    for thread, (lane, below, up_to, above, from_here, ballot) in enumerate(np.asarray(done.outputs[0]).reshape(96, 6)):
        assert lane == thread % 32
        assert (below, up_to) == ((1 << int(lane)) - 1, (2 << int(lane)) - 1)
        assert (above, from_here) == (0xFFFFFFFF ^ int(up_to), 0xFFFFFFFF ^ int(below))
        first = thread - thread % 32
        assert ballot == sum(1 << (t - first) for t in range(first, first + 16) if t % 3 == 0)
