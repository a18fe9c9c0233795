"""Reads the project's own headers that a file includes."""

from __future__ import annotations

import functools
import os
import posixpath
import stat
from collections.abc import Callable, Hashable, Iterable, Iterator
from pathlib import Path
from typing import TypeVar

from porter.cpp.kept_tokens import tokens_of
from porter.cpp.prescan import include_names as include_names_in
from porter.source import SourceFile
from porter.system.reading import read_regular

_LARGEST = 1 << 20
MOST_FILES = 400
"""Headers of one file; of more the rest is not looked at."""
OURS = "porter/"
"""How the names of headers begin that porter adds."""
File = TypeVar("File", bound=Hashable)
Line = TypeVar("Line")

Included = Callable[[str, str], SourceFile | None]
"""From the path of a file and a name in its #include lines: the project's file of that name."""


class Headers:
    """The headers of a project as one run sees them: each name is looked for once in a process, however many ask."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._folder = f"{root}/"
        self._stamps: dict[str, tuple[int, int] | None] = {}
        self._real_folders: dict[str, str] = {}
        self._readers: dict[tuple[str, ...], Included] = {}
        self._units: dict[str, tuple[SourceFile, ...]] = {}

    def reader(self, folders: Iterable[str]) -> Included:
        """Looks beside the including file, below the root and in folders relative to it; never outside of the root."""
        bases = tuple(folders)
        known = self._readers.get(bases)
        if known is None:
            known = self._readers[bases] = self._reader(bases)
        return known

    def of_unit(self, path: str, folders: tuple[str, ...]) -> tuple[SourceFile, ...]:
        """The headers that a source of the project includes, inner ones first."""
        known = self._units.get(path)
        if known is None:
            read, source = self.reader(folders), self._source(path)
            names = include_names_in(source.data) if source is not None else ()
            found = headers_of(source, names, read, MOST_FILES, OURS) if source is not None else ()
            known = self._units[path] = tuple(found)
        return known

    def _reader(self, bases: tuple[str, ...]) -> Included:
        found: dict[tuple[str, str], str | None] = {}

        def included(path: str, name: str) -> SourceFile | None:
            key = (path.rpartition("/")[0], name)
            if key not in found:
                found[key] = self._target(key[0], bases, name)
            target = found[key]
            return None if target is None else self._source(target)

        return included

    def _target(self, folder: str, bases: tuple[str, ...], name: str) -> str | None:
        for base in (folder, "", *bases):
            target = f"{base}/{name}" if base else name
            if "./" in target or "//" in target or name.startswith("/"):
                target = posixpath.normpath(posixpath.join(base, name))
            if not target.startswith(("..", "/")) and self._source(target) is not None:
                return target
        return None

    def _source(self, target: str) -> SourceFile | None:
        if target not in self._stamps:
            self._stamps[target] = _stamp(self._root, target, self._real_folders)
        stamp = self._stamps[target]
        if stamp is None:
            return None
        try:
            source = _source(self._folder + target, target, stamp)
        except OSError:
            source = None
        if source is None or source.problem is not None:
            self._stamps[target] = None
            return None
        return source


def header_reader(root: Path, folders: Iterable[str]) -> Included:
    """Looks beside the including file, below the root and in folders relative to it; never outside of the root."""
    return Headers(root).reader(folders)


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

    Names that begin with `other`, behind steps up to the root of the tree, are another's.
    """
    sources = {source.path: source}

    def lines(path: str) -> Iterable[SourceFile]:
        if path != source.path:
            return _included(sources[path], read, other)
        return filter(None, (read(path, name) for name in names if not _is_of(name, other)))

    def find(path: str, found: SourceFile) -> str:
        return sources.setdefault(found.path, found).path

    for path in reached(source.path, lines, find, most):
        yield sources[path]


def _is_of(name: str, folder: str) -> bool:
    """Whether a header is of this folder, from wherever it is included (`../../porter/half.hpp`)."""
    while name.startswith("../"):
        name = name[3:]
    return name.startswith(folder)


@functools.lru_cache(maxsize=512)
def _included(header: SourceFile, read: Included, other: str) -> tuple[SourceFile, ...]:
    """The project's files that a header's own lines mean: the units that include it share them."""
    names = (name for name in include_names(header) if not _is_of(name, other))
    return tuple(filter(None, (read(header.path, name) for name in names)))


@functools.lru_cache(maxsize=4096)
def include_names(source: SourceFile) -> tuple[str, ...]:
    """The names in the #include lines of a file, in order."""
    return tuple(include.name for include in tokens_of(source).includes)


def _stamp(root: Path, path: str, folders: dict[str, str]) -> tuple[int, int] | None:
    """When a header was changed, and its size; None for what is none or lies outside of the root.

    `folders` has the real paths of the folders that were asked about before.
    """
    place = f"{root}/{path}"
    try:
        status = os.lstat(place)
        real = _real(place.rpartition("/")[0], folders)
        if stat.S_ISLNK(status.st_mode):
            status, real = os.stat(place), os.path.realpath(place)  # noqa: PTH116 - there are thousands
        if (
            not stat.S_ISREG(status.st_mode)
            or status.st_size > _LARGEST
            or not real.startswith(_real(f"{root}", folders))
        ):
            return None
    except (OSError, ValueError):
        return None
    return status.st_mtime_ns, status.st_size


def _real(folder: str, known: dict[str, str]) -> str:
    """The real path of a folder, as what lies in it begins."""
    found = known.get(folder)
    if found is None:
        found = known[folder] = os.path.join(os.path.realpath(folder), "")  # noqa: PTH118
    return found


@functools.lru_cache(maxsize=512)
def _source(place: str, path: str, stamp: tuple[int, int]) -> SourceFile:
    """A header as it was when it had this stamp: units that include it share one."""
    del stamp
    return SourceFile(path, read_regular(place))
