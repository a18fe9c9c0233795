"""Whose code each file of a project is: by the settings, by itself, by the build, by its includes, by the tree."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from porter.buildfiles.listed import listed_for_amd
from porter.cpp.include_graph import IncludeGraph, include_graph
from porter.cpp.prescan import Scan
from porter.dual.headers import SHIMS
from porter.engine.dialect import (
    CUDA_EVIDENCE,
    GUARDED,
    HIP_EVIDENCE,
    NVIDIAS,
    Dialect,
    is_named_for_cuda,
    own_dialect,
)
from porter.errors import Unusable
from porter.names.table import is_cuda_header
from porter.project.discovery import Kind, Project, discover, matcher, settings_folder
from porter.project.manifest import is_ours, read_manifest
from porter.project.neighbours import looked_at
from porter.settings import Choices
from porter.system.reading import read_regular

_BRANCHES = (GUARDED, NVIDIAS)
_LARGEST_BUILD_FILE = 1 << 20


@dataclass(frozen=True)
class Told:
    """What the tree around the sources says: we ported it, or its build compiles some as HIP."""

    ported: bool = False
    meant: Mapping[str, str] = field(default_factory=dict)
    """Of a tree that we ported: whose code each file was before."""
    listed: frozenset[str] = frozenset()


def told_by(project: Project) -> Told:
    """Reads the build files of a project."""
    if project.single:
        return Told()
    ported = is_ours(project.root) and not (project.root / SHIMS).is_dir()  # there, sources keep CUDA's meaning
    return Told(ported, _meant(project.root), _listed_for_hip(project))


def _meant(root: Path) -> dict[str, str]:
    try:
        manifest = read_manifest(root)
    except Unusable:
        return {}
    return {record.output: record.dialect for record in manifest.files.values()} if manifest is not None else {}


def file_dialects(
    choices: Choices, root: Path, told: Told, scans: Mapping[str, Scan], graph: IncludeGraph
) -> dict[str, str]:
    """Whose code each file is; `both`: undecided, or for both, and ported as CUDA's."""
    given = _given(choices, root)
    sure = {path: own for path, scan in scans.items() if (own := _sure(path, scan, told))}
    told_by_text = {path: given(path) or sure.get(path) or _reached(path, scans, sure, graph) for path in scans}
    named = Dialect.HIP if _is_hip_by_most(told_by_text) else Dialect.CUDA
    alone = {path: one or (named if is_named_for_cuda(path) else None) for path, one in told_by_text.items()}
    found = _by_users(alone, graph)
    rest = Dialect.HIP if {one for one in found.values() if one is not None} == {Dialect.HIP} else Dialect.BOTH
    return {path: (one or rest).value for path, one in found.items()}


def dialect_of(root: Path, path: Path, choices: Choices) -> Dialect:
    """Whose code one file of a project is."""
    project = discover(root, choices)
    scans = {
        entry.path: looked_at(entry.path, (root / entry.path).read_bytes(), lambda name: False)
        for entry in project.entries
        if entry.kind is Kind.CODE
    }
    name = path.resolve().relative_to(root.resolve()).as_posix()
    if name not in scans:
        scans[name] = looked_at(name, path.read_bytes(), lambda name: False)
    graph = include_graph(scans, is_cuda_header)
    return Dialect(file_dialects(choices, root, told_by(project), scans, graph)[name])


def _given(choices: Choices, root: Path) -> Callable[[str], Dialect | None]:
    """What the settings say; the last glob that fits decides."""
    folder = settings_folder(choices, root)
    rows = [(matcher((glob,), root, folder), Dialect(name)) for glob, name in reversed(choices.dialect)]
    return lambda path: next((dialect for fits, dialect in rows if fits(path)), None)


def _sure(path: str, scan: Scan, told: Told) -> Dialect | None:
    """What a file says of itself, or the build of it; what we ported means what it meant before."""
    if told.ported:
        return Dialect.BOTH if told.meant.get(path) in (Dialect.CUDA.value, Dialect.BOTH.value) else Dialect.HIP
    if path in told.listed:
        return Dialect.HIP
    kinds = {HIP_EVIDENCE, CUDA_EVIDENCE} & set(scan.vendor)
    if not kinds and is_named_for_cuda(path):
        return None  # its name alone: what it includes may know better
    own = own_dialect(path, scan.vendor)
    return None if own is Dialect.BOTH else own


def _is_hip_by_most(found: Mapping[str, Dialect | None]) -> bool:
    """Whether `.cu` is what a project of AMD's calls its sources: most of them tell that they are HIP, none CUDA."""
    kinds = [one for path, one in found.items() if is_named_for_cuda(path)]
    return Dialect.CUDA not in found.values() and kinds.count(Dialect.HIP) * 2 > len(kinds)


def _reached(path: str, scans: Mapping[str, Scan], sure: Mapping[str, Dialect], graph: IncludeGraph) -> Dialect | None:
    """HIP where both vendors' compilers come to a header that is HIP's, and to none that is CUDA's."""
    seen, waiting = {path}, [path]
    kinds: set[Dialect] = set()
    while waiting:
        current = waiting.pop()
        guarded = tuple(
            name for one in scans[current].vendor for begin in _BRANCHES if (name := one.removeprefix(begin)) != one
        )
        for target in graph.edges.get(current, ()):
            if target in seen or any(target.endswith(name.removeprefix("./").lstrip("/.")) for name in guarded):
                continue
            seen.add(target)
            waiting.append(target)
            kinds |= {sure[target]} if target in sure else set()
    return Dialect.HIP if kinds == {Dialect.HIP} else None


def _by_users(found: Mapping[str, Dialect | None], graph: IncludeGraph) -> dict[str, Dialect | None]:
    """A header that tells nothing is whose the files are that include it."""
    users: defaultdict[str, list[str]] = defaultdict(list)
    for path, targets in graph.edges.items():
        for target in targets:
            users[target].append(path)
    result = dict(found)
    waiting = [path for path in found if found[path] is None and users[path]]
    for _ in range(8):
        left: list[str] = []
        for path in waiting:
            kinds = {result.get(user) for user in users[path]}
            if len(kinds) == 1 and not kinds & {None, Dialect.BOTH}:
                result[path] = kinds.pop()
            else:
                left.append(path)
        if len(left) == len(waiting):
            break
        waiting = left
    return result


def _listed_for_hip(project: Project) -> frozenset[str]:
    """Sources that the build files give to AMD's compiler alone."""
    known = frozenset(entry.path for entry in project.entries if entry.kind is Kind.CODE)
    return listed_for_amd(_build_files(project), known)


def _build_files(project: Project) -> Iterator[tuple[str, bytes]]:
    for entry in project.entries:
        if entry.kind is Kind.BUILD and entry.size <= _LARGEST_BUILD_FILE and _is_list(entry.path):
            try:
                yield entry.path, read_regular(project.root / entry.path, _LARGEST_BUILD_FILE)
            except OSError:
                continue


def _is_list(path: str) -> bool:
    return path.endswith(("CMakeLists.txt", ".cmake")) or path.rpartition("/")[2] == "setup.py"
