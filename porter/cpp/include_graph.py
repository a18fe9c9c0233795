"""Who includes whom in a project, as far as the names in #include lines tell."""

from __future__ import annotations

import posixpath
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from porter.cpp.prescan import Scan

_MOST_FOLDERS = 16
_MOST_MEANT = 8
"""Files that an #include may mean before only the nearest of them count: more would cost the square of the project."""
_MOST_NEAR = 64
_INCLUDE_FOLDERS = ("", "include", "inc", "src", "includes", "common")


@dataclass(frozen=True)
class IncludeGraph:
    """The project's files that each file includes."""

    edges: Mapping[str, tuple[str, ...]]
    folders: Mapping[str, tuple[str, ...]]
    """Folders that the names in a file's #include lines are relative to, where that is not the file's own."""

    @cached_property
    def users(self) -> Mapping[str, Sequence[str]]:
        """Who includes each file."""
        found: dict[str, list[str]] = {}
        for path, targets in self.edges.items():
            for target in targets:
                found.setdefault(target, []).append(path)
        return found

    @cached_property
    def circles(self) -> Circles:
        """The circles of all its files."""
        return circles(self.edges)

    @cached_property
    def units(self) -> Mapping[str, str]:
        """For each file that sources include the first source that does, CUDA's before others.

        What a header leaves to those that include it stands in what such a source includes besides.
        """
        found: dict[str, str] = {}
        for unit in sorted(filter(is_source, self.edges), key=_source_order):
            waiting = list(self.edges[unit])
            while waiting:
                path = waiting.pop()
                if path not in found:
                    found[path] = unit
                    waiting += self.edges.get(path, ())
        return found

    def reachable(self, path: str) -> tuple[str, ...]:
        """All files that a file includes, directly or not, sorted; itself not among them."""
        return tuple(sorted(reached_from(self.edges, (path,)) - {path}))

    def search_folders(self, path: str) -> tuple[str, ...]:
        """What a build would have to pass with -I for a file, as far as it shows: the most used first."""
        known = self._search_folders.get(path)
        if known is None:
            known = self._search_folders[path] = self._most_used_folders(path)
        return known

    @cached_property
    def _search_folders(self) -> dict[str, tuple[str, ...]]:
        return {}

    def _most_used_folders(self, path: str) -> tuple[str, ...]:
        used = Counter(folder for one in (path, *self.reachable(path)) for folder in self.folders.get(one, ()))
        return tuple(folder for folder, _ in sorted(used.items(), key=lambda item: (-item[1], item[0]))[:_MOST_FOLDERS])


SOURCES = (".cu", ".hip", ".c", ".cc", ".cpp", ".cxx")
"""Suffixes of translation units."""


def _source_order(path: str) -> tuple[bool, str]:
    """CUDA's sources before others."""
    return not path.endswith(".cu"), path


def first_source(paths: Iterable[str]) -> str:
    """The one of these, which include a file, that the file is seen from; empty where none is a source."""
    return min(filter(is_source, paths), key=_source_order, default="")


def is_source(path: str) -> bool:
    """Whether a file is compiled by itself, as far as its name tells."""
    return path.lower().endswith(SOURCES)


def may_be_parsed_through(user: str, path: str) -> bool:
    """Whether a file that includes another is looked at when that one cannot be parsed alone."""
    folder = posixpath.dirname(path)
    return posixpath.dirname(user) in (folder, posixpath.dirname(folder))


def reached_from(edges: Mapping[str, Iterable[str]], paths: Iterable[str]) -> set[str]:
    """All files that some include, directly or not, and these."""
    waiting = list(paths)
    seen = set(waiting)
    while waiting:
        fresh = [other for other in edges.get(waiting.pop(), ()) if other not in seen]
        seen.update(fresh)
        waiting += fresh
    return seen


def reached_beyond(edges: Mapping[str, Iterable[str]], paths: Iterable[str]) -> set[str]:
    """All files that some include, directly or not; one of these only where it is come to again."""
    return reached_from(edges, (target for path in paths for target in edges.get(path, ())))


@dataclass(frozen=True, slots=True)
class Circles:
    """A graph's files by the circles in which they include one another; most stand alone. What a circle includes comes
    before it."""

    members: tuple[tuple[str, ...], ...]
    below: tuple[tuple[int, ...], ...]
    """The circles that each includes, itself not among them."""


