"""The compiler's errors and warnings, each with the line of the tree that it is about."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

_LINE = re.compile(
    r"^(?P<path>[^\s:][^:\n]*):(?P<line>\d+):(?:(?P<column>\d+):)? "
    r"(?P<severity>fatal error|error|warning|note): (?P<text>.*)$"
)
_PLAIN = re.compile(
    r"^(?:[\w.+/\-]+: )?(?P<severity>fatal error|error|warning): (?:<unknown>:0(?::0)?: )?(?P<text>.*)$"
)
_NVCC = re.compile(r"^(?P<path>[^\s:(][^:(\n]*)\((?P<line>\d+)\): (?P<severity>error|warning)(?: #\S+)?: (?P<text>.*)$")
_INCLUDED = re.compile(r"^(?:In file included from|                 from) (?P<path>[^\s:][^:\n]*):(?P<line>\d+)")
_COUNT = re.compile(r"^\d+ (?:error|warning)s?\b.* generated|^too many errors emitted")
_NO_HEADER = re.compile(r"'(?P<name>[^']+)' file not found|(?P<name2>[\w./+-]+): No such file or directory")


@dataclass(frozen=True)
class Raw:
    """One message: where the compiler stood, and how it came there (innermost last)."""

    severity: str
    text: str
    path: str | None
    line: int
    column: int
    trail: tuple[tuple[str, int], ...] = ()

    def own(self, root: Path) -> tuple[str, int, int] | None:
        """The place in the tree: its own, else the nearest in the tree that led to it."""
        if self.path is not None and _is_below(self.path, root):
            return self.path, self.line, self.column
        return next(((path, line, 0) for path, line in reversed(self.trail) if _is_below(path, root)), None)


def _is_below(path: str, root: Path) -> bool:
    try:
        return Path(os.path.normpath(Path(path).absolute())).is_relative_to(root)
    except OSError:
        return False


def read_diagnostics(output: str) -> tuple[Raw, ...]:
    """Errors and warnings in order, each once: both passes of a unit say much the same."""
    return tuple(dict.fromkeys(_read(output)))


def _read(output: str) -> Iterator[Raw]:
    included: list[tuple[str, int]] = []
    notes: list[tuple[str, int]] = []
    current: Raw | None = None
    for line in output.splitlines():
        outer = _INCLUDED.match(line)
        if outer:
            step = (outer["path"], int(outer["line"]))
            # clang begins with the outermost file, gcc with the innermost.
            included.insert(len(included) if line.startswith("In file") else 0, step)
            continue
        found = _LINE.match(line) or _NVCC.match(line)
        if found is not None and found["severity"] == "note":
            notes.insert(0, (found["path"], int(found["line"])))
            continue
        raw = None if _COUNT.match(line) else _raw(line, found, included)
        if raw is None:
            continue
        if current is not None:
            yield replace(current, trail=(*current.trail, *notes))
        current, included, notes = raw, [], []
    if current is not None:
        yield replace(current, trail=(*current.trail, *notes))


def _raw(line: str, found: re.Match[str] | None, included: list[tuple[str, int]]) -> Raw | None:
    if found is not None:
        column = int(found.groupdict().get("column") or 0)
        severity = found["severity"].removeprefix("fatal ")
        return Raw(severity, found["text"], found["path"], int(found["line"]), column, tuple(included))
    plain = _PLAIN.match(line)
    return None if plain is None else Raw(plain["severity"].removeprefix("fatal "), plain["text"], None, 0, 0)


def missing_header(raw: Raw) -> str | None:
    """The header that was not found."""
    found = _NO_HEADER.search(raw.text)
    if found is None or raw.severity != "error":
        return None
    name: str | None = found["name"] or found["name2"]
    return name if name and not name.endswith((".o", ".a", ".so", ".bc")) else None
