"""Widened kernels give the results of the preserving port, executed on the virtual gfx942."""

from __future__ import annotations

import re

import pytest

from porter.engine.file import port
from porter.source import SourceFile
from porter.warp.bodies import bodies_of
from porter.warp.flow.geometry import block_shape, launches_of, product
from porter.warp.native.plan import outcome
from tests.fixtures.warp import Fixture, load
from tests.warp import execution, shapes
from tests.warp.execution import Geometry

WIDENED = {fixture.name: fixture for fixture in load() if fixture.native == "widen"}
SHAPES = {shape.fixture.name: shape for shape in shapes.load()}
RUNS = [name for name, shape in SHAPES.items() if shape.fixture.native == "widen"]
GROWS = {"row_max", "item_any"}
"""Kernels of the fixtures whose blocks keep their size, so that the grid grows."""


def _geometry(fixture: Fixture) -> Geometry:
    launch = fixture.launch
    return Geometry(launch.grid, launch.block, launch.shared)


def _widened_geometry(fixture: Fixture) -> Geometry:
    """The block of the widened launch; twice the blocks where each holds half the items."""
    original = _geometry(fixture)
    text = execution.ported(fixture, "native").data.decode()
    source = execution.context("native").unit(SourceFile("a.cu", text.encode()))
    launches = launches_of(source)
    block = block_shape(bodies_of(source), launches[0]) if launches else None
    if block is None or product(block) is None:
        return original
    grid = (2 * original.grid[0],) if fixture.launch.kernel in GROWS else original.grid
    return Geometry(grid, tuple(side or 0 for side in block), original.shared)


def _compare(fixture: Fixture, widened: Geometry) -> None:
    preserved = execution.module(execution.ported(fixture, "preserve").data.decode())
    native = execution.module(execution.ported(fixture, "native").data.decode())
    for seed in range(2):
        arguments = execution.inputs(fixture, seed)
        execution.agree(
            execution.run(preserved, fixture, _geometry(fixture), arguments),
            execution.run(native, fixture, widened, arguments),
        )


@pytest.mark.slow
@pytest.mark.parametrize("name", WIDENED)
def test_fixture(name: str) -> None:
    _compare(WIDENED[name], _widened_geometry(WIDENED[name]))


@pytest.mark.slow
@pytest.mark.parametrize("name", RUNS)
def test_shape(name: str) -> None:
    shape = SHAPES[name]
    _compare(shape.fixture, Geometry(shape.grid, shape.block, shape.fixture.launch.shared))


@pytest.mark.parametrize("name", SHAPES)
def test_shape_is_recognised(name: str) -> None:
    """The issue's shapes are widened; what depends on 32 lanes is not, and says why."""
    fixture = SHAPES[name].fixture
    found = outcome(execution.unit(fixture, "native"))
    assert bool(found.widened) == (fixture.native == "widen"), found.kept
    assert found.widened or found.kept[0].reason


@pytest.mark.parametrize("name", RUNS)
def test_widening_leaves_no_width_behind(name: str) -> None:
    """Nothing of 32 lanes is left in the kernel, and porting the port changes nothing."""
    once = execution.ported(SHAPES[name].fixture, "native")
    assert not re.search(r"(?<!porter::)shfl_xor_sync\(0x", once.data.decode())
    again = port(SourceFile("a.cu", once.data), execution.context("native"), "a.cu")
    assert again.data == once.data