def circles(edges: Mapping[str, Iterable[str]]) -> Circles:
    """Tarjan's strongly connected components, without recursion: a chain of includes may be as long as the project."""
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    circle_of: dict[str, int] = {}
    members: list[tuple[str, ...]] = []
    stack: list[str] = []
    for start in edges:
        if start in order:
            continue
        waiting = [(start, iter(edges.get(start, ())))]
        order[start] = low[start] = len(order)
        stack.append(start)
        while waiting:
            path, targets = waiting[-1]
            for target in targets:
                if target not in order:
                    order[target] = low[target] = len(order)
                    stack.append(target)
                    waiting.append((target, iter(edges.get(target, ()))))
                    break
                if target not in circle_of:
                    low[path] = min(low[path], order[target])
            else:
                waiting.pop()
                if waiting:
                    low[waiting[-1][0]] = min(low[waiting[-1][0]], low[path])
                if low[path] == order[path]:
                    circle = [stack.pop()]
                    while circle[-1] != path:
                        circle.append(stack.pop())
                    circle_of.update(dict.fromkeys(circle, len(members)))
                    members.append(tuple(circle))
    below = tuple(
        tuple(sorted({circle_of[target] for path in circle for target in edges.get(path, ())} - {number}))
        for number, circle in enumerate(members)
    )
    return Circles(tuple(members), below)


def may_be_found(path: str, name: str, known: Container[str]) -> bool:
    """Whether a build would find a file of the project for a name in an #include line of another without being told.

    That takes one in the file's own folder or, for each folder above it, in that folder or its usual include folders: a
    `cuda.h` elsewhere in the repository is another program's.
    """
    folder = posixpath.dirname(path)
    while True:
        if any(posixpath.normpath(posixpath.join(folder, below, name)) in known for below in _INCLUDE_FOLDERS):
            return True
        if not folder:
            return False
        folder = posixpath.dirname(folder)


def include_graph(
    scans: Mapping[str, Scan], is_cuda_header: Callable[[str], bool] = lambda name: False
) -> IncludeGraph:
    """Resolves all includes; one that could be several files counts as all of them, where they are many as the nearest.

    The name of a CUDA header means a file of the project only where a build would find that one.
    """
    by_name: defaultdict[str, list[str]] = defaultdict(list)
    for path in scans:
        by_name[posixpath.basename(path)].append(path)
    for paths in by_name.values():
        paths.sort()
    edges: dict[str, tuple[str, ...]] = {}
    folders: dict[str, tuple[str, ...]] = {}
    for path, scan in scans.items():
        edges[path], folders[path] = resolved(path, scan.includes, scans, by_name, is_cuda_header)
    return IncludeGraph(edges, folders)


def resolved(
    path: str,
    names: Iterable[str],
    known: Container[str],
    by_name: Mapping[str, Sequence[str]],
    is_cuda_header: Callable[[str], bool],
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The files that the #include lines of one mean, and the folders that their names are relative to.

    `by_name` has the project's paths by their last part, sorted.
    """
    found = [
        (name, target)
        for name in names
        if not is_cuda_header(name) or may_be_found(path, name, known)
        for target in _resolve(path, name, known, by_name)
    ]
    folders = (f for name, target in found if (f := _folder(path, name, target)) is not None)
    return tuple(dict.fromkeys(target for _, target in found)), tuple(dict.fromkeys(folders))


def _folder(path: str, name: str, target: str) -> str | None:
    """The folder that an include is relative to, unless it is that of the including file."""
    tail = name.removeprefix("./")
    if not target.endswith(tail) or posixpath.normpath(posixpath.join(posixpath.dirname(path), name)) == target:
        return None
    return target[: -len(tail)].rstrip("/")


def _resolve(path: str, name: str, known: Container[str], by_name: Mapping[str, Sequence[str]]) -> Iterable[str]:
    """Beside the including file, below the root, else every file whose path ends like the name."""
    for base in (posixpath.dirname(path), ""):
        beside = posixpath.normpath(posixpath.join(base, name))
        if beside in known:
            return (beside,)
    tail = name
    while tail.startswith(("../", "./")):
        tail = tail.partition("/")[2]
    named = by_name.get(posixpath.basename(name), ())
    if len(named) > _MOST_MEANT:
        return _nearest(path, "/" + tail, named)
    return [other for other in named if other.endswith("/" + tail)]


def _nearest(path: str, tail: str, named: Sequence[str]) -> list[str]:
    """Of files in byte order those with this end that share most folders with another file."""
    folder = path
    while folder:
        folder = posixpath.dirname(folder)
        first, last = 0, len(named)
        if folder:
            first, last = bisect_left(named, f"{folder}/"), bisect_left(named, f"{folder}0")  # "0" follows "/"
        found = [other for other in named[first:last] if other.endswith(tail)]
        if found:
            return found[:_MOST_NEAR]
    return []
