"""Asks a server of tests/forking/server.py for processes; the first who asks one of its kind starts it."""

from __future__ import annotations

import fcntl
import json
import os
import socket
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from tests.folders import RUN, VARIABLE

ROOT = Path(__file__).resolve().parents[2]
_READ_AT_THE_START = ("PYTHON", "LANG", "LC_", "PORTER_READERS")
"""Beginnings of variables that Python reads, or porter when it is imported."""
_AT_THE_START = dict(os.environ)
"""The surroundings that servers are started in."""
_SECONDS = 120
_QUEUE = 64
"""Processes that may ask before a server has read its modules."""


def is_alike(environment: Mapping[str, str]) -> bool:
    """Whether a process in these surroundings would have begun as the server did."""
    names = {name for name in (*environment, *_AT_THE_START) if name.startswith(_READ_AT_THE_START)}
    return all(environment.get(name) == _AT_THE_START.get(name) for name in names)


def address(kind: str) -> str:
    """Where a server listens; it need not have read anything yet."""
    at = f"{_AT_THE_START[VARIABLE]}.{kind}.{_AT_THE_START[RUN]}"
    with Path(f"{_AT_THE_START[VARIABLE]}.{kind}.starting").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not _is_there(at):
            _start(kind, at)
    return at


def _is_there(at: str) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as tried:
        return tried.connect_ex(at) == 0


def _start(kind: str, at: str) -> None:
    Path(at).unlink(missing_ok=True)
    with (
        socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as listener,
        Path(f"{_AT_THE_START[VARIABLE]}.{kind}.log").open("wb") as log,
    ):
        listener.bind(at)
        listener.listen(_QUEUE)
        handle = listener.fileno()
        subprocess.Popen(
            [sys.executable, "-m", "tests.forking.server", kind, str(handle), _AT_THE_START[RUN]],
            cwd=ROOT,
            env={**_AT_THE_START, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1"},
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            pass_fds=[handle],
            start_new_session=True,
        )


class Forked:
    """A process that a server forked; it ends with this one, if not before."""

    def __init__(
        self, kind: str, words: Sequence[str], folder: Path, environment: Mapping[str, str], handles: Sequence[int]
    ) -> None:
        self._connection = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self._connection.settimeout(_SECONDS)
        self._connection.connect(address(kind))
        request = {"folder": str(folder), "environment": dict(environment), "arguments": [*words], "owner": os.getpid()}
        socket.send_fds(self._connection, [json.dumps(request).encode()], handles)
        self.pid = int(self._connection.recv(20))
        self._code: int | None = None

    def poll(self) -> int | None:
        """How it ended; None while it runs."""
        return self._asked(0.0)

    def wait(self, seconds: float | None = None) -> int:
        """How it ended, when it has."""
        code = self._asked(seconds)
        if code is None:
            raise TimeoutError(f"no end after {seconds} s")
        return code

    def _asked(self, seconds: float | None) -> int | None:
        if self._code is None:
            self._connection.settimeout(seconds)
            try:
                self._code = int(self._connection.recv(20))
            except (BlockingIOError, TimeoutError):
                return None
            self._connection.close()
        return self._code
