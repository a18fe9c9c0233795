"""What the functions of a file call, as its tokens tell: functions, members of objects, functors and macros."""

from __future__ import annotations

import bisect
import re
from collections.abc import Iterator

from porter.cpp.brackets import template_end, template_start, words
from porter.cpp.lex import IDENTIFIER, Directive, Tokens

MEMBER = "."
"""Stands before the name of a function that is called of an object, whose class the tokens do not tell."""
_NOT_CALLED = words(
    "if for while switch return sizeof alignof alignas decltype catch throw new delete static_assert asm __asm__ "
    "static_cast const_cast reinterpret_cast dynamic_cast defined __attribute__ __align__ __launch_bounds__ volatile "
    "constexpr operator noexcept typeid int float double char bool long short unsigned signed void auto else do case "
    "goto __asm"
)
_BEFORE_EXPRESSION = words("return else do case throw co_return co_yield and or not goto")
_MAY_CALL = re.compile("[(<{]")


def calls_between(tokens: Tokens, first: int, end: int, begin: int | None = None) -> Iterator[tuple[str, int]]:
    """What is called in a range of tokens, qualified as written, each with the index of its name; not once each.

    `Foo<T>{}(x)` and `Foo<T>()(x)` call `Foo::operator()`, `this->f()` calls `f`, `x.f()` calls `.f`. From `begin` on
    parameters and variables are declared: where `x` is a `Foo`, `x.f()` calls `Foo::f`, and `x()` `Foo::operator()`.
    """
    texts, kinds = tokens.texts, tokens.kinds
    for match in _MAY_CALL.finditer(tokens.first_characters, first + 1, end):
        index = match.start() - 1
        if kinds[index] != IDENTIFIER or texts[index] in _NOT_CALLED:
            continue
        opening: int | None = index + 1
        if texts[index + 1] == "<":
            opening = template_end(tokens, index + 1, end)
        if opening is None or opening >= end or texts[opening] not in ("(", "{"):
            continue
        is_functor = texts[opening + 1] in (")", "}") and texts[opening + 2] == "("
        if texts[opening] == "{" and not is_functor:
            continue
        start, name = _written(tokens, index, first)
        before = texts[start - 1] if start > first else ""
        if before in (".", "->") and texts[start - 2] != "this":
            owner = None if begin is None else _type_of(tokens, start - 2, begin)
            yield (f"{owner}::{texts[index]}" if owner else MEMBER + texts[index]), index
        elif before == "~" or (kinds[start - 1] == IDENTIFIER and before not in _BEFORE_EXPRESSION and start > first):
            continue
        elif begin is not None and "::" not in name and (owner := _type_of(tokens, index, begin)):
            yield f"{owner}::operator()", index
        else:
            yield name + ("::operator()" if is_functor else ""), index


def _type_of(tokens: Tokens, index: int, begin: int) -> str | None:
    """The class that the variable or parameter at a token was declared with, after `begin`; None where none shows."""
    texts, kinds = tokens.texts, tokens.kinds
    if kinds[index] != IDENTIFIER or texts[index - 1] in (".", "->", "::"):
        return None
    places = tokens.names[texts[index]]
    first = bisect.bisect_left(places, begin)
    for place in places[first : min(first + _MENTIONS, bisect.bisect_left(places, index, first))]:
        last = place - 1
        while texts[last] in _AROUND_NAMES:
            last -= 1
        if texts[place + 1] not in _AFTER_DECLARED or last < begin:
            continue
        if texts[last] == ">":
            opened = template_start(tokens, last, begin)
            last = -1 if opened is None else opened - 1
        if last >= begin and kinds[last] == IDENTIFIER and texts[last] not in _NO_TYPES:
            return None if texts[last] in _TYPES_OF_NO_CLASS else _written(tokens, last, begin - 1)[1]
    return None


_MENTIONS = 8
"""Of a name in a function, in which its declaration is looked for: it comes first."""
_AROUND_NAMES = words("* & && const __restrict__ __restrict restrict volatile")
_AFTER_DECLARED = frozenset((";", ",", ")", "=", "{", "(", "[", ":"))
_NO_TYPES = _NOT_CALLED | words("return else case delete new goto typename template")
_TYPES_OF_NO_CLASS = words("auto int float double char bool long short unsigned signed void")


def _written(tokens: Tokens, index: int, low: int) -> tuple[int, str]:
    """The first token of a name and its scopes, and both without template arguments and the word `template`."""
    texts, kinds = tokens.texts, tokens.kinds
    parts = [texts[index]]
    while True:
        if index > low and texts[index - 1] == "template":
            index -= 1
        if index - 2 < low or texts[index - 1] != "::":
            break
        scope = index - 2
        if texts[scope] == ">":
            opened = template_start(tokens, scope, low)
            scope = low if opened is None else opened - 1
        if scope < low or kinds[scope] != IDENTIFIER:
            break
        parts.append(texts[scope])
        index = scope
    if index > low and texts[index - 1] == "::":  # of the global scope
        index -= 1
    return index, "::".join(reversed(parts))


def macros_with_bodies(tokens: Tokens) -> Iterator[tuple[Directive, int]]:
    """Each `#define` that has a body, and the index of the body's first token."""
    for directive in tokens.directives:
        body = directive.first + 1
        if directive.name != "define" or body >= directive.last:
            continue
        if tokens.texts[body] == "(" and tokens.starts[body] == tokens.end(directive.first):
            body = tokens.partner.get(body, body) + 1
        if body < directive.last:
            yield directive, body
