"""Conditions of `#if` under macros that are known, unknown, or known not to be there: three-valued."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

from porter.cpp.constants import number, within_range
from porter.cpp.lex import IDENTIFIER, NUMBER, Directive, Tokens


class Macro(NamedTuple):
    """What is known of a macro; None: not known."""

    defined: bool | None
    value: int | None = None


UNKNOWN = Macro(None)
ABSENT = Macro(False, 0)
PRESENT = Macro(True)

Lookup = Callable[[str], Macro]

_LEVELS: tuple[Mapping[str, Callable[[int, int], int]], ...] = (
    {"|": lambda a, b: a | b},
    {"^": lambda a, b: a ^ b},
    {"&": lambda a, b: a & b},
    {"==": lambda a, b: int(a == b), "!=": lambda a, b: int(a != b)},
    {
        "<": lambda a, b: int(a < b),
        ">": lambda a, b: int(a > b),
        "<=": lambda a, b: int(a <= b),
        ">=": lambda a, b: int(a >= b),
    },
    {"<<": lambda a, b: a << min(b, 64) if b >= 0 else 0, ">>": lambda a, b: a >> b if b >= 0 else 0},
    {"+": lambda a, b: a + b, "-": lambda a, b: a - b},
    {"*": lambda a, b: a * b, "/": lambda a, b: a // b if b else 0, "%": lambda a, b: a % b if b else 0},
)
_OPERATORS = {text: (level, operation) for level, row in enumerate(_LEVELS) for text, operation in row.items()}
_DEEPEST = 100


def holds(tokens: Tokens, first: int, last: int, lookup: Lookup) -> bool | None:
    """Whether the condition in tokens [first, last) is true; None when that depends on what is not known."""
    reader = _Reader(tokens, first, last, lookup)
    value = reader.ternary()
    return None if value is None or reader.place != last else bool(value)


def condition_holds(tokens: Tokens, directive: Directive, lookup: Lookup) -> bool | None:
    """Whether the condition of an `#if`, `#ifdef`, `#elif`, `#else` or the like is true by itself."""
    if directive.name == "else":
        return True
    if directive.first >= directive.last:
        return None
    if directive.name in ("if", "elif"):
        return holds(tokens, directive.first, directive.last, lookup)
    known = lookup(tokens.texts[directive.first]).defined
    return known if known is None or not directive.name.endswith("ndef") else not known


HAS_INCLUDE = frozenset({"__has_include", "__has_include_next"})
_ASKED = "__has_include "


def asked_header(tokens: Tokens, opened: int, closed: int) -> str:
    """What stands for the question whether a header is there, in the lookup of macros."""
    return _ASKED + "".join(tokens.texts[opened + 1 : closed]).strip('<>"')


def header_of(name: str) -> str:
    """The header that such a name asks for; empty for a macro's."""
    return name.removeprefix(_ASKED) if name.startswith(_ASKED) else ""


class _Reader:
    """One walk over a condition, left to right."""

    def __init__(self, tokens: Tokens, first: int, last: int, lookup: Lookup) -> None:
        self._tokens = tokens
        self.place = first
        self._last = last
        self._lookup = lookup
        self._depth = 0

    @property
    def _text(self) -> str:
        return self._tokens.texts[self.place] if self.place < self._last else ""

    def ternary(self) -> int | None:
        """A whole expression."""
        self._depth += 1
        if self._depth > _DEEPEST:
            self.place = self._last + 1
            return None
        condition = self._either()
        if self._text == "?":
            self.place += 1
            chosen = self.ternary()
            if self._text == ":":
                self.place += 1
                other = self.ternary()
                condition = None if condition is None else chosen if condition else other
        self._depth -= 1
        return condition

    def _either(self) -> int | None:
        value = self._both()
        while self._text in ("||", "or"):
            self.place += 1
            other = self._both()
            value = 1 if value or other else None if value is None or other is None else 0
        return value

    def _both(self) -> int | None:
        value = self._binary(0)
        while self._text in ("&&", "and"):
            self.place += 1
            other = self._binary(0)
            value = 0 if 0 in (value, other) else None if value is None or other is None else 1
        return value

    def _binary(self, lowest: int) -> int | None:
        """Operands and the operators between them that bind at least as tightly as a level."""
        value = self._unary()
        while (known := _OPERATORS.get(self._text)) is not None and known[0] >= lowest:
            level, operation = known
            self.place += 1
            other = self._binary(level + 1)
            value = None if value is None or other is None else within_range(operation(value, other))
        return value

    def _unary(self) -> int | None:
        signs: list[str] = []
        while self._text in ("!", "-", "+", "~", "not"):
            signs.append(self._text)
            self.place += 1
        value = self._primary()
        for sign in reversed(signs):
            if value is not None:
                value = {"!": int(not value), "not": int(not value), "-": -value, "~": ~value, "+": value}[sign]
        return value

    def _primary(self) -> int | None:
        text, place = self._text, self.place
        if text == "(":
            self.place += 1
            value = self.ternary()
            self.place += self._text == ")"
            return value
        self.place += bool(text)
        kind = self._tokens.kinds[place] if text else ""
        if kind == NUMBER:
            return number(text)
        if text == "defined":
            return self._defined()
        if kind != IDENTIFIER:
            return None
        if self._text == "(":
            opened = self.place
            closed = self._tokens.partner.get(self.place, self._last - 1)
            self.place = min(closed + 1, self._last)
            if text in HAS_INCLUDE:
                return self._lookup(asked_header(self._tokens, opened, closed)).value
            return 0 if self._lookup(text).defined is False else None
        if text in ("true", "false"):
            return int(text == "true")
        found = self._lookup(text)
        return 0 if found.defined is False else found.value

    def _defined(self) -> int | None:
        bracket = self._text == "("
        self.place += bracket
        found = self._lookup(self._text).defined
        self.place += 1
        self.place += bracket and self._text == ")"
        return None if found is None else int(found)
