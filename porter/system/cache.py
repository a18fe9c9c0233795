"""Where derived data of this user is kept, and what makes it worth believing.

Nothing is loaded from a folder or file that another user owns or could write to, and nothing whose content is not what
was put there: then it is as if it had never been kept. Where nothing can be kept, a folder that ends with this process
takes its place, and never a folder of somebody's.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import hashlib
import os
import shutil
import stat
import tempfile
from pathlib import Path

from porter.system.reading import read_regular

_SUM = ".sha256"


def cache_folder() -> Path:
    """$PORTER_CACHE_DIR, else `porter` in the user's cache folder; it need not exist. One that others can write to is
    not used."""
    wanted = _wanted()
    return wanted if not os.path.lexists(wanted) or is_ours(wanted) else temporary_root()


def _wanted() -> Path:
    own = os.environ.get("PORTER_CACHE_DIR")
    shared = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    return Path(own) if own else Path(shared).expanduser() / "porter"


def is_ours(path: Path) -> bool:
    """Whether a folder or file is this user's and no other user can put something there."""
    try:
        status = path.stat()
    except OSError:
        return False
    owned = not hasattr(os, "getuid") or status.st_uid == os.getuid()
    return owned and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


@functools.cache
def temporary_root() -> Path:
    """A folder of this process, for what cannot be kept."""
    made = Path(tempfile.mkdtemp(prefix="porter-"))
    atexit.register(_remove, made, os.getpid())
    return made


def _remove(made: Path, process: int) -> None:
    if os.getpid() == process:  # and not one forked from it
        shutil.rmtree(made, ignore_errors=True)


def kept_folder(name: str) -> Path:
    """A folder of ours in the cache that can be written, else one that ends with this process; OSError when neither."""
    for chosen in (cache_folder, temporary_root):  # asked for one by one: the second one is made when it is
        root = chosen()
        folder = root / name
        with contextlib.suppress(OSError):
            root.mkdir(parents=True, exist_ok=True, mode=0o700)
            folder.mkdir(exist_ok=True, mode=0o700)
            _hide(root)
            if is_ours(root) and is_ours(folder) and os.access(folder, os.W_OK):
                return folder
    raise OSError(None, "no folder can be written for what is kept", str(cache_folder() / name))


def _hide(root: Path) -> None:
    """Keeps git from taking what is kept for a project's files, where the folder is within one's work tree."""
    note = root / ".gitignore"
    if not os.path.lexists(note):
        with contextlib.suppress(OSError):
            note.write_text("*\n")


def publish(path: Path, data: bytes, mode: int = 0o600) -> None:
    """The whole file under its name, or the old one and an OSError."""
    handle, made = tempfile.mkstemp(dir=path.parent, prefix="making-")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            os.fchmod(file.fileno(), mode)
        os.replace(made, path)  # noqa: PTH105
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(made)  # noqa: PTH108
        raise


def make_room(folder: Path, most: int) -> None:
    """Of more files than that, those used longest ago go; each thing that is kept is two."""
    with os.scandir(folder) as entries:
        found = sorted(((entry.stat().st_mtime_ns, entry.path) for entry in entries), reverse=True)
    for _, path in found[most:]:
        with contextlib.suppress(OSError):
            os.unlink(path)  # noqa: PTH108


def mark_used(path: Path) -> None:
    """It is not among the first that make room."""
    with contextlib.suppress(OSError):
        os.utime(path)


def keep(path: Path, data: bytes) -> None:
    """A file in the cache with its digest beside it; OSError when there is no room."""
    publish(_sum_of(path), hashlib.sha256(data).hexdigest().encode())
    publish(path, data)


def kept(path: Path) -> bytes | None:
    """The content of a file as it was kept, and from now on used; None as with `as_kept`."""
    data = as_kept(path)
    if data is not None:
        mark_used(path)
        mark_used(_sum_of(path))
    return data


def as_kept(path: Path) -> bytes | None:
    """The content of a file as it was kept; None when there is none, it is not ours, or it was damaged since."""
    if not (is_ours(path) and is_ours(_sum_of(path))):
        return None
    try:
        data, digest = read_regular(path), read_regular(_sum_of(path))
    except OSError:
        return None
    return data if hashlib.sha256(data).hexdigest().encode() == digest else None


def _sum_of(path: Path) -> Path:
    return path.with_name(path.name + _SUM)


def kept_text(folder: str, content: bytes, name: str) -> Path:
    """A file with this content, in a folder named by it: the same content is the same file. OSError without room."""
    below = hashlib.sha256(content).hexdigest()[:32]
    for chosen in (functools.partial(kept_folder, folder), temporary_root):
        path = chosen() / below / name
        try:
            if is_ours(path) and read_regular(path) == content:
                mark_used(path.parent)
                return path
            path.parent.mkdir(parents=True, exist_ok=True)
            publish(path, content)
        except OSError:
            if chosen is temporary_root:
                raise
            continue
        return path
    raise AssertionError("the last root returns or raises")
