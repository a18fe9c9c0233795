"""Ports a warp fixture and runs it on the virtual gfx942."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from porter.validation.devices.core.launch import Options
from porter.validation.devices.core.result import NotRun, Ran
from porter.validation.devices.gfx942 import Module, open_device
from porter.validation.toolchain.clang import Assembled, Missing, assemble_text

from porter.engine.file import Context, port
from porter.engine.registry import all_rules
from porter.engine.support import header_bytes, load_support
from porter.engine.unit import Unit
from porter.model import PortedFile, Settings
from porter.names.table import load_names
from porter.source import SourceFile
from tests.fixtures.warp import Argument, Fixture

Array = npt.NDArray[Any]
_INCLUDE = re.compile(r'#include "(?:porter/)?(\w+\.hpp)"\n')
_NUMPY = {"bfloat16": np.dtype(np.uint16)}


@functools.cache
def context(warp: str) -> Context:
    """What all files of a run in one mode share."""
    settings = Settings(warp=warp)
    return Context(settings, load_names(None, {}), load_support(None), all_rules())


def unit(fixture: Fixture, warp: str = "preserve") -> Unit:
    """A fixture as the rules see it."""
    return context(warp).unit(SourceFile(fixture.path.name, fixture.text.encode()))


@functools.cache
def ported(fixture: Fixture, warp: str) -> PortedFile:
    """A fixture through the engine with all rules."""
    return port(SourceFile(fixture.path.name, fixture.text.encode()), context(warp), fixture.path.name)


def inlined(text: str) -> str:
    """The text with our headers put in: compiled assembly is kept by the text it came from."""
    return _INCLUDE.sub(lambda match: inlined(header_bytes(f"porter/{match[1]}").decode()), text)


def module(text: str) -> Module:
    """Compiles ported text and loads it; skips with the reason where a tool is missing."""
    device = open_device()
    if isinstance(device, NotRun):
        pytest.skip(device.reason)
    made = assemble_text(inlined(text))
    if isinstance(made, Missing):
        pytest.skip(made.reason)
    assert isinstance(made, Assembled), made.output
    loaded = device.compile(made.text)
    assert isinstance(loaded, Module), loaded
    return loaded


@dataclass(frozen=True)
class Geometry:
    """How to launch."""

    grid: tuple[int, ...]
    block: tuple[int, ...]
    shared: int


def run(loaded: Module, fixture: Fixture, geometry: Geometry, inputs: list[Any]) -> dict[str, Array]:
    """Launches the fixture's kernel; what it wrote, by argument."""
    kernel = next(name for name in loaded.kernels if fixture.launch.kernel.split("<")[0] in name)
    options = Options(allow_exited=True, cooperative=fixture.launch.cooperative, uninitialised=False)
    arguments = [value.copy() if isinstance(value, np.ndarray) else value for value in inputs]
    done = loaded.launch(kernel, geometry.grid, geometry.block, arguments, geometry.shared, options)
    if isinstance(done, NotRun):
        pytest.skip(done.reason)
    assert isinstance(done, Ran), str(done)
    found = {}
    for argument, output in zip(fixture.launch.arguments, done.outputs, strict=True):
        if output is not None and argument.kind in ("out", "inout"):
            order = fixture.launch.order == argument.name
            found[argument.name] = np.sort(output.reshape(-1)) if order else output
    return found


def inputs(fixture: Fixture, seed: int) -> list[Any]:
    """Arguments for a launch: random where the fixture says so."""
    random = np.random.default_rng(seed)
    return [_value(argument, random) for argument in fixture.launch.arguments]


def _value(argument: Argument, random: np.random.Generator) -> Any:
    dtype = _NUMPY.get(argument.dtype) or np.dtype(argument.dtype)
    if argument.kind == "struct":
        return np.array([float(part) for part in re.split(r"[,\s]+", str(argument.value))], dtype).tobytes()
    if not argument.shape:
        return dtype.type(float(argument.value or 0) if dtype.kind == "f" else int(str(argument.value), 0))
    if argument.value is not None:
        return np.full(argument.shape, float(argument.value) if dtype.kind == "f" else int(argument.value, 0), dtype)
    if argument.kind == "out":
        return np.zeros(argument.shape, dtype)
    if argument.low is not None and argument.high is not None:
        return random.integers(argument.low, argument.high, argument.shape).astype(dtype)
    if dtype.kind == "f":
        return random.standard_normal(argument.shape).astype(dtype)
    return np.frombuffer(random.bytes(int(np.prod(argument.shape)) * dtype.itemsize), dtype).reshape(argument.shape)


def agree(first: dict[str, Array], second: dict[str, Array]) -> None:
    """Equal integers, and floats that differ by the order of additions only."""
    assert first.keys() == second.keys()
    for name, expected in first.items():
        if expected.dtype.kind == "f":
            np.testing.assert_allclose(second[name], expected, rtol=1e-4, atol=1e-4, err_msg=name)
        else:
            np.testing.assert_array_equal(second[name], expected, err_msg=name)
