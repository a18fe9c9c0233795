"""One side of a comparison, the work tree or the base: its files, who includes whom, and its findings by content."""

from __future__ import annotations

import json
import posixpath
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from porter.check.context import Place, Text
from porter.check.fixes import Replacement, replacements
from porter.check.store import Store
from porter.cpp.include_graph import IncludeGraph, include_graph
from porter.cpp.prescan import Scan
from porter.engine.context import run_key
from porter.names.table import is_cuda_header
from porter.project.compilation import NO_FLAGS, Flags, database_flags, flags_of
from porter.project.dialects import Told, file_dialects, told_by
from porter.project.discovery import Entry, Kind, Project, is_code
from porter.project.manifest import settings_json
from porter.project.naming import Names, choose_names
from porter.project.pool import Job, Outcome, Pool
from porter.project.port_tree import Progress
from porter.project.records import FileRecord, Status, from_line
from porter.project.reuse import declared_names, file_keys
from porter.project.task import Sink, Task
from porter.project.writing import sha256
from porter.settings import Choices
from porter.system.reading import read_regular

_SOURCES = frozenset((".cu", ".hip", ".c", ".cc", ".cpp", ".cxx"))
_FILES_PER_WORKER = 4


class Known(NamedTuple):
    """The quick look at a file."""

    sha256: str
    scan: Scan


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
    """The code of one side."""

    root: Path
    project: Project
    names: Names
    key: str
    known: Mapping[str, Known]
    graph: IncludeGraph
    declared: Mapping[str, tuple[str, ...]]
    dialects: Mapping[str, str]
    """Whose code each file is, as far as the project tells."""
    keys: Mapping[str, str]
    flags: Mapping[str, Flags]
    """Of the sources, as a compilation database tells them."""
    told: Told

    def island(self, paths: Iterable[str]) -> frozenset[str]:
        """All files that are connected with some by includes."""
        wanted = frozenset(paths)
        return frozenset(path for island in self.graph.islands if wanted & set(island) for path in island)


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
    code = {path: one for path, one in known.items() if is_code(path)}
    scans = {path: one.scan for path, one in code.items()}
    dual = machine.choices.engine.style == "dual"
    names = Names({}, {}, frozenset()) if dual else choose_names(project)
    like = head if head is not None and _is_alike(scans, head) else None  # a change in code alone, as most are
    graph = like.graph if like is not None else include_graph(scans, is_cuda_header)
    declared = like.declared if like is not None else declared_names(graph, scans)
    flags = head.flags if head is not None else database_flags(root, (entry.path for entry in project.entries))
    told = head.told if head is not None else told_by(project)
    settings = settings_json(machine.choices)
    key = run_key(settings, _headers(scans), _renamed_includes(scans, names), flags)
    if like is not None and not machine.choices.dialect:
        dialects = like.dialects
    else:
        dialects = file_dialects(machine.choices, root, told, scans, graph)
    keys = file_keys(key, {path: one.sha256 for path, one in code.items()}, graph, declared, dialects)
    for path in known.keys() - code.keys():
        what = json.dumps([machine.key, path, known[path].sha256, sorted(names.renamed.items())])
        keys[path] = sha256(what.encode())
    return Side(root, project, names, key, known, graph, declared, dialects, keys, flags, told)


def _is_alike(scans: Mapping[str, Scan], head: Side) -> bool:
    """Whether the same files include and declare the same."""
    others = sum(1 for path in head.known if is_code(path))
    return others == len(scans) and all(
        (other := head.known.get(path)) is not None and other.scan == scan for path, scan in scans.items()
    )


def build_files(root: Path, project: Project, paths: frozenset[str] | None = None) -> dict[str, Known]:
    """The build files of a project, or those of them that are asked for."""
    wanted = [e.path for e in project.entries if e.kind is Kind.BUILD and (paths is None or e.path in paths)]
    return {path: Known(digest, Scan()) for path in wanted if (digest := _digest(root / path)) is not None}


def _headers(paths: Iterable[str]) -> list[str]:
    """Files that an `#include` of CUDA's could mean; sources do not count, so adding one changes nothing elsewhere."""
    return [path for path in paths if posixpath.splitext(path)[1].lower() not in _SOURCES]


def _renamed_includes(scans: Mapping[str, Scan], names: Names) -> dict[str, str]:
    """The new names that some `#include` has to follow."""
    included = {posixpath.basename(name) for scan in scans.values() for name in scan.includes}
    return {old: new for old, new in names.renamed.items() if posixpath.basename(old) in included}


def look_quickly(root: Path, project: Project, paths: Iterable[str], machine: Machine) -> dict[str, Known]:
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
        with _pool(root, project, machine, len(missing), {}) as pool:
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


def _pool(root: Path, project: Project, machine: Machine, files: int, renamed: Mapping[str, str]) -> Pool:
    code = tuple(entry.path for entry in project.entries if entry.kind is Kind.CODE)
    job = Job(root, machine.choices, code, dict(renamed), Sink(None, returns_data=True))
    return Pool(job, max(1, min(machine.jobs, files // _FILES_PER_WORKER)), files)


def stored_looks(side: Side, paths: Iterable[str], machine: Machine) -> dict[str, Looked]:
    """What earlier checks found in files that are as they were then, and so is all they depend on."""
    paths = list(paths)
    stored = machine.store.get(f"file:{key}" for path in paths if (key := side.keys.get(path)))
    found: dict[str, Looked] = {}
    for path in paths:
        text = stored.get(f"file:{side.keys.get(path)}")
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
    entries = {entry.path: entry for entry in side.project.entries}
    wanted = [entries[path] for path in sorted(paths) if path in entries]
    if not wanted:
        return
    with _pool(side.root, side.project, machine, len(wanted), side.names.renamed) as pool:
        machine.rules |= pool.rules
        flags = flags_of(side.flags, side.graph)
        tasks = [
            (_task(side, number, entry, machine.choices, flags.get(entry.path, NO_FLAGS)), entry.size)
            for number, entry in enumerate(wanted)
        ]
        pool.port(tasks, _collector(side, found, machine, len(tasks), progress))
    machine.parsed += [entry.path for entry in wanted if entry.kind is Kind.CODE]


def _task(side: Side, number: int, entry: Entry, choices: Choices, flags: Flags) -> Task:
    path = entry.path
    known = side.known.get(path)
    folders = (*choices.include_dirs, *flags.include_dirs, *side.graph.search_folders(path))
    return Task(
        number,
        path,
        side.names.output(path),
        entry.kind is Kind.CODE,
        entry.mode,
        side.keys.get(path, ""),
        known.scan if known is not None else Scan(),
        side.declared.get(path, ()),
        None,
        folders if entry.kind is Kind.CODE else (),
        (*choices.defines, *flags.defines),
        apart=path in side.names.apart,
        is_build=entry.kind is Kind.BUILD,
        dialect=side.dialects.get(path),
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
        elif record.path in side.keys and record.status is not Status.FAILED:
            machine.store.put({f"file:{side.keys[record.path]}": json.dumps([outcome.line, details])})
        if progress is not None:
            progress(len(found), total)

    return deliver


def _details(root: Path, record: FileRecord, ported: bytes | None) -> dict[int, Detail]:
    leaving = {number: entry for number, entry in enumerate(record.entries) if entry.effort != "none"}
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
