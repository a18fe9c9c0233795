"""`porter check`: looks at what changed and at all that depends on it, and says what is new."""

from __future__ import annotations

import posixpath
import re
import shutil
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from porter import __version__
from porter.buildfiles.mentions import REPORTED, kind_of_build
from porter.check.affected import seeing
from porter.check.baseline import NAME, read_baseline, write_baseline
from porter.check.context import Place
from porter.check.fail_on import FailOn
from porter.check.history import Base, Blob, base_named, blobs_of, contents
from porter.check.judge import Seen, Spotted, Verdict, judge, updated
from porter.check.kernels import changed_kernels
from porter.check.limit import Expired
from porter.check.matching import Mark
from porter.check.proofs import Touched
from porter.check.quick import both_quickly, keep_tree
from porter.check.result import Changed, CheckResult
from porter.check.side import (
    Detail,
    Known,
    Looked,
    Machine,
    Side,
    build_files,
    look,
    look_quickly,
    side_of,
    stored_looks,
)
from porter.check.store import Store
from porter.cpp.lex import lex
from porter.cpp.prescan import include_names
from porter.engine.knowledge import rule_infos
from porter.engine.notices import BUILD_SETTINGS, UNREADABLE
from porter.errors import Unusable
from porter.project.discovery import Entry, Kind, Project, discover, handlings, is_code
from porter.project.links import keep_link
from porter.project.port_tree import Progress
from porter.project.records import Entry as Found
from porter.project.records import FileRecord, Status, notice_entry
from porter.project.support_files import without_own_files
from porter.project.task import Sink
from porter.report.document import Header, build_report
from porter.settings import Choices, Handling
from porter.system.git import work_tree_root
from porter.system.reading import read_regular

_NOTHING = "there is no file here that porter looks at, so nothing was checked"
_WORD = re.compile(r"[\w:.$/-]+")
"""Names of one word; anything longer could be laid out anew, and the context tells it apart as well."""


@dataclass(frozen=True)
class CheckRequest:
    """What the user asked for."""

    source: Path
    choices: Choices
    jobs: int
    fail_on: FailOn
    since: str | None = None
    baseline: Path | None = None
    update_baseline: bool = False


@dataclass(frozen=True)
class Checkout:
    """Where the paths of the result begin."""

    anchor: Path
    prefix: str

    def shown(self, path: str) -> str:
        """A path below the source as one below the anchor."""
        return self.prefix + path


class Shown:
    """Paths of the result that there are now."""

    def __init__(self, entries: Mapping[str, Entry], prefix: str) -> None:
        self._entries, self._prefix = entries, prefix

    def __contains__(self, path: object) -> bool:
        return isinstance(path, str) and path.startswith(self._prefix) and path[len(self._prefix) :] in self._entries


@dataclass(frozen=True)
class Scope:
    """The files to look at on both sides; without a base everything."""

    head: frozenset[str]
    base: frozenset[str]
    changed: tuple[str, ...] = ()
    dependents: tuple[str, ...] = ()


@dataclass(frozen=True)
class Answer:
    """The result, and tracebacks of bugs of ours."""

    result: CheckResult
    crashes: tuple[str, ...]
    touched: Touched


def checkout_of(source: Path) -> Checkout:
    """Paths are told from the root of the work tree, as code hosts want them; elsewhere from the source."""
    root = work_tree_root(source)
    if root is None:
        return Checkout(source, "")
    below = source.resolve().relative_to(root.resolve()).as_posix()
    return Checkout(root, "" if below == "." else f"{below}/")


