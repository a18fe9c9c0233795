"""Symbolic links of the source tree: kept as links, never followed out of it."""

from __future__ import annotations

import errno
import os
import posixpath
from pathlib import Path

from porter.engine import notices
from porter.engine.notices import Notice
from porter.project.discovery import Entry
from porter.project.naming import Names
from porter.project.records import FileRecord, Status, notice_entry
from porter.project.task import Sink
from porter.project.writing import Placed, place_link


def keep_link(entry: Entry, root: Path, names: Names, sink: Sink, previous: FileRecord | None) -> FileRecord:
    """Makes the same link in the output, following the new names of files; what is odd about it is a finding."""
    output = names.output(entry.path)
    target = names.targets.get(entry.path, entry.target or "")
    odd = _oddity(root, entry)
    entries = (notice_entry(odd, f"link to {entry.target}: {odd.title[0].lower()}{odd.title[1:]}"),) if odd else ()
    if odd is None and _is_source_elsewhere(entry, root, names):
        message = f"link to {entry.target}: its support headers are beside that file, not beside the link"
        entries = (notice_entry(notices.LINKED_SOURCE, message),)
    record = FileRecord(entry.path, output, Status.LINK, target=target, entries=entries)
    if sink.root is None:
        return record
    ours = previous.target if previous is not None and previous.output == output else None
    if sink.in_place and output == entry.path:
        ours = entry.target
    if place_link(sink.root / output, target, ours, force=sink.force) is Placed.KEPT:
        kept = notice_entry(notices.EDITED_OUTPUT, f"{output} in the output was changed by hand and kept")
        return FileRecord(entry.path, output, Status.FAILED, target=ours, edited=True, entries=(kept, *entries))
    if sink.in_place and output != entry.path:
        (root / entry.path).unlink()
    return record


def _is_source_elsewhere(entry: Entry, root: Path, names: Names) -> bool:
    """Whether it is a CUDA source in another folder, which is compiled by the name of the link."""
    if entry.path not in names.targets and not (entry.target or "").endswith(".cu"):
        return False
    return (root / entry.path).is_file() and posixpath.dirname(posixpath.normpath(entry.target or "")) != ""


def _oddity(root: Path, entry: Entry) -> Notice | None:
    path = root / entry.path
    try:
        path.stat()
    except OSError as error:
        return notices.LINK_LOOP if error.errno == errno.ELOOP else notices.DANGLING_LINK
    absolute = os.path.isabs(entry.target or "")  # noqa: PTH117
    inside = os.path.realpath(path).startswith(os.path.realpath(root) + os.sep) or path.resolve() == root.resolve()
    return notices.OUTSIDE_LINK if absolute or not inside else None
