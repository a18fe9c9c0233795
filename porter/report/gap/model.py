"""What the gap report shows, as frozen values."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

from porter.report.gap.effort import in_words

REAL_DEVICES = frozenset({"cuda", "hip"})


class State(str, enum.Enum):
    """How far a kernel has come, what is worst first."""

    WRONG = "wrong"
    MANUAL = "manual"
    BROKEN = "broken"
    REVIEW = "review"
    PORTED = "ported"
    BUILT = "built"
    PARTLY = "partly"
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
    State.PARTLY: (
        "agrees in part",
        "some instances of the template were run and agree with their reference; others were built and never run",
    ),
    State.PROVEN: (
        "agrees on virtual devices",
        "the port was run on a model of the GPU, and agrees with the original or a reference; never on an AMD GPU",
    ),
}
DONE = frozenset({State.PORTED, State.BUILT, State.PARTLY, State.PROVEN})


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
    spills: int = 0
    """Registers that were spilled: scratch alone can be an array of the kernel's own."""


class Output(NamedTuple):
    """One output of one side, over all trials."""

    name: str
    max_error: float | None
    rms_error: float | None
    of_allowed: float | None
    ulps: tuple[int, ...]
    """Elements per class of distance, see `ULP_CLASSES`."""


ULP_CLASSES = ("0", "1", "2", "3-4", "5-8", "9-16", "17-64", "65-1024", ">1024")


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
    instance: str = ""
    """The template arguments that were run, such as `<float, 4>`."""

    @property
    def max_ulps(self) -> str | None:
        """The class of the farthest element of the port."""
        last = -1
        for run in self.runs:
            for output in run.outputs if run.side.startswith("port") else ():
                last = max(last, *(n for n, count in enumerate(output.ulps) if count), -1)
        return ULP_CLASSES[min(last, len(ULP_CLASSES) - 1)] if last >= 0 else None


class Instance(NamedTuple):
    """One instance of a kernel's template."""

    arguments: str
    built: bool
    verdict: str
    """`passed`, another status of its cases, or nothing where it was not run."""


class FailedUnit(NamedTuple):
    """A translation unit that did not come out."""

    source: str
    target: str
    refused: bool
    """Whether the compiler refused the code; else something is missing on the machine."""
    message: str
    """The first error, or the reason."""
    path: str
    """Where the first error is."""
    line: int
    hint: str
    kernels: int


@dataclass(frozen=True)
class Action:
    """One thing to do."""

    kind: str
    """`tool`, `unit`, `wrong`, `manual`, `run`, `case`, `todo`, `instances`, `review` or `gpu`."""
    what: str
    code: str
    path: str
    line: int
    owner: str
    """The file that has to be edited, or has most of the places."""
    kernels: int
    """That it stands in the way of."""
    places: int
    minutes: int
    basis: str
    hint: str = ""
    command: str = ""
    anchor: str = ""
    files: tuple[str, ...] = ()

    @property
    def effort(self) -> str:
        """In words."""
        return in_words(self.minutes)


class Past(NamedTuple):
    """What an earlier run came to."""

    date: str
    commit: str
    states: Mapping[str, int]
    manual: int
    review: int
    failed: int


class Made(NamedTuple):
    """When, from what and with what the report was made."""

    date: str
    commit: str
    tools: tuple[str, ...]
    """Compilers, headers and packages, with their versions."""


class Estimated(NamedTuple):
    """What a model makes of a counted run; nothing was measured."""

    case: str
    shape: str
    warp: str
    chip: str
    nanoseconds: float
    band: float
    limit: str
    tested: bool
    waves_per_simd: float
    operations: float
    memory_bytes: float
    costs: tuple[tuple[str, float, str], ...]
    """Cause, its share of the estimate, what one does about it."""
    lines: tuple[tuple[int, float], ...]
    """Lines of the port's file, and their shares."""
    elsewhere: float
    """The share of lines in other files."""


