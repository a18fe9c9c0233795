"""Wavefronts per SIMD: the known thresholds, the compiler's own figure, and what limits."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from porter.validation.build.occupancy import TARGETS, Use, find_target, occupancy
from porter.validation.build.resources import resources_of
from porter.validation.toolchain.clang import Assembled, Missing, assemble, find_clang

GFX942 = TARGETS["gfx942"]


def _waves(vgprs: int, agprs: int = 0, sgprs: int = 10, lds: int = 0, block: int = 64) -> float:
    return occupancy(GFX942, Use(vgprs, agprs, sgprs, lds, block)).waves_per_simd


@pytest.mark.parametrize(
    ("vgprs", "waves"), [(1, 8), (64, 8), (65, 7), (72, 7), (80, 6), (96, 5), (128, 4), (168, 3), (256, 2)]
)
def test_thresholds_of_the_register_file(vgprs: int, waves: int) -> None:
    assert _waves(vgprs) == waves
    assert _waves(vgprs - vgprs // 8 * 4, vgprs // 8 * 4) == waves or vgprs % 8


def test_accumulation_registers_come_out_of_the_same_file() -> None:
    assert _waves(256, 256) == 1
    assert _waves(61, 4) == 7  # 61 is 64 when both kinds are used
    assert occupancy(TARGETS["gfx908"], Use(64, 64, 10, 0, 64)).waves_per_simd == 4


def test_scalar_registers() -> None:
    assert _waves(8, sgprs=100) == 8
    assert occupancy(GFX942, Use(8, 0, 102, 0, 64)).limited_by == ("sgprs",)


@pytest.mark.parametrize(
    ("lds", "block", "blocks", "limits"),
    [
        (0, 64, 32, ("hardware",)),
        (2048, 64, 32, ("hardware",)),
        (2049, 64, 31, ("lds",)),
        (65536, 256, 1, ("lds",)),
        (65537, 256, 0, ("lds",)),
        (0, 192, 10, ("block",)),
        (0, 768, 2, ("block",)),
        (0, 1024, 2, ("hardware",)),
        (0, 96, 16, ("hardware",)),
    ],
)
def test_whole_blocks(lds: int, block: int, blocks: int, limits: tuple[str, ...]) -> None:
    reached = occupancy(GFX942, Use(16, 0, 16, lds, block))
    assert (reached.blocks_per_unit, reached.limited_by) == (blocks, limits)


def test_registers_and_lds_at_once() -> None:
    assert occupancy(GFX942, Use(128, 0, 16, 16384, 256)).limited_by == ("vgprs", "lds")


_USES = st.builds(
    Use, st.integers(0, 256), st.integers(0, 256), st.integers(0, 102), st.integers(0, 65536), st.integers(1, 1024)
)


def test_registers_and_whole_blocks_can_limit_alike() -> None:
    """12 wavefronts a block: two blocks are 24 of 32 slots, and as many as 80 registers allow."""
    assert occupancy(TARGETS["gfx90a"], Use(29, 41, 0, 0, 705)).limited_by == ("vgprs", "block")


@given(st.sampled_from(sorted(TARGETS)), _USES)
def test_more_of_anything_never_helps(name: str, use: Use) -> None:
    target = TARGETS[name]
    reached = occupancy(target, use)
    assert 0 <= reached.waves_per_simd <= target.waves_per_simd and reached.limited_by
    for more in (
        Use(use.vgprs + 1, use.agprs, use.sgprs, use.lds_bytes, use.block),
        Use(use.vgprs, use.agprs + 1, use.sgprs, use.lds_bytes, use.block),
        Use(use.vgprs, use.agprs, use.sgprs + 1, use.lds_bytes, use.block),
        Use(use.vgprs, use.agprs, use.sgprs, use.lds_bytes + 1, use.block),
    ):
        assert occupancy(target, more).waves_per_simd <= reached.waves_per_simd


def test_unknown_targets_have_no_figures() -> None:
    assert find_target("gfx1100") is None
    assert find_target("gfx942:sramecc+:xnack-") is GFX942


_SOURCE = """
#include <hip/hip_runtime.h>
#define PRESSURE(COUNT, BOUND)                                                                    \\
  __global__ void __launch_bounds__(BOUND) k##COUNT##_##BOUND(float* x) {                         \\
    float a[COUNT];                                                                               \\
    _Pragma("unroll") for (int i = 0; i < COUNT; ++i) a[i] = x[i * 64 + threadIdx.x];             \\
    __syncthreads();                                                                              \\
    _Pragma("unroll") for (int i = 0; i < COUNT; ++i)                                             \\
        x[i * 1024 + threadIdx.x] = a[COUNT - 1 - i] * a[(i * 7) % COUNT];                        \\
  }
PRESSURE(4, 64) PRESSURE(60, 64) PRESSURE(90, 256) PRESSURE(150, 64) PRESSURE(300, 64) PRESSURE(150, 1024)
"""


@pytest.mark.slow
def test_the_compiler_says_the_same(tmp_path: Path) -> None:
    """LLVM's own figure, where no LDS is used: it rounds blocks differently there."""
    clang = find_clang()
    if isinstance(clang, Missing):
        pytest.skip(clang.reason)
    source = tmp_path / "pressure.hip"
    source.write_text(_SOURCE)
    made = assemble(source, options=("-g0",))
    assert isinstance(made, Assembled), made
    theirs = [int(number) for number in re.findall(r"^; Occupancy: (\d+)", made.text, re.MULTILINE)]
    ours = resources_of(made.text)
    spilled = {one.symbol for one in ours if one.vgpr_spills}
    assert len(theirs) == len(ours) == 6 and spilled and max(theirs) == 8 and min(theirs) == 1
    by_name = {one.symbol: one for one in ours}
    order = re.findall(r"^\t\.amdhsa_kernel (\S+)", made.text, re.MULTILINE)
    for symbol, wanted in zip(order, theirs, strict=True):
        one = by_name[symbol]
        use = Use(one.vgprs, one.agprs, one.sgprs, one.lds_bytes, 64)
        assert occupancy(GFX942, use).waves_per_simd == wanted, one
