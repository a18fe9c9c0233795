"""What the files of a project were seen to hold, kept in the cache: a run that finds them as they were reads none."""

from __future__ import annotations

import contextlib
import hashlib
import marshal
import os
import time
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TypeAlias

from porter.project.digests import digests_at
from porter.project.discovery import Entry, Project
from porter.project.records import FileRecord
from porter.system.cache import keep, kept, kept_folder, make_room
from porter.system.stamps import Stamp, is_settled, stamp_of

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


def keep_seen(project: Project, records: Mapping[str, FileRecord], before: Seen) -> Seen:
    """Keeps what this run read of files that will have another stamp when they change, and gives it back.

    The stamps are older than what was read: a file that changed in between has another one, and is read again.
    """
    if project.single:
        return {}
    known = [(entry, record) for entry in project.entries if (record := records.get(entry.path)) and record.sha256]
    seen: dict[str, tuple[int | str, ...]] = {}
    fresh: list[str] = []
    for entry, record in known:
        if entry.stamp is not None and is_settled(entry.stamp, project.listed):
            seen[entry.path] = (*entry.stamp, record.sha256)
        else:
            fresh.append(entry.path)
    for path, stamp, digest in _settled_by_now(project.root, fresh):
        if digest == records[path].sha256:
            seen[path] = (*stamp, digest)
    if seen != before:
        with contextlib.suppress(OSError):
            place = _place(project)
            make_room(place.parent, 2 * _MOST_PROJECTS)
            keep(place, marshal.dumps(seen))
    return seen


def _settled_by_now(root: Path, paths: Iterable[str]) -> Iterator[tuple[str, Stamp, str | None]]:
    """Files that had been changed just before the run, with what they hold now if that is some time ago."""
    now = time.time_ns()
    found: list[tuple[str, Stamp]] = []
    for path in paths:
        with contextlib.suppress(OSError):
            stamp = stamp_of(os.stat(f"{root}/{path}"))  # noqa: PTH116 - there are thousands
            if is_settled(stamp, now):
                found.append((path, stamp))
    digests = digests_at([(f"{root}/{path}", stamp.size) for path, stamp in found])
    return ((path, stamp, digest) for (path, stamp), digest in zip(found, digests, strict=True))


def _place(project: Project) -> Path:
    name = hashlib.sha256(f"{_LAYOUT}\0".encode() + os.path.realpath(os.fsencode(project.root))).hexdigest()
    return kept_folder("seen") / name[:40]
