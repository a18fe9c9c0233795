"""`porter report`: options and exit codes."""

from __future__ import annotations

import enum
import sys
from pathlib import Path
from typing import Annotated

import typer

from porter.border import DONE, guarded


class ReportFormat(str, enum.Enum):
    """How the report is written."""

    HTML = "html"
    MARKDOWN = "markdown"
    TEXT = "text"


def report_command(
    documents: Annotated[
        list[Path],
        typer.Argument(
            metavar="JSON...",
            help="What `scan` or `port` wrote with --format json, and that of `build` and `validate` if there is any.",
            show_default=False,
        ),
    ],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", metavar="FILE", help="Where the report goes; default: stdout.")
    ] = None,
    form: Annotated[
        ReportFormat | None,
        typer.Option("--format", help="Default: by the name of --output, else text.", show_default=False),
    ] = None,
    source: Annotated[
        Path | None, typer.Option(help="The original, where it is not where the JSON says.", show_default=False)
    ] = None,
    port: Annotated[
        Path | None, typer.Option(help="The ported tree, where it is not where the JSON says.", show_default=False)
    ] = None,
) -> None:
    """One report of what is done and left per kernel, with the evidence: HTML, Markdown or text."""

    @guarded
    def run() -> int:
        from porter.report.gap.inputs import read_inputs
        from porter.report.gap.write import written
        from porter.writing import content_of, write_atomically

        inputs = read_inputs(documents, Path())
        text = written(inputs, _format(form, output).value, source, port)
        if output is None:
            sys.stdout.write(text)
        else:
            write_atomically(output, content_of(text.encode("utf-8", "backslashreplace")), 0o644)
        return DONE

    raise typer.Exit(run())


_SUFFIXES = {".html": ReportFormat.HTML, ".htm": ReportFormat.HTML, ".md": ReportFormat.MARKDOWN}


def _format(form: ReportFormat | None, output: Path | None) -> ReportFormat:
    if form is not None:
        return form
    return _SUFFIXES.get(output.suffix.lower(), ReportFormat.TEXT) if output is not None else ReportFormat.TEXT
