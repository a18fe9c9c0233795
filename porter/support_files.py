"""The support headers in a tree: those the source already has from an earlier port, and those the port needs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from porter.errors import Unusable
from porter.project import Project
from porter.support import closure, header_bytes, header_names
from porter.writing import Placed, content_of, place, sha256

_MARK = b"PORTER_"
"""Every support header of ours, of any version, defines a macro that begins so."""


def without_own_headers(project: Project) -> tuple[Project, frozenset[str]]:
    """A project that was ported before, without our headers, and which they were: they are written anew."""
    if project.single:
        return project, frozenset()
    ours = header_names()
    found = {entry.path for entry in project.entries if entry.path in ours}
    for path in sorted(found):
        if _MARK not in (project.root / path).read_bytes():
            raise Unusable(f"{project.root / path}: stands where a support header of porter has to go; rename it")
    entries = tuple(entry for entry in project.entries if entry.path not in found)
    return replace(project, entries=entries), frozenset(found)


def place_headers(out: Path, needed: Iterable[str], previous: Mapping[str, str], *, force: bool) -> dict[str, str]:
    """Writes the headers that ported files include, and those that these include; returns their digests."""
    written: dict[str, str] = {}
    for include in closure(needed):
        path = out / include
        data = header_bytes(include)
        path.parent.mkdir(parents=True, exist_ok=True)
        ours = previous.get(include) or _digest_if_ours(path)
        if place(path, content_of(data), 0o644, ours, force=force) is Placed.KEPT:
            raise Unusable(f"{path}: stands where a support header of porter has to go; remove it, or use --force")
        written[include] = sha256(data)
    for include in previous.keys() - written.keys():
        path = out / include
        if path.is_file() and sha256(path.read_bytes()) == previous[include]:
            path.unlink()
    return written


def _digest_if_ours(path: Path) -> str | None:
    """The digest of a header of ours that an older port left."""
    if path.is_symlink() or not path.is_file():
        return None
    data = path.read_bytes()
    return sha256(data) if _MARK in data else None
