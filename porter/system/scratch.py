"""A temporary folder for one run: what killed processes and compilers leave behind goes with it."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

_OUTER = "PORTER_OUTER_TMPDIR"


@contextlib.contextmanager
def own_temporary_folder() -> Iterator[None]:
    """`TMPDIR` of this process and of all it starts is a new folder, removed at the end."""
    try:
        made = tempfile.mkdtemp(prefix="porter-run-")
    except OSError:  # a full disk is for those to report who need the room
        yield
        return
    before = {name: os.environ.get(name) for name in ("TMPDIR", _OUTER)}
    os.environ[_OUTER] = str(lasting_folder())
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


def lasting_folder() -> Path:
    """The machine's temporary folder, for what is there after the run."""
    return Path(os.environ.get(_OUTER) or tempfile.gettempdir())
