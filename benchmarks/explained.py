"""Whether porter's own report names the places where a port does not compile."""

from __future__ import annotations

import difflib
import json
from collections import defaultdict
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from benchmarks.diagnostics import CompileError

NEAR = 2
"""Lines between a finding and the compiler's complaint that still count as the same place."""


@dataclass(frozen=True)
class Report:
    """The manual findings of `porter port --format json`, and which file of the source each output came from."""

    source: Path
    tree: Path
    manual: dict[str, frozenset[int]]
    origin: dict[str, str]

    def explains(self, error: CompileError) -> bool:
        """Whether a manual finding stands at, or next to, any place that the compiler relates to the error."""
        return any(self._is_reported(Path(place.file), place.line) for place in error.related)

    def original(self, file: Path, line: int) -> tuple[str, int, int] | None:
        """The file of the source, and the first and last of its lines, that a line of the port stands for."""
        try:
            output = str(file.resolve().relative_to(self.tree))
        except ValueError:
            return None
        path = self.origin.get(output, output)
        if not (self.source / path).is_file():
            return None  # one of porter's own headers
        lines = _line_map(self.source / path, self.tree / output)
        return (path, *(lines[min(line, len(lines)) - 1] if lines else (line, line)))

    def _is_reported(self, file: Path, line: int) -> bool:
        found = self.original(file, line)
        if found is None:
            return False
        path, first, last = found
        return any(first - NEAR <= reported <= last + NEAR for reported in self.manual.get(path, ()))


def load_report(path: Path, tree: Path) -> Report:
    """Reads the JSON document of a port."""
    document = json.loads(path.read_text())
    manual: defaultdict[str, set[int]] = defaultdict(set)
    for finding in document["findings"]:
        if finding["effort"] == "manual" and not finding["suppressed"]:
            manual[finding["path"]].add(finding["line"])
    return Report(
        source=Path(document["source"]),
        tree=tree,
        manual={path: frozenset(lines) for path, lines in manual.items()},
        origin={file["output"]: file["path"] for file in document["files"]},
    )


@cache
def _line_map(source: Path, output: Path) -> list[tuple[int, int]]:
    """For each line of the output: the first and last line of the source that it stands for."""
    before, after = (path.read_bytes().splitlines() for path in (source, output))
    places: list[tuple[int, int]] = []
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    for tag, low, high, first, last in matcher.get_opcodes():
        if tag == "equal" or high - low == last - first:
            places += [(low + offset + 1, low + offset + 1) for offset in range(last - first)]
        else:
            places += [(low + 1, max(high, low + 1))] * (last - first)
    return places
