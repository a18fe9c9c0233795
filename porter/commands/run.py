"""`porter run`: options and exit codes."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from porter.commands.border import guarded
from porter.commands.quietly import Quiet
from porter.commands.run_plain import run_plain
from porter.commands.said import next_step
from porter.commands.where import Cluster, StoreFile, place
from porter.errors import Unusable
from porter.report.render import DataFormat


def run_command(
    words: Annotated[
        list[str] | None, typer.Argument(metavar="-- PROGRAM [ARG]...", help="What to run.", show_default=False)
    ] = None,
    compare: Annotated[
        bool, typer.Option("--compare", help="Build and run the programs of porter.toml on both sides, and compare.")
    ] = False,
    source: Annotated[
        Path,
        typer.Option("--source", metavar="DIR", help="With --compare: the project; or as the argument."),
    ] = Path(),
    program: Annotated[
        list[str] | None, typer.Option("--program", metavar="NAME", help="With --compare: only this one. Repeatable.")
    ] = None,
    timeout: Annotated[float | None, typer.Option(metavar="SECONDS", min=0.1, help="Limit of one run.")] = None,
    budget: Annotated[
        int, typer.Option(metavar="N", min=0, help="Lane-instructions after which a run is too long; 0: no limit.")
    ] = 0,
    races: Annotated[bool, typer.Option("--races", help="Look for data races; one host thread.")] = False,
    uninitialised: Annotated[
        bool, typer.Option("--uninitialised", help="Follow values that nothing wrote until they reach a result.")
    ] = False,
    schedule: Annotated[
        int, typer.Option(metavar="SEED", min=0, help="Interleave waves and blocks at random; 0: in order.")
    ] = 0,
    delay: Annotated[
        int,
        typer.Option(metavar="SEED", min=0, help="Delay asynchronous work until something waits; 0: do it at once."),
    ] = 0,
    go_on: Annotated[
        bool, typer.Option("--go-on", help="After a fault, give the program an error instead of ending it.")
    ] = False,
    every_launch: Annotated[
        bool,
        typer.Option("--every-launch", help="Run also launches whose result is known from one before."),
    ] = False,
    careful: Annotated[
        bool,
        typer.Option("--careful", help="With --compare: what agrees runs again with each check. Five times as long."),
    ] = False,
    profile: Annotated[
        bool, typer.Option("--profile", help="Count every launch, and estimate its time on a GPU; nothing is measured.")
    ] = False,
    chip: Annotated[str, typer.Option(metavar="NAME", help="With --profile: the GPU to estimate for.")] = "mi300x",
    devices: Annotated[int, typer.Option(metavar="N", min=1, max=64, help="GPUs that the program sees.")] = 1,
    device: Annotated[
        str | None,
        typer.Option(
            "--device", metavar="ptx|gfx942", help="For programs in Python; default: gfx942 in the folder of a port."
        ),
    ] = None,
    cluster: Cluster = "local",
    store: StoreFile = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Where the JSON goes; default: stdout.")
    ] = None,
    form: Annotated[DataFormat, typer.Option("--format", help="Text (to stderr) or JSON.")] = DataFormat.TEXT,
    quiet: Quiet = False,
) -> None:
    """Run a CUDA or HIP program on the virtual device that fits it; no GPU is needed."""

    @guarded
    def run() -> int:
        from porter.report.render import dump
        from porter.validation.programs.launch import Options, run_program
        from porter.validation.programs.show import run_json
        from porter.validation.programs.sides import side_by_device

        options = Options(
            seconds=timeout,
            budget=budget,
            races=races,
            uninitialised=uninitialised,
            schedule=schedule,
            go_on=go_on,
            delay=delay,
            every_launch=every_launch,
            careful=careful,
            devices=devices,
            side=None if device is None else side_by_device(device),
            profile=chip if profile else None,
        )
        if compare:
            if profile:
                raise Unusable("--profile goes with a single program: porter run --profile -- ./program arguments")
            project = _project(words or (), source)
            from porter.validation.programs.compare import compare_project
            from porter.validation.programs.show_compared import (
                compared_counts,
                compared_json,
                compared_line,
                compared_text,
            )

            where = place(cluster, store, 1)
            told = where.is_plain and form is DataFormat.TEXT and output is None
            if where.is_plain:
                tell = (lambda one: _said(compared_line(one))) if told else (lambda _: None)
                report = compare_project(project, tuple(program or ()), options, tell)
            else:
                from porter.project.progress import shown_tasks
                from porter.validation.cluster.rows import compared

                with shown_tasks("comparing") as tasks:
                    report = compared(project, tuple(program or ()), options, replace(where, progress=tasks))
            whole = compared_counts if told else compared_text
            _write(dump(compared_json(report)) if form is DataFormat.JSON else whole(report), output)
            worse = next((one.name for one in report.programs if one.agreement.value != "agree"), None)
            if worse is not None and form is DataFormat.TEXT:
                whole_command = ("porter", "run", "--compare", project, "--program", worse, "--format", "json")
                next_step(*whole_command, why="all that was seen")
            return report.exit_code
        if careful:
            raise Unusable("--careful goes with --compare; a single program takes --races, --uninitialised, --delay 1")
        if cluster != "local" or store is not None:
            raise Unusable("--cluster and --store go with --compare: a single program runs here")
        if not words:
            raise Unusable("say what to run: porter run -- ./program arguments")
        if form is DataFormat.TEXT:
            return run_plain(words, options)
        done = run_program(words, options)
        _write(dump(run_json(done)), output)
        return done.exit_code

    raise typer.Exit(run())


def _project(words: Sequence[str], source: Path) -> Path:
    """What `--compare` looks at: a folder may stand where a single program's command does."""
    if not words:
        return source
    if len(words) > 1 or source != Path() or not Path(words[0]).is_dir():
        raise Unusable("--compare takes its programs from porter.toml: porter run --compare DIR --program NAME")
    return Path(words[0])


def _said(line: str) -> None:
    sys.stdout.write(line)
    sys.stdout.flush()  # a comparison takes minutes: what is known so far is not kept back


def _write(text: str, output: Path | None) -> None:
    from porter.project.writing import write_document

    if output is None:
        sys.stdout.write(text)
    else:
        write_document(output, text)
