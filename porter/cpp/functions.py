"""Functions for the host and lambdas, as tokens tell: whether a name is declared there, and the braces of a body."""

from __future__ import annotations

from porter.cpp.brackets import words
from porter.cpp.heads import body_behind
from porter.cpp.lex import IDENTIFIER, Tokens

Braces = tuple[int, int]
"""The tokens of a `{` and of its `}`."""
_NO_TYPE = words("return else do new throw co_return co_yield co_await case goto delete and or not")


def follows_type(tokens: Tokens, index: int) -> bool:
    """Whether a word stands before a name in the same line of the preprocessor or outside of all, and may be a type."""
    before = index - 1
    if before < 0 or tokens.kinds[before] != IDENTIFIER or tokens.texts[before] in _NO_TYPE:
        return False
    return tokens.directive_of(before) is tokens.directive_of(index)


def body_of(tokens: Tokens, index: int) -> Braces | None:
    """The braces of the function that is defined where its name stands at a token."""
    closed = tokens.partner.get(index + 1)
    if closed is None or tokens.texts[index + 1] != "(" or tokens.texts[index - 1] in (".", "->", *_NO_TYPE):
        return None
    return _braces_behind(tokens, closed)


def is_defined(tokens: Tokens, index: int) -> bool:
    """Whether the function whose name stands at a token, behind a type, is defined there."""
    return follows_type(tokens, index) and body_of(tokens, index) is not None


def only_body(tokens: Tokens, name: str) -> Braces | None:
    """The braces of the only function that the file defines by a name."""
    found = [body for index in tokens.names.get(name, ()) if (body := body_of(tokens, index)) is not None]
    return found[0] if len(found) == 1 else None


def begins_lambda(tokens: Tokens, index: int) -> bool:
    """Whether captures begin at a token, and no index does."""
    before = tokens.texts[index - 1]
    is_index = before in (")", "]") or (tokens.kinds[index - 1] == IDENTIFIER and before not in _NO_TYPE)
    return tokens.texts[index] == "[" and not is_index


def body_of_lambda(tokens: Tokens, index: int) -> Braces | None:
    """The braces of a lambda whose captures begin at a token."""
    return _braces_behind(tokens, tokens.partner.get(index, index))


def _braces_behind(tokens: Tokens, closed: int) -> Braces | None:
    """The body behind the bracket that ends parameters, or captures where there are none."""
    opened, _ = body_behind(tokens, closed + 1)
    return None if opened is None or opened not in tokens.partner else (opened, tokens.partner[opened])
