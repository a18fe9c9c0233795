"""Files of ours that a project commits: read whole or refused with what to do about it, written whole or not at all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from porter.errors import Unusable
from porter.project.writing import content_of, write_atomically
from porter.system.reading import read_json


def read_committed(path: Path) -> Any:
    """The JSON of a file; FileNotFoundError where there is none, for `null` is a damaged file and no missing one."""
    try:
        return read_json(path)
    except FileNotFoundError:
        raise
    except OSError as error:
        raise Unusable(f"{path}: {error.strerror}") from None
    except ValueError as error:
        raise Unusable(f"{path}: not JSON ({error}); is it in the middle of a merge?") from None


def write_committed(path: Path, text: str) -> None:
    """Writes the file atomically."""
    try:
        write_atomically(path, content_of(text.encode()), 0o644, sync=True)
    except OSError as error:
        raise Unusable(f"{path}: {error.strerror}") from None
