"""Where a program of the table of needs may be on this machine."""

from __future__ import annotations

import os
import shutil
import site
import sys
from collections.abc import Iterator
from pathlib import Path

from porter.system.needs import BY_NAME, Need, need


def candidates(row: Need) -> Iterator[tuple[str, Path]]:
    """Who names it, and the file, which need not be there: variables, the PATH, this Python's packages, folders."""
    for variable in row.variables:
        if value := os.environ.get(variable):
            yield variable, Path(found_program(value) or value)
    for variable in row.homes:
        if value := os.environ.get(variable):
            yield variable, Path(value) / "bin" / row.programs[0]
    for name in row.programs:
        if found := found_program(name):
            yield "PATH", Path(found)
    for folder in package_folders():
        for pattern in row.wheels:
            yield from (("pip", path) for path in sorted(folder.glob(pattern)))
    for place in row.folders:
        if (path := Path(place) / row.name).exists():
            yield place, path


def package_folders() -> list[Path]:
    """Where this Python's packages are."""
    folders = (*site.getsitepackages(), site.getusersitepackages(), *sys.path)
    return [Path(folder or ".") for folder in dict.fromkeys(folders)]


def on_this_machine(name: str) -> str | None:
    """The first that is there, whatever its version; None when there is none."""
    return next((str(path) for _, path in candidates(need(name)) if path.exists()), None)


def library_on_this_machine(row: Need) -> str | None:
    """A shared library of the table, by a variable, in this Python's packages, or as the linker finds it."""
    from ctypes.util import find_library  # few commands need one, and every start would import it

    return next((str(path) for _, path in candidates(row) if path.exists()), None) or find_library(row.library)


def not_started(program: str, error: OSError) -> str:
    """Why a program did not start; one of the table that is not there comes with the way to get it."""
    row = BY_NAME.get(program)
    return row.absent if row and on_this_machine(program) is None else f"{program}: {error.strerror}"


def found_program(name: str) -> str | None:
    """Where a program is; never in a folder of PATH that depends on where we stand, which may be someone's tree."""
    return shutil.which(name, path=absolute_path(os.environ.get("PATH", os.defpath)))


def absolute_path(path: str) -> str:
    """PATH without its relative entries."""
    return os.pathsep.join(part for part in path.split(os.pathsep) if os.path.isabs(part))  # noqa: PTH117
