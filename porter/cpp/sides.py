"""For which sides functions are declared: `__host__` and `__device__`, as themselves or by macros of the project."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import cast

from porter.cpp.brackets import split_commas
from porter.cpp.kept_tokens import fact_of, tokens_of
from porter.cpp.lex import IDENTIFIER, Tokens
from porter.cpp.scopes import find_scopes, qualify
from porter.cpp.templates import LONGEST_HEAD, beginning, template_heads
from porter.source import SourceFile

SIDES = ("__host__", "__device__")
_PLAIN = frozenset({*SIDES, "inline", "__inline__", "__inline", "__forceinline__", "__noinline__", "constexpr"})
_CLASSES = ("class", "struct", "union")
_DEEPEST_MACRO = 4
_LONGEST_BODY = 12
AFTER_PARAMETERS = frozenset({"const", "noexcept", "override", "final", "&", "&&"})
_NAMED_OR_OVER = re.compile("[(;{}]")
_NOT_DECLARED = frozenset({"::", ".", "->", "(", ",", "=", "return", ";", "{", "}", "new", "!"})


@dataclass(frozen=True, slots=True)
class Declared:
    """A function as it is declared: the words before its name, the number and the text of its parameters."""

    words: tuple[str, ...]
    count: int
    parameters: tuple[str, ...]
    qualified: str
    """Its name with the namespaces and classes around it."""


@dataclass(frozen=True, slots=True)
class Sides:
    """What the declarations of a file and of its headers say."""

    sources: tuple[SourceFile, ...]
    _known: dict[str, frozenset[str]] = field(default_factory=dict)
    _members: dict[tuple[str, str], tuple[Declared, ...]] = field(default_factory=dict)

    def meant(self, word: str) -> frozenset[str]:
        """The words of `_PLAIN` and others that a word comes to; itself where it is no macro of the project."""
        if word not in self._known:
            self._known[word] = self._expanded(word, 0)
        return self._known[word]

    def of(self, words: Iterable[str]) -> frozenset[str]:
        """The sides that the words of a declaration name."""
        return frozenset(SIDES).intersection(*[frozenset().union(*(self.meant(word) for word in words))])

    def written(self, words: Iterable[str]) -> str:
        """How a declaration names its sides: by its own macros where these say nothing else."""
        named = [word for word in words if self.of((word,))]
        if all(self.meant(word) <= _PLAIN for word in named):
            return " ".join(dict.fromkeys(named))
        sides = self.of(named)
        return " ".join(side for side in SIDES if side in sides)

    def for_device(self) -> frozenset[str]:
        """Names before a parenthesis, behind `__device__` or a macro that comes to it: of all functions that are for
        the device, and of more."""
        words: set[str] = set()
        new = {"__device__"}
        while new:
            words |= new
            new = {name for source in self.sources for word in new for name in _macros_with(source).get(word, ())}
            new -= words
        return frozenset().union(*(_named_behind(source, word) for source in self.sources for word in words))

    def members(self, owner: str, name: str) -> tuple[Declared, ...]:
        """The declarations of a member function without a body in the classes of a name."""
        key = (owner, name)
        if key not in self._members:
            found = (one for source in self.sources if owner in source.text for one in _members(source, owner, name))
            self._members[key] = tuple(found)
        return self._members[key]

    def prototypes(self, name: str) -> tuple[Declared, ...]:
        """The declarations of a function of that name outside of classes."""
        key = ("", name)
        if key not in self._members:
            found = (one for source in self.sources if name in source.text for one in _prototypes(source, name))
            self._members[key] = tuple(found)
        return self._members[key]

    def templates(self, name: str) -> Iterator[tuple[str, ...]]:
        """The words before a name where a function template of that name is declared."""
        for source in self.sources:
            if name in source.text:
                yield from map(tuple, template_heads(tokens_of(source), name))

    def _expanded(self, word: str, depth: int) -> frozenset[str]:
        if word in _PLAIN or depth == _DEEPEST_MACRO or not word.isidentifier():
            return frozenset({word})
        bodies = [body for source in self.sources for body in _macros(source).get(word, ())]
        if not bodies:
            return frozenset({word})
        inner = {part for body in bodies for part in body if part != word}
        return frozenset().union(*(self._expanded(part, depth + 1) for part in inner))


@functools.lru_cache(maxsize=4096)
def _macros(source: SourceFile) -> dict[str, list[tuple[str, ...]]]:
    """The short macros of a file that are made of names alone."""
    tokens = tokens_of(source)
    found: dict[str, list[tuple[str, ...]]] = {}
    for directive in tokens.directives:
        body = range(directive.first + 1, directive.last)
        if directive.name != "define" or len(body) > _LONGEST_BODY:
            continue
        if all(tokens.kinds[index] == IDENTIFIER for index in body):
            words = tuple(tokens.texts[index] for index in body)
            found.setdefault(tokens.texts[directive.first], []).append(words)
    return found


@functools.lru_cache(maxsize=4096)
def _macros_with(source: SourceFile) -> dict[str, set[str]]:
    """Words -> the macros of `_macros` that they stand in."""
    found: dict[str, set[str]] = {}
    for name, bodies in _macros(source).items():
        for word in {word for body in bodies for word in body}:
            found.setdefault(word, set()).add(name)
    return found


def _named_behind(source: SourceFile, word: str) -> frozenset[str]:
    """The names before a parenthesis that a word stands before in one declaration."""
    if word not in source.text:
        return frozenset()
    return fact_of(source, ("named behind", word), lambda tokens: frozenset(_names_behind(tokens, word)))


def _names_behind(tokens: Tokens, word: str) -> Iterator[str]:
    texts, line = tokens.texts, tokens.first_characters
    for index in tokens.names.get(word, ()):
        for match in _NAMED_OR_OVER.finditer(line, index + 1, index + LONGEST_HEAD + 2):
            if match[0] != "(":
                break
            if tokens.kinds[match.start() - 1] == IDENTIFIER:
                yield texts[match.start() - 1]


def _members(source: SourceFile, owner: str, name: str) -> Iterator[Declared]:
    tokens = tokens_of(source)
    for index in tokens.names.get(owner, ()):
        opening = _class_body(tokens, index)
        if opening is not None:
            yield from _declared_in(tokens, opening, name)


def _class_body(tokens: Tokens, index: int) -> int | None:
    """The brace of a class that is defined with this name."""
    first = index - 1
    while first > max(index - _LONGEST_BODY, 0) and tokens.texts[first] not in (*_CLASSES, ";", "{", "}"):
        first -= 1
    if tokens.texts[first] not in _CLASSES:
        return None
    after = index + 1
    while after < len(tokens) and tokens.texts[after] not in (";", "(", ")", "{", "}", "="):
        after += 1
    return after if after < len(tokens) and tokens.texts[after] == "{" else None


def _declared_in(tokens: Tokens, opening: int, name: str) -> Iterator[Declared]:
    end = tokens.partner.get(opening, -1)
    place = opening + 1
    while place < end:
        text = tokens.texts[place]
        if text == name and tokens.texts[place + 1] == "(" and is_prototype(tokens, place + 1):
            yield declared(tokens, place, place + 1)
        inner = tokens.partner.get(place, -1) if text in ("{", "(") else -1
        place = inner + 1 if inner > place else place + 1


def _prototypes(source: SourceFile, name: str) -> Iterator[Declared]:
    tokens = tokens_of(source)
    for index in tokens.names.get(name, ()):
        if (
            tokens.texts[index + 1] != "("
            or tokens.directive_of(index) is not None
            or not is_prototype(tokens, index + 1)
        ):
            continue
        if is_outside(tokens, index) and tokens.texts[index - 1] not in _NOT_DECLARED:
            yield declared(tokens, index, index + 1)


def is_prototype(tokens: Tokens, opening: int) -> bool:
    """Whether no body follows the parameters that a parenthesis opens."""
    after = tokens.partner.get(opening, len(tokens)) + 1
    while after < len(tokens) and tokens.texts[after] in AFTER_PARAMETERS:
        after += 1
    return after < len(tokens) and tokens.texts[after] in (";", "=")


def is_outside(tokens: Tokens, index: int) -> bool:
    """Whether only namespaces are around a token; what is known of a brace is so of all that stands in it."""
    known = cast("dict[int, bool]", tokens.memo.setdefault(is_outside, {}))
    passed: list[int] = []
    outside = True
    for brace in tokens.braces_around(index):
        if brace in known:
            outside = known[brace]
            break
        passed.append(brace)
        if not _opens_namespace(tokens, brace):
            outside = False
            break
    known.update(dict.fromkeys(passed, outside))
    return outside


def _opens_namespace(tokens: Tokens, brace: int) -> bool:
    before = tokens.texts[brace - 2]
    return tokens.texts[brace - 1] == "namespace" or before in ("namespace", "extern", "::")


def declared(tokens: Tokens, name: int, opening: int) -> Declared:
    """What stands before a function's name and between its parentheses."""
    end = tokens.partner.get(opening, opening)
    parts = [_without_default(tokens, *part) for part in split_commas(tokens, opening + 1, end)]
    parts = [part for part in parts if part and part != ("void",)]
    words = tuple(tokens.texts[beginning(tokens, name) : name])
    qualified = qualify(find_scopes(tokens), name, tokens.texts[name])
    return Declared(words, len(parts), tuple(" ".join(part) for part in parts), qualified)


def _without_default(tokens: Tokens, first: int, last: int) -> tuple[str, ...]:
    words = tokens.texts[first:last]
    return tuple(words[: words.index("=")] if "=" in words else words)
