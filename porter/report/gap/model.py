"""What the gap report shows, as frozen values."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple


class State(str, enum.Enum):
    """How far a kernel has come, what is worst first."""

    WRONG = "wrong"
    MANUAL = "manual"
    BROKEN = "broken"
    REVIEW = "review"
    PORTED = "ported"
    BUILT = "built"
    PROVEN = "proven"

    @property
    def label(self) -> str:
        """For a table."""
        return _LABELS[self][0]

    @property
    def meaning(self) -> str:
        """For a legend."""
        return _LABELS[self][1]


_LABELS = {
    State.WRONG: ("wrong result", "the port was run, and something is wrong with what it computes"),
    State.BROKEN: ("does not build", "the compiler refuses its file, though nothing in the kernel is left by hand"),
    State.MANUAL: ("manual work", "something has to be written by hand; until then it will not build or not be right"),
    State.REVIEW: ("to review", "rewritten; a person should look at some places"),
    State.PORTED: ("ported", "nothing is left to do; not built and not run yet"),
    State.BUILT: ("builds", "nothing is left to do, and it builds; not run yet"),
    State.PROVEN: ("proven", "the port was run and agrees with its reference"),
}
DONE = frozenset({State.PORTED, State.BUILT, State.PROVEN})


class Rule(NamedTuple):
    """What a reader should know about a code."""

    code: str
    name: str
    group: str
    title: str
    explanation: str
    hazard: bool


class Place(NamedTuple):
    """One finding."""

    code: str
    effort: str
    path: str
    line: int
    column: int
    message: str
    kernel: str | None
    fixed: bool
    suppressed: str | None


class Build(NamedTuple):
    """What a kernel needs on one target."""

    name: str
    target: str
    vgprs: int | None
    agprs: int | None
    sgprs: int | None
    lds_bytes: int | None
    scratch_bytes: int | None
    waves_per_simd: float | None
    limited_by: str
    notes: tuple[str, ...]


class Output(NamedTuple):
    """One output of one side, over all trials."""

    name: str
    max_error: float | None
    rms_error: float | None
    of_allowed: float | None
    ulps: tuple[int, ...]
    """Elements per class of distance, see `ULP_CLASSES`."""


ULP_CLASSES = ("0", "1", "2", "3-4", "5-8", "9-16", "17-64", "65-1024", "more")


class Run(NamedTuple):
    """One side of a case on one device."""

    side: str
    device: str
    lanes: int | None
    status: str
    reason: str
    outputs: tuple[Output, ...]
    counters: Mapping[str, float]
    command: str


class Pair(NamedTuple):
    """Original and port, or the port against its reference."""

    what: str
    status: str
    detail: str


class Case(NamedTuple):
    """One case that a kernel was checked with."""

    name: str
    path: str
    status: str
    reason: str
    runs: tuple[Run, ...]
    pairs: tuple[Pair, ...]
    does_not_show: tuple[str, ...]
    command: str

    @property
    def max_ulps(self) -> str | None:
        """The class of the farthest element of the port."""
        last = -1
        for run in self.runs:
            for output in run.outputs if run.side.startswith("port") else ():
                last = max(last, *(n for n, count in enumerate(output.ulps) if count), -1)
        return ULP_CLASSES[min(last, len(ULP_CLASSES) - 1)] if last >= 0 else None


@dataclass(frozen=True)
class Kernel:
    """One kernel and all that is known about it."""

    anchor: str
    path: str
    name: str
    line: int
    last_line: int
    state: State
    rewritten: int
    review: int
    manual: int
    hazards: int
    """Places that 64 lanes make special."""
    open_hazards: int
    through: tuple[str, ...]
    signature: str
    launches: tuple[str, ...]
    places: tuple[Place, ...]
    builds: tuple[Build, ...]
    cases: tuple[Case, ...]
    errors: tuple[str, ...] = ()
    """What the compiler refuses, in the kernel or outside of all."""

    @property
    def effort(self) -> int:
        """For sorting: work by hand weighs more than any number of looks."""
        return 1000 * self.manual + self.review


@dataclass(frozen=True)
class Folder:
    """One directory: its kernels by state, and places by effort."""

    path: str
    files: int
    lines: int
    kernels: int
    states: Mapping[State, int]
    review: int
    manual: int


@dataclass(frozen=True)
class Work:
    """One kind of work that is left."""

    rule: Rule
    review: int
    manual: int
    done: int
    files: int
    kernels: int
    places: tuple[Place, ...]


@dataclass(frozen=True)
class GapReport:
    """Everything that a rendering shows."""

    porter: str
    source: str
    output: str | None
    rocm: str | None
    warp: str
    totals: Mapping[str, Any]
    kernels: tuple[Kernel, ...]
    folders: tuple[Folder, ...]
    work: tuple[Work, ...]
    gaps: tuple[Mapping[str, Any], ...]
    files: tuple[Mapping[str, Any], ...]
    rules: Mapping[str, Rule]
    devices: tuple[tuple[str, str, int | None, int, int], ...]
    """Side, device, lanes, runs, of which passed."""
    open_questions: tuple[str, ...]
    """What the runs do not show."""
    missing: tuple[str, ...]
    """Evidence that there is none of, and what would make it."""
    notes: tuple[str, ...]

    @property
    def states(self) -> dict[State, int]:
        """Kernels per state, all states there."""
        counts = dict.fromkeys(State, 0)
        for kernel in self.kernels:
            counts[kernel.state] += 1
        return counts

    @property
    def done(self) -> int:
        """Kernels with nothing left to do."""
        return sum(count for state, count in self.states.items() if state in DONE)
