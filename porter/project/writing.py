"""Writing below the output folder: whole files or nothing, and never over what someone else wrote.

A file is written under a temporary name in its folder and renamed, so that a reader sees the old file or the new one.
Only in-place runs also fsync each file: a fresh tree can be made again from its source, and waiting for the disk
thousands of times would be most of the run. The manifest is always synced.
"""

from __future__ import annotations

import contextlib
import enum
import hashlib
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from porter.errors import Unusable
from porter.system.abandoned import abandoned, hold
from porter.system.reading import opened

TEMPORARY = ".porter-tmp-"
_CHUNK = 1 << 20
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)


class Placed(enum.Enum):
    """What became of a file that was to be written."""

    WRITTEN = "written"
    SAME = "same"
    KEPT = "kept"
    """Something else stands there, and it is not ours to overwrite."""


@dataclass(frozen=True, slots=True)
class Content:
    """Bytes to write, in memory or still in a file."""

    sha256: str
    size: int
    chunks: Callable[[], Iterable[bytes]]


def content_of(data: bytes, digest: str = "") -> Content:
    """Bytes in memory; whoever knows their digest gives it."""
    return Content(digest or sha256(data), len(data), lambda: (data,))


def content_at(path: Path) -> Content:
    """The bytes of a file that may be too large to hold; OSError when it cannot be read."""
    digest = hashlib.sha256()
    size = 0
    for chunk in _chunks(path):
        digest.update(chunk)
        size += len(chunk)
    return Content(digest.hexdigest(), size, lambda: _chunks(path))


def _chunks(path: Path) -> Iterator[bytes]:
    with os.fdopen(opened(path), "rb", buffering=0) as file:
        while chunk := file.read(_CHUNK):
            yield chunk


def sha256(data: bytes) -> str:
    """Hex digest of some bytes."""
    return hashlib.sha256(data).hexdigest()


def place(
    path: str | os.PathLike[str],
    content: Content,
    mode: int,
    ours: str | None,
    *,
    force: bool = False,
    sync: bool = False,
) -> Placed:
    """Puts a file at a path, unless one that porter did not write stands there.

    `ours` is the digest of what porter (or, in place, the source) left there; the same bytes are left untouched.
    """
    path = os.fspath(path)
    try:
        status = os.lstat(path)
        present = content_at(Path(path)).sha256 if stat.S_ISREG(status.st_mode) else None
    except FileNotFoundError:
        _write(path, content, mode, sync=sync)
        return Placed.WRITTEN
    except OSError as error:
        raise Unusable(f"{path}: {error.strerror}") from None
    if stat.S_ISDIR(status.st_mode):
        return Placed.KEPT
    if present is not None:
        if present == content.sha256:
            if stat.S_IMODE(status.st_mode) != mode:
                os.chmod(path, mode)  # noqa: PTH101
            return Placed.SAME
        if present != ours and not force:
            return Placed.KEPT
    elif not force:
        return Placed.KEPT
    _write(path, content, mode, sync=sync)
    return Placed.WRITTEN


def place_link(path: Path, target: str, ours: str | None, *, force: bool = False) -> Placed:
    """Puts a symbolic link at a path; what stands there is replaced only if it is the link `ours`."""
    present = os.readlink(path) if path.is_symlink() else None  # noqa: PTH115
    if present == target:
        return Placed.SAME
    if path.is_dir() and present is None:
        return Placed.KEPT
    if os.path.lexists(path) and (present is None or present != ours) and not force:
        return Placed.KEPT
    temporary = _temporary(os.fspath(path))
    _unlink(temporary)
    try:
        os.symlink(target, temporary)  # noqa: PTH211
        os.replace(temporary, path)  # noqa: PTH105
    except OSError as error:
        _unlink(temporary)
        raise Unusable(f"{path}: {error.strerror}") from None
    return Placed.WRITTEN


def write_atomically(path: Path, content: Content, mode: int, *, sync: bool = False) -> None:
    """The whole file under its name, or the old one and an error that names it; what killed processes left goes."""
    remove_abandoned(path.parent)
    _write(os.fspath(path), content, mode, sync=sync)


def write_document(path: Path, text: str) -> None:
    """What a command was told to write to a file; a device or pipe is written to, not replaced."""
    data = text.encode("utf-8", "backslashreplace")
    if path.exists() and not path.is_file():
        try:
            path.write_bytes(data)
        except OSError as error:
            raise Unusable(f"{path}: {error.strerror}") from None
    else:
        write_atomically(path, content_of(data), 0o644)


def remove_abandoned(folder: Path) -> None:
    """Removes what processes that are gone were writing into a folder."""
    for left in abandoned(folder, TEMPORARY):
        if left.is_symlink() or not left.is_dir():
            _unlink(str(left))


def _write(path: str, content: Content, mode: int, *, sync: bool) -> None:
    """Strings and no Path: this is done for each file of a tree."""
    temporary = _temporary(path)
    try:
        handle = _opened_new(temporary)
    except OSError as error:
        raise Unusable(f"{path}: {error.strerror}") from None
    try:
        try:
            for chunk in content.chunks():
                _write_all(handle, chunk)
            os.fchmod(handle, mode)
            if sync:
                os.fsync(handle)
        finally:
            os.close(handle)
        os.replace(temporary, path)  # noqa: PTH105
    except OSError as error:
        _unlink(temporary)
        raise Unusable(f"{path}: {error.strerror}") from None
    except BaseException:
        _unlink(temporary)
        raise


def _temporary(path: str) -> str:
    """A name in the same folder that only this process uses."""
    folder, slash, _ = path.rpartition("/")
    return f"{folder}{slash}{TEMPORARY}{os.getpid()}"


def _opened_new(temporary: str) -> int:
    """A new file to write; one of this name that a dead process left goes first."""
    try:
        handle = os.open(temporary, _NEW, 0o600)
    except FileExistsError:
        _unlink(temporary)
        handle = os.open(temporary, _NEW, 0o600)
    hold(handle)
    return handle


def _unlink(temporary: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        os.unlink(temporary)  # noqa: PTH108


def is_temporary(name: str) -> bool:
    """Whether a file name is that of a write that never ended."""
    return name.startswith(TEMPORARY)


def _write_all(handle: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(handle, rest) :]