class Program(NamedTuple):
    """A whole program, built and run on both sides."""

    name: str
    verdict: str
    """`agree`, `differ`, `fault` and the like."""
    side: str
    """Whose fault it is that there is nothing to compare: `original` or `port`; else empty."""
    reason: str
    says: str
    """The original's own verdict, `pass` or `fail`; else empty."""
    launches: tuple[int, ...]
    """Of the original and of the port, as far as they ran."""
    kernels: int
    """Different ones that the port launched."""
    stand_ins: tuple[str, ...]
    """Calls of libraries that were answered on the host."""

    @property
    def agrees(self) -> bool:
        """Whether both sides said the same."""
        return self.verdict == "agree"

    @property
    def is_wrong(self) -> bool:
        """Whether the port did what the original did not, or could not be built."""
        return self.verdict == "differ" or (self.side == "port" and self.verdict in _WRONG)

    @property
    def told(self) -> str:
        """The verdict in words."""
        own = "; both sides say that they failed" if self.agrees and self.says == "fail" else ""
        return f"{self.verdict.replace('-', ' ')}{own}"

    @property
    def counted(self) -> str:
        """Launches of both sides: `3 and 3`."""
        return " and ".join(f"{count:,}" for count in self.launches)


_WRONG = frozenset({"fault", "crashed", "ignored-error", "not-built", "no-launch"})


class Roofs(NamedTuple):
    """Of a GPU: what no kernel exceeds."""

    chip: str
    bandwidth: Mapping[str, float]
    rate: Mapping[str, float]
    left_out: str


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
    instances: tuple[Instance, ...] = ()
    """Of a template: what was built and what was run."""
    estimates: tuple[Estimated, ...] = ()

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
    changed: int
    """Lines that the port has otherwise, or besides."""
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
    actions: tuple[Action, ...]
    failed: tuple[FailedUnit, ...]
    units: int
    """That were built, or tried."""
    made: Made
    history: tuple[Past, ...]
    """Earlier runs and this one, oldest first; empty where no file of them was given."""
    missing: tuple[str, ...]
    """Evidence that there is none of, and what would make it."""
    notes: tuple[str, ...]
    roofs: Roofs | None = None
    programs: tuple[Program, ...] = ()

    @property
    def touched(self) -> tuple[Mapping[str, Any], ...]:
        """Files that the port has otherwise, or that leave work; those with most of it first."""
        found = [f for f in self.files if f.get("lines_changed") or f.get("lines_added") or f["review"] or f["manual"]]
        return tuple(sorted(found, key=lambda f: (-f["manual"], -f["review"], -f.get("lines_changed", 0), f["path"])))

    @property
    def states(self) -> dict[State, int]:
        """Kernels per state, all states there."""
        counts = dict.fromkeys(State, 0)
        for kernel in self.kernels:
            counts[kernel.state] += 1
        return counts

    @property
    def ran(self) -> str:
        """What was run and what was not, in a sentence or two."""
        real = sorted({device for _, device, *_ in self.devices if device in REAL_DEVICES})
        virtual = sorted({device for _, device, *_ in self.devices if device not in REAL_DEVICES})
        cases = sum(len(kernel.cases) for kernel in self.kernels)
        whole = ""
        if self.programs:
            agree = sum(program.agrees for program in self.programs)
            number = f"{len(self.programs):,} whole program{'s' * (len(self.programs) != 1)}"
            whole = f" {number} of both sides ran on virtual devices, {agree:,} agree{'s' * (agree == 1)}."
        if not self.devices and self.programs:
            return f"No case was run.{whole} Nothing was run on an AMD GPU, and no time was measured."
        if not self.devices:
            built = f"{self.units - len(self.failed):,} of {self.units:,} files were compiled" if self.units else ""
            return f"{built + '; n' if built else 'N'}othing was run, on no device."
        told = f"{cases:,} cases were run on {' and '.join([*real, *virtual])}"
        if "hip" in real:
            return f"{told}; hip is an AMD GPU.{whole}"
        models = "models of the GPUs on the CPU, which execute compiled code" if virtual else "an NVIDIA GPU"
        return f"{told}: {models}.{whole} Nothing was run on an AMD GPU, and no time was measured."

    @property
    def minutes(self) -> int:
        """Of all actions."""
        return sum(action.minutes for action in self.actions)

    @property
    def effort(self) -> str:
        """Of all actions, in words."""
        return in_words(self.minutes)

    @property
    def about(self) -> str:
        """The same as an estimate: `minutes`, `about 3 hours`."""
        return f"about {self.effort}" if self.effort[:1].isdecimal() else self.effort

    @property
    def done(self) -> int:
        """Kernels with nothing left to do."""
        return sum(count for state, count in self.states.items() if state in DONE)