def check(request: CheckRequest, store: Store, progress: Progress | None = None) -> Answer:
    """Compares with the base and the baseline; writes nothing but the baseline, and that only when asked."""
    source = request.source
    if not source.is_dir():
        raise Unusable(f"{source}: not a folder; check looks at a project")
    checkout = checkout_of(source)
    machine = Machine(request.choices, store, request.jobs)
    incomplete = None
    looked: dict[str, Looked] = {}
    with tempfile.TemporaryDirectory(prefix="porter-base-") as folder:
        sides = sides_of(request, machine, Path(folder))
        head, before, base = sides.head, sides.before, sides.base
        scope = _scope(sides)
        earlier: dict[str, Looked] = {}
        builds: dict[str, Looked] = {}
        old_builds: dict[str, Looked] = {}
        try:
            _look_at(head, scope.head, machine, looked, progress)
            _look_at(head, _settings(head), machine, builds, None)
            if before is not None:
                _look_at_base(before, _asked_before(scope, looked), head, machine, earlier, progress)
                _look_at_base(before, _settings(before), head, machine, old_builds, None)
        except Expired as late:
            incomplete = str(late)
        finally:
            store.save()
        kernels = changed_kernels(head, before, looked, earlier, scope.changed, checkout.prefix)
    seen = Seen(
        now=tuple(_spotted(checkout, looked.values(), [*_mentions(head, builds), *_other_records(head, base)])),
        before=tuple(_spotted(checkout, earlier.values(), _mentions(before, old_builds))) if before is not None else (),
        paths=Shown(head.entries, checkout.prefix),
        looked_at=frozenset(map(checkout.shown, scope.head | scope.base)) if base is not None else None,
        prefix=checkout.prefix,
        incomplete=incomplete,
    )
    path = _baseline(request, checkout)
    verdict = judge(seen, read_baseline(path), request.fail_on)
    if request.update_baseline:
        accepted = updated(seen, read_baseline(path), request.fail_on)
        write_baseline(path, accepted)
        verdict = judge(seen, accepted, request.fail_on)
    result = _result(request, checkout, machine, head, base, scope, kernels, verdict)
    return Answer(result, tuple(machine.crashes), _touched(request, head, base, scope, result))


@dataclass(frozen=True)
class Sides:
    """What is compared, and which files may come out otherwise for the rest of the project; None: any."""

    head: Side
    before: Side | None = None
    base: Base | None = None
    otherwise: frozenset[str] | None = None


def sides_of(request: CheckRequest, machine: Machine, folder: Path) -> Sides:
    """From what an earlier check kept of the tree and what changed since, else from all files."""
    source = request.source
    base = base_named(source, request.since) if request.since is not None else None
    quick = both_quickly(source, base, folder, machine) if base is not None else None
    if quick is not None:
        return Sides(quick.head, quick.before, base, quick.otherwise)
    project, _ = without_own_files(discover(source, request.choices))
    code = [entry.path for entry in project.entries if entry.kind is Kind.CODE]
    known = look_quickly(source, code, machine) | build_files(source, project)
    head = side_of(source, project, known, machine)
    if base is None:
        return Sides(head)
    blobs = blobs_of(source, base)
    before = _base_side(folder, base, blobs, head, request, machine)
    keep_tree(source, base, blobs, head, before)
    return Sides(head, before, base)


def _look_at(
    side: Side, paths: Collection[str], machine: Machine, looked: dict[str, Looked], progress: Progress | None
) -> None:
    looked.update(stored_looks(side, paths, machine))
    look(side, [path for path in paths if path not in looked], machine, looked, progress)


def _asked_before(scope: Scope, looked: Mapping[str, Looked]) -> frozenset[str]:
    """The files whose earlier findings matter: what changed, and what has findings now that could be older."""
    changed = frozenset(scope.changed)
    silent = frozenset(path for path, (_, details) in looked.items() if not details)
    return frozenset(path for path in scope.base if path in changed or path not in silent)


def _look_at_base(
    side: Side,
    paths: Collection[str],
    head: Side,
    machine: Machine,
    looked: dict[str, Looked],
    progress: Progress | None,
) -> None:
    """Files of the base are laid out in a private folder only where an earlier check does not know them."""
    looked.update(stored_looks(side, paths, machine))
    missing = [path for path in paths if path not in looked]
    if missing:
        _lay_out(side, missing, head)
        look(side, missing, machine, looked, progress)


def _lay_out(side: Side, missing: Iterable[str], head: Side) -> None:
    """Puts what these files may include beside them, as far as it is the same: code that takes no part as well."""
    waiting = sorted(side.seen_with(missing))
    folders = {folder for path in waiting for folder in side.graph.folders.get(path, ())}
    for path in waiting:  # grows
        _copy(path, head, side)
        others = _others_included(path, side, head, folders) if is_code(path) else ()
        waiting += [other for other in others if not (side.root / other).exists()]


