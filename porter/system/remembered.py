"""What files were found to be, remembered for as long as they stay as they are."""

from __future__ import annotations

import contextlib
import hashlib
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

from porter.system.cache import keep, kept, kept_folder
from porter.system.stamps import Stamp, is_settled, stamp_of


def remembered(what: str, path: Path, answer: Callable[[], str], *also: str) -> str:
    """What `answer` says of a file, from the cache if the file is the same as then: its place, inode, size and times.

    `also`: whatever else the answer depends on. OSError where the file cannot be looked at.
    """
    return remembered_of(what, (path,), answer, *also)


def remembered_of(what: str, paths: Sequence[Path], answer: Callable[[], str], *also: str) -> str:
    """The same of several files, in this order."""
    stamps = (word for path in paths for word in (str(path.absolute()), *map(str, stamp_of(path.stat()))))
    return remembered_by((what, *stamps, *also), answer)


def remembered_while(what: str, files: Sequence[tuple[str, Stamp]], answer: Callable[[], str], *also: str) -> str:
    """What `answer` says of files with these names and stamps, which were taken just now; nothing is remembered of
    files that were changed so shortly before that the next change might not show."""
    now = time.time_ns()
    if not all(is_settled(stamp, now) for _, stamp in files):
        return answer()
    return remembered_by((what, *also, *(word for path, stamp in files for word in (path, *map(str, stamp)))), answer)


def remembered_by(words: Iterable[str], answer: Callable[[], str]) -> str:
    """What `answer` said the last time that all that it depends on was in these words."""
    key = hashlib.sha256("\0".join(words).encode(errors="surrogateescape"))
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
