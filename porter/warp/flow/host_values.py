"""Whether the value that host code gives a variable is still its value at a launch further on, by the tokens."""

from __future__ import annotations

import enum
from collections.abc import Iterator

from porter.cpp.brackets import split_commas
from porter.cpp.declared import declares
from porter.cpp.functions import follows_type
from porter.cpp.lex import IDENTIFIER, Tokens
from porter.cpp.scopes import find_scopes

_CHANGES = frozenset({"+=", "-=", "*=", "/=", "%=", "++", "--", "<<=", ">>=", "|=", "&="})
_LOOPS = frozenset({"for", "while"})


class Reaches(enum.Enum):
    """How what a statement gives a variable comes to a place further on."""

    SURELY = enum.auto()
    PERHAPS = enum.auto()
    """Below a condition, in a loop, as a default of a parameter, or of a variable that others can set."""
    NEVER = enum.auto()
    """The variable is another one of that name, whose block has ended."""


def reaches(tokens: Tokens, index: int, before: int) -> Reaches:
    """What becomes of the value that a variable is given at a token, at a place behind it."""
    texts = tokens.texts
    for opening in _open_brackets(tokens, index):
        if tokens.partner.get(opening, before) >= before:
            return _in_block(tokens, index, opening)
        if texts[opening] == "{" and _is_declared(tokens, index):
            return Reaches.NEVER
        return Reaches.PERHAPS
    return _in_block(tokens, index, None)


def may_change(tokens: Tokens, index: int) -> bool:
    """Whether something else than `=` gives a variable a value at a token, or can from there on."""
    texts = tokens.texts
    before, after = texts[index - 1], texts[index + 1]
    if after in _CHANGES or before in ("++", "--", "&"):
        return True
    if before == "=" and texts[index - 3] == "&" and after in (";", ","):
        return True  # `int &other = name;`
    if before == ">>" and after in (";", ">>"):
        return True  # `std::cin >> name`
    return before in ("(", ",") and after in (")", ",") and _is_reference(tokens, index)


def changes_in_loop(tokens: Tokens, name: str, place: int) -> bool:
    """Whether a loop around a place gives a variable another value behind it, which the next round has."""
    later = [index for index in tokens.names.get(name, ()) if index > place]
    if not later:
        return False
    ends = [tokens.partner.get(opening, 0) for opening in _open_brackets(tokens, place) if _is_loop(tokens, opening)]
    return any(
        index < end
        and (may_change(tokens, index) or (tokens.texts[index + 1] == "=" and not _is_declared(tokens, index)))
        for end in ends
        for index in later
    )


def declares_dim3(tokens: Tokens, index: int) -> bool:
    """`dim3 name(...)`, or a further name of such a declaration: `dim3 a(1), name(...)`."""
    texts = tokens.texts
    while texts[index - 1] == "," and texts[index - 2] in (")", "}"):
        opening = tokens.partner.get(index - 2)
        if opening is None or tokens.kinds[opening - 1] != IDENTIFIER:
            return False
        index = opening - 1
    return texts[index - 1] == "dim3"


def _in_block(tokens: Tokens, index: int, block: int | None) -> Reaches:
    """For a statement in a block that goes on to the place; None: in the file itself."""
    if tokens.texts[index - 1] in (")", "else"):
        return Reaches.PERHAPS
    outside = block is None or any(scope.opening == block for scope in find_scopes(tokens))
    return Reaches.PERHAPS if outside and not _is_constant(tokens, index) else Reaches.SURELY


def _is_constant(tokens: Tokens, index: int) -> bool:
    """Whether `const` or `constexpr` stands in a declaration before its name."""
    while index >= 0 and tokens.texts[index] not in (";", "{", "}", "(", ")"):
        if tokens.texts[index] in ("const", "constexpr"):
            return True
        index -= 1
    return False


def _is_declared(tokens: Tokens, index: int) -> bool:
    """Whether a type stands before a name."""
    return tokens.texts[index - 1] in ("*", "&", ">") or follows_type(tokens, index)


def _open_brackets(tokens: Tokens, index: int) -> Iterator[int]:
    """The brackets around a token, inner ones first."""
    while index > 0:
        index -= 1
        text = tokens.texts[index]
        if text in (")", "]", "}"):
            index = tokens.partner.get(index, index)
        elif text in ("(", "[", "{"):
            yield index


def _is_loop(tokens: Tokens, opening: int) -> bool:
    """Whether a `{` begins the body of a loop."""
    texts = tokens.texts
    if texts[opening] != "{" or texts[opening - 1] != ")":
        return texts[opening] == "{" and texts[opening - 1] == "do"
    head = tokens.partner.get(opening - 1)
    return head is not None and texts[head - 1] in _LOOPS


def _is_reference(tokens: Tokens, index: int) -> bool:
    """Whether a function that takes a reference is handed a variable, as far as the file declares it."""
    opening = next(_open_brackets(tokens, index), None)
    if opening is None or tokens.texts[opening] != "(" or tokens.kinds[opening - 1] != IDENTIFIER:
        return False
    callee = tokens.texts[opening - 1]
    if callee == "tie":
        return True
    place = (
        sum(first <= index for first, _ in split_commas(tokens, opening + 1, tokens.partner.get(opening, index))) - 1
    )
    return any(_takes_reference(tokens, other, place) for other in tokens.names[callee] if declares(tokens, other))


def _takes_reference(tokens: Tokens, function: int, place: int) -> bool:
    closed = tokens.partner.get(function + 1)
    if tokens.texts[function + 1] != "(" or closed is None:
        return False
    parameters = split_commas(tokens, function + 2, closed)
    words = tokens.texts[slice(*parameters[place])] if place < len(parameters) else []
    return "&" in words and "const" not in words
