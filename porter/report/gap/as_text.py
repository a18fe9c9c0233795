"""The gap report as plain text."""

from __future__ import annotations

from collections.abc import Iterator

from porter.report.escaping import plain
from porter.report.gap.model import DONE, GapReport, Kernel, State
from porter.report.text import table

_KERNELS_SHOWN = 40
_ACTIONS_SHOWN = 10
_FAILED_SHOWN = 20
_WORK_SHOWN = 20
_FOLDERS_SHOWN = 30
_PROGRAMS_SHOWN = 40


def text(report: GapReport) -> str:
    """The whole report."""
    parts = [
        _summary(report),
        _next(report),
        _failed(report),
        _work(report),
        _folders(report),
        _kernels(report),
        _runs(report),
        _programs(report),
        report.missing,
    ]
    return "\n\n".join("\n".join(map(plain, lines)) for part in parts if (lines := list(part))) + "\n"


def headline(report: GapReport) -> str:
    """How much is done, in a sentence."""
    total = len(report.kernels)
    if not total:
        return "There are no kernels in this project."
    proven = report.states[State.PROVEN]
    tail = f", {proven:,} of them agree{'s' * (proven == 1)} on virtual devices" if proven else ""
    return f"{report.done:,} of {total:,} kernels have nothing left to do{tail}."


def work_left(manual: int, review: int, called: int = 0) -> str:
    """`3 by hand, 1 to review, 2 functions that it calls`."""
    words = (manual, "by hand"), (review, "to review"), (called, f"function{'s' * (called != 1)} that it calls")
    return ", ".join(f"{count:,} {word}" for count, word in words if count)


def evidence(kernel: Kernel) -> str:
    """Registers, occupancy and verdict in few words."""
    told: list[str] = []
    for build in kernel.builds[:1]:
        if build.vgprs is not None:
            told.append(f"{build.vgprs + (build.agprs or 0)} registers")
        if build.waves_per_simd is not None:
            told.append(f"{build.waves_per_simd:g} waves")
    for case in kernel.cases:
        ulps = f" ({case.max_ulps} ulp)" if case.max_ulps else ""
        told.append(f"{case.status.replace('-', ' ')}{ulps}")
    if kernel.estimates:
        most = max(kernel.estimates, key=lambda one: one.nanoseconds)
        told.append(f"estimate {most.nanoseconds / 1e3:.3g} us x/÷ {most.band:.2f} on {most.chip} ({most.limit})")
    return ", ".join(dict.fromkeys(told))


def _summary(report: GapReport) -> Iterator[str]:
    goal = f" -> {report.output}" if report.output else ""
    yield f"porter {report.porter} report {report.source}{goal}"
    yield f"  {' · '.join(text for text in (report.made.date, report.made.commit, *report.made.tools) if text)}"
    yield f"  {report.ran}"
    yield f"  {headline(report)}"
    for state, count in report.states.items():
        if count:
            yield f"  {count:7,}  {state.label}"


def _next(report: GapReport) -> Iterator[str]:
    if not report.actions:
        return
    total = len(report.actions)
    yield f"do next{_of(_ACTIONS_SHOWN, total)}: {report.about} for all, by the estimates of each kind"
    for rank, one in enumerate(report.actions[:_ACTIONS_SHOWN], 1):
        yield f"{rank:3}. {plain(one.what)}"
        where = f"{plain(one.path)}:{one.line}  " if one.path else ""
        kernels = (
            f"; {one.kernels:,} kernel{'s' * (one.kernels != 1)} wait{'s' * (one.kernels == 1)}" if one.kernels else ""
        )
        yield f"     {where}{one.effort}: {one.basis}{kernels}"


def _failed(report: GapReport) -> Iterator[str]:
    if report.failed:
        yield f"{len(report.failed):,} of {report.units:,} files do not build" + _of(_FAILED_SHOWN, len(report.failed))
        for unit in report.failed[:_FAILED_SHOWN]:
            yield f"  {plain(unit.source)} for {unit.target}: {plain(unit.path)}:{unit.line}: {plain(unit.message)}"


def _work(report: GapReport) -> Iterator[str]:
    left = [work for work in report.work if work.places]
    if left:
        yield "work left" + _of(_WORK_SHOWN, len(left))
        rows = [
            (w.rule.code, w.rule.name, f"{w.manual:,}", f"{w.review:,}", f"{w.files:,}", f"{w.kernels:,}")
            for w in left[:_WORK_SHOWN]
        ]
        yield from table(("code", "rule", "by hand", "review", "files", "kernels"), rows, right=(2, 3, 4, 5))


def _folders(report: GapReport) -> Iterator[str]:
    folders = [folder for folder in report.folders if folder.kernels or folder.manual or folder.review]
    if len(folders) > 1:
        yield "directories" + _of(_FOLDERS_SHOWN, len(folders))
        rows = [
            (
                plain(folder.path),
                f"{folder.kernels:,}",
                f"{sum(count for state, count in folder.states.items() if state in DONE):,}",
                work_left(folder.manual, folder.review),
            )
            for folder in folders[:_FOLDERS_SHOWN]
        ]
        yield from table(("directory", "kernels", "done", "work left"), rows, right=(1, 2))


def _kernels(report: GapReport) -> Iterator[str]:
    if report.kernels:
        yield "kernels" + _of(_KERNELS_SHOWN, len(report.kernels))
        rows = [
            (
                plain(kernel.name),
                plain(f"{kernel.path}:{kernel.line}"),
                kernel.state.label,
                work_left(kernel.manual, kernel.review, len(kernel.through)),
                evidence(kernel),
            )
            for kernel in report.kernels[:_KERNELS_SHOWN]
        ]
        yield from table(("kernel", "where", "state", "work left", "evidence"), rows)


def _runs(report: GapReport) -> Iterator[str]:
    if report.devices:
        yield "what it ran on"
        for side, device, lanes, runs, passed in report.devices:
            yield f"  {side} on {device} ({lanes or 'unknown'} lanes): {passed:,} of {runs:,} runs passed"
        for question in report.open_questions:
            yield f"  not shown: {question}"


def _programs(report: GapReport) -> Iterator[str]:
    if report.programs:
        agree = sum(program.agrees for program in report.programs)
        yield f"whole programs: {agree:,} of {len(report.programs):,} agree" + _of(
            _PROGRAMS_SHOWN, len(report.programs)
        )
        rows = [
            (plain(one.name), one.told, one.counted, plain(one.reason)) for one in report.programs[:_PROGRAMS_SHOWN]
        ]
        yield from table(("program", "verdict", "launches", "why"), rows)


def _of(shown: int, total: int) -> str:
    return f" (first {shown} of {total:,})" if total > shown else ""
