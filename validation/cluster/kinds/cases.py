"""What a case needs of its machine: the tree that travels, and the files that it is mostly about."""

from __future__ import annotations

import functools
import hashlib
import re
from collections import deque
from collections.abc import Iterator
from pathlib import Path

from porter.validation.cases.case import Case
from porter.validation.cluster.trees import Tree, Trees

from porter.system.reading import read_regular

_INCLUDE = re.compile(rb'^[ \t]*#[ \t]*include[ \t]*["<]([^">\n]+)[">]', re.MULTILINE)
_MOST_FILES = 2000


class CaseTrees:
    """The trees of cases: the folder that is ported, that of the case file, and what both name elsewhere."""

    def __init__(self) -> None:
        self._trees = Trees()

    def of(self, case: Case, port: Path | None) -> Tree:
        """All that has to be there for a case."""
        folders = [case.root, case.folder, *case.include_dirs]
        folders += [port] if port is not None else []
        files = [case.source, *([case.port] if case.port is not None else [])]
        return self._trees.tree(folders, files)


def touched(case: Case) -> str:
    """A digest of the case file, the source, what it includes by name below the root, and the reference."""
    digest = hashlib.sha256()
    python = [case.folder / case.reference.partition(":")[0]] if case.reference is not None else []
    for path in (case.path, *_closure(case), *python):
        digest.update(f"{path}\0{_stamp(path)}\0".encode("utf-8", "surrogateescape"))
    return digest.hexdigest()[:16]


def _closure(case: Case) -> Iterator[Path]:
    """Sources and headers, as far as names tell: it decides no more than the order of the work."""
    seen: set[Path] = set()
    waiting = deque([case.source, *([case.port] if case.port is not None else [])])
    while waiting and len(seen) < _MOST_FILES:
        path = waiting.popleft()
        if path in seen:
            continue
        seen.add(path)
        yield path
        for name in _includes(str(path)):
            for folder in (path.parent, *case.include_dirs, case.root, case.root / "include"):
                place = Path(f"{folder}/{name}")
                if place.is_file():
                    waiting.append(place)
                    break


@functools.lru_cache(maxsize=1 << 15)
def _includes(path: str) -> tuple[str, ...]:
    try:
        return tuple(name.decode("utf-8", "replace") for name in _INCLUDE.findall(read_regular(path)))
    except OSError:
        return ()


@functools.lru_cache(maxsize=1 << 15)
def _stamp(path: Path) -> str:
    try:
        return hashlib.sha256(read_regular(path)).hexdigest()
    except OSError:
        return ""
