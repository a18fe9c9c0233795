"""Programs from outside: found, asked for their version, and refused with a reason when they are too old."""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from porter.validation.toolchain.invoke import first_line, invoke
from porter.validation.toolchain.result import Missing

from porter.system.needs import need
from porter.system.programs import candidates
from porter.system.remembered import remembered

_SECONDS = 20
_VERSION = re.compile(r"\d+(?:\.\d+)+")
_RELEASE = re.compile(r"(?:HIP version: *|, V)(\d+(?:\.\d+)+)")
"""What hipcc and nvcc call it, among other numbers."""


@dataclass(frozen=True)
class Program:
    """A program that runs and is new enough."""

    path: str
    version: str
    """`19.1.7`; empty where it tells none."""
    said: str
    """All that it answered to `--version`."""
    origin: str
    """The variable that names it, `PATH`, `pip`, or a folder."""


def _anything(found: Program) -> str | None:
    del found
    return None


def find(
    name: str,
    why_not: Callable[[Program], str | None] = _anything,
    environment: Mapping[str, str] | None = None,
) -> Program | Missing:
    """The first of its candidates that runs, is new enough and suits; else why none does, and how to get one."""
    row = need(name)
    reasons: list[str] = []
    for origin, path in candidates(row):
        if not path.exists():
            reasons.append(f"{origin}: no {path}")
            continue
        status = path.stat()
        found = _examine(str(path), (status.st_mtime_ns, status.st_size), tuple((environment or {}).items()))
        if isinstance(found, Missing):
            reasons.append(found.reason)
            continue
        program = Program(str(path), _version(found), found, origin)
        reason = _too_old(program, row.least) or why_not(program)
        if reason is None:
            return program
        reasons.append(f"{path}: {reason}")
    why = "; ".join(dict.fromkeys(reasons))
    return Missing(f"no {row.title}: {why} ({row.remedy})" if reasons else row.absent)


_HEARD = ("PATH", "LD_LIBRARY_PATH", "LD_PRELOAD", "LANG", "LC_ALL")
"""Variables that change what a binary says of itself; a script may ask for any, so it is asked each time."""


class _Silent(Exception):
    """A program that told no version."""


@functools.cache
def _examine(path: str, stamp: tuple[int, int], environment: tuple[tuple[str, str], ...]) -> str | Missing:
    """What it says about itself; of a binary it is remembered, as compilers take their time."""
    del stamp
    ask = functools.partial(_asked, path, environment)
    try:
        if environment or not _is_binary(path):
            return ask()
        return remembered("--version", Path(path), ask, *(os.environ.get(name, "") for name in _HEARD))
    except (_Silent, OSError) as error:
        return Missing(str(error))


def _is_binary(path: str) -> bool:
    with Path(path).open("rb") as file:
        return file.read(4) == b"\x7fELF"


def _asked(path: str, environment: tuple[tuple[str, str], ...]) -> str:
    shown = invoke((path, "--version"), _SECONDS, environment=dict(environment))
    if shown.ok:
        return shown.output
    raise _Silent(f"{path} --version: {first_line(shown.said) or f'exit status {shown.code}'}")


def _version(said: str) -> str:
    found = _RELEASE.search(said)
    if found is not None:
        return found[1]
    plain = _VERSION.search(said)
    return plain[0] if plain else ""


def _too_old(found: Program, least: tuple[int, ...]) -> str | None:
    if not least:
        return None
    if not found.version:
        return f"it tells no version: {first_line(found.said) or 'nothing'}"
    version = tuple(map(int, found.version.split(".")))
    return f"it is {found.version}" if version < least else None
