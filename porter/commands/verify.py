"""`porter port --verify`: compiles what it can of a port, and makes findings of errors that none explains."""

from __future__ import annotations

import functools
import re
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from porter.engine.notices import UNEXPLAINED_ERROR
from porter.errors import Unusable
from porter.project.port import Answer, answer_with
from porter.project.progress import shown_progress
from porter.project.records import FileRecord, notice_entry
from porter.system.reading import read_regular

if TYPE_CHECKING:
    from porter.validation.build.model import Diagnostic, UnitBuild

_MOST_PER_UNIT = 5
"""Later errors are mostly about earlier ones."""
_QUOTED = re.compile(r"'([^']*)'")
_WORD = re.compile(r"[A-Za-z_]\w*")
_DEFINE = re.compile(r"[ \t]*#[ \t]*define[ \t]+(\w+)")
_UNDECLARED = re.compile(r"(?:undeclared identifier|no member named|unknown type name) '(\w+)'")
_BUILD_FILES = ("CMakeLists.txt", "*.cmake", "Makefile*", "makefile*", "*.mk", "setup.py", "meson.build")


@dataclass(frozen=True)
class _Known:
    """What findings say already."""

    root: Path
    names: frozenset[str]
    """What manual findings are about."""
    macros: frozenset[str]
    """Macros with manual findings in their bodies."""


def verified(answer: Answer, output: Path, jobs: int) -> Answer:
    """The answer with one manual finding per error that the compiler reports and no finding explains.

    Units whose headers are not here say nothing; how many that are goes to stderr.
    """
    from porter.validation.build.model import How, Status
    from porter.validation.build.run import BuildRequest, build

    try:
        with shown_progress("verifying") as progress:
            report = build(BuildRequest(output, jobs=jobs, compiler=How.SYNTAX), progress)
    except Unusable as reason:
        sys.stderr.write(f"verify: not run: {reason}\n")
        return answer
    records = {record.path: record for record in answer.run.records}
    root = answer.run.plan.project.root
    known = _Known(root, _explained_names(records.values()), _macros_with_work(root, records))
    found = dict.fromkeys(item for unit in report.units for item in _unexplained(unit, records, known))
    for path, line, column, message in found:
        told = _macro_of_the_build(root, message)
        text = f"the port does not compile here, and no rule knows why: {message}{told}"
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


def _unexplained(unit: UnitBuild, records: dict[str, FileRecord], known: _Known) -> Iterator[tuple[str, int, int, str]]:
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


def _is_explained(one: Diagnostic, known: _Known) -> bool:
    """Whether a finding that leaves work stands at the line or in a macro of the line, or is about a quoted name."""
    if "file not found" in one.message or any(finding.effort != "none" for finding in one.findings):
        return True
    if any(not known.names.isdisjoint(_WORD.findall(text)) for text in _QUOTED.findall(one.message)):
        return True
    if one.place is None or not known.macros or not one.place.source_line:
        return False
    lines = _lines(known.root / str(one.place.source))
    line = lines[one.place.source_line - 1] if one.place.source_line <= len(lines) else ""
    return not known.macros.isdisjoint(_WORD.findall(line))


@functools.lru_cache(maxsize=64)
def _lines(path: Path) -> tuple[str, ...]:
    try:
        return tuple(read_regular(path).decode("utf-8", "replace").splitlines())
    except OSError:
        return ()


def _macros_with_work(root: Path, records: dict[str, FileRecord]) -> frozenset[str]:
    """Macros in whose bodies findings leave work by hand: the compiler stops where they are used."""
    found: set[str] = set()
    for path, record in records.items():
        wanted = {entry.line for entry in record.entries if entry.effort == "manual"}
        name, continued = None, False
        for number, line in enumerate(_lines(root / path) if wanted else (), start=1):
            opened = _DEFINE.match(line)
            name = opened[1] if opened and not continued else name if continued else None
            continued = line.endswith("\\")
            if name is not None and number in wanted:
                found.add(name)
    return frozenset(found)


def _macro_of_the_build(root: Path, message: str) -> str:
    """Where a build file names what the compiler does not know; empty: nowhere."""
    unknown = _UNDECLARED.search(message)
    if unknown is None:
        return ""
    wanted = re.compile(rf"(?:-D|\b){unknown[1]}\b")
    for path in _build_files(root):
        for number, line in enumerate(_lines(path), start=1):
            if wanted.search(line):
                place = f"{path.relative_to(root)}:{number}"
                return f"; {place} has the name: if it is a macro of the build, add it to `defines` in porter.toml"
    return ""


@functools.lru_cache(maxsize=4)
def _build_files(root: Path) -> tuple[Path, ...]:
    found = (path for pattern in _BUILD_FILES for path in root.rglob(pattern))
    return tuple(sorted(path for path in found if path.is_file() and not path.is_symlink()))


def _explained_names(records: Iterable[FileRecord]) -> frozenset[str]:
    """Names that manual findings are about: what uses them elsewhere fails for the same reason."""
    entries = (entry for record in records for entry in record.entries)
    return frozenset(entry.name for entry in entries if entry.effort == "manual" and _WORD.fullmatch(entry.name))
