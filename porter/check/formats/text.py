"""The result as plain text: what closes the gate first, then what is known already, in numbers."""

from __future__ import annotations

from collections.abc import Iterator

from porter.check.result import Checked, CheckResult, State, Step, counted
from porter.report.escaping import plain


def render(result: CheckResult) -> str:
    """The whole result."""
    return "\n".join(map(plain, _lines(result))) + "\n"


def _lines(result: CheckResult) -> Iterator[str]:
    yield from _blocking(result)
    yield from _looked(result)
    counts = counted(result.findings)
    told = [f"{counts['failing']:,} new that fail (--fail-on {result.fail_on.value})"]
    told += [f"{counts['new'] - counts['failing']:,} other new"] if counts["new"] > counts["failing"] else []
    told += [f"{counts[state]:,} {word}" for state, word in _KNOWN.items() if counts[state]]
    yield f"  findings: {', '.join(told)}"
    if result.kernels and result.proofs:
        yield f"  kernels:  {len(result.kernels):,} changed"
    for proof in result.proofs:
        why = f": {proof.reason}" if proof.reason else ""
        yield f"  {proof.name + ':':9} {proof.step.value.replace('-', ' ')}{why}"
    for note in result.notes:
        yield f"  note:     {note}"
    yield "passed" if result.passed else f"failed: {', '.join(reasons(result))}"


_KNOWN = {"present": "in the base already", "accepted": "accepted by the baseline", "suppressed": "suppressed"}


def _blocking(result: CheckResult) -> Iterator[str]:
    for finding in result.failing:
        yield line_of(finding)
    others = [finding for finding in result.with_state(State.NEW) if not finding.fails]
    for finding in others:
        yield line_of(finding)
    for entry in result.stale:
        yield f"{entry.described()}: stale: the baseline accepts it, and nothing like it is there any more"
    for proof in result.proofs:
        for subject in proof.subjects:
            if subject["status"] != Step.PASSED.value:
                yield f"{proof.name}: {subject['name']}: {subject['status']}: {subject['message']}"


def _looked(result: CheckResult) -> Iterator[str]:
    against = f" against {result.since} ({result.commit[:12]})" if result.since and result.commit else ""
    yield f"porter {result.porter} check {result.source}{against}"
    parsed = f"{result.parsed:,} parsed now"
    if not against:
        yield f"  files:    {result.files:,}, {parsed}"
        return
    changed, dependents = len(result.changed), len(result.dependents)
    yield f"  files:    {changed:,} changed, {dependents:,} depend on them, of {result.files:,}; {parsed}"


def line_of(finding: Checked) -> str:
    """`path:line:column: CODE effort message [kernel]`."""
    kernel = f" [{finding.kernel}]" if finding.kernel else ""
    place = f"{finding.path}:{finding.line}:{finding.column}"
    return f"{place}: {finding.code} {finding.effort} {finding.message}{kernel}"


def reasons(result: CheckResult) -> list[str]:
    """Why the gate is closed."""
    failing, stale = len(result.failing), len(result.stale)
    found = [f"{failing:,} new finding{'s' * (failing != 1)}"] if failing else []
    if stale:
        found.append(f"{stale:,} stale baseline entr{'ies' if stale != 1 else 'y'} (porter check --update-baseline)")
    found += [f"{p.name} {p.step.value.replace('-', ' ')}" for p in result.proofs if p.step is not Step.PASSED]
    return found + ([result.incomplete] if result.incomplete else [])
