"""A quick look at a file, and at the project around a single one: the headers on disk that its includes reach."""

from __future__ import annotations

import posixpath
from collections.abc import Callable
from pathlib import Path

from porter.cpp.prescan import Scan, Standing, Wanted, scan
from porter.engine.dialect import QuickLook
from porter.project.discovery import is_code
from porter.project.writing import sha256
from porter.system.reading import is_regular, read_regular

_MOST = 2000


def looked_at(
    path: str,
    data: bytes,
    interesting: Callable[[str], bool],
    standing: Callable[[str], Standing] = lambda name: "replaced",
    wanted: Wanted | None = None,
) -> Scan:
    """What a file includes and declares, and whose compiler it is for; `standing` and `wanted` as `scan` has them."""
    reading = QuickLook(path, data)
    look = scan(data, interesting, wanted, reading.is_amds, standing)
    return look._replace(vendor=reading.evidence(look.includes))


def neighbours(
    root: Path, path: str, interesting: Callable[[str], bool], standing: Callable[[str], Standing]
) -> dict[str, tuple[str, Scan]]:
    """Digest and quick look of each file that a file includes, directly or not, relative to the including file."""
    found: dict[str, tuple[str, Scan]] = {}
    waiting = [path]
    while waiting and len(found) < _MOST:
        current = waiting.pop()
        try:
            data = read_regular(root / current)
        except OSError:
            continue
        look = looked_at(current, data, interesting, standing)
        found[current] = (sha256(data), look)
        beside = (posixpath.normpath(posixpath.join(posixpath.dirname(current), name)) for name in look.includes)
        waiting += [other for other in beside if is_code(other) and other not in found and is_regular(root / other)]
    found.pop(path, None)
    return found
