"""The report as Markdown, for a pull request or a wiki."""

from __future__ import annotations

import importlib.resources
from collections import Counter

from porter.model import Effort
from porter.report.document import Report

_GAPS_SHOWN = 50
_REVIEWS_SHOWN = 200


def report_markdown(report: Report) -> str:
    """The whole report; cells are escaped, so that names with `|` or `*` do not break the tables."""
    from jinja2 import Environment, StrictUndefined

    environment = Environment(
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True, autoescape=False
    )
    environment.filters["cell"] = cell
    environment.filters["number"] = lambda count: f"{count:,}"
    template = (importlib.resources.files("porter") / "report" / "templates" / "report.md.j2").read_text("utf-8")
    return environment.from_string(template).render(
        report=report,
        header=report.header,
        gaps=report.gaps[:_GAPS_SHOWN],
        manual=report.with_effort(Effort.MANUAL),
        review=report.with_effort(Effort.REVIEW)[:_REVIEWS_SHOWN],
        kernels=[line for line in report.kernels if line.left != "none"],
        kernels_left=Counter(line.left for line in report.kernels),
        files=[line for line in report.files if line.counts.review or line.counts.manual],
    )


def cell(text: object) -> str:
    """Text inside a table cell or a list item: nothing in it is Markdown or HTML."""
    escaped = "".join("\\" + char if char in "\\`*_[]|#~" else char for char in str(text))
    return escaped.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("\n", " ")
