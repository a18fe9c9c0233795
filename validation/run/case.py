"""Checks one case on all its sides: the original and the ports, each on its device. Runs in a child process."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from porter.validation.cases import dtypes
from porter.validation.cases.case import Argument, Case, CaseError
from porter.validation.cases.dtypes import Array
from porter.validation.cases.hooks import HookFailed
from porter.validation.cases.inputs import Filled, Trial, fill
from porter.validation.devices.core.result import NotRun, Place
from porter.validation.devices.device import CUT_OUT, BuildFailed, Device, Launch, Loaded, Program
from porter.validation.devices.scopes import narrower
from porter.validation.devices.virtual import VirtualDevice
from porter.validation.run.blame import compiler_verdict, undefined_verdict
from porter.validation.run.trial import Done, Schedule, launch_all, schedules
from porter.validation.toolchain.elsewhere import Elsewhere
from porter.validation.toolchain.entry import demangle, signature_name
from porter.validation.toolchain.headers import used_by
from porter.validation.toolchain.store import NO_ROOM
from porter.validation.verdict import compare
from porter.validation.verdict.beyond import beyond_values
from porter.validation.verdict.judging import Judged, Truth, floored, flushes, judge_trial, truths, truths_from, widened
from porter.validation.verdict.moving import beyond_rounding, decided_by_rounding, is_narrow, largest, moved
from porter.validation.verdict.outcome import Evidence, OutputResult, SideResult, Status, Written, worst

SideKey = tuple[str, str, str | None]
"""`original` or `port`, device, warp mode."""
Say = Callable[[SideKey | None, str, float], None]
"""Told what is about to be done, and how long it may take."""
OpenDevice = Callable[[str], Device]
_KEPT = 4000
"""Characters kept of what a compiler said."""
_ROOM = 4 << 20
"""Bytes without which a compiler cannot work."""
_MOVES = "differs by no more than the original's own results move when its inputs move by a few roundings"
_DECIDES = "integers differ only where the original's own do when its roundings go up or down"
_NOTHING_SEEN = "the original printed nothing and left its variables alone: there is nothing to compare"
_NOT_SEEN = "what a kernel prints, or leaves in variables, is seen on virtual devices alone"
_RACE = "data race"
_ASSUMED = "compiled with what the case assumes in place of names that nothing defines: "
_ORDER = "its results depend on the order of its threads by more than roundings"
_UNSTEADY = "the original's own values depend on the order of its threads: add a reference"
_DRAWS = 6
_MOST = 0.95
"""Of the elements: with 16 bits, the ways that roundings go tell of some elements only how far they can move."""


@dataclass(frozen=True)
class SidePlan:
    """One kernel on one device, or why it cannot be."""

    side: str
    device: str
    program: Program | None
    warp: str | None = None
    reason: str = ""
    lanes: int = 32
    """Of a warp as the kernel's code has it."""
    left: tuple[tuple[str, str], ...] = ()
    """Manual work that is left in the port: file and what."""

    @property
    def key(self) -> SideKey:
        """What tells it from the others of a case."""
        return self.side, self.device, self.warp


@dataclass(frozen=True)
class Task:
    """One case and how to check it."""

    case: Case
    sides: tuple[SidePlan, ...]
    schedules: int = 3
    seeds: tuple[int, ...] | None = None
    build_seconds: float = 300.0
    launch_seconds: float = 60.0
    grace_seconds: float = 30.0
    """What everything around a launch may take."""
    folder: str = ""
    """What relative paths start from; empty: the folder that the process is in."""
    elsewhere: Elsewhere = field(default_factory=Elsewhere)
    """What was compiled on other machines."""
    dead: tuple[SideResult, ...] = ()
    """Sides that took the process with them: they are not tried again."""


@dataclass(frozen=True)
class Agreement:
    """How an original and a port compare over all trials."""

    original: SideKey
    port: SideKey
    trials: int = 0
    bitwise: bool = True
    ulps: int = 0
    """Most units in the last place between them."""
    where: str = ""
    """Of the elements that are so far apart."""
    integers: int = 0
    """Elements of integer outputs that differ."""


@dataclass(frozen=True)
class Checked:
    """Everything found out about one case."""

    sides: tuple[SideResult, ...]
    agreements: tuple[Agreement, ...]
    ratios: tuple[tuple[SideKey, float], ...]
    """Relative root-mean-square error per side."""
    trials: tuple[str, ...]
    seeds: tuple[int, ...]
    error: tuple[str, int, str] | None = None
    """File, line and message, when the case or its reference is at fault."""


