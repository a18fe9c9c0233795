"""Where a remark may stand in a build file: never inside of text that means something."""

from __future__ import annotations

import io
import tokenize
from collections.abc import Iterable, Sequence

from porter.buildfiles.unit import Kind
from porter.engine.remarks import Placing, Stretch, with_remarks
from porter.model import Edit, Finding

_SHELL_TEXT = frozenset({"string", "raw_string", "ansi_c_string", "heredoc_body", "heredoc_redirect", "comment"})
_MAKE_TEXT = frozenset({"define_directive"})


def remarked(kind: Kind, text: str, findings: Iterable[Finding], edits: Sequence[Edit]) -> str:
    """A converted build file with its remarks; formats without comments stay as they are."""
    placing = _PLACINGS.get(kind)
    if placing is None:
        return text
    return with_remarks(text, findings, edits, "#", placing, indented=kind is not Kind.MAKE)


def _cmake(text: str) -> list[Stretch]:
    from porter.buildfiles.cmake import parse_cmake

    commands, _ = parse_cmake(text.encode("latin-1"))
    return [(one.start, one.end) for one in commands if "\n" in text[one.start : one.end]]


def _python(text: str) -> list[Stretch]:
    """Strings of more than one line; all of the file where it cannot be read."""
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    found: list[Stretch] = []
    opened: list[int] = []
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            start, end = (starts[row - 1] + column for row, column in (token.start, token.end))
            name = tokenize.tok_name[token.type]
            if name == "FSTRING_START":
                opened.append(start)
            elif name == "FSTRING_END":
                start, name = opened.pop(), "STRING"
            if name == "STRING" and "\n" in text[start:end]:
                found.append((start, end))
    except (tokenize.TokenError, SyntaxError, IndexError):
        return [(0, len(text))]
    return sorted(found)


def _make(text: str) -> list[Stretch]:
    from porter.buildfiles.make import stretches

    return stretches(text.encode("latin-1"), _MAKE_TEXT)


def _shell(text: str) -> list[Stretch]:
    from porter.buildfiles.make import stretches

    return stretches(text.encode("latin-1"), _SHELL_TEXT, shell=True)


_PLACINGS: dict[Kind, Placing] = {Kind.CMAKE: _cmake, Kind.PYTHON: _python, Kind.MAKE: _make, Kind.SHELL: _shell}
