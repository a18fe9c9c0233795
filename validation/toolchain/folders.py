"""Folders that are there as a whole or not at all."""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def whole(target: Path) -> Iterator[Path]:
    """A folder to fill, which becomes `target` at the end; who is first wins, and an error leaves nothing."""
    target.parent.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(dir=target.parent))
    try:
        yield made
        made.chmod(0o755)
        _rename(made, target)
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _rename(made: Path, target: Path) -> None:
    try:
        made.rename(target)
    except OSError:
        if not target.is_dir():
            raise
