"""Reads sets of header files into one harvest each."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from porter.names.derive.declarations import Harvest
from porter.names.derive.pxd import read_pxd
from porter.names.derive.reader import read_declarations
from porter.names.derive.reading import Namespaces, no_namespaces


def harvest(files: Iterable[tuple[Path, str]], namespaces: Namespaces = no_namespaces) -> Harvest:
    """Names of the files; each comes with the name it is included by."""
    found = Harvest()
    values: dict[str, int] = {}
    for path, include in files:
        text = path.read_text("latin-1")
        if path.suffix == ".pxd":
            found.extend(read_pxd(text))
            continue
        found.headers.add(include)
        found.extend(read_declarations(text, include, namespaces, values))
    return found


def headers_below(roots: Iterable[Path], patterns: Iterable[str]) -> list[tuple[Path, str]]:
    """Files below include folders that match glob patterns, in the order of the patterns, each include name once."""
    found: dict[str, Path] = {}
    wanted = list(patterns)
    for root in roots:
        for pattern in wanted:
            for path in sorted(root.glob(pattern)):
                if path.is_file():
                    found.setdefault(path.relative_to(root).as_posix(), path)
    return [(path, include) for include, path in found.items()]
