"""`porter report`: options and exit codes."""

from __future__ import annotations

import enum
import sys
from pathlib import Path
from typing import Annotated

import typer

from porter.commands.border import DONE, guarded
from porter.commands.quietly import Quiet
from porter.commands.said import next_step


class ReportFormat(str, enum.Enum):
    """How the report is written."""

    HTML = "html"
    MARKDOWN = "markdown"
    TEXT = "text"
    CSV = "csv"
    """The kernels."""
    ACTIONS = "actions"
    """What to do next, as CSV."""
    FILES = "files"
    """Per file lines changed and the share that is done, as CSV."""


def report_command(
    documents: Annotated[
        list[Path],
        typer.Argument(
            metavar="JSON...",
            help="What `scan` or `port` wrote with --format json, and that of `build`, `validate`, `bench` and"
            " `run --profile` if there is any.",
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
    link: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Links places to the project's host, as in https://host/own/project/blob/{commit}/{path}#L{line}.",
        ),
    ] = None,
    editor: Annotated[
        bool, typer.Option(help="Links places to VS Code; the page then holds the path of the source's folder.")
    ] = True,
    history: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Adds this run to a file of runs, and shows how it went.")
    ] = None,
    quiet: Quiet = False,
) -> None:
    """One report of what is done and left per kernel, with the evidence: HTML, Markdown or text."""

    @guarded
    def run() -> int:
        from porter.project.writing import write_document
        from porter.report.gap.inputs import as_written_by_porter, read_inputs
        from porter.report.gap.write import Wish, wished

        inputs = read_inputs(documents, Path())
        with as_written_by_porter(documents):
            text = wished(inputs, Wish(_format(form, output).value, source, port, link, editor, history))
        if output is None:
            sys.stdout.write(text)
        else:
            write_document(output, text)
            if _format(form, output) is ReportFormat.HTML:
                next_step("xdg-open" if sys.platform == "linux" else "open", output, why="what to do next is its top")
        return DONE

    raise typer.Exit(run())


_SUFFIXES = {
    ".html": ReportFormat.HTML,
    ".htm": ReportFormat.HTML,
    ".md": ReportFormat.MARKDOWN,
    ".csv": ReportFormat.CSV,
}


def _format(form: ReportFormat | None, output: Path | None) -> ReportFormat:
    if form is not None:
        return form
    return _SUFFIXES.get(output.suffix.lower(), ReportFormat.TEXT) if output is not None else ReportFormat.TEXT
