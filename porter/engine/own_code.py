"""What porter itself is made of: another porter may port differently."""

from __future__ import annotations

import functools
import hashlib
import os
from collections.abc import Iterator

import porter
from porter import __version__, rules
from porter.system.reading import read_regular
from porter.system.remembered import remembered_while
from porter.system.stamps import Stamp, stamp_of

_KNOWLEDGE = (".py", ".toml", ".hpp", ".h")


@functools.cache
def knowledge_digest() -> str:
    """Digest of porter's own code, rules, tables and headers, made again when the stamp of one of them changes."""
    bases = (*porter.__path__, *rules.__path__)
    files = [(base, path, stamp) for base in bases for path, stamp in sorted(_files(base, ""))]

    def read() -> str:
        digest = hashlib.sha256(__version__.encode())
        for base, path, _ in files:
            digest.update(os.fsencode(path) + b"\0" + hashlib.sha256(read_regular(f"{base}/{path}")).digest())
        return digest.hexdigest()

    return remembered_while("porter", [(f"{base}/{path}", stamp) for base, path, stamp in files], read, __version__)


def _files(base: str, below: str) -> Iterator[tuple[str, Stamp]]:
    with os.scandir(f"{base}/{below}") as entries:
        for entry in entries:
            if entry.is_dir():
                yield from _files(base, f"{below}{entry.name}/")
            elif entry.name.endswith(_KNOWLEDGE):
                yield f"{below}{entry.name}", stamp_of(entry.stat())
