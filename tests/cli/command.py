"""Runs the command as a user does."""

from __future__ import annotations

import functools
import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from tests.ended import AFTERWARDS


class Result(NamedTuple):
    """What a run of the command left behind."""

    code: int
    stdout: str
    stderr: str


_ROOT = Path(__file__).resolve().parents[2]
_SECONDS = 120
_READ_AT_THE_START = ("PYTHON", "LANG", "LC_")
"""Beginnings of variables that Python itself reads."""


def porter(
    *arguments: object, folder: Path | None = None, environment: Mapping[str, str] | None = None, given: bytes = b""
) -> Result:
    """`porter ARGUMENTS` in a process of its own, which is given something to read."""
    words = [*map(str, arguments)]
    if any(name.startswith(_READ_AT_THE_START) for name in environment or ()):
        return _started(words, folder, environment or {}, given)
    with tempfile.TemporaryFile() as stdin, tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
        stdin.write(given)
        stdin.seek(0)
        where, variables = str(folder or Path.cwd()), {**os.environ, **(environment or {})}
        request = {"folder": where, "environment": variables, "arguments": words}
        server = _server()
        socket.send_fds(server, [json.dumps(request).encode()], [one.fileno() for one in (stdin, stdout, stderr)])
        code = int(server.recv(20))
        stdout.seek(0)
        stderr.seek(0)
        return Result(code, stdout.read().decode(), stderr.read().decode())


def _started(words: list[str], folder: Path | None, environment: Mapping[str, str], given: bytes) -> Result:
    done = subprocess.run(
        [sys.executable, "-m", "porter", *words],
        cwd=folder,
        env={**os.environ, **environment},
        input=given,
        capture_output=True,
        timeout=_SECONDS,
    )
    return Result(done.returncode, done.stdout.decode(), done.stderr.decode())


@functools.cache
def _server() -> socket.socket:
    """The process that forks (served.py); it ends when this one does, as nobody can ask it any more."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.settimeout(_SECONDS)
    with theirs:
        command = [sys.executable, "-m", "tests.cli.served", str(theirs.fileno())]
        process = subprocess.Popen(command, cwd=_ROOT, stdin=subprocess.DEVNULL, pass_fds=[theirs.fileno()])
    AFTERWARDS.callback(process.wait)
    AFTERWARDS.callback(ours.close)
    return ours
