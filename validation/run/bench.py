"""`porter bench` without a command line: times originals and ports on the real devices, results checked around it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from porter.validation.cases.case import Case, CaseError
from porter.validation.cases.hooks import HookFailed
from porter.validation.cases.inputs import Filled, Trial, fill
from porter.validation.devices import registry
from porter.validation.devices.core.result import Fault, NotRun, Ran
from porter.validation.devices.device import BuildFailed, Loaded
from porter.validation.devices.real import RealKernel
from porter.validation.harness.messages import Properties
from porter.validation.run.plan import Request, collect, sides_of
from porter.validation.run.trial import Done, Schedule, launch_all
from porter.validation.verdict.judging import Truth, judge_trial, truths
from porter.validation.verdict.outcome import FileError, Status
from porter.validation.verdict.timing import Achieved, Ceilings, Measured, Spread, achieved, ceilings, spread

Progress = Callable[[int, int], None]
DEVICES = ("cuda", "hip")


@dataclass(frozen=True)
class BenchRequest:
    """What to time, and how often."""

    paths: tuple[Path, ...]
    devices: tuple[str, ...] = DEVICES
    names: tuple[str, ...] = ()
    warps: tuple[str, ...] = ("preserve",)
    tree: Path | None = None
    warmup: int = 5
    repeats: int = 30
    flush_bytes: int = 512 << 20
    """Written between launches, so that each begins with a cold cache; more than the largest last-level cache."""
    build_seconds: float = 300.0
    launch_seconds: float = 60.0


@dataclass(frozen=True)
class Timing:
    """One kernel on one device with one shape."""

    case: str
    side: str
    device: str
    warp: str | None
    shape: str
    status: Status
    """`passed`: timed, and right before and after."""
    reason: str = ""
    times: Spread | None = None
    achieved: Achieved | None = None
    ceilings: Ceilings | None = None
    properties: Properties | None = None
    command: tuple[str, ...] = ()


@dataclass(frozen=True)
class BenchReport:
    """All timings, and what is wrong with case files."""

    timings: tuple[Timing, ...]
    errors: tuple[FileError, ...]
    request: BenchRequest

    @property
    def is_done(self) -> bool:
        """Whether something was timed and nothing went wrong."""
        return bool(self.timings) and not self.errors and all(t.status is Status.PASSED for t in self.timings)

    def ratio(self, timing: Timing) -> float | None:
        """Time of a port over that of its original for the same shape; None where there is no original."""
        if timing.side != "port" or timing.times is None:
            return None
        for other in self.timings:
            if (other.case, other.shape, other.side) == (timing.case, timing.shape, "original") and other.times:
                return timing.times.median / other.times.median
        return None


def bench(request: BenchRequest, progress: Progress | None = None) -> BenchReport:
    """Time every case on every device, one after the other: nothing else may run meanwhile."""
    plan = Request(request.paths, request.devices, request.warps, request.names, tree=request.tree)
    cases, errors = collect(plan)
    found = list(errors)
    timings: list[Timing] = []
    for number, case in enumerate(cases, 1):
        try:
            timings += _case(case, plan, request)
        except (CaseError, HookFailed) as error:
            found.append(FileError(str(error.path), error.line, error.message))
        if progress is not None:
            progress(number, len(cases))
    return BenchReport(tuple(timings), tuple(found), request)


def _case(case: Case, plan: Request, request: BenchRequest) -> Iterator[Timing]:
    for side in sides_of(case, (), request.devices, plan):
        base = Timing(case.name, side.side, side.device, side.warp, "", Status.NOT_RUN)
        device = registry.device(side.device)
        if side.program is None or isinstance(device, str):
            yield replace(base, reason=side.reason or str(device))
            continue
        loaded = device.compile(side.program, request.build_seconds)
        if isinstance(loaded, BuildFailed):
            first = next((line for line in loaded.output.splitlines() if "error" in line), "the compiler failed")
            yield replace(base, status=Status.BUILD_FAILED, reason=first.strip(), command=loaded.command)
        elif isinstance(loaded, NotRun) or not isinstance(loaded, RealKernel):
            yield replace(base, reason=loaded.reason if isinstance(loaded, NotRun) else f"{side.device} has no clock")
        else:
            try:
                yield from _shapes(case, loaded, side.lanes, replace(base, command=loaded.command), request)
            finally:
                loaded.close()


def _shapes(case: Case, loaded: RealKernel, lanes: int, base: Timing, request: BenchRequest) -> Iterator[Timing]:
    for symbols in case.shapes():
        trial = Trial(symbols, case.seeds[0], "random")
        shape = ", ".join(f"{name}={value}" for name, value in symbols.items())
        timing = _one(case, loaded, trial, lanes, replace(base, shape=shape), request)
        yield timing
        if timing.status in (Status.NOT_RUN, Status.TIMED_OUT):
            return


def _one(case: Case, loaded: RealKernel, trial: Trial, lanes: int, base: Timing, request: BenchRequest) -> Timing:
    filled = fill(case, trial)
    expected = truths(case, filled, trial, None) if case.reference is not None else None
    before = _checked(case, loaded, filled, trial, lanes, expected, request)
    if isinstance(before, tuple):
        return replace(base, status=before[0], reason=before[1])
    if before.launch is None or 0 in before.launch.grid:
        return replace(base, reason="a launch of nothing")
    measured = loaded.time(before.launch, request.launch_seconds, request.warmup, request.repeats, request.flush_bytes)
    if not isinstance(measured, Measured):
        return replace(base, status=_status(measured), reason=str(measured))
    after = _checked(case, loaded, filled, trial, lanes, expected, request)
    if isinstance(after, tuple):
        return replace(base, status=after[0], reason=f"after timing: {after[1]}")
    times, limits = spread(measured.milliseconds), ceilings(measured.properties)
    moved = case.bytes.value(trial.symbols) if case.bytes else None
    operations = case.operations.value(trial.symbols) if case.operations else None
    return replace(
        base,
        status=Status.PASSED,
        times=times,
        achieved=achieved(times.median, moved, operations, limits),
        ceilings=limits,
        properties=measured.properties,
    )


def _checked(
    case: Case,
    loaded: Loaded,
    filled: Filled,
    trial: Trial,
    lanes: int,
    expected: dict[str, Truth] | None,
    request: BenchRequest,
) -> Done | tuple[Status, str]:
    """A run that is right, or what is wrong with it."""
    plan: Sequence[Schedule] = (Schedule(None), Schedule(None))
    runs = launch_all(case, loaded, filled, trial, plan, lanes, request.launch_seconds, lambda step, seconds: None)
    judged = judge_trial(runs, expected, must_repeat=case.deterministic)
    if judged.status is Status.PASSED:
        return runs[0]
    return judged.status, judged.message


def _status(outcome: object) -> Status:
    if isinstance(outcome, Fault):
        return Status.FAULT
    return Status.NOT_RUN if isinstance(outcome, (NotRun, Ran)) else Status.TIMED_OUT
