"""`porter all`: options and exit codes."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from porter.commands.border import DONE, INTERRUPTED, OUR_BUG, WORK_LEFT, complain, guarded, report_bug
from porter.commands.quietly import Quiet
from porter.commands.said import next_step, say
from porter.errors import Interrupted
from porter.settings import load_choices


def all_command(
    source: Annotated[Path, typer.Argument(metavar="SRC", help="A CUDA or C++ file, or a folder.", show_default=False)],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="OUT", help="Folder for the port, its evidence and the report.")
    ],
    trying: Annotated[
        bool,
        typer.Option("--try/--no-try", help="Run the originals on the virtual NVIDIA GPU to find sizes that work."),
    ] = True,
    timeout: Annotated[float, typer.Option(metavar="SECONDS", min=1, help="Limit of one launch.")] = 20.0,
    link: Annotated[
        str | None, typer.Option(metavar="URL", help="Links the report's places to the project's host; see `report`.")
    ] = None,
    config: Annotated[Path | None, typer.Option(help="Settings file; default: porter.toml near SRC.")] = None,
    jobs: Annotated[int | None, typer.Option("--jobs", "-j", min=1, help="Processes; default: one per core.")] = None,
    quiet: Quiet = False,
) -> None:
    """Port, build, draft cases, validate and report, in one folder; run again, it goes on and does what changed."""

    @guarded
    def run() -> int:
        from porter.project.triton_kernels import RUN_THEM, WHY
        from porter.whole.folder import opened
        from porter.whole.steps import Result, Wanted, build_step, draft_step, port_step, report_step, validate_step

        wanted = Wanted(source, load_choices(source, config), jobs or _cores(), trying, timeout, link)
        folder = opened(source, output)
        result = Result()
        stopped = False
        document = port_step(wanted, folder, result, say)
        try:
            build_step(wanted, folder, result, say)
            validate_step(wanted, folder, draft_step(wanted, folder, document, result, say), result, say)
        except (KeyboardInterrupt, Interrupted):
            stopped = True
        except ModuleNotFoundError as error:
            result.missing.append(f"no cases were run: {error}; pip install 'porter[validation]'")
        for text in result.missing:
            complain(text)
        try:
            page = report_step(wanted, folder, result, say)
        except KeyboardInterrupt:  # what was done is worth a report, which takes a moment
            stopped = True
            page = report_step(wanted, folder, result, say)
        print(page)
        if stopped:
            complain("interrupted: the report has what was done; the same command goes on from here")
            return INTERRUPTED
        if result.crashes:
            report_bug(result.crashes, f"{len(result.crashes)} files or cases failed")
            return OUR_BUG
        if result.has_triton:
            next_step(*RUN_THEM, why=WHY)
        next_step("xdg-open" if sys.platform == "linux" else "open", page, why="what to do next stands at its top")
        fine = result.left != "manual" and result.is_built and result.is_fine and not result.missing
        return DONE if fine else WORK_LEFT

    raise typer.Exit(run())


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
