"""`porter mcp`: options and exit codes."""

from __future__ import annotations

import typer

from porter.commands.border import DONE, guarded


def mcp_command() -> None:
    """Serve porter to an assistant over stdin and stdout (Model Context Protocol)."""

    @guarded
    def run() -> int:
        from porter.agents import server

        server().run()
        return DONE

    raise typer.Exit(run())
