"""Names that a run in place gives to files, kept beside them until it is done: after a kill the next one has them."""

from __future__ import annotations

import contextlib
import json
import posixpath
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from porter.project.discovery import Project
from porter.project.naming import Names
from porter.project.writing import TEMPORARY, content_of, write_atomically
from porter.system.paths import is_inside
from porter.system.reading import read_json

NAME = f"{TEMPORARY}names.json"


def keep(root: Path, names: Names) -> None:
    """Before the first file is changed."""
    if names.renamed:
        data = json.dumps(dict(names.renamed), indent=0).encode()
        write_atomically(root / NAME, content_of(data), 0o600, sync=True)


def forget(root: Path) -> None:
    """After the last one."""
    with contextlib.suppress(FileNotFoundError):
        (root / NAME).unlink()


def kept(root: Path) -> Mapping[str, str]:
    """What a run that was killed left; only names that a port gives, in the same folder."""
    try:
        found = read_json(root / NAME)
    except (OSError, ValueError):
        return {}
    pairs = found.items() if isinstance(found, dict) else ()
    return {old: new for old, new in pairs if is_inside(old) and is_inside(new) and _is_renaming(old, new)}


def _is_renaming(old: str, new: str) -> bool:
    return posixpath.dirname(old) == posixpath.dirname(new) and posixpath.splitext(new)[1].startswith((".hip", ".c"))


def without_begun(project: Project, names: Mapping[str, str]) -> Project:
    """A project without the new files whose sources are still there: they are made again."""
    present = {entry.path for entry in project.entries}
    made = {new for old, new in names.items() if old in present}
    return replace(project, entries=tuple(entry for entry in project.entries if entry.path not in made))


def with_begun(names: Names, project: Project, begun: Mapping[str, str]) -> Names:
    """The names of this run, and those of sources that are gone because their new files are there."""
    present = {entry.path for entry in project.entries}
    done = {old: new for old, new in begun.items() if old not in present and new in present}
    return replace(names, renamed={**done, **names.renamed})
