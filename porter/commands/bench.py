"""`porter bench`: options and exit codes."""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from porter.commands.border import DONE, WORK_LEFT, guarded
from porter.commands.where import Cluster, StoreFile, place
from porter.errors import Unusable
from porter.report.render import DataFormat

if TYPE_CHECKING:
    from porter.validation.cluster.run import Where
    from porter.validation.estimate.imported import Measured

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
        typer.Option(metavar="NAME,...", help="Of cuda, hip; or gfx942, an estimate; or ptx,gfx942."),
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
) -> None:
    """Time originals and ports on real GPUs by device events, results checked before and after; or estimate.

    With --devices gfx942 nothing is timed: the port runs on the virtual device, which counts, and an estimate of its
    time on MI300X with its band, its limit and what costs the time is made of that. docs/estimate.md says how well.
    With ptx,gfx942 the original is counted, too: the bytes that the port moves over those of the original.
    """

    @guarded
    def run() -> int:
        named = {name.strip() for name in devices.split(",")}
        if _ESTIMATED in named and named <= {_ESTIMATED, _COUNTED}:
            sweeps = tuple(_sweep(text) for text in sweep or ())
            sizes = tuple(_size(text) for text in size or ())
            wanted = _Wanted(chip, warp, sizes, sweeps, _COUNTED in named, against, profile_import, form)
            return _estimate(paths, case, wanted, port, timeout, place(cluster, store, _cores()))
        for name, given in (
            ("--sweep", sweep),
            ("--against", against),
            ("--size", size),
            ("--profile-import", profile_import),
        ):
            if given:
                raise Unusable(f"{name} goes with --devices gfx942: what is measured is the case as it is")
        from porter.project.progress import shown_progress, shown_tasks
        from porter.report.render import dump
        from porter.validation.run.bench import BenchRequest, bench
        from porter.validation.verdict.bench_report import bench_json, bench_text

        request = BenchRequest(
            tuple(paths or (Path(),)),
            _devices(devices),
            tuple(case or ()),
            tree=port,
            warmup=warmup,
            repeats=repeats,
            flush_bytes=flush << 20,
            launch_seconds=timeout,
        )
        where = place(cluster, store, 1)
        if where.is_plain:
            with shown_progress("timing") as progress:
                report = bench(request, progress)
        else:
            from porter.validation.cluster.rows import benched

            with shown_tasks("timing") as tasks:
                report = benched(request, replace(where, progress=tasks))
        sys.stdout.write(dump(bench_json(report)) if form is DataFormat.JSON else bench_text(report))
        return DONE if report.is_done else WORK_LEFT

    raise typer.Exit(run())


@dataclass(frozen=True)
class _Wanted:
    """What is asked of an estimate alone."""

    chip: str
    warp: str
    sizes: tuple[tuple[str, int], ...]
    sweeps: tuple[tuple[str, tuple[int, ...]], ...]
    original: bool
    against: Path | None
    profile: Path | None
    form: DataFormat


def _estimate(
    paths: list[Path] | None,
    case: list[str] | None,
    wanted: _Wanted,
    port: Path | None,
    timeout: float,
    where: Where,
) -> int:
    from porter.project.progress import shown_progress, shown_tasks
    from porter.report.render import dump
    from porter.validation.estimate.bench import EstimateRequest, estimate_cases
    from porter.validation.estimate.compare import earlier
    from porter.validation.estimate.report import estimate_json, estimate_text

    request = EstimateRequest(
        tuple(paths or (Path(),)),
        wanted.chip,
        tuple(case or ()),
        tuple(name.strip() for name in wanted.warp.split(",")),
        wanted.sizes,
        wanted.sweeps,
        wanted.original,
        tree=port,
        launch_seconds=timeout,
    )
    before = earlier(_document(wanted.against), wanted.chip) if wanted.against is not None else {}
    profile = _profile(wanted.profile) if wanted.profile is not None else ()
    if where.is_plain:
        with shown_progress("estimating") as progress:
            report = estimate_cases(request, progress)
    else:
        from porter.validation.cluster.rows import estimated

        with shown_tasks("estimating") as tasks:
            report = estimated(request, replace(where, progress=tasks))
    report = replace(report, before=tuple(before.items()), profile=profile)
    sys.stdout.write(dump(estimate_json(report)) if wanted.form is DataFormat.JSON else estimate_text(report))
    return DONE if report.is_done else WORK_LEFT


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


def _devices(given: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(name.strip() for name in given.split(",")))
    for name in names:
        if name not in _KNOWN:
            raise Unusable(f"--devices {name}: only {' and '.join(_KNOWN)} have a clock")
    return names
