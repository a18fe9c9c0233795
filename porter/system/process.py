"""The one helper that runs other programs: argument lists, time limits, everything captured."""

from __future__ import annotations

import errno
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from porter.system.programs import found_program, not_started


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
) -> Completed:
    """Runs a program without a shell, with `given` on its standard input; never raises for what the program does."""
    command = tuple(arguments)
    executable = found_program(command[0])
    if executable is None:
        missing = FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT))
        return Completed(command, None, b"", os.fsencode(not_started(command[0], missing)))
    words = (executable, *command[1:])
    try:
        done = subprocess.run(
            words, cwd=folder, capture_output=True, timeout=seconds, input=given, check=False, env=environment
        )
    except subprocess.TimeoutExpired as late:
        return Completed(command, None, late.stdout or b"", f"no answer in {seconds:g} s".encode())
    except OSError as error:
        return Completed(command, None, b"", os.fsencode(not_started(command[0], error)))
    except ValueError as error:
        return Completed(command, None, b"", os.fsencode(f"{command[0]}: {error}"))
    return Completed(command, done.returncode, done.stdout, done.stderr)
