"""The name tables: every public name of CUDA's headers, and what ROCm has for it."""

from __future__ import annotations

import bisect
import functools
from collections import ChainMap, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from porter.model import Effort
from porter.names.records import Record, Records, header_names, load_records

KINDS = ("function", "type", "template", "enumerator", "macro", "variable", "namespace", "field", "header", "custom")


@dataclass(frozen=True, slots=True)
class NameRow:
    """One CUDA name. `hip` is None for a gap, and `gap` says why."""

    cuda: str
    kind: str
    library: str
    hip: str | None
    gap: str = ""
    effort: Effort = Effort.NONE
    """The work a use leaves: for a gap, or for a counterpart whose signature differs."""
    since: str = ""
    """Oldest ROCm in which the HIP name was seen."""
    signature: str = ""
    """How the signature or meaning differs from CUDA's; empty: the same."""
    value: str = ""
    """`CUDA's -> HIP's` for an enumerator whose number differs; it matters only where the number itself is used."""
    added: str = ""
    """First CUDA version that has the name, when that is not the oldest one of the tables."""
    removed: str = ""
    """First CUDA version that lacks the name again."""
    why: str = ""
    """Why a person set the row; empty: derived."""


class NameTable:
    """Rows by CUDA name for one ROCm version; headers and struct fields apart."""

    def __init__(
        self,
        names: Mapping[str, NameRow],
        headers: Mapping[str, NameRow],
        fields: Mapping[str, NameRow] | None = None,
    ) -> None:
        self._names = names
        self._headers = headers
        self._deepest = max((len(folder) for folder in headers if folder.endswith("/")), default=0)
        self._fields = fields or {}

    def get(self, name: str) -> NameRow | None:
        """The row of an identifier or qualified name."""
        return self._names.get(name)

    def begins(self, text: str) -> bool:
        """Whether some names go on where this one ends: `cudaMem`."""
        place = bisect.bisect_left(self._sorted, text)
        while place < len(self._sorted) and self._sorted[place].startswith(text):
            if self._sorted[place][len(text) : len(text) + 1].isupper():
                return True
            place += 1
        return False

    @cached_property
    def _sorted(self) -> list[str]:
        return sorted(self._names)

    def header(self, name: str) -> NameRow | None:
        """The row of an `#include` name."""
        return self._headers.get(name)

    def header_folder(self, name: str) -> NameRow | None:
        """The row of the innermost folder (`cutlass/`) that an `#include` name is below."""
        folder = name[: self._deepest].rpartition("/")[0]
        while folder:
            row = self._headers.get(f"{folder}/")
            if row is not None:
                return row
            folder = folder.rpartition("/")[0]
        return None

    def field(self, struct: str, name: str) -> NameRow | None:
        """The row of a member of a CUDA struct (`cudaDeviceProp`, `clockRate`)."""
        return self._fields.get(f"{struct}.{name}")

    def __contains__(self, name: str) -> bool:
        return name in self._names

    def __len__(self) -> int:
        return len(self._names) + len(self._headers) + len(self._fields)

    def rows(self) -> Iterator[NameRow]:
        """Every row: names, headers, fields."""
        for rows in (self._names, self._headers, self._fields):
            yield from rows.values()

    @cached_property
    def words(self) -> frozenset[bytes]:
        """Every unqualified name, as it stands in a file."""
        return identifiers(self._names)

    @cached_property
    def active(self) -> frozenset[str]:
        """Unqualified names about which there is something to do or say."""
        return frozenset(
            name for name, row in self._names.items() if "::" not in name and (row.hip != name or row.signature)
        )

    @cached_property
    def namespaces(self) -> frozenset[str]:
        """First components of the qualified names, and namespaces that have a row themselves."""
        roots = {name.partition("::")[0] for name in self._names if "::" in name}
        plain = {name for name, row in self._names.items() if row.kind == "namespace" and "::" not in name}
        return frozenset(roots | plain)

    @cached_property
    def telling(self) -> frozenset[bytes]:
        """Names about which there is something to do or say, and namespaces, as they stand in a file."""
        return _encoded(self.active | self.namespaces)

    def members(self, scope: str) -> frozenset[str]:
        """What the tables have directly below a namespace (`cub` -> `BlockReduce`, ...)."""
        return self._members.get(scope, frozenset())

    @cached_property
    def counterparts(self) -> frozenset[str]:
        """Qualified names that others are renamed to (`thrust::hip::par`): AMD's own, in code that is for both."""
        rows = (row for name, row in self._names.items() if "::" in name)
        return frozenset(row.hip for row in rows if row.hip is not None)

    @cached_property
    def _members(self) -> dict[str, frozenset[str]]:
        found: defaultdict[str, set[str]] = defaultdict(set)
        for name in self._names:
            if "::" in name:
                scope, _, member = name.rpartition("::")
                found[scope].add(member)
                outer, _, inner = scope.rpartition("::")
                found[outer].add(inner)
        return {scope: frozenset(members) for scope, members in found.items() if scope}


