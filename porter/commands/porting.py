"""`porter scan` and `porter port`, once it is known what was asked for."""

from __future__ import annotations

import gc
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from porter.commands.border import DONE, OUR_BUG, WORK_LEFT, guarded, report_bug
from porter.commands.said import next_step
from porter.errors import Unusable
from porter.project.discovery import Project, discover
from porter.project.said_before import Question, Said
from porter.project.triton_kernels import RUN_THEM, WHY, has_triton_kernels
from porter.report.render import Format
from porter.settings import (
    Choices,
    Handling,
    load_choices,
    rocm_version,
    style_name,
    torch_mode,
    warp_mode,
    with_overrides,
)

if TYPE_CHECKING:
    from porter.project.port import Answer, Request
    from porter.project.port_tree import Progress


_OBJECTS_BETWEEN_COLLECTIONS = 1_000_000
"""What this process makes stays until its end (worker processes choose for themselves)."""


class Asked(NamedTuple):
    """The command line of both; the options of `port` alone are not given for `scan`."""

    source: Path
    output: Path | None = None
    in_place: bool = False
    diff: bool = False
    verify: bool = False
    comments: bool = False
    force: bool = False
    rocm: str | None = None
    warp: str | None = None
    style: str | None = None
    torch: str | None = None
    form: Format = Format.TEXT
    jobs: int | None = None
    strict: bool = False
    verbose: bool = False
    quiet: bool = False
    """Of a line that the command line's library does not read; it says so itself elsewhere."""
    config: Path | None = None
    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    omit: tuple[str, ...] = ()
    gitignored: Handling | None = None
    vendored: Handling | None = None


@guarded
def scanned(asked: Asked) -> int:
    """Looks at a project, writes nothing, and gives the exit code."""
    from porter.project.port import Request, scan
    from porter.project.progress import shown_progress

    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
    choices = _choices(asked)
    with shown_progress() as progress:
        answer = scan(Request(asked.source, choices, _jobs(asked.jobs)), progress)
    code = _finish(answer, asked)
    if asked.form is Format.TEXT:
        next_step("porter", "port", asked.source, "-o", "OUT", why="nothing was written; `porter all` does every step")
    return code


@guarded
def ported(asked: Asked) -> int:
    """Ports a project, and gives the exit code."""
    gc.set_threshold(_OBJECTS_BETWEEN_COLLECTIONS)
    output = asked.output
    if (output is not None) + asked.in_place + asked.diff != 1:
        raise Unusable("say where the port goes: one of -o OUT, --in-place, --diff")
    if asked.diff and asked.form is not Format.TEXT:
        raise Unusable("--diff prints the diff on stdout, so the report has no --format there")
    choices = with_overrides(_choices(asked), comments=asked.comments or None)
    dual = choices.engine.style == "dual"
    if dual and choices.engine.comments:
        raise Unusable("comments go with --style renamed: a source for both vendors is CUDA's as well")
    if asked.verify and output is None:
        raise Unusable("--verify goes with -o OUT")
    question = _question(asked, choices)
    said = question.said() if question is not None else None
    if said is not None:
        _print(said.text, asked)
        _say_next(asked, said.step)
        return said.code
    from porter.project.port import Request
    from porter.project.progress import shown_progress

    request = Request(asked.source, choices, _jobs(asked.jobs), asked.force)
    with shown_progress() as progress:
        answer = _port(request, output, progress, question.project if question else None, in_place=asked.in_place)
    if asked.diff:
        from porter.project.diff import write_diff

        write_diff(answer.run, sys.stdout.buffer)
    proven = _verified(answer, output, _jobs(asked.jobs)) if asked.verify and dual and output is not None else True
    if asked.verify and not dual and output is not None:
        from porter.commands.verify import verified

        answer = verified(answer, output, _jobs(asked.jobs))
    code = _finish(answer, asked)
    step = _next_step(answer)
    if question is not None and not answer.run.crashes:
        question.keep(lambda: Said(_said_of_all(answer, asked), code, step), answer.run.stamps)
    _say_next(asked, step)
    return code if proven else max(code, WORK_LEFT)


def _question(asked: Asked, choices: Choices) -> Question | None:
    """What a run is asked, where one that was asked the same may have left nothing to do."""
    if (
        asked.output is None
        or asked.force
        or asked.verify
        or asked.form is not Format.TEXT
        or not asked.source.is_dir()
    ):
        return None
    words = (str(asked.source), str(asked.strict), str(asked.verbose))
    return Question(discover(asked.source, choices), choices, asked.output, words)


def _said_of_all(answer: Answer, asked: Asked) -> str:
    """The report as it is when all was up to date."""
    from porter.report.render import render

    header = replace(answer.report.header, reused=len(answer.run.stamps))
    return render(replace(answer.report, header=header), asked.form, verbose=asked.verbose)


def _next_step(answer: Answer) -> str:
    """`build` where there is something to compile, `triton` where Python alone has kernels, else nothing."""
    if answer.report.lines:
        return "build"
    return "triton" if has_triton_kernels(answer.run.plan.project) else ""


def _say_next(asked: Asked, step: str) -> None:
    if asked.output is None or asked.form is not Format.TEXT:
        return
    if step == "build":
        next_step("porter", "build", asked.output, why="compile it; `porter all` does every step")
    elif step == "triton":
        next_step(*RUN_THEM, why=WHY)


def _port(
    request: Request, output: Path | None, progress: Progress | None, project: Project | None, *, in_place: bool
) -> Answer:
    from porter.project.port import port_in_place, port_to, preview

    if output is not None:
        return port_to(request, output, progress, project)
    return (port_in_place if in_place else preview)(request, progress)


def _verified(answer: Answer, output: Path, jobs: int) -> bool:
    """Whether every translation unit was shown to be the original's for CUDA; the result is on stderr."""
    from porter.dual.verify import proven, verdict_text, verify
    from porter.project.progress import shown_progress

    with shown_progress("comparing") as progress:
        verdicts = verify(answer.run.plan.project.root, output, answer.run.records, jobs, progress)
    sys.stderr.write(verdict_text(verdicts))
    return proven(verdicts)


def _choices(asked: Asked) -> Choices:
    try:
        version = rocm_version("--rocm", asked.rocm) if asked.rocm is not None else None
        mode = warp_mode("--warp", asked.warp) if asked.warp is not None else None
        form = style_name("--style", asked.style) if asked.style is not None else None
        names = torch_mode("--torch", asked.torch) if asked.torch is not None else None
    except ValueError as error:
        raise Unusable(str(error)) from None
    return with_overrides(
        load_choices(asked.source, asked.config),
        rocm=version,
        warp=mode,
        style=form,
        torch=names,
        include=asked.include,
        exclude=asked.exclude,
        omit=asked.omit,
        gitignored=asked.gitignored,
        vendored=asked.vendored,
    )


def _jobs(wanted: int | None) -> int:
    return wanted or (len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1)


def _finish(answer: Answer, asked: Asked) -> int:
    """Prints the report and says by the exit code what is left."""
    from porter.report.render import render

    _print(render(answer.report, asked.form, verbose=asked.verbose), asked)
    if answer.run.crashes:
        report_bug(answer.run.crashes, f"{len(answer.run.crashes)} files could not be ported")
        return OUR_BUG
    left = answer.report.left
    return WORK_LEFT if left == "manual" or (asked.strict and left == "review") else DONE


def _print(text: str, asked: Asked) -> None:
    if asked.form is Format.TEXT and sys.stdout.isatty() and not asked.diff:
        from porter.report.terminal import show

        show(text)
    else:
        (sys.stderr if asked.diff else sys.stdout).write(text)
