"""Namespaces and classes around a place, from the tokens."""

from __future__ import annotations

from typing import NamedTuple, cast

from porter.cpp.lex import IDENTIFIER, Tokens
from porter.cpp.nesting import Nesting

ANONYMOUS = "(anonymous namespace)"


class Scope(NamedTuple):
    """A namespace or class body: token indices of its braces."""

    opening: int
    closing: int
    name: str
    is_class: bool = False


def find_scopes(tokens: Tokens) -> tuple[Scope, ...]:
    """All namespace and class bodies, outer ones before inner ones."""
    known = tokens.memo.get("scopes")
    if known is None:
        known = tokens.memo["scopes"] = _scopes(tokens)
    return cast("tuple[Scope, ...]", known)


def _scopes(tokens: Tokens) -> tuple[Scope, ...]:
    found = [
        scope
        for keyword in ("namespace", "struct", "class", "union")
        for index in tokens.names.get(keyword, ())
        if (scope := _scope(tokens, index)) is not None
    ]
    return tuple(sorted(found))


def class_around(tokens: Tokens, index: int) -> str | None:
    """The innermost class that a token lies in."""
    known = tokens.memo.get("classes")
    if known is None:
        classes = [scope for scope in find_scopes(tokens) if scope.is_class]
        known = classes, Nesting([(scope.opening, scope.closing) for scope in classes])
        tokens.memo["classes"] = known
    found, nesting = cast("tuple[list[Scope], Nesting]", known)
    number = next(nesting.around(index), None)
    return None if number is None else found[number].name


def qualify(scopes: tuple[Scope, ...], index: int, name: str) -> str:
    """`name` with the scopes around a token index in front."""
    around = [scope.name for scope in scopes if scope.opening < index < scope.closing]
    return "::".join([*around, name])


def _scope(tokens: Tokens, index: int) -> Scope | None:
    """The body that a `namespace`, `struct`, `class` or `union` keyword opens."""
    texts, kinds = tokens.texts, tokens.kinds
    is_namespace = texts[index] == "namespace"
    name = ANONYMOUS if is_namespace else ""
    position = index + 1
    if kinds[position] == IDENTIFIER:
        parts = [texts[position]]
        while texts[position + 1] == "::":
            position += 3 if texts[position + 2] == "inline" else 2
            parts.append(texts[position])
        name = "::".join(parts)
    for opening in range(position, min(len(tokens), position + 60)):
        text = texts[opening]
        if text == "{":
            closed = tokens.partner.get(opening)
            if closed is None or not name:
                return None
            return Scope(opening, closed, name, not is_namespace)
        if text in (";", "=", ")", "(") or (text in (">", ",") and opening <= position + 1):
            return None
        if not is_namespace and kinds[opening] == IDENTIFIER and texts[opening - 1] in _ATTRIBUTE_LIKE:
            name = text
    return None


_ATTRIBUTE_LIKE = frozenset({"__builtin_align__", "final"})
