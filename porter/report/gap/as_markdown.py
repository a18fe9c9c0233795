"""The gap report as Markdown that fits a pull request's comment: cut, with a count, where it is long."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from porter.report.escaping import plain
from porter.report.gap.as_text import evidence, headline, work_left
from porter.report.gap.model import DONE, GapReport
from porter.report.markdown import cell

MOST_CHARACTERS = 60_000
"""Comments hold 65,536 on GitHub."""
_SHARES = (40, 25, 12, 6, 3, 1)


def markdown(report: GapReport) -> str:
    """The whole report, with as many rows per table as fit."""
    for rows in _SHARES:
        text = "\n".join(_lines(report, rows)) + "\n"
        if len(text) <= MOST_CHARACTERS:
            return text
    return text[: MOST_CHARACTERS - 40] + "\n\n... (cut: the report is too long)\n"


def _lines(report: GapReport, most: int) -> Iterator[str]:
    yield f"## Porting gaps of {_cell(report.source)}"
    yield ""
    yield f"**{_cell(report.ran)}** {_cell(headline(report))}"
    yield ""
    made = (report.made.date, f"commit {report.made.commit}" if report.made.commit else "", *report.made.tools)
    yield _cell(" · ".join(text for text in made if text))
    yield ""
    states = [f"**{count:,}** {state.label}" for state, count in report.states.items() if count]
    if states:
        yield " · ".join(states)
        yield ""
    actions: list[tuple[str, ...]] = [
        (one.what, f"{one.path}:{one.line}" if one.path else "", one.effort, str(one.kernels or ""), one.basis)
        for one in report.actions
    ]
    yield from _table("Do next", ("what", "where", "effort", "kernels", "estimated from"), actions, most)
    failed = [(unit.source, f"{unit.path}:{unit.line}", unit.message) for unit in report.failed]
    yield from _table("Files that do not build", ("file", "where", "first error"), failed, most)
    work = [work for work in report.work if work.places]
    rows: list[tuple[str, ...]]
    rows = [(w.rule.code, w.rule.title or w.rule.name, f"{w.manual:,}", f"{w.review:,}", f"{w.files:,}") for w in work]
    yield from _table("Work left", ("code", "what", "by hand", "to review", "files"), rows, most)
    open_kernels = [kernel for kernel in report.kernels if kernel.state not in DONE]
    rows = [
        (k.name, f"{k.path}:{k.line}", k.state.label, work_left(k.manual, k.review, len(k.through)), evidence(k))
        for k in open_kernels
    ]
    yield from _table("Kernels with work left", ("kernel", "where", "state", "work", "evidence"), rows, most)
    folders = [folder for folder in report.folders if folder.manual or folder.review]
    rows = [(f.path, f"{f.kernels:,}", work_left(f.manual, f.review)) for f in folders]
    yield from _table("Directories with work left", ("directory", "kernels", "work"), rows, most)
    yield from _runs(report)
    rows = [(one.name, one.told, one.counted, one.reason) for one in report.programs]
    yield from _table("Whole programs", ("program", "verdict", "launches", "why"), rows, most)
    if report.missing:
        yield from (f"> {_cell(line)}" for line in report.missing)


def _runs(report: GapReport) -> Iterator[str]:
    if not report.devices:
        return
    yield "### What it ran on"
    yield ""
    for side, device, lanes, runs, passed in report.devices:
        count = lanes or "unknown"
        yield f"- {_cell(f'{side} on {device}, {count} lanes: {passed:,} of {runs:,} runs passed')}"
    if report.open_questions:
        yield f"- Not shown by that: {_cell('; '.join(report.open_questions))}"
    yield ""


def _table(title: str, head: Sequence[str], rows: Iterable[Sequence[str]], most: int) -> Iterator[str]:
    rows = list(rows)
    if not rows:
        return
    yield f"### {title} ({len(rows):,})"
    yield ""
    yield f"| {' | '.join(head)} |"
    yield "|" + "---|" * len(head)
    for row in rows[:most]:
        yield f"| {' | '.join(map(_cell, row))} |"
    if len(rows) > most:
        yield ""
        yield f"... and {len(rows) - most:,} more."
    yield ""


def _cell(text: str) -> str:
    return cell(plain(text))
