"""The report of a run as one value: totals, rules, gaps, files, kernels, findings."""

from __future__ import annotations

import posixpath
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from porter.engine.notices import NOTICES
from porter.model import Effort
from porter.project.reach import Reach
from porter.project.records import Entry, FileRecord

SCHEMA = "porter-report-1"
_THROUGH_SHOWN = 4
_RANK = {effort.value: effort.rank for effort in Effort}


class Located(NamedTuple):
    """A finding and the file it is in."""

    path: str
    entry: Entry


class Counts(NamedTuple):
    """Live findings by the work they leave; `rewritten` are those the port already contains."""

    rewritten: int = 0
    review: int = 0
    manual: int = 0

    @property
    def left(self) -> str:
        """The most work that any of them leaves."""
        return "manual" if self.manual else "review" if self.review else "none"


class CodeLine(NamedTuple):
    """All findings with one code."""

    code: str
    rule: str
    counts: Counts
    files: int


class Gap(NamedTuple):
    """A name that leaves work, and where."""

    name: str
    code: str
    effort: str
    places: int
    files: int


class FileLine(NamedTuple):
    """One file in the report."""

    record: FileRecord
    counts: Counts
    done: int = 0
    """Rewritten places that leave nothing to look at."""

    @property
    def converted(self) -> float | None:
        """Share of the places to be changed or looked at that are done; None where there are none."""
        places = self.done + self.counts.review + self.counts.manual
        return self.done / places if places else None


class KernelLine(NamedTuple):
    """One kernel: its own findings, and what it calls, directly or through others, that has work left."""

    path: str
    model: Mapping[str, Any]
    counts: Counts
    through: tuple[str, ...]
    left: str

    @property
    def shown_through(self) -> str:
        """The first of these functions by their own names, and how many more there are."""
        names = tuple(dict.fromkeys(name.rpartition("::")[2] for name in self.through))
        more = len(names) - _THROUGH_SHOWN
        return ", ".join((*names[:_THROUGH_SHOWN], *((f"{more:,} more",) if more > 0 else ())))


@dataclass(frozen=True, slots=True)
class Header:
    """What was done, to what, and how."""

    porter: str
    command: str
    source: str
    output: str | None
    settings: Mapping[str, Any]
    notes: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()
    reused: int = 0


@dataclass(frozen=True, slots=True)
class Report:
    """Everything that a rendering shows."""

    header: Header
    counts: Counts
    suppressed: int
    lines: int
    statuses: Mapping[str, int]
    codes: tuple[CodeLine, ...]
    gaps: tuple[Gap, ...]
    files: tuple[FileLine, ...]
    kernels: tuple[KernelLine, ...]
    findings: tuple[Located, ...]

    def with_effort(self, effort: Effort) -> tuple[Located, ...]:
        """Live findings that leave this much work."""
        return tuple(f for f in self.findings if f.entry.effort == effort.value and f.entry.suppressed is None)

    @property
    def left(self) -> str:
        """The most work that is left anywhere."""
        return self.counts.left


def build_report(header: Header, records: Iterable[FileRecord], rules: Mapping[str, str]) -> Report:
    """The report over the records of a run; `rules` gives the name of each code."""
    records = tuple(records)
    builds = _build_findings(records)
    findings = tuple(
        Located(record.path, entry) for record in records for entry in (*record.entries, *builds.get(record.path, ()))
    )
    by_path: defaultdict[str, list[Entry]] = defaultdict(list)
    for path, entry in findings:
        by_path[path].append(entry)
    live = [found for found in findings if found.entry.suppressed is None]
    return Report(
        header=header,
        counts=_count(found.entry for found in live),
        suppressed=len(findings) - len(live),
        lines=sum(record.lines for record in records),
        statuses=dict(sorted(Counter(record.status.value for record in records).items())),
        codes=_codes(live, rules),
        gaps=_gaps(live),
        files=tuple(_file_line(record, by_path.get(record.path, ())) for record in records),
        kernels=_kernels(records, live),
        findings=findings,
    )


def _count(entries: Iterable[Entry]) -> Counts:
    rewritten = review = manual = 0
    for entry in entries:
        if entry.suppressed is None:
            rewritten += entry.fixed
            review += entry.effort == "review"
            manual += entry.effort == "manual"
    return Counts(rewritten, review, manual)


def _file_line(record: FileRecord, entries: Iterable[Entry]) -> FileLine:
    entries = tuple(entries)
    done = sum(entry.fixed and entry.effort == "none" for entry in entries if entry.suppressed is None)
    return FileLine(record, _count(entries), done)


_NOTICE_TITLES = {notice.code: notice.title for notice in NOTICES}
_NOTICE_EFFORTS = {notice.code: notice.effort.value for notice in NOTICES}
_NOTICE_NAMES = {notice.code: notice.name for notice in NOTICES}


def _build_findings(records: Iterable[FileRecord]) -> dict[str, list[Entry]]:
    """One finding per kind of build file, at the first of them."""
    by_kind: defaultdict[str, list[FileRecord]] = defaultdict(list)
    for record in records:
        if record.build is not None:
            by_kind[record.build.code].append(record)
    found: defaultdict[str, list[Entry]] = defaultdict(list)
    for code, users in sorted(by_kind.items()):
        first = min(users, key=lambda record: (record.path.count("/"), record.path))
        assert first.build is not None
        others = f", as are {len(users) - 1} more" if len(users) > 1 else ""
        message = f"{_NOTICE_TITLES.get(code, code)}: {posixpath.basename(first.path)} is copied as it is{others}"
        effort = _NOTICE_EFFORTS.get(code, "manual")
        found[first.path].append(Entry(first.build.line, first.build.column, code, effort, message))
    return found


def _codes(live: Iterable[Located], rules: Mapping[str, str]) -> tuple[CodeLine, ...]:
    entries: defaultdict[str, list[Entry]] = defaultdict(list)
    paths: defaultdict[str, set[str]] = defaultdict(set)
    for path, entry in live:
        entries[entry.code].append(entry)
        paths[entry.code].add(path)
    return tuple(
        CodeLine(code, rules.get(code) or _NOTICE_NAMES.get(code, ""), _count(entries[code]), len(paths[code]))
        for code in sorted(entries)
    )


def _gaps(live: Iterable[Located]) -> tuple[Gap, ...]:
    """Names that leave work, those that need most of it and stand at most places first."""
    places: Counter[tuple[str, str, str]] = Counter()
    paths: defaultdict[tuple[str, str, str], set[str]] = defaultdict(set)
    for path, entry in live:
        if entry.name and _RANK[entry.effort]:
            key = (entry.name, entry.code, entry.effort)
            places[key] += 1
            paths[key].add(path)
    gaps = [Gap(*key, count, len(paths[key])) for key, count in places.items()]
    return tuple(sorted(gaps, key=lambda gap: (-_RANK[gap.effort], -gap.places, gap.name, gap.code)))


def _kernels(records: Iterable[FileRecord], live: Iterable[Located]) -> tuple[KernelLine, ...]:
    inside: defaultdict[tuple[str, str], list[Entry]] = defaultdict(list)
    for path, entry in live:
        if entry.kernel is not None:
            inside[path, entry.kernel].append(entry)
    reach = Reach(records)
    lines: list[KernelLine] = []
    for record in records:
        for model in record.kernels:
            own = _count(inside.get((record.path, model["qualified"]), ()))
            through = reach.through(record.path, model["qualified"])
            left = max(own.left, through.left, key=_RANK.__getitem__)
            lines.append(KernelLine(record.path, model, own, through.names, left))
    return tuple(lines)
