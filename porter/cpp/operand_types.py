"""The type of an operand as its own words and the declarations around it tell, without clang."""

from __future__ import annotations

import re
from collections.abc import Mapping

from porter.cpp.brackets import split_commas, words
from porter.cpp.declared import continues_declaration, declares, is_declared
from porter.cpp.lex import IDENTIFIER, NUMBER, Tokens

_INTEGER = re.compile(r"(?:0|[1-9]\d{0,8})")
_FLOAT, _DOUBLE = re.compile(r"\d*\.\d*(?:[eE][+-]?\d+)?[fF]"), re.compile(r"\d*\.\d*(?:[eE][+-]?\d+)?")
_SHUFFLE = re.compile(r"(?:__)?shfl_(?:(?:up|down|xor)_)?sync")
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
_IN_EXPRESSIONS = words("= + - * / % [ return <= >= == != && || ? += -= *= /= %= << >> | ^ !")
"""Behind one of these, `a * b` is no declaration of a pointer."""
_RESTRICTS = words("const volatile __restrict__ __restrict")
_IN_CHAINS = frozenset({".", "->", "::"})
_NO_SUM = frozenset({"<", ">", "?", ":", "=", ",", "&", "|", "^", "<<", ">>", "&&", "||", "==", "!=", "<=", ">="})
_DEEPEST = 12
_LONGEST_TEMPLATE = 80
_NOT_IN_TEMPLATES = frozenset("(){};")


def operand_type(tokens: Tokens, first: int, last: int, begin: int, depth: int = 0) -> str | None:
    """The type of the operand that is the tokens [first, last); `begin` is where its function begins.

    Two operands with the same answer have one type. None: it takes more than literals, built-in indices, casts,
    variables that are declared once and by one word, their elements and components, and arithmetic with them.
    """
    if first >= last or depth > _DEEPEST:
        return None
    texts, partner = tokens.texts, tokens.partner
    if texts[first] == "(" and partner.get(first) == last - 1:
        return operand_type(tokens, first + 1, last - 1, begin, depth + 1)
    found = _plain_type(tokens, first, last, begin)
    if found is None:
        found = _called_type(tokens, first, last, begin, depth) or _cast_type(texts, partner, first, last)
    if found is None:
        found = _sum_type(tokens, first, last, begin, depth)
    return _ALIASES.get(found, found) if found is not None else None


def _plain_type(tokens: Tokens, first: int, last: int, begin: int) -> str | None:
    """Of a literal, a built-in index, a variable, an element of an array, or a component of a vector."""
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
    if last - first > 3 and tokens.kinds[first] == IDENTIFIER and tokens.partner.get(first + 1) == last - 1:
        return _element_type(tokens, first, begin) if texts[first + 1] == "[" else None
    is_part = last - first == 3 and texts[first + 1] == "." and texts[first + 2] in ("x", "y", "z", "w")
    if is_part and tokens.kinds[first] == IDENTIFIER:
        vector = _variable_type(tokens, first, begin)
        if vector in _COMPONENTS and not is_declared(tokens, vector):
            return _COMPONENTS[vector]
    return None


def _called_type(tokens: Tokens, first: int, last: int, begin: int, depth: int) -> str | None:
    """Of a minimum or a shuffle of what has no smaller type than its result: `min(n, 3)`, `__shfl_sync(m, x, 0)`."""
    texts = tokens.texts
    first += 1 if texts[first] == "::" else 2 if texts[first : first + 2] == ["porter", "::"] else 0
    if last - first < 3 or texts[first + 1] != "(" or tokens.partner.get(first + 1) != last - 1:
        return None
    given = split_commas(tokens, first + 2, last - 1)
    if texts[first] in ("min", "max"):
        values = given if len(given) == 2 else []
    else:
        values = given[1:2] if len(given) > 2 and _SHUFFLE.fullmatch(texts[first]) is not None else []
    kinds = {operand_type(tokens, *value, begin, depth + 1) for value in values}
    return kinds.pop() if len(kinds) == 1 and kinds <= _RANKS.keys() else None


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
        elif texts[index - 1] in ("*", ">", "&&") and not _is_factor(tokens, index):
            found.add(None)
    if not found:
        return _constant_type(tokens, texts[use])
    return found.pop() if len(found) == 1 else None


def _is_factor(tokens: Tokens, index: int) -> bool:
    """Whether the `*` before a name multiplies: `x = a * b`, `(a) * b`, `2 * b`."""
    texts = tokens.texts
    if texts[index - 1] != "*":
        return False
    is_name = tokens.kinds[index - 2] == IDENTIFIER and texts[index - 2] not in _NO_TYPE
    return (is_name and texts[index - 3] in _IN_EXPRESSIONS) or tokens.kinds[index - 2] == NUMBER


def _element_type(tokens: Tokens, use: int, begin: int) -> str | None:
    """The one type that the elements of an array or a pointer have by all declarations in the function."""
    texts = tokens.texts
    found: set[str | None] = set()
    for index in tokens.names[texts[use]]:
        if not begin < index < use or tokens.directive_of(index) is not None:
            continue
        place = index - 1
        while texts[place] in _RESTRICTS:
            place -= 1
        is_pointer = texts[place] == "*"
        if _is_factor(tokens, index) or (not is_pointer and tokens.kinds[place] != IDENTIFIER):
            found |= {None} if texts[place] in (">", "&", "&&") else set()
            continue
        kind = place - is_pointer
        is_word = tokens.kinds[kind] == IDENTIFIER and texts[kind] not in _NO_TYPE
        is_plain = is_word and texts[kind - 1] in _BEFORE_TYPE | {"__shared__"}
        is_array = is_pointer if texts[index + 1] in _AFTER else texts[index + 1] == "[" and not is_pointer
        found.add(texts[kind] if is_plain and is_array else None)
    return found.pop() if len(found) == 1 else None


def _constant_type(tokens: Tokens, name: str) -> str | None:
    """The one type of a constant that the file declares outside of the function: `constexpr`, or of a template."""
    texts, found = tokens.texts, set()
    for index in tokens.names[name]:
        directive = tokens.directive_of(index)
        if directive is not None and directive.first == index and directive.name == "define":
            is_number = directive.last - index == 2 and _INTEGER.fullmatch(texts[index + 1]) is not None
            found.add("int" if is_number else None)
            continue
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