@dataclass
class _Side:
    """What is known of a side while its trials go on."""

    plan: SidePlan
    device: Device
    loaded: Loaded
    statuses: list[Status] = field(default_factory=list)
    outputs: dict[str, OutputResult] = field(default_factory=dict)
    evidence: Evidence | None = None
    reason: str = ""
    failed: list[str] = field(default_factory=list)
    launches: int = 0
    notes: dict[str, None] = field(default_factory=dict)
    squares: float = 0.0
    elements: int = 0
    counters: Mapping[str, float] = field(default_factory=dict)
    seconds: float = 0.0
    is_over: bool = False
    silent: int = 0
    """Trials in which the original showed nothing of what is observed."""


def check(task: Task, open_device: OpenDevice, say: Say) -> Checked:
    """Compile every side, run all trials, and judge."""
    results: dict[SideKey, SideResult] = {(r.side, r.device, r.warp): r for r in task.dead}
    sides: list[_Side] = []
    for plan in task.sides:
        if plan.key in results:
            continue
        begun = _begin(plan, task, open_device, say)
        if isinstance(begun, SideResult):
            results[plan.key] = begun
        else:
            sides.append(begun)
    error = None
    agreements: dict[tuple[SideKey, SideKey], Agreement] = {}
    trials: list[str] = []
    try:
        for trial in _trials(task):
            if all(side.is_over for side in sides):
                break
            trials.append(str(trial))
            _one_trial(task, trial, sides, agreements, say)
        for side in sides:
            _ask_compiler(task, side, sides, open_device, say)
    except (CaseError, HookFailed) as found:
        error = (str(found.path), found.line, found.message)
    for side in sides:
        results[side.plan.key] = _finished(side, len(trials), error)
    ratios = tuple((s.plan.key, float(np.sqrt(s.squares / s.elements))) for s in sides if s.elements)
    ordered = tuple(results[plan.key] for plan in task.sides)
    return Checked(ordered, tuple(agreements.values()), ratios, tuple(trials), _seeds(task), error)


def _seeds(task: Task) -> tuple[int, ...]:
    return task.seeds or task.case.seeds


def _trials(task: Task) -> Sequence[Trial]:
    shapes = list(task.case.shapes())
    return [Trial(s, seed, profile) for profile in task.case.profiles for s in shapes for seed in _seeds(task)]


def _begin(plan: SidePlan, task: Task, open_device: OpenDevice, say: Say) -> _Side | SideResult:
    """The side with its kernel compiled, or what stands in the way."""
    if plan.program is None:
        return _stopped(plan, Status.NOT_RUN, plan.reason)
    declared = task.case.reason_not_run(plan.device)
    if declared is not None:
        return _stopped(plan, Status.NOT_RUN, declared)
    device = open_device(plan.device)
    if task.case.observed and not isinstance(device, VirtualDevice):
        return _stopped(plan, Status.NOT_RUN, _NOT_SEEN)
    say(plan.key, f"compile {plan.program.source.name}", task.build_seconds * 2 + task.grace_seconds)
    started = time.monotonic()
    loaded = device.compile(plan.program, task.build_seconds)
    seconds = time.monotonic() - started
    if isinstance(loaded, NotRun):
        return _stopped(plan, Status.NOT_RUN, loaded.reason, device, seconds)
    if isinstance(loaded, BuildFailed):
        return _refused(plan, task.case, loaded, device, seconds)
    said = [f"{_ASSUMED}{'; '.join(task.case.assumed)}"] if task.case.assumed else []
    notes = dict.fromkeys([*getattr(loaded, "notes", ()), *said])
    return _Side(plan, device, loaded, notes=notes, seconds=seconds)


