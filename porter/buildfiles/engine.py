"""Converts one build file: find, accept, apply, and again on the result until nothing changes."""

from __future__ import annotations

import traceback
from dataclasses import dataclass, replace

from porter.buildfiles.mentions import only_runs
from porter.buildfiles.own_branches import nvidias_own
from porter.buildfiles.registry import build_rules
from porter.buildfiles.unit import BuildRule, BuildUnit, Kind
from porter.engine import edits as editing
from porter.model import Edit, Effort, Finding, Span
from porter.source import SourceFile

MAX_PASSES = 6


@dataclass(frozen=True, slots=True)
class Converted:
    """A build file after the rules, what they found, and tracebacks of rules that failed."""

    data: bytes
    findings: tuple[Finding, ...]
    crashes: tuple[str, ...] = ()
    edits: tuple[Edit, ...] = ()


def convert(unit: BuildUnit, rules: tuple[BuildRule, ...] | None = None) -> Converted:
    """The file with every rule applied; findings of later passes are about what they rewrote."""
    asked = build_rules() if rules is None else rules
    asked = tuple(rule for rule in asked if unit.kind in rule.kinds and not _disabled(rule, unit))
    if unit.kind is Kind.PYTHON and only_runs(unit.source.data):
        asked = tuple(rule for rule in asked if rule.at_run_time)
    endless: frozenset[str] = frozenset()
    while True:
        done = _converted(unit, asked, endless)
        if isinstance(done, Converted):
            return done
        endless |= done


def _converted(unit: BuildUnit, asked: tuple[BuildRule, ...], endless: frozenset[str]) -> Converted | frozenset[str]:
    """The file at its fixed point, or the codes of the rules that still change it after the last pass.

    What the rules in `endless` ask for is reported and not done.
    """
    first = unit
    kept: list[Finding] = []
    crashes: list[str] = []
    trail: list[list[Edit]] = []
    while True:
        found = [_not_done(one) if one.code in endless else one for one in _find(unit, asked, crashes)]
        accepted = editing.accept(found)
        winners = set(map(id, accepted.findings))
        losers = {id(conflict.loser) for conflict in accepted.conflicts}
        for finding in found:
            if id(finding) not in losers and (not trail or id(finding) in winners):
                kept.append(editing.mapped_back(finding, trail, first.source))
        if not accepted.edits:
            break
        if len(trail) >= MAX_PASSES:
            return frozenset(finding.code for finding in accepted.findings)
        trail.append(sorted(accepted.edits))
        text = editing.apply(unit.text, accepted.edits)
        unit = replace(unit, source=SourceFile(unit.source.path, text.encode("latin-1")))
    kept += [_not_converged(first, endless)] if endless else []
    ordered = sorted(kept, key=lambda finding: (finding.span.start, finding.span.end, finding.code, finding.message))
    return Converted(unit.source.data, tuple(ordered), tuple(crashes), editing.compose(trail, len(first.text)))


def _disabled(rule: BuildRule, unit: BuildUnit) -> bool:
    return not unit.settings.disabled.isdisjoint({rule.code, rule.name})


def _find(unit: BuildUnit, rules: tuple[BuildRule, ...], crashes: list[str]) -> list[Finding]:
    found: list[Finding] = []
    for rule in rules:
        try:
            found += rule.find(unit)
        except Exception as error:
            crashes.append(traceback.format_exc())
            message = f"bug in porter: rule {rule.code} failed on this file: {type(error).__name__}: {error}"
            found.append(_own(unit, "E005", "rule-failed", message))
    spans = nvidias_own(unit.commands) if unit.kind is Kind.CMAKE else ()
    return [one for one in found if not any(span.start <= one.span.start < span.end for span in spans)]


def _own(unit: BuildUnit, code: str, name: str, message: str) -> Finding:
    return Finding(code, name, Effort.MANUAL, unit.source.path, 1, 1, message, Span(0, 0))


def _not_done(finding: Finding) -> Finding:
    if not finding.edits:
        return finding
    message = f"{finding.message}; not done: it would be done again in what it leads to"
    return replace(finding, edits=(), includes=(), effort=Effort.MANUAL, message=message)


def _not_converged(unit: BuildUnit, codes: frozenset[str]) -> Finding:
    what = f"rules {', '.join(sorted(codes))} still changed the file after {MAX_PASSES} passes, and were left out"
    return _own(unit, "E002", "not-converged", what)


def kind_of(code: str) -> Kind:
    """The kind of build file that a notice of porter.buildfiles.mentions stands for."""
    return _KINDS[code]


_KINDS = {
    "E201": Kind.CMAKE,
    "E202": Kind.MAKE,
    "E203": Kind.PYTHON,
    "E204": Kind.MESON,
    "E205": Kind.BAZEL,
    "E206": Kind.SHELL,
    "E207": Kind.COMMANDS,
    "E208": Kind.SETTINGS,
}
