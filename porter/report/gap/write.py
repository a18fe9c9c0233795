"""From documents to the text of the report."""

from __future__ import annotations

import datetime
from dataclasses import dataclass, replace
from pathlib import Path

from porter.report.gap.assemble import gap_report
from porter.report.gap.history import append_run, past_runs, this_run
from porter.report.gap.inputs import Inputs
from porter.report.gap.model import GapReport
from porter.report.gap.sources import Trees, last_lines, packed_files, trees_of
from porter.system.git import commit_of


@dataclass(frozen=True)
class Wish:
    """How the report is wanted."""

    form: str
    """`html`, `markdown`, `text`, `csv` (kernels), `actions` or `files` (as CSV)."""
    source: Path | None = None
    port: Path | None = None
    link: str | None = None
    """Address of a file at the project's host, with `{path}`, `{line}` and `{commit}`."""
    editor: bool = True
    """Whether places open in an editor: the page then names the folder of the source."""
    history: Path | None = None
    date: datetime.datetime | None = None


def written(inputs: Inputs, form: str, source: Path | None = None, port: Path | None = None) -> str:
    """The report as `html`, `markdown`, `text`, `csv` or `actions`."""
    return wished(inputs, Wish(form, source, port))


def wished(inputs: Inputs, wish: Wish) -> str:
    """The report as it is wanted; a history is read before and added to afterwards."""
    trees = trees_of(inputs.report, inputs.folder, wish.source, wish.port)
    date = (wish.date or datetime.datetime.now(datetime.timezone.utc)).strftime("%Y-%m-%d %H:%M UTC")
    commit = commit_of(trees.source) if trees.source is not None else ""
    report = gap_report(inputs, last_lines(inputs.report, trees), (date, commit))
    if wish.history is not None:
        append_run(wish.history, this_run(report))
        report = replace(report, history=past_runs(wish.history))
    return _text(report, inputs, trees, wish)


def _text(report: GapReport, inputs: Inputs, trees: Trees, wish: Wish) -> str:
    if wish.form == "html":
        from porter.report.gap.page import page

        outputs = {file["path"]: file.get("output") for file in inputs.report.get("files", ())}
        open_files = [place.path for work in report.work for place in work.places]
        refused = [unit.path for unit in report.failed]
        paths = [*(kernel.path for kernel in report.kernels), *open_files, *refused]
        root = str(trees.source.resolve()) if wish.editor and trees.source is not None else None
        return page(report, packed_files(paths, outputs, trees), root=root, link=wish.link)
    if wish.form == "markdown":
        from porter.report.gap.as_markdown import markdown

        return markdown(report)
    if wish.form in ("csv", "actions", "files"):
        from porter.report.gap.as_csv import actions_csv, files_csv, kernels_csv

        return {"csv": kernels_csv, "actions": actions_csv, "files": files_csv}[wish.form](report)
    from porter.report.gap.as_text import text

    return text(report)
