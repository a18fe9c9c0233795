"""`porter headers`: options and exit codes."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from porter.commands.border import DONE, guarded
from porter.commands.said import next_step, say


def headers_command(
    wheel: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="The wheel itself, for machines that reach no package index."),
    ] = None,
) -> None:
    """Fetch the headers of HIP and of ROCm's libraries (5 MB), to build ports without a ROCm."""

    @guarded
    def run() -> int:
        from porter.validation.toolchain.headers import NEWER
        from porter.validation.toolchain.rocm_headers import LIBRARIES, PUBLISHED, fetch

        folder = fetch(wheel)
        print(f"ROCm {PUBLISHED.rocm}, from {PUBLISHED.requirement}: {folder}")
        print(", ".join(LIBRARIES))
        say(NEWER)
        next_step("porter", "build", "PORT", why="uses them by itself")
        return DONE

    raise typer.Exit(run())
