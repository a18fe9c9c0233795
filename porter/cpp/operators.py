"""Free functions that overload an operator, as written."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from porter.cpp.brackets import closing
from porter.cpp.lex import IDENTIFIER, Tokens
from porter.model import Span

_BORDERS = frozenset(";{}")
_LONGEST_HEAD = 60


@dataclass(frozen=True, slots=True)
class Operator:
    """`head type operator symbol(parameters) { body }`; templates are not listed."""

    symbol: str
    span: Span
    first: int
    last: int
    """Token indices: [first, last) is the definition."""
    head: tuple[str, ...]
    """Words before `operator`: attributes, then the type of the result."""
    parameters: tuple[tuple[str, str], ...]
    """Type (without const and references) and name."""
    body: tuple[str, ...]


def find_operators(tokens: Tokens) -> Iterator[Operator]:
    """Definitions with one or two parameters and a body, outside directives."""
    for index in tokens.names.get("operator", ()):
        if tokens.directive_of(index) is None and (found := _operator(tokens, index)) is not None:
            yield found


def _operator(tokens: Tokens, index: int) -> Operator | None:
    texts = tokens.texts
    opening = index + 2
    if texts[opening] != "(" or tokens.kinds[index + 1] == IDENTIFIER:
        return None
    closed = closing(tokens, opening, len(tokens))
    if closed is None or texts[closed + 1] != "{":
        return None
    end = closing(tokens, closed + 1, len(tokens))
    first = _beginning(tokens, index)
    if end is None or first is None:
        return None
    return Operator(
        symbol=texts[index + 1],
        span=Span(tokens.starts[first], tokens.end(end)),
        first=first,
        last=end + 1,
        head=tuple(texts[first:index]),
        parameters=tuple(_parameters(texts[opening + 1 : closed])),
        body=tuple(texts[closed + 2 : end]),
    )


def _beginning(tokens: Tokens, index: int) -> int | None:
    """First token of the declaration; None for a template, or where something odd stands before it."""
    first = index
    while first > 0 and index - first < _LONGEST_HEAD:
        before = first - 1
        text = tokens.texts[before]
        if text in _BORDERS or tokens.directive_of(before) is not None:
            return first
        if (tokens.kinds[before] != IDENTIFIER and text not in ("&", "*")) or text == "template":
            return None
        first = before
    return first if first == 0 else None


def _parameters(texts: list[str]) -> Iterator[tuple[str, str]]:
    """Plain `type name` pairs; anything else gives a type that no table knows."""
    for part in _split(texts):
        words = [text for text in part if text not in ("const", "&", "__restrict__")]
        yield (" ".join(words[:-1]), words[-1]) if len(words) > 1 else (" ".join(words), "")


def _split(texts: list[str]) -> Iterator[list[str]]:
    part: list[str] = []
    for text in texts:
        if text == ",":
            yield part
            part = []
        else:
            part.append(text)
    if part:
        yield part
