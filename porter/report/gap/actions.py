"""What to do next, in order: what blocks most kernels for the least effort first, each action with its place."""

from __future__ import annotations

import re
import shlex
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from porter.engine.calls import without_arguments
from porter.report.gap.effort import effort_class, minutes_of, reads_as
from porter.report.gap.model import Action, FailedUnit, Kernel, Place, Program, State, Work

_ORDER = {
    "tool": 0,
    "unit": 1,
    "wrong": 2,
    "manual": 3,
    "run": 4,
    "case": 5,
    "todo": 5,
    "instances": 6,
    "review": 7,
    "gpu": 8,
}
"""Kinds of action: what keeps other things from being known comes before what can be done at any time."""


def actions_of(
    kernels: Sequence[Kernel],
    work: Sequence[Work],
    failed: Sequence[FailedUnit],
    *,
    built: bool,
    ran: bool,
    source: str,
    output: str | None,
    programs: Sequence[Program] = (),
) -> tuple[Action, ...]:
    """All actions, the most useful ones first; their commands name the project's source and port."""
    found = [
        *_units(failed),
        *_wrong(kernels),
        *_programs(programs),
        *_places(work, kernels),
        *_runs(kernels, built=built, ran=ran),
        *(_cases(kernels) if ran else ()),
        *_todo(kernels),
        *_instances(kernels),
        *_gpu(kernels),
    ]
    names = {"SRC": source, "PORT": output or ""}
    return tuple(replace(one, command=_named(one.command, names)) for one in sorted(found, key=_rank))


def _named(command: str, names: Mapping[str, str]) -> str:
    """A command with the names that are known."""
    return re.sub(r"\b(?:SRC|PORT)\b", lambda match: shlex.quote(names[match[0]] or match[0]), command)


def _rank(action: Action) -> tuple[int, float, str, int]:
    """Within a kind, kernels per hour; where none depends on it, the shortest first."""
    worth = action.kernels / action.minutes if action.kernels else -action.minutes / 1e6
    return _ORDER[action.kind], -worth, action.path, action.line


def _units(failed: Sequence[FailedUnit]) -> Iterator[Action]:
    """One per cause: the same first message in many files is one thing to mend."""
    by_cause: defaultdict[tuple[str, str], list[FailedUnit]] = defaultdict(list)
    for unit in failed:
        by_cause["unit" if unit.refused else "tool", unit.message].append(unit)
    for (kind, message), units in by_cause.items():
        first = units[0]
        paths = tuple(dict.fromkeys(unit.source for unit in units))
        many = f"{len(paths):,} files do not build" if len(paths) > 1 else "does not build"
        told = effort_class(kind)
        yield Action(
            kind=kind,
            what=f"{many}: {message}",
            code="",
            path=first.path,
            line=first.line,
            owner=first.path,
            kernels=sum({unit.source: unit.kernels for unit in units}.values()),
            places=len(paths),
            minutes=told.first,
            basis=told.why,
            hint=first.hint,
            command="porter build PORT",
            files=paths,
        )


def _wrong(kernels: Sequence[Kernel]) -> Iterator[Action]:
    told = effort_class("wrong")
    for kernel in kernels:
        if kernel.state is not State.WRONG:
            continue
        bad = next(case for case in kernel.cases if case.status not in ("passed", "not-run"))
        yield Action(
            kind="wrong",
            what=f"{kernel.name}: {bad.status.replace('-', ' ')} in case {bad.name}",
            code="",
            path=kernel.path,
            line=kernel.line,
            owner=kernel.path,
            kernels=1,
            places=1,
            minutes=told.first,
            basis=told.why,
            hint=bad.reason,
            command=bad.command,
            anchor=kernel.anchor,
        )


def _programs(programs: Sequence[Program]) -> Iterator[Action]:
    """Whole programs that do not agree: the port's fault is a wrong result, anything else keeps it from being known."""
    for one in programs:
        if one.agrees:
            continue
        told = effort_class("wrong" if one.is_wrong else "program")
        yield Action(
            kind="wrong" if one.is_wrong else "todo",
            what=f"program {one.name}: {one.told}",
            code="",
            path="",
            line=0,
            owner="",
            kernels=one.kernels if one.is_wrong else 0,
            places=1,
            minutes=told.first,
            basis=told.why,
            hint=one.reason,
            command=shlex.join(("porter", "run", "--compare", "--source", "SRC", "--program", one.name)),
        )


def waiting(kernels: Iterable[Kernel], places: Iterable[Place]) -> int:
    """How many kernels have one of these places, in themselves or in a function that they call, directly or not."""
    own = frozenset(places)
    functions = {without_arguments(place.kernel) for place in own if place.kernel}
    return sum(not (own.isdisjoint(one.places) and functions.isdisjoint(one.through)) for one in kernels)


