"""Runs one compiler: argument list, time limit, bounded output, the whole process group ended with it."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

KEPT = 256 << 10
"""Bytes kept of the beginning and of the end of the output."""
ENDLESS = 64 << 20
"""Bytes after which a program is taken to print for ever."""
_POLL = 0.05


@dataclass(frozen=True)
class Invocation:
    """One run of a program: what was run, what it said, how it ended."""

    command: tuple[str, ...]
    code: int | None
    """Exit status, negative for a signal; None when it was not started or was stopped."""
    output: str
    """Standard output and error as they came; a long middle is left out and says so."""
    seconds: float
    stopped: str | None = None
    """Why there is no exit status."""

    @property
    def ok(self) -> bool:
        """Whether it ran and exited with 0."""
        return self.code == 0

    @property
    def said(self) -> str:
        """The output, and the reason when it was stopped."""
        return "\n".join(filter(None, (self.output.rstrip(), self.stopped)))


_START = (
    "import os, runpy, sys; sys.path[:] = filter(None, sys.path); import porter; sys.path.append(os.getcwd()); "
    "runpy.run_module(sys.argv.pop(1), run_name='__main__', alter_sys=True)"
)


def module_command(name: str, *arguments: str) -> tuple[str, ...]:
    """Runs a module of ours; unlike with `-m`, a package of that name in the current folder does not hide it."""
    return (sys.executable, "-c", _START, name, *arguments)


def first_line(said: str) -> str:
    """The first line that says something, not too long."""
    return next((line.strip() for line in said.splitlines() if line.strip()), "")[:200]


class _Kept:
    """The first and the last bytes of a stream."""

    def __init__(self) -> None:
        self._head, self._tail, self.total = bytearray(), bytearray(), 0

    def add(self, data: bytes) -> None:
        self.total += len(data)
        room = KEPT - len(self._head)
        self._head += data[:room]
        self._tail += data[max(room, 0) :]
        del self._tail[:-KEPT]

    def text(self) -> str:
        left_out = self.total - len(self._head) - len(self._tail)
        middle = f"\n... {left_out} bytes left out ...\n".encode() if left_out else b""
        return bytes(self._head + middle + self._tail).decode("utf-8", "replace")


def invoke(
    command: Sequence[str],
    seconds: float = 300.0,
    folder: Path | None = None,
    environment: Mapping[str, str] | None = None,
) -> Invocation:
    """Run a program without a shell and without input; never raises for what the program does."""
    words = tuple(map(str, command))
    began = time.monotonic()
    try:
        process = subprocess.Popen(
            words,
            cwd=folder,
            env={**os.environ, **(environment or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    except (OSError, ValueError) as error:
        return Invocation(words, None, "", 0.0, f"{words[0]}: {getattr(error, 'strerror', None) or error}")
    kept = _Kept()
    stopped: str | None = "interrupted"
    try:
        stopped = _follow(process, kept, began + seconds, seconds)
    finally:
        if stopped is not None or process.poll() is None:
            _end(process)
        if process.stdout is not None:
            process.stdout.close()
    code = None if stopped is not None else process.returncode
    return Invocation(words, code, kept.text(), time.monotonic() - began, stopped)


def _follow(process: subprocess.Popen[bytes], kept: _Kept, deadline: float, seconds: float) -> str | None:
    """Read until the program has ended; the reason when it has to be stopped."""
    assert process.stdout is not None
    with selectors.DefaultSelector() as selector:
        selector.register(process.stdout, selectors.EVENT_READ)
        is_open = True
        while True:
            now = time.monotonic()
            if now >= deadline:
                return f"no end after {seconds:g} s"
            if not is_open:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(deadline - now)
                    return None
                continue
            # A child of the program may keep the pipe open after the program has ended.
            ended = process.poll() is not None
            if selector.select(min(_POLL, deadline - now)):
                data = os.read(process.stdout.fileno(), 1 << 16)
                kept.add(data)
                is_open = bool(data)
            elif ended:
                return None
            if kept.total > ENDLESS:
                return f"more than {ENDLESS >> 20} MiB of output"


def _end(process: subprocess.Popen[bytes]) -> None:
    """Kill the program and everything it started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()
