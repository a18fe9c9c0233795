"""`porter programs`: drafts `[[program]]` tables, and finds sizes that fit a virtual device."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from porter.commands.border import DONE, WORK_LEFT, complain, guarded
from porter.commands.quietly import Quiet
from porter.commands.said import next_step
from porter.errors import Unusable
from porter.project.writing import content_of, write_atomically
from porter.system.reading import read_regular, read_toml

if TYPE_CHECKING:
    from porter.validation.programs.draft import Drafted

programs_app = typer.Typer(
    rich_markup_mode=None, no_args_is_help=True, help="Describe a project's programs for `porter run --compare`."
)


def _added(target: Path, found: Sequence[Drafted]) -> list[Drafted]:
    """Writes the programs that the settings do not name yet behind what they hold; says which."""
    from porter.validation.programs.draft import as_toml

    document: dict[str, Any] = {}
    before = b""
    if target.exists():
        document = read_toml(target)
        before = read_regular(target)
    tables = document.get("program", [])
    known = {table.get("name") for table in tables if isinstance(table, dict)} if isinstance(tables, list) else set()
    new = [program for program in found if program.name not in known]
    if new:
        text = as_toml(tuple(new)).encode()
        write_atomically(target, content_of(before + b"\n" + text if before else text), 0o644)
    return new


@programs_app.command("init")
def init_command(
    source: Annotated[Path, typer.Argument(metavar="SRC", help="The project.")] = Path(),
    write: Annotated[bool, typer.Option("--write", help="Append the tables to SRC/porter.toml.")] = False,
    make: Annotated[
        bool,
        typer.Option("--make", help="Ask `make -n run` as well, which runs the $(shell ...) of the Makefiles."),
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Draft `[[program]]` from CMake's add_test and, with --make, from Makefiles."""

    @guarded
    def run() -> int:
        from porter.validation.programs.draft import as_toml, draft, makefiles, refusal_of_make

        if not source.is_dir():
            raise Unusable(f"{source}: no such folder")
        found = draft(source, ask_make=make)
        if not make and (left := len(makefiles(source))):
            complain(f"{left} Makefiles were not asked: --make runs `make -n`, and with it what they compute")
        drafted = {(source / made.folder).resolve() for made in found}
        for path in makefiles(source) if make else []:
            if path.parent.resolve() not in drafted and (said := refusal_of_make(path)):
                complain(f"{path}: make: {said}")
        if not found:
            asked = "no Makefile starts a program with run, test or check; " if make else ""
            complain(f"{source}: {asked}no add_test")
            return WORK_LEFT
        if write:
            target = source / "porter.toml"
            new = _added(target, found)
            sys.stderr.write(f"porter: {len(new)} programs added to {target}\n")
            next_step("porter", "run", "--compare", source, why="original and port, program by program")
        else:
            sys.stdout.write(as_toml(found))
        return DONE

    raise typer.Exit(run())


@programs_app.command("sizes")
def sizes_command(
    words: Annotated[list[str], typer.Argument(metavar="-- PROGRAM [ARG]...", help="A program with its arguments.")],
    budget: Annotated[int, typer.Option(metavar="N", min=1, help="Lane-instructions that a run may take.")] = 10**9,
    seconds: Annotated[float, typer.Option(metavar="SECONDS", min=0.1, help="Processor time of a run.")] = 5.0,
    quiet: Quiet = False,
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
