"""What a process leaves under its number, and whether it is still in use.

A file or folder that is there for one process has the process's number in its name and is locked while the process
lives. So another one can tell what a killed process left: nobody has that number here and nobody holds the lock,
wherever the file system is mounted.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import stat
from collections.abc import Iterator
from pathlib import Path


def hold(handle: int) -> None:
    """Locks an open file or folder until it is closed; also for what is forked from here."""
    with contextlib.suppress(OSError):  # a file system without locks
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


def abandoned(folder: Path, prefix: str) -> Iterator[Path]:
    """The files and folders `PREFIX<number>` and `PREFIX<number>-...` of this user whose process is gone."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith(prefix):
                number = entry.name[len(prefix) :].partition("-")[0]
                if _is_number(number) and not _lives(int(number)) and _is_free(entry.path):
                    yield Path(entry.path)


def _is_number(word: str) -> bool:
    return word.isascii() and word.isdigit() and 0 < len(word) < 10 and not word.startswith("0")


def _lives(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:  # somebody else's
        return True
    try:
        state = Path(f"/proc/{process}/stat").read_bytes().rpartition(b")")[2].split()[:1]
    except OSError:
        return True
    return state not in ([b"Z"], [b"X"])  # ended, and nobody asked how


def _is_free(path: str) -> bool:
    """Whether nobody holds the lock of a file or folder that is this user's."""
    try:
        status = os.lstat(path)
        if status.st_uid != os.getuid():
            return False
        if stat.S_ISLNK(status.st_mode):  # it has no lock, and stands for as long as a rename takes
            return True
        if not (stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)):
            return False
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    else:
        return True
    finally:
        os.close(handle)
