"""Runs one kernel on one device for one set of inputs, several times."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from porter.validation.cases import dtypes
from porter.validation.cases.case import LANES, Argument, Case
from porter.validation.cases.dtypes import Array
from porter.validation.cases.expression import BadExpression
from porter.validation.cases.inputs import Filled, Trial
from porter.validation.devices.core.launch import TOO_MUCH_PRINTED
from porter.validation.devices.core.result import Counters, Fault, FaultKind, Left, NotRun, Ran
from porter.validation.devices.device import Launch, Loaded, TimedOut
from porter.validation.run.passing import Packed, content_of, dimensions, pack, variables
from porter.validation.toolchain.entry import demangle, signature_name
from porter.validation.verdict.outcome import Status

Mask = NDArray[np.bool_]


@dataclass(frozen=True)
class Schedule:
    """One way to run a trial. Real devices have one order only, and just run again."""

    seed: int | None
    races: bool = False
    again: bool = False
    rounding: str = "nearest"

    def __str__(self) -> str:
        return "in order" if self.seed is None else f"schedule {self.seed}"


def schedules(count: int, *, races: bool) -> tuple[Schedule, ...]:
    """In order with the race detector, then interleaved; two at least, since unwritten outputs show in two runs."""
    return (Schedule(None, races), *(Schedule(seed) for seed in range(1, max(count, 2))))


@dataclass(frozen=True)
class Output:
    """One output of one run, in row order."""

    array: Array
    written: Mask


@dataclass(frozen=True)
class Done:
    """One launch: what it wrote, or why it wrote nothing."""

    status: Status
    message: str = ""
    outputs: Mapping[str, Output] = field(default_factory=dict)
    packed: Packed | None = None
    launch: Launch | None = None
    notes: tuple[str, ...] = ()
    counters: Counters | None = None
    unordered: str | None = None
    """A race between plain accesses to global memory."""
    left: Mapping[str, Left] = field(default_factory=dict)
    """The module's variables after the launch."""
    beside: int = 0
    """Variables that it changed, and one for what it printed, where the case asks for either."""
    printed: str = ""
    """Where the case asks for it."""
    again: Done | None = None
    """A second launch after it, which finds the variables as they were left."""
    trapped: str = ""
    """File and line of a trap that ended it."""

    @property
    def changed(self) -> int:
        """Elements that the launch wrote, or left with another value."""
        return self.beside + sum(int(self._changed(name, output).sum()) for name, output in self.outputs.items())

    def _changed(self, name: str, output: Output) -> Mask:
        assert self.packed is not None
        placed = self.packed.placed[name]
        if placed.argument.kind != "inout":
            return output.written
        before = placed.view(content_of(self.packed.values[self.packed.position[name]]))
        changed: Mask = dtypes.bits(np.ascontiguousarray(before)) != dtypes.bits(output.array)
        return changed


Say = Callable[[str, float], None]


def launch_all(
    case: Case,
    loaded: Loaded,
    filled: Filled,
    trial: Trial,
    plan: Sequence[Schedule],
    lanes: int,
    seconds: float,
    say: Say,
) -> tuple[Done, ...]:
    """Every run of a trial, with fresh arguments each; stops at one that gave nothing."""
    runs: list[Done] = []
    for number, schedule in enumerate(plan):
        say(f"launch, {trial}, {schedule}", seconds)
        runs.append(_launch(case, loaded, filled, trial, schedule, number, lanes, seconds))
        if runs[-1].status is not Status.PASSED:
            break
    if runs[-1].status is Status.PASSED and any(variable.changed for variable in runs[-1].left.values()):
        say(f"second launch, {trial}", seconds)
        second = _launch(case, loaded, filled, trial, Schedule(None, again=True), len(plan), lanes, seconds)
        runs[0] = replace(runs[0], again=second)
    return tuple(_find_unwritten(runs))


