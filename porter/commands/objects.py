"""`porter objects`: options and exit codes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from porter.commands.border import DONE, WORK_LEFT, guarded
from porter.commands.quietly import Quiet
from porter.report.render import DataFormat


def objects_command(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="A library, wheel, code object, bundle or program.", show_default=False),
    ],
    target: Annotated[str | None, typer.Option(metavar="GFX", help="Only kernels for this target.")] = None,
    kernel: Annotated[str | None, typer.Option(metavar="TEXT", help="Only kernels with this in their name.")] = None,
    form: Annotated[DataFormat, typer.Option("--format", help="Text or JSON.")] = DataFormat.TEXT,
    quiet: Quiet = False,
) -> None:
    """List the kernels for AMD GPUs in a file: registers, LDS, scratch, threads. Nothing is run."""

    @guarded
    def run() -> int:
        from porter.report.render import dump
        from porter.validation.devices.listing import list_objects, listing_json, listing_text, narrowed

        listing = narrowed(list_objects(file, target), target, kernel)
        print(dump(listing_json(listing)) if form is DataFormat.JSON else listing_text(listing), end="")
        return DONE if listing.kernels else WORK_LEFT

    raise typer.Exit(run())
