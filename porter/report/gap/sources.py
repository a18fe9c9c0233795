"""Original and port of the files that the report shows, packed for the page."""

from __future__ import annotations

import base64
import json
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from porter.project.linemap import line_shifts
from porter.system.reading import read_regular

_LARGEST = 2 << 20
_LONGEST_LINE = 2000


@dataclass(frozen=True)
class Trees:
    """Where the original and the port lie; None: they are not at hand."""

    source: Path | None
    port: Path | None


def trees_of(report: Mapping[str, Any], folder: Path, source: Path | None, port: Path | None) -> Trees:
    """The folders that the report names, or that the user gave instead."""
    named = folder / str(report.get("source", ""))
    original = source or (named if named.is_dir() else named.parent)
    output = report.get("output")
    ported = port or (folder / output if output else None)
    if ported is not None and not ported.is_dir():
        ported = ported.parent if ported.is_file() else None
    return Trees(original if original.is_dir() else None, ported)


def read_text(root: Path | None, path: str | None) -> str | None:
    """A file of a tree as text; None where it is not there, too large, or leads out of the tree."""
    if root is None or not path:
        return None
    place = root / path
    try:
        if not place.resolve().is_relative_to(root.resolve()) or place.stat().st_size > _LARGEST:
            return None
        return read_regular(place).decode("utf-8", "replace")
    except (OSError, ValueError):
        return None


def last_lines(report: Mapping[str, Any], trees: Trees) -> dict[tuple[str, int], int]:
    """The last line of every kernel whose file is as it was, by path and first line."""
    found: dict[tuple[str, int], int] = {}
    datas: dict[str, bytes] = {}
    for kernel in report.get("kernels", ()):
        path, (_, end) = kernel["path"], kernel["span"]
        if path not in datas:
            datas[path] = (read_text(trees.source, path) or "").encode("utf-8", "replace")
        if len(datas[path]) >= end:
            found[path, kernel["line"]] = datas[path].count(b"\n", 0, end) + 1
    return found


def packed_files(paths: Iterable[str], outputs: Mapping[str, str | None], trees: Trees) -> dict[str, str]:
    """Per file its original, its port and how their lines drift, deflated and in base64."""
    packed: dict[str, str] = {}
    for path in dict.fromkeys(paths):
        old = read_text(trees.source, path)
        if old is None:
            continue
        new = read_text(trees.port, outputs.get(path)) if trees.port is not None else None
        document = {
            "old": _cut(old),
            "new": _cut(new) if new is not None else None,
            "output": outputs.get(path),
            "shifts": line_shifts(old.encode(), new.encode()) if new is not None else [],
        }
        packed[path] = base64.b64encode(_deflated(json.dumps(document))).decode()
    return packed


def _deflated(text: str) -> bytes:
    packer = zlib.compressobj(9, zlib.DEFLATED, -zlib.MAX_WBITS)
    return packer.compress(text.encode()) + packer.flush()


def _cut(text: str) -> list[str]:
    """Lines, those without end cut with a count."""
    lines = text.split("\n")
    return [
        line if len(line) <= _LONGEST_LINE else f"{line[:_LONGEST_LINE]} ... ({len(line) - _LONGEST_LINE:,} more)"
        for line in lines
    ]
