"""Both sides of a comparison from a tree that an earlier check kept and what git says has changed since."""

from __future__ import annotations

import hashlib
import json
import os
import sqlite3
import stat
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from porter.buildfiles.listed import mentions_amd
from porter.buildfiles.mentions import kind_of_build
from porter.check.history import Base, Blob, contents, differences
from porter.check.index import Damaged, Index, kept_trees, save_index
from porter.check.overlay import Around, Fact, NotLocal, Overlay
from porter.check.side import Machine, Side, build_file_at, look_quickly
from porter.project.compilation import read_database
from porter.project.dialects import Told, is_build_list
from porter.project.discovery import Entry, Kind, handlings, is_code, settings_folder, settings_notes
from porter.project.manifest import is_ours
from porter.project.support_files import is_own_place
from porter.project.writing import is_temporary
from porter.settings import Handling
from porter.system.reading import read_regular

_MOST_CHANGED = 2000
"""With more, looking at all files is as quick."""


@dataclass(frozen=True)
class Both:
    """The work tree and its base, and the files that may be known otherwise on one of them."""

    head: Side
    before: Side
    otherwise: frozenset[str]


def both_quickly(source: Path, base: Base, folder: Path, machine: Machine) -> Both | None:
    """The two sides; None where no tree is kept that they differ little from, or where all files have to be seen."""
    if base.tree is None or not _is_usual(source, machine):
        return None
    for tree, path in kept_trees(machine.store.trees, _key(source, machine))[:2]:
        try:
            index = Index(path)
        except (Damaged, sqlite3.Error, OSError, ValueError, TypeError):
            path.unlink(missing_ok=True)
            continue
        try:
            found = _both(source, base, tree, index, folder, machine)
        except NotLocal:
            found = None
        except (Damaged, sqlite3.Error):
            path.unlink(missing_ok=True)
            continue
        if found is not None:
            os.utime(path)
            return found
    return None


def keep_tree(source: Path, base: Base, blobs: Mapping[str, Blob], head: Side, before: Side) -> None:
    """Keeps what was found out about the base, for the next check."""
    machine = head.machine
    is_plain = all(blob.is_regular or stat.S_ISLNK(blob.mode) for blob in blobs.values())
    there = all(path in head.known or path in base.changed for path in before.known)  # git and we see the same files
    if base.tree is None or not is_plain or not there or not _is_usual(source, machine):
        return
    if any(is_own_place(path) for path in blobs):
        return
    links = (entry for entry in head.entries.values() if entry.kind is Kind.LINK)
    has_links = any(one.lower().endswith(".cu") for entry in links for one in (entry.path, entry.target or ""))
    builds = (path for path in before.known if is_build_list(path))
    amd = any(_mentions_amd((before if path in base.changed else head).root / path) for path in builds)
    name = f"{_key(source, machine)}-{base.tree}"
    save_index(machine.store.trees, name, before, head.root, has_links=has_links, is_for_amd=amd)


def _key(source: Path, machine: Machine) -> str:
    """What decides about all files, but for the files."""
    choices = machine.choices
    about = [
        machine.key,
        os.path.relpath(source.absolute(), settings_folder(choices, source)),
        repr((choices.omit, choices.include, choices.exclude, choices.vendored, choices.vendored_folders)),
        repr(choices.dialect),
    ]
    return hashlib.sha256(json.dumps(about).encode()).hexdigest()[:24]


def _is_usual(source: Path, machine: Machine) -> bool:
    """Whether the files that take part are those that git knows, and it is no port of ours."""
    return machine.choices.gitignored is Handling.SKIP and not is_ours(source)


