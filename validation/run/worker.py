"""The child process of `porter validate`: takes tasks on stdin, checks them, tells every step on stdout."""

from __future__ import annotations

import json
import os
import pickle
import struct
import sys
import tempfile
import traceback
from pathlib import Path
from typing import IO, Any

from porter.validation.devices import registry
from porter.validation.devices.device import Device
from porter.validation.run.case import check
from porter.validation.run.codec import plain
from porter.validation.run.task import SideKey, Task
from porter.validation.toolchain.elsewhere import stand

from porter.system.cache import cache_folder
from porter.system.limits import die_with, limit_worker
from porter.system.reading import parsed_json
from porter.system.sandbox import confine, device_files

_LENGTH = struct.Struct("<Q")
_LONGEST_ANSWER = 256 << 20


def write_frame(stream: IO[bytes], value: Any) -> None:
    """One pickled value with its length in front."""
    data = pickle.dumps(value)
    stream.write(_LENGTH.pack(len(data)) + data)
    stream.flush()


def read_frame(stream: IO[bytes]) -> Any | None:
    """The next value; None at the end."""
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        return None
    (length,) = _LENGTH.unpack(head)
    data = stream.read(length)
    return pickle.loads(data) if len(data) == length else None


def write_answer(stream: IO[bytes], value: Any) -> None:
    """One plain value as JSON with its length in front: who reads it need not trust who ran a kernel."""
    data = json.dumps(value).encode()
    stream.write(_LENGTH.pack(len(data)) + data)
    stream.flush()


class Garbled(Exception):
    """Something else than answers came."""


class Decoder:
    """Answers out of bytes as they come."""

    def __init__(self) -> None:
        self._data = bytearray()

    def feed(self, data: bytes) -> list[Any]:
        """The answers that are complete now; Garbled for what is none."""
        self._data += data
        found: list[Any] = []
        while len(self._data) >= _LENGTH.size:
            (length,) = _LENGTH.unpack_from(self._data)
            end = _LENGTH.size + length
            if length > _LONGEST_ANSWER:
                raise Garbled(f"an answer of {length >> 20} MiB")
            if len(self._data) < end:
                break
            try:
                found.append(parsed_json(bytes(self._data[_LENGTH.size : end])))
            except ValueError as error:
                raise Garbled(str(error)) from None
            del self._data[:end]
        return found


def _open(name: str) -> Device:
    found = registry.device(name)
    if isinstance(found, str):
        raise RuntimeError(found)
    return found


def serve(tasks: IO[bytes], answers: IO[bytes]) -> None:
    """Check task after task until there is none."""
    while True:
        task: Task | None = read_frame(tasks)
        if task is None:
            return

        def say(side: SideKey | None, step: str, seconds: float) -> None:
            write_answer(answers, ("step", side, step, seconds))

        try:
            if task.folder:
                os.chdir(task.folder)
            stand(task.elsewhere)
            answer: tuple[str, Any] = ("done", plain(check(task, _open, say)))
        except MemoryError:
            answer = ("crash", "out of memory")
        except Exception:
            answer = ("crash", traceback.format_exc())
        write_answer(answers, answer)


def main() -> None:
    """Keeps stdout for the frames: whatever a reference prints goes to stderr."""
    die_with(os.getppid())
    limit_worker()
    confine((cache_folder(), Path(tempfile.gettempdir()), *device_files()))
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    serve(sys.stdin.buffer, answers)


if __name__ == "__main__":
    main()
