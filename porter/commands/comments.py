"""`porter comments`: what `porter port --comments` left in a tree, and how it goes again."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from porter.commands.border import DONE, WORK_LEFT, guarded
from porter.commands.quietly import Quiet
from porter.commands.said import next_step
from porter.errors import Unusable


def comments_command(
    path: Annotated[Path, typer.Argument(metavar="PORT", help="A ported file or folder.", show_default=False)],
    remove: Annotated[bool, typer.Option("--remove", help="Take them out; all else stays byte for byte.")] = False,
    code: Annotated[
        list[str] | None, typer.Option(metavar="CODE", help="Only those with this code; may be given again.")
    ] = None,
    quiet: Quiet = False,
) -> None:
    """List the comments of `port --comments`, each of which is a place to look at; exit code 1 while there are any."""

    @guarded
    def run() -> int:
        from porter.project.commented import commented_files, strip

        if not path.exists():
            raise Unusable(f"{path}: there is no such file or folder")
        codes = frozenset(one.upper() for one in code or ())
        found = [(file, one) for file, own in commented_files(path) for one in own if not codes or one.code in codes]
        if remove:
            for file in dict.fromkeys(file for file, _ in found):
                strip(file, codes)
            print(f"{len(found):,} comments removed")
            return DONE
        for file, one in found:
            print(f"{file}:{one.line}: {one.code} {one.effort} {one.message}")
        if found:
            next_step("porter", "explain", found[0][1].code, why="what to do; a comment goes when it is done")
        return WORK_LEFT if found else DONE

    raise typer.Exit(run())