def _others_included(path: str, side: Side, head: Side, folders: Collection[str]) -> Iterator[str]:
    """Code that takes no part, where a compiler would find what a file includes."""
    try:
        names = include_names(read_regular(side.root / path))
    except OSError:
        return
    for name in names:
        for base in (posixpath.dirname(path), "", *side.machine.choices.include_dirs, *folders):
            target = posixpath.normpath(posixpath.join(base, name))
            entry = head.entries.get(target)
            if entry is not None and entry.kind is Kind.OTHER and is_code(target):
                yield target


def _copy(path: str, head: Side, side: Side) -> None:
    """Puts a file of the work tree beside those of the base that differ from it."""
    target = side.root / path
    if not target.exists() and path in head.entries:
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(head.root / path, target)


def _base_side(
    folder: Path, base: Base, blobs: Mapping[str, Blob], head: Side, request: CheckRequest, machine: Machine
) -> Side:
    """The code of the base, with the settings of today; only files that changed are taken from git."""
    roles = handlings(request.choices, request.source, blobs)
    kept = {path: blob for path, blob in blobs.items() if blob.is_regular and roles[path] is not Handling.SKIP}
    part = (path for path in kept if roles[path] is Handling.PORT)
    code = frozenset(path for path in part if is_code(path) or kind_of_build(path) is not None)
    differing = sorted(path for path in code if path in base.changed or path not in head.known)
    for path, data in zip(differing, contents(request.source, [blobs[p] for p in differing]), strict=True):
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    entries = tuple(_entry(path, blob, path in code, folder) for path, blob in sorted(kept.items()))
    project, _ = without_own_files(Project(folder, entries))
    files = {entry.path: entry.kind for entry in project.entries if entry.kind in (Kind.CODE, Kind.BUILD)}
    known: dict[str, Known] = {path: head.known[path] for path in files if path not in differing}
    changed = [path for path in differing if files.get(path) is Kind.CODE]
    known |= look_quickly(folder, changed, machine)
    known |= build_files(folder, project, frozenset(differing))
    return side_of(folder, project, known, machine, head)


def _entry(path: str, blob: Blob, takes_part: bool, folder: Path) -> Entry:
    try:
        size = (folder / path).stat().st_size
    except OSError:
        size = 1 << 12
    kind = Kind.CODE if is_code(path) else Kind.BUILD
    return Entry(path, kind if takes_part else Kind.OTHER, blob.mode & 0o777, size)


def _scope(sides: Sides) -> Scope:
    """What changed, and what comes out otherwise for it: includers, users of the same names, builds of the sources."""
    head, before, base = sides.head, sides.before, sides.base
    if before is None or base is None:
        return Scope(frozenset(head.known), frozenset())
    changed = {path for path in base.changed if path in head.known or path in before.known}
    telling = {path for path in changed if not _reads_alike(path, head, before)}
    candidates = sides.otherwise if sides.otherwise is not None else head.known.keys() & before.known.keys()
    users = seeing(telling, head, before)
    users |= {path for path in candidates if _seen_otherwise(path, head, before)}
    affected = changed | users
    return Scope(
        frozenset(path for path in affected if path in head.known),
        frozenset(path for path in affected if path in before.known),
        tuple(sorted(changed)),
        tuple(sorted(affected - changed)),
    )


def _reads_alike(path: str, head: Side, before: Side) -> bool:
    """Whether a file has the same tokens on both sides, so that nobody who includes it sees a difference."""
    if path not in head.known or path not in before.known or not is_code(path):
        return False
    try:
        texts = [(side.root / path).read_bytes().decode("latin-1") for side in (head, before)]
    except OSError:
        return False
    one, other = map(lex, texts)
    names = [tuple(include.name for include in tokens.includes) for tokens in (one, other)]
    return one.texts == other.texts and names[0] == names[1]


def _seen_otherwise(path: str, head: Side, before: Side) -> bool:
    """Whether the rest of the project makes something else of a file: names it shares with CUDA, or whose code it is.

    What is in a build file depends on the sources that the port renames.
    """
    if path not in head.known or path not in before.known:
        return False
    if not is_code(path):
        return head.key_of(path) != before.key_of(path)
    return any(
        now.get(path) != then.get(path) for now, then in ((head.shown, before.shown), (head.dialects, before.dialects))
    )


