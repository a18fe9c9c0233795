"""What a case came to: a closed list, with the evidence that each needs. Pure."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from porter.validation.verdict.compare import Comparison


class Status(str, enum.Enum):
    """What a kernel on a device, or a pair of them, came to."""

    PASSED = "passed"
    WRONG_VALUES = "wrong-values"
    NON_FINITE = "non-finite"
    NONDETERMINISTIC = "nondeterministic"
    FAULT = "fault"
    TIMED_OUT = "timed-out"
    BUILD_FAILED = "build-failed"
    NOT_RUN = "not-run"


_WORST_FIRST = (
    Status.BUILD_FAILED,
    Status.FAULT,
    Status.TIMED_OUT,
    Status.WRONG_VALUES,
    Status.NON_FINITE,
    Status.NONDETERMINISTIC,
    Status.NOT_RUN,
    Status.PASSED,
)


def worst(found: Iterable[Status]) -> Status:
    """The one that decides; NOT_RUN when there is none."""
    statuses = set(found)
    return next((status for status in _WORST_FIRST if status in statuses), Status.NOT_RUN)


@dataclass(frozen=True)
class Written:
    """Who wrote an element, as far as the device can tell."""

    kernel: str
    block: tuple[int, int, int]
    thread: tuple[int, int, int]
    where: str
    """`file:line`, or the place in the assembly."""


@dataclass(frozen=True)
class Evidence:
    """The first thing that went wrong: what, in which trial, where."""

    message: str
    trial: str
    schedule: str
    output: str | None = None
    index: tuple[int, ...] | None = None
    written_by: Written | None = None
    original_written_by: Written | None = None
    """Of a port's element: who wrote it in the original."""


@dataclass(frozen=True)
class OutputResult:
    """One output over all trials."""

    name: str
    elements: int = 0
    bitwise: bool = True
    max_error: float = 0.0
    rms_error: float = 0.0
    of_allowed: float = 0.0
    ulps: tuple[int, ...] = ()


@dataclass(frozen=True)
class SideResult:
    """The original or the port on one device."""

    side: str
    """`original` or `port`."""
    device: str
    lanes: int
    status: Status
    warp: str | None = None
    """Of a port: the warp mode it was made in."""
    reason: str = ""
    evidence: Evidence | None = None
    outputs: tuple[OutputResult, ...] = ()
    trials: int = 0
    launches: int = 0
    source: str = ""
    command: tuple[str, ...] = ()
    headers: str = ""
    """HIP's, of a port: their version and where they are."""
    does_not_show: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    counters: dict[str, float] = field(default_factory=dict)
    """Of the largest trial's run in order, on a virtual device."""
    seconds: float = 0.0


@dataclass(frozen=True)
class PairResult:
    """The original on one device against the port on another, or the port against the reference alone."""

    original: str | None
    port: str | None
    warp: str | None
    status: Status
    reason: str = ""
    agreement: str | None = None
    """`bitwise`, or how far apart the two are."""
    ratio: float | None = None
    """Root-mean-square error of the port over that of the original; None when the original is exact."""
    against: tuple[str, ...] = ()
    """What it was compared with: `reference`, `original`."""
    evidence: Evidence | None = None
    original_evidence: Evidence | None = None


@dataclass(frozen=True)
class CaseResult:
    """Everything about one case."""

    name: str
    path: str
    line: int
    source: str
    kernel: str
    status: Status
    reason: str = ""
    sides: tuple[SideResult, ...] = ()
    pairs: tuple[PairResult, ...] = ()
    trials: tuple[str, ...] = ()
    seeds: tuple[int, ...] = ()
    declared: bool = False
    """Not run because the case file says so."""
    repeat: tuple[str, ...] = ()
    seconds: float = 0.0


@dataclass(frozen=True)
class FileError:
    """A case file that cannot be used."""

    path: str
    line: int
    message: str


@dataclass(frozen=True)
class ValidateReport:
    """One run of `porter validate`."""

    cases: Sequence[CaseResult]
    errors: tuple[FileError, ...] = ()
    devices: tuple[tuple[str, str], ...] = ()
    """Device and why it is not there; empty when it is."""
    settings: dict[str, Any] = field(default_factory=dict)

    def is_fine(self, *, strict: bool = False) -> bool:
        """Whether everything passed; a case that its file says is not run counts only when strict."""
        if strict:
            return all(side.status is Status.PASSED for case in self.cases for side in case.sides)
        return all(case.status is Status.PASSED or case.declared for case in self.cases)


def judge(comparisons: Sequence[Comparison]) -> Status:
    """The verdict on the outputs of one launch."""
    if any(c.unwritten or c.stray for c in comparisons):
        return Status.WRONG_VALUES
    if any(c.nonfinite for c in comparisons):
        return Status.NON_FINITE
    return Status.WRONG_VALUES if any(c.wrong for c in comparisons) else Status.PASSED


def judge_runs(statuses: Sequence[Status], *, repeats: bool, must_repeat: bool) -> Status:
    """The verdict on several launches of one trial: some right and some wrong is another thing than all wrong."""
    if not statuses:
        return Status.NOT_RUN
    if len(set(statuses)) > 1 and Status.PASSED in statuses and not repeats:
        others = {status for status in statuses if status is not Status.PASSED}
        if others <= {Status.WRONG_VALUES, Status.NON_FINITE}:
            return Status.NONDETERMINISTIC
    decided = worst(statuses)
    if decided is Status.PASSED and must_repeat and not repeats:
        return Status.NONDETERMINISTIC
    return decided


def pair_status(original: SideResult | None, port: SideResult | None, *, refereed: bool) -> tuple[Status, str]:
    """What the verdicts of the two sides make together, and why, where it is not the port that decides."""
    if port is None:
        return (Status.NOT_RUN, "no port") if original is None else (original.status, original.reason)
    if port.status is not Status.PASSED:
        return port.status, port.reason
    if original is None:
        return (Status.PASSED, "") if refereed else (Status.NOT_RUN, "no reference, and no device for the original")
    if original.status is Status.PASSED:
        return Status.PASSED, ""
    reason = f"the original on {original.device}: {original.reason or original.status.value}"
    if original.status is Status.NOT_RUN and refereed:
        return Status.PASSED, f"compared with the reference alone; {reason}"
    return original.status, reason


def total(pairs: Sequence[PairResult]) -> Status:
    """The verdict on a case: the worst of its pairs; one that could not be run hides no other."""
    found = [pair.status for pair in pairs]
    return worst(found)
