"""Findings in an editor while it works on CUDA (Language Server Protocol); `porter lsp`.

A file is looked at as `porter scan` does, in a process of its own, when it is opened and each time it is saved.
"""

from __future__ import annotations

import asyncio
import codecs
import json
import os
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from porter import __version__
from porter.commands.border import DONE, WORK_LEFT
from porter.errors import Unusable
from porter.explain import explanation
from porter.explain_name import name_text
from porter.project.discovery import is_code
from porter.system.asked import asked

if TYPE_CHECKING:
    from pygls.workspace import TextDocument

_AT_ONCE = 2
"""Scans at a time: an editor that opens a folder opens many files."""
_SEVERITY = {
    "manual": types.DiagnosticSeverity.Warning,
    "review": types.DiagnosticSeverity.Information,
}
"""What a port does by itself is none of an editor's business."""
_WORD = re.compile(r"\w+|\S")


def server() -> LanguageServer:
    """The server: diagnostics for what a port would leave, and what becomes of the name under the pointer."""
    made = LanguageServer("porter", __version__, text_document_sync_kind=types.TextDocumentSyncKind.Full)
    looks = _Looks(made)

    @made.feature(types.TEXT_DOCUMENT_DID_OPEN)
    async def opened(params: types.DidOpenTextDocumentParams) -> None:
        await looks.at(params.text_document.uri)

    @made.feature(types.TEXT_DOCUMENT_DID_SAVE)
    async def saved(params: types.DidSaveTextDocumentParams) -> None:
        await looks.at(params.text_document.uri)

    @made.feature(types.TEXT_DOCUMENT_DID_CLOSE)
    def closed(params: types.DidCloseTextDocumentParams) -> None:
        looks.forget(params.text_document.uri)

    @made.feature(types.TEXT_DOCUMENT_HOVER)
    def hovered(params: types.HoverParams) -> types.Hover | None:
        document = made.workspace.get_text_document(params.text_document.uri)
        told = [name_text(document.word_at_position(params.position)) or ""]
        told += [_explained(code) for code in looks.codes(params.text_document.uri, params.position.line)]
        text = "\n\n".join(part.strip() for part in told if part)
        return types.Hover(types.MarkupContent(types.MarkupKind.PlainText, text)) if text else None

    return made


class _Looks:
    """What is known of each open file; of two looks at one file the later one counts."""

    def __init__(self, owner: LanguageServer) -> None:
        self._owner = owner
        self._slots = asyncio.Semaphore(_AT_ONCE)
        self._latest: dict[str, int] = {}
        self._found: dict[str, list[types.Diagnostic]] = {}
        self._scans: dict[str, asyncio.Future[dict[str, Any] | str]] = {}

    async def at(self, uri: str) -> None:
        """Looks at a file and says what was found; what has no place of its own on the disk is another's to show."""
        if not uri.startswith("file:"):
            return
        number = self._latest[uri] = self._latest.get(uri, 0) + 1
        self._stop(uri)
        document = self._owner.workspace.get_text_document(uri)
        async with self._slots:
            if self._latest.get(uri) != number:
                return
            scan = self._scans[uri] = asyncio.ensure_future(_scanned(document.path))
            try:
                answer = await scan
            except asyncio.CancelledError:
                if self._latest.get(uri) == number:
                    raise
                return  # a later look, or none, is wanted
        if self._latest.get(uri) != number:
            return
        if isinstance(answer, str):
            self._owner.window_log_message(types.LogMessageParams(types.MessageType.Warning, answer))
            self._say(uri, [_failure(answer)] if is_code(document.path) else [])
            return
        rows = _rows(document.path)
        self._say(
            uri, [_diagnostic(document, rows, found) for found in answer["findings"] if found["effort"] in _SEVERITY]
        )

    def forget(self, uri: str) -> None:
        """The file was closed: nothing is shown for it any more."""
        self._latest.pop(uri, None)
        self._stop(uri)
        self._say(uri, [])

    def _stop(self, uri: str) -> None:
        """Ends a look that nobody wants any more."""
        scan = self._scans.pop(uri, None)
        if scan is not None:
            scan.cancel()

    def codes(self, uri: str, line: int) -> list[str]:
        """The codes of the findings in a line."""
        found = self._found.get(uri, [])
        return list(dict.fromkeys(str(one.code) for one in found if one.range.start.line == line))

    def _say(self, uri: str, found: list[types.Diagnostic]) -> None:
        self._found[uri] = found
        self._owner.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, found))


async def _scanned(path: str) -> dict[str, Any] | str:
    """The document of `porter scan`, or why there is none."""
    if os.path.isdir(path):  # noqa: PTH112
        return f"{path}: a folder"
    done = await asked("scan", "--format", "json", "--jobs", "1", "--", path)
    if done.code not in (DONE, WORK_LEFT):
        return done.stderr.strip() or f"porter scan {path} ended with {done.code}"
    document: dict[str, Any] = json.loads(done.stdout)
    return document


def _failure(reason: str) -> types.Diagnostic:
    """Why there are no findings, at the top of the file: editors hide logs, and none would look like none left."""
    start = types.Position(0, 0)
    message = reason.removeprefix("porter: ")
    return types.Diagnostic(types.Range(start, start), message, types.DiagnosticSeverity.Error, source="porter")


def _rows(path: str) -> list[bytes]:
    """The lines of a file, in whose bytes findings have their columns."""
    try:
        return Path(path).read_bytes().split(b"\n")
    except OSError:
        return []


def _before(row: bytes, column: int) -> int:
    """How many characters stand before a column; a byte order mark is none that an editor shows."""
    before = row[: column - 1].removeprefix(codecs.BOM_UTF8)
    try:
        return len(before.decode())
    except UnicodeDecodeError:
        return len(before)


def _diagnostic(document: TextDocument, rows: list[bytes], found: dict[str, Any]) -> types.Diagnostic:
    """A finding at the word that it is about."""
    lines = document.lines
    number = min(found["line"], max(len(lines), 1)) - 1
    text = lines[number].rstrip("\r\n") if lines else ""
    start = min(_before(rows[number] if number < len(rows) else b"", found["column"]), len(text))
    word = _WORD.match(text, start)
    end = word.end() if word else len(text)
    client = document.position_codec
    return types.Diagnostic(
        range=types.Range(
            client.position_to_client_units(lines, types.Position(number, start)),
            client.position_to_client_units(lines, types.Position(number, end)),
        ),
        message=f"{found['message']} [{found['effort']}]",
        severity=_SEVERITY[found["effort"]],
        code=found["code"],
        source="porter",
    )


def _explained(code: str) -> str:
    try:
        return explanation(code)
    except Unusable:
        return ""