def _refused(plan: SidePlan, case: Case, failed: BuildFailed, device: Device, seconds: float) -> SideResult:
    """A compiler's no: not the port's fault where porter itself said that work is left, or a header is not here."""
    said = failed.output.strip()
    first = next((line for line in said.splitlines() if "error" in line), said.splitlines()[0] if said else "no output")
    cut = next((line for line in said.partition(CUT_OUT)[2].splitlines() if "error" in line), "")
    status, reason = Status.BUILD_FAILED, first.strip()
    left = [sentence for path, sentence in plan.left if first.startswith(path)]
    missing = _missing_header(first)
    if left:
        more = f" (and {len(left) - 1} more)" if len(left) > 1 else ""
        status, reason = Status.NOT_RUN, f"manual work is left in the port: {left[0]}{more}; {first.strip()}"
    elif NO_ROOM.search(said) or _is_disk_full():
        status, reason = Status.NOT_RUN, f"the compiler had no room to work: {first.strip()}"
    elif missing is not None:
        around = _folder_around(case, missing) if plan.side == "port" else None
        why = (
            "is not installed here" if around is None else f"is not ported with it: say root = {around} in {case.path}"
        )
        status, reason = Status.NOT_RUN, f"header {missing} {why}: {first.strip()}"
    reason = f"{reason}; cut out of it: {cut.strip()}" if cut else reason
    result = _stopped(plan, status, reason, device, seconds, failed.command)
    return replace(result, notes=(_shortened(said),)) if said else result


def _folder_around(case: Case, header: str) -> str | None:
    """What to give as `root`, where a header that the source includes lies outside of the folder that is ported."""
    found = case.source.parent / header
    if not found.is_file() or found.resolve().is_relative_to(case.root.resolve()):
        return None
    around = os.path.commonpath([found.resolve(), case.root.resolve()])
    return json.dumps(Path(os.path.relpath(around, case.path.parent.resolve())).as_posix())


def _is_disk_full() -> bool:
    """Not every compiler says so."""
    try:
        return shutil.disk_usage(os.environ.get("TMPDIR") or tempfile.gettempdir()).free < _ROOM
    except OSError:
        return False


