"""`porter check --perf`: estimates of the cases against those that the tree keeps. No time is measured or kept."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from porter.check.committed import read_committed, write_committed
from porter.check.proofs import Touched, is_touched, step_of
from porter.check.result import Proof, Step
from porter.errors import Unusable

if TYPE_CHECKING:
    from porter.validation.estimate.bench import Estimated

NAME = ".porter-estimates.json"
SCHEMA = "porter-estimates-1"
_MOST_COUNTERS = 3
_LEAST_MOVE = 1.02
"""Counters that moved by less say nothing."""
_WAVES = "waves per SIMD"


class Subject(NamedTuple):
    """What an estimate is of."""

    path: str
    """Of the case file, from the root of the work tree."""
    case: str
    warp: str
    shape: str

    @property
    def shown(self) -> str:
        """In one line."""
        return f"{self.case} ({', '.join(filter(None, (self.warp, self.shape)))})"


@dataclass(frozen=True)
class Kept:
    """One estimate, as the file keeps it."""

    nanoseconds: float
    band: float
    limit: str
    counters: Mapping[str, float]
    """With the wavefronts that a SIMD holds among them."""


@dataclass(frozen=True)
class Estimates:
    """All that the file keeps."""

    chip: str
    of: Mapping[Subject, Kept]


def perf_touched(touched: Touched, root: Path, *, update: bool) -> Proof:
    """Estimates the cases that the change touches; `update` keeps what they are now."""
    from porter.validation.cases.file import find_case_files
    from porter.validation.estimate.bench import DEVICE, EstimateRequest, estimate_cases
    from porter.validation.run.plan import Request, collect

    path = root / NAME
    kept = read_estimates(path)
    if not find_case_files((touched.source,)):
        return Proof("perf", Step.PASSED, "there are no cases")
    if kept is None and not update:
        return Proof("perf", Step.NOT_RUN, f"{NAME} is not there: `porter check --perf --update-baseline` writes it")
    cases, errors = collect(Request((touched.source,), (DEVICE,)))
    subjects: list[Mapping[str, Any]] = [
        {"name": f"{error.path}:{error.line}", "status": "failed", "message": error.message} for error in errors
    ]
    by_file: dict[Path, list[str]] = {}
    for case in cases:
        if is_touched(case, touched):
            by_file.setdefault(case.path, []).append(case.name)
    if not by_file and not subjects:
        return Proof("perf", Step.PASSED, f"no case of {len(cases):,} is about what changed")
    now: dict[Subject, Kept] = {}
    chip = kept.chip if kept is not None else "mi300x"
    for file, names in by_file.items():
        report = estimate_cases(EstimateRequest((file,), chip, tuple(names)))
        shown = file.resolve().relative_to(root.resolve()).as_posix() if _below(file, root) else str(file)
        for row in report.rows:
            subject, found = Subject(shown, row.case, row.warp or "", row.shape), kept_of(row)
            if found is None:
                subjects.append({"name": subject.shown, "status": "not-run", "message": row.reason})
                continue
            now[subject] = found
            subjects.append(compared(subject, None if kept is None or update else kept.of.get(subject), found))
    if update:
        gone = {subject for subject in kept.of if (root / subject.path) in by_file} if kept is not None else set()
        left = {subject: one for subject, one in kept.of.items() if subject not in gone} if kept is not None else {}
        _write(path, Estimates(chip, {**left, **now}))
    return Proof("perf", step_of(subjects), _said(subjects, update=update), tuple(subjects))


def _below(file: Path, root: Path) -> bool:
    return file.resolve().is_relative_to(root.resolve())


def kept_of(row: Estimated) -> Kept | None:
    """What is kept of an estimate; None where there is none."""
    found = row.estimate
    if found is None or row.counters is None:
        return None
    counters = {**row.counters, _WAVES: found.waves_per_simd}
    return Kept(found.nanoseconds, found.band, found.limit, counters)


def compared(subject: Subject, before: Kept | None, now: Kept) -> Mapping[str, Any]:
    """Passed, unless the estimate grew by more than its band."""
    told = f"estimate {_time(now.nanoseconds)} (x/÷ {now.band:.2f}), limit {now.limit}"
    if before is None:
        return {"name": subject.shown, "status": "passed", "message": f"{told}; nothing earlier is kept"}
    ratio, band = now.nanoseconds / before.nanoseconds, max(now.band, before.band)
    if ratio <= band:
        return {"name": subject.shown, "status": "passed", "message": f"{told}, x {ratio:.2f} of what is kept"}
    was = f"was {_time(before.nanoseconds)}: x {ratio:.2f}, more than the band of {band:.2f}"
    why = "; ".join(moved(before.counters, now.counters, now.limit)) or "no counter moved: the model or the limit did"
    return {"name": subject.shown, "status": "failed", "message": f"{told}, {was}; {why}"}


_OF_LIMIT = (
    ("memory", ("TCC_EA0_RDREQ_sum", "TCC_EA0_WRREQ_sum")),
    ("last-level", ("TCC_MISS_sum",)),
    ("l2", ("TCC_REQ_sum",)),
    ("l1", ("TCP_TOTAL_CACHE_ACCESSES_sum",)),
    ("lds", ("SQ_LDS_BANK_CONFLICT", "SQ_LDS_IDX_ACTIVE", "SQ_INSTS_LDS")),
    ("valu", ("SQ_INSTS_VALU",)),
    ("mfma", ("SQ_INSTS_VALU_MFMA",)),
    ("salu", ("SQ_INSTS_SALU", "SQ_INSTS_SMEM", "SQ_INSTS_BRANCH")),
    ("dispatch", ("SQ_WAVES",)),
    ("latency", (_WAVES, "SQ_WAVES", "SQ_INSTS_VMEM_RD", "TCC_MISS_sum", "SQ_INSTS_LDS")),
)
"""What a resource is busy with."""


def moved(before: Mapping[str, float], now: Mapping[str, float], limit: str) -> Iterator[str]:
    """The counters that moved most, those of the resource that is the limit first, in words."""
    first = next((names for start, names in _OF_LIMIT if limit.startswith(start)), ())
    found: list[tuple[bool, float, str]] = []
    for name in {*before, *now}:
        old, new = before.get(name, 0), now.get(name, 0)
        if old == new:
            continue
        factor = max(new, old) / min(new, old) if min(new, old) else float("inf")
        times = f"x {new / old:.2f}" if old and new else "new" if new else "gone"
        if factor >= _LEAST_MOVE:
            found.append((name not in first, -factor, f"{name} {times} ({old:,.10g} -> {new:,.10g})"))
    yield from (text for *_, text in sorted(found)[:_MOST_COUNTERS])


def _said(subjects: list[Mapping[str, Any]], *, update: bool) -> str:
    grew = sum(subject["status"] == "failed" for subject in subjects)
    count = f"{len(subjects):,} estimate{'s' * (len(subjects) != 1)} (no measurements)"
    return f"{count}, kept now" if update else f"{count}, {grew:,} of them grew by more than their band"


def _time(nanoseconds: float) -> str:
    return f"{nanoseconds / 1e3:.3g} us"


# ---- the file ----------------------------------------------------------------------------------------------------


def read_estimates(path: Path) -> Estimates | None:
    """What the tree keeps; None where there is no file."""
    try:
        document = read_committed(path)
    except FileNotFoundError:
        return None
    try:
        if document["schema"] != SCHEMA:
            raise Unusable(f"{path}: estimates of another porter ({document['schema']}); write it again")
        rows = {Subject(*(str(row[key]) for key in Subject._fields)): _kept(row) for row in document["estimates"]}
        return Estimates(str(document["chip"]), rows)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise Unusable(f"{path}: damaged ({error!r}); write it again with --update-baseline") from None


def _kept(row: Mapping[str, Any]) -> Kept:
    counters = {str(name): float(value) for name, value in row["counters"].items()}
    found = Kept(float(row["nanoseconds"]), float(row["band"]), str(row["limit"]), counters)
    if found.nanoseconds <= 0 or found.band < 1:
        raise ValueError(f"{row['case']}: no estimate")
    return found


def _write(path: Path, estimates: Estimates) -> None:
    """Sorted, one a line, so that two branches seldom conflict."""
    rows = ",\n".join(
        "  " + json.dumps({**subject._asdict(), **_row(one)}) for subject, one in sorted(estimates.of.items())
    )
    head = f' "schema": "{SCHEMA}",\n "chip": {json.dumps(estimates.chip)},\n "measured": false,\n'
    text = f'{{\n{head} "estimates": [\n{rows}\n ]\n}}\n'
    write_committed(path, text)


def _row(one: Kept) -> dict[str, Any]:
    counters = {name: round(value, 3) if value % 1 else int(value) for name, value in sorted(one.counters.items())}
    return {"nanoseconds": round(one.nanoseconds, 1), "band": one.band, "limit": one.limit, "counters": counters}
