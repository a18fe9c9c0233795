"""`porter port --verify`: compiles what it can of a port, and makes findings of errors that none explains."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from porter.engine.notices import UNEXPLAINED_ERROR
from porter.errors import Unusable
from porter.project.port import Answer, answer_with
from porter.project.records import FileRecord, notice_entry

if TYPE_CHECKING:
    from porter.validation.build.model import Diagnostic, UnitBuild

_MOST_PER_UNIT = 5
"""Later errors are mostly about earlier ones."""
_QUOTED = re.compile(r"'([^']*)'")
_WORD = re.compile(r"[A-Za-z_]\w*")


def verified(answer: Answer, output: Path, jobs: int) -> Answer:
    """The answer with one manual finding per error that the compiler reports and no finding explains.

    Units whose headers are not here say nothing; how many that are goes to stderr.
    """
    from porter.validation.build.model import How, Status
    from porter.validation.build.run import BuildRequest, build

    try:
        report = build(BuildRequest(output, jobs=jobs, compiler=How.SYNTAX))
    except Unusable as reason:
        sys.stderr.write(f"verify: not run: {reason}\n")
        return answer
    records = {record.path: record for record in answer.run.records}
    known = _explained_names(records.values())
    found = dict.fromkeys(item for unit in report.units for item in _unexplained(unit, records, known))
    for path, line, column, message in found:
        text = f"the port does not compile here, and no rule knows why: {message}"
        records[path] = _with_entry(records[path], text, line, column)
    count = {status: sum(unit.status is status for unit in report.units) for status in Status}
    absent = count[Status.MISSING_HEADER]
    sys.stderr.write(
        f"verify: {count[Status.BUILT]} of {len(report.units)} translation units compile; "
        f"{absent} need headers that are not here; {len(found)} errors at places without a finding\n"
    )
    return answer_with(answer, tuple(records[path] for path in sorted(records)))


def _with_entry(record: FileRecord, text: str, line: int, column: int) -> FileRecord:
    entry = notice_entry(UNEXPLAINED_ERROR, text, line, column)
    return replace(record, entries=tuple(sorted((*record.entries, entry), key=lambda one: (one.line, one.column))))


def _unexplained(
    unit: UnitBuild, records: dict[str, FileRecord], known: frozenset[str]
) -> Iterator[tuple[str, int, int, str]]:
    """Path and line of the source, column, and message."""
    given = 0
    for one in unit.diagnostics:
        if one.severity not in ("error", "fatal error") or _is_explained(one, known):
            continue
        place = one.place
        if place is not None and place.source in records and place.source_line:
            yield str(place.source), place.source_line, max(place.column, 1), one.message
        elif (path := _source_of(unit.path, records)) is not None:
            where = f" (in {place.path})" if place is not None else ""
            yield path, 1, 1, f"{one.message}{where}"
        given += 1
        if given == _MOST_PER_UNIT:
            return


def _source_of(output: str, records: dict[str, FileRecord]) -> str | None:
    return next((path for path, record in records.items() if record.output == output), None)


def _is_explained(one: Diagnostic, known: frozenset[str]) -> bool:
    """Whether a finding that leaves work stands at the line, or is about a name that the message quotes."""
    if "file not found" in one.message or any(finding.effort != "none" for finding in one.findings):
        return True
    return any(not known.isdisjoint(_WORD.findall(text)) for text in _QUOTED.findall(one.message))


def _explained_names(records: Iterable[FileRecord]) -> frozenset[str]:
    """Names that manual findings are about: what uses them elsewhere fails for the same reason."""
    entries = (entry for record in records for entry in record.entries)
    return frozenset(entry.name for entry in entries if entry.effort == "manual" and _WORD.fullmatch(entry.name))
