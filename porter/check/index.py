"""What the gate knows of a whole tree, kept for a commit and read file by file as it is asked.

All of it follows from the files of the tree and the settings, which name it. A value that is not what was put there
makes the whole unusable, and the next check makes it again.
"""

from __future__ import annotations

import contextlib
import json
import os
import posixpath
import sqlite3
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, NamedTuple

from porter.check.side import Side, renamed_includes
from porter.check.store import packed, unpacked
from porter.cpp.include_graph import IncludeGraph, reached_from
from porter.cpp.prescan import NOTHING, Scan
from porter.engine.dialect import Dialect, is_named_for_cuda
from porter.project.dialects import judged
from porter.project.discovery import Kind, is_code
from porter.project.records import BuildUse
from porter.project.reuse import marked
from porter.system.cache import is_ours

_MOST_KEPT = 4
_WHOLE, _NAMES = "whole", "names"
_SCHEMA = "CREATE TABLE known (key TEXT PRIMARY KEY, value BLOB NOT NULL) WITHOUT ROWID"


class Damaged(Exception):
    """What is kept is not what was put there."""


class Row(NamedTuple):
    """One file of a tree."""

    kind: str
    mode: int
    size: int
    sha256: str = ""
    """Empty: not looked at, or it cannot be read."""
    scan: Scan = NOTHING
    edges: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    users: tuple[str, ...] = ()
    shown: Mapping[str, int] = {}
    """CUDA-like names that a translation unit shows together with the file, and how many units do."""
    told: Dialect | None = None
    found: Dialect | None = None
    use: BuildUse | None = None

    @property
    def is_code(self) -> bool:
        """Whether it counts among the files that include one another."""
        return self.kind == Kind.CODE.value and bool(self.sha256)


@dataclass(frozen=True)
class Whole:
    """What follows from all files together."""

    files: int
    shadowing: tuple[str, ...]
    renamed_includes: Mapping[str, str]
    mentions: Mapping[str, BuildUse]
    """Build files that mention CUDA."""
    databases: tuple[str, ...]
    has_links: bool
    """Links to CUDA sources, or called like them."""
    is_for_amd: bool
    """Some build list mentions AMD, so that it may say whose a source is."""
    listed: tuple[str, ...]
    """The sources of which a build list says that they are AMD's."""
    cudas: int
    """Files that tell that they are CUDA's."""
    named: Mapping[str, int]
    """What those tell that have a name like CUDA's, counted."""
    found: Mapping[str, int]
    loops: tuple[str, ...]
    """Files that only files include which they include themselves, and that stand for their circle."""


class Index:
    """One tree that is kept; answers None for what the tree has not."""

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(f"file:{path}?mode=ro&immutable=1", uri=True)
        self._rows: dict[str, Row | None] = {}
        found = self._value(_WHOLE)
        if found is None:
            raise Damaged
        whole = dict(found)
        for name in ("shadowing", "databases", "listed", "loops"):
            whole[name] = tuple(whole[name])
        whole["mentions"] = {path: BuildUse(*use) for path, use in whole["mentions"].items()}
        self.whole = Whole(**whole)

    def close(self) -> None:
        """Nothing more is asked."""
        self._connection.close()

    def row(self, path: str) -> Row | None:
        """What is known of a file."""
        if path not in self._rows:
            found = self._value(f"file/{path}")
            self._rows[path] = None if found is None else _row(found)
        return self._rows[path]

    def named(self, name: str) -> list[str]:
        """The code whose path ends with a name."""
        return self._value(f"named/{name}") or []

    def wanting(self, name: str) -> list[str]:
        """The code with an `#include` of such a name, whatever is before it."""
        return self._value(f"wanting/{name}") or []

    def beside(self, folder: str) -> list[str]:
        """The files of a folder, whatever its case."""
        return self._value(f"folder/{folder.casefold()}") or []

    def names(self) -> tuple[dict[str, str], frozenset[str]]:
        """The files that the port calls otherwise, and those of them that did not get the usual name."""
        renamed, apart = self._value(_NAMES) or ({}, [])
        return renamed, frozenset(apart)

    def _value(self, key: str) -> Any:
        found = self._connection.execute("SELECT value FROM known WHERE key = ?", (_spelled(key),)).fetchone()
        if found is None:
            return None
        text = unpacked(found[0])
        name, _, value = (text or "").partition("\0")
        if text is None or name != key:
            raise Damaged
        return json.loads(value)


def _spelled(key: str) -> str:
    """As SQLite can keep it: names need not be UTF-8."""
    return key.encode("utf-8", "surrogateescape").decode("latin-1")


def _row(value: list[Any]) -> Row:
    kind, mode, size, digest, scan, edges, folders, users, shown, told, found, use = value
    return Row(
        kind,
        mode,
        size,
        digest,
        Scan(*map(tuple, scan)) if scan else NOTHING,
        tuple(edges),
        tuple(folders),
        tuple(users),
        shown,
        Dialect(told) if told else None,
        Dialect(found) if found else None,
        BuildUse(*use) if use else None,
    )


