"""The name tables: every public name of CUDA's headers, and what HIP has for it."""

from __future__ import annotations

import hashlib
import marshal
import os
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import porter
from porter.model import Effort

if sys.version_info >= (3, 11):
    import tomllib
else:  # pragma: no cover
    import tomli as tomllib

KINDS = ("function", "type", "enumerator", "macro", "variable", "namespace", "template", "header")


@dataclass(frozen=True, slots=True)
class NameRow:
    """One CUDA name. `hip` is None for a gap, and `gap` says why."""

    cuda: str
    kind: str
    library: str
    hip: str | None
    gap: str = ""
    effort: Effort = Effort.NONE
    since: str = ""
    """Oldest ROCm in which the HIP name was seen."""
    signature: str = ""
    """How the signature or meaning differs from CUDA's; empty: the same."""
    why: str = ""
    """Where a row set by hand comes from."""


class NameTable:
    """Rows by CUDA name, headers apart."""

    def __init__(self, names: Mapping[str, NameRow], headers: Mapping[str, NameRow]) -> None:
        self._names = names
        self._headers = headers

    def get(self, name: str) -> NameRow | None:
        """The row of an identifier or qualified name."""
        return self._names.get(name)

    def header(self, name: str) -> NameRow | None:
        """The row of an `#include` name."""
        return self._headers.get(name)

    def __contains__(self, name: str) -> bool:
        return name in self._names

    def __len__(self) -> int:
        return len(self._names) + len(self._headers)

    def rows(self) -> Iterator[NameRow]:
        """Every row, headers last."""
        yield from self._names.values()
        yield from self._headers.values()

    @cached_property
    def active(self) -> frozenset[str]:
        """Unqualified names about which there is something to do or say."""
        return frozenset(
            name
            for name, row in self._names.items()
            if "::" not in name and (row.hip != name or row.signature)
        )

    @cached_property
    def namespaces(self) -> frozenset[str]:
        """First components of the qualified names, and namespaces that have a row themselves."""
        roots = {name.partition("::")[0] for name in self._names if "::" in name}
        return frozenset(roots | {name for name, row in self._names.items() if row.kind == "namespace"})


def version_key(version: str) -> tuple[int, ...]:
    """Orders versions by number: `6.10` comes after `6.9`."""
    return tuple(int(part) for part in version.split(".") if part.isdigit())


def load_names(rocm: str | None, custom: Mapping[str, str]) -> NameTable:
    """The tables for a ROCm version (None: the newest), with the project's own names added.

    A name that the version does not have yet becomes a gap that says so.
    """
    names: dict[str, NameRow] = {}
    headers: dict[str, NameRow] = {}
    for row in map(_row, _records()):
        (headers if row.kind == "header" else names)[row.cuda] = _for_version(row, rocm)
    for cuda, hip in custom.items():
        names[cuda] = NameRow(cuda, "function", "custom", hip)
    return NameTable(names, headers)


def _for_version(row: NameRow, rocm: str | None) -> NameRow:
    if rocm is None or row.hip is None or not row.since or version_key(row.since) <= version_key(rocm):
        return row
    gap = f"{row.hip} came with ROCm {row.since}; the port is for {rocm}"
    return replace(row, hip=None, gap=gap, effort=Effort.MANUAL)


_Record = tuple[str, str, str, str, str, str, str, str, str]


def _row(record: _Record) -> NameRow:
    cuda, kind, library, hip, gap, effort, since, signature, why = record
    return NameRow(cuda, kind, library, hip or None, gap, Effort(effort), since, signature, why)


def _records() -> list[_Record]:
    """All rows as plain tuples, from a cache where there is one for these very files."""
    paths = table_paths()
    digest = hashlib.sha256(porter.__version__.encode())
    for path in paths:
        digest.update(path.name.encode() + b"\0" + path.read_bytes())
    cache = cache_folder() / f"names-{digest.hexdigest()[:24]}.marshal"
    cached = _read_cache(cache)
    if cached is not None:
        return cached
    records = parse_tables(paths)
    _write_cache(cache, records)
    return records


def table_paths() -> list[Path]:
    """The TOML files: derived rows first, then the overrides, which win."""
    folder = Path(str(next(iter(_rules_path())))) / "api"
    return [*sorted(folder.glob("*.toml")), *sorted((folder / "overrides").glob("*.toml"))]


def _rules_path() -> list[str]:
    from porter import rules

    return list(rules.__path__)


def parse_tables(paths: list[Path]) -> list[_Record]:
    """Rows of the files in order; a later row for the same name and kind of thing replaces an earlier one."""
    rows: dict[tuple[str, bool], _Record] = {}
    for path in paths:
        for cuda, row in tomllib.loads(path.read_text("utf-8")).get("names", {}).items():
            record = _record(path.stem, cuda, row)
            rows[cuda, record[1] == "header"] = record
    return list(rows.values())


def _record(library: str, cuda: str, row: Mapping[str, Any]) -> _Record:
    gap = row.get("gap", "")
    effort = row.get("effort", "manual" if gap else "none")
    return (
        cuda,
        row["kind"],
        row.get("library", library),
        row.get("hip", "") if not gap else "",
        gap,
        effort,
        row.get("since", ""),
        row.get("signature", ""),
        row.get("why", ""),
    )


def cache_folder() -> Path:
    """Where derived data of this user is kept."""
    base = os.environ.get("PORTER_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME")
    if os.environ.get("PORTER_CACHE_DIR"):
        return Path(str(base))
    return (Path(base) if base else Path.home() / ".cache") / "porter"


def _read_cache(path: Path) -> list[_Record] | None:
    """The cached rows; None when there are none or they cannot be trusted."""
    try:
        cached = marshal.loads(path.read_bytes())
    except (OSError, ValueError, EOFError, TypeError):
        return None
    if not isinstance(cached, list) or any(type(row) is not tuple or len(row) != 9 for row in cached):
        return None
    return cached


def _write_cache(path: Path, records: list[_Record]) -> None:
    """Best effort: without a writable cache folder the tables are parsed each time."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
            file.write(marshal.dumps(records))
        Path(file.name).replace(path)
    except OSError:
        pass
