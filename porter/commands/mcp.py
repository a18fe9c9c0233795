"""`porter mcp`: options and exit codes."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator

import typer

from porter.commands.border import DONE, guarded


def mcp_command() -> None:
    """Serve porter to an assistant over stdin and stdout (Model Context Protocol)."""

    @guarded
    def run() -> int:
        from porter.agents import server

        serving = server()
        try:
            with _own_streams():
                serving.run()
        except Exception as error:
            if not all(map(_is_client_gone, _leaves(error))):
                raise
        return DONE

    raise typer.Exit(run())


@contextlib.contextmanager
def _own_streams() -> Iterator[None]:
    """The package closes what it reads and writes: it gets copies of stdin and stdout."""
    kept = sys.stdin, sys.stdout
    sys.stdin = os.fdopen(os.dup(0), encoding="utf-8", errors="replace")
    sys.stdout = os.fdopen(os.dup(1), "w", encoding="utf-8")
    try:
        yield
    finally:
        sys.stdin, sys.stdout = kept


def _leaves(error: BaseException) -> list[BaseException]:
    """The exceptions that a group of tasks ended with."""
    inner: tuple[BaseException, ...] | None = getattr(error, "exceptions", None)
    return [error] if inner is None else [leaf for one in inner for leaf in _leaves(one)]


def _is_client_gone(error: BaseException) -> bool:
    """Whether an answer could not be given because nobody was there any more."""
    from anyio import BrokenResourceError, ClosedResourceError

    return isinstance(error, (BrokenResourceError, ClosedResourceError, BrokenPipeError))
