"""Builds a program on one side: its own build steps, with our compilers first on PATH."""

from __future__ import annotations

import itertools
import os
import re
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from porter.validation.devices.core.hostcc import find_host_compiler
from porter.validation.programs import rocm
from porter.validation.programs.compilers import folder as compiler_folder
from porter.validation.programs.compilers import runtime_version
from porter.validation.programs.dropin import build as build_library
from porter.validation.programs.pytorch.environment import variables as python_variables
from porter.validation.programs.sides import HIP, Alike, Side
from porter.validation.toolchain.invoke import invoke
from porter.validation.toolchain.result import Missing

_CMAKE_ENDS = ("Call Stack", "CMake ", "-- ")
"""Lines after what an error of CMake says."""
_ERROR = re.compile(r"\berror( [A-Z]*\d+)?: (?!ld returned)|undefined reference|cannot find -l")
"""What compilers and linkers write; other lines merely have the word."""


@dataclass(frozen=True)
class Built:
    """A build: none of its steps failed, or which one and what it said."""

    failed: tuple[str, ...] | None = None
    said: str = ""
    removed: tuple[str, ...] = ()
    """Names that the original uses and its toolkit lacks, which older ones had and our nvcc gave back."""

    @property
    def first_error(self) -> str:
        """The line that tells most."""
        lines = [line.strip() for line in self.said.splitlines() if line.strip()]
        told = [line for line in lines if _ERROR.search(line)]
        errors = told or [line for line in lines if "error" in line.lower() or "No such file" in line]
        first = (errors or lines or ["no output"])[0]
        if first.startswith("CMake Error") and first.endswith("):"):  # what it says comes in the lines below
            below = itertools.takewhile(lambda line: not line.startswith(_CMAKE_ENDS), lines[lines.index(first) + 1 :])
            first = " ".join((first, *below))
        return first[:300]


def build(
    side: Side, folder: Path, steps: Sequence[Sequence[str]], seconds: float, alike: Alike | None = None
) -> Built | Missing:
    """Run the steps in the folder."""
    compiler = find_host_compiler()
    if isinstance(compiler, Missing):
        return compiler
    tools = compiler_folder(side, compiler, alike)
    if isinstance(tools, Missing):
        return tools
    environment = {
        **python_variables(side),
        "PATH": f"{tools}{os.pathsep}{os.environ.get('PATH', '')}",
        "NVCC_APPEND_FLAGS": os.environ.get("NVCC_APPEND_FLAGS", ""),
    }
    library = build_library(side, compiler, runtime_version(side))
    if not isinstance(library, Missing):  # for a compiler of the host's that links the program
        environment["LIBRARY_PATH"] = os.pathsep.join(filter(None, (str(library), os.environ.get("LIBRARY_PATH"))))
    if side is HIP:
        environment |= rocm.environment(tools, os.environ)
    with tempfile.TemporaryDirectory(prefix="porter-build-") as work:
        notes = Path(work) / "notes"
        environment["PORTER_BUILD_NOTES"] = str(notes)
        for step in steps:
            done = invoke(step, seconds, folder, environment)
            if not done.ok:
                return Built(tuple(step), done.said)
        return Built(removed=tuple(sorted(set(notes.read_text().split()))) if notes.is_file() else ())
