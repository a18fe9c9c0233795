"""Kernels of one file are compiled together, also where the file lacks one of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from porter.validation.devices.device import BuildFailed, Program
from porter.validation.devices.virtual import Backend, VirtualDevice
from porter.validation.toolchain.result import Assembled, CompileFailed

NAMES = ("first", "gone", "second", "third")


class _Module:
    kernels = NAMES
    symbols: dict[str, int] = {}  # noqa: RUF012

    def translate(self, symbol: str) -> str:
        return symbol


class _Device:
    class memory:
        blocks = ()

    def prepare(self) -> None:
        pass

    def compile(self, text: str) -> _Module:
        return _Module()


@pytest.fixture
def compiled(tmp_path: Path) -> tuple[VirtualDevice, list[str]]:
    """A device whose compiler does not know `gone`, and the units that it was given."""
    units: list[str] = []

    def assemble(unit: Path, program: Program, seconds: float) -> Assembled | CompileFailed:
        lines = unit.read_text().splitlines()
        units.append(" ".join(name for name in NAMES if any(f"(&{name})" in line for line in lines)))
        wrong = [n for n, line in enumerate(lines, 1) if "(&gone)" in line]
        said = "".join(f"{unit}:{n}:9: error: use of undeclared identifier 'gone'\n" for n in wrong)
        return CompileFailed(("clang",), said) if wrong else Assembled("text", ("clang",))

    backend = Backend("gfx942", "hip", 64, ".hip", assemble, lambda: _Device(), lambda: None, ())
    (tmp_path / "k.hip").write_text("")
    return VirtualDevice(backend), units


def _program(folder: Path, kernel: str) -> Program:
    also = tuple(name for name in NAMES if name != kernel)
    return Program(folder / "k.hip", kernel, "hip", also=also)


def test_the_others_stay_together(compiled: tuple[VirtualDevice, list[str]], tmp_path: Path) -> None:
    device, units = compiled
    made: Any = device.compile(_program(tmp_path, "second"), 10)
    assert made.symbol == "second"
    assert units == ["first gone second third", "first second third"]


def test_the_one_that_is_not_there_is_tried_alone(compiled: tuple[VirtualDevice, list[str]], tmp_path: Path) -> None:
    """So that what is said of it is about it."""
    device, units = compiled
    made = device.compile(_program(tmp_path, "gone"), 10)
    assert isinstance(made, BuildFailed)
    assert units[:2] == ["first gone second third", "gone"]
