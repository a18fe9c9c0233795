"""A temporary folder for one run: what killed processes and compilers leave behind goes with it."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from porter.system.abandoned import abandoned, hold

_OUTER = "PORTER_OUTER_TMPDIR"
_PREFIX = "porter-run-"


@contextlib.contextmanager
def own_temporary_folder() -> Iterator[None]:
    """`TMPDIR` of this process and of all it starts is a new folder, removed at the end.

    Those of runs that were killed go first.
    """
    outer = lasting_folder()
    for left in abandoned(outer, _PREFIX):
        if left.is_dir() and not left.is_symlink():
            shutil.rmtree(left, ignore_errors=True)
    try:
        made = tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-")
    except OSError:  # a full disk is for those to report who need the room
        yield
        return
    held = os.open(made, os.O_RDONLY)
    hold(held)
    before = {name: os.environ.get(name) for name in ("TMPDIR", _OUTER)}
    os.environ[_OUTER] = str(outer)
    os.environ["TMPDIR"] = tempfile.tempdir = made
    try:
        yield
    finally:
        tempfile.tempdir = None
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value
        shutil.rmtree(made, ignore_errors=True)
        os.close(held)


def lasting_folder() -> Path:
    """The machine's temporary folder, for what is there after the run."""
    return Path(os.environ.get(_OUTER) or tempfile.gettempdir())
