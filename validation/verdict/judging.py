"""Judges the runs of one trial: against the reference, against the original, and against each other. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray
from porter.validation.cases import dtypes, reference
from porter.validation.cases.case import Argument, Case
from porter.validation.cases.dtypes import Array
from porter.validation.cases.inputs import Filled, Trial, shape_of
from porter.validation.run.trial import Done, Output
from porter.validation.verdict import tolerance
from porter.validation.verdict.compare import Comparison, Mask, compare, errors_of, sorted_written
from porter.validation.verdict.outcome import Status, judge, judge_runs

_MOVEMENT = 4.0
"""How many times the movement of the original's own result is accepted."""


@dataclass(frozen=True)
class Truth:
    """What is expected of one output."""

    argument: Argument
    values: Array
    wanted: Mask
    bound: NDArray[np.float64] | None
    """None: the very bits."""
    rival: Array | None = None
    """The original's result, for a policy that compares accuracies."""
    slack: float = 1.0


@dataclass(frozen=True)
class Judged:
    """What became of one trial on one device."""

    status: Status
    message: str = ""
    output: str | None = None
    index: tuple[int, ...] | None = None
    comparisons: Mapping[str, Comparison] = field(default_factory=dict)
    runs: tuple[Done, ...] = ()
    failed_run: int = 0
    repeats: bool = True


def truths(case: Case, filled: Filled, trial: Trial, rival: Mapping[str, Output] | None) -> dict[str, Truth]:
    """What is expected of every output; raises CaseError and HookFailed."""
    known = reference.expected(case, filled, trial.symbols)
    outputs = {a.name: a for a in case.arguments if a.is_written}
    policy = case.tolerance.policy
    moved: reference.Expected = {}
    if policy in ("table", "accurate"):
        unit = {n: tolerance.TABLE[a.dtype].accumulator for n, a in outputs.items() if dtypes.is_float(a.dtype)}
        moved = reference.spread(case, filled, trial.symbols, known, unit) if unit else {}
    made: dict[str, Truth] = {}
    for name, argument in outputs.items():
        shape = shape_of(case, argument, trial.symbols)
        values, wanted = reference.fitted(case, argument, known[name], shape)
        spread = reference.fitted(case, argument, moved[name], shape)[0] if name in moved else None
        bound = _bound(case, argument, values, spread, trial)
        theirs = rival[name].array if policy == "accurate" and rival is not None else None
        made[name] = Truth(argument, values, wanted, bound, theirs, case.tolerance.slack)
    return made


def _bound(
    case: Case, argument: Argument, values: Array, spread: NDArray[np.float64] | None, trial: Trial
) -> NDArray[np.float64] | None:
    policy = case.tolerance
    if not dtypes.is_float(argument.dtype) or policy.policy == "exact":
        return None
    exact = values.astype(np.float64)
    if policy.policy == "fixed":
        assert policy.rtol is not None and policy.atol is not None
        return tolerance.fixed(exact, policy.rtol, policy.atol)
    reduction = case.integer(policy.reduction, trial.symbols, "tolerance")
    return tolerance.allowed(argument.dtype, exact, reduction, spread)


def truths_from(case: Case, original: Done, trial: Trial) -> dict[str, Truth]:
    """The original's results, taken for the truth where there is no reference."""
    made: dict[str, Truth] = {}
    for argument in case.arguments:
        if not argument.is_written:
            continue
        output = original.outputs[argument.name]
        array = sorted_written(output.array, output.written) if argument.any_order else output.array
        values, bound = array, None
        if dtypes.is_float(argument.dtype):
            values = dtypes.to_float64(array, argument.dtype)
            policy = case.tolerance
            if policy.policy == "fixed":
                assert policy.rtol is not None and policy.atol is not None
                bound = tolerance.fixed(values, policy.rtol, policy.atol)
            elif policy.policy != "exact":
                reduction = case.integer(policy.reduction, trial.symbols, "tolerance")
                bound = tolerance.unrefereed(argument.dtype, values, reduction)
        made[argument.name] = Truth(argument, values, output.written, bound)
    return made


def widened(truth: Truth, movement: NDArray[np.float64] | None) -> Truth:
    """The same, with what the original's own results move on top of what is accepted."""
    if movement is None or truth.argument.any_order:
        return truth
    if truth.bound is None and (dtypes.is_float(truth.argument.dtype) or not movement.any()):
        return truth
    return replace(truth, bound=_MOVEMENT * movement + (0.0 if truth.bound is None else truth.bound))


_FLUSHES = "approximate: v_exp_f32"
"""The hardware's exponential gives no denormals, whatever the mode: `__expf` of HIP is that instruction."""
_SMALLEST_NORMAL = 2.0**-126


def flushes(run: Done) -> bool:
    """Whether a run took exponentials that lose denormals on the hardware."""
    return run.counters is not None and any(name.startswith(_FLUSHES) for name in run.counters.uncertain)


def floored(truth: Truth) -> Truth:
    """The same, with what is no normal number of float32 accepted as zero."""
    if truth.bound is None or truth.argument.dtype != "float32":
        return truth
    return replace(truth, bound=truth.bound + _SMALLEST_NORMAL)


