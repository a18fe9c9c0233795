"""`porter check`: options and exit codes."""

from __future__ import annotations

import os
import sys
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from porter.check.fail_on import FailOn
from porter.check.formats import CheckFormat
from porter.commands.border import DONE, OUR_BUG, WORK_LEFT, complain, guarded, report_bug
from porter.commands.quietly import Quiet
from porter.commands.said import next_step
from porter.errors import Unusable
from porter.settings import Choices, load_choices


def check_command(
    source: Annotated[Path, typer.Argument(metavar="[SRC]", help="The project's folder.")] = Path(),
    since: Annotated[
        str | None,
        typer.Option(
            metavar="REV",
            help="Look only at what changed since this commit, and all that depends on it, and fail only on what is"
            " new. `auto`: the base that CI or pre-commit names, else HEAD.",
        ),
    ] = None,
    fail_on: Annotated[
        FailOn | None, typer.Option(help="What a new finding must be to fail; default: manual.", show_default=False)
    ] = None,
    baseline: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Accepted gaps; default: .porter-baseline.json at the work tree's root."),
    ] = None,
    update_baseline: Annotated[
        bool, typer.Option("--update-baseline", help="Accept what fails now, and drop entries that match nothing.")
    ] = False,
    build: Annotated[bool, typer.Option("--build", help="Build the kernels that changed, too.")] = False,
    validate: Annotated[
        bool, typer.Option("--validate", help="Run the cases whose sources, headers or references changed, too.")
    ] = False,
    perf: Annotated[
        bool,
        typer.Option("--perf", help="Estimate the cases that changed, too: fails where one grows beyond its band."),
    ] = False,
    programs: Annotated[
        bool,
        typer.Option("--programs", help="Build and run the [[program]]s that changed on both sides, too."),
    ] = False,
    timeout: Annotated[
        float | None, typer.Option(metavar="SECONDS", min=1, help="Time limit; a check that needs longer fails.")
    ] = None,
    form: Annotated[CheckFormat, typer.Option("--format", help="How the result is written to stdout.")] = (
        CheckFormat.TEXT
    ),
    output: Annotated[
        list[str] | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FORMAT=FILE",
            help="Write the result to a file as well, such as sarif=porter.sarif. Can be given more than once.",
        ),
    ] = None,
    jobs: Annotated[int | None, typer.Option("--jobs", "-j", min=1, help="Processes; default: one per core.")] = None,
    config: Annotated[Path | None, typer.Option(help="Settings file; default: porter.toml near SRC.")] = None,
    quiet: Quiet = False,
) -> None:
    """Fail on porting gaps that a change brings: the gate for pull requests, without a GPU."""

    @guarded
    def run() -> int:
        from porter.check.formats import render
        from porter.check.gate import CheckRequest, check, checkout_of
        from porter.check.limit import Expired, time_limit
        from porter.check.perf import perf_touched
        from porter.check.programs import programs_touched
        from porter.check.proofs import Prove, with_proofs
        from porter.check.store import user_store
        from porter.project.progress import shown_progress
        from porter.project.writing import write_document

        files = [_output(given) for given in output or ()]
        choices = load_choices(source, config)
        level = fail_on or FailOn(choices.fail_on)
        file = baseline or _settings_baseline(choices)
        request = CheckRequest(source, choices, _jobs(jobs), level, since, file, update_baseline)
        try:
            with time_limit(timeout or choices.timeout):
                with shown_progress() as progress:
                    answer = check(request, user_store(), progress)
                more: dict[str, Prove] = {}
                if perf:
                    more["perf"] = partial(perf_touched, root=checkout_of(source).anchor, update=update_baseline)
                if programs:
                    more["programs"] = programs_touched
                result = with_proofs(answer.result, answer.touched, build=build, validate=validate, more=more)
        except Expired as late:
            complain(f"check: {late}")
            return WORK_LEFT
        for kind, path in files:
            write_document(path, render(result, kind))
        sys.stdout.write(render(result, form))
        if answer.crashes:
            report_bug(answer.crashes, f"{len(answer.crashes)} files could not be checked")
            return OUR_BUG
        first = next((found.code for found in result.findings if found.fails), None)
        if form is CheckFormat.TEXT and first is not None:
            next_step("porter", "explain", first, why="why, what to do, and how to accept it with a reason")
        return DONE if result.passed else WORK_LEFT

    raise typer.Exit(run())


def _settings_baseline(choices: Choices) -> Path | None:
    if choices.baseline is None or choices.origin is None:
        return None
    return Path(choices.origin).parent / choices.baseline


def _output(given: str) -> tuple[CheckFormat, Path]:
    name, equals, path = given.partition("=")
    known = [form.value for form in CheckFormat]
    if not equals or name not in known or not path:
        raise Unusable(f"--output {given}: write FORMAT=FILE, with FORMAT one of {', '.join(known)}")
    return CheckFormat(name), Path(path)


def _jobs(wanted: int | None) -> int:
    return wanted or (len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)
