"""Function templates of a file, as far as their names tell."""

from __future__ import annotations

from collections.abc import Iterator

from porter.cpp.lex import Tokens

_BORDERS = frozenset({";", "{", "}"})
LONGEST_HEAD = 60


def template_heads(tokens: Tokens, name: str) -> Iterator[list[str]]:
    """The words before a name where a function template of that name is declared; specialisations are left out."""
    for index in tokens.names.get(name, ()):
        if tokens.texts[index + 1] != "(":
            continue
        words = tokens.texts[beginning(tokens, index) : index]
        if words[:2] == ["template", "<"] and words[2:3] != [">"]:
            yield words


def beginning(tokens: Tokens, index: int) -> int:
    """The first token of the declaration that a name stands in."""
    first = index
    while first > max(0, index - LONGEST_HEAD) and tokens.texts[first - 1] not in _BORDERS:
        if tokens.directive_of(first - 1) is not tokens.directive_of(index):
            break
        first -= 1
    return first
