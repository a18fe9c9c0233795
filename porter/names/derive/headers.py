"""Which ROCm header stands for each CUDA header."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from porter.names.derive.hipside import HipSide
from porter.names.derive.library import Library


def header_rows(
    library: Library, includes: Iterable[str], side: HipSide, overrides: Mapping[str, Mapping[str, Any]]
) -> dict[str, dict[str, Any]]:
    """One row per header of the library, and those that only the overrides know."""
    found = {include: _row(library, include, side, overrides) for include in includes if _is_header(include)}
    for include in overrides:
        found.setdefault(include, _row(library, include, side, overrides))
    return dict(sorted(found.items()))


def _row(library: Library, include: str, side: HipSide, overrides: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    override = overrides.get(include)
    if override is not None:
        row = dict(override)
    else:
        row = {"hip": _counterpart(library, include, side)}
    if row.get("gap"):
        return {"gap": row["gap"]} | ({"effort": row["effort"]} if row.get("effort", "manual") != "manual" else {})
    if not row.get("hip"):
        return {"gap": f"{library.title}: ROCm has no such header"}
    since = side.headers.get(row["hip"])
    known = since and "since" not in row and "before" not in row
    return row | ({"since": since[0]} if known and since else {})


def _counterpart(library: Library, include: str, side: HipSide) -> str | None:
    """The same path in ROCm's spelling where it exists, else the library's main header."""
    if library.header_names is not None:
        pattern, replacement = library.header_names
        renamed = re.sub(pattern, replacement, include)
        if renamed in side.headers:
            return renamed
    return library.header or None


def _is_header(include: str) -> bool:
    name = include.rpartition("/")[2]
    return not name.endswith((".hpp", ".inl", ".py", ".txt")) and not re.search(
        r"(?:^|/)(?:__\w+|detail|details)/", include
    )
