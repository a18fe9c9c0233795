"""Chooses the rendering of a report."""

from __future__ import annotations

import enum
import json
from collections.abc import Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from porter.report.document import Report


class Format(str, enum.Enum):
    """How a report is written."""

    TEXT = "text"
    JSON = "json"
    MARKDOWN = "markdown"


class DataFormat(str, enum.Enum):
    """How lists are written."""

    TEXT = "text"
    JSON = "json"


def render(report: Report, form: Format, *, verbose: bool = False) -> str:
    """A report as text of one kind, with a newline at the end."""
    if form is Format.JSON:
        from porter.report.as_json import report_json

        return dump(report_json(report))
    if form is Format.MARKDOWN:
        from porter.report.markdown import report_markdown

        return report_markdown(report)
    from porter.report.text import report_text

    return report_text(report, verbose=verbose)


def dumped(head: Mapping[str, Any], key: str, items: Iterable[Any]) -> Iterator[str]:
    """What `dump` makes of a document whose last key has these items, piece by piece: they need not fit into memory."""
    yield "{\n" + "".join(f" {json.dumps(name)}: {_value(value)},\n" for name, value in head.items())
    opening = f" {json.dumps(key)}: [\n  "
    empty = True
    for item in items:
        yield (opening if empty else ",\n  ") + json.dumps(item)
        empty = False
    yield f" {json.dumps(key)}: []\n}}\n" if empty else "\n ]\n}\n"


def dump(document: Mapping[str, Any]) -> str:
    """JSON with one line per key, and one per item of a list: quick to write, and fit for a diff."""
    parts = [f" {json.dumps(key)}: {_value(value)}" for key, value in document.items()]
    return "{\n" + ",\n".join(parts) + "\n}\n"


def _value(value: Any) -> str:
    if not isinstance(value, list) or not value:
        return json.dumps(value)
    return "[\n  " + ",\n  ".join(map(json.dumps, value)) + "\n ]"
