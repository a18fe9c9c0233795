"""The parent's side of a child process: starts it, asks it, ends it when it does not answer."""

from __future__ import annotations

import contextlib
import multiprocessing.connection
import os
import signal
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, BinaryIO

from porter.validation.harness.messages import Loaded, Refused

_START_SECONDS = 120.0
_SHOWN = 2000


@dataclass(frozen=True)
class Died:
    """The child process ended without an answer."""

    code: int
    said: str
    """The end of what it wrote to stderr."""

    @property
    def how(self) -> str:
        """`SIGSEGV`, or the exit status."""
        if self.code < 0:
            with contextlib.suppress(ValueError):
                return signal.Signals(-self.code).name
        return f"exit status {self.code}"


@dataclass(frozen=True)
class Late:
    """No answer in time; the process was ended."""

    seconds: float


class Child:
    """One process with one loaded module."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._process: subprocess.Popen[bytes] | None = None
        self._connection: Connection | None = None
        self._stderr: BinaryIO | None = None

    def ask(self, request: Any, seconds: float) -> Any:
        """The answer, Died, Late, or Refused when the module cannot be loaded."""
        if self._process is None:
            loaded = self._start()
            if not isinstance(loaded, Loaded):
                return loaded
        return self._exchange(request, seconds)

    def close(self) -> None:
        """End the process."""
        process, self._process = self._process, None
        if process is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        for open_file in (self._connection, self._stderr):
            if open_file is not None:
                open_file.close()
        self._connection = self._stderr = None

    def _start(self) -> Any:
        ours, theirs = multiprocessing.connection.Pipe()
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115
        command = (sys.executable, "-m", "porter.validation.harness.worker", str(theirs.fileno()))
        try:
            self._process = subprocess.Popen(
                command,
                cwd=self._path.parent,  # `-m` searches it first: nothing of the user's project may be imported
                stdin=subprocess.DEVNULL,
                stdout=self._stderr,
                stderr=self._stderr,
                pass_fds=(theirs.fileno(),),
                start_new_session=True,
            )
        finally:
            theirs.close()
        self._connection = ours
        loaded = self._exchange(str(self._path), _START_SECONDS)
        if isinstance(loaded, Refused):
            self.close()
        return loaded

    def _exchange(self, request: Any, seconds: float) -> Any:
        assert self._connection is not None
        try:
            self._connection.send(request)
            if not self._connection.poll(seconds):
                self.close()
                return Late(seconds)
            return self._connection.recv()
        except (EOFError, BrokenPipeError, ConnectionResetError):
            return self._died()
        except BaseException:
            self.close()
            raise

    def _died(self) -> Died:
        assert self._process is not None and self._stderr is not None
        try:
            code = self._process.wait(10)
        except subprocess.TimeoutExpired:
            code = -signal.SIGKILL
        self._stderr.seek(0, os.SEEK_END)
        self._stderr.seek(max(self._stderr.tell() - _SHOWN, 0))
        said = self._stderr.read().decode("utf-8", "replace").strip()
        self.close()
        return Died(code, said)

    def __del__(self) -> None:
        with contextlib.suppress(Exception):
            self.close()
