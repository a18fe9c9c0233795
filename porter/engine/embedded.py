"""Kernels in strings that are compiled at run time: their text is ported like a file, and edited where it stands."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

from porter.cpp.literals import Literal
from porter.cpp.runtime_strings import RuntimeSource
from porter.engine.insertion import include_edit
from porter.engine.support import FOLDER
from porter.engine.unit import Unit
from porter.model import Edit, Effort, Finding, Kernel, Span
from porter.source import SourceFile

KERNEL_IN_STRING = "kernel-in-string"
"""The rule that reports them: where it is switched off or allowed, the text stays."""
BUILT_IN = frozenset({"<hip/hip_runtime.h>"})
"""Headers that hiprtc includes by itself."""


@dataclass(frozen=True)
class Embedded:
    """One such text as a unit of its own, and its place in the file."""

    outer: SourceFile
    start: int
    """Of the first literal."""
    unit: Unit
    literal: Literal
    joined: bool = False
    """Whether other texts stand before it: what it includes is left to `porter/rtc.hpp`."""

    def findings(self, found: Iterable[Finding]) -> Iterator[Finding]:
        """What was found in the text, with places and edits of the file."""
        kept = [finding for finding in map(_without_built_in, found) if finding is not None]
        lines = self._include_lines(kept)
        insertion = (
            None if self.joined else self._below_first_line(include_edit(self.unit.source, self.unit.tokens, lines))
        )
        yield from (self._placed(finding, insertion if finding.includes else None) for finding in kept)

    def support(self, found: Iterable[Finding]) -> frozenset[str]:
        """Our headers that the text needs."""
        return frozenset(i for finding in found for i in finding.includes if i.startswith(FOLDER + "/"))

    def kernels(self) -> Iterator[Kernel]:
        """The kernels of the text, with places of the file."""
        for kernel in self.unit.kernels:
            span = self._span(kernel.span)
            line, _ = self.outer.position(span.start)
            yield replace(kernel, path=self.outer.path, span=span, line=line)

    def _include_lines(self, findings: Iterable[Finding]) -> list[str]:
        wanted = sorted({include for f in findings for include in f.includes}, key=lambda i: (i[0] != "<", i))
        present = self.unit.included
        return [i if i.startswith("<") else f'"{i}"' for i in wanted if i.strip("<>") not in present]

    def _below_first_line(self, insertion: Edit | None) -> Edit | None:
        """A literal mostly begins with a line end, and its text in the next line."""
        newline = self.unit.source.newline
        if insertion is None or insertion.start != 0 or not self.literal.text.startswith(newline):
            return insertion
        return insertion._replace(start=len(newline), end=len(newline))

    def _span(self, span: Span) -> Span:
        start = self.literal.position(span.start)
        return Span(start, max(start, self.literal.position(span.end)))

    def _placed(self, finding: Finding, insertion: Edit | None) -> Finding:
        span = self._span(finding.span)
        line, column = self.outer.position(span.start)
        placed = replace(finding, path=self.outer.path, span=span, line=line, column=column, includes=())
        if self.outer.path.endswith(".c") and any(include.startswith(FOLDER) for include in finding.includes):
            message = f"{finding.message}; not done: hiprtc gets our headers from C++ only"
            return replace(placed, edits=(), effort=Effort.MANUAL, message=message)
        edits: list[Edit] = []
        for edit in (*finding.edits, *([insertion] if insertion else [])):
            made = self.literal.edits(edit)
            if made is None:
                message = f"{finding.message}; not done: the new text cannot stand in this literal"
                return replace(placed, edits=(), effort=Effort.MANUAL, message=message)
            edits += made
        return replace(placed, edits=tuple(edits))


def embed(outer: SourceFile, source: RuntimeSource, unit_of: Callable[[SourceFile], Unit]) -> Embedded:
    """The text of a literal as a file that stands beside the one it is in."""
    assert source.literal is not None
    folder, name = posixpath.split(outer.path)
    stem = posixpath.splitext(name)[0]
    inner = posixpath.join(folder, f"{stem}.{source.name or 'string'}.cu")
    data = source.literal.text.encode("latin-1")
    return Embedded(outer, source.start, unit_of(SourceFile(inner, data)), source.literal, source.joined)


def _without_built_in(finding: Finding) -> Finding | None:
    """Without the headers that hiprtc has; None when nothing else was wanted."""
    left = tuple(include for include in finding.includes if include not in BUILT_IN)
    if left == finding.includes:
        return finding
    return replace(finding, includes=left) if left or finding.edits else None
