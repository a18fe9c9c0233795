"""`porter record`: options and exit codes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from porter.commands.border import DONE, WORK_LEFT, guarded
from porter.commands.quietly import Quiet
from porter.commands.said import next_step, say
from porter.errors import Unusable


def record_command(
    words: Annotated[
        list[str] | None, typer.Argument(metavar="-- COMMAND [ARG]...", help="What builds the project.")
    ] = None,
    output: Annotated[Path, typer.Option("--output", "-o", metavar="FILE", help="Where the compilations go.")] = Path(
        "compile_commands.json"
    ),
    quiet: Quiet = False,
) -> None:
    """Run a build and write down what it compiles; `porter port` and `porter build` then use its folders and macros."""

    @guarded
    def run() -> int:
        from porter.project.recording import record

        if not words:
            raise Unusable("say what builds the project: porter record -- make")
        done = record(tuple(words), output)
        ended = f"; the build ended with {done.code}" if done.code else ""
        if done.seen:
            before = f", {done.held - done.seen:,} from before" if done.held > done.seen else ""
            say(f"{output}: {done.held:,} compilations{before}{ended}")
        else:  # all was built already
            before = f"; {output} has {done.held:,} from before" if done.held else ""
            say(f"nothing was compiled{before}{ended}")
        if done.held:
            next_step("porter", "port", ".", "-o", "OUT")
        return DONE if done.code == 0 and done.held else WORK_LEFT

    raise typer.Exit(run())
