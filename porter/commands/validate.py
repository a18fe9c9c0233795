"""`porter validate`: options and exit codes."""

from __future__ import annotations

import contextlib
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from porter.commands.border import DONE, OUR_BUG, UNUSABLE, WORK_LEFT, guarded, report_bug
from porter.commands.quietly import Quiet
from porter.commands.said import next_step
from porter.commands.where import Cluster, StoreFile, place
from porter.errors import Unusable
from porter.report.render import Format
from porter.settings import warp_mode

if TYPE_CHECKING:
    from porter.validation.cluster.run import Where
    from porter.validation.run.plan import Outcome, Request


def validate_command(
    paths: Annotated[
        list[Path] | None,
        typer.Argument(metavar="[CASES]...", help="Case files, or folders with *.case.toml below; default: here."),
    ] = None,
    case: Annotated[list[str] | None, typer.Option(metavar="NAME", help="Only this case. Can be repeated.")] = None,
    machine_code: Annotated[
        Path | None,
        typer.Option("--object", metavar="FILE", help="One kernel of a library, wheel or code object; no case file."),
    ] = None,
    kernel: Annotated[str | None, typer.Option(metavar="NAME", help="With --object: which; C++ or mangled.")] = None,
    argument: Annotated[
        list[str] | None,
        typer.Option(metavar="LINE", help="With --object: 'in x: float32[n] = x.npy', one per parameter, in order."),
    ] = None,
    grid: Annotated[str, typer.Option(metavar="SIDES", help="With --object: blocks, as in a case.")] = "1",
    block: Annotated[str, typer.Option(metavar="SIDES", help="With --object: threads per block.")] = "64",
    shared: Annotated[str, typer.Option(metavar="BYTES", help="With --object: dynamic shared memory.")] = "0",
    size: Annotated[list[str] | None, typer.Option(metavar="NAME=NUMBER", help="With --object: a symbol.")] = None,
    reference: Annotated[
        str | None, typer.Option(metavar="FILE.py:FUNCTION", help="With --object: what is expected.")
    ] = None,
    expect: Annotated[
        list[str] | None, typer.Option(metavar="NAME=FILE.npy", help="With --object: an output that is expected.")
    ] = None,
    devices: Annotated[
        str | None,
        typer.Option(
            metavar="NAME,...", help="Of ptx, cuda, gfx942, gfx90a, hip; default: all that are here, but gfx90a."
        ),
    ] = None,
    warp: Annotated[str, typer.Option(metavar="preserve|native", help="Of the port; both with a comma.")] = "preserve",
    port: Annotated[
        Path | None, typer.Option(metavar="TREE", help="The port, as `porter port` wrote it; default: made on the fly.")
    ] = None,
    schedules: Annotated[int, typer.Option(min=2, max=1000, help="Runs of every trial, each in another order.")] = 3,
    seed: Annotated[list[int] | None, typer.Option(min=0, help="Instead of the seeds of the cases.")] = None,
    rocm_headers: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The include folder of another ROCm; see `porter headers`.")
    ] = None,
    timeout: Annotated[float, typer.Option(metavar="SECONDS", min=1, help="Limit of one launch.")] = 60.0,
    build_timeout: Annotated[float, typer.Option(metavar="SECONDS", min=1, help="Limit of one compilation.")] = 300.0,
    form: Annotated[Format, typer.Option("--format", help="How the report is written to stdout.")] = Format.TEXT,
    jobs: Annotated[int | None, typer.Option("--jobs", "-j", min=1, help="Processes; default: one per core.")] = None,
    cluster: Cluster = "local",
    store: StoreFile = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Exit with 1 when something was not run, declared or not.")
    ] = False,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show compilers, notes, and what passed.")] = False,
    quiet: Quiet = False,
) -> None:
    """Run ported kernels against their originals and references, and say who is right."""

    @guarded
    def run() -> int:
        from porter.project.progress import shown_progress
        from porter.validation.run.plan import Request, validate
        from porter.validation.toolchain.headers import use_headers
        from porter.validation.verdict.report import report_json, report_markdown, report_text

        use_headers(rocm_headers)
        chosen = tuple(paths or (Path(),))
        if machine_code is not None:
            chosen = (_case_of(machine_code, kernel, argument, grid, block, shared, size, reference, expect, paths),)
        elif kernel or argument or reference or expect or size:
            raise Unusable("--kernel, --argument, --size, --reference and --expect go with --object FILE")
        request = Request(
            paths=chosen,
            devices=_devices(devices),
            warps=_warps(warp),
            names=tuple(case or ()),
            schedules=schedules,
            seeds=tuple(seed) if seed else None,
            jobs=jobs or _cores(),
            build_seconds=build_timeout,
            launch_seconds=timeout,
            tree=port,
        )
        where = place(cluster, store, request.jobs, rocm_headers)
        if not where.is_plain:
            return _with_store(request, where, form, verbose=verbose, strict=strict)
        with shown_progress("validating") as progress:
            outcome = validate(request, progress)
        report = outcome.report
        if form is Format.JSON:
            from porter.report.render import dump

            print(dump(report_json(report)), end="")
        else:
            shown = report_markdown(report) if form is Format.MARKDOWN else report_text(report, verbose=verbose)
            print(shown, end="")
        if form is Format.TEXT and report.cases:
            next_step("porter", "report", "port.json", "validate.json", "-o", "report.html", why="from --format json")
        return _code(outcome, strict=strict)

    raise typer.Exit(run())


