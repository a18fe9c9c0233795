"""From a line of the port back to the line of the source, and to the findings there."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from porter.validation.build.diagnostics import Raw
from porter.validation.build.model import Diagnostic, Place, Related

from porter.project.linemap import source_line
from porter.project.manifest import Manifest
from porter.project.records import FileRecord

_MOST = 3
_ASSEMBLY = ("P101", "P102")
_LONGEST_ASSEMBLY = 60


@dataclass(frozen=True)
class Origins:
    """The manifest, looked up by the path of the port."""

    root: Path
    records: Mapping[str, FileRecord]

    def place(self, path: str, line: int, column: int = 0) -> Place:
        """A line of the port with its source; `path` is below the root."""
        record = self.records.get(path)
        if record is None or record.edited:
            return Place(path, line, column)
        return Place(path, line, column, record.path, source_line(record.shifts, line))

    def findings(self, place: Place) -> tuple[Related, ...]:
        """The findings at the line, those that leave most work first."""
        record = self.records.get(place.path)
        if record is None or place.source_line is None:
            return ()
        here = [one for one in record.entries if one.line == place.source_line and one.suppressed is None]
        here.sort(key=lambda one: ("manual", "review", "none").index(one.effort))
        return tuple(dict.fromkeys(Related(one.code, one.effort, one.message) for one in here))[:_MOST]

    def kernel(self, place: Place) -> str | None:
        """The kernel of the source that the line is in, as far as its findings tell."""
        record = self.records.get(place.path)
        if record is None or place.source_line is None:
            return None
        starts = sorted((kernel["line"], kernel["qualified"]) for kernel in record.kernels)
        named = {one.kernel for one in record.entries if one.line == place.source_line and one.kernel}
        inside = [name for line, name in starts if name in named]
        return inside[0] if inside else None

    def diagnostic(self, raw: Raw) -> Diagnostic:
        """What the compiler said, at the place in the tree that it is about."""
        own = raw.own(self.root)
        if own is None:
            return Diagnostic(raw.severity, raw.text, None, raw.path)
        inside = str(PurePosixPath(Path(os.path.normpath(Path(own[0]).absolute())).relative_to(self.root)))
        place = self.place(inside, own[1], own[2])
        found = self.findings(place) or (self._of_assembly(place) if raw.text.endswith(" in asm") else ())
        within = raw.path if raw.path is not None and raw.path != own[0] else None
        return Diagnostic(raw.severity, raw.text, place, within, self.kernel(place), found)

    def _of_assembly(self, place: Place) -> tuple[Related, ...]:
        """What is found at the beginning of the assembly whose operands stand at a line below."""
        record = self.records.get(place.path)
        line = place.source_line
        if record is None or line is None:
            return ()
        above = [one for one in record.entries if one.code in _ASSEMBLY and 0 < line - one.line <= _LONGEST_ASSEMBLY]
        last = max(above, key=lambda one: one.line, default=None)
        return (Related(last.code, last.effort, last.message),) if last is not None and not last.suppressed else ()


def origins(root: Path, manifest: Manifest | None) -> Origins:
    """The lookup for a tree."""
    records = manifest.files.values() if manifest else ()
    return Origins(root, {record.output: record for record in records if record.output})
