"""One run over a project: what is asked for, what is known so far, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from porter.project.compilation import Flags
from porter.project.discovery import Entry, Kind, Project
from porter.project.manifest import Manifest
from porter.project.naming import Names
from porter.project.records import FileRecord, to_line
from porter.project.seen import Seen
from porter.project.task import Sink
from porter.settings import Choices
from porter.system.stamps import Stamp


@dataclass(frozen=True, slots=True)
class Plan:
    """What to port, how, and where to."""

    project: Project
    choices: Choices
    sink: Sink
    output_name: str | None = None
    """Name of the one output file, when the user gave it."""
    previous: Manifest = field(default_factory=Manifest)
    keeps_manifest: bool = False
    jobs: int = 1
    begun: Mapping[str, str] = field(default_factory=dict)
    """Names that a run in place gave before it was killed."""


@dataclass(frozen=True, slots=True)
class Run:
    """What a run did."""

    plan: Plan
    records: tuple[FileRecord, ...]
    data: Mapping[str, bytes]
    """New bytes by source path, when they were not written."""
    crashes: tuple[str, ...]
    """Tracebacks of our own bugs."""
    rules: Mapping[str, str]
    """Code -> name."""
    reused: int
    """Files that an earlier run had done already."""
    stamps: Mapping[str, Stamp] = field(default_factory=dict)
    """Of the files that need not be done again, where the stamp will be another one when the file changes."""


@dataclass
class Work:
    """What is known while a run goes on."""

    plan: Plan
    names: Names
    key: str
    present: frozenset[str]
    """Support headers that the source has from an earlier port."""
    flags: Mapping[str, Flags] = field(default_factory=dict)
    """What a compilation database says of each source."""
    records: dict[str, FileRecord] = field(default_factory=dict)
    lines: dict[str, str] = field(default_factory=dict)
    """The records as lines of the manifest, where a worker made them already."""
    data: dict[str, bytes] = field(default_factory=dict)
    crashes: list[str] = field(default_factory=list)
    support: dict[str, str] = field(default_factory=dict)
    rules: Mapping[str, str] = field(default_factory=dict)
    """Code -> name."""
    reused: int = 0
    seen: Seen = field(default_factory=dict)
    """What an earlier run read of the files (porter.project.seen)."""
    stamps: Mapping[str, Stamp] = field(default_factory=dict)
    changed: bool = False
    """Whether the manifest has to be written again."""
    before: tuple[str, ...] = ()
    """What an earlier port's headers for AMD builds supply (porter.dual.headers.earlier)."""

    def add(self, record: FileRecord, line: str | None = None) -> None:
        """Takes what became of one entry."""
        self.records[record.path] = record
        if line is not None:
            self.lines[record.path] = line

    def manifest_lines(self, records: Mapping[str, FileRecord]) -> list[str]:
        """Records as lines, in order."""
        return [self.lines.get(path) or to_line(records[path]) for path in sorted(records)]

    @property
    def files(self) -> dict[str, Entry]:
        """The regular files of the project."""
        kinds = (Kind.CODE, Kind.BUILD, Kind.OTHER)
        return {entry.path: entry for entry in self.plan.project.entries if entry.kind in kinds}

    @property
    def code(self) -> tuple[str, ...]:
        """Paths of the files that the rules look at."""
        return tuple(entry.path for entry in self.plan.project.entries if entry.kind is Kind.CODE)
