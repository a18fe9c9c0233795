"""Function templates of a file, as far as their names tell."""

from __future__ import annotations

from collections.abc import Iterator

from porter.cpp.lex import Tokens

_BORDERS = frozenset({";", "{", "}"})
LONGEST_HEAD = 200
"""Tokens; the parameters of a class template and `enable_if` in what a member returns fill a hundred."""


def template_heads(tokens: Tokens, name: str) -> Iterator[list[str]]:
    """The words before a name where a function template of that name is declared; specialisations are left out."""
    for index in tokens.names.get(name, ()):
        if tokens.texts[index + 1] != "(":
            continue
        words = tokens.texts[beginning(tokens, index) : index]
        if words[:2] == ["template", "<"] and words[2:3] != [">"]:
            yield words


def beginning(tokens: Tokens, index: int) -> int:
    """The first token of the declaration that a name stands in; the farthest looked at, where it begins before that."""
    first = index
    while first > index - LONGEST_HEAD and not is_beginning(tokens, first, index):
        first -= 1
    return first


def is_beginning(tokens: Tokens, first: int, index: int) -> bool:
    """Whether nothing before a token belongs to the declaration of a name behind it."""
    if first == 0 or tokens.texts[first - 1] in _BORDERS:
        return True
    return tokens.directive_of(first - 1) is not tokens.directive_of(index)
