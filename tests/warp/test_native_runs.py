"""Widened kernels give the results of the preserving port, executed on the virtual gfx942."""

from __future__ import annotations

import pytest
from porter.warp.bodies import bodies_of
from porter.warp.geometry import block_shape, launches_of, product
from porter.warp.native.plan import outcome

from tests.fixtures.warp import Fixture, load
from tests.warp import execution
from tests.warp.execution import Geometry

WIDENED = {fixture.name: fixture for fixture in load() if fixture.native == "widen"}


def _geometry(fixture: Fixture) -> Geometry:
    launch = fixture.launch
    return Geometry(launch.grid, launch.block, launch.shared)


def _widened_geometry(fixture: Fixture) -> Geometry:
    """The block of the widened launch; as many blocks as give each item one wavefront."""
    original = _geometry(fixture)
    text = execution.ported(fixture, "native").data.decode()
    source = execution.context("native").unit(execution.SourceFile("a.cu", text.encode()))
    launches = launches_of(source)
    if not launches:
        return original
    block = block_shape(bodies_of(source), launches[0])
    if block is None or None in block:
        return original
    before, after = product(original.block) or 0, product(block) or 0
    if before // 32 == after // 64 or not _works_on_items(fixture):
        grid = original.grid
    else:
        grid = (-(-original.grid[0] * before // 32 // (after // 64)),)
    return Geometry(grid, tuple(side or 0 for side in block), original.shared)


def _works_on_items(fixture: Fixture) -> bool:
    return any("64" in e.text or "wide::warpSize" in e.text for e in outcome(execution.unit(fixture, "native")).edits) and (
        "row" in fixture.text or "item" in fixture.text
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", WIDENED)
def test_same_results(name: str) -> None:
    fixture = WIDENED[name]
    preserved = execution.module(execution.ported(fixture, "preserve").data.decode())
    widened = execution.module(execution.ported(fixture, "native").data.decode())
    for seed in range(3):
        arguments = execution.inputs(fixture, seed)
        execution.agree(
            execution.run(preserved, fixture, _geometry(fixture), arguments),
            execution.run(widened, fixture, _widened_geometry(fixture), arguments),
        )
