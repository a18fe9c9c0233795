"""`porter bench`: options and exit codes."""

from __future__ import annotations

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from porter.commands.border import DONE, UNUSABLE, WORK_LEFT, guarded
from porter.commands.quietly import Quiet
from porter.commands.where import Cluster, StoreFile, place
from porter.errors import Unusable
from porter.report.render import DataFormat

if TYPE_CHECKING:
    from porter.validation.cluster.run import Where
    from porter.validation.estimate.bench import EstimateReport, EstimateRequest
    from porter.validation.estimate.imported import Measured
    from porter.validation.run.bench import BenchReport, BenchRequest

_KNOWN = ("cuda", "hip")
_ESTIMATED, _COUNTED = "gfx942", "ptx"


def bench_command(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[CASES]...", help="Case files, or folders with *.case.toml below; default: here."),
    ] = None,
    case: Annotated[list[str] | None, typer.Option(metavar="NAME", help="Only this case. Can be repeated.")] = None,
    devices: Annotated[
        str,
        typer.Option(metavar="NAME,...", help="Of cuda, hip, timed; gfx942, an estimate; ptx, with it."),
    ] = "cuda,hip",
    chip: Annotated[str, typer.Option(metavar="NAME", help="With gfx942: the GPU to estimate for.")] = "mi300x",
    warp: Annotated[str, typer.Option(metavar="MODE,...", help="With gfx942: preserve, native.")] = "preserve",
    size: Annotated[
        list[str] | None, typer.Option(metavar="NAME=NUMBER", help="With gfx942: another value of a case's symbol.")
    ] = None,
    sweep: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME=N,N",
            help="With gfx942: other values of `block`, `launch_bounds` or a symbol of the case, one after the other.",
        ),
    ] = None,
    against: Annotated[
        Path | None, typer.Option(metavar="JSON", help="With gfx942: what an earlier run wrote with --format json.")
    ] = None,
    profile_import: Annotated[
        Path | None,
        typer.Option(metavar="CSV", help="With gfx942: a profile by rocprof-compute or rocprofv3, laid beside."),
    ] = None,
    port: Annotated[
        Path | None, typer.Option(metavar="TREE", help="The port, as `porter port` wrote it; default: made on the fly.")
    ] = None,
    repeats: Annotated[int, typer.Option(min=1, max=100_000, help="Launches that count.")] = 30,
    warmup: Annotated[int, typer.Option(min=0, max=100_000, help="Launches before them.")] = 5,
    flush: Annotated[int, typer.Option(metavar="MIB", min=0, help="Memory written before each launch.")] = 512,
    timeout: Annotated[float, typer.Option(metavar="SECONDS", min=1, help="Limit of one launch, and of all.")] = 60.0,
    cluster: Cluster = "local",
    store: StoreFile = None,
    form: Annotated[DataFormat, typer.Option("--format", help="Text or JSON.")] = DataFormat.TEXT,
    quiet: Quiet = False,
) -> None:
    """Time originals and ports on real GPUs by device events, results checked before and after; or estimate.

    With --devices gfx942 nothing is timed: the port runs on the virtual device, which counts, and an estimate of its
    time on MI300X with its band, its limit and what costs the time is made of that. docs/estimate.md says how well.
    With ptx,gfx942 the original is counted, too: the bytes that the port moves over those of the original.
    With hip,gfx942 what a GPU took stands beside the estimate.
    """

    @guarded
    def run() -> int:
        from porter.validation.estimate.bench import EstimateRequest
        from porter.validation.run.bench import BenchRequest

        named = {name.strip() for name in devices.split(",")}
        estimates = _ESTIMATED in named
        real = _devices(devices, {_ESTIMATED, _COUNTED} if estimates else set())
        given = (("--sweep", sweep), ("--against", against), ("--size", size), ("--profile-import", profile_import))
        for name, value in given if real else ():
            if value:
                raise Unusable(f"{name} goes with --devices gfx942 alone: what is measured is the case as it is")
        warps = tuple(name.strip() for name in warp.split(","))
        request = BenchRequest(
            tuple(paths or (Path(),)),
            real,
            tuple(case or ()),
            warps,
            tree=port,
            warmup=warmup,
            repeats=repeats,
            flush_bytes=flush << 20,
            launch_seconds=timeout,
        )
        measured = _measured(request, place(cluster, store, 1)) if real else None
        estimated = None
        if estimates:
            sizes, sweeps = tuple(_size(text) for text in size or ()), tuple(_sweep(text) for text in sweep or ())
            plan = EstimateRequest(
                *(request.paths, chip, request.names, warps, sizes, sweeps, _COUNTED in named),
                tree=port,
                launch_seconds=timeout,
            )
            estimated = _estimated(plan, against, profile_import, place(cluster, store, _cores()))
        sys.stdout.write(_shown(measured, estimated, form))
        reports = [report for report in (measured, estimated) if report is not None]
        if any(report.errors for report in reports):
            return UNUSABLE
        return DONE if all(report.is_done for report in reports) else WORK_LEFT

    raise typer.Exit(run())


