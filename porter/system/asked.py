"""Commands of porter's own that a server runs for a client: processes that end when nobody waits for them any more."""

from __future__ import annotations

import asyncio
import contextlib
import sys
from pathlib import Path
from typing import NamedTuple

_TO_END = 5.0
"""Seconds that a process may take to end what it began."""


class Answer(NamedTuple):
    """What a command came to."""

    code: int
    stdout: str
    stderr: str


async def asked(*words: str, folder: Path = Path(), seconds: float | None = None) -> Answer:
    """Runs `porter --quiet WORDS` while other tasks go on; TimeoutError where it takes too long."""
    pipe = asyncio.subprocess.PIPE
    started = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "porter", "--quiet", *words),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=pipe,
        stderr=pipe,
        cwd=folder,
    )
    try:
        said, complaints = await asyncio.wait_for(started.communicate(), seconds)
    except asyncio.TimeoutError:  # of its own before Python 3.11
        raise TimeoutError(f"porter {words[0]} took more than {seconds:,.0f} s") from None
    finally:
        if started.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                started.terminate()  # it ends its own children
            with contextlib.suppress(asyncio.CancelledError, asyncio.TimeoutError):
                await asyncio.wait_for(started.wait(), _TO_END)
    assert started.returncode is not None
    return Answer(started.returncode, _text(said), _text(complaints))


def _text(said: bytes) -> str:
    return said.decode("utf-8", "replace")
