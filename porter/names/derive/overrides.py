"""Reads what is set by hand: other names, reasons for gaps, and differences that no prototype shows."""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:  # pragma: no cover
    import tomli as tomllib

GROUPS = frozenset({"renamed", "missing", "differs", "headers", "missing_headers"})
EFFORTS = frozenset({"none", "review", "manual"})


@dataclass(frozen=True)
class Group:
    """Names that share a gap or a difference: a regular expression over whole names."""

    names: re.Pattern[str]
    text: str
    effort: str
    force: bool = False
    """Whether the gap also holds for names that have a namesake in HIP."""


@dataclass
class Overrides:
    """Everything set by hand, by library."""

    names: dict[str, dict[str, Any]] = field(default_factory=dict)
    """CUDA name -> hip, why, and kind when no header declares the name."""
    patterns: defaultdict[str, list[tuple[re.Pattern[str], dict[str, Any]]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    """Library -> expressions over names, with what they stand for."""
    extra: defaultdict[str, dict[str, dict[str, Any]]] = field(default_factory=lambda: defaultdict(dict))
    """Library -> names that the headers at hand do not declare."""
    gaps: defaultdict[str, list[Group]] = field(default_factory=lambda: defaultdict(list))
    differs: defaultdict[str, list[Group]] = field(default_factory=lambda: defaultdict(list))
    headers: defaultdict[str, dict[str, dict[str, Any]]] = field(default_factory=lambda: defaultdict(dict))

    def expand(self, library: str, names: Iterable[str]) -> None:
        """Gives the names of a library that match an expression their rows."""
        for pattern, row in self.patterns[library]:
            for name in names:
                found = pattern.fullmatch(name)
                if found:
                    self.names.setdefault(name, {**row, "hip": found.expand(row["hip"])})

    def gap(self, library: str, name: str, mapped: bool) -> Group | None:
        """The group that says why a name has no counterpart."""
        groups = (g for g in self.gaps[library] if g.force or not mapped)
        return next((group for group in groups if group.names.fullmatch(name)), None)

    def difference(self, library: str, name: str) -> Group | None:
        """The group that says how a name differs."""
        return next((group for group in self.differs[library] if group.names.fullmatch(name)), None)


def load_overrides(folder: Path) -> Overrides:
    """All files of a folder; each is about the library it is named after."""
    found = Overrides()
    for path in sorted(folder.glob("*.toml")):
        document = tomllib.loads(path.read_text("utf-8"))
        unknown = document.keys() - GROUPS
        if unknown:
            raise ValueError(f"{path}: unknown tables {', '.join(sorted(unknown))}")
        _read(found, path, document)
    return found


def _read(found: Overrides, path: Path, document: Mapping[str, Any]) -> None:
    library = path.stem
    for group in document.get("renamed", ()):
        shared = {key: value for key, value in group.items() if key not in ("names", "match")}
        _require(path, shared, "why")
        if "match" in group:
            found.patterns[library].append((re.compile(group["match"]), shared))
            continue
        for cuda, hip in group["names"].items():
            row = {**(hip if isinstance(hip, dict) else {"hip": hip}), **shared}
            found.names[cuda] = row
            if "kind" in shared:
                found.extra[library][cuda] = row
    for group in document.get("missing", ()):
        _require(path, group, "gap")
        entry = Group(_pattern(group["names"]), group["gap"], _effort(path, group), group.get("force", False))
        found.gaps[library].append(entry)
        if "kind" in group:
            for cuda in group["names"]:
                shared = {key: value for key, value in group.items() if key not in ("names", "force")}
                found.extra[library][cuda] = shared
    for group in document.get("differs", ()):
        _require(path, group, "signature")
        found.differs[library].append(Group(_pattern(group["names"]), group["signature"], _effort(path, group)))
    for cuda, row in document.get("headers", {}).items():
        found.headers[library][cuda] = {"hip": row} if isinstance(row, str) else dict(row)
    for group in document.get("missing_headers", ()):
        for cuda in group["names"]:
            found.headers[library][cuda] = {"gap": group["gap"], "effort": _effort(path, group)}


def _pattern(names: str | list[str]) -> re.Pattern[str]:
    return re.compile(names if isinstance(names, str) else "|".join(map(re.escape, names)))


def _effort(path: Path, group: Mapping[str, Any]) -> str:
    effort = str(group.get("effort", "manual"))
    if effort not in EFFORTS:
        raise ValueError(f"{path}: {effort!r} is no effort")
    return effort


def _require(path: Path, group: Mapping[str, Any], key: str) -> None:
    if not group.get(key):
        raise ValueError(f"{path}: a group lacks `{key}`")
