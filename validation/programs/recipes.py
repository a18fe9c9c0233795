"""`[[program]]` in porter.toml: how a program is built and run on each side, and what is compared."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from porter.validation.programs.output import Tolerance

from porter.errors import Unusable

_KEYS = {
    "name",
    "folder",
    "build",
    "build_port",
    "run",
    "run_port",
    "relative",
    "absolute",
    "files",
    "floats",
    "output",
    "seconds",
}


@dataclass(frozen=True)
class Program:
    """One program of a project."""

    name: str
    run: tuple[str, ...]
    folder: str = "."
    """Where it is built and run, below the project."""
    build: tuple[tuple[str, ...], ...] = (("make",),)
    build_port: tuple[tuple[str, ...], ...] | None = None
    """None: as the original."""
    run_port: tuple[str, ...] | None = None
    tolerance: Tolerance = field(default_factory=Tolerance)
    files: tuple[str, ...] = ()
    """That the program writes, to be compared too."""
    floats: int = 0
    """Bytes of the floats that its binary files hold; 0: something else, compared byte by byte."""
    output: bool = True
    """Whether what it prints is compared."""
    seconds: float | None = None


def programs_of(tables: tuple[Mapping[str, Any], ...]) -> tuple[Program, ...]:
    """The programs of a settings file; raises Unusable for what does not read."""
    found = tuple(_program(table) for table in tables)
    names = [program.name for program in found]
    for name in names:
        if names.count(name) > 1:
            raise Unusable(f"two programs are called {name!r}")
    return found


def _program(table: Mapping[str, Any]) -> Program:
    unknown = sorted(table.keys() - _KEYS)
    if unknown:
        raise Unusable(f"[[program]]: unknown key {unknown[0]!r}; known are {', '.join(sorted(_KEYS))}")
    run = _words(table, "run")
    if not run:
        raise Unusable('[[program]] needs `run`, such as run = ["./main", "100"]')
    name = table.get("name", run[0])
    default = Tolerance()
    tolerance = Tolerance(
        _number(table, "relative", default.relative),
        _number(table, "absolute", default.absolute),
        whole=not table.keys().isdisjoint({"relative", "absolute"}),
    )
    return Program(
        str(name),
        run,
        str(table.get("folder", ".")),
        _steps(table, "build") or (("make",),),
        _steps(table, "build_port"),
        _words(table, "run_port") or None,
        tolerance,
        tuple(map(str, table.get("files", ()))),
        _floats(table),
        bool(table.get("output", True)),
        _number(table, "seconds", 0.0) or None,
    )


def _words(table: Mapping[str, Any], key: str) -> tuple[str, ...]:
    value = table.get(key, ())
    if isinstance(value, str):
        try:
            return tuple(shlex.split(value))
        except ValueError as error:
            raise Unusable(f"[[program]] {key} must be a command: {error}") from None
    if isinstance(value, (list, tuple)) and all(isinstance(word, str) for word in value):
        return tuple(value)
    raise Unusable(f"[[program]] {key} must be a command: a string, or a list of words")


def _steps(table: Mapping[str, Any], key: str) -> tuple[tuple[str, ...], ...] | None:
    value = table.get(key)
    if value is None:
        return None
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, (list, tuple)):
        raise Unusable(f"[[program]] {key} must be a list of commands")
    return tuple(_words({key: step}, key) for step in value)


def _floats(table: Mapping[str, Any]) -> int:
    value = table.get("floats", 0)
    if isinstance(value, bool) or value not in (0, 4, 8):
        raise Unusable("[[program]] floats must be 4 or 8: the bytes of the floats that its binary files hold")
    return int(value)


def _number(table: Mapping[str, Any], key: str, otherwise: float) -> float:
    value = table.get(key, otherwise)
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value < 0:
        raise Unusable(f"[[program]] {key} must be a number, 0 or larger")
    return float(value)
