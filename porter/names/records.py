"""Reads `rules/api/*.toml`, and keeps the parsed rows in the user's cache: parsing them takes time."""

from __future__ import annotations

import contextlib
import hashlib
import marshal
import sys
from collections.abc import Callable, Iterable, Mapping
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import porter
from porter.system.cache import keep, kept, kept_folder
from porter.system.remembered import remembered_while
from porter.system.stamps import stamp_of

if TYPE_CHECKING:
    from importlib.abc import Traversable

Record = tuple[str, str, str, str, str, str, str, str, tuple[tuple[str, str], ...], str, str, str, str]
"""kind, library, hip, gap, effort, since, signature, value, before, gone, added, removed, why.

`hip` is empty for a gap."""
_DIGEST = 16
_LAYOUT = "2"
"""Changes with `Record` and `Records`, so that an older cache is not read as a newer one."""
_SALT = f"{porter.__version__} {sys.implementation.cache_tag} {_LAYOUT}"


class Records(NamedTuple):
    """All rows, and what is asked of all of them at once."""

    names: dict[str, Record]
    headers: dict[str, Record]
    fields: dict[str, Record]
    active: frozenset[str]
    """Unqualified names that are renamed, missing or different."""
    namespaces: frozenset[str]
    """First components of qualified names."""


def load_records() -> Records:
    """All rows, from the cache where it has these very files."""
    try:
        cache = kept_folder("names") / f"{_while_the_same('tables', lambda: _fingerprint(_texts()))}.bin"
    except OSError:
        return parse(_texts())
    known = kept(cache)
    if known is not None:
        return Records(*marshal.loads(known))
    records = parse(_texts())
    with contextlib.suppress(OSError):  # without room for it, the tables are parsed each time
        keep(cache, marshal.dumps(tuple(records)))
    return records


def header_names() -> frozenset[str]:
    """Names of all headers, remembered by themselves: a run that finds nothing to do asks for nothing else."""
    return frozenset(_while_the_same("header names", lambda: "\n".join(load_records().headers)).split("\n"))


def _while_the_same(what: str, answer: Callable[[], str]) -> str:
    """What depends on the tables alone."""
    tables = [table for table in table_files() if isinstance(table, Path)]
    stamps = [(str(table), stamp_of(table.stat())) for table in tables]
    return remembered_while(what, stamps, answer, _SALT) if stamps else answer()


def _texts() -> list[tuple[str, bytes]]:
    return [(entry.name, entry.read_bytes()) for entry in table_files()]


def table_files() -> list[Traversable]:
    """The table files, sorted by name."""
    folder = files("porter.rules") / "api"
    return sorted((entry for entry in folder.iterdir() if entry.name.endswith(".toml")), key=lambda entry: entry.name)


def parse(texts: Iterable[tuple[str, bytes]]) -> Records:
    """Rows of TOML files (name, content)."""
    from porter.names.rows import read_rows  # only where no cache has them

    found: dict[str, dict[str, Record]] = {"names": {}, "headers": {}, "fields": {}}
    shared: dict[Any, Any] = {}
    for name, content in texts:
        document = read_rows(content.decode("utf-8"))
        for section, rows in found.items():
            made: dict[int, Record] = {}
            for cuda, row in document.get(section, {}).items():
                record = made.get(id(row))
                if record is None:
                    parts = _record(name.removesuffix(".toml"), section.removesuffix("s"), row)
                    record = made[id(row)] = tuple(shared.setdefault(part, part) for part in parts)
                rows[cuda] = record
    names = found["names"]
    plain = {name: record for name, record in names.items() if "::" not in name}
    roots = {name.partition("::")[0] for name in names.keys() - plain.keys()}
    return Records(
        **found,
        active=frozenset(name for name, record in plain.items() if record[2] != name or record[6] or record[9]),
        namespaces=frozenset(roots | {name for name, record in plain.items() if record[0] == "namespace"}),
    )


def _record(library: str, kind: str, row: Mapping[str, Any]) -> Record:
    gap = row.get("gap", "")
    return (
        row.get("kind", kind),
        library,
        "" if gap else row.get("hip", ""),
        gap,
        row.get("effort", "manual" if gap else "none"),
        row.get("since", ""),
        row.get("signature", ""),
        row.get("value", ""),
        tuple(row.get("before", {}).items()),
        row.get("gone", ""),
        row.get("added", ""),
        row.get("removed", ""),
        row.get("why", ""),
    )


def _fingerprint(texts: Iterable[tuple[str, bytes]]) -> str:
    """Names the cache entry: the content of the tables, and what else the cached form depends on."""
    digest = hashlib.blake2b(_SALT.encode(), digest_size=_DIGEST)
    for name, content in texts:
        digest.update(f"\0{name}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()
