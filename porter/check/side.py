"""One side of a comparison, the work tree or the base: its files, who includes whom, and its findings by content."""

from __future__ import annotations

import json
import posixpath
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from porter.buildfiles.mentions import kind_of_build, mention
from porter.check.context import Place, Text
from porter.check.fixes import Replacement, replacements
from porter.check.store import Store
from porter.cpp.clang.reached_headers import DEEPEST_CHAIN
from porter.cpp.include_graph import (
    IncludeGraph,
    first_source,
    include_graph,
    may_be_parsed_through,
    reached_beyond,
    reached_from,
)
from porter.cpp.prescan import Scan
from porter.engine.context import run_key, shadowing
from porter.engine.notices import IDLE_ALLOW
from porter.names.table import is_cuda_header
from porter.project.compilation import NO_FLAGS, Database, Flags, read_database
from porter.project.dialects import Told, file_dialects, told_by
from porter.project.discovery import Entry, Kind, Project, is_code
from porter.project.manifest import settings_json
from porter.project.naming import Names, choose_names
from porter.project.pool import Job, Outcome, Pool
from porter.project.port_tree import Progress
from porter.project.records import BuildUse, FileRecord, Status, from_line
from porter.project.reuse import Shown, shown_names
from porter.project.task import Sink, Task
from porter.project.writing import sha256
from porter.settings import Choices
from porter.system.reading import read_regular

_FILES_PER_WORKER = 4
LARGEST_BUILD_FILE = 4 << 20


class Known(NamedTuple):
    """The quick look at a file."""

    sha256: str
    scan: Scan
    use: BuildUse | None = None
    """Where a build file mentions CUDA."""


@dataclass
class Machine:
    """What both sides share: settings, what is known already, and processes."""

    choices: Choices
    store: Store
    jobs: int
    rules: dict[str, str] = field(default_factory=dict)
    crashes: list[str] = field(default_factory=list)
    parsed: list[str] = field(default_factory=list)
    """Paths of the files that were really looked at."""
    reused: int = 0

    @property
    def key(self) -> str:
        """Digest of porter and of the settings."""
        return run_key(settings_json(self.choices), (), {})


@dataclass(frozen=True)
class Side:
    """The code of one side; what is asked of its files may be read or computed when it is asked."""

    root: Path
    entries: Mapping[str, Entry]
    names: Names
    key: str
    known: Mapping[str, Known]
    graph: IncludeGraph
    users: Mapping[str, Sequence[str]]
    """Who includes a file."""
    shown: Mapping[str, Shown]
    """The names that its translation units show with a file."""
    dialects: Mapping[str, str]
    """Whose code each file is, as far as the project tells."""
    shadowing: tuple[str, ...]
    """Headers that an `#include` of CUDA's could mean."""
    flags: Mapping[str, Flags]
    """Of the sources, as a compilation database tells them."""
    told: Told
    machine: Machine
    mentions: Mapping[str, BuildUse]
    """Where build files mention CUDA."""
    files: int
    """How many there are to look at."""
    notes: tuple[str, ...] = ()
    _keys: dict[str, str] = field(default_factory=dict)
    _besides: dict[str, list[tuple[str, str]]] = field(default_factory=dict)

    def dependents(self, changed: Iterable[str]) -> frozenset[str]:
        """The files that include one of these, directly or not."""
        return frozenset(reached_beyond(self.users, changed))

    def seen_with(self, paths: Iterable[str]) -> frozenset[str]:
        """Files, those that they may be parsed through, and all that these include."""
        found = set(paths)
        level = found
        for _ in range(DEEPEST_CHAIN):
            level = {
                user for path in level for user in self.users.get(path, ()) if may_be_parsed_through(user, path)
            } - found
            found |= level
        return frozenset(reached_from(self.graph.edges, found))

    def key_of(self, path: str) -> str:
        """A digest of all that the findings of a file depend on; empty for one that could not be read."""
        if path not in self._keys:
            one = self.known.get(path)
            self._keys[path] = "" if one is None else sha256(json.dumps(self._about(path, one)).encode())
        return self._keys[path]

    def _about(self, path: str, one: Known) -> list[object]:
        if not is_code(path):
            renamed = sorted(self.names.renamed.items()) if one.use is not None else []
            return [self.machine.key, path, one.sha256, renamed]
        around = [(other, self.known[other].sha256) for other in sorted(self.seen_with((path,)))]
        around += self._beside(self.unit_of(path))
        shown, dialect = self.shown.get(path, Shown()), self.dialects.get(path)
        return [self.key, path, shown, dialect, self.flags_of(path), around]

    def unit_of(self, path: str) -> str:
        """The source that a header is seen from: only who includes it is looked at, not the whole project."""
        return first_source(self.dependents((path,)))

    def _beside(self, unit: str) -> list[tuple[str, str]]:
        """What a source includes, as one digest: its headers may leave something to each other."""
        if unit and unit not in self._besides:
            headers = sorted(reached_beyond(self.graph.edges, (unit,)))
            digest = sha256(json.dumps([(path, self.known[path].sha256) for path in headers]).encode())
            self._besides[unit] = [(unit, digest)]
        return self._besides.get(unit, [])

    def flags_of(self, path: str) -> Flags:
        """What a compiler is told for a file, for a header that of the first source that includes it."""
        if not self.flags or path in self.flags:
            return self.flags.get(path, NO_FLAGS)
        first = min((user for user in self.dependents((path,)) if user in self.flags), default="")
        return self.flags.get(first, NO_FLAGS)


