"""All tables of one derivation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from porter.names.derive.build import Context, Row, rows
from porter.names.derive.cudaside import CudaName, joined
from porter.names.derive.declarations import Harvest
from porter.names.derive.headers import header_rows
from porter.names.derive.hipside import HipSide
from porter.names.derive.libraries import LIBRARIES
from porter.names.derive.library import Library
from porter.names.derive.overrides import Overrides
from porter.names.derive.sources import Source, cuda_harvests
from porter.names.derive.structs import field_rows
from porter.names.derive.vocabulary import vocabulary


class Count(NamedTuple):
    """How the names of one library fare."""

    names: int
    same: int
    renamed: int
    differs: int
    gap: int
    unknown: int


@dataclass
class Tables:
    """Library -> section -> name -> row."""

    sections: dict[str, dict[str, dict[str, Row]]] = field(default_factory=dict)
    titles: dict[str, str] = field(default_factory=dict)
    declared: dict[str, set[str]] = field(default_factory=dict)
    """Public names of the headers themselves, to count those without a row."""

    def counts(self) -> dict[str, Count]:
        """Per library, headers included, fields not."""
        return {
            name: count(
                [*sections["names"].items(), *sections["headers"].items()],
                self.declared[name] - sections["names"].keys(),
            )
            for name, sections in self.sections.items()
        }


def count(entries: Sequence[tuple[str, Mapping[str, object]]], missing: set[str]) -> Count:
    """Counts rows; a name without a row, or with neither counterpart nor gap, is unknown."""
    gap = sum("gap" in row for _, row in entries)
    differs = sum("hip" in row and "signature" in row for _, row in entries)
    same = sum(row.get("hip") == name and "signature" not in row for name, row in entries)
    known = sum("gap" in row or "hip" in row for _, row in entries)
    unknown = len(entries) - known + len(missing)
    return Count(len(entries) + len(missing), same, known - gap - differs - same, differs, gap, unknown)


def derive(cuda: Sequence[Source], side: HipSide, overrides: Overrides) -> Tables:
    """Reads CUDA's headers, matches every public name, and builds the rows."""
    harvests = {library: cuda_harvests(library, cuda) for library in LIBRARIES}
    names = _own_names(harvests)
    for library, entries in names.items():
        overrides.expand(library.name, entries)
    found = vocabulary(names, side, overrides.names)
    context = Context(found, overrides, tuple(source.label for source in cuda))
    tables = Tables()
    for library, entries in names.items():
        includes = sorted({include for harvest in harvests[library].values() for include in harvest.headers})
        tables.titles[library.name] = library.title
        tables.declared[library.name] = set(entries)
        tables.sections[library.name] = {
            "names": rows(library, entries, context),
            "headers": header_rows(library, includes, side, overrides.headers[library.name]),
            "fields": field_rows(harvests[library], found, library.name, overrides),
        }
    return tables


def _own_names(harvests: Mapping[Library, Mapping[str, Harvest]]) -> dict[Library, dict[str, CudaName]]:
    """Each name belongs to the first library that declares it."""
    seen: set[str] = set()
    found: dict[Library, dict[str, CudaName]] = {}
    for library, versions in harvests.items():
        entries = joined(versions, library)
        found[library] = {name: entry for name, entry in entries.items() if name not in seen}
        seen |= found[library].keys()
    return found
