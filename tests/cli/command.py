"""Runs the command as a user does."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple


class Result(NamedTuple):
    """What a run of the command left behind."""

    code: int
    stdout: str
    stderr: str


def porter(*arguments: object, folder: Path | None = None, environment: Mapping[str, str] | None = None) -> Result:
    """`porter ARGUMENTS` in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "porter", *map(str, arguments)],
        cwd=folder,
        env={**os.environ, **(environment or {})},
        capture_output=True,
        timeout=120,
    )
    return Result(done.returncode, done.stdout.decode(), done.stderr.decode())
