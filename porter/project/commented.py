"""Files of a ported tree that hold remarks (porter.engine.remarks)."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from pathlib import Path

from porter.engine.remarks import Remark, remarks_in, without_remarks
from porter.project.writing import content_of, write_atomically
from porter.system.reading import LARGEST_DOCUMENT, read_regular

_MARK = b"porter["


def commented_files(path: Path) -> Iterator[tuple[Path, list[Remark]]]:
    """Files with remarks at or below a path, in order; links are not followed, and nothing in .git is looked at."""
    for file in _files(path):
        try:
            data = read_regular(file, LARGEST_DOCUMENT)
        except OSError:
            continue
        if _MARK in data:
            found = list(remarks_in(data.decode("latin-1")))
            if found:
                yield file, found


def strip(file: Path, codes: frozenset[str]) -> None:
    """Takes the remarks out of a file; those with one of the codes, where there are any."""
    text = read_regular(file, LARGEST_DOCUMENT).decode("latin-1")
    mode = stat.S_IMODE(file.stat().st_mode)
    write_atomically(file, content_of(without_remarks(text, codes).encode("latin-1")), mode)


def _files(path: Path) -> Iterator[Path]:
    if path.is_file() and not path.is_symlink():
        yield path
        return
    for folder, folders, names in os.walk(path):
        folders[:] = sorted(name for name in folders if name != ".git")
        yield from (file for name in sorted(names) if not (file := Path(folder) / name).is_symlink())
