"""Whose code each file of a project is: by the settings, by itself, by the build, by its includes, by the tree."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from porter.buildfiles.listed import listed_for_amd
from porter.cpp.include_graph import IncludeGraph, include_graph, is_source, reached_from
from porter.cpp.prescan import Scan
from porter.dual.headers import SHIMS
from porter.engine.dialect import (
    CUDA_EVIDENCE,
    CUDA_NAMES,
    GUARDED,
    HIP_EVIDENCE,
    NVIDIAS,
    UNSEEN,
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


@dataclass(frozen=True)
class Judged:
    """Whose code each file is, and how that was found."""

    told: Mapping[str, Dialect | None]
    """By the settings, the text, or what is included."""
    found: Mapping[str, Dialect | None]
    """By these, the name, and who includes it."""
    named: Dialect
    """What a name like CUDA's means here."""
    rest: Dialect
    """Files of which nothing tells."""

    @property
    def dialects(self) -> dict[str, str]:
        """`both`: undecided, or for both, and ported as CUDA's."""
        return {path: (one or self.rest).value for path, one in self.found.items()}


def file_dialects(
    choices: Choices, root: Path, told: Told, scans: Mapping[str, Scan], graph: IncludeGraph
) -> dict[str, str]:
    """Whose code each file is; `both`: undecided, or for both, and ported as CUDA's."""
    return judged(choices, root, told, scans, graph).dialects


def judged(choices: Choices, root: Path, told: Told, scans: Mapping[str, Scan], graph: IncludeGraph) -> Judged:
    """Whose code each file is."""
    given = given_dialect(choices, root)
    sure = {path: own for path, scan in scans.items() if (own := sure_dialect(path, scan, told))}
    by_text = {path: given(path) or sure.get(path) or reached_dialect(path, scans, sure, graph) for path in scans}
    cudas = sum(1 for one in by_text.values() if one is Dialect.CUDA)
    named = Counter(one for path, one in by_text.items() if is_named_for_cuda(path))
    meaning = meaning_of_names(cudas, named)
    alone = {path: one or (meaning if is_named_for_cuda(path) else None) for path, one in by_text.items()}
    alone |= {
        path: Dialect.NVIDIA
        for path in _perhaps_unseen(scans, graph)
        if may_be_unseen(alone[path], given(path)) and is_unseen(path, scans, graph.users)
    }
    found = by_users(alone, graph)
    calls_cuda = any(CUDA_NAMES in scans[path].vendor for path, one in found.items() if one is None)
    rest = Dialect.BOTH if calls_cuda else meaning_of_rest(Counter(found.values()))
    return Judged(by_text, found, meaning, rest)


def meaning_of_names(cudas: int, named: Mapping[Dialect | None, int]) -> Dialect:
    """Whether `.cu` is what a project of AMD's calls its sources: most of them tell that they are HIP, none CUDA."""
    is_hip = not cudas and named.get(Dialect.HIP, 0) * 2 > sum(named.values())
    return Dialect.HIP if is_hip else Dialect.CUDA


def meaning_of_rest(found: Mapping[Dialect | None, int]) -> Dialect:
    """HIP in a tree where all that tells is HIP."""
    kinds = {one for one, count in found.items() if one and count} - {Dialect.NVIDIA}
    return Dialect.HIP if kinds == {Dialect.HIP} else Dialect.BOTH


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


def given_dialect(choices: Choices, root: Path) -> Callable[[str], Dialect | None]:
    """What the settings say; the last glob that fits decides."""
    folder = settings_folder(choices, root)
    rows = [(matcher((glob,), root, folder), Dialect(name)) for glob, name in reversed(choices.dialect)]
    return lambda path: next((dialect for fits, dialect in rows if fits(path)), None)


def sure_dialect(path: str, scan: Scan, told: Told) -> Dialect | None:
    """What a file says of itself, or the build of it; what we ported means what it meant before."""
    if told.ported and told.meant.get(path) == Dialect.NVIDIA.value:
        return Dialect.NVIDIA
    if told.ported:
        return Dialect.BOTH if told.meant.get(path) in (Dialect.CUDA.value, Dialect.BOTH.value) else Dialect.HIP
    if path in told.listed:
        return Dialect.HIP
    kinds = {HIP_EVIDENCE, CUDA_EVIDENCE} & set(scan.vendor)
    if not kinds and is_named_for_cuda(path):
        return None  # its name alone: what it includes may know better
    own = own_dialect(path, scan.vendor)
    return None if own is Dialect.BOTH else own


