"""Reads the project's own headers that a file includes."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable
from pathlib import Path

from porter.source import SourceFile

_LARGEST = 1 << 20

Included = Callable[[str, str], SourceFile | None]
"""From the path of a file and a name in its #include lines: the project's file of that name."""


def header_reader(root: Path, folders: Iterable[str]) -> Included:
    """Looks beside the including file, below the root and in folders relative to it; never outside of the root."""
    bases = tuple(folders)
    known: dict[str, SourceFile | None] = {}

    def included(path: str, name: str) -> SourceFile | None:
        for base in (posixpath.dirname(path), "", *bases):
            target = posixpath.normpath(posixpath.join(base, name))
            if target.startswith(("..", "/")):
                continue
            if target not in known:
                known[target] = _read(root, target)
            if known[target] is not None:
                return known[target]
        return None

    return included


def _read(root: Path, path: str) -> SourceFile | None:
    place = root / path
    try:
        if not place.is_file() or place.stat().st_size > _LARGEST:
            return None
        if not place.resolve().is_relative_to(root.resolve()):
            return None
        source = SourceFile(path, place.read_bytes())
    except OSError:
        return None
    return source if source.problem is None else None
