"""What the files of a project were seen to hold, kept in the cache: a run that finds them as they were reads none."""

from __future__ import annotations

import contextlib
import hashlib
import marshal
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

from porter.project.discovery import Entry, Project
from porter.project.records import FileRecord
from porter.system.cache import keep, kept, kept_folder
from porter.system.stamps import is_settled

Seen: TypeAlias = "Mapping[str, tuple[int | str, ...]]"
"""For each file its stamp (porter.system.stamps) and the digest of what it held."""
_LAYOUT = "1"
_MOST_PROJECTS = 64


def read_seen(project: Project) -> Seen:
    """What the last run over these files kept; nothing where there was none."""
    if project.single:
        return {}
    with contextlib.suppress(OSError, ValueError, EOFError, TypeError):
        data = kept(_place(project))
        found = {} if data is None else marshal.loads(data)
        return found if isinstance(found, dict) else {}
    return {}


def digest_by(seen: Seen, entry: Entry) -> str | None:
    """The digest of a file that has the stamp that it had when it was read."""
    *stamp, digest = seen.get(entry.path) or (None,)
    return str(digest) if digest is not None and entry.stamp is not None and tuple(stamp) == entry.stamp else None


def keep_seen(project: Project, records: Mapping[str, FileRecord], before: Seen) -> None:
    """Keeps what this run read of files that will have another stamp when they change.

    The stamps are older than what was read: a file that changed in between has another one, and is read again.
    """
    seen = {
        entry.path: (*entry.stamp, record.sha256)
        for entry in project.entries
        if entry.stamp is not None
        and (record := records.get(entry.path)) is not None
        and record.sha256
        and is_settled(entry.stamp, project.listed)
    }
    if project.single or seen == before:
        return
    with contextlib.suppress(OSError):
        place = _place(project)
        _make_room(place.parent)
        keep(place, marshal.dumps(seen))


def _place(project: Project) -> Path:
    name = hashlib.sha256(f"{_LAYOUT}\0".encode() + os.path.realpath(os.fsencode(project.root))).hexdigest()
    return kept_folder("seen") / name[:40]


def _make_room(folder: Path) -> None:
    """What was used longest ago goes: a project takes a hundred bytes for each of its files."""
    with os.scandir(folder) as entries:
        found = sorted(((entry.stat().st_mtime_ns, entry.path) for entry in entries), reverse=True)
    for _, path in found[2 * _MOST_PROJECTS :]:
        with contextlib.suppress(OSError):
            os.unlink(path)  # noqa: PTH108
