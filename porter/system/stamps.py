"""What a file's status says of its content: whether it may be what it was, without reading it."""

from __future__ import annotations

import os
from typing import NamedTuple

_SETTLED = 2_000_000_000
"""Nanoseconds. Clocks of file systems tick: what is written twice within a tick can keep its times."""


class Stamp(NamedTuple):
    """Of one file; who writes to it, replaces it or sets its times back changes at least the last number."""

    device: int
    inode: int
    size: int
    modified: int
    changed: int


def stamp_of(status: os.stat_result) -> Stamp:
    """The stamp in a status."""
    return Stamp(status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns, status.st_ctime_ns)


def is_settled(stamp: Stamp, now: int) -> bool:
    """Whether a file with this stamp at some time (in nanoseconds) will have another one as soon as it changes.

    Not one that was changed just before: the next change may fall on the same tick. Nor one from the future, whose
    clock is not ours. Where the system has no time of the last change (Windows has that of the making), none is.
    """
    return os.name == "posix" and max(stamp.modified, stamp.changed) < now - _SETTLED
