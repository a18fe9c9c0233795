"""What files were found to be, remembered for as long as they stay as they are."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path

from porter.system.cache import keep, kept, kept_folder


def remembered(what: str, path: Path, answer: Callable[[], str], *also: str) -> str:
    """What `answer` says of a file, from the cache if the file is the same as then: its place, inode, size and times.

    `also`: whatever else the answer depends on. OSError where the file cannot be looked at.
    """
    return remembered_of(what, (path,), answer, *also)


def remembered_of(what: str, paths: Sequence[Path], answer: Callable[[], str], *also: str) -> str:
    """The same of several files, in this order."""
    stamps = [word for path in paths for word in (str(path.absolute()), *_stamp(path))]
    key = hashlib.sha256("\0".join((what, *stamps, *also)).encode(errors="surrogateescape"))
    place: Path | None = None
    with contextlib.suppress(OSError):
        place = kept_folder("remembered") / key.hexdigest()[:40]
        data = kept(place)
        if data is not None:
            return data.decode()
    said = answer()
    if place is not None:
        with contextlib.suppress(OSError):
            keep(place, said.encode())
    return said


def _stamp(path: Path) -> tuple[str, ...]:
    status = path.stat()
    return tuple(map(str, (status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)))
