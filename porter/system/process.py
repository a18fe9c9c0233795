"""The one helper that runs other programs: argument lists, time limits, everything captured."""

from __future__ import annotations

import errno
import os
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from porter.system.programs import found_program, not_started

_SECONDS_BEFORE_DOUBTS = 5.0
_PIPE = subprocess.PIPE


class Completed(NamedTuple):
    """What a program left behind; `code` is None when it could not be started or ran out of time."""

    arguments: tuple[str, ...]
    code: int | None
    stdout: bytes
    stderr: bytes

    @property
    def ok(self) -> bool:
        """Whether it ran and exited with 0."""
        return self.code == 0


def run(
    arguments: Sequence[str],
    folder: Path | None = None,
    seconds: float = 60,
    given: bytes = b"",
    environment: Mapping[str, str] | None = None,
    doubts: Callable[[], str | None] = lambda: None,
) -> Completed:
    """Runs a program without a shell, with `given` on its standard input; never raises for what the program does.

    One that takes long is ended early where `doubts` has a reason why it would wait for ever.
    """
    command = tuple(arguments)
    executable = found_program(command[0])
    if executable is None:
        missing = FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        return Completed(command, None, b"", os.fsencode(not_started(command[0], missing)))
    words = (executable, *command[1:])
    try:
        with subprocess.Popen(words, cwd=folder, stdin=_PIPE, stdout=_PIPE, stderr=_PIPE, env=environment) as process:
            wrote = _finished(process, given, seconds, doubts)
    except OSError as error:
        return Completed(command, None, b"", os.fsencode(not_started(command[0], error)))
    except ValueError as error:
        return Completed(command, None, b"", os.fsencode(f"{command[0]}: {error}"))
    if isinstance(wrote, str):
        return Completed(command, None, b"", os.fsencode(wrote))
    return Completed(command, process.returncode, *wrote)


def _finished(
    process: subprocess.Popen[bytes], given: bytes, seconds: float, doubts: Callable[[], str | None]
) -> tuple[bytes, bytes] | str:
    """What a program wrote, or why it was ended."""
    try:
        try:
            return process.communicate(given, min(seconds, _SECONDS_BEFORE_DOUBTS))
        except subprocess.TimeoutExpired:
            return doubts() or process.communicate(timeout=max(0.0, seconds - _SECONDS_BEFORE_DOUBTS))
    except subprocess.TimeoutExpired:
        return f"no answer in {seconds:g} s"
    finally:
        if process.poll() is None:
            process.kill()