class Detail(NamedTuple):
    """What is kept of a finding that leaves work: its surroundings, its place, and what the port would replace."""

    context: str
    place: Place
    fix: tuple[Replacement, ...] = ()


class Looked(NamedTuple):
    """What the rules say about one file; details by the number of the finding in the record."""

    record: FileRecord
    details: Mapping[int, Detail]


def side_of(
    root: Path,
    project: Project,
    known: Mapping[str, Known],
    machine: Machine,
    head: Side | None = None,
) -> Side:
    """Puts together who includes whom and what each file's findings depend on; the base has its build from the head."""
    scans = {path: one.scan for path, one in known.items() if is_code(path)}
    names = names_of(project, machine.choices)
    like = head if head is not None and _is_alike(scans, head) else None  # a change in code alone, as most are
    graph = like.graph if like is not None else include_graph(scans, is_cuda_header)
    home = head.root if head is not None else root  # for the settings, the base's files are where the head's are
    paths = (entry.path for entry in project.entries)
    flags, notes = Database(dict(head.flags)) if head is not None else read_database(root, paths)
    told = head.told if head is not None else told_by(project)
    if like is not None and not machine.choices.dialect:
        dialects = like.dialects
    else:
        dialects = file_dialects(machine.choices, home, told, scans, graph)
    shadows = like.shadowing if like is not None else tuple(sorted(shadowing(machine.choices, scans)))
    return Side(
        root,
        {entry.path: entry for entry in project.entries},
        names,
        side_key(machine, shadows, renamed_includes(scans, names), flags),
        known,
        graph,
        graph.users,
        like.shown if like is not None else shown_names(graph, scans),
        dialects,
        shadows,
        flags,
        told,
        machine,
        {path: one.use for path, one in known.items() if one.use is not None},
        len(known),
        (*project.notes, *notes),
    )


def names_of(project: Project, choices: Choices) -> Names:
    """What the port calls the files of a project."""
    return Names({}, {}, frozenset()) if choices.engine.style == "dual" else choose_names(project)


def side_key(machine: Machine, shadowing: Iterable[str], renamed: Mapping[str, str], flags: Mapping[str, Flags]) -> str:
    """Digest of what the findings of every file depend on."""
    return run_key(settings_json(machine.choices), shadowing, renamed, flags)


def _is_alike(scans: Mapping[str, Scan], head: Side) -> bool:
    """Whether the same files include and declare the same."""
    others = sum(1 for path in head.known if is_code(path))
    return others == len(scans) and all(
        (other := head.known.get(path)) is not None and other.scan == scan for path, scan in scans.items()
    )


def build_files(root: Path, project: Project, paths: frozenset[str] | None = None) -> dict[str, Known]:
    """The build files of a project, or those of them that are asked for."""
    wanted = [e.path for e in project.entries if e.kind is Kind.BUILD and (paths is None or e.path in paths)]
    return {path: one for path in wanted if (one := build_file_at(root, path)) is not None}


def build_file_at(root: Path, path: str) -> Known | None:
    """The quick look at one; None where it cannot be read."""
    try:
        return known_build_file(path, read_regular(root / path))
    except OSError:
        return None


def known_build_file(path: str, data: bytes) -> Known:
    """The quick look at a build file."""
    kind = kind_of_build(path)
    fits = kind is not None and len(data) <= LARGEST_BUILD_FILE
    return Known(sha256(data), Scan(), mention(kind, data) if kind is not None and fits else None)


def renamed_includes(scans: Mapping[str, Scan], names: Names) -> dict[str, str]:
    """The new names that some `#include` has to follow."""
    included = {posixpath.basename(name) for scan in scans.values() for name in scan.includes}
    return {old: new for old, new in names.renamed.items() if posixpath.basename(old) in included}


