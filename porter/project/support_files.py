"""The support headers in a tree: those the source already has from an earlier port, and those the port needs."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath

from porter.cpp.prescan import Scan
from porter.dual.headers import SHIMS
from porter.engine.support import FOLDER, contents, header_bytes, header_names
from porter.errors import Unusable
from porter.project.discovery import Kind, Project
from porter.project.manifest import NAME, is_ours
from porter.project.writing import Placed, content_of, place, sha256
from porter.system.paths import make_folders_to, place_inside
from porter.system.reading import read_regular

_MARK = re.compile(rb"\bPORTER_[A-Z]|\bnamespace porter\b|^// Written by porter:")
"""What a support header of ours has, whatever its version."""


def without_own_files(project: Project) -> tuple[Project, frozenset[str]]:
    """A project that was ported before, without our headers and manifest, which are written anew, and the headers."""
    if project.single:
        return project, frozenset()
    ours = header_names()
    found = {entry.path for entry in project.entries if entry.path in ours and entry.kind is not Kind.UNREADABLE}
    gone = {*found, *dual_headers_of(project), NAME}
    _refuse_in_the_way(project, ours)
    for path in sorted(found):
        if not _is_ours(header_bytes(path), read_regular(project.root / path)):
            raise Unusable(f"{project.root / path}: stands where a support header of porter has to go; rename it")
    if any(entry.path == NAME for entry in project.entries) and not is_ours(project.root):
        raise Unusable(f"{project.root / NAME}: stands where the manifest of a port has to go; rename it")
    entries = tuple(entry for entry in project.entries if entry.path not in gone)
    return replace(project, entries=entries), frozenset(found)


def dual_headers_of(project: Project) -> dict[str, bytes]:
    """The headers for AMD builds that an earlier port wrote for both vendors."""
    code = [entry.path for entry in project.entries if entry.kind is Kind.CODE]
    found = {path: read_regular(project.root / path) for path in code if path.startswith(f"{SHIMS}/")}
    return {path: data for path, data in found.items() if _MARK.search(data) is not None}


def is_own_place(path: str) -> bool:
    """Whether a port has a file of ours at a path."""
    return path == NAME or path.startswith(f"{SHIMS}/") or path in header_names()


def _refuse_in_the_way(project: Project, ours: Iterable[str]) -> None:
    """Links and odd things where support headers or their folders go are refused before anything is written."""
    folders = {str(folder) for name in (*ours, f"{SHIMS}/any") for folder in PurePosixPath(name).parents}
    files = frozenset(ours)
    for entry in project.entries:
        wrong = entry.path in folders and entry.kind not in (Kind.FOLDER, Kind.UNREADABLE)
        if wrong or (entry.path in files and entry.kind in (Kind.LINK, Kind.FOLDER, Kind.SPECIAL)):
            place = project.root / entry.path
            raise Unusable(f"{place}: stands where the support headers of porter have to go; rename it")


def included(scan: Scan) -> frozenset[str]:
    """The support headers that a file includes already: a run that was killed may have left it without them."""
    names = {name[name.find(f"{FOLDER}/") :] for name in scan.includes if f"{FOLDER}/" in name}
    return frozenset(names & header_names())


def place_headers(
    out: Path, needed: Iterable[str], previous: Mapping[str, str], made: Mapping[str, bytes], *, force: bool
) -> dict[str, str]:
    """Writes the headers that ported files include, those that these include, and some made for this tree."""
    written: dict[str, str] = {}
    for include, data in (contents(needed) | dict(made)).items():
        path = make_folders_to(out, include)
        ours = previous.get(include) or _digest_if_ours(path, data)
        if place(path, content_of(data), 0o644, ours, force=force) is Placed.KEPT:
            raise Unusable(f"{path}: stands where a support header of porter has to go; remove it, or use --force")
        written[include] = sha256(data)
    for include in previous.keys() - written.keys():
        path = place_inside(out, include)
        if path.is_file() and not path.is_symlink() and sha256(path.read_bytes()) == previous[include]:
            path.unlink()
    return written


def _digest_if_ours(path: Path, wanted: bytes) -> str | None:
    """The digest of a header of ours that an older port left."""
    if path.is_symlink() or not path.is_file():
        return None
    data = read_regular(path)
    return sha256(data) if _is_ours(wanted, data) else None


def _is_ours(wanted: bytes, data: bytes) -> bool:
    return data == wanted or _MARK.search(data) is not None
