"""Folders in the user's cache that nobody else can write to, filled all at once."""

from __future__ import annotations

import os
import shutil
import stat
import tempfile
from pathlib import Path

from porter.caching import cache_folder
from porter.scratch import lasting_folder


def private_folder(name: str) -> Path | None:
    """A folder of ours in the first place that can be written: the cache, or the machine's temporary folder."""
    for base in _bases():
        try:
            base.mkdir(parents=True, exist_ok=True, mode=0o700)
            folder = base / name
            folder.mkdir(exist_ok=True, mode=0o700)
            if _is_ours(base) and _is_ours(folder) and os.access(folder, os.W_OK):
                return folder
        except OSError:
            continue
    return None


def _bases() -> list[Path]:
    user = os.getuid() if hasattr(os, "getuid") else "user"
    return [cache_folder(), lasting_folder() / f"porter-{user}"]


def _is_ours(folder: Path) -> bool:
    """Whether no other user can put something there for us to trust."""
    status = folder.stat()
    owned = not hasattr(os, "getuid") or status.st_uid == os.getuid()
    return owned and not status.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


def write_folder(files: dict[str, bytes], target: Path) -> bool:
    """Writes all files, then renames the folder into place; another process may have been faster."""
    if target.is_dir():
        return True
    try:
        staging = Path(tempfile.mkdtemp(prefix=".staging-", dir=target.parent))
        for name, data in files.items():
            path = staging / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        try:
            staging.rename(target)
        except OSError:
            shutil.rmtree(staging, ignore_errors=True)
    except OSError:
        return False
    return target.is_dir()
