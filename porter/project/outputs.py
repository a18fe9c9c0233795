"""The output folder around the files: its folders, and outputs whose source is gone."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from porter.engine import notices
from porter.errors import Unusable
from porter.project.discovery import Kind, Project
from porter.project.records import FileRecord, Status, notice_entry
from porter.project.writing import content_at, remove_abandoned
from porter.system.paths import place_inside

_OWNER = stat.S_IRWXU
_NOTHING_TO_PLACE = (Kind.SPECIAL, Kind.UNREADABLE)


def make_root(out: Path) -> None:
    """Makes the output folder itself."""
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Unusable(f"{error.filename or out}: {error.strerror}") from None


def make_folders(out: Path, project: Project) -> None:
    """Makes the project's folders in the output; a link in their place is never written through."""
    make_root(out)
    try:
        for entry in project.entries:
            if entry.kind is Kind.FOLDER:
                _make_folder(out / entry.path)
    except OSError as error:
        raise Unusable(f"{error.filename or out}: {error.strerror}") from None


def _make_folder(path: Path) -> None:
    try:
        path.mkdir()
    except FileExistsError:
        if path.is_symlink() or not path.is_dir():
            raise Unusable(f"{path}: stands where a folder of the source has to go") from None


def make_way(out: Path, previous: Mapping[str, FileRecord], project: Project) -> None:
    """Removes what an earlier run wrote where the source has another kind of thing now: file, link or folder."""
    kinds = {entry.path: entry.kind for entry in project.entries}
    for path, record in previous.items():
        kind = kinds.get(path, Kind.SPECIAL)
        is_other = (kind is Kind.LINK) != (record.target is not None) or kind is Kind.FOLDER
        if record.output and kind not in _NOTHING_TO_PLACE and is_other:
            _removed(place_inside(out, record.output), record)
    for folder in _folders_that_are_none(previous, kinds):
        for path, record in previous.items():
            if record.output and path.startswith(f"{folder}/"):
                _removed(place_inside(out, record.output), record)
                _remove_empty_folders(out, record.output, project)


def _folders_that_are_none(previous: Mapping[str, FileRecord], kinds: Mapping[str, Kind]) -> Iterator[str]:
    """Folders of the last run's files where a file or a link stands now."""
    lowest = [folder.split("/") for folder in {path.rpartition("/")[0] for path in previous}]
    above = {"/".join(parts[:end]) for parts in lowest for end in range(1, len(parts) + 1)}
    return (path for path in sorted(above) if kinds.get(path, Kind.FOLDER) not in (Kind.FOLDER, *_NOTHING_TO_PLACE))


def remove_temporaries(out: Path, project: Project) -> None:
    """Removes what a run that was killed left of files it was writing."""
    folders = [out, *(out / entry.path for entry in project.entries if entry.kind is Kind.FOLDER)]
    own = out / "porter"  # of support headers
    if own not in folders and own.is_dir() and not own.is_symlink():
        folders.append(own)
    for folder in folders:
        remove_abandoned(folder)


def set_folder_modes(out: Path, project: Project) -> None:
    """Gives the folders the source's mode bits, the owner's always included so that the next run can write."""
    for entry in project.entries:
        if entry.kind is Kind.FOLDER:
            path = out / entry.path
            wanted = entry.mode | _OWNER
            if stat.S_IMODE(path.stat().st_mode) != wanted:
                path.chmod(wanted)


def remove_stale(
    out: Path, previous: Mapping[str, FileRecord], records: Mapping[str, FileRecord], project: Project
) -> Iterator[FileRecord]:
    """Removes outputs that no source stands for any more; yields records of those that were edited and stay."""
    current = {record.output for record in records.values()}
    links = frozenset(record.output for record in records.values() if record.status is Status.LINK)
    unreadable = tuple(entry.path + "/" for entry in project.entries if entry.kind is Kind.UNREADABLE)
    for path, record in previous.items():
        if not record.output or record.output in current or _lies_below(links, record.output):
            continue
        if path.startswith(unreadable):
            yield record
        elif not _removed(place_inside(out, record.output), record):
            message = f"{record.output}: its source {path} is gone, but the output was changed by hand and kept"
            entries = (notice_entry(notices.STALE_OUTPUT, message),)
            yield replace(record, status=Status.FAILED, edited=True, key="", entries=entries, kernels=())
        else:
            _remove_empty_folders(out, record.output, project)


def _lies_below(links: frozenset[str], output: str) -> bool:
    """Whether a folder became a link of the source's: what was in it is gone, and nothing is removed through it."""
    parts = output.split("/")
    return any("/".join(parts[:end]) in links for end in range(1, len(parts)))


def _removed(path: Path, record: FileRecord) -> bool:
    """Whether nothing of ours is left at a path."""
    if path.is_symlink():
        if os.readlink(path) != record.target:  # noqa: PTH115
            return False
        path.unlink()
    elif path.is_file():
        if content_at(path).sha256 != record.output_sha256:
            return False
        path.unlink()
    return True


def _remove_empty_folders(out: Path, output: str, project: Project) -> None:
    """Removes the folders above a removed file that are empty and no longer in the source."""
    wanted = {entry.path for entry in project.entries if entry.kind is Kind.FOLDER}
    folder = output.rpartition("/")[0]
    while folder and folder not in wanted:
        try:
            (out / folder).rmdir()
        except OSError:
            return
        folder = folder.rpartition("/")[0]