def _launch(
    case: Case,
    loaded: Loaded,
    filled: Filled,
    trial: Trial,
    schedule: Schedule,
    number: int,
    lanes: int,
    seconds: float,
) -> Done:
    try:
        packed = pack(case, filled, trial.symbols, number)
    except ValueError as error:
        raise case.error(f"arguments: {error}", "arguments") from None
    grid, block, shared = dimensions(case, {**trial.symbols, LANES: lanes})
    launch = Launch(
        grid=grid,
        block=block,
        arguments=packed.values,
        shared=shared,
        cooperative=case.cooperative,
        schedule=schedule.seed,
        races=schedule.races,
        initialised=case.initialised,
        again=schedule.again,
        rounding=schedule.rounding,
        constexprs=_constexprs(case, trial),
        constants=variables(case, filled, trial.symbols),
        links=packed.links,
    )
    if 0 in grid or 0 in block:  # a launch of nothing is an error of the caller on real devices
        return _collected(case, packed, packed.values, launch, ())
    try:
        outcome = loaded.launch(launch, seconds)
    except (ValueError, TypeError) as error:
        raise case.error(f"arguments: {error}", "arguments") from None
    if isinstance(outcome, Ran):
        done = _collected(case, packed, outcome.outputs, launch, outcome.notes)
        lost = next((note for note in outcome.notes if note.startswith(TOO_MUCH_PRINTED)), "")
        if lost and case.prints:
            return Done(Status.NOT_RUN, f"{lost}: what is printed cannot be compared", packed=packed, launch=launch)
        left = {v.name: v for v in outcome.left}
        done = replace(done, counters=outcome.counters, unordered=outcome.unordered, left=left)
        return _with_observed(case, done, outcome.printed)
    return Done(*_failure(outcome), packed=packed, launch=launch, trapped=_trapped(outcome))


def _trapped(outcome: Fault | TimedOut | NotRun) -> str:
    if not isinstance(outcome, Fault) or outcome.kind is not FaultKind.TRAP or outcome.place.site is None:
        return ""
    return Path(outcome.place.site.where).name


def _with_observed(case: Case, done: Done, printed: str) -> Done:
    """With what a case compares beside arrays."""
    printed = printed if case.prints else ""
    types = case.variables
    known = {name: types.get(name) or types.get(name.rpartition("::")[2]) for name in done.left}
    left = {name: replace(v, kind=known[name] or v.kind) for name, v in done.left.items()}
    changed = sum(v.changed for name, v in left.items() if known[name])
    return replace(done, printed=printed, beside=bool(printed) + changed, left=left)


def _constexprs(case: Case, trial: Trial) -> tuple[tuple[str, bool | int | float | str], ...]:
    if case.triton is None:
        return ()
    try:
        return tuple((constant.name, constant.value(trial.symbols)) for constant in case.triton.constants)
    except BadExpression as error:
        raise case.error(f"constants: {error}", "constants") from None


def _failure(outcome: Fault | TimedOut | NotRun) -> tuple[Status, str]:
    if isinstance(outcome, TimedOut):
        return Status.TIMED_OUT, f"no end after {outcome.seconds:g} s"
    if isinstance(outcome, NotRun):
        return Status.NOT_RUN, outcome.reason
    message = str(outcome).replace(outcome.place.kernel, signature_name(demangle(outcome.place.kernel)))
    if outcome.kind is FaultKind.BUDGET:
        return Status.TIMED_OUT, message
    return (Status.NOT_RUN if outcome.kind is FaultKind.UNSUPPORTED else Status.FAULT), message


def _collected(
    case: Case, packed: Packed, after: Sequence[Array | None], launch: Launch, notes: tuple[str, ...]
) -> Done:
    outputs: dict[str, Output] = {}
    for argument in case.arguments:
        memory = after[packed.position[argument.name]]
        if argument.is_array and isinstance(memory, np.ndarray):
            if not packed.is_padding_intact(argument.name, memory):
                message = f"{argument.name}: the padding between its rows, or before it, was written to"
                return Done(Status.WRONG_VALUES, message, packed=packed, launch=launch)
            before = content_of(packed.values[packed.position[argument.name]])
            if argument.kind == "in" and not _is_same(packed, argument, before, memory):
                return Done(Status.WRONG_VALUES, f"{argument.name} is an input and was written to", packed=packed)
            if argument.is_written:
                outputs[argument.name] = Output(*packed.written(argument.name, memory))
    return Done(Status.PASSED, outputs=outputs, packed=packed, launch=launch, notes=notes)


def _is_same(packed: Packed, argument: Argument, before: Array, after: Array) -> bool:
    """Whether an input is as it was; of structures that are written, its own members."""
    if argument.points_to:
        before, after = (packed.placed[argument.name].view(memory) for memory in (before, after))
    return np.array_equal(dtypes.bits(before), dtypes.bits(after))


def _find_unwritten(runs: list[Done]) -> list[Done]:
    """An element counts as unwritten when it held the poison of each of two runs: one may be a result by chance."""
    return [_with_other_poison(run, runs) if run.status is Status.PASSED else run for run in runs]


def _with_other_poison(run: Done, runs: Sequence[Done]) -> Done:
    for other in runs:
        if other.status is Status.PASSED and _poison(other) != _poison(run):
            outputs = {n: Output(o.array, o.written | other.outputs[n].written) for n, o in run.outputs.items()}
            return replace(run, outputs=outputs)
    return run


def _poison(run: Done) -> int:
    return 0 if run.packed is None else run.packed.which % 2
