"""Patterns over tokens, as `f($a, $rest...)`: what `[[rewrite]]` in porter.toml finds, and what it makes of it."""

from __future__ import annotations

import bisect
import functools
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from porter.cpp.lex import IDENTIFIER, STRING, Tokens, lex

_HOLE = re.compile(r"\$[A-Za-z_]\w*\Z")
_OPEN, _CLOSE = "([{", ")]}"
_LONGEST = 4000
"""Tokens that one hole may stand for."""
_IN_TEMPLATE = re.compile(r"[A-Za-z_0-9]|::|[,*&<>]|>>|\.\.\.")


class Piece(NamedTuple):
    """One token of a pattern, or a hole."""

    text: str
    hole: bool = False
    many: bool = False
    """A hole for what is left of a list, which may be nothing."""


class Match(NamedTuple):
    """Tokens [first, last) that a pattern fits, and those of each hole; (n, n) for nothing."""

    first: int
    last: int
    holes: tuple[tuple[str, tuple[int, int]], ...]


@dataclass(frozen=True, slots=True)
class Pattern:
    """What is looked for; it begins with a name."""

    pieces: tuple[Piece, ...]

    @property
    def head(self) -> str:
        """The name it begins with."""
        return self.pieces[0].text

    @property
    def holes(self) -> frozenset[str]:
        """Names of its holes."""
        return frozenset(piece.text for piece in self.pieces if piece.hole)

    def matches(self, tokens: Tokens) -> Iterator[Match]:
        """Where it fits, in order; a match of another one's middle is no match."""
        done = 0
        for index in tokens.names.get(self.head, ()):
            if index < done:
                continue
            found = _Search(tokens, self.pieces).at(index)
            if found is not None and _is_whole(tokens, found):
                done = found.first + 1
                yield found


@functools.lru_cache(maxsize=256)
def pattern(text: str) -> Pattern:
    """The pattern that a text describes; ValueError says what is wrong with it."""
    pieces = _pieces(text)
    if not pieces or pieces[0].hole or not re.match(r"[A-Za-z_]", pieces[0].text):
        raise ValueError(f"{text!r}: a pattern begins with a name")
    for before, after in itertools.pairwise(pieces):
        if before.hole and after.hole:
            raise ValueError(
                f"{text!r}: between ${before.text} and ${after.text} there must be something to end the first"
            )
    if pieces[-1].hole:
        raise ValueError(f"{text!r}: a pattern does not end with a hole: where would ${pieces[-1].text} end?")
    _balanced(text, pieces)
    return Pattern(pieces)


@functools.lru_cache(maxsize=256)
def replacement(text: str, holes: frozenset[str]) -> tuple[Piece, ...]:
    """The pieces of a replacement, blanks kept: texts and holes in turn; ValueError where it names no hole."""
    _balanced(text, _pieces(text))
    parts = re.split(r"\$([A-Za-z_]\w*)(\.\.\.)?", text)
    found: list[Piece] = []
    for index in range(0, len(parts), 3):
        if parts[index]:
            found.append(Piece(parts[index]))
        if index + 1 < len(parts):
            name = parts[index + 1]
            if name not in holes:
                raise ValueError(f"{text!r}: ${name} is not in what is found")
            found.append(Piece(name, True, parts[index + 2] is not None))
    return tuple(found)


def ends(find: Pattern, into: Sequence[Piece]) -> bool:
    """Whether the pattern does not fit its own replacement, whatever the holes stand for."""
    text = "".join(f" porter_hole_{piece.text} " if piece.hole else piece.text for piece in into)
    return next(find.matches(lex(text)), None) is None


def edits_of(tokens: Tokens, match: Match, find: Pattern, into: Sequence[Piece]) -> list[tuple[int, int, str]]:
    """The changes that make the replacement of a match; what stands in holes stays where it can."""
    holes = dict(match.holes)
    into = _without_empty(into, holes)
    spans = {name: _span(tokens, *place) for name, place in match.holes if place[0] < place[1]}
    order = [piece.text for piece in into if piece.hole]
    in_place = [name for name, _ in match.holes if name in spans]
    start, end = tokens.starts[match.first], tokens.end(match.last - 1)
    if order != [name for name in in_place if name in order] or len(set(order)) != len(order):
        new = "".join(tokens.text[slice(*spans[p.text])] if p.hole else p.text for p in into)
        return [(start, end, new)]
    edits: list[tuple[int, int, str]] = []
    position, literal = start, ""
    for piece in into:
        if not piece.hole:
            literal += piece.text
            continue
        first, last = spans[piece.text]
        edits.append((position, first, literal))
        position, literal = last, ""
    edits.append((position, end, literal))
    return [edit for edit in edits if tokens.text[edit[0] : edit[1]] != edit[2]]


def _span(tokens: Tokens, first: int, last: int) -> tuple[int, int]:
    return tokens.starts[first], tokens.end(last - 1)


