"""`--quiet` after a command: what it says before one."""

from __future__ import annotations

from typing import Annotated

import typer

from porter.system.quiet import be_quiet


def _heard(wanted: bool) -> None:
    """Not given here, it may have been given before the command."""
    if wanted:
        be_quiet(True)


Quiet = Annotated[
    bool,
    typer.Option(
        "--quiet", "-q", help="No progress, and nothing on what to do next.", callback=_heard, expose_value=False
    ),
]
"""An option of every command, whose value the command need not be told."""
