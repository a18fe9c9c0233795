"""What a finding stands in, whatever its line and layout: the basis of fingerprints."""

from __future__ import annotations

import hashlib
from typing import NamedTuple

from porter.cpp.lex import Tokens, lex
from porter.project.records import Entry
from porter.source import SourceFile

_BORDERS = frozenset(";{}")
_MOST_TOKENS = 64
_ABOUT_THE_FILE = frozenset("E")
_ABOUT_A_COMMENT = frozenset({"E004", "E011"})


class Place(NamedTuple):
    """Where a finding stands: half-open, lines from 1, columns from 1 in UTF-16 units as editors count."""

    line: int
    column: int
    end_column: int


class Text:
    """One file, for the contexts of its findings."""

    def __init__(self, data: bytes, *, is_code: bool = True) -> None:
        self._is_code = is_code
        self._source = SourceFile("", data)
        self._tokens: Tokens | None = None

    def context(self, entry: Entry) -> str:
        """Digest of the statement around a finding: tokens only, so blanks, comments and line ends do not count."""
        if self._is_code and entry.code[0] in _ABOUT_THE_FILE and entry.code not in _ABOUT_A_COMMENT:
            return ""
        words = self._words(entry)
        return hashlib.sha256("\0".join(words).encode("latin-1", "replace")).hexdigest()[:16]

    def place(self, entry: Entry) -> Place:
        """The finding's place in the units of editors and of SARIF."""
        if entry.line > self._source.data.count(b"\n") + 1:
            return Place(1, 1, 1)
        line = self._source.line_text(entry.line)
        before = _units(line[: entry.column - 1])
        width = _units(entry.name.encode("utf-8", "surrogateescape").decode("latin-1")) if entry.name else 0
        return Place(entry.line, before + 1, before + 1 + width)

    def _words(self, entry: Entry) -> list[str]:
        if self._source.problem is not None or entry.line > self._source.line_count:
            return []
        if not self._is_code:
            return self._source.line_text(entry.line).split()
        offset = self._source.line_start(entry.line) + entry.column - 1
        tokens = self._lexed
        for include in tokens.includes:
            if include.line_start <= offset < include.line_end:
                return ["#include", include.name]
        for comment in tokens.comments:
            if comment.start <= offset < comment.end:
                return self._source.text[comment.start : comment.end].split()
        index = tokens.at(offset)
        if index >= len(tokens):
            return []
        directive = tokens.directive_of(index)
        if directive is not None:
            return ["#", directive.name, *tokens.texts[directive.first : directive.last]]
        return _statement(tokens, index)

    @property
    def _lexed(self) -> Tokens:
        if self._tokens is None:
            self._tokens = lex(self._source.text)
        return self._tokens


def _statement(tokens: Tokens, index: int) -> list[str]:
    """The tokens between the borders around one; directives end a statement as well."""
    texts = tokens.texts
    first = index
    while first > 0 and index - first < _MOST_TOKENS and not _is_border(tokens, first - 1):
        first -= 1
    last = index
    while last < len(tokens) and last - index < _MOST_TOKENS and not _is_border(tokens, last):
        last += 1
    return [*texts[first:last], "@", str(index - first)]


def _is_border(tokens: Tokens, index: int) -> bool:
    return tokens.texts[index] in _BORDERS or tokens.directive_of(index) is not None


def _units(text: str) -> int:
    """Length in UTF-16 units of bytes given as latin-1."""
    if text.isascii():
        return len(text)
    readable = text.encode("latin-1").decode("utf-8", "replace")
    return len(readable.encode("utf-16-le", "surrogatepass")) // 2