def reached_dialect(
    path: str, scans: Mapping[str, Scan], sure: Mapping[str, Dialect], graph: IncludeGraph
) -> Dialect | None:
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


def is_unseen(path: str, scans: Mapping[str, Scan], users: Mapping[str, Iterable[str]]) -> bool:
    """Whether every way to a header, from the files that are compiled, leads through a branch that no port compiles."""
    seen, waiting, is_guarded = {path}, [path], False
    while waiting:
        current = waiting.pop()
        above = users.get(current, ())
        if not above or is_source(current):
            return False
        for user in above:
            if user in seen:
                continue
            if _hides(scans[user], current):
                is_guarded = True
            else:
                seen.add(user)
                waiting.append(user)
    return is_guarded


def may_be_unseen(told: Dialect | None, given: Dialect | None) -> bool:
    """Whether it is asked at all: what the settings say counts first, and what is HIP's is compiled by somebody."""
    return given is None and told is not Dialect.HIP


def _hides(scan: Scan, target: str) -> bool:
    """Whether a file includes another only where no port compiles it."""
    if not _hides_some(scan):
        return False
    meant = [name for name in scan.includes if f"/{target}".endswith("/" + name.lstrip("./"))]
    return bool(meant) and all(UNSEEN + name in scan.vendor for name in meant)


def _hides_some(scan: Scan) -> bool:
    return any(one.startswith(UNSEEN) for one in scan.vendor)


def _perhaps_unseen(scans: Mapping[str, Scan], graph: IncludeGraph) -> set[str]:
    """The files below those that some file hides."""
    hiding = [path for path, scan in scans.items() if _hides_some(scan)]
    hidden = (target for path in hiding for target in graph.edges.get(path, ()) if _hides(scans[path], target))
    return reached_from(graph.edges, hidden) & scans.keys()


def by_users(found: Mapping[str, Dialect | None], graph: IncludeGraph) -> dict[str, Dialect | None]:
    """A header that tells nothing is whose the files are that include it."""
    users: defaultdict[str, list[str]] = defaultdict(list)
    for path, targets in graph.edges.items():
        for target in targets:
            users[target].append(path)
    return settled(found, users, graph.edges)


def settled(
    found: Mapping[str, Dialect | None],
    users: Mapping[str, Iterable[str]],
    edges: Mapping[str, Iterable[str]],
    others: Mapping[str, Dialect | None] = MappingProxyType({}),
) -> dict[str, Dialect | None]:
    """Each file that tells nothing takes what its users agree on, as soon as all of them know; `others` stay."""
    result = dict(found)
    waiting = deque(path for path in found if found[path] is None)
    while waiting:
        path = waiting.popleft()
        kinds = {result.get(user, others.get(user)) for user in users.get(path, ())} if result[path] is None else set()
        kinds.discard(Dialect.NVIDIA)
        if len(kinds) == 1 and not kinds & {None, Dialect.BOTH}:
            result[path] = kinds.pop()
            waiting.extend(one for one in edges.get(path, ()) if one in result and result[one] is None)
    return result


def _listed_for_hip(project: Project) -> frozenset[str]:
    """Sources that the build files give to AMD's compiler alone."""
    known = frozenset(entry.path for entry in project.entries if entry.kind is Kind.CODE)
    return listed_for_amd(_build_files(project), known)


def _build_files(project: Project) -> Iterator[tuple[str, bytes]]:
    for entry in project.entries:
        if entry.kind is Kind.BUILD and entry.size <= _LARGEST_BUILD_FILE and is_build_list(entry.path):
            try:
                yield entry.path, read_regular(project.root / entry.path, _LARGEST_BUILD_FILE)
            except OSError:
                continue


def is_build_list(path: str) -> bool:
    """Whether a build file may list sources for one vendor alone."""
    return path.endswith(("CMakeLists.txt", ".cmake")) or path.rpartition("/")[2] == "setup.py"
