"""Where a name that is declared in a block or as a parameter can be seen: elsewhere it means something else."""

from __future__ import annotations

import bisect
from typing import NamedTuple, cast

from porter.cpp.brackets import words
from porter.cpp.lex import Directive, Tokens

_CODE_BEFORE = words("else do try const noexcept override final mutable volatile ]")
_ATTRIBUTES = words("alignas __align__ __attribute__ __builtin_align__ __declspec")
_LONGEST = 60
"""Tokens between the parameters of a function and its body."""


class Stretch(NamedTuple):
    """Token indices, both ends among them."""

    first: int
    last: int
    sure: bool = True
    """Whether it is seen everywhere in it; a macro may be defined under a condition."""

    def covers(self, index: int) -> bool:
        """Whether a token is in it."""
        return self.first <= index <= self.last


def stretch(tokens: Tokens, index: int) -> Stretch | None:
    """Where what is declared at a token can be meant; None: beyond a function, or the tokens do not tell."""
    directive = tokens.directive_of(index)
    if directive is not None:
        return _until_undefined(tokens, directive, index)
    opening = _around(tokens, index)
    while opening is not None:
        closing = tokens.partner[opening]
        text = tokens.texts[opening]
        if text == "{":
            return Stretch(index, closing) if is_code(tokens, opening) else None
        if text != "(":
            return None
        end = _end_of_scope(tokens, closing)
        return None if end is None else Stretch(index, end)
    return None


def _until_undefined(tokens: Tokens, directive: Directive, index: int) -> Stretch | None:
    """From `#define NAME` to the `#undef NAME` of the same file."""
    if directive.first != index or directive.name not in ("define", "undef"):
        return None
    if directive.name == "undef":
        return Stretch(index, index, sure=False)
    for place in tokens.names[tokens.texts[index]]:
        other = tokens.directive_of(place) if place > index else None
        if other is not None and other.name == "undef" and other.first == place:
            return Stretch(index, place, sure=False)
    return None


def is_code(tokens: Tokens, opening: int) -> bool:
    """Whether a brace opens statements, and no class, namespace or list."""
    around: int | None = opening
    while around is not None and tokens.texts[around] == "{":
        before = tokens.texts[around - 1]
        if before in _CODE_BEFORE:
            return True
        if before == ")":
            head = tokens.partner.get(around - 1)
            return head is not None and tokens.texts[head - 1] not in _ATTRIBUTES
        if before not in ("{", "}", ";", ":"):
            return False
        around = _around(tokens, around)
    return False


def _end_of_scope(tokens: Tokens, closing: int) -> int | None:
    """Where what is declared in parentheses ends to be: with the body or statement that follows them."""
    index, limit = closing + 1, min(len(tokens), closing + _LONGEST)
    while index < limit:
        text = tokens.texts[index]
        if text == "{":
            return tokens.partner.get(index)
        if text == ";":
            return index
        if text in (":", ")", "}", "]", "=") or tokens.directive_of(index) is not None:
            return None
        index = (tokens.partner.get(index, index) if text in ("(", "[") else index) + 1
    return None


def _around(tokens: Tokens, index: int) -> int | None:
    """The innermost bracket that is open at a token."""
    brackets = tokens.memo.get("brackets")
    if brackets is None:
        brackets = tokens.memo["brackets"] = sorted(tokens.partner)
    places = cast("list[int]", brackets)
    place = bisect.bisect_left(places, index) - 1
    while place >= 0:
        found = places[place]
        partner = tokens.partner[found]
        if partner >= index:
            return found
        place = bisect.bisect_left(places, partner if partner < found else found) - 1
    return None
