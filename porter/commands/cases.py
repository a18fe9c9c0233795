"""`porter cases`: options and exit codes."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from porter.commands.border import DONE, WORK_LEFT, guarded
from porter.commands.quietly import Quiet
from porter.commands.said import next_step
from porter.errors import Unusable
from porter.project.writing import content_of, write_atomically

cases_app = typer.Typer(rich_markup_mode=None, help="Write case files for `porter validate`.", no_args_is_help=True)


@cases_app.callback()
def cases() -> None:
    """Write case files for `porter validate`."""


@cases_app.command("init")
def init_command(
    source: Annotated[
        Path,
        typer.Argument(
            metavar="FILE.cu",
            help="Source (also Python: Triton, CUDA in strings), or machine code.",
            show_default=False,
        ),
    ],
    kernel: Annotated[list[str] | None, typer.Option(metavar="NAME", help="Only this kernel. Can be repeated.")] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Default: FILE.case.toml beside the source.")
    ] = None,
    stdout: Annotated[bool, typer.Option("--stdout", help="Print the draft instead.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file.")] = False,
    trying: Annotated[
        bool,
        typer.Option("--try", help="Run the originals on the virtual NVIDIA GPU; keep the sizes that work."),
    ] = False,
    seconds: Annotated[float, typer.Option("--timeout", metavar="SECONDS", help="With --try: for one launch.")] = 20.0,
    quiet: Quiet = False,
) -> None:
    """Draft cases from signatures and launches; what they do not tell is marked TODO and has to be filled in."""

    @guarded
    def run() -> int:
        from porter.validation.draft.init import Draft, draft, place_of
        from porter.validation.draft.machine import ObjectDraft, draft_objects, is_machine_code, place_beside
        from porter.validation.draft.triton import TritonDraft, draft_triton, is_triton

        made: Draft | ObjectDraft | TritonDraft
        if is_triton(source, tuple(kernel or ())):
            if trying:
                raise Unusable("--try runs originals of CUDA: a Triton kernel is its own")
            made, place = draft_triton(source, tuple(kernel or ())), place_beside(source)
        elif is_machine_code(source):
            if trying:
                raise Unusable("--try runs originals: machine code has none")
            made, place = draft_objects(source, tuple(kernel or ())), place_beside(source)
        else:
            made, place = draft(source, tuple(kernel or ()), assuming=trying), place_of(source)
        text, said = made.text, f"{made.cases} case{'s' * (made.cases != 1)}"
        is_done = not made.marks
        if trying and isinstance(made, Draft):
            from porter.validation.draft.trying import text_of, try_sizes

            tried = try_sizes(made, seconds)
            running = sum(1 for one in tried if one.chosen)
            text, is_done = text_of(made, tried), running == made.cases
            said += f", {running} of them run as they are"
        if stdout or output == Path("-"):
            print(text, end="")
        else:
            path = output or place
            _write(path, text, force=force)
            left = f"; {made.marks} places are marked TODO" if made.marks else ""
            print(f"{path}: {said}{left}")
            if made.marks and isinstance(made, Draft) and not trying:
                next_step("porter", "cases", "init", source, "--try", "--force", why="looks for what is marked TODO")
            next_step("porter", "validate", path, why="once no TODO is left" if made.marks else "")
        return DONE if is_done else WORK_LEFT

    raise typer.Exit(run())


def _write(path: Path, text: str, *, force: bool) -> None:
    if not force and os.path.lexists(path):
        raise Unusable(f"{path}: exists; use --force to overwrite it")
    write_atomically(path, content_of(text.encode("utf-8", "backslashreplace")), 0o644)
