"""Programs from outside, as porter finds them; a test that lacks one is skipped with the reason that users read."""

from __future__ import annotations

from pathlib import Path

import pytest
from porter.validation.toolchain.nvcc import find_nvcc
from porter.validation.toolchain.programs import find
from porter.validation.toolchain.result import Missing


def place(name: str) -> str | Missing:
    """The path of a program of the table of needs; nvcc's only where its host compiler is there too."""
    found = find_nvcc() if name == "nvcc" else find(name)
    return found if isinstance(found, Missing) else found.path


def require(name: str) -> str:
    """The path, or a skip."""
    found = place(name)
    if isinstance(found, Missing):
        pytest.skip(found.reason)
    return found


def nvcc_that_links(folder: Path) -> str:
    """nvcc in a toolkit's folder, as nvcc's own linking and CMake want it; of NVIDIA's wheels one is made of links."""
    path = Path(require("nvcc"))
    wheels = path.parents[1]
    if wheels.parent.name != "nvidia":
        return str(path)
    toolkit = folder / "toolkit"
    for name in ("bin", "lib64"):  # nvcc goes from its own folder one up, which through a link leads elsewhere
        (toolkit / name).mkdir(parents=True)
    for name in ("include", "nvvm", *(f"bin/{program.name}" for program in (wheels / "bin").iterdir())):
        (toolkit / name).symlink_to(wheels / name)
    for library in (wheels / "lib").iterdir():
        (toolkit / "lib64" / library.name).symlink_to(library)
        plain = toolkit / "lib64" / library.name.partition(".so")[0]
        if ".so." in library.name:
            plain.with_name(f"{plain.name}.so").symlink_to(library)
    (toolkit / "lib").symlink_to("lib64")
    return str(toolkit / "bin" / "nvcc")


def needs(*names: str) -> pytest.MarkDecorator:
    """Skips a test, or a module's, where one of these is missing."""
    reasons = [found.reason for name in names if isinstance(found := place(name), Missing)]
    return pytest.mark.skipif(bool(reasons), reason="; ".join(reasons))