def _places(work: Sequence[Work], kernels: Sequence[Kernel]) -> Iterator[Action]:
    """One per code and outcome; the owner is the file that has most of the places."""
    for one in work:
        for effort in ("manual", "review"):
            places = [place for place in one.places if place.effort == effort]
            if not places:
                continue
            counts: defaultdict[str, int] = defaultdict(int)
            for place in places:
                counts[place.path] += 1
            owner = max(counts, key=lambda path: (counts[path], path))
            first = next(place for place in places if place.path == owner)
            causes = {reads_as(place.message) for place in places}
            told = effort_class(one.rule.code, review=effort == "review")
            where = f" in {len(counts):,} files" if len(counts) > 1 else ""
            number = f"{len(places):,} places{where}" if len(places) > 1 else "1 place"
            yield Action(
                kind=effort,
                what=f"{one.rule.title or one.rule.name or one.rule.code}: {number}",
                code=one.rule.code,
                path=first.path,
                line=first.line,
                owner=owner,
                kernels=waiting(kernels, places),
                places=len(places),
                minutes=minutes_of(told, len(places), alike=len(places) - len(causes)),
                basis=told.basis,
                hint=first.message,
                command=f"porter explain {one.rule.code}",
                files=tuple(counts),
            )


def _runs(kernels: Sequence[Kernel], *, built: bool, ran: bool) -> Iterator[Action]:
    told = effort_class("run")
    for there, what, command in (
        (built, "Nothing was built yet: build the port", "porter build PORT --format json > build.json"),
        (ran, "Nothing was run yet: draft cases and run them", "porter all SRC -o OUT"),
    ):
        if not there and kernels:
            yield Action("run", what, "", "", 0, "", len(kernels), 1, told.first, told.why, command=command)


def _cases(kernels: Sequence[Kernel]) -> Iterator[Action]:
    """Kernels that nobody has described, by file: one draft serves the whole file."""
    bare: defaultdict[str, list[Kernel]] = defaultdict(list)
    for kernel in kernels:
        if not kernel.cases:
            bare[kernel.path].append(kernel)
    told = effort_class("case")
    for path, own in bare.items():
        names = ", ".join(kernel.name for kernel in own[:3]) + (", ..." if len(own) > 3 else "")
        yield Action(
            kind="case",
            what=f"{len(own):,} kernel{'s' * (len(own) != 1)} without a case: {names}",
            code="",
            path=path,
            line=own[0].line,
            owner=path,
            kernels=len(own),
            places=len(own),
            minutes=minutes_of(told, len(own)),
            basis=told.why,
            command=shlex.join(("porter", "cases", "init", path, "--try")),
            anchor=own[0].anchor if len(own) == 1 else "",
        )


def _instances(kernels: Sequence[Kernel]) -> Iterator[Action]:
    """Templates of which some instances were run, and others only built."""
    told = effort_class("instances")
    for kernel in kernels:
        bare = [one.arguments for one in kernel.instances if one.built and not one.verdict]
        if kernel.state is not State.PARTLY or not bare:
            continue
        names = ", ".join(bare[:3]) + (", ..." if len(bare) > 3 else "")
        yield Action(
            kind="instances",
            what=f"{kernel.name}: {len(bare):,} instance{'s were' if len(bare) > 1 else ' was'} built and never run",
            code="",
            path=kernel.path,
            line=kernel.line,
            owner=next((case.path for case in kernel.cases if case.path), kernel.path),
            kernels=1,
            places=len(bare),
            minutes=minutes_of(told, len(bare)),
            basis=told.why,
            hint=names,
            anchor=kernel.anchor,
        )


def _gpu(kernels: Sequence[Kernel]) -> Iterator[Action]:
    """What is left when all agrees on models."""
    runs = [run for kernel in kernels for case in kernel.cases for run in case.runs]
    if not runs or any(run.device == "hip" for run in runs):
        return
    told = effort_class("gpu")
    proven = sum(kernel.state in (State.PROVEN, State.PARTLY) for kernel in kernels)
    what = "Nothing was run on an AMD GPU yet: run the same cases there"
    command = "porter validate SRC --devices hip"
    yield Action("gpu", what, "", "", 0, "", proven, 1, told.first, told.why, command=command)


def _todo(kernels: Sequence[Kernel]) -> Iterator[Action]:
    """Cases that could not be run as they stand, by the reason."""
    told = effort_class("todo")
    by_reason: defaultdict[tuple[str, str], list[Kernel]] = defaultdict(list)
    for kernel in kernels:
        statuses = {case.status for case in kernel.cases}
        if statuses == {"not-run"}:
            by_reason[kernel.path, kernel.cases[0].reason].append(kernel)
    for (path, reason), own in by_reason.items():
        many = f"{len(own):,} kernels were" if len(own) > 1 else f"{own[0].name} was"
        yield Action(
            kind="todo",
            what=f"{many} not run",
            code="",
            path=path,
            line=own[0].line,
            owner=own[0].cases[0].path or path,
            kernels=len(own),
            places=len(own),
            minutes=minutes_of(told, len(own)),
            basis=told.why,
            hint=reason,
            command=own[0].cases[0].command,
            anchor=own[0].anchor,
        )