class _Rows(Mapping[str, NameRow]):
    """Rows made from records when they are asked for: a run needs a few hundred of some twenty thousand."""

    def __init__(self, records: Mapping[str, Record], rocm: str | None) -> None:
        self._records = records
        self._rocm = rocm
        self._made: dict[str, NameRow] = {}

    def __getitem__(self, name: str) -> NameRow:
        row = self._made.get(name)
        if row is None:
            row = self._made[name] = _row(name, self._records[name], self._rocm)
        return row

    def get(self, name: str, default: Any = None) -> Any:
        """Most names that are asked for have no row: no exception is made for them."""
        return self[name] if name in self._records else default

    def __contains__(self, name: object) -> bool:
        return name in self._records

    def __iter__(self) -> Iterator[str]:
        return iter(self._records)

    def __len__(self) -> int:
        return len(self._records)


class _LoadedTable(NameTable):
    """The shipped tables; what concerns all names at once is known from the records."""

    def __init__(self, records: Records, rocm: str | None, custom: Mapping[str, str]) -> None:
        self._own = {cuda: NameRow(cuda, "custom", "custom", hip) for cuda, hip in custom.items()}
        rows: Mapping[str, NameRow] = _Rows(records.names, rocm)
        names = ChainMap(self._own, rows) if custom else rows  # type: ignore[arg-type]
        super().__init__(names, _Rows(records.headers, rocm), _Rows(records.fields, rocm))
        self._records = records
        self._rocm = rocm

    @cached_property
    def active(self) -> frozenset[str]:
        """Unqualified names about which there is something to do or say."""
        return _active(self._rocm) | {name for name in self._own if "::" not in name}

    @cached_property
    def telling(self) -> frozenset[bytes]:
        """Names about which there is something to do or say, and namespaces, as they stand in a file."""
        return _telling(self._rocm) | _encoded(name.partition("::")[0] for name in self._own)

    @cached_property
    def words(self) -> frozenset[bytes]:
        """Every unqualified name, as it stands in a file."""
        return _words() | identifiers(self._own) if self._own else _words()

    @cached_property
    def namespaces(self) -> frozenset[str]:
        """First components of the qualified names, and namespaces that have a row themselves."""
        return self._records.namespaces | {name.partition("::")[0] for name in self._own if "::" in name}


def _row(name: str, record: Record, rocm: str | None) -> NameRow:
    kind, library, hip, gap, effort, since, signature, value, before, gone, added, removed, why = record
    version = version_key(rocm) if rocm else None
    if gone and (version is None or version >= version_key(gone)):
        return NameRow(name, kind, library, None, f"{hip}: {why}", Effort.MANUAL, since, "", "", added, removed, why)
    if version and hip:
        if _too_new(record, version):
            gap = f"{hip} came with ROCm {since}; the port is for {rocm}"
            return NameRow(name, kind, library, None, gap, Effort.MANUAL, since, "", "", added, removed, why)
        hip = next((older for until, older in before if version < version_key(until)), hip)
    return NameRow(name, kind, library, hip or None, gap, Effort(effort), since, signature, value, added, removed, why)


def _too_new(record: Record, version: tuple[int, ...]) -> bool:
    return bool(record[5]) and version < version_key(record[5])


@functools.lru_cache(maxsize=256)
def version_key(version: str) -> tuple[int, ...]:
    """Orders versions by number: `6.10` comes after `6.9`, and `6.3.1` is at least `6.3`."""
    return tuple(int(part) for part in version.split(".") if part.isdigit())


def load_names(rocm: str | None, custom: Mapping[str, str]) -> NameTable:
    """The tables for a ROCm version (None: the newest), with the project's own names added.

    A name that the version does not have yet is a gap that says so.
    """
    return _LoadedTable(_records(), rocm, custom)


@functools.cache
def _records() -> Records:
    """Read once per process: a check looks at several trees."""
    return load_records()


@functools.lru_cache(maxsize=16)
def _active(rocm: str | None) -> frozenset[str]:
    """The tables' own names about which there is something to say in ports for a ROCm version."""
    records = _records()
    if rocm is None:
        return records.active
    version = version_key(rocm)
    too_new = (name for name, record in records.names.items() if _too_new(record, version))
    return records.active.union(name for name in too_new if "::" not in name)


@functools.lru_cache(maxsize=16)
def _telling(rocm: str | None) -> frozenset[bytes]:
    return _encoded(_active(rocm) | _records().namespaces)


def _encoded(names: Iterable[str]) -> frozenset[bytes]:
    return frozenset(name.encode("latin-1", "replace") for name in names)


@functools.cache
def _words() -> frozenset[bytes]:
    return identifiers(_records().names)


def identifiers(names: Iterable[str]) -> frozenset[bytes]:
    """Those of some names that are one word of a source file."""
    return frozenset(name.encode("latin-1") for name in names if name.isidentifier())


def is_cuda_header(name: str) -> bool:
    """Whether an `#include` name is that of a header of CUDA or one of its libraries."""
    return name in _cuda_headers()


@functools.cache
def _cuda_headers() -> frozenset[str]:
    return header_names()
