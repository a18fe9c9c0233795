"""Reads the project's own headers that a file includes."""

from __future__ import annotations

import functools
import posixpath
import stat
from collections.abc import Callable, Hashable, Iterable, Iterator
from pathlib import Path
from typing import TypeVar

from porter.cpp.lex import lex
from porter.source import SourceFile
from porter.system.reading import read_regular

_LARGEST = 1 << 20
File = TypeVar("File", bound=Hashable)
Line = TypeVar("Line")

Included = Callable[[str, str], SourceFile | None]
"""From the path of a file and a name in its #include lines: the project's file of that name."""


def header_reader(root: Path, folders: Iterable[str], places: dict[str, bool] | None = None) -> Included:
    """Looks beside the including file, below the root and in folders relative to it; never outside of the root.

    `places` remembers for a run which paths are files below the root.
    """
    bases = tuple(folders)
    known: dict[str, SourceFile | None] = {}
    places = {} if places is None else places

    def included(path: str, name: str) -> SourceFile | None:
        for base in (posixpath.dirname(path), "", *bases):
            target = posixpath.normpath(posixpath.join(base, name))
            if target.startswith(("..", "/")):
                continue
            if target not in known:
                known[target] = _read(root, target, places)
            if known[target] is not None:
                return known[target]
        return None

    return included


def reached(
    start: File, lines: Callable[[File], Iterable[Line]], find: Callable[[File, Line], File | None], most: int
) -> Iterator[File]:
    """The files that one includes, directly or not, inner ones first and each once; gives up when they are too many.

    `lines` are the #include lines of a file, and `find` is the file that one of them means.
    """
    seen = {start}
    opened = [(start, iter(lines(start)))]
    while opened:
        file, rest = opened[-1]
        inner = next((found for line in rest if (found := find(file, line)) is not None and found not in seen), None)
        if inner is not None:
            seen.add(inner)
            if len(seen) > most:
                return
            opened.append((inner, iter(lines(inner))))
        else:
            opened.pop()
            if opened:
                yield file


def headers_of(source: SourceFile, names: Iterable[str], read: Included, most: int, other: str) -> Iterator[SourceFile]:
    """The project's headers that a file with these #include lines reaches, inner ones first.

    Names that begin with `other` are another's.
    """
    sources = {source.path: source}

    def lines(path: str) -> Iterable[str]:
        return names if path == source.path else include_names(sources[path])

    def find(path: str, name: str) -> str | None:
        found = None if name.startswith(other) else read(path, name)
        return sources.setdefault(found.path, found).path if found is not None else None

    for path in reached(source.path, lines, find, most):
        yield sources[path]


@functools.lru_cache(maxsize=4096)
def include_names(source: SourceFile) -> tuple[str, ...]:
    """The names in the #include lines of a file, in order."""
    return tuple(include.name for include in lex(source.text).includes)


def _read(root: Path, path: str, places: dict[str, bool]) -> SourceFile | None:
    if places.get(path) is False:
        return None
    place = root / path
    try:
        status = place.stat()
        if path not in places:
            places[path] = stat.S_ISREG(status.st_mode) and place.resolve().is_relative_to(_real(root))
        if not places[path] or status.st_size > _LARGEST:
            return None
        source = _source(str(place), path, (status.st_mtime_ns, status.st_size))
    except (OSError, ValueError):
        places[path] = False
        return None
    return source if source.problem is None else None


@functools.lru_cache(maxsize=64)
def _real(root: Path) -> Path:
    return root.resolve()


@functools.lru_cache(maxsize=512)
def _source(place: str, path: str, stamp: tuple[int, int]) -> SourceFile:
    """A header as it was when it had this stamp: units that include it share one."""
    del stamp
    return SourceFile(path, read_regular(place))
