"""Folders that are there as a whole or not at all, and stay as they were made."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from porter.system.cache import is_ours, mark_used
from porter.system.reading import read_json, read_regular

_SUMS = ".porter-sums.json"
_LINKS = "/links"


@contextlib.contextmanager
def whole(target: Path) -> Iterator[Path]:
    """A folder to fill, which becomes `target` at the end; who is first wins, and an error leaves nothing.

    One that stands there and does not hold what was just made, byte by byte, makes room.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    made = Path(tempfile.mkdtemp(dir=target.parent, prefix="making-"))
    try:
        yield made
        (made / _SUMS).write_text(json.dumps({**_sums(made), _LINKS: _links(made)}), "utf-8")
        made.chmod(0o755)
        if target.is_dir() and not is_whole(target, every_byte=True):
            _put_away(target)
        _rename(made, target)
    finally:
        shutil.rmtree(made, ignore_errors=True)


def _put_away(damaged: Path) -> None:
    aside = Path(tempfile.mkdtemp(dir=damaged.parent, prefix="making-"))
    with contextlib.suppress(OSError):  # another process was first
        damaged.rename(aside / "damaged")
    shutil.rmtree(aside, ignore_errors=True)


def _rename(made: Path, target: Path) -> None:
    try:
        made.rename(target)
    except OSError:
        if not target.is_dir():
            raise


def is_whole(folder: Path, *, every_byte: bool = False) -> bool:
    """Whether a folder holds what `whole` left in it: the same sizes and times, and where those differ the content.

    With `every_byte` the content in any case.
    """
    if not (folder.is_dir() and is_ours(folder)):
        return False
    if not os.path.lexists(folder / _SUMS):
        return True  # of a porter that kept no sums
    try:
        sums = read_json(folder / _SUMS)
        links = sums.pop(_LINKS, {})
        kept = all(str((folder / name).readlink()) == meant for name, meant in links.items()) and all(
            _is_same(folder / name, *row, every_byte=every_byte) for name, row in sums.items()
        )
    except (OSError, ValueError, TypeError, AttributeError):
        return False
    if kept:
        mark_used(folder)
    return kept


def _is_same(path: Path, size: int, time_ns: int, digest: str, *, every_byte: bool) -> bool:
    status = os.stat(path)  # noqa: PTH116 - there are thousands
    if status.st_size != size:
        return False
    same_time = status.st_mtime_ns == time_ns and not every_byte
    return same_time or hashlib.sha256(read_regular(path)).hexdigest() == digest


def _links(folder: Path) -> Mapping[str, str]:
    return {
        path.relative_to(folder).as_posix(): str(path.readlink()) for path in folder.rglob("*") if path.is_symlink()
    }


def _sums(folder: Path) -> Mapping[str, tuple[int, int, str]]:
    found: dict[str, tuple[int, int, str]] = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and not path.is_symlink():
            status = path.stat()
            digest = hashlib.sha256(read_regular(path)).hexdigest()
            found[path.relative_to(folder).as_posix()] = (status.st_size, status.st_mtime_ns, digest)
    return found
