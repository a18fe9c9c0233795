"""A virtual NVIDIA GPU and a compiler for it; tests skip with the reason when one is missing."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from porter.validation.devices.core.result import NotRun
from porter.validation.devices.ptx import Device, Module, open_device
from porter.validation.toolchain.nvcc import ptx
from porter.validation.toolchain.result import Assembled, Missing

from porter.system.cache import kept_text

CompileCuda = Callable[..., Module]
LoadPtx = Callable[[str], Module]


@pytest.fixture(scope="session")
def device() -> Device:
    """The virtual device."""
    found = open_device()
    if isinstance(found, NotRun):
        pytest.skip(found.reason)
    return found


def _loader(device: Device) -> LoadPtx:
    def load(text: str) -> Module:
        module = device.compile(text)
        assert isinstance(module, Module), module
        return module

    return load


@pytest.fixture(scope="session")
def load_ptx(device: Device) -> LoadPtx:
    """Load PTX text."""
    return _loader(device)


@pytest.fixture(scope="session")
def load_optimised(device: Device) -> LoadPtx:
    """The same, optimised as for kernels that run for long: there code without a defined result would show."""
    return _loader(replace(device, patient=True))


@pytest.fixture(scope="session")
def compile_file(load_ptx: LoadPtx) -> CompileCuda:
    """Compile a CUDA source with nvcc and load its PTX."""

    def compile_one(path: Path, *options: str, architecture: str = "sm_80") -> Module:
        made = ptx(path, architecture, options)
        if isinstance(made, Missing):
            pytest.skip(made.reason)
        assert isinstance(made, Assembled), made
        return load_ptx(made.text)

    return compile_one


@pytest.fixture(scope="session")
def compile_cuda(compile_file: CompileCuda) -> CompileCuda:
    """Compile CUDA text; the same text is the same file, so it is compiled once."""

    def compile_text(code: str, *options: str, architecture: str = "sm_80") -> Module:
        return compile_file(kept_text("assembly", code.encode(), "code.cu"), *options, architecture=architecture)

    return compile_text
