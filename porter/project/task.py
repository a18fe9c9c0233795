"""What a worker is told: one file to do, and where results go."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from porter.cpp.prescan import NOTHING, Scan


class Task(NamedTuple):
    """One file to do."""

    number: int
    path: str
    output: str
    is_code: bool
    mode: int
    key: str = ""
    scan: Scan = NOTHING
    declared: tuple[str, ...] = ()
    ours: str | None = None
    """Digest of what an earlier run (or, in place, the source) left at the output's place."""
    include_dirs: tuple[str, ...] = ()
    """Folders of the project, relative to its root, that the file's includes are found in."""
    defines: tuple[str, ...] = ()
    with_clang: bool = True
    out_of_time: bool = False
    """An earlier attempt used up the time that a file has."""
    apart: bool = False
    is_build: bool = False
    dialect: str | None = None
    """Whose code the file is, as far as the project tells."""
    for_amd: tuple[str, ...] = ()
    """Of the declared names those that the project declares for AMD's compiler alone."""
    unit: str = ""
    """Of a header: the source that it is seen from (porter.cpp.include_graph)."""
    unit_dirs: tuple[str, ...] = ()
    """Folders that the source's includes are found in."""


@dataclass(frozen=True, slots=True)
class Sink:
    """Where results go; no root: nowhere, the run only looks."""

    root: Path | None
    force: bool = False
    in_place: bool = False
    returns_data: bool = False
    """Whether the new bytes are wanted back."""
