"""`porter check`: looks at what changed and at all that depends on it, and says what is new."""

from __future__ import annotations

import re
import shutil
import tempfile
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from porter import __version__
from porter.buildfiles.mentions import kind_of_build, mention
from porter.check.baseline import NAME, Accepted, read_baseline, write_baseline
from porter.check.context import Place
from porter.check.history import Base, Blob, base_named, contents, work_tree_root
from porter.check.kernels import changed_kernels
from porter.check.knowledge import rule_infos
from porter.check.limit import Expired
from porter.check.matching import Mark, match
from porter.check.proofs import Touched
from porter.check.result import HAZARD_GROUPS, Checked, CheckResult, FailOn, State
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
from porter.errors import Unusable
from porter.links import keep_link
from porter.notices import BUILD_BAZEL, BUILD_MESON, UNREADABLE
from porter.project import Entry, Kind, Project, discover, is_code, taking_part
from porter.records import Entry as Found
from porter.records import FileRecord, Status, notice_entry
from porter.report.document import Header, build_report
from porter.settings import Choices
from porter.support_files import without_own_files
from porter.task import Sink
from porter.tree import Progress

_LARGEST_BUILD_FILE = 4 << 20
_ONLY_REPORTED = frozenset({BUILD_MESON, BUILD_BAZEL})
"""Kinds of build files that have one finding for all files of the kind; the rules are asked about the others."""
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


@dataclass(frozen=True)
class Spotted:
    """A finding on one side, with what it is recognised by."""

    mark: Mark
    entry: Found
    detail: Detail


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
    project, _ = without_own_files(discover(source, request.choices))
    code = [entry.path for entry in project.entries if entry.kind is Kind.CODE]
    incomplete = None
    known = look_quickly(source, project, code, machine) | build_files(source, project)
    head = side_of(source, project, known, machine)
    base = base_named(source, request.since) if request.since is not None else None
    looked: dict[str, Looked] = {}
    with tempfile.TemporaryDirectory(prefix="porter-base-") as folder:
        before = _base_side(Path(folder), base, head, request, machine) if base is not None else None
        scope = _scope(head, before, base)
        earlier: dict[str, Looked] = {}
        try:
            _look_at(head, scope.head, machine, looked, progress)
            if before is not None and base is not None:
                _look_at_base(before, scope.base, head, machine, earlier, progress)
        except Expired as late:
            incomplete = str(late)
        finally:
            store.save()
        kernels = changed_kernels(head, before, looked, earlier, scope.changed, checkout.prefix)
    spotted = _spotted(checkout, looked.values(), _other_records(head, base))
    present = _spotted(checkout, earlier.values(), _base_builds(source, base)) if base is not None else []
    return _judged(request, checkout, machine, head, base, scope, spotted, present, kernels, incomplete)


def _look_at(
    side: Side, paths: Collection[str], machine: Machine, looked: dict[str, Looked], progress: Progress | None
) -> None:
    looked.update(stored_looks(side, paths, machine))
    look(side, [path for path in paths if path not in looked], machine, looked, progress)


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
    """Puts what these files may include beside them: all that is connected, and code that takes no part."""
    others = [entry.path for entry in head.project.entries if entry.kind is Kind.OTHER and is_code(entry.path)]
    for path in (*side.island(missing), *others):
        target = side.root / path
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(head.root / path, target)


def _base_side(folder: Path, base: Base, head: Side, request: CheckRequest, machine: Machine) -> Side:
    """The code of the base, with the settings of today; only files that changed are taken from git."""
    part = taking_part(request.choices, request.source, base.blobs)
    code = frozenset(path for path in part if is_code(path) or kind_of_build(path) is not None)
    differing = sorted(path for path in code if path in base.changed or path not in head.known)
    for path, data in zip(differing, contents(request.source, [base.blobs[p] for p in differing]), strict=True):
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    entries = tuple(_entry(path, blob, path in code, folder) for path, blob in sorted(base.blobs.items()))
    project, _ = without_own_files(Project(folder, entries))
    files = {entry.path: entry.kind for entry in project.entries if entry.kind in (Kind.CODE, Kind.BUILD)}
    known: dict[str, Known] = {path: head.known[path] for path in files if path not in differing}
    changed = [path for path in differing if files.get(path) is Kind.CODE]
    known |= look_quickly(folder, project, changed, machine)
    known |= build_files(folder, project, frozenset(differing))
    return side_of(folder, project, known, machine, head.flags)


