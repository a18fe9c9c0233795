"""Digests of many files at once."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from porter.project.writing import content_at, sha256
from porter.system.reading import read_regular

_LARGE = 64 << 20
_MANY_BYTES = 16 << 20
_MOST_THREADS = 8


def digests_at(files: Sequence[tuple[str, int]]) -> list[str | None]:
    """The digest of each of some files with their sizes; None for what cannot be read.

    Of many bytes they are made by all cores: who makes one waits for nobody.
    """
    if sum(size for _, size in files) < _MANY_BYTES:
        return [_digest(path, size) for path, size in files]
    from concurrent.futures import ThreadPoolExecutor  # it takes longer to read than some files

    with ThreadPoolExecutor(min(_MOST_THREADS, os.cpu_count() or 1)) as threads:
        return list(threads.map(_digest, *zip(*files, strict=True)))


def _digest(path: str, size: int) -> str | None:
    try:
        if size > _LARGE:
            return content_at(Path(path)).sha256
        return sha256(read_regular(path))
    except OSError:
        return None
