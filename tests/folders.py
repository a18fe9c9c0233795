"""Temporary folders with the same names in every run: what compilers made is kept by command line, which names them.

A run takes the first folder of this checkout that no other run has, and empties it.
"""

from __future__ import annotations

import fcntl
import hashlib
import itertools
import os
import re
import shutil
import stat
import tempfile
from pathlib import Path

from porter.system.cache import is_ours

ROOT = Path(__file__).resolve().parents[1]
VARIABLE = "PORTER_TEST_FOLDER"
"""Tells the processes of one run its folder."""
RUN = "PORTER_TEST_RUN"
"""And the process that they belong to."""


def _base() -> Path:
    """Short, for sockets have short names; of this user alone."""
    checkout = hashlib.sha256(os.fsencode(ROOT)).hexdigest()[:8]
    return Path(tempfile.gettempdir()) / f"porter-tests-{os.getuid()}-{checkout}"


def take() -> int:
    """This process and those that it starts have a folder of their own until it ends; the lock's descriptor."""
    base = _base()
    base.mkdir(mode=0o700, exist_ok=True)
    if not is_ours(base) or base.is_symlink():
        raise PermissionError(f"{base} is not this user's alone")
    for number in itertools.count():
        lock = os.open(base / f"{number}.lock", os.O_CREAT | os.O_RDWR | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            continue
        folder = base / str(number)
        remove(folder)
        folder.mkdir(mode=0o700)
        os.environ[VARIABLE], os.environ[RUN] = str(folder), str(os.getpid())
        return lock
    raise AssertionError("numbers do not end")


def named(owner: str) -> Path:
    """An empty folder for a test or a module."""
    name = re.sub(r"\W", "_", re.split("::|/", owner)[-1])[:30]
    folder = Path(os.environ[VARIABLE]) / f"{name}-{hashlib.sha256(os.fsencode(owner)).hexdigest()[:8]}"
    remove(folder)
    folder.mkdir(mode=0o700)
    return folder


def remove(folder: Path) -> None:
    """With what nobody may write to or look into."""
    if not folder.exists():
        return
    try:
        shutil.rmtree(folder)
    except PermissionError:
        folder.chmod(stat.S_IRWXU)
        for at, names, _ in os.walk(folder):
            for path in (Path(at) / name for name in names):
                if not path.is_symlink():
                    path.chmod(stat.S_IRWXU)
        shutil.rmtree(folder)
