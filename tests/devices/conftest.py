"""A gfx942 device and a compiler for it; tests skip with the reason when one is missing."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from porter.validation.devices.core.result import NotRun
from porter.validation.devices.gfx942 import Device, Module, open_device
from porter.validation.toolchain.clang import Assembled, Missing, assemble_text, find_clang

Compile = Callable[..., Module]


@pytest.fixture(scope="session")
def device() -> Device:
    """The virtual device."""
    found = open_device()
    if isinstance(found, NotRun):
        pytest.skip(found.reason)
    return found


@pytest.fixture(scope="session")
def compile_hip(device: Device) -> Compile:
    """Compile HIP text for gfx942 and load it."""
    clang = find_clang()
    if isinstance(clang, Missing):
        pytest.skip(clang.reason)

    quick = Device(device.compiler, level=0)

    def compile_text(code: str, *options: str, quickly: bool = False) -> Module:
        """`quickly`: many instructions that run few times. Then optimising what they are translated to takes most of
        the test, and the same translation is optimised for kernels that were."""
        made = assemble_text(code, options=options)
        assert isinstance(made, Assembled), made
        module = (quick if quickly or "-O0" in options else device).compile(made.text)
        assert isinstance(module, Module), module
        return module

    return compile_text