def _both(source: Path, base: Base, tree: str, index: Index, folder: Path, machine: Machine) -> Both | None:
    since: Mapping[str, Blob | None] = {}
    if tree != base.tree and base.tree is not None:
        since = differences(source, tree, base.tree) or {}
        if not since:
            return None
    if len(since) + len(base.old) > _MOST_CHANGED:
        return None
    now = _facts_now(source, {*since, *base.old}, machine)
    then = {path: fact for path, fact in now.items() if path not in base.old}
    then |= _facts_then(source, base.old, folder, machine)
    _refuse_lists(index, source, now)
    _refuse_lists(index, folder, {path: then[path] for path in base.old})
    database = read_database(source, index.whole.databases)
    around = Around(source, machine, database.flags, Told(listed=frozenset(index.whole.listed)))
    head = Overlay(index, now, around)
    before = Overlay(index, then, around)
    notes = (*settings_notes(source, machine.choices), *database.notes)
    one, other = replace(head.side(source), notes=notes), before.side(folder)
    otherwise = head.seen_otherwise() | before.seen_otherwise()
    if head.renamed != before.renamed:
        otherwise |= one.mentions.keys() | other.mentions.keys()
    return Both(one, other, frozenset(otherwise))


def _refuse_lists(index: Index, root: Path, facts: Mapping[str, Fact | None]) -> None:
    """What a build list says of other files is known for the kept tree alone."""
    for path, fact in facts.items():
        if is_build_list(path) and (index.whole.is_for_amd or (fact is not None and _mentions_amd(root / path))):
            raise NotLocal(f"{path}: it may say whose code a file is")


def _mentions_amd(path: Path) -> bool:
    try:
        return mentions_amd(read_regular(path))
    except OSError:
        return False


def _facts_now(source: Path, paths: Iterable[str], machine: Machine) -> dict[str, Fact | None]:
    """The files of the work tree."""
    entries: dict[str, Entry | None] = {}
    for path, handling in handlings(machine.choices, source, paths).items():
        if path.endswith("/") or is_own_place(path):
            raise NotLocal(f"{path}: a repository in the repository, or a file of ours")
        entries[path] = None
        if handling is not Handling.SKIP and not is_temporary(path.rpartition("/")[2]):
            entries[path] = _entry_at(source, path, handling)
    return _facts(source, entries, machine)


def _entry_at(root: Path, path: str, handling: Handling) -> Entry | None:
    try:
        status = (root / path).lstat()
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError:
        return Entry(path, Kind.UNREADABLE)
    if stat.S_ISDIR(status.st_mode):
        return None
    if not stat.S_ISREG(status.st_mode):
        return Entry(path, Kind.SPECIAL)
    return Entry(path, _kind(path, handling), stat.S_IMODE(status.st_mode), status.st_size)


def _kind(path: str, handling: Handling) -> Kind:
    if handling is not Handling.PORT:
        return Kind.OTHER
    return Kind.CODE if is_code(path) else Kind.BUILD if kind_of_build(path) is not None else Kind.OTHER


def _facts_then(source: Path, old: Mapping[str, Blob | None], folder: Path, machine: Machine) -> dict[str, Fact | None]:
    """The files of the base, laid out in a folder."""
    entries: dict[str, Entry | None] = {}
    wanted: dict[str, Blob] = {}
    for path, handling in handlings(machine.choices, source, old).items():
        blob, entries[path] = old[path], None
        if blob is None or handling is Handling.SKIP or is_temporary(path.rpartition("/")[2]):
            continue
        if not blob.is_regular:
            raise NotLocal(f"{path}: a link")
        entries[path] = Entry(path, _kind(path, handling), blob.mode & 0o777)
        if entries[path] != Entry(path, Kind.OTHER, blob.mode & 0o777):
            wanted[path] = blob
    for path, data in zip(wanted, contents(source, list(wanted.values())), strict=True):
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
        entry = entries[path]
        assert entry is not None
        entries[path] = entry._replace(size=len(data))
    return _facts(folder, entries, machine)


def _facts(root: Path, entries: Mapping[str, Entry | None], machine: Machine) -> dict[str, Fact | None]:
    code = [path for path, entry in entries.items() if entry is not None and entry.kind is Kind.CODE]
    known = look_quickly(root, code, machine)
    for path, entry in entries.items():
        if entry is not None and entry.kind is Kind.BUILD:
            one = build_file_at(root, path)
            if one is not None:
                known[path] = one
    return {path: Fact(entry, known.get(path)) if entry is not None else None for path, entry in entries.items()}