def _other_records(head: Side, base: Base | None) -> list[FileRecord]:
    """Entries that are no files; links and unreadable ones only where they changed."""
    records: list[FileRecord] = []
    entries = head.entries.values() if base is None else map(head.entries.get, sorted(base.changed))
    for entry in filter(None, entries):
        if entry.kind is Kind.LINK:
            records.append(keep_link(entry, head.root, head.names, Sink(None), None))
        elif entry.kind is Kind.UNREADABLE:
            note = notice_entry(UNREADABLE, "could not be read, so it was not checked")
            records.append(FileRecord(entry.path, "", Status.FAILED, entries=(note,)))
    return records


def _settings(side: Side) -> list[str]:
    """Build files that are converted, and reported where some of CUDA is left: all, for they share a finding."""
    return [path for path in side.mentions if kind_of_build(path) is BUILD_SETTINGS]


def _mentions(side: Side, looked: Mapping[str, Looked]) -> list[FileRecord]:
    """The build files of kinds that have one finding for all."""
    records: list[FileRecord] = []
    for path, use in sorted(side.mentions.items()):
        kind = kind_of_build(path)
        if kind in REPORTED:
            records.append(FileRecord(path, path, Status.COPIED, build=use))
        elif kind is BUILD_SETTINGS and path in looked:
            records.append(FileRecord(path, path, Status.COPIED, build=looked[path].record.build))
    return records


def _spotted(checkout: Checkout, looked: Iterable[Looked], others: Sequence[FileRecord]) -> list[Spotted]:
    """All findings that leave work, and notes on allow comments, in order of place."""
    found: list[Spotted] = []
    for record, details in looked:
        for number, detail in details.items():
            found.append(_spot(checkout, record.path, record.entries[number], detail))
    header = Header(__version__, "check", "", None, {})
    for path, entry in build_report(header, others, {}).findings:
        found.append(_spot(checkout, path, entry, Detail("", Place(entry.line, entry.column, entry.column))))
    return sorted(found, key=lambda one: (one.mark.path, one.entry.line, one.entry.column, one.mark.code))


def _spot(checkout: Checkout, path: str, entry: Found, detail: Detail) -> Spotted:
    name = entry.name if _WORD.fullmatch(entry.name) else ""
    mark = Mark(checkout.shown(path), entry.kernel, entry.code, name, detail.context)
    return Spotted(mark, entry, detail)


def _result(
    request: CheckRequest,
    checkout: Checkout,
    machine: Machine,
    head: Side,
    base: Base | None,
    scope: Scope,
    kernels: tuple[Changed, ...],
    verdict: Verdict,
) -> CheckResult:
    infos = rule_infos()
    codes = sorted({finding.code for finding in verdict.findings})
    path = _baseline(request, checkout)
    return CheckResult(
        porter=__version__,
        source=str(request.source),
        fail_on=request.fail_on,
        since=base.asked if base is not None else None,
        commit=base.commit if base is not None else None,
        baseline=str(path) if path.exists() else None,
        files=head.files,
        changed=tuple(map(checkout.shown, scope.changed)),
        dependents=tuple(map(checkout.shown, scope.dependents)),
        looked_at=tuple(map(checkout.shown, sorted(scope.head))),
        parsed=len(machine.parsed),
        kernels=kernels,
        findings=verdict.findings,
        stale=verdict.stale,
        proofs=(),
        rules={code: infos[code] for code in codes if code in infos},
        notes=(*head.notes, *(base.notes if base is not None else ()), *_unmet(request, path, head)),
        incomplete=verdict.incomplete,
    )


def _unmet(request: CheckRequest, baseline: Path, head: Side) -> Iterator[str]:
    """What was named, and is not there to be had."""
    if not head.files:
        yield _NOTHING
    if request.baseline is not None and baseline.name != NAME and not baseline.exists():
        yield f"baseline: there is no file {baseline}, so nothing is accepted"


def _baseline(request: CheckRequest, checkout: Checkout) -> Path:
    return request.baseline or checkout.anchor / NAME


def _touched(request: CheckRequest, head: Side, base: Base | None, scope: Scope, result: CheckResult) -> Touched:
    prefix = checkout_of(request.source).prefix
    kernels = frozenset(kernel.path.removeprefix(prefix) for kernel in result.kernels)
    files = base.changed | scope.head if base is not None else None
    return Touched(request.source, request.choices, request.jobs, kernels, files, head.graph.reachable)
