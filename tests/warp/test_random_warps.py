"""Random kernels of warps: original and port leave what a model of 32-lane warps in numpy leaves.

`python -m tests.random_warps` runs as many as one wants.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from porter.validation.devices.registry import why_not

from tests.random_warps.kernels import Kernel, Statement, kernel, text_of
from tests.random_warps.machine import Lanes, Machine, folded, mask_of, nth, rank, source
from tests.random_warps.run import Bench, Disagreement, ported

TOGETHER = 40


@pytest.fixture(scope="module")
def bench() -> Bench:
    for device in ("ptx", "gfx942"):
        reason = why_not(device)
        if reason is not None:
            pytest.skip(reason)
    return Bench(level=0)


def _checked(found: list[Disagreement]) -> None:
    told = [f"{one.kernel.name} {one.side}: {one.said}\n{one.kernel.text()}" for one in found if not one.culprit]
    assert not told, "\n".join(told)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(0, 4 * TOGETHER, TOGETHER))
def test_random_kernels(bench: Bench, first: int) -> None:
    _checked(bench.judged([kernel(seed) for seed in range(first, first + TOGETHER)]))


@pytest.mark.slow
def test_widened_kernels(bench: Bench) -> None:
    kernels = [kernel(seed, idiom=True) for seed in range(TOGETHER)]
    parts = ported(text_of(kernels), "native").split("__global__")[1:]
    assert sum("porter::wide" in part for part in parts) > TOGETHER // 2
    _checked(bench.judged(kernels, ["original", "native"]))


@pytest.mark.slow
def test_what_differs_is_made_smaller(bench: Bench) -> None:
    """A statement whose text is another one than its meaning: of all others nothing is left."""

    def adds_one(machine: Machine, active: Lanes) -> None:
        machine.assign("u0", machine.variables["u0"] + np.uint32(1), active)

    whole = kernel(3)
    broken = Kernel(3, whole.grid, whole.block, (*whole.body, Statement("u0 += 2;", adds_one), *kernel(4).body[:1]))
    (found,) = bench.judged([broken], ["original"])
    assert [node.text for node in bench.culprit(found).kernel.body if isinstance(node, Statement)] == ["u0 += 2;"]


SHUFFLES: list[tuple[str, int, int, Callable[[int], int]]] = [
    ("xor", 16, 32, lambda lane: lane ^ 16),
    ("xor", 8, 8, lambda lane: lane ^ 8 if lane & 8 else lane),  # below the own segment a lane is read, above it not
    ("up", 3, 8, lambda lane: lane - 3 if lane % 8 >= 3 else lane),
    ("down", 3, 4, lambda lane: lane + 3 if lane % 4 == 0 else lane),
    ("idx", 37, 16, lambda lane: lane // 16 * 16 + 5),
]


@pytest.mark.parametrize(("way", "amount", "width", "wanted"), SHUFFLES)
def test_the_model_of_a_shuffle(way: str, amount: int, width: int, wanted: Callable[[int], int]) -> None:
    lanes = np.arange(32)
    assert source(way, lanes, np.full(32, amount), width).tolist() == [wanted(lane) for lane in range(32)]


def test_the_model_of_masks() -> None:
    active = np.zeros((1, 1, 32), bool)
    active[0, 0, [3, 7, 30]] = True
    assert mask_of(active)[0, 0, 0] == 1 << 3 | 1 << 7 | 1 << 30
    assert rank(active)[0, 0, [3, 7, 30]].tolist() == [0, 1, 2]
    assert nth(active, np.full(active.shape, 4))[0, 0, 0] == 7
    values = np.arange(32, dtype=np.uint32).reshape(active.shape)
    assert folded("add", values, active)[0, 0, 0] == 40
    assert folded("min", values, active)[0, 0, 0] == 3
