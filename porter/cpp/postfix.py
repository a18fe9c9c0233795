"""Where an expression like `devices[i].props->warpSize` begins, read backwards from its last name."""

from __future__ import annotations

from porter.cpp.lex import IDENTIFIER, Tokens


def chain_start(tokens: Tokens, index: int) -> int:
    """First token of the member chain that ends at a name: calls, indices and scopes included."""
    texts = tokens.texts
    first = index
    while first > 0 and texts[first - 1] in (".", "->", "::"):
        before = first - 2
        while before >= 0 and texts[before] in (")", "]"):
            partner = tokens.partner.get(before)
            if partner is None:
                return first
            before = partner - 1
        if before < 0:
            return first
        if tokens.kinds[before] == IDENTIFIER and texts[before] not in _NOT_NAMES:
            first = before
        elif texts[before + 1] == "(":
            return before + 1
        else:
            return first if texts[first - 1] != "::" else first - 1
    return first


_NOT_NAMES = frozenset({"return", "else", "case", "sizeof", "throw"})
