"""String literals of C++: what adjacent pieces say, and edits of that text as edits of the file."""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterator
from dataclasses import dataclass

from porter.cpp.lex import STRING, Tokens
from porter.model import Edit

_RAW = re.compile(r'(?:u8)?R"([^\s()\\"]{0,16})\(')
_PLAIN = re.compile(r'(?:u8)?"')
_ESCAPE = re.compile(r"\\(?:(\r?\n)|([abfnrtv\\'\"?])|([0-7]{1,3})|x([0-9a-fA-F]{1,2})(?![0-9a-fA-F]))")
_SIMPLE = dict(zip("abfnrtv\\'\"?", "\a\b\f\n\r\t\v\\'\"?", strict=True))
_WRITTEN = {"\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "\\": "\\\\"}


@dataclass(frozen=True, slots=True)
class Piece:
    """One literal of several that stand side by side."""

    first: int
    """Where its characters begin in the text of all."""
    starts: tuple[int, ...]
    """Offset in the file of each character, and of the end."""
    mark: str | None
    """What ends it when it is a raw one."""


@dataclass(frozen=True)
class Literal:
    """The text of adjacent string literals."""

    text: str
    pieces: tuple[Piece, ...]

    def position(self, offset: int) -> int:
        """The place in the file of a character of the text."""
        piece = self.pieces[self._piece_at(offset)]
        return piece.starts[min(offset - piece.first, len(piece.starts) - 1)]

    def edits(self, edit: Edit) -> tuple[Edit, ...] | None:
        """What an edit of the text is in the file; None when the new text cannot stand in the literal."""
        made: list[Edit] = []
        new = edit.text
        for number, piece in enumerate(self.pieces):
            size = len(piece.starts) - 1
            start, end = max(edit.start - piece.first, 0), min(edit.end - piece.first, size)
            if edit.start == edit.end:
                if number != self._piece_at(edit.start):
                    continue
            elif start >= end:
                continue
            written = _written(new, piece.mark)
            if written is None or self._would_end(piece, start, end, new):
                return None
            made.append(Edit(piece.starts[start], piece.starts[end], written))
            new = ""
        return tuple(made)

    def _piece_at(self, offset: int) -> int:
        """The piece that a character is in; at the end of all, the last."""
        return max(0, bisect.bisect_right([piece.first for piece in self.pieces], offset) - 1)

    def _would_end(self, piece: Piece, start: int, end: int, new: str) -> bool:
        """Whether the mark that ends a raw literal would stand in it."""
        if piece.mark is None:
            return False
        before = self.text[max(piece.first, piece.first + start - len(piece.mark)) : piece.first + start]
        last = piece.first + len(piece.starts) - 1
        after = self.text[piece.first + end : min(last, piece.first + end + len(piece.mark))]
        return piece.mark in before + new + after


def _written(text: str, mark: str | None) -> str | None:
    if mark is not None:
        return text
    if any(character < " " and character not in _WRITTEN for character in text):
        return None
    return "".join(_WRITTEN.get(character, character) for character in text)


def read_literal(tokens: Tokens, first: int, last: int) -> Literal | None:
    """The text of the string tokens [first, last]; None when one is wide, not ended or has escapes of its own kind."""
    pieces: list[Piece] = []
    parts: list[str] = []
    length = 0
    for index in range(first, last + 1):
        read = _read(tokens.texts[index], tokens.starts[index])
        if read is None:
            return None
        text, starts, mark = read
        pieces.append(Piece(length, starts, mark))
        parts.append(text)
        length += len(text)
    return Literal("".join(parts), tuple(pieces))


def _read(token: str, at: int) -> tuple[str, tuple[int, ...], str | None] | None:
    raw = _RAW.match(token)
    if raw is not None:
        mark = f'){raw[1]}"'
        if not token.endswith(mark):
            return None
        end = len(token) - len(mark)
        return token[raw.end() : end], tuple(range(at + raw.end(), at + end + 1)), mark
    plain = _PLAIN.match(token)
    if plain is None or len(token) <= plain.end() or not token.endswith('"'):
        return None
    characters: list[str] = []
    starts: list[int] = []
    position, end = plain.end(), len(token) - 1
    while position < end:
        text, after = token[position], position + 1
        if text == "\\":
            escape = _ESCAPE.match(token, position)
            if escape is None or escape.end() > end:
                return None
            text, after = _meant(escape), escape.end()
        if text:
            characters.append(text)
            starts.append(at + position)
        position = after
    return "".join(characters), (*starts, at + end), None


def _meant(escape: re.Match[str]) -> str:
    splice, simple, octal, code = escape.groups()
    if splice:
        return ""
    if simple:
        return _SIMPLE[simple]
    return chr(int(octal, 8) & 255) if octal else chr(int(code, 16))


def literal_groups(tokens: Tokens) -> Iterator[tuple[int, int]]:
    """First and last token of each run of string literals that the compiler joins."""
    index = tokens.kinds.find(STRING)
    while index >= 0:
        last = index
        while last + 1 < len(tokens) and tokens.kinds[last + 1] == STRING:
            if tokens.directive_of(last + 1) != tokens.directive_of(index):
                break
            last += 1
        yield index, last
        index = tokens.kinds.find(STRING, last + 1)
