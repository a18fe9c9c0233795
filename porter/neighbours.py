"""The project around a single file: the headers on disk that its quoted includes reach."""

from __future__ import annotations

import posixpath
from collections.abc import Callable
from pathlib import Path

from porter.prescan import Scan, scan
from porter.project import is_code
from porter.writing import sha256

_MOST = 2000


def neighbours(root: Path, path: str, interesting: Callable[[str], bool]) -> dict[str, tuple[str, Scan]]:
    """Digest and quick look of each file that a file includes, directly or not, relative to the including file."""
    found: dict[str, tuple[str, Scan]] = {}
    waiting = [path]
    while waiting and len(found) < _MOST:
        current = waiting.pop()
        try:
            data = (root / current).read_bytes()
        except OSError:
            continue
        look = scan(data, interesting)
        found[current] = (sha256(data), look)
        beside = (posixpath.normpath(posixpath.join(posixpath.dirname(current), name)) for name in look.includes)
        waiting += [other for other in beside if is_code(other) and other not in found and (root / other).is_file()]
    del found[path]
    return found
