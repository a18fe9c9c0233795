"""Grids that a GPU would not take are refused, and nothing overflows."""

from __future__ import annotations

import pytest
from porter.validation.devices.gfx942 import device as gfx942
from porter.validation.devices.gfx942.text import KernelInfo
from porter.validation.devices.ptx import device as ptx
from porter.validation.devices.ptx.read import read
from porter.validation.devices.ptx.translate import Translator

PTX = ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }\n"


@pytest.mark.parametrize(
    ("grid", "block", "is_taken"),
    [
        ((1, 1, 1), (64, 1, 1), True),
        ((2**26 - 1, 1, 1), (64, 1, 1), True),
        ((2**26, 1, 1), (64, 1, 1), False),
        ((1, 2**32 - 1, 1), (64, 1, 1), True),
        ((1, 1, 2**31), (1, 1, 2), False),
        ((10**30, 1, 1), (1, 1, 1), False),
    ],
)
def test_amd(grid: tuple[int, int, int], block: tuple[int, int, int], is_taken: bool) -> None:
    found = gfx942._refused(KernelInfo("k", {}, (), 0, 0, 0, False, 0, 0, {}), grid, block, 0)
    assert (found is None) == is_taken
    assert found is None or "AMD GPUs take 4294967295" in found.reason


@pytest.mark.parametrize(
    ("grid", "is_taken"),
    [((2**31 - 1, 65535, 65535), True), ((2**31, 1, 1), False), ((1, 65536, 1), False), ((1, 1, 10**30), False)],
)
def test_nvidia(grid: tuple[int, int, int], is_taken: bool) -> None:
    program = read(PTX)
    function = program.kernels["k"]
    found = ptx._refused(function, Translator(program, function, False).translate(), grid, (64, 1, 1), 0)
    assert (found is None) == is_taken
    assert found is None or "NVIDIA GPUs take 2147483647 x 65535 x 65535" in found.reason