def save_index(folder: Path | None, name: str, side: Side, home: Path, *, has_links: bool, is_for_amd: bool) -> None:
    """Keeps a tree; where there is no room, nothing is kept."""
    if folder is None:
        return
    with contextlib.suppress(OSError, sqlite3.Error):
        folder.mkdir(exist_ok=True, mode=0o700)
        if not is_ours(folder):
            return
        handle, made = tempfile.mkstemp(dir=folder, prefix="making-")
        os.close(handle)
        try:
            connection = sqlite3.connect(made)
            with contextlib.closing(connection):
                connection.execute("PRAGMA journal_mode = OFF")
                connection.execute("PRAGMA synchronous = OFF")
                connection.execute(_SCHEMA)
                rows = _values(side, home, has_links, is_for_amd)
                values = sorted((_spelled(key), packed(f"{key}\0{json.dumps(value)}")) for key, value in rows)
                connection.executemany("INSERT INTO known VALUES (?, ?)", values)
                connection.commit()
            os.replace(made, folder / f"{name}.sqlite")  # noqa: PTH105
        finally:
            Path(made).unlink(missing_ok=True)
        for old in _kept(folder)[_MOST_KEPT:]:
            old.unlink(missing_ok=True)


def kept_trees(folder: Path | None, key: str) -> list[tuple[str, Path]]:
    """The trees that are kept for some settings, the newest first."""
    if folder is None or not folder.is_dir() or not is_ours(folder):
        return []
    with contextlib.suppress(OSError):
        found = [path for path in _kept(folder) if path.name.startswith(f"{key}-") and is_ours(path)]
        return [(path.stem.rpartition("-")[2], path) for path in found]
    return []


def _kept(folder: Path) -> list[Path]:
    return sorted(folder.glob("*.sqlite"), key=lambda path: path.stat().st_mtime_ns, reverse=True)


def _values(side: Side, home: Path, has_links: bool, is_for_amd: bool) -> Iterator[tuple[str, object]]:
    code = {path: one.scan for path, one in side.known.items() if is_code(path)}
    about = judged(side.machine.choices, home, side.told, code, side.graph)
    shown, loops = shown_names(side.graph, side.users, code)
    named: defaultdict[str, list[str]] = defaultdict(list)
    wanting: defaultdict[str, list[str]] = defaultdict(list)
    folders: defaultdict[str, list[str]] = defaultdict(list)
    for path in sorted(code):
        named[posixpath.basename(path)].append(path)
        for name in dict.fromkeys(map(posixpath.basename, code[path].includes)):
            wanting[name].append(path)
    for path in side.entries:
        folders[posixpath.dirname(path).casefold()].append(path)
    whole = Whole(
        files=len(side.known),
        shadowing=side.shadowing,
        renamed_includes=renamed_includes(code, side.names),
        mentions=side.mentions,
        databases=tuple(path for path in side.entries if posixpath.basename(path) == "compile_commands.json"),
        has_links=has_links,
        is_for_amd=is_for_amd,
        listed=tuple(sorted(side.told.listed)),
        cudas=sum(1 for one in about.told.values() if one is Dialect.CUDA),
        named=counted(one for path, one in about.told.items() if is_named_for_cuda(path)),
        found=counted(about.found.values()),
        loops=tuple(sorted(loops)),
    )
    yield _WHOLE, {field.name: getattr(whole, field.name) for field in fields(whole)}
    yield _NAMES, [dict(side.names.renamed), sorted(side.names.apart)]
    for path, entry in side.entries.items():
        known = side.known.get(path)
        value: list[object] = [entry.kind.value, entry.mode, entry.size]
        if known is None:
            value += ["", [], [], [], [], {}, None, None, None]
        else:
            value += [known.sha256, known.scan, side.graph.edges.get(path, ()), side.graph.folders.get(path, ())]
            value += [side.users.get(path, ()), shown.get(path, {}), about.told.get(path), about.found.get(path)]
            value += [known.use]
        yield f"file/{path}", value
    for room, table in (("named", named), ("wanting", wanting), ("folder", folders)):
        for name, paths in table.items():
            yield f"{room}/{name}", paths


def counted(kinds: Iterable[Dialect | None]) -> dict[str, int]:
    """How many of each."""
    return dict(Counter("" if one is None else one.value for one in kinds))


def shown_names(
    graph: IncludeGraph, users: Mapping[str, Iterable[str]], scans: Mapping[str, Scan]
) -> tuple[dict[str, Counter[str]], set[str]]:
    """For each file the names that its translation units show with it, counted by units; and units in circles.

    They are marked, and come to what `reuse.shown_names` has.
    """
    groups: defaultdict[str, Counter[frozenset[str]]] = defaultdict(Counter)
    loops: set[str] = set()
    seen: set[str] = set()
    for path in sorted(scans, key=lambda path: bool(users.get(path))):
        if users.get(path):
            if path in seen:
                continue
            loops.add(path)
        together = reached_from(graph.edges, (path,))
        seen |= together
        names = frozenset(name for one in together for name in marked(scans[one]))
        if names:
            for one in together:
                groups[one][names] += 1
    shown: dict[str, Counter[str]] = {}
    for path, group in groups.items():
        counts: Counter[str] = Counter()
        for names, count in group.items():
            for name in names:
                counts[name] += count
        shown[path] = counts
    return shown, loops