def _shortened(said: str) -> str:
    """The beginning and the end of a long text, of both where it is about a file and the kernel alone."""
    whole, mark, cut = said.partition(CUT_OUT)
    if mark:
        return f"{_shortened(whole)}{mark}{_shortened(cut)}"
    if len(said) <= _KEPT:
        return said
    head, tail = said[: _KEPT * 3 // 4], said[-_KEPT // 4 :]
    return f"{head}\n... {len(said) - len(head) - len(tail)} characters left out ...\n{tail}"


def _missing_header(line: str) -> str | None:
    for mark in ("file not found", "No such file or directory", "could not open source file"):
        if mark in line:
            quoted = [part for part in line.replace('"', "'").split("'")[1::2] if part]
            return quoted[0] if quoted else line.rpartition(mark)[0].rpartition("error:")[2].strip(" :")
    return None


def _stopped(
    plan: SidePlan,
    status: Status,
    reason: str,
    device: Device | None = None,
    seconds: float = 0.0,
    command: tuple[str, ...] = (),
) -> SideResult:
    return SideResult(
        plan.side,
        plan.device,
        device.lanes if device is not None else 0,
        status,
        plan.warp,
        reason,
        source=str(plan.program.source) if plan.program else "",
        command=command,
        headers=(used_by(command) or "") if plan.program and plan.program.language == "hip" else "",
        does_not_show=device.does_not_show if device is not None else (),
        seconds=seconds,
    )


def _one_trial(
    task: Task,
    trial: Trial,
    sides: Sequence[_Side],
    agreements: dict[tuple[SideKey, SideKey], Agreement],
    say: Say,
) -> None:
    case = task.case
    say(None, f"inputs and reference, {trial}", task.launch_seconds + task.grace_seconds)
    filled = fill(case, trial)
    runs: dict[SideKey, tuple[Done, ...]] = {}
    for side in sides:
        if not side.is_over:
            runs[side.plan.key] = _run(task, side, filled, trial, say)
    original = _original(runs)
    movement: dict[str, NDArray[np.float64]] = {}
    race = ""
    known: dict[str, Truth] | None = None
    if case.reference is not None:
        say(None, f"reference, {trial}", task.launch_seconds + task.grace_seconds)
        known = truths(case, filled, trial, None)
    for side in sides:
        if side.plan.key not in runs:
            continue
        expected = _expected(case, side, known, original, trial)
        if isinstance(expected, str):
            side.statuses.append(Status.NOT_RUN)
            side.reason = side.reason or expected
            continue
        if expected is not None and flushes(runs[side.plan.key][0]):
            expected = {name: floored(truth) for name, truth in expected.items()}
        judged = judge_trial(runs[side.plan.key], expected, must_repeat=case.deterministic)
        if expected is None and judged.status is Status.PASSED and not judged.repeats:
            judged = _held_to_itself(task, side, runs[side.plan.key], filled, trial, say) or judged
        if known is None and expected is not None and judged.status is Status.WRONG_VALUES:
            movement = movement or _movement(task, sides, original, filled, trial, say)
            wider = {name: widened(truth, movement.get(name)) for name, truth in expected.items()}
            judged = judge_trial(runs[side.plan.key], wider, must_repeat=case.deterministic)
            if judged.status is Status.PASSED:
                side.notes |= dict.fromkeys(_why_moved(judged, wider))
        if judged.status is Status.PASSED and original is not None and side.plan.side == "port":
            first = next(done for key, done in runs.items() if key[0] == "original" and done[0] is original)
            judged = beyond_values(judged, runs[side.plan.key], first, expected or {})
            judged = _narrower(judged, side, sides)
            if case.observed and not expected and not first[0].beside and judged.status is Status.PASSED:
                side.silent += 1
        if known is None and judged.status is Status.WRONG_VALUES and side.plan.side == "port" and not case.races:
            race = race or _race(task, sides, filled, trial, say)
            judged = replace(judged, message=f"{judged.message}{race}")
        if known is None and judged.status is Status.WRONG_VALUES and side.plan.side == "port" and not race:
            race = _hazard(sides, original)
            judged = replace(judged, message=f"{judged.message}{race}")
        differs = judged.status in (Status.WRONG_VALUES, Status.NON_FINITE, Status.NONDETERMINISTIC)
        if known is None and differs and side.plan.side == "port" and _is_unsteady(sides):
            judged = replace(judged, message=f"{judged.message}; {_UNSTEADY}")
        is_first = side.evidence is None
        _account(case, side, judged, trial, task)
        if is_first and side.plan.side == "port":
            _trace_original(side, sides, runs, task.launch_seconds)
    _compare_sides(case, runs, agreements)


def _ask_compiler(task: Task, side: _Side, sides: Sequence[_Side], open_device: OpenDevice, say: Say) -> None:
    """A port that is wrong, compiled otherwise, in the first trial that failed."""

    def trap(program: Program) -> str | None:
        begun = _begin(replace(side.plan, program=program), task, open_device, say)
        if isinstance(begun, SideResult) or not any("trap" in name for name in _mnemonics(begun) or ()):
            return None
        done = _run(task, begun, fill(task.case, trial), trial, say)[0]
        return done.trapped or None

    def passes(program: Program) -> bool:
        begun = _begin(replace(side.plan, program=program), task, open_device, say)
        if isinstance(begun, SideResult):
            return False
        others = [_Side(s.plan, s.device, s.loaded) for s in sides if s.plan.side == "original"]
        _one_trial(task, trial, (*others, begun), {}, say)
        return begun.statuses == [Status.PASSED]

    if side.plan.side != "port" or side.evidence is None:
        return
    trial = next(trial for trial in _trials(task) if str(trial) == side.failed[0])
    program, status = side.plan.program, worst(side.statuses)
    found = (undefined_verdict(program, status, trap), compiler_verdict(program, status, passes, _mnemonics(side)))
    side.reason = "; ".join([side.reason, *filter(None, found)])


def _mnemonics(side: _Side) -> frozenset[str] | None:
    """Of the code that runs; a real device does not tell."""
    return getattr(side.loaded, "mnemonics", None)


def _narrower(judged: Judged, side: _Side, sides: Sequence[_Side]) -> Judged:
    """Atomics on global memory with a scope narrower than the original's: values cannot show it."""
    known = [getattr(s.loaded, "narrow", None) for s in sides if s.plan.side == "original"]
    mine: frozenset[str] = getattr(side.loaded, "narrow", frozenset())
    found = narrower(mine, known[0]) if known and known[0] is not None else frozenset()
    if not found or judged.status is not Status.PASSED:
        return judged
    what = ", ".join(sorted(found))
    message = f"atomics on global memory ({what}) are for a block alone, in the original for the whole device"
    return replace(judged, status=Status.FAULT, message=message)


def _expected(
    case: Case, side: _Side, known: dict[str, Truth] | None, original: Done | None, trial: Trial
) -> dict[str, Truth] | str | None:
    """What the side has to come to; None for an original without a reference; why there is nothing to compare with."""
    if side.plan.side == "original":
        return known
    if known is None:
        return "no reference, and the original did not run" if original is None else truths_from(case, original, trial)
    if case.tolerance.policy != "accurate":
        return known
    if original is None:
        return "the tolerance policy compares with the original, which did not run"
    outputs = original.outputs
    return {n: replace(t, rival=outputs[n].array) if t.bound is not None else t for n, t in known.items()}


def _movement(
    task: Task, sides: Sequence[_Side], original: Done | None, filled: Filled, trial: Trial, say: Say
) -> dict[str, NDArray[np.float64]]:
    """How far the original's own results move when its inputs move by a few roundings."""
    case = task.case
    side = next((side for side in sides if side.plan.side == "original"), None)
    if side is None or original is None or case.tolerance.policy != "table":
        return {}
    floats = {a.dtype for a in (*case.arguments, *case.constants) if dtypes.is_float(a.dtype)}
    narrow = any(map(is_narrow, floats)) and side.device.name == "ptx"
    draws = [(moved(case, filled, d, narrow=not narrow), Schedule(None)) for d in range(_DRAWS if floats else 0)]
    # what its own roundings do to its results shows when they go the other way
    written = [a for a in case.arguments if a.is_written]
    turns = side.device.name == "ptx" and (narrow or not all(dtypes.is_float(a.dtype) for a in written))
    draws += [(filled, Schedule(None, rounding=way)) for way in (("up", "down") if turns else ())]
    runs: list[Done] = []
    for shifted, schedule in draws:
        runs.append(_again(task, side, shifted, trial, schedule, say))
        if runs[-1].status is not Status.PASSED:
            return {}
    turned = runs[-2:] if turns else []
    found: dict[str, NDArray[np.float64]] = {}
    for argument in written:
        own, was_written = original.outputs[argument.name].array, original.outputs[argument.name].written
        if not dtypes.is_float(argument.dtype):
            if turned:
                found[argument.name] = decided_by_rounding(_distances(turned, own, argument), was_written)
            continue
        rows = _distances(runs if narrow or not turns else runs[:-2], own, argument)
        if is_narrow(argument.dtype) and narrow:
            values = dtypes.to_float64(own, argument.dtype)
            rows = [beyond_rounding(row, values, argument.dtype) for row in rows]
        if rows:
            found[argument.name] = largest(rows, _MOST if narrow else 0.5)
    return found


def _held_to_itself(
    task: Task, side: _Side, runs: tuple[Done, ...], filled: Filled, trial: Trial, say: Say
) -> Judged | None:
    """The verdict on an original whose results differ from order to order, where it is by more than roundings."""
    own = truths_from(task.case, runs[0], trial)
    judged = judge_trial(runs, own, must_repeat=False)
    if judged.status is Status.PASSED:
        return None
    movement = _movement(task, (side,), runs[0], filled, trial, say)
    wider = {name: widened(truth, movement.get(name)) for name, truth in own.items()}
    judged = judge_trial(runs, wider, must_repeat=False)
    if judged.status is Status.PASSED:
        return None
    return replace(judged, status=Status.NONDETERMINISTIC, message=f"{_ORDER}: {judged.message}")


def _is_unsteady(sides: Sequence[_Side]) -> bool:
    """Whether the last trial of an original gave results that depend on the order of its threads, and no race."""
    originals = [side for side in sides if side.plan.side == "original" and side.statuses]
    return any(side.statuses[-1] is Status.NONDETERMINISTIC and _RACE not in side.reason for side in originals)


def _race(task: Task, sides: Sequence[_Side], filled: Filled, trial: Trial, say: Say) -> str:
    """Whether the original has a race that the case does not look for, and so no values of its own."""
    side = next((side for side in sides if side.plan.side == "original" and not side.is_over), None)
    if side is None:
        return ""
    done = _again(task, side, filled, trial, Schedule(None, races=True), say)
    if done.status is not Status.FAULT or _RACE not in done.message:
        return ""
    side.statuses.append(Status.NONDETERMINISTIC)
    side.reason = f"it has a data race, and its results depend on the order of its threads: {done.message}"
    return "; the original's own values depend on the order of its threads, as it has a data race: add a reference"


def _hazard(sides: Sequence[_Side], original: Done | None) -> str:
    """Whether plain accesses of the original to global memory race: what it was run for has no order of its own."""
    side = next((side for side in sides if side.plan.side == "original" and not side.is_over), None)
    if side is None or original is None or original.unordered is None:
        return ""
    side.statuses.append(Status.NONDETERMINISTIC)
    side.reason = f"it has a data race in global memory, and its results may depend on its order: {original.unordered}"
    return "; the original's own values may depend on the order of its threads, as its accesses race: add a reference"


def _why_moved(judged: Judged, wider: Mapping[str, Truth]) -> tuple[str, ...]:
    """What to tell of a port that is right by the original's own movement: for integers, and for floats."""
    integers = {name for name, truth in wider.items() if not dtypes.is_float(truth.argument.dtype)}
    decides = any(not one.bitwise for name, one in judged.comparisons.items() if name in integers)
    if decides and not wider.keys() - integers:
        return (_DECIDES,)
    return (_MOVES, _DECIDES) if decides else (_MOVES,)


def _distances(runs: Sequence[Done], own: Array, argument: Argument) -> list[NDArray[np.float64]]:
    """How far one output is from the original's own, element by element."""
    with np.errstate(invalid="ignore"):
        values = dtypes.to_float64(own, argument.dtype)
        return [np.abs(dtypes.to_float64(run.outputs[argument.name].array, argument.dtype) - values) for run in runs]


def _again(task: Task, side: _Side, filled: Filled, trial: Trial, schedule: Schedule, say: Say) -> Done:
    (done,) = launch_all(
        task.case,
        side.loaded,
        filled,
        trial,
        (schedule,),
        side.plan.lanes,
        task.launch_seconds,
        lambda step, seconds: say(side.plan.key, f"{step}, inputs moved", seconds + task.grace_seconds),
    )
    return done


def _original(runs: dict[SideKey, tuple[Done, ...]]) -> Done | None:
    for key, done in runs.items():
        if key[0] == "original" and done and done[0].status is Status.PASSED:
            return done[0]
    return None


def _run(task: Task, side: _Side, filled: Filled, trial: Trial, say: Say) -> tuple[Done, ...]:
    plan = schedules(task.schedules, races=task.case.races)
    started = time.monotonic()
    done = launch_all(
        task.case,
        side.loaded,
        filled,
        trial,
        plan,
        side.plan.lanes,
        task.launch_seconds,
        lambda step, seconds: say(side.plan.key, step, seconds + task.grace_seconds),
    )
    side.seconds += time.monotonic() - started
    side.launches += len(done)
    for run in done:
        side.notes |= dict.fromkeys(run.notes)
    counted = _counted(done[0]) if done else {}
    if counted.get("vector_instructions", 0) > side.counters.get("vector_instructions", 0):
        side.counters = counted
    return done


def _counted(done: Done) -> dict[str, float]:
    """What a virtual device counted in one run; nothing on real ones."""
    counters = done.counters
    if counters is None or not counters.vector_instructions:
        return {}
    return {
        "active_lanes": counters.active_lanes or 0.0,
        "vector_instructions": counters.vector_instructions,
        "divergent_branches": counters.divergent_branches,
        "matrix_operations": counters.matrix_operations,
        "written_elements": done.changed,
    }


def _account(case: Case, side: _Side, judged: Judged, trial: Trial, task: Task) -> None:
    side.statuses.append(judged.status)
    for name, c in judged.comparisons.items():
        side.outputs[name] = _merged(side.outputs.get(name, OutputResult(name)), c)
        if c.scale > 0 and c.elements:
            side.squares += (c.rms_error / c.scale) ** 2 * c.elements
            side.elements += c.elements
    if judged.status is Status.PASSED:
        return
    side.failed.append(str(trial))
    side.is_over = judged.status in (Status.TIMED_OUT, Status.NOT_RUN)
    if side.evidence is None:
        plan: Sequence[Schedule] = schedules(task.schedules, races=case.races)
        schedule = str(plan[min(judged.failed_run, len(plan) - 1)])
        run = judged.runs[judged.failed_run]
        written_by = _trace(side, run, judged.output, judged.index, task.launch_seconds)
        side.reason = judged.message
        side.evidence = Evidence(judged.message, str(trial), schedule, judged.output, judged.index, written_by)


def _trace(side: _Side, run: Done, output: str | None, index: tuple[int, ...] | None, seconds: float) -> Written | None:
    """Runs a launch again with an eye on one element."""
    who_wrote = getattr(side.loaded, "who_wrote", None)
    if who_wrote is None or output is None or index is None or run.launch is None or run.packed is None:
        return None
    placed = run.packed.placed[output]
    size = dtypes.storage(placed.argument.dtype).itemsize
    found: Place | None = who_wrote(run.launch, run.packed.position[output], placed.offset(index), size, seconds)
    return None if found is None else _written(found, run.launch, side.device.lanes)


def _trace_original(side: _Side, sides: Sequence[_Side], runs: dict[SideKey, tuple[Done, ...]], seconds: float) -> None:
    """The same element on the other side, where the port is the one that is wrong."""
    evidence = side.evidence
    for other in sides:
        done = runs.get(other.plan.key, ())
        if evidence is None or other.plan.side != "original" or not done or done[0].status is not Status.PASSED:
            continue
        by = _trace(other, done[0], evidence.output, evidence.index, seconds)
        side.evidence = replace(evidence, original_written_by=by)
        return


def _written(place: Place, launch: Launch, lanes: int) -> Written:
    x, y, _ = launch.block
    linear = place.wave * lanes + place.lane
    thread = (linear % x, linear // x % y, linear // (x * y))
    return Written(signature_name(demangle(place.kernel)), place.block, thread, place.site.where if place.site else "")


def _merged(before: OutputResult, c: compare.Comparison) -> OutputResult:
    ulps = before.ulps or (0,) * len(c.ulps)
    return OutputResult(
        before.name,
        before.elements + c.elements,
        before.bitwise and c.bitwise,
        max(before.max_error, c.max_error),
        max(before.rms_error, c.rms_error),
        max(before.of_allowed, c.of_allowed),
        tuple(a + b for a, b in zip(ulps, c.ulps, strict=True)) if c.ulps else before.ulps,
    )


def _compare_sides(
    case: Case, runs: dict[SideKey, tuple[Done, ...]], agreements: dict[tuple[SideKey, SideKey], Agreement]
) -> None:
    ran = {key: done[0] for key, done in runs.items() if done and done[0].status is Status.PASSED}
    for one, original in ran.items():
        for other, port in ran.items():
            if one[0] == "original" and other[0] == "port":
                known = agreements.get((one, other), Agreement(one, other))
                agreements[one, other] = _agreement(case, known, original, port)


def _agreement(case: Case, known: Agreement, original: Done, port: Done) -> Agreement:
    bitwise, ulps, where, integers = known.bitwise, known.ulps, known.where, known.integers
    for argument in case.arguments:
        if not argument.is_written:
            continue
        one, other = original.outputs[argument.name], port.outputs[argument.name]
        mine, theirs = one.array, other.array
        if argument.any_order:
            mine, theirs = compare.sorted_written(mine, one.written), compare.sorted_written(theirs, other.written)
        both = one.written & other.written
        bitwise = bitwise and bool(np.array_equal(one.written, other.written))
        first, second = mine[both], theirs[both]
        if not dtypes.is_float(argument.dtype):
            integers += int((first != second).sum())
            bitwise = bitwise and bool((first == second).all())
            continue
        nan = np.isnan(dtypes.to_float64(first, argument.dtype)) & np.isnan(dtypes.to_float64(second, argument.dtype))
        first, second = first[~nan], second[~nan]
        bitwise = bitwise and compare.same_bits(first, second)
        places = None if argument.any_order else np.flatnonzero(both)[~nan]
        far = compare.farthest(first, second, argument.dtype, places, both.size)
        if far is not None and far.ulps > ulps:
            ulps, where = far.ulps, far.where(argument.name)
    return Agreement(known.original, known.port, known.trials + 1, bitwise, ulps, where, integers)


def _finished(side: _Side, trials: int, error: tuple[str, int, str] | None) -> SideResult:
    status, reason = worst(side.statuses), side.reason
    if status is Status.PASSED and side.silent == len(side.statuses) > 0:
        status, reason = Status.NOT_RUN, _NOTHING_SEEN
    if error is not None and status in (Status.PASSED, Status.NOT_RUN):
        status, reason = Status.NOT_RUN, f"{error[0]}:{error[1]}: {error[2]}"
    elif not side.statuses:
        reason = "the sweep has no shapes"
    if len(side.failed) and len(side.failed) < len(side.statuses):
        side.notes[f"fails in {len(side.failed)} of {len(side.statuses)} trials: {'; '.join(side.failed[:12])}"] = None
    result = _stopped(side.plan, status, reason, side.device, side.seconds, side.loaded.command)
    return replace(
        result,
        evidence=side.evidence,
        outputs=tuple(side.outputs.values()),
        trials=trials,
        launches=side.launches,
        notes=tuple(side.notes),
        counters=dict(side.counters),
    )
