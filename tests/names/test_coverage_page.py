"""docs/coverage.md counts the rows that are there, also those that were set by hand since the tables were derived."""

from __future__ import annotations

from pathlib import Path

from porter.names.derive.coverage import coverage_page
from porter.names.derive.libraries import LIBRARIES
from porter.names.derive.tables import Tables
from porter.names.records import table_files
from porter.names.rows import read_rows

_PAGE = Path(__file__).parents[2] / "docs" / "coverage.md"


def test_the_page_is_that_of_the_tables() -> None:
    texts = {entry.name: entry.read_text("utf-8") for entry in table_files()}
    tables = Tables()
    for library in LIBRARIES:
        found = read_rows(texts[f"{library.name}.toml"])
        tables.sections[library.name] = {part: found.get(part, {}) for part in ("names", "headers", "fields")}
        tables.titles[library.name] = library.title
        tables.declared[library.name] = set()
    assert sorted(texts) == sorted(f"{library.name}.toml" for library in LIBRARIES)
    assert coverage_page(tables) == _PAGE.read_text("utf-8")
