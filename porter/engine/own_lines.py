"""Keeps findings where they belong: AMD's own lines stay, and code that no port compiles leaves no work."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from porter.engine import notices
from porter.engine.asking import not_about
from porter.engine.dialect import Dialect, Dialects
from porter.engine.edits import mapped_back
from porter.engine.rule import Rule
from porter.model import Edit, Effort, Finding, Span
from porter.source import SourceFile

_FILE = "no file that it compiles includes this one"


@dataclass(frozen=True)
class Lines:
    """Whose lines are whose in the original file, for the findings of any pass over it."""

    source: SourceFile
    dialects: Dialects
    covered: set[tuple[int, str]] = field(default_factory=set)
    """Of allow comments that suppressed a finding of any pass: their numbers, and what they call it."""

    def asked(self, rules: Iterable[Rule]) -> tuple[Rule, ...]:
        """The rules that can have something to say about this file."""
        if not self.dialects.has_hip:
            return not_about(tuple(rules), Dialect.HIP)
        if self.dialects.file is Dialect.HIP:
            return not_about(tuple(rules), Dialect.CUDA)
        return tuple(rules)

    @property
    def keeps_all(self) -> bool:
        """Whether no line of the file is another's."""
        return not self.dialects.regions[1:] and not self.dialects.leaves_all

    def kept(self, rule: Rule, found: Iterable[Finding], trail: Sequence[Sequence[Edit]]) -> Iterable[Finding]:
        """What a rule may say, and do, about the lines that it is about."""
        if self.keeps_all:
            yield from found
            return
        if self.dialects.file is Dialect.NVIDIA:  # only counted
            yield from (replace(finding, edits=(), includes=()) for finding in found)
            return
        for finding in found:
            meaning = self.dialects.at(mapped_back(finding, trail, self.source).span.start)
            if self.dialects.leaves_all and meaning.dialect is not Dialect.HIP:
                continue
            if rule.dialect is Dialect.HIP and not (meaning.dialect is Dialect.HIP and 64 in meaning.lanes):
                continue
            if rule.dialect is Dialect.CUDA and meaning.dialect is Dialect.HIP:
                continue
            if rule.dialect is Dialect.CUDA and any(self._is_hip(finding, edit, trail) for edit in finding.edits):
                message = f"{finding.message}; not done: part of it is in a branch for AMD"
                finding = replace(finding, edits=(), includes=(), effort=Effort.MANUAL, message=message)
            yield finding

    def _is_hip(self, finding: Finding, edit: Edit, trail: Sequence[Sequence[Edit]]) -> bool:
        place = replace(finding, span=Span(edit.start, edit.end))
        return self.dialects.is_hip(mapped_back(place, trail, self.source).span.start)

    def compiled(self, findings: Iterable[Finding]) -> list[Finding]:
        """Findings of the original file, where what no port compiles leaves no work but one note per condition."""
        kept: list[Finding] = []
        dropped: defaultdict[str, list[Finding]] = defaultdict(list)
        for finding in findings:
            meaning = self.dialects.at(finding.span.start)
            compiled = meaning.in_device_pass if finding.kernel is not None else meaning.compiled
            if compiled or finding.suppressed is not None or finding.code.startswith("E"):
                kept.append(finding)
            elif finding.fixed:
                kept.append(replace(finding, effort=Effort.NONE))
            elif finding.effort is not Effort.NONE:
                dropped[meaning.condition].append(finding)
        kept += [self._note(dropped)] if dropped else []
        return kept

    def _note(self, dropped: dict[str, list[Finding]]) -> Finding:
        first = min((finding for some in dropped.values() for finding in some), key=lambda finding: finding.span)
        count = sum(map(len, dropped.values()))
        conditions = ", ".join(f"'{condition}'" if condition else _FILE for condition in sorted(dropped))
        what = f"{count} findings are" if count > 1 else "1 finding is"
        notice = notices.NEVER_COMPILED
        return replace(
            first,
            code=notice.code,
            rule=notice.name,
            effort=notice.effort,
            message=f"{what} in code that the port never compiles and not listed: {conditions}",
            kernel=None,
            edits=(),
            includes=(),
        )