def _entry(path: str, blob: Blob, takes_part: bool, folder: Path) -> Entry:
    try:
        size = (folder / path).stat().st_size
    except OSError:
        size = 1 << 12
    kind = Kind.CODE if is_code(path) else Kind.BUILD
    return Entry(path, kind if takes_part else Kind.OTHER, blob.mode, size)


def _scope(head: Side, before: Side | None, base: Base | None) -> Scope:
    """What changed, what includes it on either side, and what shares a name with CUDA on one side only."""
    if before is None or base is None:
        return Scope(frozenset(head.known), frozenset())
    changed = {path for path in base.changed if path in head.known or path in before.known}
    users = head.dependents(changed) | before.dependents(changed)
    users |= {path for path in head.known if head.declared.get(path) != before.declared.get(path, ())}
    affected = changed | users
    return Scope(
        frozenset(affected & head.known.keys()),
        frozenset(affected & before.known.keys()),
        tuple(sorted(changed)),
        tuple(sorted(affected - changed)),
    )


def _other_records(head: Side, base: Base | None) -> list[FileRecord]:
    """Build files, and entries that are no files; links and unreadable ones only where they changed."""
    records = _builds(head.root, (entry.path for entry in head.project.entries if entry.kind is Kind.BUILD))
    for entry in head.project.entries:
        if base is not None and entry.path not in base.changed:
            continue
        if entry.kind is Kind.LINK:
            records.append(keep_link(entry, head.root, head.names, Sink(None), None))
        elif entry.kind is Kind.UNREADABLE:
            note = notice_entry(UNREADABLE, "could not be read, so it was not checked")
            records.append(FileRecord(entry.path, "", Status.FAILED, entries=(note,)))
    return records


def _builds(root: Path, paths: Iterable[str]) -> list[FileRecord]:
    found: list[FileRecord] = []
    for path in paths:
        kind = kind_of_build(path)
        try:
            if kind not in _ONLY_REPORTED or (root / path).stat().st_size > _LARGEST_BUILD_FILE:
                continue
            use = mention(kind, (root / path).read_bytes()) if kind is not None else None
        except OSError:
            continue
        found.append(FileRecord(path, path, Status.COPIED, build=use))
    return found


def _base_builds(source: Path, base: Base) -> list[FileRecord]:
    paths = [path for path in base.blobs if kind_of_build(path) in _ONLY_REPORTED]
    changed = [path for path in paths if path in base.changed]
    records = _builds(source, (path for path in paths if path not in base.changed))
    for path, data in zip(changed, contents(source, [base.blobs[path] for path in changed]), strict=True):
        kind = kind_of_build(path)
        use = mention(kind, data) if kind is not None and len(data) <= _LARGEST_BUILD_FILE else None
        records.append(FileRecord(path, path, Status.COPIED, build=use))
    return records


def _spotted(checkout: Checkout, looked: Iterable[Looked], others: Sequence[FileRecord]) -> list[Spotted]:
    """All findings that leave work, in order of place."""
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


