"""The text of a harness: the kernel's source, and around it what Python calls."""

from __future__ import annotations

import functools
import importlib.resources
import re
from dataclasses import dataclass
from pathlib import Path

from porter.validation.devices.device import Program
from porter.validation.toolchain.entry import address_of

from porter.system.reading import read_regular

_FOLDER = "templates"
_IMAGES = re.compile(r"(?i)(texture|surface)_?object")


@dataclass(frozen=True)
class Unit:
    """What is rendered: a kernel, or a host function that launches kernels itself."""

    program: Program
    kind: str = "kernel"
    """`kernel` or `launcher`."""
    symbols: tuple[str, ...] = ()
    """Device variables to be set or read, by their C++ names."""
    code: str | None = None
    """The source as text, where it is cut out; None: the file is included as it is."""


def template_folder() -> Path:
    """Where harness.h and binding.cpp are."""
    return Path(str(importlib.resources.files("porter.validation.harness"))) / _FOLDER


@functools.cache
def _template() -> object:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(template_folder()),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        autoescape=False,
    )
    return environment.get_template("kernel.j2")


def render(unit: Unit) -> str:
    """The translation unit for nvcc (language `cuda`) or hipcc (`hip`)."""
    program = unit.program
    path = str(program.source.absolute()).replace("\\", "\\\\").replace('"', '\\"')
    is_cuda = program.language == "cuda"
    code = unit.code if unit.code is not None else read_regular(program.source).decode("latin-1")
    text: str = _template().render(  # type: ignore[attr-defined]
        kind=unit.kind,
        kernel=program.kernel,
        address=address_of(program.kernel),
        code=program.assumed + (unit.code if unit.code is not None else f'#include "{path}"'),
        symbols=unit.symbols,
        api="cuda" if is_cuda else "hip",
        own="cuda" if is_cuda else "porter::hip",
        runtime_header="cuda_runtime.h" if is_cuda else "hip/hip_runtime.h",
        images=_IMAGES.search(code) is not None,
    )
    return text
