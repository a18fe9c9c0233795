"""Whether a name is declared somewhere in a file, as its tokens tell."""

from __future__ import annotations

import bisect
from typing import cast

from porter.cpp.brackets import template_start, words
from porter.cpp.lex import IDENTIFIER, Tokens

_AFTER = frozenset(["=", ";", ",", ")", "[", "(", "{", ":"])
_TAGS = words("struct class union enum namespace using")
_NO_TYPE = words(
    "return else do case goto new delete throw co_return sizeof typename typedef using namespace operator and or not "
    "public private protected default"
)


def is_declared(tokens: Tokens, name: str) -> bool:
    """Whether some token of a name declares it: a macro, type, function, variable, parameter, member or enumerator."""
    return any(declares(tokens, index) for index in tokens.names.get(name, ()))


def defines_fallback(tokens: Tokens, name: str) -> bool:
    """Whether a macro with parameters is defined behind `#ifndef name` or `#if !defined(name)`."""
    asked = False
    for index in tokens.names.get(name, ()):
        directive = tokens.directive_of(index)
        if directive is None:
            continue
        words = tokens.texts[directive.first : index]
        asked = (
            asked
            or directive.name == "ifndef"
            or (directive.name == "if" and words in (["!", "defined"], ["!", "defined", "("]))
        )
        behind = tokens.texts[index + 1] == "(" and tokens.starts[index + 1] == tokens.end(index)
        if asked and behind and directive.name == "define" and directive.first == index:
            return True
    return False


def declares(tokens: Tokens, index: int) -> bool:
    """Whether a name is declared at a token."""
    texts = tokens.texts
    directive = tokens.directive_of(index)
    if directive is not None:
        return directive.name in ("define", "undef") and directive.first == index
    if index == 0 or index + 1 >= len(tokens):
        return False
    before, after = texts[index - 1], texts[index + 1]
    if points_to_functions(tokens, index) or before in _TAGS or (before == "}" and after in (";", ",")):
        return True
    if before in ("{", ",") and after in (",", "}", "=") and _in_enum(tokens, index):
        return True
    if before == "," and after in (";", ",", "=") and continues_declaration(tokens, index):
        return True
    if after not in _AFTER:
        return False
    if before.isupper() and after == "(":
        return False  # `USE_STREAM check(...)`: a macro that brings its own semicolon
    if before in ("*", "&", "&&"):
        # `a * b(...)` is an expression, `T *b` a declaration: what stands before T tells
        begins = _BEGINS if after != "(" else _BEGINS_FUNCTION
        return texts[index - 2] not in _NO_TYPE and (
            texts[index - 3 : index - 2] in begins or (texts[index - 3] == ":" and texts[index - 4] in _ACCESS)
        )
    if before == ">":
        return after != "(" or template_start(tokens, index - 1, 0) is not None
    return tokens.kinds[index - 1] == IDENTIFIER and before not in _NO_TYPE


def points_to_functions(tokens: Tokens, index: int) -> bool:
    """Whether a name is declared as a pointer to functions: `int (*name)(`."""
    texts = tokens.texts
    return texts[index - 2 : index] == ["(", "*"] and texts[index + 1 : index + 3] == [")", "("]


def continues_declaration(tokens: Tokens, index: int) -> bool:
    """Whether `T a, b` leads to a token, and no bracket is open before it."""
    line = tokens.first_characters
    begin = max(line.rfind(mark, 0, index) for mark in ";{}") + 1
    texts, kinds = tokens.texts, tokens.kinds
    plain = kinds[begin : begin + 2] == IDENTIFIER * 2 and not _NO_TYPE & {texts[begin], texts[begin + 1]}
    return plain and "(" not in line[begin:index] and "[" not in line[begin:index]


_BEGINS_FUNCTION = tuple([text] for text in ("", ";", "{", "}", "const", "static", "extern", "inline", "::"))
"""What stands before the type in `T *b(...)`; within brackets, or behind `a ?`, that is a product."""
_BEGINS = (*_BEGINS_FUNCTION, ["("], [","], [":"])
_ACCESS = frozenset({"public", "private", "protected"})


def _in_enum(tokens: Tokens, index: int) -> bool:
    enums = tokens.memo.get("enums")
    if enums is None:
        enums = tokens.memo["enums"] = _enums(tokens)
    spans = cast("list[tuple[int, int]]", enums)
    place = bisect.bisect_right(spans, (index, index)) - 1
    return place >= 0 and spans[place][0] < index < spans[place][1]


def _enums(tokens: Tokens) -> list[tuple[int, int]]:
    """The braces of each list of enumerators."""
    found: list[tuple[int, int]] = []
    for index in tokens.names.get("enum", ()):
        line = tokens.first_characters
        opening, end = line.find("{", index), line.find(";", index)
        if opening >= 0 and not 0 <= end < opening and opening in tokens.partner:
            found.append((opening, tokens.partner[opening]))
    return sorted(found)
