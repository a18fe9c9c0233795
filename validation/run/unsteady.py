"""What an original that no reference stands beside says of itself: how far its own results move, and by what."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from porter.validation.cases import dtypes
from porter.validation.cases.case import Argument
from porter.validation.cases.dtypes import Array
from porter.validation.cases.inputs import Filled, Trial
from porter.validation.run.side import Side
from porter.validation.run.task import Say, Task
from porter.validation.run.trial import Done, Schedule, launch_all
from porter.validation.verdict.judging import Judged, Truth, judge_trial, truths_from, widened
from porter.validation.verdict.moving import beyond_rounding, decided_by_rounding, is_narrow, largest, moved
from porter.validation.verdict.outcome import Status

_MOVES = "differs by no more than the original's own results move when its inputs move by a few roundings"
_DECIDES = "integers differ only where the original's own do when its roundings go up or down"
_RACE = "data race"
_ORDER = "its results depend on the order of its threads by more than roundings"
_DRAWS = 6
_MOST = 0.95
"""Of the elements: with 16 bits, the ways that roundings go tell of some elements only how far they can move."""


def movement_of(
    task: Task, sides: Sequence[Side], original: Done | None, filled: Filled, trial: Trial, say: Say
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


def held_to_itself(
    task: Task, side: Side, runs: tuple[Done, ...], filled: Filled, trial: Trial, say: Say
) -> Judged | None:
    """The verdict on an original whose results differ from order to order, where it is by more than roundings."""
    own = truths_from(task.case, runs[0], trial)
    judged = judge_trial(runs, own, must_repeat=False)
    if judged.status is Status.PASSED:
        return None
    movement = movement_of(task, (side,), runs[0], filled, trial, say)
    wider = {name: widened(truth, movement.get(name)) for name, truth in own.items()}
    judged = judge_trial(runs, wider, must_repeat=False)
    if judged.status is Status.PASSED:
        return None
    return replace(judged, status=Status.NONDETERMINISTIC, message=f"{_ORDER}: {judged.message}")


def is_unsteady(sides: Sequence[Side]) -> bool:
    """Whether the last trial of an original gave results that depend on the order of its threads, and no race."""
    originals = [side for side in sides if side.plan.side == "original" and side.statuses]
    return any(side.statuses[-1] is Status.NONDETERMINISTIC and _RACE not in side.reason for side in originals)


def race_of(task: Task, sides: Sequence[Side], filled: Filled, trial: Trial, say: Say) -> str:
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


def hazard_of(sides: Sequence[Side], original: Done | None) -> str:
    """Whether plain accesses of the original to global memory race: what it was run for has no order of its own."""
    side = next((side for side in sides if side.plan.side == "original" and not side.is_over), None)
    if side is None or original is None or original.unordered is None:
        return ""
    side.statuses.append(Status.NONDETERMINISTIC)
    side.reason = f"it has a data race in global memory, and its results may depend on its order: {original.unordered}"
    return "; the original's own values may depend on the order of its threads, as its accesses race: add a reference"


def why_moved(judged: Judged, wider: Mapping[str, Truth]) -> tuple[str, ...]:
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


def _again(task: Task, side: Side, filled: Filled, trial: Trial, schedule: Schedule, say: Say) -> Done:
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
