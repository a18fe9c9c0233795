"""Runs the command as a user does."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from tests.forking.asking import Forked, is_alike


class Result(NamedTuple):
    """What a run of the command left behind."""

    code: int
    stdout: str
    stderr: str


_SECONDS = 120


def porter(
    *arguments: object, folder: Path | None = None, environment: Mapping[str, str] | None = None, given: bytes = b""
) -> Result:
    """`porter ARGUMENTS` in a process of its own, which is given something to read."""
    words, variables = [*map(str, arguments)], {**os.environ, **(environment or {})}
    if not is_alike(variables):
        return _started(words, folder, variables, given)
    with tempfile.TemporaryFile() as stdin, tempfile.TemporaryFile() as stdout, tempfile.TemporaryFile() as stderr:
        stdin.write(given)
        stdin.seek(0)
        handles = [one.fileno() for one in (stdin, stdout, stderr)]
        code = Forked("porter", ["porter", *words], folder or Path.cwd(), variables, handles).wait(_SECONDS)
        stdout.seek(0)
        stderr.seek(0)
        return Result(code, stdout.read().decode(), stderr.read().decode())


def _started(words: list[str], folder: Path | None, environment: Mapping[str, str], given: bytes) -> Result:
    done = subprocess.run(
        [sys.executable, "-m", "porter", *words],
        cwd=folder,
        env=dict(environment),
        input=given,
        capture_output=True,
        timeout=_SECONDS,
    )
    return Result(done.returncode, done.stdout.decode(), done.stderr.decode())
