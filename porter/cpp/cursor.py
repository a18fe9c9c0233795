"""A place in a list of tokens, and ways to go on from it."""

from __future__ import annotations

from collections.abc import Sequence

from porter.cpp.lex import NO_KINDS, NO_TEXTS, Tokens

DEEPEST = 256
"""Statements and expressions inside one another that are read; what lies deeper is opaque."""
LONGEST_CHAIN = 512
"""Operators in a row, each with the result of the one before, that become a tree."""
TOO_DEEP = "too deep"
"""Under this key the memo of the tokens tells the offset of the first code that nests too deeply to be read."""


class Cursor:
    """Reads a list of token indices from left to right."""

    def __init__(self, tokens: Tokens, places: Sequence[int], depth: int = 0) -> None:
        self.tokens = tokens
        self.places = places
        self.position = 0
        self.texts = [*[tokens.texts[index] for index in places], *NO_TEXTS]
        self.kinds: list[str] = [*[tokens.kinds[index] for index in places], *NO_KINDS]
        self.count = len(places)
        self.depth = depth
        """Statements and expressions that are open around the position."""
        self._closings: dict[int, int] | None = None

    @property
    def done(self) -> bool:
        return self.position >= self.count

    @property
    def text(self) -> str:
        return self.texts[self.position] if self.position < self.count else ""

    def peek(self, ahead: int = 1) -> str:
        place = self.position + ahead
        return self.texts[place] if place < self.count else ""

    def kind(self, ahead: int = 0) -> str:
        place = self.position + ahead
        return self.kinds[place] if place < self.count else ""

    @property
    def here(self) -> int:
        """Token index of the current position."""
        position = self.position
        if position < self.count:
            return self.places[position]
        return self.places[-1] if self.places else 0

    @property
    def before(self) -> int:
        """Token index of the position just passed."""
        return self.places[min(self.position, self.count) - 1] if self.position and self.count else self.here

    def take(self, text: str) -> bool:
        position = self.position
        if position < self.count and self.texts[position] == text:
            self.position = position + 1
            return True
        return False

    def _skip_too_deep(self) -> None:
        """Past what is nested too deeply to be read, to where the code around it can go on."""
        self.tokens.memo.setdefault(TOO_DEEP, self.tokens.starts[self.here] if len(self.tokens) else 0)
        while not self.done and self.text not in _AFTER_TOO_DEEP:
            if self.text in _OPENING:
                self._skip_brackets()
            else:
                self.position += 1

    def _to_closing(self) -> None:
        """Past the `)` of the parenthesis that is open here."""
        self._to_bracket(")")

    def _to_bracket(self, close: str) -> None:
        while not self.done and self.text != close:
            if self.text in ("(", "[", "{"):
                self._skip_brackets()
            elif self.text in (";", "}"):
                return
            else:
                self.position += 1
        self.take(close)

    def _to_semicolon(self) -> None:
        while not self.done and self.text != ";":
            if self.text in ("(", "[", "{"):
                self._skip_brackets()
            elif self.text in ("}", ")"):
                return
            else:
                self.position += 1
        self.take(";")

    def _skip_brackets(self) -> None:
        close = self._matching(self.position)
        self.position = self.position + 1 if close is None else close + 1

    def _matching(self, place: int) -> int | None:
        """Position of the bracket that closes the one at a position."""
        if self._closings is None:
            self._closings = _pairs(self.texts)
        return self._closings.get(place)


def _pairs(texts: Sequence[str]) -> dict[int, int]:
    """Opening and closing positions of brackets, whatever their shapes."""
    pairs: dict[int, int] = {}
    opened: list[int] = []
    for position, text in enumerate(texts):
        if text in _OPENING:
            opened.append(position)
        elif text in _CLOSING and opened:
            pairs[opened.pop()] = position
    return pairs


_AFTER_TOO_DEEP = frozenset({")", "]", "}", ";", ","})
_OPENING = frozenset({"(", "[", "{"})
_CLOSING = frozenset({")", "]", "}"})
