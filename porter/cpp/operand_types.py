"""The type of an operand as its own words and the declarations around it tell, without clang."""

from __future__ import annotations

import re
from collections.abc import Mapping

from porter.cpp.brackets import words
from porter.cpp.declared import continues_declaration, declares, is_declared
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


_RANKS = {"int": 0, "unsigned int": 1, "int64_t": 2, "uint64_t": 3, "size_t": 3, "float": 4, "double": 5}
"""What arithmetic is done in: of two operands the one with the higher rank decides."""
_ALIASES = {"int32_t": "int", "uint32_t": "unsigned int", "unsigned": "unsigned int", "uint": "unsigned int"}
_COMPONENTS = {
    f"{name}{count}": kind
    for name, kind in (("int", "int"), ("uint", "unsigned int"), ("float", "float"), ("double", "double"))
    for count in "1234"
} | {"dim3": "unsigned int"}
_BETWEEN = frozenset("+-*/%")
_IN_CHAINS = frozenset({".", "->", "::"})
_NO_SUM = frozenset({"<", ">", "?", ":", "=", ",", "&", "|", "^", "<<", ">>", "&&", "||", "==", "!=", "<=", ">="})
_DEEPEST = 12
_LONGEST_TEMPLATE = 80
_NOT_IN_TEMPLATES = frozenset("(){};")


def operand_type(tokens: Tokens, first: int, last: int, begin: int, depth: int = 0) -> str | None:
    """The type of the operand that is the tokens [first, last); `begin` is where its function begins.

    Two operands with the same answer have one type. None: it takes more than literals, built-in indices, casts,
    variables that are declared once and by one word, their components, and arithmetic with them.
    """
    if first >= last or depth > _DEEPEST:
        return None
    texts, partner = tokens.texts, tokens.partner
    if texts[first] == "(" and partner.get(first) == last - 1:
        return operand_type(tokens, first + 1, last - 1, begin, depth + 1)
    found = _plain_type(tokens, first, last, begin)
    if found is None:
        found = _cast_type(texts, partner, first, last) or _sum_type(tokens, first, last, begin, depth)
    return _ALIASES.get(found, found) if found is not None else None


def _plain_type(tokens: Tokens, first: int, last: int, begin: int) -> str | None:
    """Of a literal, a built-in index, a variable, or a component of a vector."""
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
    is_part = last - first == 3 and texts[first + 1] == "." and texts[first + 2] in ("x", "y", "z", "w")
    if is_part and tokens.kinds[first] == IDENTIFIER:
        vector = _variable_type(tokens, first, begin)
        if vector in _COMPONENTS and not is_declared(tokens, vector):
            return _COMPONENTS[vector]
    return None


def _cast_type(texts: list[str], partner: Mapping[int, int], first: int, last: int) -> str | None:
    """Of `int(x)`, `static_cast<int>(x)` and `(int)x`."""
    if texts[first] == "(" and texts[first + 2] == ")" and first + 3 < last:
        kind, rest = texts[first + 1], first + 3
        while rest < last and (texts[rest] in _IN_CHAINS or texts[rest].isidentifier() or rest in partner):
            rest = partner.get(rest, rest) + 1
        return kind if rest == last and _ALIASES.get(kind, kind) in _RANKS else None
    if texts[first] == "static_cast" and texts[first + 1] == "<" and texts[first + 3 : first + 5] == [">", "("]:
        kind, opening = texts[first + 2], first + 4
    else:
        kind, opening = texts[first], first + 1
    if _ALIASES.get(kind, kind) not in _RANKS or texts[opening] != "(":
        return None
    return kind if partner.get(opening) == last - 1 else None


def _sum_type(tokens: Tokens, first: int, last: int, begin: int, depth: int) -> str | None:
    """Of `a + b * c`: what the widest of the operands makes of it."""
    texts = tokens.texts
    kinds: set[str] = set()
    start = index = first
    while index <= last:
        if index == last or (texts[index] in _BETWEEN and index > start):
            kind = operand_type(tokens, start, index, begin, depth + 1)
            if kind not in _RANKS or (start == first and index == last):
                return None
            kinds.add(kind)
            start = index + 1
        elif texts[index] == "static_cast" and texts[index + 3] == ">":
            index += 3
        elif texts[index] in _NO_SUM:
            return None
        elif texts[index] in ("(", "[", "{"):
            index = tokens.partner.get(index, last)
        index += 1
    widest = {kind for kind in kinds if _RANKS[kind] == max(map(_RANKS.__getitem__, kinds))}
    return widest.pop() if len(widest) == 1 else None


def _variable_type(tokens: Tokens, use: int, begin: int) -> str | None:
    """The one type that all declarations of a name in the function before a use have."""
    texts, found = tokens.texts, set()
    for index in tokens.names[texts[use]]:
        if not begin < index < use or texts[index + 1] not in _AFTER or tokens.directive_of(index) is not None:
            continue
        if _is_template_parameter(texts, index):
            continue
        if texts[index - 1] == "," and continues_declaration(tokens, index):
            return None
        place = index - 2 if texts[index - 1] == "&" else index - 1
        if tokens.kinds[place] == IDENTIFIER:
            plain = texts[place] not in _NO_TYPE and texts[place - 1] in _BEFORE_TYPE
            found.add(texts[place] if plain else None)
        elif texts[index - 1] in ("*", ">", "&&"):
            found.add(None)
    if not found:
        return _constant_type(tokens, texts[use])
    return found.pop() if len(found) == 1 else None


def _constant_type(tokens: Tokens, name: str) -> str | None:
    """The one type of a constant that the file declares outside of the function: `constexpr`, or of a template."""
    texts, found = tokens.texts, set()
    for index in tokens.names[name]:
        if not declares(tokens, index) and not _is_template_parameter(texts, index):
            continue
        kind = _ALIASES.get(texts[index - 1], texts[index - 1])
        plain = texts[index - 2] not in _NO_TYPE or texts[index - 2] in ("const", "constexpr", "static")
        constant = _is_template_parameter(texts, index) or "constexpr" in texts[max(0, index - 4) : index]
        found.add(kind if kind in _RANKS and plain and constant else None)
    return found.pop() if len(found) == 1 else None


def _is_template_parameter(texts: list[str], index: int) -> bool:
    """Whether it is the name in `template <int NAME,` or the like."""
    if texts[index - 2] not in ("<", ",") or texts[index + 1] not in (",", ">", "="):
        return False
    for place in range(index - 2, max(0, index - _LONGEST_TEMPLATE), -1):
        if texts[place] == "<" and texts[place - 1] == "template":
            return True
        if texts[place] in _NOT_IN_TEMPLATES:
            return False
    return False