def _measured(request: BenchRequest, where: Where) -> BenchReport:
    from porter.project.progress import shown_progress, shown_tasks
    from porter.validation.run.bench import bench

    if where.is_plain:
        with shown_progress("timing") as progress:
            return bench(request, progress)
    from porter.validation.cluster.rows import benched

    with shown_tasks("timing") as tasks:
        return benched(request, replace(where, progress=tasks))


def _estimated(request: EstimateRequest, against: Path | None, profile: Path | None, where: Where) -> EstimateReport:
    from porter.project.progress import shown_progress, shown_tasks
    from porter.validation.estimate.bench import estimate_cases
    from porter.validation.estimate.compare import earlier

    before = earlier(_document(against), request.chip) if against is not None else {}
    imported = _profile(profile) if profile is not None else ()
    if where.is_plain:
        with shown_progress("estimating") as progress:
            report = estimate_cases(request, progress)
    else:
        from porter.validation.cluster.rows import estimated

        with shown_tasks("estimating") as tasks:
            report = estimated(request, replace(where, progress=tasks))
    return replace(report, before=tuple(before.items()), profile=imported)


def _shown(measured: BenchReport | None, estimated: EstimateReport | None, form: DataFormat) -> str:
    from porter.report.render import dump
    from porter.validation.estimate.report import estimate_json, estimate_text
    from porter.validation.estimate.timed import timed_json, timed_text
    from porter.validation.verdict.bench_report import bench_json, bench_text

    is_json = form is DataFormat.JSON
    if measured is None:
        assert estimated is not None
        return dump(estimate_json(estimated)) if is_json else estimate_text(estimated)
    if estimated is None:
        return dump(bench_json(measured)) if is_json else bench_text(measured)
    return dump(timed_json(measured, estimated)) if is_json else timed_text(measured, estimated)


def _profile(path: Path) -> tuple[Measured, ...]:
    from porter.system.reading import LARGEST_DOCUMENT, read_regular
    from porter.validation.estimate.imported import read_profile

    try:
        return read_profile(read_regular(path, LARGEST_DOCUMENT), str(path))
    except OSError as error:
        raise Unusable(f"{path}: {error.strerror or error}") from None


def _document(path: Path) -> object:
    from porter.system.reading import read_json

    try:
        return read_json(path)
    except (OSError, ValueError) as error:
        raise Unusable(f"{path}: {error}") from None


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _size(text: str) -> tuple[str, int]:
    name, _, value = text.partition("=")
    if not name.isidentifier() or not value.isdecimal():
        raise Unusable(f"--size {text}: NAME=NUMBER is wanted")
    return name, int(value)


def _sweep(text: str) -> tuple[str, tuple[int, ...]]:
    name, _, values = text.partition("=")
    numbers = [value.strip() for value in values.split(",")]
    if not name.isidentifier() or not all(value.isdecimal() and int(value) > 0 for value in numbers):
        raise Unusable(f"--sweep {text}: NAME=NUMBER,NUMBER is wanted")
    return name, tuple(dict.fromkeys(map(int, numbers)))


def _devices(given: str, models: set[str]) -> tuple[str, ...]:
    """The GPUs to time on; `models` are no GPUs, and may be named beside them."""
    names = tuple(dict.fromkeys(name.strip() for name in given.split(",")))
    names = tuple(name for name in names if name not in models)
    for name in names:
        if name not in _KNOWN:
            raise Unusable(f"--devices {name}: only {' and '.join(_KNOWN)} have a clock")
    return names
