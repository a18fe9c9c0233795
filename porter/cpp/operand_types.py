"""The type of an operand as its own words and the declarations around it tell, without clang."""

from __future__ import annotations

import re

from porter.cpp.brackets import words
from porter.cpp.declared import continues_declaration
from porter.cpp.lex import IDENTIFIER, NUMBER, Tokens

_INTEGER = re.compile(r"(?:0|[1-9]\d{0,8})")
_FLOAT, _DOUBLE = re.compile(r"\d*\.\d*(?:[eE][+-]?\d+)?[fF]"), re.compile(r"\d*\.\d*(?:[eE][+-]?\d+)?")
_INDICES = frozenset({"threadIdx", "blockIdx", "blockDim", "gridDim"})
_AFTER = frozenset({"=", ";", ",", ")"})
_NO_TYPE = words(
    "auto const constexpr volatile static return else do case goto new delete throw sizeof typename struct unsigned "
    "signed long short and or not register decltype __shared__ __restrict__ __restrict"
)
_BEFORE_TYPE = frozenset({"const", "constexpr", "static", "(", ",", ";", "{", "}"})


def operand_type(tokens: Tokens, first: int, last: int, begin: int) -> str | None:
    """The type of the operand that is the tokens [first, last); `begin` is where its function begins.

    Two operands with the same answer have one type. None: it takes more than a literal, a built-in index, or a variable
    that is declared once and by one word.
    """
    texts = tokens.texts
    if last - first == 2 and texts[first] == "-":
        first += 1
    if last - first == 1 and tokens.kinds[first] == NUMBER:
        kinds = (("int", _INTEGER), ("float", _FLOAT), ("double", _DOUBLE))
        return next((kind for kind, pattern in kinds if pattern.fullmatch(texts[first])), None)
    if last - first == 3 and texts[first] in _INDICES and texts[first + 1] == ".":
        return "unsigned int"
    if last - first == 1 and tokens.kinds[first] == IDENTIFIER:
        return _variable_type(tokens, first, begin)
    return None


def _variable_type(tokens: Tokens, use: int, begin: int) -> str | None:
    """The one type that all declarations of a name in the function before a use have."""
    texts, found = tokens.texts, set()
    for index in tokens.names[texts[use]]:
        if not begin < index < use or texts[index + 1] not in _AFTER or tokens.directive_of(index) is not None:
            continue
        if texts[index - 1] == "," and continues_declaration(tokens, index):
            return None
        place = index - 2 if texts[index - 1] == "&" else index - 1
        if tokens.kinds[place] == IDENTIFIER:
            plain = texts[place] not in _NO_TYPE and texts[place - 1] in _BEFORE_TYPE
            found.add(texts[place] if plain else None)
        elif texts[index - 1] in ("*", ">", "&&"):
            found.add(None)
    return found.pop() if len(found) == 1 else None
