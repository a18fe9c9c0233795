"""A cursor over tokens, shared by the readers of declarations and of function bodies."""

from __future__ import annotations

from porter.validation.devices.ptx.lex import Token, number, tokens
from porter.validation.devices.ptx.model import Unreadable


class Cursor:
    """Reads tokens in order."""

    def __init__(self, text: str, first: int = 1, *, whole_bodies: bool = False) -> None:
        self.tokens = tokens(text, first, whole_bodies=whole_bodies)
        self.position = 0

    @property
    def here(self) -> Token:
        """The next token."""
        return self.tokens[self.position]

    def peek(self, ahead: int = 1) -> Token:
        """A token further on."""
        return self.tokens[min(self.position + ahead, len(self.tokens) - 1)]

    def take(self) -> Token:
        """The next token, and move on."""
        token = self.tokens[self.position]
        if token.kind != "end":
            self.position += 1
        return token

    def accept(self, text: str) -> bool:
        """Move over this text when it is next."""
        if self.here.text == text and self.here.kind in ("mark", "word"):
            self.position += 1
            return True
        return False

    def expect(self, text: str) -> Token:
        """This text must be next."""
        token = self.take()
        if token.text != text:
            raise Unreadable(f"{text!r} expected before {token.text or 'the end'!r}", token.line)
        return token

    def word(self) -> str:
        """A word must be next."""
        token = self.take()
        if token.kind != "word":
            raise Unreadable(f"name expected before {token.text or 'the end'!r}", token.line)
        return token.text

    def constant(self) -> tuple[str, int]:
        """A number with its sign: kind and bits (integers keep their sign)."""
        sign = 1
        while self.here.text in ("-", "+"):
            sign *= -1 if self.take().text == "-" else 1
        token = self.take()
        if token.kind != "number":
            raise Unreadable(f"number expected before {token.text or 'the end'!r}", token.line)
        kind, bits = number(token.text)
        if sign < 0:
            bits = -bits if kind == "int" else bits ^ (1 << (31 if kind == "f32" else 63))
        return kind, bits

    def integer(self) -> int:
        """An integer must be next."""
        line = self.here.line
        kind, bits = self.constant()
        if kind != "int":
            raise Unreadable("integer expected", line)
        return bits

    def skip_braces(self) -> None:
        """Skip a balanced `{ ... }`."""
        if self.here.kind == "body":
            self.take()
            return
        self.expect("{")
        depth = 1
        while depth:
            token = self.take()
            if token.kind == "end":
                raise Unreadable("end of text inside braces", token.line)
            depth += (token.text == "{") - (token.text == "}")