def _without_empty(into: Sequence[Piece], holes: Mapping[str, tuple[int, int]]) -> list[Piece]:
    """The replacement without holes that stand for nothing, and without the comma before such a one."""
    kept: list[Piece] = []
    for piece in into:
        first, last = holes[piece.text] if piece.hole else (0, 1)
        if first < last:
            kept.append(piece)
        elif kept and not kept[-1].hole:
            kept[-1] = Piece(re.sub(r",\s*\Z", "", kept[-1].text))
    return kept


def _pieces(text: str) -> tuple[Piece, ...]:
    if "\n" in text or "\r" in text:
        raise ValueError(f"{text!r}: a pattern is one line")
    tokens = lex(text)
    if tokens.comments or tokens.directives:
        raise ValueError(f"{text!r}: a pattern is code, without comments and preprocessor lines")
    words = tokens.texts[: len(tokens)]
    found: list[Piece] = []
    index = 0
    while index < len(words):
        word = words[index]
        many = index + 1 < len(words) and words[index + 1] == "..."
        if _HOLE.match(word):
            found.append(Piece(word[1:], True, many))
            index += 1 + many
            continue
        if "$" in word and tokens.kinds[index] != STRING:
            raise ValueError(f"{text!r}: {word!r} is neither a name nor a hole such as $x")
        found.append(Piece(word))
        index += 1
    return tuple(found)


def _balanced(text: str, pieces: Sequence[Piece]) -> None:
    stack: list[str] = []
    for piece in pieces:
        if piece.hole:
            continue
        if piece.text in _OPEN and len(piece.text) == 1:
            stack.append(_CLOSE[_OPEN.index(piece.text)])
        elif piece.text in _CLOSE and len(piece.text) == 1 and (not stack or stack.pop() != piece.text):
            raise ValueError(f"{text!r}: brackets do not match")
    if stack:
        raise ValueError(f"{text!r}: {stack[-1]!r} is missing")


def _is_whole(tokens: Tokens, match: Match) -> bool:
    """Whether no preprocessor line begins or ends inside."""
    first, last = tokens.directive_of(match.first), tokens.directive_of(match.last - 1)
    if first is not last:
        return False
    start, end = tokens.starts[match.first], tokens.end(match.last - 1)
    place = bisect.bisect_right(tokens.directives, start, key=lambda one: one.start)
    return first is not None or place == len(tokens.directives) or tokens.directives[place].start >= end


class _Search:
    """Fits the pieces of a pattern to tokens from one place on."""

    def __init__(self, tokens: Tokens, pieces: Sequence[Piece]) -> None:
        self.tokens = tokens
        self.pieces = pieces

    def at(self, index: int) -> Match | None:
        """The match that begins at a token, if there is one."""
        found = self._fit(0, index, {})
        return None if found is None else Match(index, found[0], tuple(found[1].items()))

    def _fit(
        self, piece: int, index: int, holes: dict[str, tuple[int, int]]
    ) -> tuple[int, dict[str, tuple[int, int]]] | None:
        if piece == len(self.pieces):
            return index, holes
        wanted = self.pieces[piece]
        if not wanted.hole:
            if self.tokens.texts[index] == wanted.text:
                found = self._fit(piece + 1, index + 1, holes)
                if found is not None:
                    return found
            return self._without_rest(piece, index, holes)
        before = holes.get(wanted.text)
        for last in self._ends(index, many=wanted.many):
            if before is not None and self._texts(*before) != self._texts(index, last):
                continue
            known = holes if before is not None else {**holes, wanted.text: (index, last)}
            found = self._fit(piece + 1, last, known)
            if found is not None:
                return found
        return None

    def _without_rest(
        self, piece: int, index: int, holes: dict[str, tuple[int, int]]
    ) -> tuple[int, dict[str, tuple[int, int]]] | None:
        """`, $rest...` may be missing as a whole."""
        if self.pieces[piece].text != "," or piece + 1 >= len(self.pieces) or not self.pieces[piece + 1].many:
            return None
        return self._fit(piece + 2, index, {**holes, self.pieces[piece + 1].text: (index, index)})

    def _texts(self, first: int, last: int) -> list[str]:
        return self.tokens.texts[first:last]

    def _ends(self, index: int, *, many: bool) -> Iterator[int]:
        """Where a hole that begins here may end, the nearest place first."""
        if many:
            yield index
        texts, partner = self.tokens.texts, self.tokens.partner
        place = index
        while place < min(len(self.tokens), index + _LONGEST):
            text = texts[place]
            if text in (";", ")", "]", "}") or (text == "," and not many):
                return
            if text in ("(", "[", "{"):
                closing = partner.get(place)
                if closing is None:
                    return
                place = closing
            elif text == "<" and place > index and self.tokens.kinds[place - 1] == IDENTIFIER:
                place = self._template(place)
            place += 1
            yield place

    def _template(self, place: int) -> int:
        """The `>` of a template's arguments that begin here; the place itself where it is a comparison."""
        depth = 0
        texts = self.tokens.texts
        for index in range(place, min(len(self.tokens), place + 64)):
            text = texts[index]
            if not _IN_TEMPLATE.match(text):
                return place
            depth += {"<": 1, ">": -1, ">>": -2}.get(text, 0)
            if depth <= 0:
                after = texts[index + 1]
                return index if after in ("(", "::", "{", ")", ",", ">", "*", "&") else place
        return place
