"""`porter build`: options and exit codes."""

from __future__ import annotations

import enum
import os
import re
import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from porter.commands.border import DONE, WORK_LEFT, guarded
from porter.commands.quietly import Quiet
from porter.commands.said import next_step
from porter.commands.where import Cluster, StoreFile, place
from porter.errors import Unusable
from porter.report.render import Format

_TARGET = re.compile(r"gfx[0-9a-f]+(?::[a-z]+[+-])*")


class Compiler(str, enum.Enum):
    """What compiles."""

    AUTO = "auto"
    HIPCC = "hipcc"
    CLANG = "clang"
    SYNTAX = "syntax"


def build_command(
    path: Annotated[Path, typer.Argument(metavar="PORT", help="A ported tree, or one file of it.", show_default=False)],
    target: Annotated[
        list[str] | None,
        typer.Option("--target", "-t", metavar="GFX[,GFX...]", help="GPUs to build for; default: gfx942."),
    ] = None,
    compiler: Annotated[
        Compiler, typer.Option(help="auto: hipcc where it knows the target, else clang, else a syntax check.")
    ] = Compiler.AUTO,
    compile_commands: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="compile_commands.json; default: the one in PORT, PORT/build or PORT/out."),
    ] = None,
    rocm_headers: Annotated[
        Path | None, typer.Option(metavar="DIR", help="The include folder of another ROCm; see `porter headers`.")
    ] = None,
    timeout: Annotated[float, typer.Option(metavar="SECONDS", min=1, help="Time limit of each compiler run.")] = 600,
    form: Annotated[Format, typer.Option("--format", help="How the report is written to stdout.")] = Format.TEXT,
    jobs: Annotated[int | None, typer.Option("--jobs", "-j", min=1, help="Compilers; default: one per core.")] = None,
    cluster: Cluster = "local",
    store: StoreFile = None,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show every warning and every command.")] = False,
    quiet: Quiet = False,
) -> None:
    """Compile a ported tree and show what each kernel needs of the GPU."""

    @guarded
    def run() -> int:
        from porter.project.progress import shown_progress, shown_tasks
        from porter.report.render import dump
        from porter.validation.build.model import How
        from porter.validation.build.report import build_json, build_markdown, build_text
        from porter.validation.build.run import BuildRequest, build
        from porter.validation.toolchain.headers import use_headers

        use_headers(rocm_headers)
        how = None if compiler is Compiler.AUTO else How(compiler.value)
        request = BuildRequest(path, _targets(target), jobs or _cores(), timeout, how, compile_commands)
        where = place(cluster, store, request.jobs, rocm_headers)
        if where.is_plain:
            with shown_progress("building") as progress:
                report = build(request, progress)
        else:
            from porter.validation.cluster.building import built

            with shown_tasks("building") as tasks:
                report = built(request, replace(where, progress=tasks))
        if form is Format.JSON:
            text = dump(build_json(report))
        else:
            text = build_markdown(report) if form is Format.MARKDOWN else build_text(report, verbose=verbose)
        sys.stdout.write(text)
        if form is Format.TEXT and report.is_done:
            next_step("porter", "cases", "init", "FILE.cu", "--try", why="describe a kernel, then `porter validate`")
        elif form is Format.TEXT:
            next_step("porter", "build", path, "--verbose", why="all errors and the commands")
        return DONE if report.is_done else WORK_LEFT

    raise typer.Exit(run())


def _targets(given: list[str] | None) -> tuple[str, ...]:
    names = [name.strip() for word in given or ["gfx942"] for name in word.split(",")]
    for name in names:
        if not _TARGET.fullmatch(name):
            raise Unusable(f"--target {name}: write gfx942, or gfx942:xnack-, more than one with commas")
    return tuple(dict.fromkeys(names))


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
