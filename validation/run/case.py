"""Checks one case on all its sides: the original and the ports, each on its device. Runs in a child process."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from porter.validation.cases import dtypes
from porter.validation.cases.case import Case, CaseError
from porter.validation.cases.hooks import HookFailed
from porter.validation.cases.inputs import Filled, Trial, fill
from porter.validation.devices.core.result import Place
from porter.validation.devices.device import Launch, Program
from porter.validation.devices.scopes import narrower
from porter.validation.run.apart import compare_sides
from porter.validation.run.blame import compiler_verdict, undefined_verdict
from porter.validation.run.side import Side, begin, finished
from porter.validation.run.task import Agreement, Checked, OpenDevice, Say, SideKey, Task
from porter.validation.run.trial import Done, Schedule, launch_all, schedules
from porter.validation.run.unsteady import hazard_of, held_to_itself, is_unsteady, movement_of, race_of, why_moved
from porter.validation.toolchain.entry import demangle, signature_name
from porter.validation.verdict import compare
from porter.validation.verdict.beyond import beyond_values
from porter.validation.verdict.judging import Judged, Truth, floored, flushes, judge_trial, truths, truths_from, widened
from porter.validation.verdict.outcome import Evidence, OutputResult, SideResult, Status, Written, worst

_UNSTEADY = "the original's own values depend on the order of its threads: add a reference"


def check(task: Task, open_device: OpenDevice, say: Say) -> Checked:
    """Compile every side, run all trials, and judge."""
    results: dict[SideKey, SideResult] = {(r.side, r.device, r.warp): r for r in task.dead}
    sides: list[Side] = []
    for plan in task.sides:
        if plan.key in results:
            continue
        begun = begin(plan, task, open_device, say)
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
        results[side.plan.key] = finished(side, len(trials), error)
    ratios = tuple((s.plan.key, float(np.sqrt(s.squares / s.elements))) for s in sides if s.elements)
    ordered = tuple(results[plan.key] for plan in task.sides)
    return Checked(ordered, tuple(agreements.values()), ratios, tuple(trials), _seeds(task), error)


def _seeds(task: Task) -> tuple[int, ...]:
    return task.seeds or task.case.seeds


def _trials(task: Task) -> Sequence[Trial]:
    shapes = list(task.case.shapes())
    return [Trial(s, seed, profile) for profile in task.case.profiles for s in shapes for seed in _seeds(task)]


def _one_trial(
    task: Task,
    trial: Trial,
    sides: Sequence[Side],
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
            judged = held_to_itself(task, side, runs[side.plan.key], filled, trial, say) or judged
        if known is None and expected is not None and judged.status is Status.WRONG_VALUES:
            movement = movement or movement_of(task, sides, original, filled, trial, say)
            wider = {name: widened(truth, movement.get(name)) for name, truth in expected.items()}
            judged = judge_trial(runs[side.plan.key], wider, must_repeat=case.deterministic)
            if judged.status is Status.PASSED:
                side.notes |= dict.fromkeys(why_moved(judged, wider))
        if judged.status is Status.PASSED and original is not None and side.plan.side == "port":
            first = next(done for key, done in runs.items() if key[0] == "original" and done[0] is original)
            judged = beyond_values(judged, runs[side.plan.key], first, expected or {})
            judged = _narrower(judged, side, sides)
            if case.observed and not expected and not first[0].beside and judged.status is Status.PASSED:
                side.silent += 1
        if known is None and judged.status is Status.WRONG_VALUES and side.plan.side == "port" and not case.races:
            race = race or race_of(task, sides, filled, trial, say)
            judged = replace(judged, message=f"{judged.message}{race}")
        if known is None and judged.status is Status.WRONG_VALUES and side.plan.side == "port" and not race:
            race = hazard_of(sides, original)
            judged = replace(judged, message=f"{judged.message}{race}")
        differs = judged.status in (Status.WRONG_VALUES, Status.NON_FINITE, Status.NONDETERMINISTIC)
        if known is None and differs and side.plan.side == "port" and is_unsteady(sides):
            judged = replace(judged, message=f"{judged.message}; {_UNSTEADY}")
        is_first = side.evidence is None
        _account(case, side, judged, trial, task)
        if is_first and side.plan.side == "port":
            _trace_original(side, sides, runs, task.launch_seconds)
    compare_sides(case, runs, agreements)


def _ask_compiler(task: Task, side: Side, sides: Sequence[Side], open_device: OpenDevice, say: Say) -> None:
    """A port that is wrong, compiled otherwise, in the first trial that failed."""

    def trap(program: Program) -> str | None:
        begun = begin(replace(side.plan, program=program), task, open_device, say)
        if isinstance(begun, SideResult) or not any("trap" in name for name in _mnemonics(begun) or ()):
            return None
        done = _run(task, begun, fill(task.case, trial), trial, say)[0]
        return done.trapped or None

    def passes(program: Program) -> bool:
        begun = begin(replace(side.plan, program=program), task, open_device, say)
        if isinstance(begun, SideResult):
            return False
        others = [Side(s.plan, s.device, s.loaded) for s in sides if s.plan.side == "original"]
        _one_trial(task, trial, (*others, begun), {}, say)
        return begun.statuses == [Status.PASSED]

    if side.plan.side != "port" or side.evidence is None:
        return
    trial = next(trial for trial in _trials(task) if str(trial) == side.failed[0])
    program, status = side.plan.program, worst(side.statuses)
    found = (undefined_verdict(program, status, trap), compiler_verdict(program, status, passes, _mnemonics(side)))
    side.reason = "; ".join([side.reason, *filter(None, found)])


def _mnemonics(side: Side) -> frozenset[str] | None:
    """Of the code that runs; a real device does not tell."""
    return getattr(side.loaded, "mnemonics", None)


def _narrower(judged: Judged, side: Side, sides: Sequence[Side]) -> Judged:
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
    case: Case, side: Side, known: dict[str, Truth] | None, original: Done | None, trial: Trial
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


def _original(runs: dict[SideKey, tuple[Done, ...]]) -> Done | None:
    for key, done in runs.items():
        if key[0] == "original" and done and done[0].status is Status.PASSED:
            return done[0]
    return None


def _run(task: Task, side: Side, filled: Filled, trial: Trial, say: Say) -> tuple[Done, ...]:
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


def _account(case: Case, side: Side, judged: Judged, trial: Trial, task: Task) -> None:
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


def _trace(side: Side, run: Done, output: str | None, index: tuple[int, ...] | None, seconds: float) -> Written | None:
    """Runs a launch again with an eye on one element."""
    who_wrote = getattr(side.loaded, "who_wrote", None)
    if who_wrote is None or output is None or index is None or run.launch is None or run.packed is None:
        return None
    placed = run.packed.placed[output]
    size = dtypes.storage(placed.argument.dtype).itemsize
    found: Place | None = who_wrote(run.launch, run.packed.position[output], placed.offset(index), size, seconds)
    return None if found is None else _written(found, run.launch, side.device.lanes)


def _trace_original(side: Side, sides: Sequence[Side], runs: dict[SideKey, tuple[Done, ...]], seconds: float) -> None:
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