def _case_of(
    file: Path,
    kernel: str | None,
    arguments: list[str] | None,
    grid: str,
    block: str,
    shared: str,
    sizes: list[str] | None,
    reference: str | None,
    expected: list[str] | None,
    paths: list[Path] | None,
) -> Path:
    """A case file of the options."""
    from porter.validation.cases.given import Given, case_file
    from porter.validation.draft.machine import argument_rows

    if paths:
        raise Unusable("--object takes no case files")
    if kernel is None:
        raise Unusable(f"--object: which kernel? `porter objects {file}` lists them; --kernel NAME")
    if not arguments:
        rows = "".join(f"\n    --argument '{row}'" for row in argument_rows(file, kernel))
        raise Unusable(f"--object: its arguments are wanted, one --argument each. As far as the code tells:{rows}")
    sides = (grid, block, tuple(sizes or ()), shared)
    return case_file(Given(file, kernel, tuple(arguments), *sides, reference, tuple(expected or ())))


def _with_store(request: Request, where: Where, form: Format, *, verbose: bool, strict: bool) -> int:
    from porter.project.progress import shown_tasks
    from porter.report.render import dumped
    from porter.validation.cluster.validating import validated
    from porter.validation.verdict.report import report_markdown, report_text

    with contextlib.ExitStack() as stack:
        with shown_tasks("validating") as progress:
            where = replace(where, progress=progress)
            outcome, head, store = stack.enter_context(validated(request, where))
        if form is Format.JSON:
            for piece in dumped(head, "cases", store.parts("validate")):
                sys.stdout.write(piece)
        elif form is Format.MARKDOWN:
            sys.stdout.write(report_markdown(outcome.report))
        else:
            sys.stdout.write(report_text(outcome.report, verbose=verbose))
            next_step("porter", "report", "port.json", store.path, "-o", "report.html", why="the store has the cases")
        return _code(outcome, strict=strict)


def _code(outcome: Outcome, *, strict: bool) -> int:
    if outcome.crashes:
        report_bug(outcome.crashes, f"{len(outcome.crashes)} cases could not be checked")
        return OUR_BUG
    if outcome.report.errors:
        return UNUSABLE
    return DONE if outcome.report.is_fine(strict=strict) else WORK_LEFT


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _devices(text: str | None) -> tuple[str, ...] | None:
    from porter.validation.devices.registry import NAMES

    if text is None:
        return None
    names = tuple(dict.fromkeys(name.strip() for name in text.split(",") if name.strip()))
    unknown = [name for name in names if name not in NAMES]
    if unknown or not names:
        raise Unusable(f"--devices: {', '.join(unknown) or 'none'}; known are {', '.join(NAMES)}")
    return names


def _warps(text: str) -> tuple[str, ...]:
    try:
        return tuple(dict.fromkeys(warp_mode("--warp", mode.strip()) for mode in text.split(",")))
    except ValueError as error:
        raise Unusable(str(error)) from None