def look_quickly(root: Path, paths: Iterable[str], machine: Machine) -> dict[str, Known]:
    """Digest, includes and declared names of files; those whose content was seen before are not read twice."""
    digests = {path: digest for path in paths if (digest := _digest(root / path)) is not None}
    key = machine.key
    stored = machine.store.get(f"scan:{key}:{digest}" for digest in digests.values())
    known: dict[str, Known] = {}
    missing: list[str] = []
    for path, digest in digests.items():
        text = stored.get(f"scan:{key}:{digest}")
        if text is None:
            missing.append(path)
        else:
            known[path] = Known(digest, Scan(*map(tuple, json.loads(text))))
    if missing:
        with _pool(root, (), machine, len(missing), {}) as pool:
            machine.rules |= pool.rules
            for found in pool.scan([(path, 1 << 12) for path in missing]):
                if found.sha256 is not None:
                    known[found.path] = Known(found.sha256, found.scan)
                    machine.store.put({f"scan:{key}:{found.sha256}": json.dumps(found.scan)})
    return known


def _digest(path: Path) -> str | None:
    try:
        return sha256(read_regular(path))
    except OSError:
        return None


def _pool(root: Path, shadowing: tuple[str, ...], machine: Machine, files: int, renamed: Mapping[str, str]) -> Pool:
    job = Job(root, machine.choices, shadowing, dict(renamed), Sink(None, returns_data=True))
    return Pool(job, max(1, min(machine.jobs, files // _FILES_PER_WORKER)), files)


def stored_looks(side: Side, paths: Iterable[str], machine: Machine) -> dict[str, Looked]:
    """What earlier checks found in files that are as they were then, and so is all they depend on."""
    paths = list(paths)
    stored = machine.store.get(f"file:{key}" for path in paths if (key := side.key_of(path)))
    found: dict[str, Looked] = {}
    for path in paths:
        text = stored.get(f"file:{side.key_of(path)}")
        if text is not None:
            line, details = json.loads(text)
            found[path] = Looked(from_line(line), {int(n): _detail(*detail) for n, detail in details.items()})
    machine.reused += len(found)
    return found


def _detail(context: str, place: list[int], fix: list[list[Any]]) -> Detail:
    return Detail(context, Place(*place), tuple(Replacement(*change) for change in fix))


def look(
    side: Side, paths: Iterable[str], machine: Machine, found: dict[str, Looked], progress: Progress | None = None
) -> None:
    """Asks the rules about files; `found` holds what is done even when time runs out."""
    wanted = [entry for path in sorted(paths) if (entry := side.entries.get(path)) is not None]
    if not wanted:
        return
    with _pool(side.root, side.shadowing, machine, len(wanted), side.names.renamed) as pool:
        machine.rules |= pool.rules
        tasks = [(_task(side, number, entry, machine.choices), entry.size) for number, entry in enumerate(wanted)]
        pool.port(tasks, _collector(side, found, machine, len(tasks), progress))
    machine.parsed += [entry.path for entry in wanted if entry.kind is Kind.CODE]


def _task(side: Side, number: int, entry: Entry, choices: Choices) -> Task:
    path, flags = entry.path, side.flags_of(entry.path)
    shown = side.shown.get(path, Shown())
    known = side.known.get(path)
    folders = (*choices.include_dirs, *flags.include_dirs, *side.graph.search_folders(path))
    return Task(
        number,
        path,
        side.names.output(path),
        entry.kind is Kind.CODE,
        entry.mode,
        side.key_of(path),
        known.scan if known is not None else Scan(),
        shown.declared,
        None,
        folders if entry.kind is Kind.CODE else (),
        (*choices.defines, *flags.defines),
        apart=path in side.names.apart,
        is_build=entry.kind is Kind.BUILD,
        dialect=side.dialects.get(path),
        for_amd=shown.for_amd,
        unit=(unit := side.unit_of(path)),
        unit_dirs=(*choices.include_dirs, *side.graph.search_folders(unit)) if unit else (),
    )


def _collector(
    side: Side, found: dict[str, Looked], machine: Machine, total: int, progress: Progress | None
) -> Callable[[Outcome], None]:
    def deliver(outcome: Outcome) -> None:
        record = from_line(outcome.line)
        details = _details(side.root, record, outcome.data)
        found[record.path] = Looked(record, details)
        if outcome.crash is not None:
            machine.crashes.append(f"{record.path}\n{outcome.crash}")
        elif record.status is not Status.FAILED and (key := side.key_of(record.path)):
            machine.store.put({f"file:{key}": json.dumps([outcome.line, details])})
        if progress is not None:
            progress(len(found), total)

    return deliver


def _details(root: Path, record: FileRecord, ported: bytes | None) -> dict[int, Detail]:
    leaving = {
        number: entry
        for number, entry in enumerate(record.entries)
        if entry.effort != "none" or entry.code == IDLE_ALLOW.code
    }
    if not leaving:
        return {}
    try:
        data = read_regular(root / record.path)
    except OSError:
        data = b""
    text = Text(data, is_code=is_code(record.path))
    fixes = replacements(data, ported, leaving) if ported is not None else {}
    return {
        number: Detail(text.context(entry), text.place(entry), fixes.get(number, ()))
        for number, entry in leaving.items()
    }