def _judged(
    request: CheckRequest,
    checkout: Checkout,
    machine: Machine,
    head: Side,
    base: Base | None,
    scope: Scope,
    spotted: Sequence[Spotted],
    present: Sequence[Spotted],
    kernels: tuple[object, ...],
    incomplete: str | None,
) -> Answer:
    path = request.baseline or checkout.anchor / NAME
    accepted = read_baseline(path)
    paths = {checkout.shown(entry.path) for entry in head.project.entries}
    live = [one for one in spotted if one.entry.suppressed is None]
    known = match([one.mark for one in live], [one.mark for one in present if one.entry.suppressed is None], paths)
    taken = match([one.mark for one in live], [entry.mark for entry in accepted], paths)
    scanned = {checkout.shown(path) for path in scope.head} | {checkout.shown(r) for r in scope.base - scope.head}
    judged = _judgeable(accepted, scanned, paths, checkout, whole=base is None) if incomplete is None else set()
    stale = tuple(entry for number, entry in enumerate(accepted) if number in judged - set(taken.values()))
    if request.update_baseline:
        kept = [entry for number, entry in enumerate(accepted) if number not in judged and number not in taken.values()]
        kept += _to_accept(live, known, taken, accepted, request.fail_on, base is not None)
        write_baseline(path, kept)
        accepted = tuple(kept)
        taken = match([one.mark for one in live], [entry.mark for entry in accepted], paths)
        stale = ()
    findings = tuple(_checked(spotted, live, known, taken, accepted, request.fail_on))
    infos = rule_infos()
    result = CheckResult(
        porter=__version__,
        source=str(request.source),
        fail_on=request.fail_on,
        since=base.asked if base is not None else None,
        commit=base.commit if base is not None else None,
        baseline=str(path) if path.exists() else None,
        files=len(head.known),
        changed=tuple(map(checkout.shown, scope.changed)),
        dependents=tuple(map(checkout.shown, scope.dependents)),
        looked_at=tuple(map(checkout.shown, sorted(scope.head))),
        parsed=len(machine.parsed),
        kernels=kernels,  # type: ignore[arg-type]
        findings=findings,
        stale=stale,
        proofs=(),
        rules={code: infos[code] for code in sorted({finding.code for finding in findings}) if code in infos},
        notes=head.project.notes,
        incomplete=incomplete,
    )
    return Answer(result, tuple(machine.crashes), _touched(request, head, base, scope, result))


def _touched(request: CheckRequest, head: Side, base: Base | None, scope: Scope, result: CheckResult) -> Touched:
    prefix = checkout_of(request.source).prefix
    kernels = frozenset(kernel.path.removeprefix(prefix) for kernel in result.kernels)
    files = base.changed | scope.head if base is not None else None
    return Touched(request.source, request.choices, request.jobs, kernels, files, head.graph.reachable)


def _judgeable(
    accepted: Sequence[Accepted], scanned: Collection[str], paths: Collection[str], checkout: Checkout, *, whole: bool
) -> set[int]:
    """The entries that this check can tell to be stale: of files that it looked at, and of files that are gone.

    Entries about other folders than the source are nobody's business here.
    """
    return {
        number
        for number, entry in enumerate(accepted)
        if entry.mark.path.startswith(checkout.prefix)
        and (whole or entry.mark.path in scanned or entry.mark.path not in paths)
    }


def _to_accept(
    live: Sequence[Spotted],
    known: Mapping[int, int],
    taken: Mapping[int, int],
    accepted: Sequence[Accepted],
    fail_on: FailOn,
    against_base: bool,
) -> Iterable[Accepted]:
    """What the new baseline says about the findings of this check; reasons stay with their entries."""
    for number, one in enumerate(live):
        before = accepted[taken[number]] if number in taken else None
        if before is not None:
            yield Accepted(one.mark, one.entry.effort, before.reason)
        elif _closes(one.entry, fail_on) and not (against_base and number in known):
            yield Accepted(one.mark, one.entry.effort)


def _closes(entry: Found, fail_on: FailOn) -> bool:
    """Whether a new finding of this kind closes the gate."""
    if fail_on is FailOn.MANUAL:
        return entry.effort == "manual"
    if fail_on is FailOn.REVIEW:
        return entry.effort in ("manual", "review")
    info = rule_infos().get(entry.code)
    return info is not None and info.group in HAZARD_GROUPS


def _checked(
    spotted: Sequence[Spotted],
    live: Sequence[Spotted],
    known: Mapping[int, int],
    taken: Mapping[int, int],
    accepted: Sequence[Accepted],
    fail_on: FailOn,
) -> Iterable[Checked]:
    numbers = {id(one): number for number, one in enumerate(live)}
    for one in spotted:
        number = numbers.get(id(one))
        state, reason = State.NEW, None
        if number is None:
            state, reason = State.SUPPRESSED, one.entry.suppressed
        elif number in taken:
            state, reason = State.ACCEPTED, accepted[taken[number]].reason
        elif number in known:
            state = State.PRESENT
        entry = one.entry
        yield Checked(
            code=entry.code,
            effort=entry.effort,
            path=one.mark.path,
            line=entry.line,
            column=entry.column,
            place=one.detail.place,
            kernel=entry.kernel,
            name=entry.name,
            message=entry.message,
            fixed=entry.fixed,
            context=one.mark.context,
            state=state,
            fails=state is State.NEW and _closes(entry, fail_on),
            reason=reason,
            fix=one.detail.fix,
        )
