"""The warp fixtures through all rules: every hazard found, most fixed, nothing said of safe code."""

from __future__ import annotations

import pytest

from porter.engine.edits import overlaps
from porter.model import Edit, Effort, Finding
from porter.source import SourceFile
from porter.warp.native.plan import outcome
from tests.fixtures.warp import Fixture, Hazard, load
from tests.warp import execution

FIXTURES = {fixture.name: fixture for fixture in load()}
SAFE = [name for name, fixture in FIXTURES.items() if fixture.safe]
HAZARDS = [
    pytest.param(name, hazard, id=f"{name}-{hazard.line}-{hazard.slug}")
    for name, fixture in FIXTURES.items()
    for hazard in fixture.hazards
]
GROUPS = "WSCP"
AT_ITS_SOURCE = {"clz-brev-of-ballot", "popc-of-ballot", "ffs-of-ballot-ambiguous"}
"""Hazards of what is done with a ballot: they are gone once the ballot has 32 bits."""


def _source(fixture: Fixture) -> SourceFile:
    return SourceFile(fixture.path.name, fixture.text.encode())


def _lines(source: SourceFile, start: int, end: int) -> range:
    return range(source.position(start)[0], source.position(max(start, end - 1))[0] + 1)


def _findings(fixture: Fixture, line: int) -> list[Finding]:
    """The findings whose place covers a line."""
    source = _source(fixture)
    found = execution.ported(fixture, "preserve").findings
    return [finding for finding in found if line in _lines(source, *finding.span)]


def _rewritten(fixture: Fixture, hazard: Hazard) -> bool:
    """Whether some edit touches the line, or the line's meaning is supplied by a header."""
    source = _source(fixture)
    start = source.line_start(hazard.line)
    place = Edit(start, start + len(source.line_text(hazard.line)), "")
    found = execution.ported(fixture, "preserve").findings
    if any(overlaps(edit, place) for finding in found for edit in finding.edits):
        return True
    if any(hazard.line in _lines(source, edit.start, edit.end + 1) for finding in found for edit in finding.edits):
        return True
    supplied = any(f.code == "C104" and hazard.slug in f.message for f in _findings(fixture, hazard.line))
    return supplied or hazard.slug in AT_ITS_SOURCE


def _reported(fixture: Fixture, hazard: Hazard) -> bool:
    return any(finding.effort is not Effort.NONE for finding in _findings(fixture, hazard.line))


@pytest.mark.parametrize(("name", "hazard"), HAZARDS)
def test_hazard_is_found(name: str, hazard: Hazard) -> None:
    fixture = FIXTURES[name]
    fixed = _rewritten(fixture, hazard) and not _reported(fixture, hazard)
    if hazard.outcome == "fixed":
        assert fixed
    elif hazard.outcome == "note":
        assert not _reported(fixture, hazard)
    elif hazard.outcome == "either":
        assert fixed or _reported(fixture, hazard)
    else:
        noted = [f for f in _findings(fixture, hazard.line) if hazard.slug in f.message]
        assert _reported(fixture, hazard) or noted or fixed


def test_most_hazards_are_fixed() -> None:
    """Of the hazards that a tool can fix at all, nine in ten need nobody."""
    fixable = [(f, h) for f in FIXTURES.values() for h in f.hazards if h.outcome in ("fixed", "either")]
    fixed = [1 for fixture, hazard in fixable if _rewritten(fixture, hazard) and not _reported(fixture, hazard)]
    assert len(fixed) >= 0.9 * len(fixable), f"{len(fixed)} of {len(fixable)}"


@pytest.mark.parametrize("name", SAFE)
@pytest.mark.parametrize("warp", ["preserve", "native"])
def test_safe_code_is_left_alone(name: str, warp: str) -> None:
    """No alarm, and no edit of the warp rules."""
    found = execution.ported(FIXTURES[name], warp).findings
    assert not [finding for finding in found if finding.effort is not Effort.NONE]
    assert not [finding for finding in found if finding.code[0] in GROUPS and finding.edits]


@pytest.mark.parametrize("name", FIXTURES)
def test_native_mode_widens_what_it_understands(name: str) -> None:
    fixture = FIXTURES[name]
    widened = outcome(execution.unit(fixture, "native")).widened
    assert bool(widened) == (fixture.native == "widen")


@pytest.mark.parametrize("name", FIXTURES)
def test_kept_kernels_are_as_in_preserving_mode(name: str) -> None:
    fixture = FIXTURES[name]
    if fixture.native == "preserve":
        assert execution.ported(fixture, "native").data == execution.ported(fixture, "preserve").data
