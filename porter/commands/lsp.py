"""`porter lsp`: options and exit codes."""

from __future__ import annotations

import os

import typer

from porter.commands.border import DONE, guarded


def lsp_command() -> None:
    """Serve findings to an editor over stdin and stdout (Language Server Protocol)."""

    @guarded
    def run() -> int:
        from porter.editor import server

        # The package closes what it reads and writes: it gets copies of stdin and stdout.
        with os.fdopen(os.dup(0), "rb") as said, os.fdopen(os.dup(1), "wb") as answers:
            server().start_io(said, answers)
        return DONE

    raise typer.Exit(run())
