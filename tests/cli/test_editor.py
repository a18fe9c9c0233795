"""`porter lsp` with a real client over stdin and stdout."""

from __future__ import annotations

import asyncio
import codecs
import sys
from pathlib import Path

import pytest

from tests.cli.command import porter
from tests.later import needs_installed

needs_installed("pygls")
pytestmark = pytest.mark.slow
LEFT = """#include <cuda_runtime.h>
// 𝄞
/* ä€ */ __global__ void k(int *x) { asm("frob.u32 %0;" : "=r"(x[0])); }
void f(void *p) { cudaMallocManaged(&p, 4); }
"""
DONE = "#include <cuda_runtime.h>\nvoid f(void *p) { cudaFree(p); }\n"
SECONDS = 120


def test_an_editor_shows_what_is_left(tmp_path: Path) -> None:
    """Opened, saved, asked about, closed; a file that is none of porter's is said in the log."""
    from lsprotocol import types
    from pygls.lsp.client import LanguageClient

    (tmp_path / "a.cu").write_text(LEFT)
    uri = (tmp_path / "a.cu").as_uri()
    shown: asyncio.Queue[types.PublishDiagnosticsParams] = asyncio.Queue()
    logged: list[str] = []

    async def talk() -> None:
        client = LanguageClient("test", "1")
        client.feature(types.TEXT_DOCUMENT_PUBLISH_DIAGNOSTICS)(lambda params: shown.put_nowait(params))
        client.feature(types.WINDOW_LOG_MESSAGE)(lambda params: logged.append(params.message))
        await client.start_io(sys.executable, "-m", "porter", "lsp")
        told = await client.initialize_async(
            types.InitializeParams(capabilities=types.ClientCapabilities(), root_uri=tmp_path.as_uri())
        )
        assert told.server_info is not None and told.server_info.name == "porter"
        assert told.capabilities.hover_provider
        client.initialized(types.InitializedParams())

        def open_file(path: Path) -> None:
            item = types.TextDocumentItem(path.as_uri(), "cuda-cpp", 1, path.read_text())
            client.text_document_did_open(types.DidOpenTextDocumentParams(item))

        open_file(tmp_path / "a.cu")
        first = await asyncio.wait_for(shown.get(), SECONDS)
        assert first.uri == uri
        (found,) = [one for one in first.diagnostics if one.severity is types.DiagnosticSeverity.Warning]
        assert found.source == "porter" and found.range.start.line == 2
        lines = LEFT.splitlines()
        assert lines[2][found.range.start.character : found.range.end.character] == "asm"
        where = types.Position(3, lines[3].index("cudaMallocManaged") + 3)
        name = await client.text_document_hover_async(types.HoverParams(types.TextDocumentIdentifier(uri), where))
        assert name is not None and "hipMallocManaged" in name.contents.value
        why = await client.text_document_hover_async(
            types.HoverParams(types.TextDocumentIdentifier(uri), found.range.start)
        )
        assert why is not None and why.contents.value.startswith(str(found.code))

        (tmp_path / "a.cu").write_text(DONE)
        client.text_document_did_save(types.DidSaveTextDocumentParams(types.TextDocumentIdentifier(uri)))
        second = await asyncio.wait_for(shown.get(), SECONDS)
        assert (second.uri, list(second.diagnostics)) == (uri, [])

        (tmp_path / "porter.toml").write_text('warpp = "native"')
        client.text_document_did_save(types.DidSaveTextDocumentParams(types.TextDocumentIdentifier(uri)))
        (broken,) = (await asyncio.wait_for(shown.get(), SECONDS)).diagnostics
        assert broken.severity is types.DiagnosticSeverity.Error and broken.range.start.line == 0
        assert broken.message == f"{tmp_path / 'porter.toml'}: unknown setting 'warpp'; did you mean 'warp'?"
        (tmp_path / "porter.toml").unlink()

        (tmp_path / "notes.txt").write_text("cudaMalloc")
        open_file(tmp_path / "notes.txt")
        other = await asyncio.wait_for(shown.get(), SECONDS)
        assert other.uri.endswith("notes.txt") and not other.diagnostics
        assert any("notes.txt" in message for message in logged)
        client.text_document_did_open(
            types.DidOpenTextDocumentParams(types.TextDocumentItem("git:/elsewhere/a.cu", "cuda-cpp", 1, LEFT))
        )  # as editors do for the other side of a difference: nothing is said of it
        client.text_document_did_close(types.DidCloseTextDocumentParams(types.TextDocumentIdentifier(uri)))
        assert (await asyncio.wait_for(shown.get(), SECONDS)).uri == uri
        await client.shutdown_async(None)
        client.exit(None)
        assert client._server is not None  # the client keeps the process to itself
        assert await asyncio.wait_for(client._server.wait(), SECONDS) == 0
        await client.stop()

    asyncio.run(talk())


@pytest.mark.parametrize(
    ("line", "column", "characters"),
    [
        (b"abc", 3, 2),
        ("ä€𝄞x".encode(), 10, 3),
        ("äx".encode("latin-1"), 2, 1),
        (codecs.BOM_UTF8 + b"abc", 5, 1),
        (b"abc", 9, 3),
        (b"", 4, 0),
    ],
)
def test_columns_are_bytes_of_the_file(line: bytes, column: int, characters: int) -> None:
    """And an editor's are characters of what it shows."""
    from porter.editor import _before

    assert _before(line, column) == characters


@pytest.mark.parametrize(
    "said", [b"", b"garbage\r\n\r\n", b"Content-Length: 2\r\n\r\n{}"], ids=["none", "words", "empty"]
)
def test_an_editor_that_goes_away_is_no_bug(said: bytes) -> None:
    done = porter("lsp", given=said)
    assert done.code == 0, done.stderr
    assert "bug in porter" not in done.stderr
