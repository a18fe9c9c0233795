"""From documents to the text of the report."""

from __future__ import annotations

from pathlib import Path

from porter.report.gap.assemble import gap_report
from porter.report.gap.inputs import Inputs
from porter.report.gap.sources import last_lines, packed_files, trees_of


def written(inputs: Inputs, form: str, source: Path | None = None, port: Path | None = None) -> str:
    """The report as `html`, `markdown` or `text`."""
    trees = trees_of(inputs.report, inputs.folder, source, port)
    report = gap_report(inputs, last_lines(inputs.report, trees))
    if form == "html":
        from porter.report.gap.page import page

        outputs = {file["path"]: file.get("output") for file in inputs.report.get("files", ())}
        open_files = [place.path for work in report.work for place in work.places]
        paths = [*(kernel.path for kernel in report.kernels), *open_files]
        return page(report, packed_files(paths, outputs, trees))
    if form == "markdown":
        from porter.report.gap.as_markdown import markdown

        return markdown(report)
    from porter.report.gap.as_text import text

    return text(report)