def _compare(output: Output, truth: Truth) -> Comparison:
    array, values = output.array, truth.values
    if truth.argument.any_order:
        array, values = sorted_written(array, output.written & truth.wanted), sorted_written(values, truth.wanted)
    dtype = truth.argument.dtype
    found = compare(array, dtype, values, truth.bound, truth.wanted, output.written)
    if truth.rival is None or found.nonfinite or found.unwritten or found.stray:
        return found
    mask = truth.wanted & output.written
    port, original = errors_of(array, dtype, values, mask), errors_of(truth.rival, dtype, values, mask)
    if tolerance.is_as_accurate(port, original, values, dtype, truth.slack):
        return replace(found, wrong=0, first=None, worst=None)
    limit = min(truth.slack * tolerance.accuracy(original)[0], tolerance.accuracy(port)[0] * (1 - 1e-9))
    return compare(array, dtype, values, np.full(values.shape, limit), truth.wanted, output.written)


def judge_trial(runs: Sequence[Done], expected: Mapping[str, Truth] | None, *, must_repeat: bool) -> Judged:
    """The verdict on the runs of one trial; without expectations only on what they have in common."""
    statuses: list[Status] = []
    found: list[Mapping[str, Comparison]] = []
    for run in runs:
        if run.status is not Status.PASSED:
            statuses.append(run.status)
            found.append({})
            continue
        comparisons = {name: _compare(run.outputs[name], truth) for name, truth in (expected or {}).items()}
        found.append(comparisons)
        statuses.append(judge(list(comparisons.values())))
    repeats = _repeats(runs)
    status = judge_runs(statuses, repeats=repeats, must_repeat=must_repeat)
    place = next((i for i, one in enumerate(statuses) if one is not Status.PASSED), 0)
    if status is Status.NONDETERMINISTIC and statuses[place] is Status.PASSED:
        name, index, message = _first_change(runs)
        return Judged(status, message, name, index, found[0], tuple(runs), 1, repeats)
    if status is Status.PASSED:
        return Judged(status, comparisons=_worst_of(found), runs=tuple(runs), repeats=repeats)
    message, name, index = _reason(runs[place], found[place])
    if status is Status.NONDETERMINISTIC:
        right = sum(one is Status.PASSED for one in statuses)
        message = f"{right} of {len(statuses)} schedules give the expected result; in another one {message}"
    return Judged(status, message, name, index, found[place], tuple(runs), place, repeats)


def _worst_of(found: Sequence[Mapping[str, Comparison]]) -> Mapping[str, Comparison]:
    names = found[0].keys() if found else ()
    return {name: max((row[name] for row in found), key=lambda c: c.max_error) for name in names}


def _repeats(runs: Sequence[Done]) -> bool:
    """Whether all runs wrote the same bytes; where nothing was written the poison differs, and says nothing."""
    ran = [run for run in runs if run.status is Status.PASSED]
    return all(_same(run, ran[0], name) for run in ran[1:] for name in run.outputs)


def _same(run: Done, first: Done, name: str) -> bool:
    one, other = _comparable(run, name), _comparable(first, name)
    return bool(np.array_equal(one, other))


def _comparable(run: Done, name: str) -> Array:
    output = run.outputs[name]
    assert run.packed is not None
    array = output.array
    if run.packed.placed[name].argument.any_order:
        array = sorted_written(array, output.written)
    return np.where(output.written, dtypes.bits(array), 0)


def _first_change(runs: Sequence[Done]) -> tuple[str | None, tuple[int, ...] | None, str]:
    for run in runs[1:]:
        for name in run.outputs:
            one, other = _comparable(run, name), _comparable(runs[0], name)
            if np.array_equal(one, other):
                continue
            changed = one != other
            index = tuple(int(i) for i in np.unravel_index(int(np.argmax(changed)), changed.shape))
            was, now = (str(_shown(one.outputs[name], runs[0], name, index)) for one in (runs[0], run))
            counted = f"{int(changed.sum())} elements differ"
            return name, index, f"{name}{_place(index)} is {was} with one schedule and {now} with another; {counted}"
    return None, None, "its results differ from schedule to schedule"


def _shown(output: Output, run: Done, name: str, index: tuple[int, ...]) -> float | int | bool:
    assert run.packed is not None
    dtype = run.packed.placed[name].argument.dtype
    value: float | int | bool = (dtypes.to_float64(output.array, dtype) if dtypes.is_float(dtype) else output.array)[
        index
    ].item()
    return value


def _place(index: tuple[int, ...] | None) -> str:
    return f"[{', '.join(map(str, index or ()))}]"


Reason = tuple[str, str | None, tuple[int, ...] | None]


def _may_be(run: Done, name: str) -> str:
    """What to write in the case where a counter says how many elements there are."""
    argument = run.packed.placed[name].argument if run.packed is not None else None
    if argument is None or not argument.any_order or argument.partial:
        return ""
    return "; where a counter tells how many there are, say {any_order, partial}, and let the reference give as many"


def _reason(run: Done, comparisons: Mapping[str, Comparison]) -> Reason:
    if run.status is not Status.PASSED:
        return run.message, None, None
    for name, c in comparisons.items():
        if c.unwritten:
            where = f"the first is {name}{_place(c.first_unwritten)}"
            return (
                f"{c.unwritten} elements of {name} are not written, {where}{_may_be(run, name)}",
                name,
                c.first_unwritten,
            )
        if c.stray:
            where = f"the first is {name}{_place(c.first_stray)}"
            return f"{c.stray} elements of {name} are written that should not be, {where}", name, c.first_stray
        if c.first is not None:
            count = c.wrong + c.nonfinite
            return f"{count} of {c.elements} elements of {name} are wrong: {name}{c.first}", name, c.first.index
    return "", None, None
