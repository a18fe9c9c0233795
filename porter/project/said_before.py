"""What a run said when everything was done: as long as nothing is changed, the next one says the same.

A run that finds nothing to do spends its time on the manifest and the report, and both come out as the last time. What
decides that are the stamps of porter, of the sources and of the output, which cost no reading.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path

from porter.engine.own_code import knowledge_digest
from porter.project.compilation import database_places
from porter.project.discovery import Entry, Kind, Project
from porter.settings import Choices
from porter.system.cache import keep, kept, kept_folder, make_room
from porter.system.stamps import Stamp, stamp_of

_LAYOUT = "1"
_MOST_KEPT = 64
_FILES = frozenset({Kind.CODE, Kind.BUILD, Kind.OTHER})


@dataclass(frozen=True, slots=True)
class Said:
    """A report as it was printed, the exit code, and which step comes next."""

    text: str
    code: int
    step: str


@dataclass(frozen=True, slots=True)
class Question:
    """A project, what is to be done with it and where to, and whatever else decides what is printed."""

    project: Project
    choices: Choices
    output: Path
    words: tuple[str, ...]

    def said(self) -> Said | None:
        """What a run said that left everything as it is now."""
        with contextlib.suppress(OSError, ValueError, TypeError):
            data = kept(self._place(self.project.entries))
            if data is not None:
                return Said(**json.loads(data))
        return None

    def keep(self, said: Callable[[], Said], stamps: Mapping[str, Stamp]) -> None:
        """For the next run. `stamps`: of each file when it held what the run read, and such that it will have another
        one as soon as it changes; nothing is kept without that of each file."""
        entries = self.project.entries
        if any(entry.kind in _FILES and entry.path not in stamps for entry in entries):
            return
        text = json.dumps(asdict(said()))
        with contextlib.suppress(OSError):
            place = self._place(entry._replace(stamp=stamps.get(entry.path)) for entry in entries)
            make_room(place.parent, 2 * _MOST_KEPT)
            keep(place, text.encode())

    def _place(self, entries: Iterable[Entry]) -> Path:
        digest = hashlib.sha256()
        for word in self._state(entries):
            digest.update(word.encode(errors="surrogateescape") + b"\0")
        return kept_folder("said") / digest.hexdigest()[:40]

    def _state(self, entries: Iterable[Entry]) -> Iterator[str]:
        """Everything that the report depends on."""
        project, engine = self.project, self.choices.engine
        yield os.path.realpath(self.output)
        yield from sorted(_below(os.fspath(self.output)))
        yield _LAYOUT
        yield knowledge_digest()
        yield repr(sorted(engine.disabled))
        yield repr(replace(self.choices, engine=replace(engine, disabled=frozenset())))
        yield repr((self.words, project.notes, project.left_out))
        yield os.path.realpath(project.root)
        for path, kind, mode, _, target, stamp in entries:
            yield f"{path}\0{kind.value}\0{mode}\0{target}\0{stamp and tuple(stamp)}"
        for place in database_places(project.root, (entry.path for entry in project.entries)):
            yield _at(place)


def _at(path: Path) -> str:
    """A file outside of the listing, which may be none."""
    try:
        return f"{path}\0{tuple(stamp_of(path.stat()))}"
    except OSError:
        return f"{path}\0"


def _below(folder: str) -> Iterator[str]:
    """What stands in the output. What was written just before may have its stamp yet: it is what the run wrote."""
    with os.scandir(folder) as entries:
        for entry in entries:
            status = entry.stat(follow_symlinks=False)
            if entry.is_dir(follow_symlinks=False):
                yield f"{entry.path}\0{status.st_mode}"
                yield from _below(entry.path)
            else:
                yield f"{entry.path}\0{status.st_mode}\0{tuple(stamp_of(status))}"
