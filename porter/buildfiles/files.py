"""Build files of a tree: which are converted, and by what."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from porter.buildfiles.mentions import REPORTED, kind_of_build, mention
from porter.buildfiles.sources import Sources
from porter.engine.notices import BUILD_SETTINGS
from porter.model import Edit, Finding
from porter.project.records import BuildUse
from porter.source import SourceFile

if TYPE_CHECKING:
    from porter.engine.file import Context


@dataclass(frozen=True, slots=True)
class Built:
    """A build file of the ported tree."""

    data: bytes
    findings: tuple[Finding, ...] = ()
    mentioned: BuildUse | None = None
    """Where a file of a kind that is not converted mentions CUDA."""
    crashes: tuple[str, ...] = ()
    edits: tuple[Edit, ...] = ()
    """What the conversion changed of the file's own bytes."""


def port_build(source: SourceFile, context: Context) -> Built:
    """Converts a build file that mentions CUDA; others, and unreadable ones, stay as they are."""
    notice = kind_of_build(source.path)
    use = mention(notice, source.data) if notice is not None else None
    if notice is None or use is None or source.problem is not None:
        return Built(source.data)
    if notice in REPORTED:
        return Built(source.data, mentioned=use)
    from porter.buildfiles.dual import both_paths
    from porter.buildfiles.engine import convert, kind_of
    from porter.buildfiles.unit import BuildUnit, Kind
    from porter.engine.python_strings import MAY_HOLD, port_strings

    unit = BuildUnit(source, kind_of(notice.code), _sources(context), context.settings)
    done = convert(unit)
    data = both_paths(unit, done.edits) if context.settings.style == "dual" else done.data
    findings, edits = done.findings, done.edits
    if unit.kind is Kind.PYTHON and context.settings.style != "dual" and MAY_HOLD.search(data):
        from porter.engine.edits import compose, mapped_back

        data, inside, changes = port_strings(SourceFile(source.path, data), context)
        findings = (*findings, *(mapped_back(finding, [done.edits], source) for finding in inside))
        edits = compose((done.edits, changes), len(source.text))
    left = mention(notice, data) if notice is BUILD_SETTINGS else None
    if context.settings.comments:
        from porter.buildfiles.remarks import remarked

        data = remarked(unit.kind, data.decode("latin-1"), findings, edits).encode("latin-1")
    return Built(data, findings, left, done.crashes, edits)


_known: list[Sources] = []


def _sources(context: Context) -> Sources:
    """The renamed files of the run; kept for its next build file."""
    if not _known or _known[0].renamed is not context.renamed or _known[0].headers is not context.headers:
        _known[:] = [Sources(context.renamed, frozenset(context.renamed), context.headers)]
    return _known[0]


def build_names() -> dict[str, str]:
    """Code and name of the rules for build files."""
    from porter.buildfiles.registry import build_rules

    return {rule.code: rule.name for rule in build_rules()}
