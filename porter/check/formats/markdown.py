"""The result as Markdown, for a comment in a pull request: cut, with a count, when it is long."""

from __future__ import annotations

from collections.abc import Iterator

from porter.check.formats.text import reasons
from porter.check.result import Checked, CheckResult, State, Step, counted
from porter.report.escaping import plain
from porter.report.markdown import cell

MARKER = "<!-- porter check -->"
"""The first line: how a job finds its own comment again."""
_SHOWN = 40


def render(result: CheckResult) -> str:
    """The whole result."""
    return "\n".join(_lines(result)) + "\n"


def _lines(result: CheckResult) -> Iterator[str]:
    yield MARKER
    yield f"### porter check: {'passed' if result.passed else 'failed'}"
    yield ""
    yield cell(plain(_sentence(result)))
    yield ""
    new = result.with_state(State.NEW)
    yield from _table("New and failing", [finding for finding in new if finding.fails], result)
    yield from _table("New", [finding for finding in new if not finding.fails], result)
    if result.stale:
        yield "#### Entries of the baseline that match nothing any more"
        yield ""
        yield from (f"- {cell(plain(entry.described()))}" for entry in result.stale[:_SHOWN])
        yield from _cut(len(result.stale))
    for proof in result.proofs:
        yield f"- {proof.name}: {proof.step.value.replace('-', ' ')} {cell(plain(proof.reason))}".rstrip()
        for subject in proof.subjects:
            if subject["status"] != Step.PASSED.value:
                yield f"  - {cell(plain(str(subject['name'])))}: {cell(plain(str(subject['message'])))}"
    yield from _known(result)


def _sentence(result: CheckResult) -> str:
    against = f" against {result.since} ({result.commit[:12]})" if result.since and result.commit else ""
    looked = f"{len(result.looked_at):,} of {result.files:,} files looked at{against}."
    return looked if result.passed else f"{'; '.join(reasons(result))}. {looked}"


def _table(title: str, findings: list[Checked], result: CheckResult) -> Iterator[str]:
    if not findings:
        return
    yield f"#### {title} ({len(findings):,})"
    yield ""
    yield "| where | code | what | kernel |"
    yield "|---|---|---|---|"
    for finding in findings[:_SHOWN]:
        rule = result.rules.get(finding.code)
        code = f"{finding.code} {rule.name}" if rule is not None else finding.code
        where = f"{finding.path}:{finding.line}"
        cells = (where, code, finding.message, finding.kernel or "")
        yield "| " + " | ".join(cell(plain(text)) for text in cells) + " |"
    yield from _cut(len(findings))


def _cut(count: int) -> Iterator[str]:
    yield ""
    if count > _SHOWN:
        yield f"... and {count - _SHOWN:,} more."
        yield ""


def _known(result: CheckResult) -> Iterator[str]:
    counts = counted(result.findings)
    words = {"present": "in the base already", "accepted": "accepted in the baseline", "suppressed": "suppressed"}
    told = [f"{counts[state]:,} {word}" for state, word in words.items() if counts[state]]
    if told:
        yield f"Not counted: {', '.join(told)}."
