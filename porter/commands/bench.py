"""`porter bench`: options and exit codes."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from porter.border import DONE, WORK_LEFT, guarded
from porter.errors import Unusable
from porter.report.render import DataFormat

_KNOWN = ("cuda", "hip")


def bench_command(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[CASES]...", help="Case files, or folders with *.case.toml below; default: here."),
    ] = None,
    case: Annotated[list[str] | None, typer.Option(metavar="NAME", help="Only this case. Can be repeated.")] = None,
    devices: Annotated[str, typer.Option(metavar="NAME,...", help="Of cuda, hip.")] = "cuda,hip",
    port: Annotated[
        Path | None, typer.Option(metavar="TREE", help="The port, as `porter port` wrote it; default: made on the fly.")
    ] = None,
    repeats: Annotated[int, typer.Option(min=1, max=100_000, help="Launches that count.")] = 30,
    warmup: Annotated[int, typer.Option(min=0, max=100_000, help="Launches before them.")] = 5,
    flush: Annotated[int, typer.Option(metavar="MIB", min=0, help="Memory written before each launch.")] = 512,
    timeout: Annotated[float, typer.Option(metavar="SECONDS", min=1, help="Limit of one launch, and of all.")] = 60.0,
    form: Annotated[DataFormat, typer.Option("--format", help="Text or JSON.")] = DataFormat.TEXT,
) -> None:
    """Time originals and ports on real GPUs by device events; the results are checked before and after."""

    @guarded
    def run() -> int:
        from porter.progress import shown_progress
        from porter.report.render import dump
        from porter.validation.bench import BenchRequest, bench
        from porter.validation.bench_report import bench_json, bench_text

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
        with shown_progress("timing") as progress:
            report = bench(request, progress)
        sys.stdout.write(dump(bench_json(report)) if form is DataFormat.JSON else bench_text(report))
        return DONE if report.is_done else WORK_LEFT

    raise typer.Exit(run())


def _devices(given: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(name.strip() for name in given.split(",")))
    for name in names:
        if name not in _KNOWN:
            raise Unusable(f"--devices {name}: only {' and '.join(_KNOWN)} have a clock")
    return names
