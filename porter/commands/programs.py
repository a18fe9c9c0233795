"""`porter programs`: drafts `[[program]]` tables, and finds sizes that fit a virtual device."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from porter.commands.border import DONE, WORK_LEFT, guarded
from porter.commands.said import next_step
from porter.errors import Unusable

programs_app = typer.Typer(
    rich_markup_mode=None, no_args_is_help=True, help="Describe a project's programs for `porter run --compare`."
)


@programs_app.command("init")
def init_command(
    source: Annotated[Path, typer.Argument(metavar="SRC", help="The project.")] = Path(),
    write: Annotated[bool, typer.Option("--write", help="Append the tables to SRC/porter.toml.")] = False,
) -> None:
    """Draft `[[program]]` from Makefiles (what `make -n run` would start) and CMake's add_test."""

    @guarded
    def run() -> int:
        from porter.validation.programs.draft import as_toml, draft

        if not source.is_dir():
            raise Unusable(f"{source}: no such folder")
        found = draft(source)
        text = as_toml(found)
        if not found:
            sys.stderr.write(f"porter: {source}: no Makefile starts a program with run, test or check; no add_test\n")
            return WORK_LEFT
        if write:
            target = source / "porter.toml"
            before = target.read_text("utf-8") if target.exists() else ""
            target.write_text(f"{before}\n{text}" if before else text, "utf-8")
            sys.stderr.write(f"porter: {len(found)} programs added to {target}\n")
            next_step("porter", "run", "--compare", "--source", source, why="original and port, program by program")
        else:
            sys.stdout.write(text)
        return DONE

    raise typer.Exit(run())


@programs_app.command("sizes")
def sizes_command(
    words: Annotated[list[str], typer.Argument(metavar="-- PROGRAM [ARG]...", help="A program with its arguments.")],
    budget: Annotated[int, typer.Option(metavar="N", min=1, help="Lane-instructions that a run may take.")] = 10**9,
    seconds: Annotated[float, typer.Option(metavar="SECONDS", min=0.1, help="Processor time of a run.")] = 5.0,
) -> None:
    """Cut a program's numbers down until it fits a virtual device and still launches something."""

    @guarded
    def run() -> int:
        from porter.validation.programs.launch import Options, run_program
        from porter.validation.programs.sizes import choose, shows

        options = Options(cpu_seconds=int(8 * seconds) + 1)
        sized = choose(words[1:], lambda a: run_program((words[0], *a), options, keep=True), budget, seconds)
        print(" ".join([words[0], *sized.arguments]))
        account, why = sized.run.account, f": {sized.run.reason}" if sized.run.reason else ""
        sys.stderr.write(
            f"porter: {sized.run.verdict.value}{why}; {account.launches} launches, {account.lane_instructions:,} "
            f"lane-instructions, {sized.run.cpu_seconds:.1f} s; {sized.tried} sizes tried\n"
        )
        return DONE if shows(sized.run) else WORK_LEFT

    raise typer.Exit(run())
