"""What a file passes to the parameters of a macro, through other macros as well."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping

from porter.cpp.lex import Directive, Tokens

_WORD = re.compile(r"[A-Za-z_]\w*")
_PASTE = re.compile(r"\s*##\s*")
_DEEPEST = 6
_MOST = 400

Binding = frozenset[tuple[str, str]]
"""Parameters and what stands for them."""


def bindings(tokens: Tokens, macro: Directive, names: frozenset[str]) -> tuple[dict[str, str], ...]:
    """What stands for some parameters of a macro at each of its uses; nothing where a use cannot be followed."""
    found = _bindings(tokens, macro, names, _DEEPEST)
    return tuple(map(dict, sorted(map(sorted, found or ()))))


def parameters(tokens: Tokens, macro: Directive) -> tuple[str, ...]:
    """The parameters of a macro; none of one that stands for a text alone."""
    opened = macro.first + 1
    closed = tokens.partner.get(opened)
    if tokens.texts[opened] != "(" or tokens.starts[opened] != tokens.end(macro.first) or closed is None:
        return ()
    return tuple(tokens.texts[opened + 1 : closed : 2])


def _bindings(tokens: Tokens, macro: Directive, names: frozenset[str], depth: int) -> set[Binding] | None:
    formal = parameters(tokens, macro)
    found: set[Binding] = set()
    for use in tokens.names.get(tokens.texts[macro.first], ()):
        if tokens.texts[use + 1] != "(" or tokens.defines(use):
            continue
        given = _arguments(tokens, use + 1)
        if len(given) != len(formal) or depth == 0:
            return None
        wanted = {name: text for name, text in zip(formal, given, strict=True) if name in names}
        outer = tokens.directive_of(use)
        if outer is None:
            found.add(frozenset(wanted.items()))
        elif outer.name == "define":
            passed = _passed(tokens, outer, wanted, depth)
            if passed is None:
                return None
            found |= passed
        if len(found) > _MOST:
            return None
    return found


def _passed(tokens: Tokens, outer: Directive, wanted: Mapping[str, str], depth: int) -> set[Binding] | None:
    """The arguments of a use in another macro, for each way that this one is used."""
    words = {word for text in wanted.values() for word in _WORD.findall(text)}
    names = frozenset(words.intersection(parameters(tokens, outer)))
    if not names:
        return {frozenset(wanted.items())}
    around = _bindings(tokens, outer, names, depth - 1)
    if around is None:
        return None
    return {
        frozenset((name, _put(text, values)) for name, text in wanted.items())
        for binding in around
        for values in _expanded(tokens, binding)
    }


def _put(text: str, values: Mapping[str, str]) -> str:
    return _PASTE.sub("", _WORD.sub(lambda match: values.get(match[0], match[0]), text))


def _expanded(tokens: Tokens, binding: Binding) -> Iterator[dict[str, str]]:
    """A parameter's value once macros without parameters are put in, as happens before it is passed on."""
    names = [name for name, _ in binding]
    choices = [_texts(tokens, value) or [value] for _, value in binding]
    return (dict(zip(names, values, strict=True)) for values in itertools.product(*choices))


def _texts(tokens: Tokens, name: str) -> list[str]:
    """What the definitions of a macro without parameters say."""
    directives = [tokens.directive_of(index) for index in tokens.names.get(name, ()) if tokens.defines(index)]
    return [
        tokens.text[tokens.starts[one.first + 1] : tokens.end(one.last - 1)]
        for one in directives
        if one is not None and one.last > one.first + 1 and not parameters(tokens, one)
    ]


def _arguments(tokens: Tokens, opened: int) -> list[str]:
    """The texts between the commas of a macro's use."""
    closed = tokens.partner.get(opened)
    if closed is None:
        return []
    borders = [opened]
    index = opened + 1
    while index < closed:
        if tokens.texts[index] == "(":
            index = tokens.partner.get(index, index)
        elif tokens.texts[index] == ",":
            borders.append(index)
        index += 1
    borders.append(closed)
    return [
        " ".join(tokens.text[tokens.end(one) : tokens.starts[other]].split())
        for one, other in itertools.pairwise(borders)
    ]
