"""The support headers in a tree: those the source already has from an earlier port, and those the port needs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from porter.dual.headers import SHIMS
from porter.errors import Unusable
from porter.manifest import NAME, is_ours
from porter.project import Kind, Project
from porter.support import contents, header_bytes, header_names
from porter.writing import Placed, content_of, place, sha256

_MARK = re.compile(rb"\bPORTER_[A-Z]|\bnamespace porter\b|^// Written by porter:")
"""What a support header of ours has, whatever its version."""


def without_own_files(project: Project) -> tuple[Project, frozenset[str]]:
    """A project that was ported before, without our headers and manifest, which are written anew, and the headers."""
    if project.single:
        return project, frozenset()
    ours = header_names()
    found = {entry.path for entry in project.entries if entry.path in ours}
    made = {entry.path for entry in project.entries if entry.path.startswith(SHIMS + "/") and entry.kind is Kind.CODE}
    made = {path for path in made if _MARK.search((project.root / path).read_bytes()) is not None}
    for path in sorted(found):
        if not _is_ours(header_bytes(path), (project.root / path).read_bytes()):
            raise Unusable(f"{project.root / path}: stands where a support header of porter has to go; rename it")
    if any(entry.path == NAME for entry in project.entries) and not is_ours(project.root):
        raise Unusable(f"{project.root / NAME}: stands where the manifest of a port has to go; rename it")
    entries = tuple(entry for entry in project.entries if entry.path not in found | made and entry.path != NAME)
    return replace(project, entries=entries), frozenset(found)


def place_headers(
    out: Path, needed: Iterable[str], previous: Mapping[str, str], made: Mapping[str, bytes], *, force: bool
) -> dict[str, str]:
    """Writes the headers that ported files include, those that these include, and some made for this tree."""
    written: dict[str, str] = {}
    for include, data in (contents(needed) | dict(made)).items():
        path = out / include
        path.parent.mkdir(parents=True, exist_ok=True)
        ours = previous.get(include) or _digest_if_ours(path, data)
        if place(path, content_of(data), 0o644, ours, force=force) is Placed.KEPT:
            raise Unusable(f"{path}: stands where a support header of porter has to go; remove it, or use --force")
        written[include] = sha256(data)
    for include in previous.keys() - written.keys():
        path = out / include
        if path.is_file() and sha256(path.read_bytes()) == previous[include]:
            path.unlink()
    return written


def _digest_if_ours(path: Path, wanted: bytes) -> str | None:
    """The digest of a header of ours that an older port left."""
    if path.is_symlink() or not path.is_file():
        return None
    data = path.read_bytes()
    return sha256(data) if _is_ours(wanted, data) else None


def _is_ours(wanted: bytes, data: bytes) -> bool:
    return data == wanted or _MARK.search(data) is not None
